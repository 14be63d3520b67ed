//! The typed model of a file.

use crate::pica::{Descriptor, Float24};

/// A whole file: DVLB, DVLP and DVLEs.
///
/// Blocks remember their places, because files interleave them (nihstro puts the DVLE header between the DVLP
/// header and the code). [`Shbin::layout`] gives every block the place picasso would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shbin {
    /// The code all programs share. It stands right behind the table of DVLE offsets.
    pub dvlp: Dvlp,
    /// The programs, in the order of the offset table.
    pub programs: Vec<Dvle>,
    /// Every byte of the file that belongs to no block, at its place; zero where a block stands.
    pub rest: Vec<u8>,
}

/// Code and operand descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dvlp {
    /// Word 4; 0 in every file, meaning unknown.
    pub version: u32,
    /// Instruction words; offset from the DVLP.
    pub code: Table<u32>,
    /// Operand descriptors; offset from the DVLP.
    pub descriptors: Table<Descriptor>,
    /// Source file names, one per program, if the file has them; offset from the DVLP. Most files have an
    /// offset and no names.
    pub file_names: Table<Vec<u8>>,
    /// The last three header words, 0 in every file that has them; files of nihstro have a shorter header.
    pub unknown: Option<[u32; 3]>,
}

/// One program: an entry point into the code with its interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dvle {
    /// Offset of the header from the start of the file.
    pub at: u32,
    /// 0x1002 from picasso; 0 from nihstro, aemstro and older tools.
    pub version: u16,
    /// Vertex or geometry.
    pub stage: Stage,
    /// Bit 0: the geometry program passes generic outputs through (output maps are merged).
    pub flags: u8,
    /// First code word.
    pub main: u32,
    /// Code word behind main; may be 0.
    pub end: u32,
    /// Inputs used, bit n = v`n`; 0 when the tool does not fill it.
    pub inputs: u16,
    /// Outputs used, bit n = o`n`; 0 when the tool does not fill it.
    pub output_mask: u16,
    /// How a geometry program is fed.
    pub geometry: Geometry,
    /// Constants to load with the program (the older description's "uniform table").
    pub constants: Table<Constant>,
    /// Labels; picasso writes none.
    pub labels: Table<LabelEntry>,
    /// Output map.
    pub outputs: Table<Output>,
    /// Named registers.
    pub uniforms: Table<Uniform>,
    /// NUL-terminated names that labels and uniforms point into.
    pub symbols: Table<u8>,
}

/// A table and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<T> {
    /// Offset in bytes from the start of the block that names the table.
    pub at: u32,
    /// The entries.
    pub entries: Vec<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table { at: 0, entries: Vec::new() }
    }
}

/// An enum of known codes that keeps unknown ones.
macro_rules! codes {
    ($(#[$doc:meta])* $kind:ident: $int:ty { $($(#[$item_doc:meta])* $item:ident = $code:literal $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {
            $($(#[$item_doc])* $item,)*
            /// A code without meaning, kept.
            Unknown($int),
        }

        impl $kind {
            /// The meaning of a code.
            pub fn from_code(code: $int) -> Self {
                match code {
                    $($code => $kind::$item,)*
                    other => $kind::Unknown(other),
                }
            }

            /// The code in the file.
            pub fn code(self) -> $int {
                match self {
                    $($kind::$item => $code,)*
                    $kind::Unknown(code) => code,
                }
            }

            /// The name used in text and JSON output.
            pub fn name(self) -> &'static str {
                match self {
                    $($kind::$item => $name,)*
                    $kind::Unknown(_) => "unknown",
                }
            }
        }
    };
}

codes! {
    /// The pipeline stage of a program.
    Stage: u8 {
        /// Vertex program.
        Vertex = 0 "vertex",
        /// Geometry program.
        Geometry = 1 "geometry",
    }
}

codes! {
    /// What a geometry program's input is.
    GeometryMode: u8 {
        /// One vertex.
        Point = 0 "point",
        /// A primitive of varying size.
        Variable = 1 "variable",
        /// A primitive of fixed size, in float uniforms.
        Fixed = 2 "fixed",
    }
}

codes! {
    /// What an output register means to the rasteriser.
    OutputKind: u16 {
        /// Clip position.
        Position = 0 "position",
        /// Normal quaternion.
        NormalQuat = 1 "normalquat",
        /// Colour.
        Color = 2 "color",
        /// Texture coordinate 0.
        TexCoord0 = 3 "texcoord0",
        /// Third component of texture coordinate 0.
        TexCoord0W = 4 "texcoord0w",
        /// Texture coordinate 1.
        TexCoord1 = 5 "texcoord1",
        /// Texture coordinate 2.
        TexCoord2 = 6 "texcoord2",
        /// Not seen used.
        Unused = 7 "unused",
        /// View vector.
        View = 8 "view",
        /// From vertex to geometry program.
        Generic = 9 "generic",
    }
}

/// How a geometry program is fed; zero in vertex programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Input mode.
    pub mode: GeometryMode,
    /// Fixed mode: first float uniform of the vertex array.
    pub fixed_start: u8,
    /// Variable mode: number of fully defined vertices.
    pub variable_count: u8,
    /// Fixed mode: number of vertices.
    pub fixed_count: u8,
}

