//! The uniform streams of a draw, sorted by what their words come from, so that a draw writes the words that changed
//! and no others.

use vc4::state::StateUniform;
use vc4_shaders::program::{Descriptor, Pipeline, SampleBo, Texture, UniformSlot};

/// Bytes between two words of a uniform buffer that are still read in one go.
const GAP: u32 = 64;

/// The bit of a descriptor's set in a mask of sets.
pub fn set_bit(descriptor: &Descriptor) -> u32 {
    1u32.checked_shl(descriptor.set).unwrap_or(0)
}

/// The bits of the sets of an image and its sampler.
pub fn set_bits(texture: &Texture) -> u32 {
    set_bit(&texture.image) | texture.sampler.as_ref().map_or(0, set_bit)
}

/// A word of the streams: its place, and what it is.
pub type Word<T> = (u32, T);

/// The streams of a pipeline's three programs: fragment, vertex, coordinate, each a block of BO places of lookups and
/// then of words (kernel-abi.md §5.3).
#[derive(Default)]
pub struct Recipe {
    /// All words; those that no other field names have their values.
    pub constants: Vec<u32>,
    /// BO places of lookups.
    pub samples: Vec<Word<SampleBo>>,
    /// Push constants: byte offsets.
    pub push: Vec<Word<u32>>,
    /// Words of pipeline state.
    pub state: Vec<Word<StateUniform>>,
    /// Words of uniform buffers.
    pub buffers: Vec<BufferWords>,
    /// All uniform buffers that the streams name.
    pub ranges: Vec<Descriptor>,
    /// Words of descriptors: place, the bit of the set, what it is.
    pub descriptors: Vec<(u32, u32, UniformSlot)>,
    /// Words that differ from piece to piece of one draw.
    pub pieces: Vec<Word<UniformSlot>>,
}

/// Words of a uniform buffer that lie close together.
pub struct BufferWords {
    /// The buffer.
    pub buffer: Descriptor,
    /// The first byte of the first word.
    pub start: u32,
    /// Bytes up to the end of the last word.
    pub bytes: u32,
    /// Places and byte offsets from `start`.
    pub words: Vec<Word<u32>>,
}

impl Recipe {
    /// The recipe of a pipeline's programs.
    pub fn new(programs: &Pipeline) -> Recipe {
        let mut recipe = Recipe::default();
        let mut buffers = Vec::new();
        for program in [&programs.fragment, &programs.vertex, &programs.coordinate] {
            for sample in &program.samples {
                recipe.samples.push((recipe.constants.len() as u32, *sample));
                if let SampleBo::Ubo(buffer) = sample {
                    recipe.ranges.push(*buffer);
                }
                recipe.constants.push(0);
            }
            for slot in &program.uniforms {
                let constant = recipe.sort(slot, &mut buffers);
                recipe.constants.push(constant);
            }
        }
        buffers.sort_unstable();
        for (buffer, offset, at) in buffers {
            recipe.add_buffer_word(buffer, offset, at);
            recipe.ranges.push(buffer);
        }
        recipe.ranges.sort_unstable();
        recipe.ranges.dedup();
        recipe
    }

    /// Files the next word under what it comes from; its value, if that is known.
    fn sort(&mut self, slot: &UniformSlot, buffers: &mut Vec<(Descriptor, u32, u32)>) -> u32 {
        let at = self.constants.len() as u32;
        match *slot {
            UniformSlot::Const(word) => return word,
            // The kernel writes it.
            UniformSlot::StreamAddress => {}
            UniformSlot::State(state) => self.state.push((at, state)),
            UniformSlot::Push(offset) => self.push.push((at, offset)),
            UniformSlot::Ubo { buffer, offset } => buffers.push((buffer, offset, at)),
            UniformSlot::VertexIndexBias
            | UniformSlot::InstanceIndex
            | UniformSlot::InstanceAttribute { .. } => self.pieces.push((at, *slot)),
            UniformSlot::UboBase(place)
            | UniformSlot::UboLimit(place)
            | UniformSlot::BufferElements { buffer: place, .. } => {
                self.ranges.push(place);
                self.descriptors.push((at, set_bit(&place), *slot));
            }
            UniformSlot::TextureP0(_)
            | UniformSlot::TextureP1(_)
            | UniformSlot::TextureP2 { .. }
            | UniformSlot::Texture { .. } => {
                let sets = slot.texture().map_or(0, |texture| set_bits(&texture));
                self.descriptors.push((at, sets, *slot));
            }
        }
        0
    }

    /// Appends a word; words come by buffer and offset.
    fn add_buffer_word(&mut self, buffer: Descriptor, offset: u32, at: u32) {
        let near = |run: &&mut BufferWords| {
            run.buffer == buffer && offset <= (run.start + run.bytes).saturating_add(GAP)
        };
        match self.buffers.last_mut().filter(near) {
            Some(run) => {
                run.words.push((at, offset - run.start));
                run.bytes = run.bytes.max(offset - run.start + 4);
            }
            None => {
                let words = vec![(at, 0)];
                self.buffers.push(BufferWords { buffer, start: offset, bytes: 4, words });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4_shaders::program::Program;

    #[test]
    fn words_are_filed_and_near_ones_read_together() {
        let buffer = Descriptor { set: 0, binding: 1, element: 0 };
        let ubo = |offset| UniformSlot::Ubo { buffer, offset };
        let programs = Pipeline {
            fragment: Program {
                uniforms: vec![UniformSlot::Const(7), ubo(68), ubo(4096)],
                samples: vec![SampleBo::Ubo(buffer)],
                ..Default::default()
            },
            vertex: Program {
                uniforms: vec![ubo(0), UniformSlot::Push(8), UniformSlot::InstanceIndex],
                ..Default::default()
            },
            ..Default::default()
        };
        let recipe = Recipe::new(&programs);
        assert_eq!(recipe.constants, [0, 7, 0, 0, 0, 0, 0]);
        assert_eq!(recipe.samples, [(0, SampleBo::Ubo(buffer))]);
        assert_eq!(
            (&recipe.push[..], &recipe.pieces[..]),
            (&[(5, 8)][..], &[(6, UniformSlot::InstanceIndex)][..])
        );
        let runs: Vec<_> =
            recipe.buffers.iter().map(|run| (run.start, run.bytes, run.words.clone())).collect();
        assert_eq!(runs, [(0, 72, vec![(4, 0), (2, 68)]), (4096, 4, vec![(3, 0)])]);
    }
}
