//! Where declarations lie: alignment, component size and stride of every type, and offsets for a list of
//! declarations (containers.md §1.3). Everything is counted in floats of four bytes; an int, a bool and a sampler
//! take one.
//!
//! | type | alignment | component size | stride |
//! |------|-----------|----------------|--------|
//! | float, int, bool, sampler | 1 | 1 | 1 |
//! | 2-vectors | 2 | 2 | 2 |
//! | 3- and 4-vectors | 4 | 4 | 4 |
//! | mat2 | 2 | 2 | 4 |
//! | mat3 | 4 | 4 | 12 |
//! | mat4 | 4 | 4 | 16 |
//! | struct | largest of its members | size rounded up to that | same |
//!
//! That is [`Rules::Packed`]. In the uniform area of the geometry processor ([`Rules::Rows`]) every type takes rows
//! of four; attributes, and the varyings of ARM's compiler, take one slot of four each ([`Rules::Slots`]).
//!
//! ```
//! use shader_containers::mbs::{Area, Decl, Shape, lay_out};
//! let layout = lay_out(&[Decl::new("k", Shape::Float(1)).array(5), Decl::new("n", Shape::Float(3))], Area::FragmentUniforms)?;
//! // Wide types come first: n takes 0 to 3, k begins at 4 and ends at 9, the area is rounded up to 12.
//! assert_eq!(layout.symbols.iter().map(|s| s.offset).collect::<Vec<_>>(), [Some(4), Some(0)]);
//! assert_eq!(layout.space, 12);
//! # Ok::<(), shader_containers::mbs::LayoutError>(())
//! ```

use super::model::SymbolType;
use std::cmp::Reverse;
use std::fmt::{self, Display, Formatter};

/// A type of the shading language; vector widths are 1 to 4, matrix orders 2 to 4.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names are the shading language's")]
pub enum Shape {
    Float(u8),
    Int(u8),
    Bool(u8),
    Matrix(u8),
    Sampler2D,
    SamplerCube,
    SamplerExternal,
    Struct(Vec<Decl>),
}

/// One declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Decl {
    /// Its name.
    pub name: String,
    /// Its type.
    pub shape: Shape,
    /// Array length, 0 for no array.
    pub entries: u16,
    /// 1 low, 2 medium, 3 high.
    pub precision: u8,
    /// Declared but not used: listed without a place.
    pub unused: bool,
    /// Start values of a constant made by the compiler, one per component.
    pub init: Option<Vec<f32>>,
}

/// How types are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// By the alignment of each type.
    Packed,
    /// Rows of four floats; narrow symbols may share a row.
    Rows,
    /// One slot of four floats per symbol, or per column of a matrix.
    Slots,
}

/// What is being laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// Uniforms of a fragment program: packed, 65536 floats.
    FragmentUniforms,
    /// Varyings of a fragment program, and of a vertex program of the open compiler: packed, 64 floats.
    Varyings,
    /// Uniforms of a vertex program: 304 rows.
    VertexUniforms,
    /// Attributes: 16 slots.
    Attributes,
    /// Varyings of a vertex program of ARM's compiler: 16 slots.
    VaryingSlots,
}

impl Area {
    /// The rules of the area.
    pub fn rules(self) -> Rules {
        match self {
            Area::FragmentUniforms | Area::Varyings => Rules::Packed,
            Area::VertexUniforms => Rules::Rows,
            Area::Attributes | Area::VaryingSlots => Rules::Slots,
        }
    }

    /// Its size in floats.
    pub fn limit(self) -> u32 {
        match self {
            Area::FragmentUniforms => 65536,
            Area::VertexUniforms => 304 * 4,
            Area::Varyings | Area::Attributes | Area::VaryingSlots => 64,
        }
    }
}

/// The numbers of one type under some rules, in floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Vector width, matrix order, 2 or 3 for samplers, members of a struct.
    pub component_count: u16,
    /// Floats of one element, or of one column of a matrix.
    pub component_size: u16,
    /// Floats from one array element to the next.
    pub stride: u16,
    /// What the offset is a multiple of.
    pub alignment: u16,
}

/// A declaration with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Its name.
    pub name: String,
    /// Its type.
    pub symbol_type: SymbolType,
    /// Array length, 0 for no array.
    pub entries: u16,
    /// As declared.
    pub precision: u8,
    /// Its numbers.
    pub measure: Measure,
    /// In floats: from the start of the area, or of the parent. `None` for an unused symbol.
    pub offset: Option<u16>,
    /// Index of the parent struct in the list.
    pub parent: Option<u16>,
    /// Start values.
    pub init: Option<Vec<f32>>,
}

