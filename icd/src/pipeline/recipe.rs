//! The uniform streams of a draw, sorted by what their words come from, so that a draw writes the words that changed
//! and no others.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vc4::state::StateUniform;
use vc4_shaders::ir::Op;
use vc4_shaders::ir::eval::eval;
use vc4_shaders::program::{Descriptor, DrawWord, Pipeline, SampleBo, Step, Texture, UniformSlot};

use crate::foundation::limits::MAX_PUSH_BYTES;

/// Bytes between two words of a uniform buffer that are still read in one go.
const GAP: u32 = 64;
/// Words of a [`Block`], the most that are read in one go.
pub const BLOCK_WORDS: usize = 256;

/// Words on their way into the streams.
pub type Block = [u32; BLOCK_WORDS];
const _: () = assert!(MAX_PUSH_BYTES as usize <= 4 * BLOCK_WORDS);

/// Where the words of a block go. Places that follow each other are a span, so that each word costs a load and a
/// store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scatter {
    /// First place and length.
    spans: Vec<(u32, u32)>,
    /// Numbers of the words in the block, span by span.
    numbers: Vec<u8>,
    /// The largest of them and one.
    block_words: usize,
}

impl Scatter {
    /// Adds a place behind all others.
    fn add(&mut self, at: u32, number: u8) {
        self.numbers.push(number);
        self.block_words = self.block_words.max(usize::from(number) + 1);
        match self.spans.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => self.spans.push((at, 1)),
        }
    }

    /// Words that the block must have.
    #[inline]
    pub fn block_words(&self) -> usize {
        self.block_words
    }

    /// Puts the words of a block to their places. It is called for blocks, not for words: a call costs less than two loops inlined.
    #[inline(never)]
    pub fn put(&self, words: &mut [u32], block: &Block) {
        let mut numbers = &self.numbers[..];
        for (start, length) in &self.spans {
            let (own, rest) = numbers.split_at(*length as usize);
            numbers = rest;
            let places = &mut words[*start as usize..][..*length as usize];
            for (word, number) in places.iter_mut().zip(own) {
                *word = block[usize::from(*number)];
            }
        }
    }
}

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

/// What programs read of vertices that the CPU shaded (T-VARY), piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relayed {
    /// The BO's place.
    Bo,
    /// A byte from which lookups are counted.
    Base(u32),
    /// The last byte where lookups up to so many bytes further on may begin.
    Limit(u32),
}

/// The streams of a pipeline's three programs: fragment, vertex, coordinate, each a block of BO places of lookups and
/// then of words (kernel-abi.md §5.3).
#[derive(Default)]
pub struct Recipe {
    /// All words; those that no other field names have their values. Behind the streams stand words that only [`Recipe::steps`]
    /// take or make.
    pub constants: Vec<u32>,
    /// Words of the streams.
    pub stream_words: usize,
    /// What the CPU computes, in order.
    steps: Vec<Computation>,
    /// Words of the streams that are results of steps: place, and place of the result.
    results: Vec<Word<u32>>,
    /// BO places of lookups.
    pub samples: Vec<Word<SampleBo>>,
    /// Push constants.
    pub push: Scatter,
    /// Words of pipeline state.
    pub state: Vec<Word<StateUniform>>,
    /// Words of uniform buffers.
    pub buffers: Vec<BufferWords>,
    /// All uniform buffers that the streams name.
    pub ranges: Vec<Descriptor>,
    /// Words of descriptors: place, the bit of the set, what it is.
    pub descriptors: Vec<(u32, u32, UniformSlot)>,
    /// Words that the draw says of itself.
    pub draws: Vec<Word<DrawWord>>,
    /// Words that differ from piece to piece of one draw.
    pub pieces: Vec<Word<UniformSlot>>,
    /// Words of lookups in the outputs of vertices, which every piece has of its own.
    pub relayed: Vec<Word<Relayed>>,
    /// There are words of these two kinds.
    pub has_pieces: bool,
    /// A draw has to say what it is: a stage asks, or the CPU runs one that may.
    pub is_told: bool,
}

