//! Tags of the public and private metadata (containers.md §3.5).
//!
//! | tag | content |
//! |-----|---------|
//! | `CNST` | u16 n; n × name NUL, u8 data type, u16 index, u8 active |
//! | `VATT` | u16 n; n × name NUL, u16: bits 0–12 index, 13–14 use, 15 active |
//! | `VATY` | u16 n; n data types, in the order of `VATT` |
//! | `RETR` | u8 data type of the result |
//! | `ARGR` | u8 n; n × name NUL, u8 data type, 6 more bytes for a texture, 11 for a pointer |
//! | `DEBI` | u32 line, path NUL (private) |
//! | `DEPF` | path NUL (private) |

use super::group::{RawTag, write_tag};
use crate::{Finding, Reader};

/// A function constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant<'a> {
    /// Name without NUL.
    pub name: &'a [u8],
    /// See [`data_type_name`](super::data_type_name).
    pub data_type: u8,
    /// Index in the shading language.
    pub index: u16,
    /// 1 when the function uses it.
    pub active: u8,
}

/// A vertex attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexAttribute<'a> {
    /// Name without NUL.
    pub name: &'a [u8],
    /// Bits 0–12 index, 13–14 use, 15 active.
    pub bits: u16,
}

impl VertexAttribute<'_> {
    /// Attribute index.
    pub fn index(&self) -> u16 {
        self.bits & 0x1FFF
    }

    /// `per-vertex`, `per-patch`, `control-point` or `unknown`.
    pub fn usage(&self) -> &'static str {
        ["per-vertex", "per-patch", "control-point", "unknown"][usize::from(self.bits >> 13 & 3)]
    }

    /// Whether the function uses it.
    pub fn is_active(&self) -> bool {
        self.bits & 0x8000 != 0
    }
}

/// An argument of a Core Image function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument<'a> {
    /// Name without NUL; may be empty.
    pub name: &'a [u8],
    /// See [`data_type_name`](super::data_type_name).
    pub data_type: u8,
    /// 6 bytes for a texture, 11 for a pointer, none else; meaning unknown.
    pub extra: &'a [u8],
}

