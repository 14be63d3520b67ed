//! The GL shader record (v3d.md §6.1): three programs and their vertex attributes.

use super::words::{ShaderFlags, WordError};
use crate::hw::ATTRIBUTE_ARRAYS;

/// Bytes before the attributes.
const HEAD: usize = 36;
/// Bytes of one attribute.
const ATTRIBUTE: usize = 8;
/// First byte of the extended strides: behind eight attributes, however many are used.
const STRIDES: usize = HEAD + ATTRIBUTE * ATTRIBUTE_ARRAYS;
/// Largest stride of the extended form, 26 bits.
pub const MAX_EXTENDED_STRIDE: u32 = (1 << 26) - 1;

/// First byte of the code addresses: fragment, vertex, coordinate program.
pub const CODE_AT: [usize; 3] = [4, 16, 28];
/// First byte of the uniform addresses, in the same order.
pub const UNIFORMS_AT: [usize; 3] = [8, 20, 32];

/// First byte of attribute array `n`: address, then size minus one, stride, VPM offsets.
pub const fn attribute_at(n: usize) -> usize {
    HEAD + ATTRIBUTE * n
}

/// First byte of attribute array `n`'s stride in an extended record.
pub const fn stride_at(n: usize) -> usize {
    STRIDES + 4 * n
}

/// Bytes of a record with this many attribute arrays (1–8).
pub const fn record_size(attributes: usize, extended: bool) -> usize {
    if extended { STRIDES + 4 * attributes } else { HEAD + ATTRIBUTE * attributes }
}

/// The vertex or the coordinate program of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct VertexProgram {
    /// Ignored by the hardware.
    pub uniform_count: u16,
    /// Bit n: array n is loaded.
    pub attribute_select: u8,
    /// Bytes of all loaded arrays in the VPM.
    pub attribute_bytes: u8,
    /// Address of the code; 0 under Linux, where the BO's index stands in front of the record.
    pub code: u32,
    /// Address of the uniforms; filled in by the kernel under Linux.
    pub uniforms: u32,
}

/// One attribute array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Attribute {
    /// Address of the first vertex's data; an offset into a BO under Linux.
    pub address: u32,
    /// Bytes loaded per vertex, 1 to 256; above 60 nobody has tried (v3d.md §6.1).
    pub bytes: u16,
    /// Bytes from one vertex to the next: up to 255, or 26 bits in an extended record.
    pub stride: u32,
    /// Byte offset in the vertex program's VPM rows.
    pub vertex_offset: u8,
    /// Byte offset in the coordinate program's VPM rows.
    pub coordinate_offset: u8,
}

/// The record.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ShaderRecord {
    /// Flags.
    pub flags: ShaderFlags,
    /// Ignored by the hardware.
    pub fragment_uniform_count: u8,
    /// Varying words per vertex, without those of points and lines.
    pub varyings: u8,
    /// Address of the fragment program.
    pub fragment_code: u32,
    /// Address of its uniforms.
    pub fragment_uniforms: u32,
    /// The vertex program.
    pub vertex: VertexProgram,
    /// The coordinate program.
    pub coordinate: VertexProgram,
    /// 1 to 8 attribute arrays.
    pub attributes: Vec<Attribute>,
    /// Strides have 26 bits; packet 64 must say the same.
    pub extended: bool,
}

