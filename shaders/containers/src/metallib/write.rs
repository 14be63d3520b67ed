//! Model to bytes.

use super::group::{Group, write_tag};
use super::header::{Header, Section};
use super::library::{Library, list_groups};
use super::metadata::MetadataTag;
use crate::Reader;

/// Bytes and the place in the file they belong to.
struct Part {
    at: u64,
    bytes: Vec<u8>,
}

impl Library<'_> {
    /// The file's bytes: header, functions, extension, metadata, sources and lists from their typed values, modules
    /// and whatever no section claims as they were read. For a library that was read and not changed these are
    /// exactly the bytes of its file.
    pub fn write(&self) -> Vec<u8> {
        let mut parts = vec![self.header_part(), self.functions_part()];
        if let Some(extension) = &self.extension {
            let mut bytes = Vec::new();
            extension.write(&mut bytes);
            parts.push(Part { at: self.header.list_end(), bytes });
        }
        parts.push(self.metadata_part(self.header.public, &self.public_starts));
        parts.push(self.metadata_part(self.header.private, &self.private_starts));
        parts.extend(self.sources_part());
        parts.extend(self.lists());
        self.assemble(parts)
    }

    fn header_part(&self) -> Part {
        let mut bytes = Vec::with_capacity(Header::SIZE);
        self.header.write(&mut bytes);
        Part { at: 0, bytes }
    }

    fn functions_part(&self) -> Part {
        let mut bytes = (self.functions.len() as u32).to_le_bytes().to_vec();
        self.functions.iter().for_each(|function| function.write(&mut bytes));
        Part { at: self.header.functions.offset, bytes }
    }

    /// Groups from their tags, from one place a function names to the next; what is no group stays as it is.
    fn metadata_part(&self, section: Section, starts: &[u64]) -> Part {
        let bytes = self.section_bytes(section);
        let mut out = Vec::with_capacity(bytes.len());
        let ends = starts.iter().copied().filter(|&start| start > 0).chain([section.size]);
        let mut at = 0;
        for end in ends {
            let mut r = Reader::new(&bytes[..end as usize], "T06");
            let _ = r.take(at, "done");
            while let Ok(group) = Group::read(&mut r) {
                write_metadata(&mut out, &group);
            }
            out.extend_from_slice(r.rest());
            at = end as usize;
        }
        Part { at: section.offset, bytes: out }
    }

    fn sources_part(&self) -> Option<Part> {
        let sources = self.sources().ok().flatten()?;
        let mut bytes = Vec::new();
        sources.write(&mut bytes);
        Some(Part { at: sources.at as u64, bytes })
    }

    fn lists(&self) -> Vec<Part> {
        let Some(extension) = &self.extension else { return Vec::new() };
        let lists = [b"VLST", b"ILST", b"RLST"].into_iter().filter_map(|id| {
            let place = extension.section(id)?;
            let (groups, _) = list_groups(self.file, place)?;
            let mut bytes = (groups.len() as u32).to_le_bytes().to_vec();
            for group in groups {
                group.write_with(&mut bytes, |out, tag| write_tag(out, tag.id, tag.content));
            }
            Some(Part { at: place.section.offset, bytes })
        });
        let mut parts: Vec<Part> = lists.collect();
        if let (Some(place), Ok(tags)) = (extension.section(b"HDYN"), self.dynamic_tags()) {
            let mut bytes = Vec::new();
            tags.iter().for_each(|tag| write_tag(&mut bytes, tag.id, tag.content));
            bytes.extend_from_slice(b"ENDT");
            parts.push(Part { at: place.section.offset, bytes });
        }
        parts
    }

    /// Puts the parts into place; what none of them covers comes from the file.
    fn assemble(&self, mut parts: Vec<Part>) -> Vec<u8> {
        parts.sort_by_key(|part| part.at);
        let mut out = Vec::with_capacity(self.file.len());
        for part in &parts {
            let at = part.at as usize;
            if let Some(gap) = self.file.get(out.len()..at) {
                out.extend_from_slice(gap);
            }
            // Parts may overlap in a strange file; they then agree on what they share.
            let skip = out.len().saturating_sub(at).min(part.bytes.len());
            out.extend_from_slice(&part.bytes[skip..]);
        }
        out.extend_from_slice(self.file.get(out.len()..).unwrap_or_default());
        out
    }
}

fn write_metadata(out: &mut Vec<u8>, group: &Group<'_>) {
    group.write_with(out, |out, tag| MetadataTag::parse_or_keep(tag).write(out));
}
