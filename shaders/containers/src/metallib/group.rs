//! Tags and groups of tags.

use crate::{Finding, Reader};

/// A tag as it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawTag<'a> {
    /// Its four characters.
    pub id: [u8; 4],
    /// Its content.
    pub content: &'a [u8],
    /// Offset of the content from the start of the file.
    pub content_at: usize,
}

impl RawTag<'_> {
    /// Offset of the tag's first character.
    pub fn at(&self) -> usize {
        self.content_at - if has_wide_size(self.id) { 8 } else { 6 }
    }

    /// The characters for a message or listing.
    pub fn name(&self) -> String {
        self.id.escape_ascii().to_string()
    }
}

/// Four tags are large enough to need a u32 size.
fn has_wide_size(id: [u8; 4]) -> bool {
    matches!(&id, b"RBUF" | b"RBUZ" | b"SBUF" | b"SARC")
}

/// Appends a tag. Content too long for the size field is the caller's error; builders check it.
pub(super) fn write_tag(out: &mut Vec<u8>, id: [u8; 4], content: &[u8]) {
    out.extend_from_slice(&id);
    if has_wide_size(id) {
        out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    } else {
        out.extend_from_slice(&(content.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(content);
}

/// The longest content a tag's size field can say.
pub(super) fn longest_content(id: [u8; 4]) -> usize {
    if has_wide_size(id) { u32::MAX as usize } else { u16::MAX as usize }
}

/// The next tag, `None` for `ENDT`. Overruns of the content are T07; a list that stops without `ENDT` is T06.
pub(super) fn next_tag<'a>(r: &mut Reader<'a>) -> Result<Option<RawTag<'a>>, Finding> {
    let mut step = r.clone().with_code("T06");
    let id: [u8; 4] = step.array("tag or ENDT")?;
    if id == *b"ENDT" {
        *r = step.with_code("T07");
        return Ok(None);
    }
    let mut step = step.with_code("T07");
    let what = || format!("tag `{}`", id.escape_ascii());
    let size = match has_wide_size(id) {
        true => step.u32(&what())? as usize,
        false => usize::from(step.u16(&what())?),
    };
    let content_at = step.at();
    if size > step.left() {
        return Err(Finding::new(
            "T07",
            content_at,
            format!("{} of {size} bytes, {} left", what(), step.left()),
        ));
    }
    let content = step.take(size, "tag content")?;
    *r = step;
    Ok(Some(RawTag { id, content, content_at }))
}

/// What the size word of a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SizeForm {
    /// The tags and `ENDT`: metadata groups of the older archiver, source archives.
    Excludes,
    /// Its own four bytes too.
    Includes,
}

/// A group of tags, known to be well formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Tags and `ENDT`.
    body: &'a [u8],
    /// Offset of the size word from the start of the file.
    at: usize,
    /// What the size word counts.
    pub form: SizeForm,
}

impl<'a> Group<'a> {
    /// Reads the group at the reader's place and moves past it.
    pub(super) fn read(r: &mut Reader<'a>) -> Result<Group<'a>, Finding> {
        let at = r.at();
        let mut step = r.clone().with_code("T06");
        let size = step.u32("group size")? as usize;
        if size > step.left() + 4 {
            let message = format!("group of {size} bytes, {} left in its section", step.left());
            return Err(Finding::new("T06", at, message));
        }
        let mut tags = step.clone().split(size.min(step.left()), "group")?;
        let start = tags.at();
        while next_tag(&mut tags)?.is_some() {}
        let used = tags.at() - start;
        let form = match size {
            _ if size == used => SizeForm::Excludes,
            _ if size == used + 4 => SizeForm::Includes,
            _ => {
                let message = format!("group size {size} fits neither form, expected {used} or {}", used + 4);
                return Err(Finding::new("T06", at, message));
            }
        };
        let body = r.clone().take(used + 4, "group").map(|bytes| &bytes[4..])?;
        r.take(used + 4, "group")?;
        Ok(Group { body, at, form })
    }

    /// Offset of the size word from the start of the file.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Just past `ENDT`.
    pub fn end(&self) -> usize {
        self.at + 4 + self.body.len()
    }

    /// The tags in file order, `ENDT` left out.
    pub fn tags(&self) -> impl Iterator<Item = RawTag<'a>> + use<'a> {
        let mut rest = Reader::new(self.body, "T07");
        let body_at = self.at + 4;
        std::iter::from_fn(move || {
            let tag = next_tag(&mut rest).ok().flatten()?;
            Some(RawTag { content_at: tag.content_at + body_at, ..tag })
        })
    }

    /// The first tag of a name.
    pub fn tag(&self, id: [u8; 4]) -> Option<RawTag<'a>> {
        self.tags().find(|tag| tag.id == id)
    }

    /// Appends the group with the content of each tag as `content` gives it.
    pub(super) fn write_with(&self, out: &mut Vec<u8>, content: impl FnMut(&mut Vec<u8>, RawTag<'a>)) {
        write_group(out, self.form, |out| self.tags().for_each(with_out(out, content)));
    }
}

/// Splits the borrow of `out` so that an iterator can feed tags to a writer.
fn with_out<'o, 'a>(
    out: &'o mut Vec<u8>,
    mut content: impl FnMut(&mut Vec<u8>, RawTag<'a>) + 'o,
) -> impl FnMut(RawTag<'a>) + 'o {
    move |tag| content(out, tag)
}

/// Appends a group around the tags that `tags` appends.
pub(super) fn write_group(out: &mut Vec<u8>, form: SizeForm, tags: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    tags(out);
    out.extend_from_slice(b"ENDT");
    let used = (out.len() - start - 4) as u32;
    let size = if form == SizeForm::Includes { used + 4 } else { used };
    out[start..start + 4].copy_from_slice(&size.to_le_bytes());
}