/// A list of declarations with their places.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// In the order declared; the members of a struct follow it.
    pub symbols: Vec<Placed>,
    /// Size of the area used, rounded up to a multiple of 4 floats.
    pub space: u32,
}

/// Why declarations cannot be laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum LayoutError {
    /// A vector width, matrix order, or an empty struct, that no type has.
    Shape(String),
    /// The kind of type does not exist in this area: samplers of a vertex program, structs as attributes.
    Kind(String),
    /// Does not fit; the area's limit in floats.
    Full(String, u32),
}

impl Display for LayoutError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::Shape(name) => write!(f, "`{name}`: no such vector width, matrix order or struct"),
            LayoutError::Kind(name) => write!(f, "`{name}`: a type that cannot stand in this area"),
            LayoutError::Full(name, limit) => write!(f, "`{name}` does not fit into {limit} floats"),
        }
    }
}

impl std::error::Error for LayoutError {}

impl Decl {
    /// A declaration of high precision, no array.
    pub fn new(name: &str, shape: Shape) -> Self {
        Decl { name: name.into(), shape, entries: 0, precision: 3, unused: false, init: None }
    }

    /// The same as an array of `entries`.
    pub fn array(self, entries: u16) -> Self {
        Decl { entries, ..self }
    }

    /// The same with another precision.
    pub fn precision(self, precision: u8) -> Self {
        Decl { precision, ..self }
    }

    /// The same, declared but not used.
    pub fn unused(self) -> Self {
        Decl { unused: true, ..self }
    }

    /// The same with start values.
    pub fn init(self, values: &[f32]) -> Self {
        Decl { init: Some(values.to_vec()), ..self }
    }

    fn floats(&self, measure: Measure) -> u32 {
        u32::from(measure.stride) * u32::from(self.entries.max(1))
    }
}

impl Shape {
    /// The type number of the format.
    pub fn symbol_type(&self) -> SymbolType {
        match self {
            Shape::Float(_) => SymbolType::Float,
            Shape::Int(_) => SymbolType::Int,
            Shape::Bool(_) => SymbolType::Bool,
            Shape::Matrix(_) => SymbolType::Matrix,
            Shape::Sampler2D => SymbolType::Sampler2D,
            Shape::SamplerCube => SymbolType::SamplerCube,
            Shape::SamplerExternal => SymbolType::SamplerExternal,
            Shape::Struct(_) => SymbolType::Struct,
        }
    }

    /// Columns of four-float rows a value occupies, 1 to 4.
    fn width(&self) -> u8 {
        match self {
            Shape::Float(n) | Shape::Int(n) | Shape::Bool(n) => *n,
            // A mat2 takes whole rows (appendix A.7 of the ES shading language).
            Shape::Matrix(3) => 3,
            Shape::Matrix(_) | Shape::Struct(_) => 4,
            _ => 1,
        }
    }

    fn is_sampler(&self) -> bool {
        matches!(self, Shape::Sampler2D | Shape::SamplerCube | Shape::SamplerExternal)
    }
}

/// The numbers of everything but a struct, from the numbers a symbol record holds. `None` when there is no such
/// type, or not under these rules.
pub(super) fn measure_record(symbol_type: SymbolType, count: u16, rules: Rules) -> Option<Measure> {
    use SymbolType::*;
    let measure = |component_size, stride, alignment| {
        Some(Measure { component_count: count, component_size, stride, alignment })
    };
    let sampler = matches!(symbol_type, Sampler2D | SamplerCube | SamplerExternal);
    match (symbol_type, count) {
        (Float | Int | Bool, 1..=4) => match rules {
            Rules::Packed if count >= 3 => measure(4, 4, 4),
            Rules::Packed => measure(count, count, count),
            Rules::Rows => measure(4, 4, 1),
            Rules::Slots => measure(4, 4, 4),
        },
        (Matrix, 2) if rules == Rules::Packed => measure(2, 4, 2),
        (Matrix, 2..=4) => measure(4, 4 * count, 4),
        (Sampler2D | SamplerExternal, 2) | (SamplerCube, 3) if sampler && rules == Rules::Packed => {
            measure(1, 1, 1)
        }
        _ => None,
    }
}

/// The numbers of a type.
///
/// # Errors
/// The type does not exist, or not in this area.
pub fn measure(decl: &Decl, rules: Rules) -> Result<Measure, LayoutError> {
    let count = match &decl.shape {
        Shape::Float(n) | Shape::Int(n) | Shape::Bool(n) | Shape::Matrix(n) => u16::from(*n),
        Shape::Sampler2D | Shape::SamplerExternal => 2,
        Shape::SamplerCube => 3,
        Shape::Struct(members) => return measure_struct(decl, members, rules),
    };
    if decl.shape.is_sampler() && rules != Rules::Packed {
        return Err(LayoutError::Kind(decl.name.clone()));
    }
    measure_record(decl.shape.symbol_type(), count, rules)
        .ok_or_else(|| LayoutError::Shape(decl.name.clone()))
}

