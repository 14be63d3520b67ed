//! The surfaces that a job stores, as pictures.

use vc4::cl::AnyPacket;
use vc4::facts::{Load565, ResolveRounding};
use vc4::hw::TARGET_MAX_PX;
use vc4::image::layout::{MSAA_SAMPLES, MsaaLayout};
use vc4::image::tiling::Level;
use vc4_kernel_abi::{Submit, Surface};

use crate::rendering::Pixels;
use crate::unverified::{from_565, resolve_4x};

/// Opcodes of the packets whose bits a submission's surfaces carry (kernel-abi.md §5.2).
const STORE_GENERAL: u8 = 28;
const TILE_RENDERING_MODE_CONFIG: u8 = 113;

/// Where the words of a surface lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Image(Level, Pixels),
    /// All samples of 32-bit pixels, tile by tile.
    Samples(MsaaLayout),
}

/// A surface that a job stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// `color`, `depth/stencil`, or one of them with `samples`.
    pub name: &'static str,
    /// Whether it is depth and stencil.
    pub zs: bool,
    /// Place of its BO in [`Submit::bos`].
    pub bo: usize,
    /// Byte offset in the BO.
    pub offset: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    form: Form,
}

/// Pixels of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Red, green, blue, alpha.
    Rgba(Vec<u8>),
    /// One byte per pixel.
    Grey(Vec<u8>),
}

/// A `STORE_TILE_BUFFER_GENERAL` or `TILE_RENDERING_MODE_CONFIG` with these bits.
fn packet(opcode: u8, bits: u16, before: usize, behind: usize) -> Option<AnyPacket> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(&bits.to_le_bytes());
    bytes.resize(before + 2 + behind, 0);
    bytes[0] = opcode;
    AnyPacket::read(&bytes).ok()
}

impl Attachment {
    /// The surfaces that a submission stores. Those that the validator would refuse may be missing.
    pub fn stored_by(submit: &Submit) -> Vec<Attachment> {
        let (width, height) = (submit.width, submit.height);
        let attachment = |name, zs, surface: Surface, form| Attachment {
            name,
            zs,
            bo: surface.bo_index as usize,
            offset: surface.offset,
            width: u32::from(width),
            height: u32::from(height),
            form,
        };
        let level = |tiling, pixels: Pixels| {
            let level = Level::new(tiling, pixels.cpp(), u32::from(width), u32::from(height)).ok()?;
            Some(Form::Image(level, pixels))
        };
        let color = submit.color_write.and_then(|surface| {
            // The address, width and height of the packet are not part of the bits.
            let Some(AnyPacket::TileRenderingModeConfig(frame)) =
                packet(TILE_RENDERING_MODE_CONFIG, surface.bits, 9, 0)
            else {
                return None;
            };
            Some(attachment("color", false, surface, level(frame.tiling, Pixels::frame(frame.format))?))
        });
        let zs = submit.zs_write.and_then(|surface| {
            let Some(AnyPacket::StoreGeneral(store)) = packet(STORE_GENERAL, surface.bits, 1, 4) else {
                return None;
            };
            Some(attachment("depth/stencil", true, surface, level(store.tiling, Pixels::ZStencil)?))
        });
        let samples = |name, zs, surface: Option<Surface>| {
            let layout = MsaaLayout::new(u32::from(width), u32::from(height), TARGET_MAX_PX).ok()?;
            Some(attachment(name, zs, surface?, Form::Samples(layout)))
        };
        let samples = [
            samples("color samples", false, submit.msaa_color_write),
            samples("depth/stencil samples", true, submit.msaa_zs_write),
        ];
        [color, zs].into_iter().chain(samples).flatten().collect()
    }

    /// Bytes behind `offset` that it takes.
    pub fn bytes(&self) -> usize {
        match &self.form {
            Form::Image(level, _) => level.size as usize,
            Form::Samples(layout) => layout.size as usize,
        }
    }

    /// The layout in words.
    pub fn layout(&self) -> String {
        match &self.form {
            Form::Image(level, pixels) => format!("{pixels:?} {}", level.tiling.name()),
            Form::Samples(_) => "four samples of 32 bits".into(),
        }
    }

    /// The 32-bit pixels of the surface in `bytes`, row by row: colour with red lowest, or depth above stencil. The
    /// samples of a pixel are averaged (colour) or the first is taken. Bytes that are missing count as zero.
    pub fn words(&self, bytes: &[u8]) -> Vec<u32> {
        let word = |at: u32| {
            let bytes = bytes.get(at as usize..).and_then(|rest| rest.first_chunk::<4>());
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let pixel = |x, y| match &self.form {
            Form::Image(level, Pixels::Bgr565) => {
                let at = level.offset_of(x, y) as usize;
                let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
                from_565(Load565::Repeated, bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes)))
            }
            Form::Image(level, _) => word(level.offset_of(x, y)),
            Form::Samples(layout) if self.zs => word(layout.offset_of(x, y, 0)),
            Form::Samples(layout) => {
                let mut samples = [0; MSAA_SAMPLES as usize];
                for (sample, value) in (0..).zip(&mut samples) {
                    *value = word(layout.offset_of(x, y, sample));
                }
                resolve_4x(ResolveRounding::Nearest, samples)
            }
        };
        (0..self.height)
            .flat_map(|y| (0..self.width).map(move |x| (x, y)))
            .map(|(x, y)| pixel(x, y))
            .collect()
    }

    /// What people look at, with names: opaque colour, or depth (near is dark, the range that occurs stretched) and
    /// stencil (if there is any) as greys.
    pub fn pictures(&self, bytes: &[u8]) -> Vec<(String, Picture)> {
        let words = self.words(bytes);
        if !self.zs {
            let rgba = words.iter().flat_map(|word| (word | 0xff00_0000).to_le_bytes()).collect();
            return vec![(self.name.into(), Picture::Rgba(rgba))];
        }
        let depths: Vec<u32> = words.iter().map(|word| word >> 8).collect();
        let low = depths.iter().copied().min().unwrap_or(0);
        let range = u64::from(depths.iter().copied().max().unwrap_or(0) - low).max(1);
        let grey = depths.iter().map(|depth| (u64::from(depth - low) * 255 / range) as u8).collect();
        let mut pictures = vec![(self.name.replace("/stencil", ""), Picture::Grey(grey))];
        if words.iter().any(|word| word & 0xff != 0) {
            let grey = words.iter().map(|&word| word as u8).collect();
            pictures.push((self.name.replace("depth/", ""), Picture::Grey(grey)));
        }
        pictures
    }
}
