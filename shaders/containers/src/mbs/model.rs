//! The typed model: known fields typed, unknown ones kept, everything in file order.

use crate::At;

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mbs {
    /// What the `MBS1` chunk holds, in file order.
    pub parts: Vec<Part>,
    /// Bytes after the `MBS1` chunk.
    pub trailing: Vec<u8>,
    /// Where the bytes after the `MBS1` chunk began.
    pub trailing_at: At,
}

/// One chunk of `MBS1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `CFRA` or `CVER`.
    Program(Box<Program>),
    /// Anything else.
    Unknown(Unknown),
}

/// A chunk kept raw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its four identity bytes.
    pub id: [u8; 4],
    /// Where the chunk's header was.
    pub at: At,
    /// Its payload.
    pub payload: Vec<u8>,
}

/// Which processor a program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// `CFRA`, pixel processor (PP).
    Fragment,
    /// `CVER`, geometry processor (GP).
    Vertex,
}

/// `CFRA` or `CVER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Which of the two.
    pub stage: Stage,
    /// 5 Mali-200 PP, 7 Mali-400 PP, 2 Mali-200 GP, 6 Mali-400 GP.
    pub core_version: u32,
    /// What follows, in file order.
    pub chunks: Vec<ProgramChunk>,
    /// Where the chunk's header was.
    pub at: At,
}

/// One chunk of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramChunk {
    /// `FSTA`
    Stack(Stack),
    /// `FDIS`
    Discard(DiscardUse),
    /// `FBUU`
    Buffers(BufferUse),
    /// `FINS`
    Instructions(InstructionCount),
    /// `SUNI`, `SVAR` or `SATT`
    Table(Box<Table>),
    /// `DBIN`
    Code(Box<Code>),
    /// Anything else.
    Unknown(Unknown),
}

/// `FSTA`: 1 and 1 in every known file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Stack size.
    pub size: u32,
    /// Stack start offset.
    pub start: u32,
    /// Where the chunk's header was.
    pub at: At,
}

/// `FDIS`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardUse {
    /// 1 when the program can discard a fragment, else 0.
    pub can_discard: u32,
    /// Where the chunk's header was.
    pub at: At,
}

/// `FBUU`: which buffers the program touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferUse {
    /// Reads, writes colour; reads, writes depth; reads, writes stencil; two unknown bytes.
    pub flags: [u8; 8],
    /// Where the chunk's header was.
    pub at: At,
}

/// `FINS`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionCount {
    /// 0 in every known file.
    pub unknown: u32,
    /// GP instructions, 16 bytes each.
    pub count: u32,
    /// Index just past the last instruction that reads an attribute.
    pub attribute_prefetch: u32,
    /// Where the chunk's header was.
    pub at: At,
}

/// `DBIN`: machine code, kept as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The bytes; a multiple of 4 in a valid file.
    pub bytes: Vec<u8>,
    /// Where the chunk's header was.
    pub at: At,
}

/// Which kind of symbol a table is for, and which kind a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// `SUNI` of `VUNI`
    Uniform,
    /// `SVAR` of `VVAR`
    Varying,
    /// `SATT` of `VATT`
    Attribute,
}

/// `SUNI`, `SVAR` or `SATT`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Which table.
    pub kind: SymbolKind,
    /// The count as stored.
    pub count: u32,
    /// Uniform area in floats. `None` in varying and attribute tables, and in the older form of `SUNI`.
    pub space: Option<u32>,
    /// What follows, in file order.
    pub entries: Vec<TableEntry>,
    /// Where the chunk's header was.
    pub at: At,
}

/// One chunk of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableEntry {
    /// A symbol of any kind.
    Symbol(Box<Symbol>),
    /// Anything else.
    Unknown(Unknown),
}

/// The text of a `STRI` chunk with its NUL and padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub(super) payload: Vec<u8>,
}

/// `VUNI`, `VVAR` or `VATT`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Which of the three.
    pub kind: SymbolKind,
    /// Record byte 0: 0 from the open compiler, 2 from ARM's later ones.
    pub unknown: u8,
    /// Type byte; see [`SymbolType::from_byte`].
    pub type_byte: u8,
    /// Destination stride: 16, or 24 for a varying that goes straight into a texture fetch.
    pub destination_stride: u8,
    /// 1 low, 2 medium, 3 high, 4 "super".
    pub precision: u8,
    /// Vector width; matrix order; 2 or 3 for samplers; members of a struct.
    pub component_count: u16,
    /// Floats of one element; of one column for a matrix.
    pub component_size: u16,
    /// Array length, 0 for no array.
    pub entries: u16,
    /// Floats from one element to the next.
    pub stride: u16,
    /// The rest of the record, which has two forms.
    pub tail: Tail,
    /// Where the chunk's header was.
    pub at: At,
    /// Where the record was.
    pub record_at: At,
    /// The symbol's name.
    pub name: Text,
    /// What follows the record, in file order.
    pub sub_chunks: Vec<SubChunk>,
}

