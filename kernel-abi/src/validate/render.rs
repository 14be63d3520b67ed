//! Render surfaces (kernel-abi.md §10) and the render list that the kernel makes of them (§5.6).

use super::bo::BoInfo;
use super::raw::{self, RawField};
use super::rule::Rule;
use super::violation::{Mode, Place, Violation};
use super::{frame, surface};
use crate::gpu::{Submit, SubmitFlags};
use crate::uapi::{NO_SURFACE, SURFACE_READ_IS_FULL_RES, SubmitCl, SubmitRclSurface};
use vc4::cl::packets::{
    BranchToSubList, ClearColors, FrameFormat, LoadFullRes, LoadGeneral, LoadStoreFormat, Packet,
    StoreFullRes, StoreGeneral, StoreMsTileBuffer, StoreMsTileBufferAndEof, TileBuffer, TileCoordinates,
    TileRenderingModeConfig, Tiling, WaitOnSemaphore,
};
use vc4::hw::TILE_MS_PX;
use vc4::image::layout::MSAA_TILE_BYTES;

/// Bits of a frame's colour surface that the kernel lets through (kernel-abi.md §5.2).
const FRAME_BITS: u16 = 0x00dd;
/// Bits of a general load or store that the kernel lets through (kernel-abi.md §5.2).
const GENERAL_BITS: u16 = 0x0337;
/// Bytes that the initial block of each tile list has (kernel-abi.md §5.4).
const INITIAL_BLOCK_SIZE: u32 = 32;

/// What the render list needs of the binning job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinTiles {
    /// Columns of tiles.
    pub x: u8,
    /// Rows of tiles.
    pub y: u8,
    /// Bus address of the tile lists.
    pub tile_alloc_address: u32,
}

/// Checks the surfaces of `job` and makes its render list. `bin` is there exactly when the job has a bin list.
///
/// # Errors
/// The first broken rule in the order of RCL-16.
pub fn render(
    job: &Submit,
    bos: &[BoInfo<'_>],
    bin: Option<&BinTiles>,
    mode: Mode,
) -> Result<Vec<u8>, Violation> {
    render_frame(&frame::to_uapi(job), bos, bin, mode)
}

/// As [`render`], from the ioctl's struct.
pub fn render_frame(
    frame: &SubmitCl,
    bos: &[BoInfo<'_>],
    bin: Option<&BinTiles>,
    mode: Mode,
) -> Result<Vec<u8>, Violation> {
    let check = Check { frame, bos, mode };
    check.tiles(bin)?;
    // RCL-16: in this order.
    let color_write = check.frame_surface()?;
    let color_read = check.general("color_read", &frame.color_read, false)?;
    let zs_read = check.general("zs_read", &frame.zs_read, false)?;
    let zs_write = check.general("zs_write", &frame.zs_write, true)?;
    let msaa_color_write = check.multisample("msaa_color_write", &frame.msaa_color_write)?;
    let msaa_zs_write = check.multisample("msaa_zs_write", &frame.msaa_zs_write)?;
    if [color_write, zs_write, msaa_color_write, msaa_zs_write].iter().all(Option::is_none) {
        return Err(Violation::new(Rule::Rcl15, Place::Frame("color_write"), "no surface is stored"));
    }
    let writer = Writer {
        frame,
        bin,
        color_write,
        color_read,
        zs_read,
        zs_write,
        msaa_color_write,
        msaa_zs_write,
        list: Vec::new(),
    };
    Ok(writer.list())
}

/// A surface that passed.
#[derive(Clone, Copy)]
struct Target {
    /// BO address + offset.
    address: u32,
    bits: u16,
    full_res: bool,
}

struct Check<'a> {
    frame: &'a SubmitCl,
    bos: &'a [BoInfo<'a>],
    mode: Mode,
}

