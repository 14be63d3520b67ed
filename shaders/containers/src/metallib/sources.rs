//! Embedded sources, `HSRC` and `HSRD`.
//!
//! | at | content |
//! |----|---------|
//! | 0 | u32 number of archives (the older public description says u16) |
//! | 4 | link options, NUL |
//! | | working directory, NUL (`HSRD` only) |
//! | | per archive a group whose size leaves itself out: `SARC`, u32 size, content |
//!
//! The content of `SARC` is an identity with NUL, then a bzip2 stream of a ustar archive, then perhaps padding.

use super::extension::Place;
use super::group::Group;
use crate::{Finding, Reader};

/// The section of embedded sources.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// Options given to the linker.
    pub link_options: &'a [u8],
    /// Working directory of the linker; `HSRD` only.
    pub working_directory: Option<&'a [u8]>,
    /// The archives, in file order.
    pub archives: Vec<SourceArchive<'a>>,
    /// Bytes behind the last archive.
    pub trailing: &'a [u8],
    /// Offset of `trailing` from the start of the file.
    pub trailing_at: usize,
    /// Offset of the section from the start of the file.
    pub at: usize,
}

/// One archive of sources.
#[derive(Clone, Copy, Debug)]
pub struct SourceArchive<'a> {
    /// Its identity, a decimal number in practice.
    pub id: &'a [u8],
    /// The bzip2 stream and what follows it.
    pub data: &'a [u8],
    /// Offset of `data` from the start of the file.
    pub data_at: usize,
    /// Offset of the characters `SARC` from the start of the section: what `SOFF` of a function says.
    pub offset: u64,
    pub(super) group: Group<'a>,
}

impl<'a> Sources<'a> {
    pub(super) fn parse(file: &'a [u8], place: Place) -> Result<Sources<'a>, Finding> {
        let section = place.section;
        let mut r =
            Reader::new(file, "T16").range(section.offset, section.size, place.stated_at, "sources")?;
        let at = r.at();
        let count = r.u32("archive count")? as usize;
        let mut text = |what: &str| {
            let at = r.at();
            r.c_string().ok_or_else(|| Finding::new("T16", at, format!("{what} are not terminated")))
        };
        let link_options = text("link options")?;
        let working_directory = if place.id == *b"HSRD" { Some(text("working directory")?) } else { None };
        // Size word, tag header, an empty identity and `ENDT` are the least an archive takes.
        let most = r.left() / 17;
        if count > most {
            return Err(Finding::new("T16", at, format!("{count} archives in {} bytes", r.left())));
        }
        let mut archives = Vec::with_capacity(count);
        for _ in 0..count {
            archives.push(archive(&mut r, at)?);
        }
        Ok(Sources { link_options, working_directory, archives, trailing: r.rest(), trailing_at: r.at(), at })
    }

    /// Appends the section.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.archives.len() as u32).to_le_bytes());
        for text in [Some(self.link_options), self.working_directory].into_iter().flatten() {
            out.extend_from_slice(text);
            out.push(0);
        }
        for archive in &self.archives {
            archive.group.write_with(out, |out, tag| super::group::write_tag(out, tag.id, tag.content));
        }
        out.extend_from_slice(self.trailing);
    }

    /// The archive a function's `SOFF` points at.
    pub fn archive_at(&self, offset: u64) -> Option<&SourceArchive<'a>> {
        self.archives.iter().find(|archive| archive.offset == offset)
    }
}

fn archive<'a>(r: &mut Reader<'a>, section_at: usize) -> Result<SourceArchive<'a>, Finding> {
    let group = Group::read(r).map_err(|finding| Finding { code: "T16", ..finding })?;
    let missing = |what: &str| Finding::new("T16", group.at(), format!("source archive without {what}"));
    let tag = group.tags().next().filter(|tag| tag.id == *b"SARC").ok_or_else(|| missing("SARC"))?;
    let end = tag.content.iter().position(|&byte| byte == 0).ok_or_else(|| missing("an identity"))?;
    Ok(SourceArchive {
        id: &tag.content[..end],
        data: &tag.content[end + 1..],
        data_at: tag.content_at + end + 1,
        offset: (tag.at() - section_at) as u64,
        group,
    })
}