/// A register and the value to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Register: b0–b15, i0–i3 or c0–c95.
    pub register: u16,
    /// Kind and value.
    pub value: ConstantValue,
}

/// The value of a [`Constant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantValue {
    /// A boolean: 0 or 1, then three words that are 0 in every file.
    Bool(u32, [u32; 3]),
    /// Four bytes x, y, z, w, then three words that are 0 in every file.
    Int([u8; 4], [u32; 3]),
    /// Four float24, each in the low 24 bits of a word; see [`Constant::floats`].
    Float([u32; 4]),
    /// A kind without meaning, kept.
    Unknown(u16, [u32; 4]),
}

impl Constant {
    /// A boolean constant.
    pub fn bool(register: u16, value: bool) -> Constant {
        Constant { register, value: ConstantValue::Bool(value.into(), [0; 3]) }
    }

    /// An integer constant.
    pub fn int(register: u16, xyzw: [u8; 4]) -> Constant {
        Constant { register, value: ConstantValue::Int(xyzw, [0; 3]) }
    }

    /// A float constant, converted as [`Float24::from_f32`] does.
    pub fn float(register: u16, xyzw: [f32; 4]) -> Constant {
        Constant { register, value: ConstantValue::Float(xyzw.map(|x| Float24::from_f32(x).to_bits())) }
    }

    /// The four floats of a float constant.
    pub fn floats(&self) -> Option<[Float24; 4]> {
        match self.value {
            ConstantValue::Float(words) => Some(words.map(Float24::from_low_bits)),
            _ => None,
        }
    }

    /// The letter of the register file: b, i or c; `?` for an unknown kind.
    pub fn file(&self) -> char {
        match self.value {
            ConstantValue::Bool(..) => 'b',
            ConstantValue::Int(..) => 'i',
            ConstantValue::Float(_) => 'c',
            ConstantValue::Unknown(..) => '?',
        }
    }

    /// The kind's code: 0 bool, 1 int, 2 float.
    pub fn kind(&self) -> u16 {
        match self.value {
            ConstantValue::Bool(..) => 0,
            ConstantValue::Int(..) => 1,
            ConstantValue::Float(_) => 2,
            ConstantValue::Unknown(kind, _) => kind,
        }
    }
}

/// A named code word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelEntry {
    /// Counts up from aemstro, 0 from nihstro.
    pub id: u8,
    /// Zero in every file.
    pub padding: [u8; 3],
    /// Code word.
    pub address: u32,
    /// 0 in every file, meaning unknown.
    pub unknown: u32,
    /// Offset of the name in the symbol block.
    pub name: u32,
}

/// A line of the output map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Meaning.
    pub kind: OutputKind,
    /// Register, o0–o15.
    pub register: u16,
    /// Components, bit 0 = x … bit 3 = w.
    pub mask: u32,
}

/// A named range of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Offset of the name in the symbol block.
    pub name: u32,
    /// First register, in the numbering of [`RegisterFile::split`].
    pub first: u16,
    /// Last register, the same one for a single register.
    pub last: u16,
}

/// The register files that uniforms name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFile {
    /// v0–v15.
    Input,
    /// c0–c95.
    Float,
    /// i0–i3; the numbering has room for eight.
    Int,
    /// b0–b15.
    Bool,
}

impl RegisterFile {
    /// File and number within it: 0x00–0x0F v, 0x10–0x6F c, 0x70–0x77 i, 0x78–0x87 b.
    pub fn split(register: u16) -> Option<(RegisterFile, u16)> {
        Some(match register {
            0x00..=0x0F => (RegisterFile::Input, register),
            0x10..=0x6F => (RegisterFile::Float, register - 0x10),
            0x70..=0x77 => (RegisterFile::Int, register - 0x70),
            0x78..=0x87 => (RegisterFile::Bool, register - 0x78),
            _ => return None,
        })
    }

    /// The number of register `n` of the file in the common numbering; `None` when the file ends before it.
    pub fn register(self, n: u16) -> Option<u16> {
        let (base, count) = match self {
            RegisterFile::Input => (0x00, 16),
            RegisterFile::Float => (0x10, 96),
            RegisterFile::Int => (0x70, 4),
            RegisterFile::Bool => (0x78, 16),
        };
        (n < count).then_some(base + n)
    }

    /// v, c, i or b.
    pub fn letter(self) -> char {
        match self {
            RegisterFile::Input => 'v',
            RegisterFile::Float => 'c',
            RegisterFile::Int => 'i',
            RegisterFile::Bool => 'b',
        }
    }
}

impl Dvle {
    /// The name at an offset of the symbol block, without its NUL.
    pub fn name(&self, offset: u32) -> Option<&[u8]> {
        let rest = self.symbols.entries.get(offset as usize..)?;
        rest.iter().position(|&byte| byte == 0).map(|end| &rest[..end])
    }
}
