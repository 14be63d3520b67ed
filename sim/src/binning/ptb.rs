//! The primitive tile binner: coordinate shading, clipping, culling, and one list per tile
//! (v3d.md §2, §9.3–§9.4).
//!
//! Tile lists have a private form: references into the job's draws, kept beside the tile allocation
//! memory under the address that the render list branches to (v3d.md §5.5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use vc4::cl::packets::{GlShaderState, PrimitiveMode, TileBinningModeConfig};
use vc4::cl::records::{ShaderRecord, record_size};
use vc4::facts::{Facts, IndexAbove};
use vc4::hw::{MAX_DRAWS_PER_BIN_LIST, MAX_VERTEX_INDEX, tile_px};
use vc4::qpu::Stage;

use super::binned::{Binned, BinnedPrimitive, Draw, TileItem, WHOLE};
use super::early_z;
use super::tile_alloc::{Group, Overflow, TileAlloc};
use crate::error::JobError;
use crate::geometry::{
    Clipped, Corner, Kind, Rect, Shape, State, clip, is_reverse, outline, primitive_count,
    primitive_vertices, unpack_xy, window_position,
};
use crate::memory::Memory;
use crate::qpu::{Program, Qpu, report};
use crate::stats::{Counts, Event, Note, Stats};
use crate::vertex::{Shader, shade};

/// Where a draw's vertex indices come from.
pub enum Indices {
    /// Consecutive ones from the first, so many.
    Array(u32, u32),
    /// These, none above the maximum.
    List(Vec<u32>, u32),
}

/// The programs and records that a job refers to, each decoded once.
pub struct Decoded<'a> {
    memory: &'a Memory,
    facts: &'a Facts,
    programs: BTreeMap<u32, Arc<Program>>,
    /// Programs whose rules were checked, with the stage and the varyings that they were checked for.
    checked: BTreeSet<(u32, Stage, usize)>,
}

impl<'a> Decoded<'a> {
    /// Nothing decoded yet.
    pub fn new(memory: &'a Memory, facts: &'a Facts) -> Decoded<'a> {
        Decoded { memory, facts, programs: BTreeMap::new(), checked: BTreeSet::new() }
    }

    fn shader(&mut self, stage: Stage, address: u32, uniforms: u32) -> Result<Shader, JobError> {
        let program = match self.programs.get(&address) {
            Some(program) => program.clone(),
            None => {
                let program = Program::decode_for(self.facts, self.memory, address)
                    .map_err(|fault| JobError::Shader { stage, address, fault, report: String::new() })?;
                self.programs.entry(address).or_insert(Arc::new(program)).clone()
            }
        };
        Ok(Shader { stage, address, program, uniforms })
    }

    /// Judges a program without running it (qpu.md §5).
    fn check(&mut self, shader: &Shader, varyings: usize, stats: &mut Stats) {
        if stats.check && self.checked.insert((shader.address, shader.stage, varyings)) {
            report::check(&shader.program, shader.stage, varyings, stats);
        }
    }

    fn record(&self, packet: GlShaderState) -> Result<ShaderRecord, String> {
        let arrays = packet.attribute_arrays.get() as usize;
        let mut bytes = vec![0; record_size(arrays, packet.extended)];
        self.memory
            .read_bytes(packet.address.get(), &mut bytes)
            .map_err(|e| format!("shader record: {e}"))?;
        ShaderRecord::read(&bytes, arrays, packet.extended).map_err(|e| e.to_string())
    }
}

/// The binner at work on one list.
pub struct Ptb<'a> {
    memory: &'a Memory,
    decoded: Decoded<'a>,
    binned: Binned,
    alloc: TileAlloc<'a>,
    /// The tile lists were ended before the list was: what follows is never executed.
    closed: bool,
    /// Vertices of all draws so far.
    vertices: u64,
    /// Shades them.
    qpu: Qpu,
}

/// Vertices of all draws of a job for which this simulator keeps results: some 100 bytes each. Beyond, the
/// host's memory would be at risk.
const MAX_JOB_VERTICES: u64 = 1 << 22;

const TOO_MANY_DRAWS: Note = Note {
    id: "draw-count",
    manual: "v3d.md §12 HW-2116",
    text: "a bin list has fewer than 0x1ef0 draws: the PTB's state counters wrap",
};

