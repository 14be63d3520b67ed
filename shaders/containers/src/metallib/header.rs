//! The first 88 bytes.

use crate::{Finding, Reader};

/// A range of the file as a header or extension states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// From the start of the file.
    pub offset: u64,
    /// In bytes.
    pub size: u64,
}

/// The header; ranges of a parsed library lie inside its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bit 15: made for macOS; the rest is the container's major version, 1.
    pub platform_word: u16,
    /// Container minor version, 2.
    pub minor: u16,
    /// Container patch version, 2 to 9.
    pub patch: u16,
    /// Library type in the low 7 bits; bit 7: stub.
    pub type_byte: u8,
    /// Platform in the low 7 bits; bit 7: 64-bit. 0 before patch 6.
    pub os_byte: u8,
    /// OS major, minor, update; 0 before patch 6.
    pub os_version: (u16, u8, u8),
    /// Size of the whole file.
    pub file_size: u64,
    /// The function list; the size leaves its u32 count out.
    pub functions: Section,
    /// Public metadata.
    pub public: Section,
    /// Private metadata.
    pub private: Section,
    /// Modules.
    pub modules: Section,
}

/// What a library is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the vendor's")]
pub enum LibraryType {
    Executable = 0,
    CoreImage = 1,
    Dynamic = 2,
    SymbolCompanion = 3,
}

/// The platform byte, known since patch 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the vendor's")]
pub enum Platform {
    MacOs = 1,
    Ios = 2,
    TvOs = 3,
    WatchOs = 4,
    BridgeOs = 5,
    Catalyst = 6,
    IosSimulator = 7,
    TvOsSimulator = 8,
    WatchOsSimulator = 9,
    DriverKit = 10,
    VisionOs = 11,
    VisionOsSimulator = 12,
}

impl LibraryType {
    /// The name used in text and JSON output.
    pub fn name(self) -> &'static str {
        match self {
            LibraryType::Executable => "executable",
            LibraryType::CoreImage => "core-image",
            LibraryType::Dynamic => "dynamic",
            LibraryType::SymbolCompanion => "symbol-companion",
        }
    }
}

impl Platform {
    /// Every platform, in the order of their numbers.
    pub const ALL: [Platform; 12] = [
        Platform::MacOs,
        Platform::Ios,
        Platform::TvOs,
        Platform::WatchOs,
        Platform::BridgeOs,
        Platform::Catalyst,
        Platform::IosSimulator,
        Platform::TvOsSimulator,
        Platform::WatchOsSimulator,
        Platform::DriverKit,
        Platform::VisionOs,
        Platform::VisionOsSimulator,
    ];

    /// The name used in text and JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Platform::MacOs => "macOS",
            Platform::Ios => "iOS",
            Platform::TvOs => "tvOS",
            Platform::WatchOs => "watchOS",
            Platform::BridgeOs => "bridgeOS",
            Platform::Catalyst => "Mac Catalyst",
            Platform::IosSimulator => "iOS simulator",
            Platform::TvOsSimulator => "tvOS simulator",
            Platform::WatchOsSimulator => "watchOS simulator",
            Platform::DriverKit => "DriverKit",
            Platform::VisionOs => "visionOS",
            Platform::VisionOsSimulator => "visionOS simulator",
        }
    }
}

impl Header {
    /// Size in bytes.
    pub const SIZE: usize = 88;

    /// Reads and checks the header of `file`.
    pub(super) fn parse(file: &[u8]) -> Result<Header, Finding> {
        if file.len() < Self::SIZE {
            return Err(Finding::new(
                "T01",
                0,
                format!("a header needs 88 bytes, the file has {}", file.len()),
            ));
        }
        let mut r = Reader::new(file, "T01");
        let magic: [u8; 4] = r.array("magic")?;
        if magic != *b"MTLB" {
            return Err(Finding::new("T02", 0, format!("expected MTLB, found `{}`", magic.escape_ascii())));
        }
        let header = Header {
            platform_word: r.u16("platform")?,
            minor: r.u16("container minor")?,
            patch: r.u16("container patch")?,
            type_byte: r.u8("library type")?,
            os_byte: r.u8("platform")?,
            os_version: (r.u16("OS major")?, r.u8("OS minor")?, r.u8("OS update")?),
            file_size: r.u64("file size")?,
            functions: section(&mut r)?,
            public: section(&mut r)?,
            private: section(&mut r)?,
            modules: section(&mut r)?,
        };
        header.check(file)?;
        Ok(header)
    }

    fn check(&self, file: &[u8]) -> Result<(), Finding> {
        if self.major() != 1 {
            return Err(Finding::new("T04", 4, format!("container major {}, expected 1", self.major())));
        }
        if self.library_type().is_none() {
            return Err(Finding::new("T15", 10, format!("library type {}", self.type_byte & 0x7F)));
        }
        if self.os_byte & 0x7F != 0 && self.platform().is_none() {
            return Err(Finding::new("T15", 11, format!("platform {}", self.os_byte & 0x7F)));
        }
        if self.file_size != file.len() as u64 {
            let message = format!("size recorded as {}, the file has {} bytes", self.file_size, file.len());
            return Err(Finding::new("T03", 16, message));
        }
        let all = Reader::new(file, "T05");
        // The count word of the list is not in its size.
        let list_size = self.functions.size.saturating_add(4);
        all.range(self.functions.offset, list_size, 24, "function list")?;
        all.range(self.public.offset, self.public.size, 40, "public metadata")?;
        all.range(self.private.offset, self.private.size, 56, "private metadata")?;
        all.range(self.modules.offset, self.modules.size, 72, "modules")?;
        Ok(())
    }

    /// The bytes.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"MTLB");
        for half in [self.platform_word, self.minor, self.patch] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        out.extend_from_slice(&[self.type_byte, self.os_byte]);
        out.extend_from_slice(&self.os_version.0.to_le_bytes());
        out.extend_from_slice(&[self.os_version.1, self.os_version.2]);
        out.extend_from_slice(&self.file_size.to_le_bytes());
        for section in [self.functions, self.public, self.private, self.modules] {
            out.extend_from_slice(&section.offset.to_le_bytes());
            out.extend_from_slice(&section.size.to_le_bytes());
        }
    }

    /// Container major version.
    pub fn major(&self) -> u16 {
        self.platform_word & 0x7FFF
    }

    /// The hint of older containers, which have no platform byte.
    pub fn is_for_macos(&self) -> bool {
        self.platform_word & 0x8000 != 0
    }

    /// The library type.
    pub fn library_type(&self) -> Option<LibraryType> {
        use LibraryType::*;
        [Executable, CoreImage, Dynamic, SymbolCompanion].get(usize::from(self.type_byte & 0x7F)).copied()
    }

    /// Whether the stub bit is set.
    pub fn is_stub(&self) -> bool {
        self.type_byte & 0x80 != 0
    }

    /// The platform, from patch 6 on.
    pub fn platform(&self) -> Option<Platform> {
        Platform::ALL.get(usize::from(self.os_byte & 0x7F).checked_sub(1)?).copied()
    }

    /// Just past the function list.
    pub fn list_end(&self) -> u64 {
        self.functions.offset + self.functions.size + 4
    }
}

fn section(r: &mut Reader<'_>) -> Result<Section, Finding> {
    Ok(Section { offset: r.u64("section offset")?, size: r.u64("section size")? })
}
