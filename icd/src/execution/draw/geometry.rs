//! The vertices of a draw in runs that the machine can number: at most 65536 in a run, attribute bases moved to its
//! first (v3d.md §5.5, GFXH-515; T-IDX32, T-RESTART, T-PROVOKE, T-ROBUST). Where they lie too far apart or have no data,
//! their arrays are copied together ([`super::gather`]).

use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;
use vc4::cl::packets::PrimitiveMode;
use vc4::hw::MAX_VERTEX_INDEX;

use super::bindings::Bindings;
use super::gather::Gathered;
use super::index_range::IndexRange;
use super::indices::{self, Order, RUN, Scan, whole};
use super::site::Site;
use crate::foundation::bo::Bo;
use crate::foundation::debug::{slow, tells_slow};
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::segments::DrawParameters;

/// Most indices that the CPU looks at for one draw: beyond, memory for them is not a given.
const MAX_INDICES: u32 = 1 << 24;

/// The runs of a draw, nearly always one.
pub(super) type Pieces<'a> = SmallVec<[Piece<'a>; 1]>;

/// A run of vertices.
pub(super) struct Piece<'a> {
    /// The vertex that the machine numbers 0; what it adds to get gl_VertexIndex.
    pub base_vertex: i64,
    /// How the vertices are assembled: as the pipeline says, or as a list that its primitives were taken apart into.
    pub mode: PrimitiveMode,
    /// The primitives.
    pub primitives: Primitives<'a>,
    /// The vertices in the machine's numbering, if their arrays are copied together for them. Few pieces have any, so
    /// the others are not to carry the room.
    pub gathered: Option<Box<Gathered>>,
}

impl Piece<'_> {
    /// `count` vertices in order.
    #[inline]
    fn array(mode: PrimitiveMode, base_vertex: i64, count: u32) -> Self {
        Piece { base_vertex, mode, primitives: Primitives::Array { count }, gathered: None }
    }

    /// The vertex that the machine gives a number, or a corner of its primitive.
    pub fn vertex(&self, number: usize, corner: Option<u8>) -> i64 {
        match &self.gathered {
            Some(gathered) => gathered.vertex(number, corner),
            None => self.base_vertex + number as i64,
        }
    }
}

/// Where indices lie.
pub(super) enum IndexMemory<'a> {
    /// In a buffer of the application.
    Bound(&'a Arc<Bo>),
    /// In a BO of the draw.
    Own(Arc<Bo>),
}

impl IndexMemory<'_> {
    /// The memory.
    pub fn bo(&self) -> &Arc<Bo> {
        match self {
            IndexMemory::Bound(bo) => bo,
            IndexMemory::Own(bo) => bo,
        }
    }
}

/// Numbers of vertices.
pub(super) enum Primitives<'a> {
    /// 0 to `count` - 1.
    Array {
        /// How many.
        count: u32,
    },
    /// From memory, 16 bits each.
    Indexed {
        /// The memory.
        memory: IndexMemory<'a>,
        /// First byte.
        offset: u32,
        /// How many.
        count: u32,
        /// The largest.
        max_index: u32,
    },
}

impl Primitives<'_> {
    /// Vertices or indices.
    pub fn count(&self) -> u32 {
        match self {
            Primitives::Array { count } | Primitives::Indexed { count, .. } => *count,
        }
    }

    /// How many vertices the numbers may name.
    pub fn vertices(&self) -> u32 {
        match *self {
            Primitives::Array { count } => count,
            Primitives::Indexed { max_index, .. } => max_index + 1,
        }
    }
}

/// The only run of an array draw that goes to the machine as it is, which most do.
#[inline]
pub(super) fn at_once(bindings: &Bindings<'_>, call: &DrawParameters) -> Option<Piece<'static>> {
    let (first, count) = (i64::from(call.first), whole(bindings.mode, call.count));
    let is_plain = call.vertex_offset.is_none()
        && (1..=bindings.most_at_once).contains(&count)
        && first + i64::from(count) - 1 <= bindings.limit;
    is_plain.then(|| Piece::array(bindings.mode, first, count))
}

/// As [`at_once`], for a draw with indices that are `known`, or need not be.
#[inline]
pub(super) fn indexed_at_once<'a>(
    bindings: &Bindings<'a>,
    call: &DrawParameters,
    known: &Option<(IndexRange, Scan)>,
) -> Option<Piece<'a>> {
    let (offset, count) = (call.vertex_offset?, whole(bindings.mode, call.count));
    let range = IndexRange::new(bindings.state.indices()?, call.first, count).ok()?;
    if count == 0 {
        return None;
    }
    match (trusted(bindings, offset.into()), known) {
        (Some(scan), _) => in_place(bindings, &range, &scan, offset.into()),
        (None, Some((of, scan))) if range == *of => in_place(bindings, of, scan, offset.into()),
        _ => None,
    }
}

