//! The primitive tile binner: coordinate shading, clipping, culling, and one list per tile
//! (v3d.md §2, §9.3–§9.4).
//!
//! Tile lists have a private form: references into the job's draws, kept beside the tile allocation
//! memory under the address that the render list branches to (v3d.md §5.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use vc4::cl::packets::{GlShaderState, PrimitiveMode, TileBinningModeConfig};
use vc4::cl::records::{ShaderRecord, record_size};
use vc4::hw::MAX_DRAWS_PER_BIN_LIST;

use crate::assembly::{Kind, primitive_count, primitive_vertices};
use crate::clip::{Clipped, Corner, clip};
use crate::error::{JobError, Stage};
use crate::geometry::{outline, unpack_xy, window_position};
use crate::memory::Memory;
use crate::qpu::{Program, Stats};
use crate::raster::Rect;
use crate::state::State;
use crate::tlb::tile_edge;
use crate::vertex::{Shader, shade};

/// A primitive that survived clipping and culling.
#[derive(Clone, Debug)]
pub struct BinnedPrimitive {
    /// Its vertices, as places in [`Draw::vertices`].
    pub vertices: [u32; 3],
    /// Its corners: those vertices or what the clipper put in their place.
    pub corners: [Corner; 3],
}

/// A draw as tile lists refer to it.
pub struct Draw {
    /// State of the rendering thread at this draw.
    pub state: State,
    /// The shader record.
    pub record: Arc<ShaderRecord>,
    /// Vertex program.
    pub vertex: Shader,
    /// Fragment program.
    pub fragment: Shader,
    /// What is drawn.
    pub kind: Kind,
    /// The distinct vertex indices, in order of first use.
    pub vertices: Vec<u32>,
    /// {Ys, Xs} of each vertex, by the coordinate program.
    pub positions: Vec<u32>,
    /// What is left of the primitives, in order.
    pub primitives: Vec<BinnedPrimitive>,
}

/// One entry of a tile's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileItem {
    /// Which draw.
    pub draw: u32,
    /// Which of its primitives.
    pub primitive: u32,
}

/// What a binning list left behind.
pub struct Binned {
    /// The list's first packet.
    pub config: TileBinningModeConfig,
    /// Draws in order.
    pub draws: Vec<Draw>,
    /// One list per tile, row by row.
    pub lists: Vec<Vec<TileItem>>,
    /// Increments of the rendering thread's semaphore.
    pub semaphore: u32,
}

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
    programs: BTreeMap<u32, Arc<Program>>,
}

