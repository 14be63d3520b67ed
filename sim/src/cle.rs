//! The control list executor: walks the bytes of both lists in bus memory (v3d.md §2, §4, §5).

use vc4::cl::AnyPacket;
use vc4::cl::packets::{
    Decimate, IndexType, IndexedPrimitiveList, Lists, LoadGeneral, StoreGeneral, TileBuffer,
    TileRenderingModeConfig, VertexArrayPrimitives,
};
use vc4::hw::MAX_VERTEX_INDEX;

use crate::error::{JobError, Thread};
use crate::memory::Memory;
use crate::ptb::{Binned, Indices, Ptb};
use crate::qpu::Stats;
use crate::render::{Segment, Step, Target};
use crate::state::State;
use crate::surface::{Pixels, Surface};
use crate::tlb::ClearValues;

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
pub fn bin(memory: &Memory, start: u32, length: u32, stats: &mut Stats) -> Result<Binned, JobError> {
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
        ptb: Ptb::new(memory, config),
        state: State::reset(),
        tile_state: State::reset(),
        started: false,
        warned: false,
        increments: 0,
    };
    while let Some(packet) = walk.next() {
        if binning.packet(&walk, packet?, stats)? {
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
    warned: bool,
    /// Increments that wait for the flush.
    increments: u32,
}

impl BinningThread<'_> {
    /// Executes a packet; true at the end of the list.
    fn packet(&mut self, walk: &Walk, packet: AnyPacket, stats: &mut Stats) -> Result<bool, JobError> {
        if self.state.apply(&packet) {
            if self.started {
                self.tile_state.apply(&packet);
            }
            return Ok(false);
        }
        match packet {
            AnyPacket::Nop(_) => {}
            AnyPacket::StartTileBinning(_) => self.started = true,
            AnyPacket::IncrementSemaphore(_) => self.increments += 1,
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
            return Err(walk.error(format!(
                "vertices {} + {}: array draws truncate indices to 16 bits (GFXH-515); split the draw",
                draw.first, draw.count
            )));
        }
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
        // Read in order, so that a count beyond memory stops before it fills the host's.
        let indices = (0..draw.count).map(read).collect::<Result<Vec<u32>, _>>();
        let indices = indices.map_err(JobError::bus("index list"))?;
        if let Some(index) = indices.iter().find(|&&index| index > draw.max_index) {
            log::warn!(target: "vc4::sim", "index {index} above the draw's maximum {}", draw.max_index);
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
        if self.state != self.tile_state && !self.warned {
            log::warn!(
                target: "vc4::sim",
                "state set before START_TILE_BINNING does not reach the tile lists; set it behind"
            );
            self.warned = true;
        }
        self.ptb.draw(&self.state, &self.tile_state, mode, indices, stats)?.map_err(|what| walk.error(what))
    }
}

/// Reads the render list of `length` bytes at `start` into segments. `clear` are the clear values and tile
/// content that the previous job left; they are updated.
pub fn render(
    memory: &Memory,
    start: u32,
    length: u32,
    binned: Option<&Binned>,
    clear: &mut ClearValues,
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
    };
    while let Some(packet) = walk.next() {
        let packet = packet?;
        rendering.packet(packet).map_err(|what| walk.error(what))?;
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
                let target = full_res(self.frame()?, p.skip_color, p.skip_zs, p.address.get())?;
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
            if binned.config.multisample != p.multisample {
                return Err("packets 112 and 113 disagree on multisampling: the tiles would not match".into());
            }
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
                let surface = Surface::new(p.address.get(), p.tiling, pixels, frame.width, frame.height)?;
                Target::Image(surface, false)
            }
            None if p.buffer == TileBuffer::None => return Ok(()),
            None => return Err(format!("loading buffer `{}` is not simulated", p.buffer.name())),
        };
        self.pending(target)
    }

    fn set_load(&mut self, skip_color: bool, skip_zs: bool, address: u32) -> Result<(), String> {
        let target = full_res(self.frame()?, skip_color, skip_zs, address)?;
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

fn full_res(
    frame: &TileRenderingModeConfig,
    skip_color: bool,
    skip_zs: bool,
    address: u32,
) -> Result<Target, String> {
    if !frame.multisample {
        return Err("full-resolution tiles without multisampling have an unknown layout; use general loads \
                    and stores"
            .into());
    }
    match (skip_color, skip_zs) {
        (false, true) => Ok(Target::Block { zs: false, address }),
        (true, false) => Ok(Target::Block { zs: true, address }),
        _ => Err("a full-resolution packet must move exactly one of colour and depth/stencil".into()),
    }
}