/// What indices may be that nobody has to look at: without robustBufferAccess they reach no further than the arrays, and
/// where nothing restarts, no value means anything else. The machine gets the last vertex that there is for the largest index.
#[inline]
fn trusted(bindings: &Bindings<'_>, offset: i64) -> Option<Scan> {
    let most = bindings.limit.checked_sub(offset)?.min(MAX_VERTEX_INDEX.into());
    (bindings.trusts_indices && most >= 0 && !restarts(bindings))
        .then_some(Scan { max: most as u32, restarts: false })
}

/// The run of indices that the machine can read where they are.
#[inline]
fn in_place<'a>(bindings: &Bindings<'a>, range: &IndexRange, scan: &Scan, offset: i64) -> Option<Piece<'a>> {
    let binding = bindings.state.indices()?;
    let direct = binding.ty == vk::IndexType::UINT16
        && range.is_complete()
        && bindings.most_at_once > 0
        && offset >= 0
        && i64::from(scan.max) + offset <= bindings.limit
        && !(scan.restarts && restarts(bindings));
    if !direct {
        return None;
    }
    let primitives = Primitives::Indexed {
        memory: IndexMemory::Bound(&binding.buffer.binding().ok()?.bo),
        offset: range.address() as u32,
        count: range.count(),
        max_index: scan.max,
    };
    Some(Piece { base_vertex: offset, mode: bindings.mode, primitives, gathered: None })
}

/// Whether the largest index restarts primitives: in lists it does not.
fn restarts(bindings: &Bindings<'_>) -> bool {
    bindings.state.pipeline().info.restart && !indices::size(bindings.mode).1
}

/// The runs of one draw. `known` is what is known of its indices, from this draw or an earlier one.
pub(super) fn pieces<'a>(
    bindings: &Bindings<'a>,
    call: &DrawParameters,
    known: &mut Option<(IndexRange, Scan)>,
) -> Result<Pieces<'a>, Error> {
    let (mode, adjacency) = (bindings.mode, bindings.state.pipeline().adjacency);
    let count = if adjacency { call.count } else { whole(mode, call.count) };
    if count == 0 || call.instances == 0 {
        return Ok(Pieces::new());
    }
    let call = DrawParameters { count, ..*call };
    let pipeline = bindings.state.pipeline();
    let has_corners = bindings.variant.programs.has_corners();
    let polygons = (pipeline.is_taken_apart() || has_corners).then(|| Polygons {
        drawn: if pipeline.is_taken_apart() { pipeline.drawn } else { listed(mode) },
        has_corners,
    });
    let (rewrite, order) = (bindings.rewrites(), bindings.order());
    let draw = Run { site: bindings.site, mode, adjacency, polygons, rewrite, order, limit: bindings.limit };
    match call.vertex_offset {
        None => draw.array(&call),
        Some(offset) => draw.indexed(bindings, &call, i64::from(offset), known),
    }
}

/// How the primitives of a mode are assembled once they are taken apart into a list.
fn listed(mode: PrimitiveMode) -> PrimitiveMode {
    match mode {
        PrimitiveMode::Points => PrimitiveMode::Points,
        PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip => PrimitiveMode::Lines,
        PrimitiveMode::Triangles | PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan => {
            PrimitiveMode::Triangles
        }
    }
}

fn check_count(count: u32) -> Result<(), Error> {
    match count > MAX_INDICES {
        true => Err(Error::unsupported(format!("a draw of {count} indices"), "draw fewer at a time")),
        false => Ok(()),
    }
}

/// Triangles that are not filled, and primitives that vertex programs see whole.
#[derive(Clone, Copy)]
struct Polygons {
    /// What the machine draws.
    drawn: PrimitiveMode,
    /// Each vertex comes with all corners of its primitive.
    has_corners: bool,
}

/// What runs are made for.
struct Run<'a> {
    site: Site<'a>,
    mode: PrimitiveMode,
    /// Adjacent vertices are to be taken out.
    adjacency: bool,
    /// How primitives become others, or see all of their corners.
    polygons: Option<Polygons>,
    /// Take strips and fans apart.
    rewrite: bool,
    /// How their vertices stand then.
    order: Order,
    limit: i64,
}