const SMALL_POINT: Note = Note {
    id: "point-size",
    manual: "v3d.md §12 HW-2726",
    text: "points are at least 0.125 pixels large: the PTB cannot handle smaller ones",
};

impl<'a> Ptb<'a> {
    /// A binner with empty tile lists, in the memory that `config` names and then `overflow`.
    pub fn new(
        memory: &'a Memory,
        facts: &'a Facts,
        config: TileBinningModeConfig,
        overflow: Overflow<'a>,
    ) -> Ptb<'a> {
        let tiles = usize::from(config.width_tiles) * usize::from(config.height_tiles);
        let lists = vec![Vec::new(); tiles];
        let binned = Binned { config, draws: Vec::new(), lists, semaphore: 0 };
        let [initial, block] = [config.initial_block.code(), config.block.code()].map(|code| 32 << code);
        let alloc = TileAlloc::new(config.tile_alloc_size, tiles, initial, block, overflow);
        let (decoded, qpu) = (Decoded::new(memory, facts), Qpu::of(facts));
        Ptb { memory, decoded, binned, alloc, closed: false, vertices: 0, qpu }
    }

    /// A packet behind START_TILE_BINNING changed state that tile lists hold.
    pub fn state(&mut self, group: Group) {
        self.alloc.state(group);
    }

    /// Ends the tile lists (packet 5 in the middle of a list, v3d.md §4).
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Counts an increment of the rendering thread's semaphore.
    pub fn increment_semaphore(&mut self) {
        self.binned.semaphore += 1;
    }

    /// The finished lists.
    pub fn finish(self) -> Binned {
        self.binned
    }

    /// Whether tiles have four samples per pixel.
    pub fn is_multisampled(&self) -> bool {
        self.binned.config.multisample
    }

    /// Blocks of overflow memory that the lists took.
    pub fn spills(&self) -> u32 {
        self.alloc.spills()
    }

    /// Bins one draw. `state` is the binning thread's, `tile_state` what tile lists hold of it.
    ///
    /// # Errors
    /// Outer: the job stops. Inner text: what is wrong with the packet.
    pub fn draw(
        &mut self,
        state: &State,
        tile_state: &State,
        mode: PrimitiveMode,
        indices: Indices,
        stats: &mut Stats,
    ) -> Result<Result<(), String>, JobError> {
        if self.binned.draws.len() as u32 >= MAX_DRAWS_PER_BIN_LIST {
            stats.note(TOO_MANY_DRAWS, || format!("more than {MAX_DRAWS_PER_BIN_LIST} draws; split the job"));
        }
        let (Some(shader), Some(_)) = (state.shader, tile_state.shader) else {
            return Ok(Err("a draw needs a shader state behind START_TILE_BINNING".into()));
        };
        let record = match self.decoded.record(shader) {
            Ok(record) => Arc::new(record),
            Err(what) => return Ok(Err(what)),
        };
        let coordinate =
            self.decoded.shader(Stage::Coordinate, record.coordinate.code, record.coordinate.uniforms)?;
        let vertex = self.decoded.shader(Stage::Vertex, record.vertex.code, record.vertex.uniforms)?;
        let fragment =
            self.decoded.shader(Stage::Fragment, record.fragment_code, record.fragment_uniforms)?;
        let kind = Kind::of(mode);
        self.decoded.check(&coordinate, 0, stats);
        self.decoded.check(&vertex, 0, stats);
        self.decoded.check(&fragment, usize::from(record.varyings) + kind.implicit_varyings(), stats);
        let sequence = Sequence::new(state.facts.index_above, indices);
        self.vertices += sequence.vertices.len() as u64;
        if self.vertices > MAX_JOB_VERTICES {
            return Err(JobError::Unsupported(format!(
                "more than {MAX_JOB_VERTICES} vertices in one job; split it"
            )));
        }
        let rows = if record.flags.point_size { 8 } else { 7 };
        Counts::enter(&mut stats.counts, self.binned.draws.len(), Stage::Coordinate, None);
        let shaded =
            shade(self.memory, &coordinate, &record, &sequence.vertices, rows, &mut self.qpu, stats)?;
        let mut binning = Binning {
            state,
            kind,
            record: &record,
            shaded: &shaded,
            rows,
            sequence: &sequence,
            draw: self.binned.draws.len() as u32,
            binned: &mut self.binned,
            alloc: &mut self.alloc,
            closed: self.closed,
            stats,
        };
        let primitives = binning.primitives(mode);
        if self.alloc.exhausted() {
            return Err(JobError::BinnerMemory);
        }
        let early_z = early_z::tests(&tile_state.config, self.binned.config.multisample)
            && fragment.program.is_hidden_by_depth();
        self.binned.draws.push(Draw {
            state: tile_state.clone(),
            record,
            vertex,
            fragment,
            kind,
            positions: shaded.chunks(rows).map(|row| row[4]).collect(),
            vertices: sequence.vertices,
            primitives,
            early_z,
        });
        Ok(Ok(()))
    }
}

