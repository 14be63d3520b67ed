//! What a draw's shaders read, looked up once per draw: programs, textures, uniform buffers, state words.

use std::cell::RefCell;
use std::sync::Arc;

use vc4::cl::packets::PrimitiveMode;
use vc4::state::depth_stencil::StencilWords;
use vc4::state::{StateWords, StencilFaceState};
use vc4_kernel_abi::Mapping;
use vc4_shaders::program;

use super::geometry::Piece;
use super::iota::ZEROS_AT;
use super::packets;
use crate::bo::Bo;
use crate::descriptor::Descriptor;
use crate::device::Device;
use crate::error::Error;
use crate::pipeline::{Compiled, Textures, Variant};
use crate::recording::Snapshot;
use crate::sampler::Texture;

/// Bytes of a word.
const WORD: u64 = 4;

/// A uniform buffer's range.
#[derive(Clone)]
pub struct Range {
    /// The memory.
    pub bo: Arc<Bo>,
    mapping: Mapping,
    /// First byte in the BO.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Range {
    /// The word at a byte offset, 0 outside of the range.
    pub fn word(&self, offset: u32) -> u32 {
        match u64::from(offset) + 4 <= self.size {
            true => self.mapping.read_u32((self.offset + u64::from(offset)) as usize),
            false => 0,
        }
    }
}

/// What a draw reads.
pub struct Bindings<'a> {
    device: &'a Device,
    /// State of the draw.
    pub state: &'a Snapshot,
    /// The pipeline's compiled half.
    pub compiled: &'a Compiled,
    /// Its programs for the textures that are bound.
    pub variant: Arc<Variant>,
    /// Words of pipeline state.
    pub words: StateWords,
    textures: Vec<(program::Descriptor, Texture)>,
    ranges: RefCell<Vec<(program::Descriptor, Range)>>,
}

impl<'a> Bindings<'a> {
    /// Looks up what `state` binds.
    pub fn new(
        device: &'a Device,
        state: &'a Snapshot,
        compiled: &'a Compiled,
    ) -> Result<Bindings<'a>, Error> {
        let one = |image: &program::Descriptor| texture(state, *image).map(|texture| (*image, texture));
        let textures = compiled.textures.iter().map(one).collect::<Result<Vec<_>, _>>()?;
        let decodes = textures.iter().map(|(image, texture)| (*image, texture.decode));
        let unusual = decodes.filter(|(_, decode)| *decode != Default::default());
        let variant = compiled.variant(unusual.collect::<Textures>())?;
        let words = words(state, compiled);
        Ok(Bindings { device, state, compiled, variant, words, textures, ranges: RefCell::default() })
    }

    /// A sampled image.
    pub fn texture(&self, image: program::Descriptor) -> Result<&Texture, Error> {
        let found = self.textures.iter().find(|(key, _)| *key == image);
        found.map(|(_, texture)| texture).ok_or_else(|| unexpected(image, "an image"))
    }

    /// A uniform buffer.
    pub fn range(&self, buffer: program::Descriptor) -> Result<Range, Error> {
        let mut ranges = self.ranges.borrow_mut();
        if let Some((_, range)) = ranges.iter().find(|(key, _)| *key == buffer) {
            return Ok(range.clone());
        }
        let range = range(self.device, self.state, buffer)?;
        ranges.push((buffer, range.clone()));
        Ok(range)
    }

    /// How the vertices of a piece are assembled.
    pub fn mode(&self, piece: &Piece) -> PrimitiveMode {
        match (piece.is_list, self.state.pipeline.mode) {
            (false, mode) => mode,
            (true, PrimitiveMode::Points) => PrimitiveMode::Points,
            (true, PrimitiveMode::Lines | PrimitiveMode::LineLoop | PrimitiveMode::LineStrip) => {
                PrimitiveMode::Lines
            }
            (true, _) => PrimitiveMode::Triangles,
        }
    }
}

fn unexpected(place: program::Descriptor, what: &str) -> Error {
    let program::Descriptor { set, binding, element } = place;
    let place = format!("set {set}, binding {binding}, element {element}");
    Error::InvalidUse(format!("a draw whose shader takes {place} for {what}, which it is not"))
}

fn texture(state: &Snapshot, image: program::Descriptor) -> Result<Texture, Error> {
    match state.descriptor(image.set, image.binding, image.element)? {
        (Descriptor::Image { view: Some(view), sampler: Some(sampler) }, _) => Texture::new(view, sampler),
        (Descriptor::Image { view: Some(_), sampler: None }, _) => {
            Err(Error::unsupported("an image without a sampler in a shader", "use combined image samplers"))
        }
        _ => Err(unexpected(image, "an image")),
    }
}

fn range(device: &Device, state: &Snapshot, place: program::Descriptor) -> Result<Range, Error> {
    let (descriptor, dynamic) = state.descriptor(place.set, place.binding, place.element)?;
    let Descriptor::Buffer { buffer, offset, range } = descriptor else {
        return Err(unexpected(place, "a uniform buffer"));
    };
    let start = offset + u64::from(dynamic);
    let size = buffer.clamp(start, *range);
    if size < WORD {
        // Direct lookups need a word that they may read (kernel-abi.md §9, TEX-2).
        let bo = device.iota().bo(device)?;
        return Ok(Range { mapping: bo.map()?, bo, offset: u64::from(ZEROS_AT), size: WORD });
    }
    let binding = buffer.binding()?;
    let (bo, mapping) = (binding.bo.clone(), binding.bo.map()?);
    Ok(Range { bo, mapping, offset: binding.offset + start, size })
}

fn words(state: &Snapshot, compiled: &Compiled) -> StateWords {
    let stencil = compiled.depth_stencil.and_then(|depth| depth.stencil).map(|faces| {
        let mut faces = faces;
        for (face, dynamic) in faces.iter_mut().zip(&state.dynamic.stencil) {
            *face = StencilFaceState {
                compare_mask: dynamic.compare_mask as u8,
                write_mask: dynamic.write_mask as u8,
                reference: dynamic.reference as u8,
                ..*face
            };
        }
        StencilWords::new(compiled.stencil_plan(), &faces)
    });
    StateWords {
        viewport: packets::viewport(&state.dynamic.viewport),
        blend_constants: state.dynamic.blend_constants,
        stencil: stencil.unwrap_or_default(),
        sample_mask: state.pipeline.info.multisample.map_or(1, |state| state.mask),
    }
}
