//! One function of the list.

use super::group::{Group, RawTag, write_tag};
use super::types::data_type_name;
use crate::{Finding, Reader};

/// Offsets of a function's parts from the start of their sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// Its group of public metadata.
    pub public: u64,
    /// Its group of private metadata.
    pub private: u64,
    /// Its module.
    pub module: u64,
}

/// Versions of the intermediate representation and of the shading language: major, minor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    /// AIR version.
    pub air: (u16, u16),
    /// Language version.
    pub language: (u16, u16),
}

/// A function: its tags typed, unknown ones kept in [`Function::group`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its name without the NUL.
    pub name: &'a [u8],
    /// See [`function_type_name`].
    pub function_type: u8,
    /// SHA-256 of its module.
    pub hash: &'a [u8; 32],
    /// Where its parts are.
    pub offsets: Offsets,
    /// Versions.
    pub version: Version,
    /// Module size in bytes.
    pub module_size: Option<u64>,
    /// Offset of its archive's `SARC` in the source section.
    pub source: Option<u64>,
    /// Offset of its group in `RLST`.
    pub reflection: Option<u64>,
    /// Data type of the layer index.
    pub layer: Option<u8>,
    /// Patch kind and control points.
    pub tessellation: Option<u8>,
    /// The group as read, for unknown tags, the order of tags, and places.
    pub group: Group<'a>,
}

/// The name of a function type; `None` for numbers no description names.
pub fn function_type_name(function_type: u8) -> Option<&'static str> {
    Some(match function_type {
        0 => "vertex",
        1 => "fragment",
        2 => "kernel",
        3 => "unqualified",
        4 => "visible",
        5 => "extern",
        6 => "intersection",
        7 => "mesh",
        8 => "object",
        255 => "none",
        _ => return None,
    })
}

/// Tags with a typed field in [`Function`].
pub(super) const KNOWN: [[u8; 4]; 10] =
    [*b"NAME", *b"TYPE", *b"HASH", *b"MDSZ", *b"OFFT", *b"VERS", *b"SOFF", *b"RFLT", *b"LAYR", *b"TESS"];

/// No function takes fewer bytes: the five tags it must have, an empty name, size word and `ENDT`.
pub(super) const SMALLEST: usize = 4 + 7 + 7 + 38 + 30 + 14 + 4;

/// The first tags of each name in a group.
struct Found<'a> {
    group: Group<'a>,
    tags: [Option<RawTag<'a>>; KNOWN.len()],
}

impl<'a> Found<'a> {
    fn new(group: Group<'a>) -> Self {
        let mut tags = [None; KNOWN.len()];
        for tag in group.tags() {
            if let Some(slot) = KNOWN.iter().position(|id| *id == tag.id) {
                tags[slot].get_or_insert(tag);
            }
        }
        Found { group, tags }
    }

    fn optional<const N: usize>(&self, id: &[u8; 4]) -> Result<Option<[u8; N]>, Finding> {
        self.tag(id).map(|tag| fixed(&tag).copied()).transpose()
    }

    fn tag(&self, id: &[u8; 4]) -> Option<RawTag<'a>> {
        KNOWN.iter().position(|known| known == id).and_then(|slot| self.tags[slot])
    }

    fn needed(&self, id: &[u8; 4]) -> Result<RawTag<'a>, Finding> {
        let missing =
            || Finding::new("T08", self.group.at(), format!("function without `{}`", id.escape_ascii()));
        self.tag(id).ok_or_else(missing)
    }
}

/// The content of a tag of fixed size.
pub(super) fn fixed<'a, const N: usize>(tag: &RawTag<'a>) -> Result<&'a [u8; N], Finding> {
    tag.content.try_into().map_err(|_| {
        let message = format!("tag `{}` of {} bytes, expected {N}", tag.name(), tag.content.len());
        Finding::new("T09", tag.content_at, message)
    })
}

/// A string that fills its tag up to the NUL.
pub(super) fn string<'a>(tag: &RawTag<'a>) -> Result<&'a [u8], Finding> {
    let Some((0, text)) = tag.content.split_last() else {
        let message = format!("tag `{}` is not terminated", tag.name());
        return Err(Finding::new("T10", tag.content_at, message));
    };
    match text.iter().position(|&byte| byte == 0) {
        Some(at) => {
            let message = format!("NUL inside tag `{}`", tag.name());
            Err(Finding::new("T10", tag.content_at + at, message))
        }
        None => Ok(text),
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|word| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(word);
        u64::from_le_bytes(bytes)
    })
}