impl Check<'_> {
    fn strict(&self) -> bool {
        self.mode == Mode::Strict
    }

    /// RCL-1 to RCL-3.
    fn tiles(&self, bin: Option<&BinTiles>) -> Result<(), Violation> {
        let f = self.frame;
        let fail = |rule, limit: String| {
            let range =
                format!("tiles {},{} to {},{}", f.min_x_tile, f.min_y_tile, f.max_x_tile, f.max_y_tile);
            Err(Violation::new(rule, Place::Frame("tiles"), range + &limit))
        };
        if f.min_x_tile > f.max_x_tile || f.min_y_tile > f.max_y_tile {
            return fail(Rule::Rcl1, String::new());
        }
        if let Some(bin) = bin {
            // The kernel lets the tile behind the last one through.
            let slack = u8::from(!self.strict());
            let outside = |max: u8, tiles: u8| max >= tiles.saturating_add(slack);
            if outside(f.max_x_tile, bin.x) || outside(f.max_y_tile, bin.y) {
                return fail(Rule::Rcl2, format!(", the binner has {}x{}", bin.x, bin.y));
            }
        }
        let wraps = |min: u8, max: u8| max - min == u8::MAX;
        if self.strict() && (wraps(f.min_x_tile, f.max_x_tile) || wraps(f.min_y_tile, f.max_y_tile)) {
            return fail(Rule::Rcl3, ": the kernel counts 256 tiles as none".to_owned());
        }
        Ok(())
    }

    /// A listed BO that is no shader.
    fn bo(&self, rule: Rule, name: &'static str, index: u32) -> Result<&BoInfo<'_>, Violation> {
        let what = match self.bos.get(index as usize) {
            Some(bo) if bo.shader.is_none() => return Ok(bo),
            Some(_) => format!("BO {index} is a shader"),
            None => format!("BO {index} of {}", self.bos.len()),
        };
        Err(Violation::new(rule, Place::Frame(name), what))
    }

    /// RCL-4, RCL-5: the colour surface of packet 113.
    fn frame_surface(&self) -> Result<Option<Target>, Violation> {
        const NAME: &str = "color_write";
        let surface = &self.frame.color_write;
        let fail = |rule, what: String| Err(Violation::new(rule, Place::Frame(NAME), what));
        if surface.flags != 0 || surface.bits & !FRAME_BITS != 0 {
            return fail(Rule::Rcl4, format!("bits {:#x}, flags {:#x}", surface.bits, surface.flags));
        }
        if surface.hindex == NO_SURFACE {
            return Ok(None);
        }
        let bo = self.bo(Rule::Rcl5, NAME, surface.hindex)?;
        let payload = frame_bits(surface.bits);
        let Some(tiling) = Tiling::from_code(FRAME_TILING.get(payload)) else {
            return fail(Rule::Rcl5, format!("bits {:#x}: layout 3", surface.bits));
        };
        let cpp = match FrameFormat::from_code(FRAME_FORMAT.get(payload)) {
            Some(FrameFormat::Bgr565 | FrameFormat::Bgr565Dithered) => 2,
            Some(FrameFormat::Rgba8888) => 4,
            None => return fail(Rule::Rcl5, format!("bits {:#x}: format 3", surface.bits)),
        };
        if self.strict() && surface.offset % 16 != 0 {
            return fail(Rule::Rcl5, format!("offset {:#x} is no multiple of 16", surface.offset));
        }
        self.fits(NAME, surface, bo, tiling, cpp)?;
        Ok(Some(target(surface, bo)))
    }

    /// RCL-6 to RCL-13: general loads and stores.
    fn general(
        &self,
        name: &'static str,
        surface: &SubmitRclSurface,
        store: bool,
    ) -> Result<Option<Target>, Violation> {
        let fail = |rule, what: String| Err(Violation::new(rule, Place::Frame(name), what));
        if surface.flags & !SURFACE_READ_IS_FULL_RES != 0 {
            return fail(Rule::Rcl6, format!("flags {:#x}", surface.flags));
        }
        if surface.hindex == NO_SURFACE {
            return Ok(None);
        }
        let bo = self.bo(Rule::Rcl7, name, surface.hindex)?;
        if surface.flags & SURFACE_READ_IS_FULL_RES != 0 {
            if store || surface.bits != 0 {
                return fail(Rule::Rcl8, format!("full resolution with bits {:#x}", surface.bits));
            }
            if self.strict() && surface.offset % 16 != 0 {
                return fail(Rule::Rcl8, format!("offset {:#x} is no multiple of 16", surface.offset));
            }
            self.full_res_fits(name, surface, bo)?;
            return Ok(Some(target(surface, bo)));
        }
        let payload = u128::from(surface.bits);
        let tiling = Tiling::from_code(GENERAL_TILING.get(payload));
        let (0, Some(tiling)) = (surface.bits & !GENERAL_BITS, tiling) else {
            return fail(Rule::Rcl9, format!("bits {:#x}", surface.bits));
        };
        let buffer = TileBuffer::from_code(GENERAL_BUFFER.get(payload));
        let format = LoadStoreFormat::from_code(GENERAL_FORMAT.get(payload));
        let cpp = match (buffer, format) {
            // Without a colour the format field has to be zero, which is RGBA8888 elsewhere.
            (Some(TileBuffer::DepthStencil | TileBuffer::Color), Some(LoadStoreFormat::Rgba8888)) => 4,
            (Some(TileBuffer::Color), Some(LoadStoreFormat::Bgr565 | LoadStoreFormat::Bgr565Dithered)) => 2,
            _ => return fail(Rule::Rcl10, format!("bits {:#x}", surface.bits)),
        };
        if surface.offset % 16 != 0 {
            return fail(Rule::Rcl11, format!("offset {:#x}", surface.offset));
        }
        self.fits(name, surface, bo, tiling, cpp)?;
        Ok(Some(target(surface, bo)))
    }

    /// RCL-14: raw multisample stores.
    fn multisample(
        &self,
        name: &'static str,
        surface: &SubmitRclSurface,
    ) -> Result<Option<Target>, Violation> {
        let fail = |what: String| Err(Violation::new(Rule::Rcl14, Place::Frame(name), what));
        if surface.flags != 0 || surface.bits != 0 {
            return fail(format!("bits {:#x}, flags {:#x}", surface.bits, surface.flags));
        }
        if surface.hindex == NO_SURFACE {
            return Ok(None);
        }
        let bo = self.bo(Rule::Rcl14, name, surface.hindex)?;
        if surface.offset % 16 != 0 {
            return fail(format!("offset {:#x} is no multiple of 16", surface.offset));
        }
        self.full_res_fits(name, surface, bo)?;
        Ok(Some(target(surface, bo)))
    }

    /// RCL-12.
    fn fits(
        &self,
        name: &'static str,
        surface: &SubmitRclSurface,
        bo: &BoInfo<'_>,
        tiling: Tiling,
        cpp: u32,
    ) -> Result<(), Violation> {
        let (width, height) = (u32::from(self.frame.width), u32::from(self.frame.height));
        let need = surface::size(tiling, width, height, cpp);
        let end = need.and_then(|need| need.checked_add(surface.offset));
        if end.is_some_and(|end| end <= bo.size) {
            return Ok(());
        }
        let need = need.map_or("more than 4096 pixels".to_owned(), |need| format!("{need} bytes"));
        let what = format!(
            "{width}x{height}, {} layout, {cpp} bytes per pixel: {need} at offset {:#x}, BO {} has {}",
            tiling.name(),
            surface.offset,
            surface.hindex,
            bo.size
        );
        Err(Violation::new(Rule::Rcl12, Place::Frame(name), what))
    }

    /// RCL-13. The kernel asks for one tile too few.
    fn full_res_fits(
        &self,
        name: &'static str,
        surface: &SubmitRclSurface,
        bo: &BoInfo<'_>,
    ) -> Result<(), Violation> {
        let (x, y) = (u32::from(self.frame.max_x_tile), u32::from(self.frame.max_y_tile));
        let need = full_res_columns(self.frame) * y + x + u32::from(self.strict());
        let have = bo.size.checked_sub(surface.offset).map(|left| left / MSAA_TILE_BYTES);
        if have.is_some_and(|have| have >= need) {
            return Ok(());
        }
        let what = format!(
            "tiles up to {x},{y} of {MSAA_TILE_BYTES} bytes at offset {:#x}, BO {} has {} bytes",
            surface.offset, surface.hindex, bo.size
        );
        Err(Violation::new(Rule::Rcl13, Place::Frame(name), what))
    }
}

