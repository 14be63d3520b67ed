//! Whole files from declarations and code.

use super::layout::{Area, Decl, LayoutError, Placed, lay_out};
use super::model::*;
use super::walk::pp_walk;
use crate::At;
use std::fmt::{self, Display, Formatter};

/// Why a file cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    /// The declarations cannot be laid out.
    Layout(LayoutError),
    /// The name holds a NUL.
    Name(String),
    /// Start values of this symbol are not one per component.
    Init(String),
    /// The code is empty, its instruction lengths do not tile it (fragment; the byte offset), or it is no
    /// multiple of 16 bytes (vertex; its size).
    Code(usize),
    /// The attribute prefetch is above the instruction count.
    Prefetch(u32),
}

impl Display for BuildError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Layout(error) => error.fmt(f),
            BuildError::Name(name) => write!(f, "`{}`: NUL inside a name", name.escape_debug()),
            BuildError::Init(name) => write!(f, "`{name}`: start values must be one per component"),
            BuildError::Code(at) => write!(f, "code does not consist of whole instructions at byte {at}"),
            BuildError::Prefetch(at) => write!(f, "attribute prefetch {at} is past the last instruction"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<LayoutError> for BuildError {
    fn from(error: LayoutError) -> Self {
        BuildError::Layout(error)
    }
}

/// A `VIDX` as the open compiler writes it.
const INDEX: (i32, i32, i32) = (-1, -1, 1);

/// Builds a file with a fragment program.
///
/// ```
/// use shader_containers::mbs::{Decl, FragmentBuilder, Mbs, Shape};
/// let clear = [0x0002_1025u32, 0xe4c, 0x03c0_07cf, 0x03c0_03c0, 0x3c0];
/// let file = FragmentBuilder::new(7)
///     .uniforms([Decl::new("cols", Shape::Float(3)).array(2)])
///     .varyings([Decl::new("uv", Shape::Float(2))])
///     .code(&clear)
///     .build()?
///     .write();
/// assert!(Mbs::read(&file)?.check().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FragmentBuilder {
    core_version: u32,
    discard: bool,
    uniforms: Option<Vec<Decl>>,
    varyings: Option<Vec<Decl>>,
    code: Vec<u32>,
    index: bool,
}

impl FragmentBuilder {
    /// For a core version: 5 Mali-200, 7 Mali-400.
    pub fn new(core_version: u32) -> Self {
        FragmentBuilder {
            core_version,
            discard: false,
            uniforms: None,
            varyings: None,
            code: Vec::new(),
            index: true,
        }
    }

    /// Whether the program can discard.
    pub fn discard(self, discard: bool) -> Self {
        FragmentBuilder { discard, ..self }
    }

    /// The uniforms, in table order.
    pub fn uniforms(self, decls: impl Into<Vec<Decl>>) -> Self {
        FragmentBuilder { uniforms: Some(decls.into()), ..self }
    }

    /// The varyings, in table order.
    pub fn varyings(self, decls: impl Into<Vec<Decl>>) -> Self {
        FragmentBuilder { varyings: Some(decls.into()), ..self }
    }

    /// The code words.
    pub fn code(self, words: &[u32]) -> Self {
        FragmentBuilder { code: words.to_vec(), ..self }
    }

    /// Whether uniforms get a `VIDX` chunk, as newer files have it; on by default.
    pub fn index(self, index: bool) -> Self {
        FragmentBuilder { index, ..self }
    }

    /// The file. A table whose declarations were never given is left out; one given none is written empty.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(self) -> Result<Mbs, BuildError> {
        let code = Code::from_words(&self.code);
        if code.bytes.is_empty() {
            return Err(BuildError::Code(0));
        }
        if let Some(offset) = pp_walk(&code.bytes).find_map(Result::err) {
            return Err(BuildError::Code(offset));
        }
        let at = At::default();
        let mut program = Program::new(Stage::Fragment, self.core_version)
            .with(ProgramChunk::Stack(Stack { size: 1, start: 1, at }))
            .with(ProgramChunk::Discard(DiscardUse { can_discard: self.discard.into(), at }))
            .with(ProgramChunk::Buffers(BufferUse { flags: [0, 1, 0, 0, 0, 0, 0, 0], at }));
        let tables = [
            table(SymbolKind::Uniform, Area::FragmentUniforms, self.uniforms, self.index)?,
            table(SymbolKind::Varying, Area::Varyings, self.varyings, false)?,
        ];
        program.chunks.extend(tables.into_iter().flatten());
        Ok(Mbs::new(vec![program.with(ProgramChunk::Code(Box::new(code)))]))
    }
}

/// Builds a file with a vertex program.
#[derive(Clone, Debug)]
pub struct VertexBuilder {
    core_version: u32,
    uniforms: Option<Vec<Decl>>,
    attributes: Option<Vec<Decl>>,
    varyings: Option<Vec<Decl>>,
    varying_area: Area,
    code: Vec<u8>,
    attribute_prefetch: Option<u32>,
    index: bool,
}