impl Run<'_> {
    fn array<'a>(&self, call: &DrawParameters) -> Result<Pieces<'a>, Error> {
        let first = i64::from(call.first);
        let fits = first + i64::from(call.count) - 1 <= self.limit;
        let splits = call.count <= RUN || self.mode != PrimitiveMode::TriangleFan;
        if self.rewrite || self.adjacency || self.polygons.is_some() || !fits || !splits {
            check_count(call.count)?;
            let numbers: Vec<u32> = (0..call.count).collect();
            return self.lists(&numbers, None, first);
        }
        let piece = |start, count| Piece::array(self.mode, first + i64::from(start), count);
        if call.count <= RUN {
            return Ok(Pieces::from_buf([piece(0, call.count)]));
        }
        Ok(indices::cut(self.mode, call.count, RUN).map(|(start, count)| piece(start, count)).collect())
    }

    fn indexed<'a>(
        &self,
        bindings: &Bindings<'a>,
        call: &DrawParameters,
        offset: i64,
        known: &mut Option<(IndexRange, Scan)>,
    ) -> Result<Pieces<'a>, Error> {
        let unbound = || Error::InvalidUse("an indexed draw without an index buffer".into());
        let binding = bindings.state.indices().ok_or_else(unbound)?;
        let range = IndexRange::new(binding, call.first, call.count)?;
        check_count(range.count())?;
        if binding.ty != vk::IndexType::UINT16 {
            // The machine takes no others as they are: no need to look twice.
            let restart = Some(range.restart()).filter(|_| restarts(bindings));
            return self.lists(&range.read(self.site, binding)?, restart, offset);
        }
        let scan = match known {
            Some((of, scan)) if *of == range => *scan,
            _ => known.insert((range, range.scan(self.site, binding)?)).1,
        };
        if let Some(piece) = in_place(bindings, &range, &scan, offset) {
            return Ok(Pieces::from_buf([piece]));
        }
        let restart = Some(range.restart()).filter(|_| scan.restarts && restarts(bindings));
        self.lists(&range.read(self.site, binding)?, restart, offset)
    }

    /// Takes primitives apart into lists with indices of their own.
    fn lists<'a>(&self, numbers: &[u32], restart: Option<u32>, offset: i64) -> Result<Pieces<'a>, Error> {
        if tells_slow() {
            slow(format_args!("{} indices of a draw are rewritten", numbers.len()));
        }
        let parts = numbers.split(|number| Some(*number) == restart);
        let list = match self.adjacency {
            false => indices::assemble(self.mode, parts, self.order),
            true => {
                let parts: Vec<Vec<u32>> =
                    parts.map(|part| indices::without_adjacency(self.mode, part)).collect();
                indices::assemble(self.mode, parts.iter().map(Vec::as_slice), self.order)
            }
        };
        let mut vertices: Vec<i64> = list.into_iter().map(|number| i64::from(number) + offset).collect();
        let mut mode = listed(self.mode);
        if let Some(Polygons { drawn, has_corners }) = self.polygons {
            if has_corners {
                let runs = indices::apart(&vertices, mode, drawn);
                return self.own(runs, drawn, true);
            }
            (vertices, mode) = (indices::sides(&vertices, mode, drawn), drawn);
        }
        let (size, _) = indices::size(mode);
        let there = vertices.iter().all(|vertex| (0..=self.limit).contains(vertex));
        // Vertices without data, and primitives that span too much, get arrays of their own.
        let near = if there { indices::runs(&vertices, size as usize) } else { None };
        let gathers = near.is_none();
        let runs = near.unwrap_or_else(|| indices::gather(&vertices, size as usize));
        self.own(runs, mode, gathers)
    }

    /// Pieces with indices of their own, and if they are gathered with vertices of their own.
    fn own<'a>(
        &self,
        runs: Vec<indices::Run>,
        mode: PrimitiveMode,
        gathers: bool,
    ) -> Result<Pieces<'a>, Error> {
        if runs.is_empty() {
            return Ok(Pieces::new());
        }
        let bytes: Vec<u8> = runs.iter().flat_map(indices::Run::bytes).collect();
        let bo = self.site.create_bo("indices", bytes.len() as u64)?;
        bo.access(Cause::Indices)?.write(0, &bytes);
        let mut offset = 0;
        let mut piece = |run: indices::Run| {
            let start = offset;
            offset += 2 * run.indices.len() as u32;
            Piece {
                base_vertex: if gathers { 0 } else { run.vertices[0] },
                mode,
                primitives: Primitives::Indexed {
                    memory: IndexMemory::Own(bo.clone()),
                    offset: start,
                    count: run.indices.len() as u32,
                    max_index: run.max_index,
                },
                gathered: gathers
                    .then(|| Box::new(Gathered::new(run.vertices, indices::size(self.mode).0 as usize))),
            }
        };
        Ok(runs.into_iter().map(&mut piece).collect())
    }
}