/// The end of a symbol record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// 20-byte record: uniforms, varyings, and attributes of the older form.
    Full {
        /// 1 when declared invariant.
        invariant: u32,
        /// In floats; 0xFFFF = unused.
        offset: u16,
        /// Index of the parent struct in the table; 0xFFFF = none.
        parent: u16,
    },
    /// 16-byte record: attributes.
    Short {
        /// 0 in every known file.
        unknown: u16,
        /// In floats.
        offset: u16,
    },
}

/// A chunk behind a symbol record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubChunk {
    /// `VIDX`
    Index(Index),
    /// `VINI`: start values, as bits of floats.
    Init {
        /// The values.
        values: Vec<u32>,
        /// Where the chunk's header was.
        at: At,
    },
    /// Anything else.
    Unknown(Unknown),
}

/// `VIDX`: three numbers of unknown meaning, in the chunks `ITDR`, `IYUV` and `IGRD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index {
    /// -1 in every known file.
    pub itdr: i32,
    /// -1 in every known file.
    pub iyuv: i32,
    /// 1 from the open compiler; -1 or 0 from ARM's.
    pub igrd: i32,
    /// Where the chunk's header was.
    pub at: At,
}

/// The type of a symbol; a number no description names is kept in [`Symbol::type_byte`] only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the shading language's")]
pub enum SymbolType {
    Float = 1,
    Int = 2,
    Bool = 3,
    Matrix = 4,
    Sampler2D = 5,
    SamplerCube = 6,
    Struct = 8,
    SamplerExternal = 9,
}

impl SymbolType {
    /// The type a record byte names; 0, 7 and everything above 9 name none.
    pub fn from_byte(byte: u8) -> Option<SymbolType> {
        use SymbolType::*;
        Some(match byte {
            1 => Float,
            2 => Int,
            3 => Bool,
            4 => Matrix,
            5 => Sampler2D,
            6 => SamplerCube,
            8 => Struct,
            9 => SamplerExternal,
            _ => return None,
        })
    }
}

impl Stage {
    pub(super) const fn id(self) -> [u8; 4] {
        match self {
            Stage::Fragment => *b"CFRA",
            Stage::Vertex => *b"CVER",
        }
    }

    /// `fragment` or `vertex`.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Fragment => "fragment",
            Stage::Vertex => "vertex",
        }
    }
}

/// The core a version word of a stage stands for.
pub fn core_version_name(stage: Stage, version: u32) -> Option<&'static str> {
    Some(match (stage, version) {
        (Stage::Fragment, 5) => "MALI_200 PP",
        (Stage::Fragment, 7) => "MALI_400 PP",
        (Stage::Vertex, 2) => "MALI_200 GP",
        (Stage::Vertex, 6) => "MALI_400 GP",
        _ => return None,
    })
}

impl SymbolKind {
    pub(super) const fn id(self) -> [u8; 4] {
        match self {
            SymbolKind::Uniform => *b"VUNI",
            SymbolKind::Varying => *b"VVAR",
            SymbolKind::Attribute => *b"VATT",
        }
    }

    pub(super) const fn table_id(self) -> [u8; 4] {
        match self {
            SymbolKind::Uniform => *b"SUNI",
            SymbolKind::Varying => *b"SVAR",
            SymbolKind::Attribute => *b"SATT",
        }
    }

    pub(super) fn from_id(id: [u8; 4]) -> Option<SymbolKind> {
        [SymbolKind::Uniform, SymbolKind::Varying, SymbolKind::Attribute]
            .into_iter()
            .find(|kind| kind.id() == id)
    }

    pub(super) fn from_table_id(id: [u8; 4]) -> Option<SymbolKind> {
        [SymbolKind::Uniform, SymbolKind::Varying, SymbolKind::Attribute]
            .into_iter()
            .find(|kind| kind.table_id() == id)
    }

    /// `uniforms`, `varyings` or `attributes`.
    pub fn name(self) -> &'static str {
        match self {
            SymbolKind::Uniform => "uniforms",
            SymbolKind::Varying => "varyings",
            SymbolKind::Attribute => "attributes",
        }
    }
}

impl Text {
    /// The text with its NUL and the zeros that fill it up to a multiple of 4. A NUL inside `text` would end it
    /// early for every reader.
    pub fn new(text: &str) -> Self {
        let mut payload = text.as_bytes().to_vec();
        payload.resize((payload.len() + 4) & !3, 0);
        Text { payload }
    }