fn measure_struct(decl: &Decl, members: &[Decl], rules: Rules) -> Result<Measure, LayoutError> {
    if rules == Rules::Slots {
        return Err(LayoutError::Kind(decl.name.clone()));
    }
    let (mut size, mut alignment) = (0u32, 1);
    for (offset, member, measure) in offsets_in_struct(members, rules)? {
        size = offset + member.floats(measure);
        alignment = alignment.max(row_alignment(measure, rules));
    }
    let size = size.next_multiple_of(u32::from(alignment));
    match u16::try_from(size) {
        Ok(0) => Err(LayoutError::Shape(decl.name.clone())),
        Ok(size) => {
            let component_count = members.len() as u16;
            Ok(Measure { component_count, component_size: size, stride: size, alignment })
        }
        Err(_) => Err(LayoutError::Full(decl.name.clone(), 65536)),
    }
}

/// Members of a struct stand on a row of their own each in the geometry processor's area.
fn row_alignment(measure: Measure, rules: Rules) -> u16 {
    if rules == Rules::Rows { 4 } else { measure.alignment }
}

fn offsets_in_struct(members: &[Decl], rules: Rules) -> Result<Vec<(u32, &Decl, Measure)>, LayoutError> {
    let mut at = 0u32;
    let mut list = Vec::with_capacity(members.len());
    for member in members {
        let measure = measure(member, rules)?;
        at = at.next_multiple_of(u32::from(row_alignment(measure, rules)));
        list.push((at, member, measure));
        at = at.saturating_add(member.floats(measure)).min(1 << 20);
    }
    Ok(list)
}

/// Gives every declaration its place, with the choices of the open compiler where the format leaves a choice.
///
/// # Errors
/// A type that does not exist or does not belong into the area, or the area is full.
pub fn lay_out(decls: &[Decl], area: Area) -> Result<Layout, LayoutError> {
    let rules = area.rules();
    let measures = decls.iter().map(|decl| measure(decl, rules)).collect::<Result<Vec<_>, _>>()?;
    let mut order: Vec<usize> = (0..decls.len()).collect();
    if rules != Rules::Slots {
        order.sort_by_key(|&i| packing_key(&decls[i], rules));
    }
    let mut offsets = vec![None; decls.len()];
    let mut grid = Grid::new(area.limit());
    let mut end = 0u32;
    for i in order.into_iter().filter(|&i| !decls[i].unused) {
        let (decl, measure) = (&decls[i], measures[i]);
        let full = || LayoutError::Full(decl.name.clone(), area.limit());
        let floats = decl.floats(measure);
        let offset = match rules {
            Rules::Rows if decl.init.is_some() => {
                grid.append(decl.shape.width(), floats.div_ceil(4)).ok_or_else(full)?
            }
            Rules::Rows => grid.place(decl.shape.width(), floats.div_ceil(4)).ok_or_else(full)?,
            _ => end.next_multiple_of(u32::from(measure.alignment)),
        };
        if offset.checked_add(floats).is_none_or(|end| end > area.limit()) && rules != Rules::Rows {
            return Err(full());
        }
        offsets[i] = Some(offset);
        // A narrow symbol has the stride of its row but ends with its own columns.
        end = end.max(if rules == Rules::Rows { offset - offset % 4 + floats } else { offset + floats });
    }
    let mut layout = Layout { symbols: Vec::new(), space: end.next_multiple_of(4).min(area.limit()) };
    for ((decl, measure), offset) in decls.iter().zip(measures).zip(offsets) {
        list_symbol(&mut layout.symbols, decl, measure, offset, None, rules)?;
    }
    Ok(layout)
}

fn list_symbol(
    list: &mut Vec<Placed>,
    decl: &Decl,
    measure: Measure,
    offset: Option<u32>,
    parent: Option<u16>,
    rules: Rules,
) -> Result<(), LayoutError> {
    let full = || LayoutError::Full(decl.name.clone(), 65535);
    let index = u16::try_from(list.len()).ok().filter(|&index| index < u16::MAX).ok_or_else(full)?;
    list.push(Placed {
        name: decl.name.clone(),
        symbol_type: decl.shape.symbol_type(),
        entries: decl.entries,
        precision: decl.precision,
        measure,
        offset: offset
            .map(|offset| u16::try_from(offset).ok().filter(|&offset| offset < u16::MAX).ok_or_else(full))
            .transpose()?,
        parent,
        init: decl.init.clone(),
    });
    if let Shape::Struct(members) = &decl.shape {
        for (offset, member, measure) in offsets_in_struct(members, rules)? {
            list_symbol(list, member, measure, Some(offset), Some(index), rules)?;
        }
    }
    Ok(())
}