/// A draw's vertex sequence over distinct vertices.
struct Sequence {
    vertices: Vec<u32>,
    /// Place in `vertices` of each element; `None` for an index above the maximum.
    places: Vec<Option<u32>>,
}

impl Sequence {
    fn new(fact: IndexAbove, indices: Indices) -> Sequence {
        let (list, max) = match indices {
            Indices::Array(first, count) => {
                let end = u64::from(first) + u64::from(count);
                if end <= u64::from(MAX_VERTEX_INDEX) + 1 {
                    let places = (0..count).map(Some).collect();
                    return Sequence { vertices: (first..first + count).collect(), places };
                }
                // GFXH-515: array draws truncate indices (v3d.md §12).
                ((0..count).map(|i| first.wrapping_add(i) & MAX_VERTEX_INDEX).collect(), MAX_VERTEX_INDEX)
            }
            Indices::List(list, _) if fact == IndexAbove::Drawn => (list, u32::MAX),
            Indices::List(list, max) => (list, max),
        };
        let mut vertices = Vec::new();
        let mut place_of = vec![u32::MAX; list.iter().max().map_or(0, |&top| top.min(max) as usize + 1)];
        let places = list
            .iter()
            .map(|&index| {
                // UNVERIFIED: what happens to a primitive with an index above the maximum? It is dropped.
                if index > max {
                    return None;
                }
                let place = &mut place_of[index as usize];
                if *place == u32::MAX {
                    *place = vertices.len() as u32;
                    vertices.push(index);
                }
                Some(*place)
            })
            .collect();
        Sequence { vertices, places }
    }
}

struct Binning<'a, 'b> {
    state: &'a State,
    kind: Kind,
    record: &'a ShaderRecord,
    shaded: &'a [u32],
    rows: usize,
    sequence: &'a Sequence,
    /// The draw's number.
    draw: u32,
    binned: &'a mut Binned,
    alloc: &'a mut TileAlloc<'b>,
    closed: bool,
    stats: &'a mut Stats,
}

impl Binning<'_, '_> {
    fn vertex(&self, place: u32) -> &[u32] {
        &self.shaded[place as usize * self.rows..][..self.rows]
    }

    fn primitives(&mut self, mode: PrimitiveMode) -> Vec<BinnedPrimitive> {
        let count = self.sequence.places.len() as u32;
        let mut primitives = Vec::new();
        for i in 0..primitive_count(mode, count) {
            let places = primitive_vertices(mode, count, i).map(|at| self.sequence.places[at as usize]);
            let [Some(a), Some(b), Some(c)] = places else { continue };
            match self.clipped([a, b, c]) {
                Clipped::Nothing => self.stats.counters.add(Event::PrimitivesOutside, 1),
                Clipped::Whole => self.bin([a, b, c], WHOLE, None, &mut primitives),
                Clipped::Parts(parts) => {
                    self.stats.counters.add(Event::PrimitivesClipped, 1);
                    for corners in parts {
                        self.bin([a, b, c], corners, Some(corners), &mut primitives);
                    }
                }
            }
            if self.alloc.exhausted() {
                break;
            }
        }
        primitives
    }