fn target(surface: &SubmitRclSurface, bo: &BoInfo<'_>) -> Target {
    Target {
        address: bo.bus_address.wrapping_add(surface.offset),
        bits: surface.bits,
        full_res: surface.flags & SURFACE_READ_IS_FULL_RES != 0,
    }
}

/// Full-resolution tiles stand row by row, each row as wide as the frame (kernel-abi.md §5.6).
fn full_res_columns(frame: &SubmitCl) -> u32 {
    u32::from(frame.width).div_ceil(TILE_MS_PX)
}

const fn frame_field(name: &str) -> RawField {
    RawField::of(<TileRenderingModeConfig as Packet>::FIELDS, name)
}
const fn general_field(name: &str) -> RawField {
    RawField::of(<StoreGeneral as Packet>::FIELDS, name)
}
const fn full_res_field(name: &str) -> RawField {
    RawField::of(<StoreFullRes as Packet>::FIELDS, name)
}

/// `color_write.bits` begins at the first of the packet's mode fields (kernel-abi.md §5.2).
const FRAME_MODE: RawField = frame_field("multisample");
const FRAME_TILING: RawField = frame_field("tiling");
const FRAME_FORMAT: RawField = frame_field("format");
const GENERAL_TILING: RawField = general_field("tiling");
const GENERAL_BUFFER: RawField = general_field("buffer");
const GENERAL_FORMAT: RawField = general_field("format");
/// The 16 mode bits of a general load or store are followed by the 32 bits of address and more modes.
const GENERAL_ADDRESS: RawField = general_field("skip_color");

