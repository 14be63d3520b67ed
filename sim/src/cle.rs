//! The control list executor: walks the bytes of both lists in bus memory (v3d.md §2, §4, §5).

use vc4::cl::AnyPacket;
use vc4::cl::packets::{
    CompareFunc, Decimate, IndexType, IndexedPrimitiveList, Lists, LoadGeneral, StoreGeneral, TileBuffer,
    TileRenderingModeConfig, VertexArrayPrimitives,
};
use vc4::hw::MAX_VERTEX_INDEX;

use crate::binning::{Binned, Indices, Ptb};
use crate::binning::{Group, Overflow};
use crate::error::{JobError, Thread};
use crate::geometry::State;
use crate::memory::Memory;
use crate::qpu::{Note, Stats};
use crate::rendering::early_z;
use crate::rendering::tlb::ClearValues;
use crate::rendering::{Pixels, Surface};
use crate::rendering::{Segment, Step, Target};

/// A list in bus memory, read packet by packet.
struct Walk {
    thread: Thread,
    start: u32,
    bytes: Vec<u8>,
    at: usize,
    /// Address of the packet that was read last.
    address: u32,
}

impl Walk {
    fn new(memory: &Memory, thread: Thread, start: u32, length: u32) -> Result<Walk, JobError> {
        let mut bytes = vec![0; length as usize];
        memory.read_bytes(start, &mut bytes).map_err(JobError::bus("control list"))?;
        Ok(Walk { thread, start, bytes, at: 0, address: start })
    }

    fn next(&mut self) -> Option<Result<AnyPacket, JobError>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        self.address = self.start.wrapping_add(self.at as u32);
        Some(match AnyPacket::read(rest) {
            Ok(packet) if packet.lists() == self.foreign() || packet.lists() == Lists::Neither => {
                Err(self.error(format!("{} does not belong into this list", packet.name())))
            }
            Ok(packet) => {
                self.at += packet.size();
                Ok(packet)
            }
            Err(error) => Err(self.error(error)),
        })
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn foreign(&self) -> Lists {
        match self.thread {
            Thread::Binning => Lists::Renderer,
            Thread::Rendering => Lists::Binner,
        }
    }

    fn error(&self, what: impl ToString) -> JobError {
        JobError::List { thread: self.thread, address: self.address, what: what.to_string() }
    }
}

/// Runs the binning list of `length` bytes at `start`.
/// Tile lists that outgrow their memory take `overflow`.
pub fn bin(
    memory: &Memory,
    start: u32,
    length: u32,
    overflow: Overflow,
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
        ptb: Ptb::new(memory, config, overflow),
        state: State::reset(),
        tile_state: State::reset(),
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
        let base = draw.address.get();
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

const TILE_MODES: Note = Note {
    id: "multisample-mode",
    manual: "v3d.md §10.5",
    text: "packets 112 and 113 agree on multisampling, or the tiles do not match",
};

/// Reads the render list of `length` bytes at `start` into segments. `clear` are the clear values and tile
/// content that the previous job left; they are updated.
pub fn render(
    memory: &Memory,
    start: u32,
    length: u32,
    binned: Option<&Binned>,
    clear: &mut ClearValues,
    stats: &mut Stats,
) -> Result<Vec<Segment>, JobError> {
    let mut walk = Walk::new(memory, Thread::Rendering, start, length)?;
    let mut rendering = RenderingThread {
        binned,
        semaphore: binned.map_or(0, |binned| binned.semaphore),
        frame: None,
        clear: *clear,
        load: None,
        tile: None,
        segments: Vec::new(),
        initial: *clear,
        steps: Vec::new(),
        end_of_frame: false,
        modes_differ: false,
    };
    while let Some(packet) = walk.next() {
        let packet = packet?;
        rendering.packet(packet).map_err(|what| walk.error(what))?;
    }
    if rendering.modes_differ {
        stats.note(TILE_MODES, String::new);
    }
    if !rendering.end_of_frame {
        return Err(walk.error("no store ends the frame: the job never finishes"));
    }
    if !rendering.steps.is_empty() {
        return Err(walk.error("tile work behind the last complete store"));
    }
    *clear = rendering.clear;
    Ok(rendering.segments)
}

struct RenderingThread<'a> {
    binned: Option<&'a Binned>,
    semaphore: u32,
    frame: Option<TileRenderingModeConfig>,
    clear: ClearValues,
    /// Waits for the next TILE_COORDINATES.
    load: Option<Target>,
    tile: Option<(u8, u8)>,
    segments: Vec<Segment>,
    /// Content of the tile buffer when the open segment began.
    initial: ClearValues,
    steps: Vec<((u8, u8), Step)>,
    end_of_frame: bool,
    modes_differ: bool,
}