impl<'a> Decoded<'a> {
    /// Nothing decoded yet.
    pub fn new(memory: &'a Memory) -> Decoded<'a> {
        Decoded { memory, programs: BTreeMap::new() }
    }

    fn shader(&mut self, stage: Stage, address: u32, uniforms: u32) -> Result<Shader, JobError> {
        let program =
            match self.programs.get(&address) {
                Some(program) => program.clone(),
                None => {
                    let program = Program::decode(self.memory, address)
                        .map_err(|fault| JobError::Shader { stage, address, fault })?;
                    self.programs.entry(address).or_insert(Arc::new(program)).clone()
                }
            };
        Ok(Shader { stage, address, program, uniforms })
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
}

impl<'a> Ptb<'a> {
    /// A binner with empty tile lists.
    pub fn new(memory: &'a Memory, config: TileBinningModeConfig) -> Ptb<'a> {
        let tiles = usize::from(config.width_tiles) * usize::from(config.height_tiles);
        let binned = Binned { config, draws: Vec::new(), lists: vec![Vec::new(); tiles], semaphore: 0 };
        Ptb { memory, decoded: Decoded::new(memory), binned }
    }

    /// Counts an increment of the rendering thread's semaphore.
    pub fn increment_semaphore(&mut self) {
        self.binned.semaphore += 1;
    }

    /// The finished lists.
    pub fn finish(self) -> Binned {
        self.binned
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
            return Ok(Err(format!("more than {MAX_DRAWS_PER_BIN_LIST} draws; split the job (HW-2116)")));
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
        let sequence = Sequence::new(indices);
        let rows = if record.flags.point_size { 8 } else { 7 };
        let shaded = shade(self.memory, &coordinate, &record, &sequence.vertices, rows, stats)?;
        let binning = Binning { state, kind: Kind::of(mode), record: &record, shaded: &shaded, rows };
        let primitives = binning.primitives(mode, &sequence, self.binned.draws.len(), &mut self.binned);
        self.binned.draws.push(Draw {
            state: tile_state.clone(),
            record,
            vertex,
            fragment,
            kind: Kind::of(mode),
            vertices: sequence.vertices,
            positions: shaded.chunks(rows).map(|row| row[4]).collect(),
            primitives,
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
    fn new(indices: Indices) -> Sequence {
        let (list, max) = match indices {
            Indices::Array(first, count) => {
                let places = (0..count).map(Some).collect();
                return Sequence { vertices: (first..first + count).collect(), places };
            }
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

struct Binning<'a> {
    state: &'a State,
    kind: Kind,
    record: &'a ShaderRecord,
    shaded: &'a [u32],
    rows: usize,
}

impl Binning<'_> {
    fn vertex(&self, place: u32) -> &[u32] {
        &self.shaded[place as usize * self.rows..][..self.rows]
    }

    fn primitives(
        &self,
        mode: PrimitiveMode,
        sequence: &Sequence,
        draw: usize,
        binned: &mut Binned,
    ) -> Vec<BinnedPrimitive> {
        let count = sequence.places.len() as u32;
        let mut primitives = Vec::new();
        for i in 0..primitive_count(mode, count) {
            let places = primitive_vertices(mode, count, i).map(|at| sequence.places[at as usize]);
            let [Some(a), Some(b), Some(c)] = places else { continue };
            self.clipped([a, b, c], |corners| {
                let item = TileItem { draw: draw as u32, primitive: primitives.len() as u32 };
                if self.put_into_tiles(&[a, b, c], &corners, item, binned) {
                    primitives.push(BinnedPrimitive { vertices: [a, b, c], corners });
                }
            });
        }
        primitives
    }

    fn clipped(&self, vertices: [u32; 3], mut part: impl FnMut([Corner; 3])) {
        const WHOLE: [Corner; 3] = [Corner::Original(0), Corner::Original(1), Corner::Original(2)];
        if !self.record.flags.clipping {
            return part(WHOLE);
        }
        let clip_coordinates = vertices.map(|place| {
            let vertex = self.vertex(place);
            std::array::from_fn(|i| f32::from_bits(vertex[i]))
        });
        match clip(&clip_coordinates[..self.kind.vertices()], &self.state.clipper_scales()) {
            Clipped::Nothing => {}
            Clipped::Whole => part(WHOLE),
            Clipped::Parts(parts) => parts.into_iter().for_each(part),
        }
    }

    /// Appends `item` to the tiles that the primitive touches; false if there are none.
    fn put_into_tiles(
        &self,
        vertices: &[u32; 3],
        corners: &[Corner; 3],
        item: TileItem,
        binned: &mut Binned,
    ) -> bool {
        let positions = corners.map(|corner| {
            let (xs, ys) = match corner {
                Corner::Original(n) => unpack_xy(self.vertex(vertices[usize::from(n)])[4]),
                Corner::New(new) => (new.xs, new.ys),
            };
            window_position(self.state, xs, ys)
        });
        let size = match self.kind {
            Kind::Point if self.record.flags.point_size => f32::from_bits(self.vertex(vertices[0])[7]),
            Kind::Point => self.state.point_size.size,
            Kind::Line | Kind::Triangle => self.state.line_width.width,
        };
        let Some((shape, _)) = outline(self.state, self.kind, &positions, size) else { return false };
        let edge = tile_edge(binned.config.multisample) as i32;
        let (columns, rows) = (i32::from(binned.config.width_tiles), i32::from(binned.config.height_tiles));
        let target = Rect { x0: 0, y0: 0, x1: columns * edge, y1: rows * edge };
        let area = shape.bounds().intersect(self.state.window()).intersect(target);
        if area.is_empty() {
            return false;
        }
        let mut touched = false;
        for row in area.y0 / edge..=(area.y1 - 1) / edge {
            for column in area.x0 / edge..=(area.x1 - 1) / edge {
                let tile =
                    Rect { x0: column * edge, y0: row * edge, x1: (column + 1) * edge, y1: (row + 1) * edge };
                if shape.may_touch(tile) {
                    binned.lists[(row * columns + column) as usize].push(item);
                    touched = true;
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
        let sequence = Sequence::new(Indices::List(vec![7, 3, 7, 9, 3], 8));
        assert_eq!(sequence.vertices, [7, 3]);
        assert_eq!(sequence.places, [Some(0), Some(1), Some(0), None, Some(1)]);
        let array = Sequence::new(Indices::Array(5, 2));
        assert_eq!((array.vertices, array.places), (vec![5, 6], vec![Some(0), Some(1)]));
    }
}
