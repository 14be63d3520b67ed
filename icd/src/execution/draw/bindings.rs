//! What a draw's shaders read: programs, textures, buffers, state words. Draws of a list that follow each
//! other keep what did not change between them.

use std::sync::Arc;

use ash::vk;
use rustc_hash::FxHashMap;
use vc4::cl::packets::PrimitiveMode;
use vc4::facts::ProvokingVertex;
use vc4::state::depth_stencil::StencilWords;
use vc4::state::{DepthBias, RasterMap, StateWords, StencilFaceState};
use vc4_shaders::program::{self, DrawWord};

use super::arrays;
use super::indices::{Order, run_length};
use super::iota::ZEROS_AT;
use super::site::Site;
use crate::execution::draw::texture::Texture;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::terms::viewport;
use crate::foundation::traffic::{Cause, ReadAccess};
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::Descriptor;
use crate::objects::image_view::ImageView;
use crate::objects::memory::Binding;
use crate::pipeline::{Compiled, Slice, Variant, VariantKey, set_bit, set_bits};
use crate::segments::{Draw, DrawList, DrawParameters, Snapshot, Target};

/// Bytes of a word.
const WORD: u64 = 4;

bitflags::bitflags! {
    /// What a job has not been told yet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Changes: u8 {
        /// The programs.
        const PROGRAMS = 1;
        /// Dynamic state.
        const STATE = 2;
        /// Vertex buffers.
        const VERTICES = 4;
        /// Descriptors.
        const DESCRIPTORS = 8;
        /// Push constants.
        const PUSH = 16;
        /// Anything: the job is a new one.
        const JOB = 32;
        /// What the draw says of itself.
        const CALL = 64;
    }
}

/// The bytes that a buffer descriptor, a texel view or an image gives to direct lookups.
#[derive(Clone, Copy)]
pub struct Range<'a> {
    /// The memory.
    pub bo: &'a Arc<Bo>,
    /// What it is of; `None` if it never changes.
    pub place: Option<&'a Binding>,
    memory: ReadAccess<'a>,
    /// First byte in the BO.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Range<'_> {
    /// Whole words from byte `start` on.
    pub fn words_from(&self, start: u32) -> usize {
        (self.size.saturating_sub(start.into()) / WORD) as usize
    }

    /// Reads words from byte `start` on; those that leave the range are zero.
    pub fn read(&self, start: u32, words: &mut [u32]) {
        let have = self.words_from(start).min(words.len());
        let start = u64::from(start);
        let (inside, outside) = words.split_at_mut(have);
        if have > 0 {
            self.memory.read((self.offset + start) as usize, bytemuck::cast_slice_mut(inside));
        }
        outside.fill(0);
    }
}

/// A range that was looked up, and where.
struct Found<'a> {
    place: program::Descriptor,
    range: Range<'a>,
    /// A uniform buffer by dynamic offset: the next offset needs no search.
    dynamic: Option<Dynamic<'a>>,
}

/// A buffer by dynamic offset.
struct Dynamic<'a> {
    /// The set, as the list knows it.
    set: u32,
    /// Place of the offset in the set.
    place: u32,
    buffer: &'a Buffer,
    binding: &'a Binding,
    /// First byte without the dynamic offset.
    offset: u64,
    /// Bytes.
    range: u64,
}

/// What lookups found; kept from draw to draw for its memory, and for textures that come again.
#[derive(Default)]
pub struct Lookups<'a> {
    textures: Vec<(program::Texture, u32)>,
    ranges: Vec<Found<'a>>,
    /// The sets that any texture or sampler is in.
    texture_sets: u32,
    known: Vec<Texture>,
    /// Places in `known` by the addresses of view and sampler, 0 for none.
    places: FxHashMap<(usize, usize), u32>,
}

/// Which of the times that a draw is drawn.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Which of the segment's passes.
    pub number: usize,
    /// What of draws is drawn.
    pub slice: Slice,
    /// The view that is drawn.
    pub view: u32,
    /// The corner of the part that is drawn, if parts are.
    pub corner: Option<[u32; 2]>,
}

impl Pass {
    /// A pass over a target or one of its parts.
    pub fn new(target: &Target, number: usize, slice: Slice) -> Pass {
        Pass { number, slice, view: target.view, corner: target.corner }
    }
}

/// What shaders may ask of a draw command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallWords {
    base_vertex: u32,
    base_instance: u32,
    index: u32,
    view: u32,
}

impl CallWords {
    /// The first instance, of draws that say what they are.
    pub fn first_instance(&self) -> u32 {
        self.base_instance
    }

