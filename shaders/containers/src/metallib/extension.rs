//! The header extension: tags between the function list and the public metadata.

use super::function::fixed;
use super::group::{RawTag, next_tag, write_tag};
use super::header::Section;
use crate::{Finding, Reader};

/// A tag of the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtensionTag<'a> {
    /// `HSRC`, `HSRD`, `HDYN`, `VLST`, `ILST`, `RLST` or `SLST`.
    Section([u8; 4], Section),
    /// `UUID`
    Uuid([u8; 16]),
    /// Anything else.
    Unknown(RawTag<'a>),
}

/// A section the extension names, with the place of the tag that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The tag's characters.
    pub id: [u8; 4],
    /// The range.
    pub section: Section,
    /// Offset of the tag's content from the start of the file.
    pub stated_at: usize,
}

/// The header extension; its tags are well formed and its ranges lie inside the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    tags: &'a [u8],
    at: usize,
}

const SECTIONS: [[u8; 4]; 7] = [*b"HSRC", *b"HSRD", *b"HDYN", *b"VLST", *b"ILST", *b"RLST", *b"SLST"];

impl<'a> Extension<'a> {
    /// Reads the extension that fills `range` of `file`.
    pub(super) fn parse(file: &Reader<'a>, mut range: Reader<'a>) -> Result<Extension<'a>, Finding> {
        let extension = Extension { tags: range.rest(), at: range.at() };
        loop {
            if range.left() < 4 {
                let message = "extension reaches the public metadata without ENDT";
                return Err(Finding::new("T13", range.at(), message));
            }
            let Some(tag) = next_tag(&mut range)? else { break };
            if let ExtensionTag::Section(id, section) = typed(tag)? {
                let what = id.escape_ascii().to_string();
                file.clone().with_code("T05").range(section.offset, section.size, tag.content_at, &what)?;
            }
        }
        if !range.is_empty() {
            let message = format!("{} bytes between ENDT and the public metadata", range.left());
            return Err(Finding::new("T13", range.at(), message));
        }
        Ok(extension)
    }

    /// Offset of the first tag from the start of the file.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The tags in file order, `ENDT` left out.
    pub fn tags(&self) -> impl Iterator<Item = ExtensionTag<'a>> + use<'a> {
        self.raw_tags().filter_map(|tag| typed(tag).ok())
    }

    fn raw_tags(&self) -> impl Iterator<Item = RawTag<'a>> + use<'a> {
        let mut rest = Reader::new(self.tags, "T07");
        let at = self.at;
        std::iter::from_fn(move || {
            let tag = next_tag(&mut rest).ok().flatten()?;
            Some(RawTag { content_at: tag.content_at + at, ..tag })
        })
    }

    /// The sections named, in file order.
    pub fn sections(&self) -> impl Iterator<Item = Place> + use<'a> {
        self.raw_tags().filter_map(|tag| match typed(tag).ok()? {
            ExtensionTag::Section(id, section) => Some(Place { id, section, stated_at: tag.content_at }),
            _ => None,
        })
    }

    /// The first section of a name.
    pub fn section(&self, id: &[u8; 4]) -> Option<Place> {
        self.sections().find(|place| place.id == *id)
    }

    /// The library's UUID.
    pub fn uuid(&self) -> Option<[u8; 16]> {
        self.tags().find_map(|tag| match tag {
            ExtensionTag::Uuid(uuid) => Some(uuid),
            _ => None,
        })
    }

    /// Appends the tags and `ENDT`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_tags(out, self.tags());
    }
}

pub(super) fn write_tags<'a>(out: &mut Vec<u8>, tags: impl Iterator<Item = ExtensionTag<'a>>) {
    for tag in tags {
        match tag {
            ExtensionTag::Section(id, Section { offset, size }) => {
                write_tag(out, id, &[offset.to_le_bytes(), size.to_le_bytes()].concat());
            }
            ExtensionTag::Uuid(uuid) => write_tag(out, *b"UUID", &uuid),
            ExtensionTag::Unknown(raw) => write_tag(out, raw.id, raw.content),
        }
    }
    out.extend_from_slice(b"ENDT");
}

fn typed(tag: RawTag<'_>) -> Result<ExtensionTag<'_>, Finding> {
    if SECTIONS.contains(&tag.id) {
        let bytes: &[u8; 16] = fixed(&tag)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        return Ok(ExtensionTag::Section(tag.id, Section { offset: word(0), size: word(8) }));
    }
    match &tag.id {
        b"UUID" => Ok(ExtensionTag::Uuid(*fixed(&tag)?)),
        _ => Ok(ExtensionTag::Unknown(tag)),
    }
}