/// What words are made of: of push constants or not, and the bits of the sets whose buffers and textures they are taken from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Push constants.
    pub push: bool,
    /// The bits of sets.
    pub sets: u32,
}

impl Inputs {
    fn of(slot: &UniformSlot) -> Inputs {
        match slot {
            UniformSlot::Push(_) => Inputs { push: true, sets: 0 },
            UniformSlot::Ubo { buffer, .. } | UniformSlot::BufferElements { buffer, .. } => {
                Inputs { push: false, sets: set_bit(buffer) }
            }
            slot => Inputs { push: false, sets: slot.texture().map_or(0, |texture| set_bits(&texture)) },
        }
    }

    fn join(self, other: Inputs) -> Inputs {
        Inputs { push: self.push || other.push, sets: self.sets | other.sets }
    }

    fn meets(self, other: Inputs) -> bool {
        self.push && other.push || self.sets & other.sets != 0
    }
}

/// A step of what the CPU computes.
#[derive(Clone, Debug)]
struct Computation {
    op: Op,
    /// Places of the operands.
    args: SmallVec<[u32; 3]>,
    /// Place of the result.
    to: u32,
    /// What it depends on.
    inputs: Inputs,
}

/// Words of a uniform buffer that lie close together.
pub struct BufferWords {
    /// The buffer: its place in [`Recipe::ranges`].
    pub range: usize,
    /// The bit of its set.
    pub set: u32,
    /// The first byte of the first word.
    pub start: u32,
    /// Words from the first to the last.
    pub count: usize,
    /// Where they go.
    pub words: Scatter,
}

impl Recipe {
    /// The recipe of a pipeline's programs.
    pub fn new(programs: &Pipeline) -> Recipe {
        let mut recipe = Recipe::default();
        let mut buffers = Vec::new();
        for program in [&programs.fragment, &programs.vertex, &programs.coordinate] {
            for sample in &program.samples {
                let at = recipe.constants.len() as u32;
                match sample {
                    SampleBo::Ubo(buffer) if buffer.is_hidden() => recipe.relayed.push((at, Relayed::Bo)),
                    SampleBo::Ubo(buffer) => {
                        recipe.ranges.push(*buffer);
                        recipe.samples.push((at, *sample));
                    }
                    SampleBo::Texture(_) => recipe.samples.push((at, *sample)),
                }
                recipe.constants.push(0);
            }
            for slot in &program.uniforms {
                let constant = recipe.sort(slot, &mut buffers);
                recipe.constants.push(constant);
            }
        }
        recipe.stream_words = recipe.constants.len();
        recipe.add_steps(programs, &mut buffers);
        recipe.has_pieces = !recipe.pieces.is_empty() || !recipe.relayed.is_empty();
        recipe.is_told = !recipe.draws.is_empty() || !recipe.relayed.is_empty();
        recipe.ranges.extend(buffers.iter().map(|(buffer, ..)| *buffer));
        recipe.ranges.sort_unstable();
        recipe.ranges.dedup();
        buffers.sort_unstable();
        for run in buffers.chunk_by(|a, b| a.0 == b.0 && b.1 <= a.1.saturating_add(4 + GAP)) {
            recipe.add_run(run);
        }
        recipe
    }