    /// One of them.
    pub fn word(&self, word: DrawWord) -> u32 {
        match word {
            DrawWord::BaseVertex => self.base_vertex,
            DrawWord::BaseInstance => self.base_instance,
            DrawWord::DrawIndex => self.index,
            DrawWord::ViewIndex => self.view,
        }
    }
}

/// What a draw reads.
pub struct Bindings<'a> {
    /// Where jobs are built.
    pub site: Site<'a>,
    /// The place of the draw's state.
    pub place: u32,
    /// State of the draw.
    pub state: Snapshot<'a>,
    /// The pipeline's compiled half.
    pub compiled: &'a Compiled,
    /// How the pipeline assembles vertices.
    pub mode: PrimitiveMode,
    /// Which of the segment's passes draws.
    pass: Pass,
    /// Its programs for the pass, the textures that are bound and the viewport that is set.
    pub variant: Arc<Variant>,
    /// Words of pipeline state.
    pub words: StateWords,
    /// What the draw says of itself.
    pub call: CallWords,
    /// The largest vertex number that every array has data for.
    pub limit: i64,
    /// Whether indices reach no further than that.
    pub trusts_indices: bool,
    /// Most vertices of an array draw that goes to the machine as it is; 0 where all primitives are rewritten.
    pub most_at_once: u32,
    /// What changed since the last record.
    pub changes: Changes,
    /// Which sets did: bit n for set n.
    pub changed_sets: u32,
    /// What lookups found.
    pub lookups: Lookups<'a>,
}

/// What the programs depend on that draw with a state.
pub fn key(state: &Snapshot<'_>, compiled: &Compiled, pass: Pass) -> Result<VariantKey, Error> {
    let mut lookups = Lookups::default();
    lookups.textures(state, compiled, u32::MAX, pass.view)?;
    Ok(lookups.key(pass, &words(state, compiled, pass)))
}

impl<'a> Bindings<'a> {
    /// Looks up what `state` binds.
    pub fn new(
        site: Site<'a>,
        place: u32,
        state: Snapshot<'a>,
        (compiled, pass): (&'a Compiled, Pass),
        mut lookups: Lookups<'a>,
    ) -> Result<Bindings<'a>, Error> {
        lookups.textures.clear();
        lookups.texture_sets = compiled.textures.iter().map(set_bits).fold(0, |sets, bits| sets | bits);
        lookups.textures(&state, compiled, u32::MAX, pass.view)?;
        let words = words(&state, compiled, pass);
        let variant = lookups.variant(compiled, pass, &words)?;
        let mut bindings = Bindings {
            site,
            place,
            state,
            compiled,
            mode: state.pipeline().mode,
            pass,
            variant,
            words,
            call: CallWords { view: pass.view, ..CallWords::default() },
            limit: 0,
            trusts_indices: false,
            most_at_once: 0,
            changes: Changes::all(),
            changed_sets: u32::MAX,
            lookups,
        };
        bindings.lookups.ranges.clear();
        bindings.look_up_ranges(u32::MAX)?;
        bindings.reach()?;
        Ok(bindings)
    }