/// Why a record cannot be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// A record has 1 to 8 attribute arrays.
    #[error("a shader record has 1 to 8 attribute arrays, not {0}; merge arrays or add an unused one")]
    AttributeCount(usize),
    /// An array's size does not fit.
    #[error("attribute {index} has {bytes} bytes per vertex; 1 to 256 fit the record")]
    AttributeBytes {
        /// The array.
        index: usize,
        /// Its size.
        bytes: u16,
    },
    /// An array's stride does not fit.
    #[error(
        "attribute {index} has a stride of {stride} bytes; {max} is the most that this form of record holds"
    )]
    Stride {
        /// The array.
        index: usize,
        /// Its stride.
        stride: u32,
        /// The limit.
        max: u32,
    },
    /// The bytes end inside the record.
    #[error("the shader record needs {need} bytes, {have} are left")]
    Truncated {
        /// Size of the record.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// The flags make no sense.
    #[error("shader record flags: {0}")]
    Flags(#[from] WordError),
}

impl VertexProgram {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.uniform_count.to_le_bytes());
        out.extend_from_slice(&[self.attribute_select, self.attribute_bytes]);
        out.extend_from_slice(&self.code.to_le_bytes());
        out.extend_from_slice(&self.uniforms.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        VertexProgram {
            uniform_count: u16::from_le_bytes([bytes[0], bytes[1]]),
            attribute_select: bytes[2],
            attribute_bytes: bytes[3],
            code: word(bytes, 4),
            uniforms: word(bytes, 8),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

impl ShaderRecord {
    /// Bytes of this record.
    pub fn size(&self) -> usize {
        record_size(self.attributes.len(), self.extended)
    }

    fn check(&self) -> Result<(), RecordError> {
        if self.attributes.is_empty() || self.attributes.len() > ATTRIBUTE_ARRAYS {
            return Err(RecordError::AttributeCount(self.attributes.len()));
        }
        let max = if self.extended { MAX_EXTENDED_STRIDE } else { 255 };
        for (index, attribute) in self.attributes.iter().enumerate() {
            let &Attribute { bytes, stride, .. } = attribute;
            if !(1..=256).contains(&bytes) {
                return Err(RecordError::AttributeBytes { index, bytes });
            }
            if stride > max {
                return Err(RecordError::Stride { index, stride, max });
            }
        }
        Ok(())
    }

    /// Appends the record.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), RecordError> {
        self.check()?;
        let start = out.len();
        out.extend_from_slice(&(self.flags.bits() as u16).to_le_bytes());
        out.extend_from_slice(&[self.fragment_uniform_count, self.varyings]);
        out.extend_from_slice(&self.fragment_code.to_le_bytes());
        out.extend_from_slice(&self.fragment_uniforms.to_le_bytes());
        self.vertex.put(out);
        self.coordinate.put(out);
        for attribute in &self.attributes {
            out.extend_from_slice(&attribute.address.to_le_bytes());
            out.extend_from_slice(&[
                (attribute.bytes - 1) as u8,
                attribute.stride as u8,
                attribute.vertex_offset,
                attribute.coordinate_offset,
            ]);
        }
        if self.extended {
            out.resize(start + STRIDES, 0);
            // The whole stride, low byte included: right whether the word replaces that byte or adds to it.
            for attribute in &self.attributes {
                out.extend_from_slice(&attribute.stride.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Reads a record; `attributes` (1–8) and `extended` stand in packet 64.
    pub fn read(bytes: &[u8], attributes: usize, extended: bool) -> Result<Self, RecordError> {
        if attributes == 0 || attributes > ATTRIBUTE_ARRAYS {
            return Err(RecordError::AttributeCount(attributes));
        }
        let need = record_size(attributes, extended);
        if bytes.len() < need {
            return Err(RecordError::Truncated { need, have: bytes.len() });
        }
        let attribute = |index: usize| {
            let at = HEAD + ATTRIBUTE * index;
            let upper = if extended { word(bytes, STRIDES + 4 * index) & !0xff } else { 0 };
            Attribute {
                address: word(bytes, at),
                bytes: u16::from(bytes[at + 4]) + 1,
                stride: u32::from(bytes[at + 5]) | upper,
                vertex_offset: bytes[at + 6],
                coordinate_offset: bytes[at + 7],
            }
        };
        Ok(ShaderRecord {
            flags: ShaderFlags::from_bits(u32::from(u16::from_le_bytes([bytes[0], bytes[1]])))?,
            fragment_uniform_count: bytes[2],
            varyings: bytes[3],
            fragment_code: word(bytes, 4),
            fragment_uniforms: word(bytes, 8),
            vertex: VertexProgram::get(&bytes[12..24]),
            coordinate: VertexProgram::get(&bytes[24..36]),
            attributes: (0..attributes).map(attribute).collect(),
            extended,
        })
    }
}