    /// Files what the CPU computes; what programs have in common is computed once.
    fn add_steps(&mut self, programs: &Pipeline, buffers: &mut Vec<(Descriptor, u32, u32)>) {
        let mut known: FxHashMap<Step, (u32, Inputs)> = FxHashMap::default();
        let mut first = 0;
        for program in [&programs.fragment, &programs.vertex, &programs.coordinate] {
            let mut places: Vec<(u32, Inputs)> = Vec::with_capacity(program.computed.len());
            for step in &program.computed {
                let mut step = step.clone();
                let mut inputs = Inputs::default();
                if let Step::Op { args, .. } = &mut step {
                    for arg in args {
                        let (place, more) = places[*arg as usize];
                        (*arg, inputs) = (place, inputs.join(more));
                    }
                }
                let found = known.entry(step).or_insert_with_key(|step| {
                    let to = self.constants.len() as u32;
                    let constant = match step {
                        Step::Word(slot) => {
                            inputs = Inputs::of(slot);
                            self.sort(slot, buffers)
                        }
                        Step::Op { op, args } => {
                            self.steps.push(Computation { op: *op, args: args.clone(), to, inputs });
                            0
                        }
                    };
                    self.constants.push(constant);
                    (to, inputs)
                });
                places.push(*found);
            }
            first += program.samples.len();
            for (number, slot) in program.uniforms.iter().enumerate() {
                if let UniformSlot::Computed(step) = slot {
                    self.results.push(((first + number) as u32, places[*step as usize].0));
                }
            }
            first += program.uniforms.len();
        }
    }

    /// Whether there are steps.
    #[inline]
    pub fn computes(&self) -> bool {
        !self.steps.is_empty()
    }

    /// Computes what depends on words that changed, or all.
    #[inline(never)]
    pub fn compute(&self, words: &mut [u32], changed: Inputs, all: bool) {
        let mut changes = all;
        for step in self.steps.iter().filter(|step| all || step.inputs.meets(changed)) {
            let mut args = [0; 3];
            for (to, place) in args.iter_mut().zip(&step.args) {
                *to = words[*place as usize];
            }
            // Steps have operations whose value depends on their operands only.
            words[step.to as usize] = eval(step.op, &args[..step.args.len().min(3)]).unwrap_or(0);
            changes = true;
        }
        if changes {
            self.results.iter().for_each(|&(at, from)| words[at as usize] = words[from as usize]);
        }
    }