    /// Whether the last piece was left out because nothing of its draw can be seen: the job has not been told what changed.
    #[inline]
    pub fn is_unseen(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Tells the programs of a draw command; `index` is the draw's number in it.
    pub fn tell(&mut self, call: &DrawParameters, index: u32) {
        let words = CallWords {
            base_vertex: call.vertex_offset.map_or(call.first, |offset| offset as u32),
            base_instance: call.first_instance,
            index,
            view: self.pass.view,
        };
        if std::mem::replace(&mut self.call, words) != words {
            self.changes |= Changes::CALL;
        }
    }

    /// Takes over the state of the next draw of the list, which has the same pipeline.
    #[inline(never)]
    pub fn update(&mut self, list: &'a DrawList, draw: &Draw) -> Result<(), Error> {
        let old = self.state.state;
        (self.place, self.state) = (draw.state, list.state(draw));
        let at = self.state.state;
        if old.push != at.push {
            self.changes |= Changes::PUSH;
        }
        let mut is_other = false;
        if old.dynamic != at.dynamic {
            let map = self.words.raster;
            self.words = words(&self.state, self.compiled, self.pass);
            is_other |= map != self.words.raster;
            self.changes |= Changes::STATE;
        }
        let sets = match at.sets.wrapping_sub(old.sets) {
            0 => 0,
            1 => self.state.changed_sets(),
            _ => u32::MAX,
        };
        if sets & self.lookups.texture_sets != 0 {
            is_other |= self.lookups.textures(&self.state, self.compiled, sets, self.pass.view)?;
        }
        if is_other {
            self.variant = self.lookups.variant(self.compiled, self.pass, &self.words)?;
            self.lookups.ranges.clear();
            self.look_up_ranges(u32::MAX)?;
            self.changes |= Changes::PROGRAMS;
        } else if sets != 0 {
            self.look_up_ranges(sets)?;
        }
        if sets != 0 {
            self.changes |= Changes::DESCRIPTORS;
            self.changed_sets |= sets;
        }
        if old.vertices != at.vertices || self.changes.contains(Changes::PROGRAMS) {
            self.reach()?;
            self.changes |= Changes::VERTICES;
        }
        Ok(())
    }

    /// Finds out how far the arrays reach, and what the machine draws of them as it is.
    fn reach(&mut self) -> Result<(), Error> {
        self.limit = arrays::limit(&self.state, &self.variant.programs)?;
        // Arrays that are joined are copied as far as indices reach, so that has to be known.
        let joined = self.variant.programs.attributes.iter().any(|array| array.joined);
        self.trusts_indices = !joined && self.site.device().features().robust_buffer_access != vk::TRUE;
        let pipeline = self.state.pipeline();
        self.most_at_once = match pipeline.adjacency || pipeline.is_taken_apart() || self.rewrites() {
            true => 0,
            false => run_length(self.mode),
        };
        Ok(())
    }

    /// Whether primitives are rewritten for flat varyings: the hardware takes them from the last vertex, the API from the
    /// first (v3d.md §9.6) unless the pipeline says otherwise. Where the hardware takes the first one, strips and fans of
    /// triangles are, which begin with another.
    pub fn rewrites(&self) -> bool {
        let is_first = |mode| !matches!(mode, PrimitiveMode::TriangleStrip | PrimitiveMode::TriangleFan);
        let agree = match (facts().provoking_vertex, self.last_provokes()) {
            _ if self.variant.programs.has_corners() => false,
            (ProvokingVertex::Last, last) => last,
            (ProvokingVertex::First, last) => !last && is_first(self.mode),
        };
        self.has_provoking() && !agree
    }

    /// Whether it matters to the hardware which vertex of a primitive is the provoking one.
    fn has_provoking(&self) -> bool {
        self.variant.programs.flat_varyings != 0
            && self.mode != PrimitiveMode::Points
            && !self.state.pipeline().is_taken_apart()
    }

    /// The order of primitives in lists. Programs that see all corners take the last for the one that the API means, whatever
    /// the hardware does. Where none sees which it is, primitives are in lists as they are elsewhere: a line has a direction.
    pub fn order(&self) -> Order {
        let is_last = facts().provoking_vertex == ProvokingVertex::Last;
        let programs = &self.variant.programs;
        Order {
            last_provokes: self.last_provokes() && (programs.flat_varyings != 0 || programs.has_corners()),
            rotate: self.has_provoking() && (is_last || programs.has_corners()),
        }
    }

    /// Whether the API takes flat varyings from the last vertex.
    fn last_provokes(&self) -> bool {
        self.state.pipeline().info.raster.last_provokes
    }

    /// An image and its sampler.
    pub fn texture(&self, place: program::Texture) -> Result<&Texture, Error> {
        let found = self.lookups.textures.iter().find(|(key, _)| *key == place);
        let texture = found.and_then(|(_, place)| self.lookups.known.get(*place as usize));
        texture.ok_or_else(|| unexpected(place.image, "an image"))
    }

    /// The BO of an image.
    pub fn texture_bo(&self, image: program::Descriptor) -> Result<&Arc<Bo>, Error> {
        let found = self.lookups.textures.iter().find(|(key, _)| key.image == image);
        let texture = found.and_then(|(_, place)| self.lookups.known.get(*place as usize));
        texture.and_then(Texture::bo).ok_or_else(|| unexpected(image, "an image"))
    }

    /// What direct lookups read.
    pub fn range(&self, buffer: program::Descriptor) -> Result<Range<'a>, Error> {
        let found = self.lookups.ranges.iter().find(|found| found.place == buffer);
        found.map(|found| found.range).ok_or_else(|| unexpected(buffer, "a buffer"))
    }