    fn clipped(&self, vertices: [u32; 3]) -> Clipped {
        if !self.record.flags.clipping {
            return Clipped::Whole;
        }
        let clip_coordinates = vertices.map(|place| {
            let vertex = self.vertex(place);
            std::array::from_fn(|i| f32::from_bits(vertex[i]))
        });
        clip(&clip_coordinates[..self.kind.vertices()], &self.state.clipper_scales())
    }

    /// Puts a primitive, or a part of a clipped one, into the tiles that it touches.
    fn bin(
        &mut self,
        vertices: [u32; 3],
        corners: [Corner; 3],
        clipped: Option<[Corner; 3]>,
        primitives: &mut Vec<BinnedPrimitive>,
    ) {
        let positions = corners.map(|corner| {
            let (xs, ys) = match corner {
                Corner::Original(n) => unpack_xy(self.vertex(vertices[usize::from(n)])[4]),
                Corner::New(new) => (new.xs, new.ys),
            };
            window_position(self.state, xs, ys)
        });
        if is_reverse(self.state, self.kind, &positions) {
            self.stats.counters.add(Event::PrimitivesReversed, 1);
        }
        let size = self.size(vertices[0]);
        let Some((shape, _)) = outline(self.state, self.kind, &positions, size) else { return };
        let item = TileItem { draw: self.draw, primitive: primitives.len() as u32 };
        let new = corners.iter().filter(|corner| matches!(corner, Corner::New(_))).count() as u32;
        if !self.put_into_tiles(&shape, &vertices, item, new > 0) {
            self.stats.counters.add(Event::PrimitivesOutside, 1);
            return;
        }
        if new > 0 {
            self.alloc.clipped_vertices(new);
        }
        if !self.closed {
            primitives.push(BinnedPrimitive { vertices, corners: clipped.map(Box::new) });
        }
    }

    /// Point size or line width.
    fn size(&mut self, vertex: u32) -> f32 {
        let size = match self.kind {
            Kind::Point if self.record.flags.point_size => f32::from_bits(self.vertex(vertex)[7]),
            Kind::Point => self.state.point_size.size,
            Kind::Line | Kind::Triangle => return self.state.line_width.width,
        };
        if size < 0.125 || size.is_nan() {
            self.stats.note(SMALL_POINT, || format!("a point of {size} pixels"));
        }
        size
    }

    /// Appends `item` to the tiles that the shape touches; false if there are none.
    fn put_into_tiles(&mut self, shape: &Shape, vertices: &[u32; 3], item: TileItem, clipped: bool) -> bool {
        let config = &self.binned.config;
        let edge = tile_px(config.multisample) as i32;
        let (columns, rows) = (i32::from(config.width_tiles), i32::from(config.height_tiles));
        let target = Rect { x0: 0, y0: 0, x1: columns * edge, y1: rows * edge };
        let area = shape.bounds().intersect(self.state.window()).intersect(target);
        if area.is_empty() {
            return false;
        }
        let indices = vertices.map(|place| self.sequence.vertices[place as usize]);
        let mut touched = false;
        for row in area.y0 / edge..=(area.y1 - 1) / edge {
            for column in area.x0 / edge..=(area.x1 - 1) / edge {
                let tile =
                    Rect { x0: column * edge, y0: row * edge, x1: (column + 1) * edge, y1: (row + 1) * edge };
                if shape.may_touch(tile) {
                    touched = true;
                    let list = (row * columns + column) as usize;
                    self.alloc.primitive(list, self.kind, indices, clipped);
                    if !self.closed {
                        self.binned.lists[list].push(item);
                    }
                }
            }
        }
        touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_are_numbered_by_first_use() {
        let sequence = Sequence::new(IndexAbove::Dropped, Indices::List(vec![7, 3, 7, 9, 3], 8));
        assert_eq!(sequence.vertices, [7, 3]);
        assert_eq!(sequence.places, [Some(0), Some(1), Some(0), None, Some(1)]);
        let array = Sequence::new(IndexAbove::Dropped, Indices::Array(5, 2));
        assert_eq!((array.vertices, array.places), (vec![5, 6], vec![Some(0), Some(1)]));
        let long = Sequence::new(IndexAbove::Dropped, Indices::Array(65534, 4));
        assert_eq!((long.vertices, long.places.len()), (vec![65534, 65535, 0, 1], 4));
    }
}
