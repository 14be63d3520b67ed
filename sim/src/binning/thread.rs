//! The binning thread: the packets of a binning list (v3d.md §4, §5).

use vc4::cl::AnyPacket;
use vc4::cl::packets::{CompareFunc, IndexType, IndexedPrimitiveList, VertexArrayPrimitives};
use vc4::facts::{Facts, OddIndices};
use vc4::hw::MAX_VERTEX_INDEX;

use super::binned::Binned;
use super::early_z;
use super::ptb::{Indices, Ptb};
use super::tile_alloc::{Group, Overflow};
use crate::cle::Walk;
use crate::error::{JobError, Thread};
use crate::geometry::State;
use crate::memory::Memory;
use crate::stats::{Note, Stats};

const LONG_ARRAY: Note = Note {
    id: "array-length",
    manual: "v3d.md §12 GFXH-515",
    text: "first + count of an array draw is at most 65535: indices are truncated to 16 bits",
};

const INDEX_ABOVE: Note = Note {
    id: "index-maximum",
    manual: "v3d.md §5.5",
    text: "no index is above the maximum index of its draw",
};

const EARLY_STATE: Note = Note {
    id: "prefix-state",
    manual: "v3d.md §4",
    text: "state set before START_TILE_BINNING does not reach the tile lists; it is set behind",
};

/// Runs the binning list of `length` bytes at `start`.
/// Tile lists that outgrow their memory take `overflow`.
pub fn bin<'a>(
    memory: &'a Memory,
    facts: &'a Facts,
    start: u32,
    length: u32,
    overflow: Overflow<'a>,
    stats: &mut Stats,
) -> Result<Binned, JobError> {
    let mut walk = Walk::new(memory, Thread::Binning, start, length)?;
    let config = match walk.next() {
        Some(Ok(AnyPacket::TileBinningModeConfig(config))) => config,
        Some(Err(error)) => return Err(error),
        _ => return Err(walk.error("a binning list begins with TILE_BINNING_MODE_CONFIG")),
    };
    if config.hdr || config.double_buffer {
        return Err(walk.error("64-bit colour and double buffering are not simulated; Linux refuses both"));
    }
    let mut binning = BinningThread {
        memory,
        ptb: Ptb::new(memory, facts, config, overflow),
        state: State::reset(*facts),
        tile_state: State::reset(*facts),
        started: false,
        shadow_is_stale: false,
        increments: 0,
    };
    while let Some(packet) = walk.next() {
        if binning.packet(&walk, packet?, stats)? {
            stats.spills += binning.ptb.spills();
            return Ok(binning.ptb.finish());
        }
    }
    Err(walk.error("the binning list ends without FLUSH: the tile lists are never written"))
}

struct BinningThread<'a> {
    memory: &'a Memory,
    ptb: Ptb<'a>,
    /// What the binner uses.
    state: State,
    /// What reaches tile lists: packets behind START_TILE_BINNING (v3d.md §4).
    tile_state: State,
    started: bool,
    /// Early Z missed a change of depth.
    shadow_is_stale: bool,
    /// Increments that wait for the flush.
    increments: u32,
}

