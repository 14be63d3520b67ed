//! Whole libraries from functions and bitcode, in the form of the newer linker.

use super::group::SizeForm;
use super::header::{LibraryType, Platform};
use super::metadata::MetadataTag;
use std::fmt::{self, Display, Formatter};

/// Why a library cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// A NUL inside this name or path.
    Name(String),
    /// The content of this tag is longer than its size field can say.
    TagTooLong(String),
    /// The function names a source archive that was not given.
    NoSource(String),
    /// A path inside a source archive is too long, or the archive could not be packed.
    Archive(String),
}

impl Display for BuildError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Name(name) => write!(f, "`{}`: NUL inside a name", name.escape_debug()),
            BuildError::TagTooLong(tag) => write!(f, "content of tag `{tag}` is too long for its size field"),
            BuildError::NoSource(name) => write!(f, "`{name}` names a source archive that was not given"),
            BuildError::Archive(id) => {
                write!(f, "source archive `{id}` cannot be packed: a path over 100 bytes")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// One function of a library to be built.
#[derive(Clone, Debug)]
pub struct FunctionSpec<'a> {
    pub(super) name: String,
    pub(super) function_type: u8,
    pub(super) air: (u16, u16),
    pub(super) language: (u16, u16),
    pub(super) bitcode: &'a [u8],
    pub(super) public: Vec<MetadataTag<'a>>,
    pub(super) private: Vec<MetadataTag<'a>>,
    pub(super) reflection: Option<&'a [u8]>,
    pub(super) source: Option<usize>,
    pub(super) layer: Option<u8>,
    pub(super) tessellation: Option<u8>,
}

impl<'a> FunctionSpec<'a> {
    /// A function of a type ([`function_type_name`](super::function_type_name)), AIR and language version, with its
    /// bitcode, which is wrapped and padded unless it is wrapped already.
    pub fn new(
        name: &str,
        function_type: u8,
        air: (u16, u16),
        language: (u16, u16),
        bitcode: &'a [u8],
    ) -> FunctionSpec<'a> {
        FunctionSpec {
            name: name.into(),
            function_type,
            air,
            language,
            bitcode,
            public: Vec::new(),
            private: Vec::new(),
            reflection: None,
            source: None,
            layer: None,
            tessellation: None,
        }
    }

    /// Tags of its public metadata.
    pub fn public(self, tags: Vec<MetadataTag<'a>>) -> Self {
        FunctionSpec { public: tags, ..self }
    }

    /// Tags of its private metadata.
    pub fn private(self, tags: Vec<MetadataTag<'a>>) -> Self {
        FunctionSpec { private: tags, ..self }
    }

    /// Its reflection: a flat buffer with the identifier `AIRR` at byte 4.
    pub fn reflection(self, buffer: &'a [u8]) -> Self {
        FunctionSpec { reflection: Some(buffer), ..self }
    }

    /// Its source archive, by index into those given to [`LibraryBuilder::sources`].
    pub fn source(self, archive: usize) -> Self {
        FunctionSpec { source: Some(archive), ..self }
    }

    /// Data type of its layer index.
    pub fn layer(self, data_type: u8) -> Self {
        FunctionSpec { layer: Some(data_type), ..self }
    }

    /// Its patch: kind (1 triangle, 2 quad) and control points, 0 to 63.
    pub fn tessellation(self, kind: u8, control_points: u8) -> Self {
        FunctionSpec { tessellation: Some(control_points << 2 | kind & 3), ..self }
    }
}

/// What a library is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The platform.
    pub platform: Platform,
    /// OS major, minor, update.
    pub os: (u16, u8, u8),
    /// Container patch version. Below 6, platform and OS cannot be written; below 3 there is no extension.
    pub patch: u16,
}

impl Target {
    /// The container version that goes with an OS version of macOS; other platforms take the one of the same year
    /// through [`LibraryBuilder::patch`].
    pub fn new(platform: Platform, os: (u16, u8, u8)) -> Target {
        let patch = match os.0 {
            26.. => 9,
            15..=25 => 8,
            13 | 14 => 7,
            12 => 6,
            _ => 5,
        };
        Target { platform, os, patch }
    }
}

/// Files of a source archive: path and content.
type ArchiveFiles = Vec<(String, Vec<u8>)>;

#[derive(Clone, Debug)]
pub(super) struct SourceSpec {
    pub(super) link_options: String,
    pub(super) working_directory: String,
    pub(super) archives: Vec<(String, ArchiveFiles)>,
}

/// Builds a library.
#[derive(Clone, Debug)]
pub struct LibraryBuilder<'a> {
    pub(super) target: Target,
    pub(super) library_type: LibraryType,
    pub(super) functions: Vec<FunctionSpec<'a>>,
    pub(super) uuid: Option<[u8; 16]>,
    pub(super) dynamic: Option<(String, Vec<String>)>,
    pub(super) sources: Option<SourceSpec>,
    pub(super) metadata_form: SizeForm,
    pub(super) module_sizes: bool,
    pub(super) with_uuid: bool,
}

impl<'a> LibraryBuilder<'a> {
    /// An executable library for a platform and its OS version (major, minor, update).
    pub fn new(platform: Platform, os: (u16, u8, u8)) -> Self {
        let target = Target::new(platform, os);
        LibraryBuilder {
            target,
            library_type: LibraryType::Executable,
            functions: Vec::new(),
            uuid: None,
            dynamic: None,
            sources: None,
            metadata_form: SizeForm::Includes,
            module_sizes: true,
            with_uuid: true,
        }
    }

    /// Another container patch version than the one that goes with the OS.
    pub fn patch(mut self, patch: u16) -> Self {
        self.target.patch = patch;
        self
    }

    /// Another library type.
    pub fn library_type(self, library_type: LibraryType) -> Self {
        LibraryBuilder { library_type, ..self }
    }

    /// The form of the older archiver: sizes of metadata groups leave themselves out, `MDSZ` follows the digest.
    pub fn older_archiver(self) -> Self {
        LibraryBuilder { metadata_form: SizeForm::Excludes, ..self }
    }

    /// No `MDSZ` tags, as AIR 1.8 libraries have none.
    pub fn without_module_sizes(self) -> Self {
        LibraryBuilder { module_sizes: false, ..self }
    }

    /// One more function.
    pub fn function(mut self, function: FunctionSpec<'a>) -> Self {
        self.functions.push(function);
        self
    }

    /// The UUID; without this one is derived from the modules. (How the vendor's tools derive it is not known.)
    pub fn uuid(self, uuid: [u8; 16]) -> Self {
        LibraryBuilder { uuid: Some(uuid), ..self }
    }

    /// No UUID, as older toolchains wrote none.
    pub fn without_uuid(self) -> Self {
        LibraryBuilder { with_uuid: false, ..self }
    }

    /// A dynamic header: install name and linked libraries.
    pub fn dynamic(self, install_name: &str, linked: &[&str]) -> Self {
        let linked = linked.iter().map(ToString::to_string).collect();
        LibraryBuilder { dynamic: Some((install_name.into(), linked)), ..self }
    }

    /// Embedded sources: link options, working directory (left out before patch 6), archives by identity.
    pub fn sources(
        self,
        link_options: &str,
        working_directory: &str,
        archives: Vec<(String, ArchiveFiles)>,
    ) -> Self {
        let (link_options, working_directory) = (link_options.into(), working_directory.into());
        LibraryBuilder { sources: Some(SourceSpec { link_options, working_directory, archives }), ..self }
    }
}