impl RenderingThread<'_> {
    fn packet(&mut self, packet: AnyPacket) -> Result<(), String> {
        match packet {
            AnyPacket::Nop(_) | AnyPacket::PrimitiveListFormat(_) => Ok(()),
            AnyPacket::ClearColors(p) => {
                let zs = p.z.get() << 8 | u32::from(p.stencil);
                self.clear = ClearValues { color: p.color0, zs };
                Ok(())
            }
            AnyPacket::TileRenderingModeConfig(p) => self.set_frame(p),
            AnyPacket::TileCoordinates(p) => {
                self.tile = Some((p.column, p.row));
                match self.load.take() {
                    Some(target) => self.step(Step::Load(target)),
                    None => Ok(()),
                }
            }
            AnyPacket::WaitOnSemaphore(_) => {
                self.semaphore =
                    self.semaphore.checked_sub(1).ok_or("waits for a semaphore that nobody increments")?;
                Ok(())
            }
            AnyPacket::BranchToSubList(p) => self.branch(p.address.get()),
            AnyPacket::LoadGeneral(p) => self.load_general(p),
            AnyPacket::LoadFullRes(p) => self.set_load(p.skip_color, p.skip_zs, p.address.get()),
            AnyPacket::StoreGeneral(p) => self.store_general(p),
            AnyPacket::StoreFullRes(p) => {
                let target = full_res(p.skip_color, p.skip_zs, p.address.get())?;
                self.step(Step::Store(target))?;
                self.after_store(!p.disable_clear, !p.disable_clear, p.end_of_frame)
            }
            AnyPacket::StoreMsTileBuffer(_) => self.store_frame(false),
            AnyPacket::StoreMsTileBufferAndEof(_) => self.store_frame(true),
            other => Err(format!("{} is not simulated in render lists", other.name())),
        }
    }

    fn set_frame(&mut self, p: TileRenderingModeConfig) -> Result<(), String> {
        if p.hdr || p.double_buffer || p.vg_mask || p.coverage {
            return Err(
                "64-bit colour, double buffering and OpenVG are not simulated; Linux refuses them".into()
            );
        }
        if let Some(binned) = self.binned {
            self.modes_differ |= binned.config.multisample != p.multisample;
        }
        self.frame = Some(p);
        Ok(())
    }

    fn frame(&self) -> Result<&TileRenderingModeConfig, String> {
        self.frame.as_ref().ok_or_else(|| "no TILE_RENDERING_MODE_CONFIG before this packet".into())
    }

    fn step(&mut self, step: Step) -> Result<(), String> {
        let tile = self.tile.ok_or("no TILE_COORDINATES before this packet")?;
        self.steps.push((tile, step));
        Ok(())
    }

    /// A sub-list branch goes to the head of a tile's list in tile allocation memory (v3d.md §8).
    fn branch(&mut self, address: u32) -> Result<(), String> {
        let binned = self.binned.ok_or("a sub-list in a job without a binning list")?;
        let block = 32 << binned.config.initial_block.code();
        let offset = address.wrapping_sub(binned.config.tile_alloc.get());
        let list = (offset / block) as usize;
        if offset % block != 0 || list >= binned.lists.len() {
            return Err(format!("sub-list {address:#010x} is no tile list of this job"));
        }
        self.step(Step::List(list))
    }

    fn load_general(&mut self, p: LoadGeneral) -> Result<(), String> {
        let target = match Pixels::general(p.buffer, p.format) {
            Some(pixels) => {
                let frame = self.frame()?;
                Target::Image(
                    Surface::new(p.address.get(), p.tiling, pixels, frame.width, frame.height)?,
                    false,
                )
            }
            None if p.buffer == TileBuffer::None => return Ok(()),
            None => return Err(format!("loading buffer `{}` is not simulated", p.buffer.name())),
        };
        self.pending(target)
    }

    fn set_load(&mut self, skip_color: bool, skip_zs: bool, address: u32) -> Result<(), String> {
        let target = full_res(skip_color, skip_zs, address)?;
        self.pending(target)
    }

    fn pending(&mut self, target: Target) -> Result<(), String> {
        match self.load.replace(target) {
            None => Ok(()),
            Some(_) => Err("a second load before TILE_COORDINATES executed the first".into()),
        }
    }

    fn store_general(&mut self, p: StoreGeneral) -> Result<(), String> {
        match Pixels::general(p.buffer, p.format) {
            Some(pixels) => {
                let frame = self.frame()?;
                let surface = Surface::new(p.address.get(), p.tiling, pixels, frame.width, frame.height)?;
                let resolve = resolves(p.decimate)? && frame.multisample;
                self.step(Step::Store(Target::Image(surface, resolve)))?;
            }
            None if p.buffer == TileBuffer::None => {}
            None => return Err(format!("storing buffer `{}` is not simulated", p.buffer.name())),
        }
        self.after_store(!p.disable_clear_color, !p.disable_clear_zs, p.end_of_frame)
    }

    fn store_frame(&mut self, end_of_frame: bool) -> Result<(), String> {
        let frame = *self.frame()?;
        let pixels = Pixels::frame(frame.format);
        let surface = Surface::new(frame.address.get(), frame.tiling, pixels, frame.width, frame.height)?;
        let resolve = resolves(frame.decimate)? && frame.multisample;
        self.step(Step::Store(Target::Image(surface, resolve)))?;
        self.after_store(true, true, end_of_frame)
    }

    /// A store clears what it is not told to leave; a complete clear ends the segment.
    fn after_store(&mut self, color: bool, zs: bool, end_of_frame: bool) -> Result<(), String> {
        if self.end_of_frame {
            return Err("a store behind the end of the frame".into());
        }
        self.end_of_frame = end_of_frame;
        if color && zs {
            self.segments.push(Segment {
                initial: std::mem::replace(&mut self.initial, self.clear),
                multisample: self.frame.is_some_and(|frame| frame.multisample),
                steps: std::mem::take(&mut self.steps),
            });
            return Ok(());
        }
        if color || zs {
            let ClearValues { color: value, zs: zs_value } = self.clear;
            self.step(Step::Clear(color.then_some(value), zs.then_some(zs_value)))?;
        }
        Ok(())
    }
}

/// Whether a store averages the samples of a pixel.
fn resolves(decimate: Decimate) -> Result<bool, String> {
    match decimate {
        Decimate::X1 => Ok(false),
        Decimate::X4 => Ok(true),
        Decimate::X16 => Err("16x decimation is for OpenVG coverage and not simulated".into()),
    }
}

fn full_res(skip_color: bool, skip_zs: bool, address: u32) -> Result<Target, String> {
    match (skip_color, skip_zs) {
        (false, true) => Ok(Target::Block { zs: false, address }),
        (true, false) => Ok(Target::Block { zs: true, address }),
        _ => Err("a full-resolution packet must move exactly one of colour and depth/stencil".into()),
    }
}