fn frame_bits(bits: u16) -> u128 {
    FRAME_MODE.put(bits.into())
}

/// Writes the list of §5.6.
struct Writer<'a> {
    frame: &'a SubmitCl,
    bin: Option<&'a BinTiles>,
    color_write: Option<Target>,
    color_read: Option<Target>,
    zs_read: Option<Target>,
    zs_write: Option<Target>,
    msaa_color_write: Option<Target>,
    msaa_zs_write: Option<Target>,
    list: Vec<u8>,
}

/// A tile and its place in the order.
#[derive(Clone, Copy)]
struct Tile {
    x: u8,
    y: u8,
    first: bool,
    last: bool,
}

impl Writer<'_> {
    fn list(mut self) -> Vec<u8> {
        let f = self.frame;
        let flags = SubmitFlags::from_bits_retain(f.flags);
        if flags.contains(SubmitFlags::USE_CLEAR_COLOR) {
            self.clear_colors();
        }
        const ADDRESS: RawField = frame_field("address");
        const WIDTH: RawField = frame_field("width");
        const HEIGHT: RawField = frame_field("height");
        let address = self.color_write.map_or(0, |target| target.address);
        raw::push::<TileRenderingModeConfig>(
            &mut self.list,
            ADDRESS.put(address)
                | WIDTH.put(f.width.into())
                | HEIGHT.put(f.height.into())
                | frame_bits(f.color_write.bits),
        );
        // RCL-3: the kernel counts in bytes, 256 tiles become none.
        let columns = (f.max_x_tile - f.min_x_tile).wrapping_add(1);
        let rows = (f.max_y_tile - f.min_y_tile).wrapping_add(1);
        let fixed = flags.contains(SubmitFlags::FIXED_RCL_ORDER);
        let right = !fixed || flags.contains(SubmitFlags::RCL_ORDER_INCREASING_X);
        let down = !fixed || flags.contains(SubmitFlags::RCL_ORDER_INCREASING_Y);
        for row in 0..rows {
            for column in 0..columns {
                self.tile(Tile {
                    x: if right { f.min_x_tile + column } else { f.max_x_tile - column },
                    y: if down { f.min_y_tile + row } else { f.max_y_tile - row },
                    first: row == 0 && column == 0,
                    last: row == rows - 1 && column == columns - 1,
                });
            }
        }
        self.list
    }

    /// New clear values take effect with the next store: an empty one, before the first tile (v3d.md §4).
    fn clear_colors(&mut self) {
        let f = self.frame;
        let packet = ClearColors {
            color0: f.clear_color[0],
            color1: f.clear_color[1],
            z: vc4::cl::Bits::low(f.clear_z),
            vg_mask: (f.clear_z >> 24) as u8,
            stencil: f.clear_s,
        };
        packet.write(&mut self.list);
        TileCoordinates::default().write(&mut self.list);
        StoreGeneral::default().write(&mut self.list);
    }

    fn coordinates(&mut self, tile: Tile) {
        TileCoordinates { column: tile.x, row: tile.y }.write(&mut self.list);
    }

    fn tile(&mut self, tile: Tile) {
        self.loads(tile);
        self.coordinates(tile);
        if let Some(bin) = self.bin {
            if tile.first {
                WaitOnSemaphore {}.write(&mut self.list);
            }
            let number = u32::from(tile.y) * u32::from(bin.x) + u32::from(tile.x);
            let address = bin.tile_alloc_address.wrapping_add(number * INITIAL_BLOCK_SIZE);
            BranchToSubList { address: address.into() }.write(&mut self.list);
        }
        self.stores(tile);
    }

    fn loads(&mut self, tile: Tile) {
        const SKIP_COLOR: RawField = full_res_field("skip_color");
        const SKIP_ZS: RawField = full_res_field("skip_zs");
        if let Some(color) = self.color_read {
            self.load(tile, color, SKIP_ZS);
        }
        if let Some(zs) = self.zs_read {
            if self.color_read.is_some() {
                // A load runs when coordinates follow; a store that keeps everything separates two.
                self.coordinates(tile);
                StoreGeneral {
                    disable_clear_color: true,
                    disable_clear_zs: true,
                    disable_clear_vg: true,
                    ..Default::default()
                }
                .write(&mut self.list);
            }
            self.load(tile, zs, SKIP_COLOR);
        }
    }

    fn load(&mut self, tile: Tile, target: Target, skip: RawField) {
        if target.full_res {
            let payload = u128::from(self.full_res_address(tile, target)) | skip.put(1);
            raw::push::<LoadFullRes>(&mut self.list, payload);
        } else {
            let payload = u128::from(target.bits) | GENERAL_ADDRESS.put(target.address);
            raw::push::<LoadGeneral>(&mut self.list, payload);
        }
    }

    fn full_res_address(&self, tile: Tile, target: Target) -> u32 {
        let number = full_res_columns(self.frame) * u32::from(tile.y) + u32::from(tile.x);
        target.address.wrapping_add(number * MSAA_TILE_BYTES)
    }

    /// Up to four stores, coordinates between them; the last one clears the tile and ends the frame.
    fn stores(&mut self, tile: Tile) {
        const SKIP_COLOR: RawField = full_res_field("skip_color");
        const SKIP_ZS: RawField = full_res_field("skip_zs");
        let msaa = [(self.msaa_color_write, SKIP_ZS), (self.msaa_zs_write, SKIP_COLOR)];
        let general_follows = self.zs_write.is_some() || self.color_write.is_some();
        let mut stored = false;
        for (index, (target, skip)) in msaa.into_iter().enumerate() {
            let Some(target) = target else { continue };
            if stored {
                self.coordinates(tile);
            }
            stored = true;
            let final_store = !general_follows && (index == 1 || self.msaa_zs_write.is_none());
            self.store_full_res(tile, target, skip, final_store);
        }
        if let Some(target) = self.zs_write {
            if stored {
                self.coordinates(tile);
            }
            stored = true;
            self.store_zs(tile, target);
        }
        if self.color_write.is_some() {
            if stored {
                self.coordinates(tile);
            }
            if tile.last {
                StoreMsTileBufferAndEof {}.write(&mut self.list);
            } else {
                StoreMsTileBuffer {}.write(&mut self.list);
            }
        }
    }

    fn store_full_res(&mut self, tile: Tile, target: Target, skip: RawField, final_store: bool) {
        const DISABLE_CLEAR: RawField = full_res_field("disable_clear");
        const END_OF_FRAME: RawField = full_res_field("end_of_frame");
        let end = match (final_store, tile.last) {
            (false, _) => DISABLE_CLEAR.put(1),
            (true, true) => END_OF_FRAME.put(1),
            (true, false) => 0,
        };
        let payload = u128::from(self.full_res_address(tile, target)) | skip.put(1) | end;
        raw::push::<StoreFullRes>(&mut self.list, payload);
    }

    fn store_zs(&mut self, tile: Tile, target: Target) {
        const DISABLE_CLEAR_COLOR: RawField = general_field("disable_clear_color");
        const END_OF_FRAME: RawField = general_field("end_of_frame");
        let mode = if self.color_write.is_some() {
            DISABLE_CLEAR_COLOR.put(1)
        } else if tile.last {
            END_OF_FRAME.put(1)
        } else {
            0
        };
        let payload = u128::from(target.bits) | mode | GENERAL_ADDRESS.put(target.address);
        raw::push::<StoreGeneral>(&mut self.list, payload);
    }
}

#[cfg(test)]
mod tests;