    /// As [`Bindings::range`], by the place in the recipe.
    pub fn range_at(&self, index: usize) -> Result<&Range<'a>, Error> {
        let missing = || Error::InvalidUse("a draw whose shader reads a buffer that is not bound".into());
        self.lookups.ranges.get(index).map(|found| &found.range).ok_or_else(missing)
    }

    /// Looks the uniform buffers of `sets` up.
    fn look_up_ranges(&mut self, sets: u32) -> Result<(), Error> {
        for (index, buffer) in self.variant.recipe.ranges.iter().enumerate() {
            if sets & set_bit(buffer) == 0 {
                continue;
            }
            match self.lookups.ranges.get_mut(index) {
                Some(found) => {
                    if !found.moves(&self.state) {
                        *found = Found::new(self.site, &self.state, *buffer, self.pass.view)?;
                    }
                }
                None => {
                    self.lookups.ranges.push(Found::new(self.site, &self.state, *buffer, self.pass.view)?)
                }
            }
        }
        Ok(())
    }
}

impl<'a> Lookups<'a> {
    /// Looks the textures of `sets` up; whether any is of another kind than the one before.
    fn textures(
        &mut self,
        state: &Snapshot<'a>,
        compiled: &Compiled,
        sets: u32,
        view: u32,
    ) -> Result<bool, Error> {
        let mut is_other = false;
        for (index, texture) in compiled.textures.iter().enumerate() {
            if sets & set_bits(texture) == 0 {
                continue;
            }
            let place = self.texture(state, *texture, view)?;
            match self.textures.get_mut(index) {
                Some((_, old)) => {
                    let [old, new] = [std::mem::replace(old, place), place].map(|n| &self.known[n as usize]);
                    is_other |= old.key != new.key;
                }
                None => self.textures.push((*texture, place)),
            }
        }
        Ok(is_other)
    }

    /// The programs for a pass, the textures and the viewport.
    fn variant(&self, compiled: &Compiled, pass: Pass, words: &StateWords) -> Result<Arc<Variant>, Error> {
        compiled.variant(self.key(pass, words))
    }

    fn key(&self, pass: Pass, words: &StateWords) -> VariantKey {
        let keys = self.textures.iter().map(|(texture, place)| (*texture, self.known[*place as usize].key));
        let unusual = keys.filter(|(_, key)| *key != Default::default());
        let (textures, raster) = (unusual.collect(), words.raster);
        let Slice { sample, counted } = pass.slice;
        VariantKey { pass: pass.number, sample, counted: counted.is_some(), textures, raster }
    }

    fn texture(&mut self, state: &Snapshot<'a>, texture: program::Texture, view: u32) -> Result<u32, Error> {
        let at = |place: program::Descriptor| state.descriptor(place.set, place.binding, place.element);
        let sampler = match texture.sampler {
            None => None,
            Some(place) => match at(place)?.descriptor {
                Descriptor::Sampler(sampler) | Descriptor::Image { sampler: Some(sampler), .. } => {
                    Some(sampler)
                }
                _ => return Err(unexpected(place, "a sampler")),
            },
        };
        let bound = at(texture.image)?;
        let (image, is_input) = (bound.descriptor, bound.is_input);
        let address = match image {
            Descriptor::Image { view: Some(view), .. } => Arc::as_ptr(view) as usize,
            Descriptor::Texels(view) => Arc::as_ptr(view) as usize,
            _ => return Err(unexpected(texture.image, "an image")),
        };
        // An input attachment has no sampler, whose address would be even, and is another texture than the whole image.
        let key = (address, sampler.map_or(usize::from(is_input), |sampler| Arc::as_ptr(sampler) as usize));
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        let known = match image {
            Descriptor::Texels(view) => Texture::of_buffer(view),
            Descriptor::Image { view: Some(image), .. } if is_input && image.layers > 1 => {
                Texture::new(&image.layer(view)?, None)?
            }
            Descriptor::Image { view: Some(view), .. } => {
                Texture::new(view, sampler.map(|sampler| &**sampler))?
            }
            _ => return Err(unexpected(texture.image, "an image")),
        };
        let place = self.known.len() as u32;
        self.known.push(known);
        self.places.insert(key, place);
        Ok(place)
    }
}

fn unexpected(place: program::Descriptor, what: &str) -> Error {
    let program::Descriptor { set, binding, element } = place;
    let place = format!("set {set}, binding {binding}, element {element}");
    Error::InvalidUse(format!("a draw whose shader takes {place} for {what}, which it is not"))
}