    /// The bytes before the first NUL.
    pub fn bytes(&self) -> &[u8] {
        self.payload.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    /// The text, bytes that are no UTF-8 replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The bytes behind the first NUL; zeros in a clean file.
    pub fn padding(&self) -> &[u8] {
        self.payload.get(self.bytes().len() + 1..).unwrap_or_default()
    }
}

impl Symbol {
    /// 0xFFFF in an offset: declared but not used; in a parent: none.
    pub const NONE: u16 = 0xFFFF;

    /// The type, if the byte names one.
    pub fn symbol_type(&self) -> Option<SymbolType> {
        SymbolType::from_byte(self.type_byte)
    }

    /// The offset in floats: from the start of the area, or of the parent struct. `None` when unused.
    pub fn offset(&self) -> Option<u16> {
        let (Tail::Full { offset, .. } | Tail::Short { offset, .. }) = self.tail;
        Some(offset).filter(|&offset| offset != Self::NONE)
    }

    /// The index of the parent struct in the table.
    pub fn parent(&self) -> Option<u16> {
        match self.tail {
            Tail::Full { parent, .. } => Some(parent).filter(|&parent| parent != Self::NONE),
            Tail::Short { .. } => None,
        }
    }

    /// The type as the shading language spells it, with the array length: `vec3[2]`.
    pub fn type_name(&self) -> String {
        use SymbolType::*;
        let n = self.component_count;
        let base = match self.symbol_type() {
            Some(Float) if n == 1 => "float".into(),
            Some(Float) => format!("vec{n}"),
            Some(Int) if n == 1 => "int".into(),
            Some(Int) => format!("ivec{n}"),
            Some(Bool) if n == 1 => "bool".into(),
            Some(Bool) => format!("bvec{n}"),
            Some(Matrix) => format!("mat{n}"),
            Some(Sampler2D) => "sampler2D".into(),
            Some(SamplerCube) => "samplerCube".into(),
            Some(Struct) => "struct".into(),
            Some(SamplerExternal) => "samplerExternalOES".into(),
            None => format!("type {}", self.type_byte),
        };
        if self.entries == 0 { base } else { format!("{base}[{}]", self.entries) }
    }

    /// Start values, as bits of floats.
    pub fn init(&self) -> Option<&[u32]> {
        self.sub_chunks.iter().find_map(|sub| match sub {
            SubChunk::Init { values, .. } => Some(&values[..]),
            _ => None,
        })
    }
}

impl Table {
    /// The symbols, in table order: the order parent indices count in.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.entries.iter().filter_map(|entry| match entry {
            TableEntry::Symbol(symbol) => Some(&**symbol),
            TableEntry::Unknown(_) => None,
        })
    }
}

impl Code {
    /// Code from words.
    pub fn from_words(words: &[u32]) -> Self {
        Code { bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(), at: At::default() }
    }
}

impl Program {
    /// A program without chunks.
    pub fn new(stage: Stage, core_version: u32) -> Self {
        Program { stage, core_version, chunks: Vec::new(), at: At::default() }
    }

    /// The program with one more chunk at its end.
    pub fn with(mut self, chunk: ProgramChunk) -> Self {
        self.chunks.push(chunk);
        self
    }

    /// The first `DBIN`.
    pub fn code(&self) -> Option<&[u8]> {
        self.code_chunk().map(|code| &code.bytes[..])
    }

    pub(super) fn code_chunk(&self) -> Option<&Code> {
        self.chunks.iter().find_map(|chunk| match chunk {
            ProgramChunk::Code(code) => Some(&**code),
            _ => None,
        })
    }

    /// The first `FINS`.
    pub fn instruction_count(&self) -> Option<&InstructionCount> {
        self.chunks.iter().find_map(|chunk| match chunk {
            ProgramChunk::Instructions(count) => Some(count),
            _ => None,
        })
    }

    /// The tables, in file order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.chunks.iter().filter_map(|chunk| match chunk {
            ProgramChunk::Table(table) => Some(&**table),
            _ => None,
        })
    }

    /// The first table of a kind.
    pub fn table(&self, kind: SymbolKind) -> Option<&Table> {
        self.tables().find(|table| table.kind == kind)
    }
}

impl Mbs {
    /// A file of the given programs. Real files hold exactly one.
    pub fn new(programs: Vec<Program>) -> Self {
        let parts = programs.into_iter().map(|program| Part::Program(Box::new(program))).collect();
        Mbs { parts, ..Mbs::default() }
    }

    /// The programs, in file order.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.parts.iter().filter_map(|part| match part {
            Part::Program(program) => Some(&**program),
            Part::Unknown(_) => None,
        })
    }
}