/// A tag of a metadata group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataTag<'a> {
    /// `CNST`
    Constants(Vec<Constant<'a>>),
    /// `VATT`
    VertexAttributes(Vec<VertexAttribute<'a>>),
    /// `VATY`: data types.
    VertexTypes(&'a [u8]),
    /// `RETR`: a data type.
    Return(u8),
    /// `ARGR`
    Arguments(Vec<Argument<'a>>),
    /// `DEBI`: line and path of the source.
    Debug {
        /// Line number.
        line: u32,
        /// Path without NUL.
        path: &'a [u8],
    },
    /// `DEPF`: path of the intermediate file.
    Dependency(&'a [u8]),
    /// Anything else, and a known tag whose content does not parse.
    Unknown(RawTag<'a>),
}

impl<'a> MetadataTag<'a> {
    /// The tag typed.
    ///
    /// # Errors
    /// T18 for the four tags whose content must parse; `W-argr` for `ARGR`, `W-debug` for `DEBI` and `DEPF`.
    pub fn parse(tag: RawTag<'a>) -> Result<MetadataTag<'a>, Finding> {
        let code = match &tag.id {
            b"ARGR" => "W-argr",
            b"DEBI" | b"DEPF" => "W-debug",
            b"CNST" | b"VATT" | b"VATY" | b"RETR" => "T18",
            _ => return Ok(MetadataTag::Unknown(tag)),
        };
        typed(&tag, code)
            .map_err(|finding| Finding { offset: finding.offset + tag.content_at as u64, ..finding })
    }

    /// The tag typed, or raw when its content does not parse.
    pub fn parse_or_keep(tag: RawTag<'a>) -> MetadataTag<'a> {
        MetadataTag::parse(tag).unwrap_or(MetadataTag::Unknown(tag))
    }

    /// The tag's characters.
    pub fn id(&self) -> [u8; 4] {
        match self {
            MetadataTag::Constants(_) => *b"CNST",
            MetadataTag::VertexAttributes(_) => *b"VATT",
            MetadataTag::VertexTypes(_) => *b"VATY",
            MetadataTag::Return(_) => *b"RETR",
            MetadataTag::Arguments(_) => *b"ARGR",
            MetadataTag::Debug { .. } => *b"DEBI",
            MetadataTag::Dependency(_) => *b"DEPF",
            MetadataTag::Unknown(tag) => tag.id,
        }
    }

    /// Appends the tag.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_tag(out, self.id(), &self.content());
    }

    /// The tag's content.
    pub(super) fn content(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut named = |name: &[u8]| out.extend_from_slice(&[name, &[0]].concat());
        match self {
            MetadataTag::Constants(list) => {
                out.extend_from_slice(&(list.len() as u16).to_le_bytes());
                for constant in list {
                    out.extend_from_slice(&[constant.name, &[0, constant.data_type]].concat());
                    out.extend_from_slice(&constant.index.to_le_bytes());
                    out.push(constant.active);
                }
            }
            MetadataTag::VertexAttributes(list) => {
                out.extend_from_slice(&(list.len() as u16).to_le_bytes());
                for attribute in list {
                    out.extend_from_slice(&[attribute.name, &[0]].concat());
                    out.extend_from_slice(&attribute.bits.to_le_bytes());
                }
            }
            MetadataTag::VertexTypes(types) => {
                out.extend_from_slice(&(types.len() as u16).to_le_bytes());
                out.extend_from_slice(types);
            }
            MetadataTag::Return(data_type) => out.push(*data_type),
            MetadataTag::Arguments(list) => {
                out.push(list.len() as u8);
                for argument in list {
                    out.extend_from_slice(
                        &[argument.name, &[0, argument.data_type], argument.extra].concat(),
                    );
                }
            }
            MetadataTag::Debug { line, path } => {
                out.extend_from_slice(&line.to_le_bytes());
                out.extend_from_slice(&[path, &[0][..]].concat());
            }
            MetadataTag::Dependency(path) => named(path),
            MetadataTag::Unknown(tag) => out.extend_from_slice(tag.content),
        }
        out
    }
}

/// Offsets in findings count from the start of the content.
fn typed<'a>(tag: &RawTag<'a>, code: &'static str) -> Result<MetadataTag<'a>, Finding> {
    let mut r = Reader::new(tag.content, code);
    let name = |r: &mut Reader<'a>| {
        let at = r.at();
        r.c_string()
            .ok_or_else(|| Finding::new(code, at, format!("`{}`: name is not terminated", tag.name())))
    };
    let parsed = match &tag.id {
        b"CNST" => {
            let count = count(&mut r, 5, code)?;
            let constant = |r: &mut Reader<'a>| {
                let (name, data_type) = (name(r)?, r.u8("data type")?);
                Ok(Constant { name, data_type, index: r.u16("index")?, active: r.u8("active flag")? })
            };
            MetadataTag::Constants((0..count).map(|_| constant(&mut r)).collect::<Result<_, _>>()?)
        }
        b"VATT" => {
            let count = count(&mut r, 3, code)?;
            let attribute =
                |r: &mut Reader<'a>| Ok(VertexAttribute { name: name(r)?, bits: r.u16("attribute")? });
            MetadataTag::VertexAttributes((0..count).map(|_| attribute(&mut r)).collect::<Result<_, _>>()?)
        }
        b"VATY" => {
            let count = count(&mut r, 1, code)?;
            MetadataTag::VertexTypes(r.take(count, "data types")?)
        }
        b"RETR" => MetadataTag::Return(r.u8("data type")?),
        b"ARGR" => {
            let count = r.u8("argument count")?;
            let argument = |r: &mut Reader<'a>| {
                let (name, data_type) = (name(r)?, r.u8("data type")?);
                let extra = match data_type {
                    0x3A => 6,
                    0x3C => 11,
                    _ => 0,
                };
                Ok(Argument { name, data_type, extra: r.take(extra, "argument bytes")? })
            };
            MetadataTag::Arguments((0..count).map(|_| argument(&mut r)).collect::<Result<_, _>>()?)
        }
        b"DEBI" => MetadataTag::Debug { line: r.u32("line")?, path: name(&mut r)? },
        _ => MetadataTag::Dependency(name(&mut r)?),
    };
    if !r.is_empty() {
        let message = format!("`{}`: {} bytes behind its last item", tag.name(), r.left());
        return Err(Finding::new(code, r.at(), message));
    }
    Ok(parsed)
}

/// A count, compared with what is left before anything is reserved for it.
fn count(r: &mut Reader<'_>, smallest: usize, code: &'static str) -> Result<usize, Finding> {
    let at = r.at();
    let count = usize::from(r.u16("item count")?);
    if count * smallest > r.left() {
        return Err(Finding::new(code, at, format!("{count} items in {} bytes", r.left())));
    }
    Ok(count)
}