impl<'a> Found<'a> {
    /// Looks up what is bound.
    fn new(
        site: Site<'a>,
        state: &Snapshot<'a>,
        place: program::Descriptor,
        number: u32,
    ) -> Result<Found<'a>, Error> {
        let bound = state.descriptor(place.set, place.binding, place.element)?;
        let (buffer, start, size) = match bound.descriptor {
            Descriptor::Buffer { buffer, offset, range } => {
                let start = offset.saturating_add(bound.offset.into());
                (buffer, start, buffer.clamp(start, *range))
            }
            // Texels smaller than a word share one, which may reach beyond the view; buffers end at whole words.
            Descriptor::Texels(view) => (&view.buffer, view.offset, view.range.next_multiple_of(WORD)),
            Descriptor::Image { view: Some(view), .. } => {
                let layer = if bound.is_input { number } else { 0 };
                return Ok(Found { place, range: image_range(view, layer)?, dynamic: None });
            }
            _ => return Err(unexpected(place, "a buffer")),
        };
        if size < WORD {
            // Direct lookups need a word that they may read (kernel-abi.md §9, TEX-2).
            let bo = site.iota.bo()?;
            let range = Range {
                memory: bo.read_access(Cause::Uniforms)?,
                bo,
                place: None,
                offset: u64::from(ZEROS_AT),
                size: WORD,
            };
            return Ok(Found { place, range, dynamic: None });
        }
        let binding = buffer.binding()?;
        let range = Range {
            bo: &binding.bo,
            place: Some(binding),
            memory: binding.bo.read_access(Cause::Uniforms)?,
            offset: binding.offset + start,
            size,
        };
        let dynamic = match (bound.descriptor, bound.dynamic, state.set_place(place.set)) {
            (Descriptor::Buffer { offset, range, .. }, Some(number), Some(set)) => {
                Some(Dynamic { set, place: number, buffer, binding, offset: *offset, range: *range })
            }
            _ => None,
        };
        Ok(Found { place, range, dynamic })
    }

    /// Moves to the dynamic offset of a state, if nothing else is different there; whether it did.
    #[inline]
    fn moves(&mut self, state: &Snapshot<'a>) -> bool {
        let Some(dynamic) = &self.dynamic else { return false };
        if state.set_place(self.place.set) != Some(dynamic.set) {
            return false;
        }
        let Some(offset) = state.dynamic_offset(self.place.set, dynamic.place) else { return false };
        let start = dynamic.offset.saturating_add(offset.into());
        let size = dynamic.buffer.clamp(start, dynamic.range);
        (self.range.offset, self.range.size) = (dynamic.binding.offset.saturating_add(start), size);
        size >= WORD
    }
}

/// An image from a layer of a view on.
fn image_range(view: &ImageView, layer: u32) -> Result<Range<'_>, Error> {
    let binding = view.image.binding()?;
    let start = u64::from(view.base_layer + layer) * view.image.layer_stride();
    let size = view.image.size().saturating_sub(start) / WORD * WORD;
    Ok(Range {
        bo: &binding.bo,
        place: Some(binding),
        memory: binding.bo.read_access(Cause::Uniforms)?,
        offset: binding.offset + start,
        size,
    })
}

fn words(state: &Snapshot<'_>, compiled: &Compiled, pass: Pass) -> StateWords {
    let stencil = compiled.depth_stencil.and_then(|depth| depth.stencil).map(|faces| {
        let mut faces = faces;
        let dynamic = state.dynamic().stencil;
        let dynamic = compiled.face.map_or(dynamic, |face| [dynamic[face]; 2]);
        for (face, dynamic) in faces.iter_mut().zip(&dynamic) {
            *face = StencilFaceState {
                compare_mask: dynamic.compare_mask as u8,
                write_mask: dynamic.write_mask as u8,
                reference: dynamic.reference as u8,
                ..*face
            };
        }
        StencilWords::new(compiled.stencil_plan(), &faces)
    });
    let whole = viewport(&state.dynamic().viewport);
    let (viewport, raster) = match pass.corner {
        Some(corner) => (whole.seen_from(corner), RasterMap::Part),
        None => (whole, whole.raster_map(facts().guard_band)),
    };
    StateWords {
        viewport,
        raster,
        guard_band: facts().guard_band,
        corner: pass.corner.unwrap_or_default(),
        blend_constants: state.dynamic().blend_constants,
        depth_bias: {
            let [constant, clamp, slope] = state.dynamic().depth_bias;
            DepthBias { constant, slope, clamp }
        },
        stencil: stencil.unwrap_or_default(),
        sample_mask: state.pipeline().info.multisample.map_or(1, |state| state.mask)
            & pass.slice.counted.map_or(u32::MAX, |counted| counted.samples),
        quad_pixel: pass.slice.counted.map_or(0, |counted| counted.pixel.into()),
    }
}
