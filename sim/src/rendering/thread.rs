//! The rendering thread: the packets of a render list, read into segments (v3d.md §4, §5).

use vc4::cl::AnyPacket;
use vc4::cl::packets::{Decimate, LoadGeneral, StoreGeneral, TileBuffer, TileRenderingModeConfig};

use super::segment::{Segment, Step, Target};
use super::surface::{Pixels, Surface};
use super::tlb::ClearValues;
use crate::binning::Binned;
use crate::cle::Walk;
use crate::error::{JobError, Thread};
use crate::memory::Memory;
use crate::stats::{Note, Stats};

const TILE_MODES: Note = Note {
    id: "multisample-mode",
    manual: "v3d.md §10.5",
    text: "packets 112 and 113 agree on multisampling, or the tiles do not match",
};

/// Reads the render list of `length` bytes at `start` into segments. `clear` are the clear values and tile
/// content that the previous job left; they are updated.
pub fn segments(
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