fn halves(bytes: [u8; 8]) -> [u16; 4] {
    std::array::from_fn(|i| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]))
}

impl<'a> Function<'a> {
    /// Reads the group at the reader's place and moves past it.
    pub(super) fn read(r: &mut Reader<'a>) -> Result<Function<'a>, Finding> {
        let found = Found::new(Group::read(r)?);
        let name = found.needed(b"NAME")?;
        let function_type = fixed::<1>(&found.needed(b"TYPE")?)?[0];
        let hash = fixed(&found.needed(b"HASH")?)?;
        let mut offsets = words(fixed::<24>(&found.needed(b"OFFT")?)?);
        let mut offset = || offsets.next().unwrap_or_default();
        let version = halves(*fixed(&found.needed(b"VERS")?)?);
        Ok(Function {
            name: string(&name)?,
            function_type,
            hash,
            offsets: Offsets { public: offset(), private: offset(), module: offset() },
            version: Version { air: (version[0], version[1]), language: (version[2], version[3]) },
            module_size: found.optional(b"MDSZ")?.map(u64::from_le_bytes),
            source: found.optional(b"SOFF")?.map(u64::from_le_bytes),
            reflection: found.optional(b"RFLT")?.map(u64::from_le_bytes),
            layer: found.optional::<1>(b"LAYR")?.map(|[byte]| byte),
            tessellation: found.optional::<1>(b"TESS")?.map(|[byte]| byte),
            group: found.group,
        })
    }

    /// The name, bytes that are no UTF-8 replaced.
    pub fn name_text(&self) -> String {
        String::from_utf8_lossy(self.name).into_owned()
    }

    /// Name of the layer index's data type.
    pub fn layer_type(&self) -> Option<&'static str> {
        data_type_name(self.layer?)
    }

    /// Patch kind (`triangle`, `quad`, `none` or `unknown`) and control points.
    pub fn patch(&self) -> Option<(&'static str, u8)> {
        let byte = self.tessellation?;
        Some((["none", "triangle", "quad", "unknown"][usize::from(byte & 3)], byte >> 2))
    }

    /// Offset in the file of a tag's content, for a finding about it; of the group when there is no such tag.
    pub(super) fn place(&self, id: &[u8; 4]) -> usize {
        self.group.tag(*id).map_or(self.group.at(), |tag| tag.content_at)
    }

    /// Tags without a typed field, and known ones that come a second time.
    pub fn unknown_tags(&self) -> impl Iterator<Item = RawTag<'a>> + use<'a> {
        let mut seen = [false; KNOWN.len()];
        self.group.tags().filter(move |tag| match KNOWN.iter().position(|id| *id == tag.id) {
            Some(slot) => std::mem::replace(&mut seen[slot], true),
            None => true,
        })
    }

    /// The content of a tag as the typed fields have it; `None` for a tag without one.
    fn content(&self, id: [u8; 4]) -> Option<Vec<u8>> {
        let word = |value: Option<u64>| value.map(|value| value.to_le_bytes().to_vec());
        match &id {
            b"NAME" => Some([self.name, &[0]].concat()),
            b"TYPE" => Some(vec![self.function_type]),
            b"HASH" => Some(self.hash.to_vec()),
            b"MDSZ" => word(self.module_size),
            b"OFFT" => {
                let Offsets { public, private, module } = self.offsets;
                Some([public, private, module].iter().flat_map(|offset| offset.to_le_bytes()).collect())
            }
            b"VERS" => {
                let Version { air, language } = self.version;
                Some(
                    [air.0, air.1, language.0, language.1]
                        .iter()
                        .flat_map(|half| half.to_le_bytes())
                        .collect(),
                )
            }
            b"SOFF" => word(self.source),
            b"RFLT" => word(self.reflection),
            b"LAYR" => self.layer.map(|byte| vec![byte]),
            b"TESS" => self.tessellation.map(|byte| vec![byte]),
            _ => None,
        }
    }

    /// Appends the group: typed fields in the order the tags were read, unknown tags as they were.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut seen = [false; KNOWN.len()];
        self.group.write_with(out, |out, tag| {
            let slot = KNOWN.iter().position(|id| *id == tag.id);
            let first = slot.is_some_and(|slot| !std::mem::replace(&mut seen[slot], true));
            match self.content(tag.id).filter(|_| first) {
                Some(content) => write_tag(out, tag.id, &content),
                None => write_tag(out, tag.id, tag.content),
            }
        });
    }
}