impl BinningThread<'_> {
    /// Executes a packet; true at the end of the list.
    fn packet(&mut self, walk: &Walk, packet: AnyPacket, stats: &mut Stats) -> Result<bool, JobError> {
        if self.state.apply(&packet) {
            if self.started {
                self.tile_state.apply(&packet);
                if let Some(group) = group(&packet) {
                    self.ptb.state(group);
                }
            }
            return Ok(false);
        }
        match packet {
            AnyPacket::Nop(_) => {}
            AnyPacket::StartTileBinning(_) => self.started = true,
            AnyPacket::IncrementSemaphore(_) => self.increments += 1,
            // In the middle of a list it ends the tile lists (v3d.md §4).
            AnyPacket::FlushAllState(_) if !walk.is_at_end() => self.ptb.close(),
            AnyPacket::Flush(_) | AnyPacket::FlushAllState(_) => {
                for _ in 0..self.increments {
                    self.ptb.increment_semaphore();
                }
                return Ok(true);
            }
            AnyPacket::VertexArrayPrimitives(draw) => self.array(walk, draw, stats)?,
            AnyPacket::IndexedPrimitiveList(draw) => self.indexed(walk, draw, stats)?,
            other => return Err(walk.error(format!("{} is not simulated in binning lists", other.name()))),
        }
        Ok(false)
    }

    fn array(&mut self, walk: &Walk, draw: VertexArrayPrimitives, stats: &mut Stats) -> Result<(), JobError> {
        let last = draw.first.checked_add(draw.count);
        if last.is_none_or(|end| end > MAX_VERTEX_INDEX + 1) {
            stats.note(LONG_ARRAY, || format!("vertices {} + {}", draw.first, draw.count));
        }
        check_progress(walk, draw.count, stats)?;
        self.draw(walk, draw.mode, Indices::Array(draw.first, draw.count), stats)
    }

    fn indexed(
        &mut self,
        walk: &Walk,
        draw: IndexedPrimitiveList,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        let mut base = draw.address.get();
        if draw.index_type == IndexType::U16 && self.state.facts.odd_indices == OddIndices::Rounded {
            base &= !1;
        }
        let read = |i: u32| match draw.index_type {
            IndexType::U8 => self.memory.read_u8(base.wrapping_add(i)).map(u32::from),
            // UNVERIFIED: does a 16-bit list at an odd address work? It does here.
            IndexType::U16 => self.memory.read_u16(base.wrapping_add(i.wrapping_mul(2))).map(u32::from),
        };
        check_progress(walk, draw.count, stats)?;
        // Read in order, so that a count beyond memory stops before it fills the host's.
        let indices = (0..draw.count).map(read).collect::<Result<Vec<u32>, _>>();
        let indices = indices.map_err(JobError::bus("index list"))?;
        if let Some(index) = indices.iter().find(|&&index| index > draw.max_index) {
            stats.note(INDEX_ABOVE, || format!("index {index} above the draw's maximum {}", draw.max_index));
        }
        self.draw(walk, draw.mode, Indices::List(indices, draw.max_index), stats)
    }

    fn draw(
        &mut self,
        walk: &Walk,
        mode: vc4::cl::packets::PrimitiveMode,
        indices: Indices,
        stats: &mut Stats,
    ) -> Result<(), JobError> {
        if !self.started {
            return Err(walk.error("a primitive before START_TILE_BINNING"));
        }
        if self.state != self.tile_state {
            stats.note(EARLY_STATE, String::new);
        }
        self.check_early_z(stats);
        self.ptb.draw(&self.state, &self.tile_state, mode, indices, stats)?.map_err(|what| walk.error(what))
    }
}

impl BinningThread<'_> {
    /// What drivers must know about early Z (v3d.md §9.5).
    fn check_early_z(&mut self, stats: &mut Stats) {
        let config = &self.tile_state.config;
        let nearer = matches!(config.depth_func, CompareFunc::Less | CompareFunc::LessOrEqual);
        if config.early_z {
            if !nearer {
                stats.note(early_z::FUNCTION, || format!("depth function {:?}", config.depth_func));
            }
            if self.ptb.is_multisampled() {
                stats.note(early_z::MULTISAMPLE, String::new);
            }
            if self.shadow_is_stale {
                stats.note(early_z::UPDATES, String::new);
            }
        }
        // Depth that only comes nearer leaves a stale copy on the safe side.
        self.shadow_is_stale |= config.depth_write && !config.early_z_update && !nearer;
    }
}

/// The group of state that the binner keeps track of for tile lists.
fn group(packet: &AnyPacket) -> Option<Group> {
    Some(match packet {
        AnyPacket::PrimitiveListFormat(_) => Group::ListFormat,
        AnyPacket::GlShaderState(_) => Group::Shader,
        AnyPacket::ConfigurationBits(_) => Group::Config,
        AnyPacket::FlatShadeFlags(_) => Group::Flat,
        AnyPacket::PointSize(_) => Group::PointSize,
        AnyPacket::LineWidth(_) => Group::LineWidth,
        AnyPacket::DepthOffset(_) => Group::DepthOffset,
        AnyPacket::ClipWindow(_) => Group::ClipWindow,
        AnyPacket::ViewportOffset(_) => Group::Viewport,
        _ => return None,
    })
}

/// A draw of so many vertices takes longer than the hang check waits.
fn check_progress(walk: &Walk, vertices: u32, stats: &Stats) -> Result<(), JobError> {
    if u64::from(vertices) <= stats.instruction_limit {
        return Ok(());
    }
    Err(walk.error(format!("a draw of {vertices} vertices: the list makes no progress until the hang check")))
}
