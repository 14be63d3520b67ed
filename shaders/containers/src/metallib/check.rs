//! What is wrong or odd behind header, list and extension (containers.md §3.10). Per function: tags, offsets, groups,
//! metadata tags, wrapper, digest; then the sections and the embedded sources.

use super::archive::ArchiveError;
use super::function::{Function, function_type_name};
use super::header::{LibraryType, Platform, Section};
use super::library::Library;
use super::metadata::MetadataTag;
use super::module::Module;
use crate::{Finding, Findings};
use std::collections::{HashMap, HashSet};

/// What the checks of earlier functions have done already: functions may share groups and modules.
#[derive(Default)]
struct Seen {
    public: HashSet<u64>,
    private: HashSet<u64>,
    digests: HashMap<(usize, usize), [u8; 32]>,
    hashed: usize,
}

impl<'a> Library<'a> {
    /// All errors and warnings behind header, list and extension, digests of modules included.
    pub fn check(&self) -> Vec<Finding> {
        let mut out = Findings::default();
        let mut seen = Seen::default();
        for function in &self.functions {
            if let Err(finding) = self.check_function(function, &mut seen, &mut out) {
                out.push(finding);
            }
        }
        if self.extension.is_none() && self.header.patch >= 3 {
            let message = format!("container patch {} without header extension", self.header.patch);
            out.add("W-no-ext", self.header.list_end() as usize, message);
        }
        if let Err(finding) = self.dynamic_tags() {
            out.push(finding);
        }
        self.check_sections(&mut out);
        self.check_os(&mut out);
        if let Err(finding) = self.check_sources(&mut out) {
            out.push(finding);
        }
        out.into_list()
    }