type PackingKey<'a> = (u8, u8, Reverse<u16>, &'a [u8]);

/// Constants of a vertex program come last, in table order, each beside the one before it where the row has room:
/// seen in files of the open compiler.
const CONSTANT: PackingKey<'_> = (u8::MAX, 0, Reverse(0), &[]);

/// Class, then float, int, bool, then longer arrays, then name (containers.md §1.3). Where the external sampler
/// stands is not known; it follows the other samplers here.
fn packing_key(decl: &Decl, rules: Rules) -> PackingKey<'_> {
    if rules == Rules::Rows && decl.init.is_some() {
        return CONSTANT;
    }
    let class = match &decl.shape {
        Shape::Sampler2D => 0,
        Shape::SamplerCube => 1,
        Shape::SamplerExternal => 2,
        Shape::Struct(_) => 3,
        Shape::Matrix(4) => 4,
        Shape::Matrix(2) => 5,
        Shape::Float(4) | Shape::Int(4) | Shape::Bool(4) => 6,
        Shape::Matrix(_) => 7,
        Shape::Float(3) | Shape::Int(3) | Shape::Bool(3) => 8,
        Shape::Float(2) | Shape::Int(2) | Shape::Bool(2) => 9,
        _ => 10,
    };
    let base = match decl.shape {
        // Appendix A.7 knows component counts only.
        _ if rules == Rules::Rows => 0,
        Shape::Int(_) => 1,
        Shape::Bool(_) => 2,
        _ => 0,
    };
    (class, base, Reverse(decl.entries), decl.name.as_bytes())
}

/// The rows of the geometry processor's uniform area, filled as appendix A.7 of the ES shading language says.
struct Grid {
    taken: Vec<[bool; 4]>,
    /// First row behind everything placed by rows.
    next_row: usize,
    /// First float behind the constants, once there are any.
    constants_end: Option<usize>,
}

impl Grid {
    fn new(limit: u32) -> Self {
        Grid { taken: vec![[false; 4]; limit as usize / 4], next_row: 0, constants_end: None }
    }

    /// The offset of a symbol `width` columns wide and `rows` high.
    fn place(&mut self, width: u8, rows: u32) -> Option<u32> {
        let (width, rows) = (usize::from(width), rows as usize);
        let (row, column) = match width {
            1 => self.fit_scalar(rows)?,
            _ if rows <= self.taken.len() - self.next_row => (self.next_row, 0),
            2 => self.fit_pair(rows)?,
            _ => return None,
        };
        for cells in &mut self.taken[row..row + rows] {
            cells[column..column + width].fill(true);
        }
        if width > 1 {
            self.next_row = self.next_row.max(row + rows);
        }
        Some((4 * row + column) as u32)
    }

    /// The offset of a constant behind everything placed so far.
    fn append(&mut self, width: u8, rows: u32) -> Option<u32> {
        let used_rows = self.taken.iter().rposition(|cells| cells.contains(&true)).map_or(0, |row| row + 1);
        let (width, rows) = (usize::from(width), rows as usize);
        let mut at = self.constants_end.unwrap_or(4 * used_rows);
        if at % 4 + width > 4 || rows > 1 {
            at = at.next_multiple_of(4);
        }
        let last = (at / 4).checked_add(rows)?;
        for cells in self.taken.get_mut(at / 4..last)? {
            cells[at % 4..at % 4 + width].fill(true);
        }
        self.constants_end = Some(4 * (last - 1) + at % 4 + width);
        Some(at as u32)
    }

    fn is_free(&self, row: usize, rows: usize, column: usize, width: usize) -> bool {
        self.taken[row..row + rows].iter().all(|cells| !cells[column..column + width].contains(&true))
    }

    /// No spare rows: the highest rows, there the lowest column.
    fn fit_pair(&self, rows: usize) -> Option<(usize, usize)> {
        let last = self.taken.len().checked_sub(rows)?;
        (0..=last).rev().find_map(|row| (0..3).find(|&c| self.is_free(row, rows, c, 2)).map(|c| (row, c)))
    }

    /// The column with the least room that suffices, there the lowest rows.
    fn fit_scalar(&self, rows: usize) -> Option<(usize, usize)> {
        let last = self.taken.len().checked_sub(rows)?;
        (0..4)
            .filter_map(|column| {
                let row = (0..=last).find(|&row| self.is_free(row, rows, column, 1))?;
                let room = self.taken.iter().filter(|cells| !cells[column]).count();
                Some((room, column, row))
            })
            .min()
            .map(|(_, column, row)| (row, column))
    }
}