impl VertexBuilder {
    /// For a core version: 2 Mali-200, 6 Mali-400.
    pub fn new(core_version: u32) -> Self {
        VertexBuilder {
            core_version,
            uniforms: None,
            attributes: None,
            varyings: None,
            varying_area: Area::Varyings,
            code: Vec::new(),
            attribute_prefetch: None,
            index: true,
        }
    }

    /// The uniforms, in table order; constants with their start values among them.
    pub fn uniforms(self, decls: impl Into<Vec<Decl>>) -> Self {
        VertexBuilder { uniforms: Some(decls.into()), ..self }
    }

    /// The attributes, in slot order.
    pub fn attributes(self, decls: impl Into<Vec<Decl>>) -> Self {
        VertexBuilder { attributes: Some(decls.into()), ..self }
    }

    /// The varyings with `gl_Position` and `gl_PointSize`, in table order.
    pub fn varyings(self, decls: impl Into<Vec<Decl>>) -> Self {
        VertexBuilder { varyings: Some(decls.into()), ..self }
    }

    /// Varyings one slot each, as ARM's compiler lays them out, instead of packed.
    pub fn varying_slots(self) -> Self {
        VertexBuilder { varying_area: Area::VaryingSlots, ..self }
    }

    /// The code, 16 bytes per instruction.
    pub fn code(self, bytes: &[u8]) -> Self {
        VertexBuilder { code: bytes.to_vec(), ..self }
    }

    /// Index just past the last instruction that reads an attribute; the instruction count by default.
    pub fn attribute_prefetch(self, index: u32) -> Self {
        VertexBuilder { attribute_prefetch: Some(index), ..self }
    }

    /// Whether uniforms get a `VIDX` chunk, as newer files have it; on by default.
    pub fn index(self, index: bool) -> Self {
        VertexBuilder { index, ..self }
    }

    /// The file. A table whose declarations were never given is left out; one given none is written empty.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn build(self) -> Result<Mbs, BuildError> {
        if self.code.is_empty() || self.code.len() % 16 != 0 {
            return Err(BuildError::Code(self.code.len()));
        }
        let at = At::default();
        let count = (self.code.len() / 16) as u32;
        let attribute_prefetch = self.attribute_prefetch.unwrap_or(count);
        if attribute_prefetch > count {
            return Err(BuildError::Prefetch(attribute_prefetch));
        }
        let fins = InstructionCount { unknown: 0, count, attribute_prefetch, at };
        let mut program =
            Program::new(Stage::Vertex, self.core_version).with(ProgramChunk::Instructions(fins));
        let tables = [
            table(SymbolKind::Uniform, Area::VertexUniforms, self.uniforms, self.index)?,
            table(SymbolKind::Attribute, Area::Attributes, self.attributes, false)?,
            table(SymbolKind::Varying, self.varying_area, self.varyings, false)?,
        ];
        program.chunks.extend(tables.into_iter().flatten());
        Ok(Mbs::new(vec![program.with(ProgramChunk::Code(Box::new(Code { bytes: self.code, at })))]))
    }
}

fn table(
    kind: SymbolKind,
    area: Area,
    decls: Option<Vec<Decl>>,
    index: bool,
) -> Result<Option<ProgramChunk>, BuildError> {
    let Some(decls) = decls else { return Ok(None) };
    let layout = lay_out(&decls, area)?;
    let symbols = layout.symbols.iter().map(|placed| symbol(kind, placed, index));
    let entries = symbols
        .map(|symbol| symbol.map(|symbol| TableEntry::Symbol(Box::new(symbol))))
        .collect::<Result<Vec<_>, _>>()?;
    let space = (kind == SymbolKind::Uniform).then_some(layout.space);
    let table = Table { kind, count: entries.len() as u32, space, entries, at: At::default() };
    Ok(Some(ProgramChunk::Table(Box::new(table))))
}

fn symbol(kind: SymbolKind, placed: &Placed, index: bool) -> Result<Symbol, BuildError> {
    if placed.name.contains('\0') {
        return Err(BuildError::Name(placed.name.clone()));
    }
    let at = At::default();
    let mut sub_chunks = Vec::new();
    if index {
        let (itdr, iyuv, igrd) = INDEX;
        sub_chunks.push(SubChunk::Index(Index { itdr, iyuv, igrd, at }));
    }
    if let Some(values) = &placed.init {
        if values.len() != usize::from(placed.measure.component_count) {
            return Err(BuildError::Init(placed.name.clone()));
        }
        sub_chunks.push(SubChunk::Init { values: values.iter().map(|value| value.to_bits()).collect(), at });
    }
    let offset = placed.offset.unwrap_or(Symbol::NONE);
    let tail = match kind {
        SymbolKind::Attribute => Tail::Short { unknown: 0, offset },
        _ => Tail::Full { invariant: 0, offset, parent: placed.parent.unwrap_or(Symbol::NONE) },
    };
    Ok(Symbol {
        kind,
        unknown: 0,
        type_byte: placed.symbol_type as u8,
        destination_stride: 16,
        precision: placed.precision,
        component_count: placed.measure.component_count,
        component_size: placed.measure.component_size,
        entries: placed.entries,
        stride: placed.measure.stride,
        tail,
        at,
        record_at: at,
        name: Text::new(&placed.name),
        sub_chunks,
    })
}