    /// Files the next word under what it comes from; its value, if that is known.
    fn sort(&mut self, slot: &UniformSlot, buffers: &mut Vec<(Descriptor, u32, u32)>) -> u32 {
        let at = self.constants.len() as u32;
        match *slot {
            UniformSlot::Const(word) => return word,
            // The kernel writes the one, steps make the other.
            UniformSlot::StreamAddress | UniformSlot::Computed(_) => {}
            UniformSlot::State(state) => self.state.push((at, state)),
            UniformSlot::Push(offset) => self.push.add(at, (offset / 4).min(BLOCK_WORDS as u32 - 1) as u8),
            UniformSlot::Ubo { buffer, offset } => buffers.push((buffer, offset, at)),
            UniformSlot::Draw(word) => self.draws.push((at, word)),
            UniformSlot::VertexIndexBias
            | UniformSlot::InstanceIndex
            | UniformSlot::InstanceAttribute { .. } => self.pieces.push((at, *slot)),
            UniformSlot::UboBase { buffer, offset } if buffer.is_hidden() => {
                self.relayed.push((at, Relayed::Base(offset)));
            }
            UniformSlot::UboLimit { buffer, last } if buffer.is_hidden() => {
                self.relayed.push((at, Relayed::Limit(last)));
            }
            UniformSlot::UboBase { buffer: place, .. }
            | UniformSlot::UboLimit { buffer: place, .. }
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

    /// Appends words of one buffer that lie close together, by offset.
    fn add_run(&mut self, words: &[(Descriptor, u32, u32)]) {
        let mut rest = words;
        while let Some((buffer, start, _)) = rest.first().copied() {
            let number = |offset: u32| (offset - start) / 4;
            let (block, behind) = rest
                .split_at(rest.partition_point(|(_, offset, _)| (number(*offset) as usize) < BLOCK_WORDS));
            rest = behind;
            let mut places: Vec<_> =
                block.iter().map(|(_, offset, at)| (*at, number(*offset) as u8)).collect();
            places.sort_unstable();
            let mut words = Scatter::default();
            places.into_iter().for_each(|(at, number)| words.add(at, number));
            let last = block.last().map_or(start, |(_, offset, _)| *offset);
            self.buffers.push(BufferWords {
                range: self.ranges.partition_point(|known| *known < buffer),
                set: set_bit(&buffer),
                start,
                count: number(last) as usize + 1,
                words,
            });
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
            (&recipe.push, &recipe.pieces[..]),
            (&scatter(&[(5, 2)]), &[(6, UniformSlot::InstanceIndex)][..])
        );
        let runs: Vec<_> =
            recipe.buffers.iter().map(|run| (run.start, run.count, run.words.clone())).collect();
        assert_eq!(runs, [(0, 18, scatter(&[(2, 17), (4, 0)])), (4096, 1, scatter(&[(3, 0)]))]);
    }

    fn scatter(places: &[(u32, u8)]) -> Scatter {
        let mut scatter = Scatter::default();
        places.iter().for_each(|(at, number)| scatter.add(*at, *number));
        scatter
    }

    #[test]
    fn a_scatter_puts_each_word_to_its_place() {
        let scatter = scatter(&[(1, 3), (2, 0), (5, 255)]);
        assert_eq!(scatter.spans, [(1, 2), (5, 1)]);
        let block = std::array::from_fn(|number| 10 * number as u32);
        let mut words = [7; 7];
        scatter.put(&mut words, &block);
        assert_eq!(words, [7, 30, 0, 7, 7, 2550, 7]);
    }

    /// What two programs compute alike is computed once, and again when something that it is made of changes.
    #[test]
    fn steps_are_shared_and_run_when_their_words_change() {
        let buffer = Descriptor { set: 1, binding: 0, element: 0 };
        let op = |op, args: &[u32]| Step::Op { op, args: SmallVec::from_slice(args) };
        let push = Step::Word(UniformSlot::Push(4));
        let word = Step::Word(UniformSlot::Ubo { buffer, offset: 8 });
        let constant = Step::Word(UniformSlot::Const(3));
        let programs = Pipeline {
            vertex: Program {
                uniforms: vec![UniformSlot::Const(9), UniformSlot::Computed(3)],
                computed: vec![push.clone(), word, op(Op::IMul, &[0, 1]), op(Op::IAdd, &[2, 0])],
                ..Default::default()
            },
            coordinate: Program {
                uniforms: vec![UniformSlot::Computed(2), UniformSlot::Computed(2)],
                computed: vec![constant, push, op(Op::IMul, &[1, 0])],
                ..Default::default()
            },
            ..Default::default()
        };
        let recipe = Recipe::new(&programs);
        assert_eq!((recipe.stream_words, recipe.steps.len()), (4, 3));
        let mut words = recipe.constants.clone();
        let (to, _) = recipe.push.spans[0];
        assert_eq!(recipe.push.spans, [(to, 1)], "the push constant has one place");
        let from = recipe.buffers[0].words.spans[0].0;
        (words[to as usize], words[from as usize]) = (5, 7);
        let none = Inputs::default();
        recipe.compute(&mut words, none, true);
        assert_eq!(words[..4], [9, 5 * 7 + 5, 15, 15]);
        words[from as usize] = 100;
        recipe.compute(&mut words, Inputs { push: false, sets: 1 }, false);
        assert_eq!(words[..4], [9, 40, 15, 15], "another set");
        recipe.compute(&mut words, Inputs { push: false, sets: 2 }, false);
        assert_eq!(words[..4], [9, 505, 15, 15]);
        words[to as usize] = 1;
        recipe.compute(&mut words, Inputs { push: true, sets: 0 }, false);
        assert_eq!(words[..4], [9, 101, 3, 3]);
    }
}