    /// The digest of a module may be false in Core Image libraries (containers.md §3.6).
    fn digest_code(&self) -> &'static str {
        if self.header.library_type() == Some(LibraryType::CoreImage) { "W-hash" } else { "T12" }
    }

    fn check_function(
        &self,
        function: &Function<'a>,
        seen: &mut Seen,
        out: &mut Findings,
    ) -> Result<(), Finding> {
        let name = function.name_text();
        if function_type_name(function.function_type).is_none() {
            let message = format!("`{name}`: function type {}", function.function_type);
            out.add("W-fn-type", function.place(b"TYPE"), message);
        }
        for tag in function.unknown_tags() {
            out.add("W-unknown-tag", tag.at(), format!("`{name}`: unknown or repeated tag `{}`", tag.name()));
        }
        let first_public = seen.public.insert(function.offsets.public);
        let first_private = seen.private.insert(function.offsets.private);
        // Offsets of all three sections before anything inside them.
        let outside = |offset: u64, section: Section| offset >= section.size;
        if first_public || outside(function.offsets.public, self.header.public) {
            self.check_group(self.public_group(function)?, out);
        }
        if first_private || outside(function.offsets.private, self.header.private) {
            self.check_group(self.private_group(function)?, out);
        }
        let module = self.module(function)?;
        if !module.is_bitcode() {
            out.add("W-bc-magic", module.at, format!("`{name}`: wrapper content is not bitcode"));
        }
        self.check_digest(function, &module, seen, out);
        Ok(())
    }

    fn check_group(&self, group: super::Group<'a>, out: &mut Findings) {
        for tag in group.tags() {
            match MetadataTag::parse(tag) {
                Err(finding) => out.push(finding),
                Ok(MetadataTag::Unknown(tag)) => {
                    out.add("W-unknown-tag", tag.at(), format!("unknown metadata tag `{}`", tag.name()));
                }
                Ok(_) => {}
            }
        }
    }

    fn check_digest(
        &self,
        function: &Function<'a>,
        module: &Module<'a>,
        seen: &mut Seen,
        out: &mut Findings,
    ) {
        let key = (module.at, module.bytes.len());
        let digest = match seen.digests.get(&key) {
            Some(digest) => *digest,
            None => {
                // Modules that overlap without being equal are no library's: the work stays within twice the file.
                if seen.hashed + module.bytes.len() > 2 * self.file.len() {
                    let message = format!(
                        "`{}`: too much shared with other modules, digest left",
                        function.name_text()
                    );
                    return out.add("W-overlap", module.at, message);
                }
                seen.hashed += module.bytes.len();
                *seen.digests.entry(key).or_insert(module.digest())
            }
        };
        if digest != *function.hash {
            let message = format!("`{}`: SHA-256 of the module is {}", function.name_text(), hex(&digest));
            out.add(self.digest_code(), function.place(b"HASH"), message);
        }
    }

    fn check_sections(&self, out: &mut Findings) {
        let header = &self.header;
        let front = Section { offset: 0, size: super::Header::SIZE as u64 };
        let list = Section { size: header.functions.size + 4, ..header.functions };
        let mut sections = vec![("header", front), ("function list", list)];
        if self.extension.is_some() {
            let size = header.public.offset - header.list_end();
            sections.push(("header extension", Section { offset: header.list_end(), size }));
        }
        sections.push(("public metadata", header.public));
        sections.push(("private metadata", header.private));
        sections.push(("modules", header.modules));
        let named = self.extension.iter().flat_map(|extension| extension.sections());
        sections.extend(named.map(|place| (section_name(&place.id), place.section)));
        sections.retain(|(_, section)| section.size > 0);
        sections.sort_by_key(|(_, section)| section.offset);
        let mut end = 0;
        for (name, section) in sections {
            if section.offset > end {
                let message =
                    format!("{} bytes before the {name} belong to no section", section.offset - end);
                out.add("W-gap", end as usize, message);
            } else if section.offset < end {
                let message = format!("{name} shares {} bytes with what is before", end - section.offset);
                out.add("W-overlap", section.offset as usize, message);
            }
            end = end.max(section.offset + section.size);
        }
        if end < header.file_size {
            let message = format!("{} bytes at the end belong to no section", header.file_size - end);
            out.add("W-gap", end as usize, message);
        }
    }

    /// The newest AIR version among the functions.
    pub fn newest_air(&self) -> Option<(u16, u16)> {
        self.functions.iter().map(|function| function.version.air).max()
    }

    /// The oldest macOS major version that understands every function, where it is known (containers.md §3.1).
    pub fn oldest_macos(&self) -> Option<u16> {
        let (major, minor) = self.newest_air()?;
        let (2, minor @ 3..=8) = (major, minor) else { return None };
        Some([11, 12, 13, 14, 15, 26][usize::from(minor) - 3])
    }

    fn check_os(&self, out: &mut Findings) {
        let (Some(Platform::MacOs), Some(needed)) = (self.header.platform(), self.oldest_macos()) else {
            return;
        };
        let (major, minor, _) = self.header.os_version;
        if major > needed {
            let message =
                format!("made for macOS {major}.{minor}, its functions would load from macOS {needed} on");
            out.add("W-os", 12, message);
        }
    }

    fn check_sources(&self, out: &mut Findings) -> Result<(), Finding> {
        let Some(sources) = self.sources()? else { return Ok(()) };
        if !sources.trailing.is_empty() {
            let message = format!("{} bytes behind the last source archive", sources.trailing.len());
            out.add("W-gap", sources.trailing_at, message);
        }
        let offsets: HashSet<u64> = sources.archives.iter().map(|archive| archive.offset).collect();
        for function in &self.functions {
            if let Some(offset) = function.source.filter(|offset| !offsets.contains(offset)) {
                let message = format!("`{}`: no source archive at {offset}", function.name_text());
                out.add("T16", function.place(b"SOFF"), message);
            }
        }
        // Text packs some twenty times at best; more than that in a whole file is a trap, not a library.
        let mut budget = (1 << 20) + 64 * self.file.len();
        for archive in &sources.archives {
            match archive.unpack(budget) {
                Ok(unpacked) => budget -= unpacked.size(),
                Err(ArchiveError::Damaged(what)) => out.add("T17", archive.data_at, what),
                Err(ArchiveError::TooLarge(_)) => {
                    out.add(
                        "W-archive-limit",
                        archive.data_at,
                        "archives unpack to too much, left unchecked",
                    );
                    break;
                }
            }
        }
        Ok(())
    }
}

fn section_name(id: &[u8; 4]) -> &'static str {
    match id {
        b"HSRC" | b"HSRD" => "sources",
        b"HDYN" => "dynamic header",
        b"VLST" => "variable list",
        b"ILST" => "import list",
        b"RLST" => "reflection list",
        _ => "script list",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
