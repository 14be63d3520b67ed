//! What a shader sees of the world.

use smallvec::SmallVec;
use vc4::hw::LANES;
use vc4::qpu::Lanes;

use crate::binding::Descriptor;
use crate::ir::image::{Fetch, Sample, Texel};
use crate::ir::interface::BuiltinInput;
use crate::ir::op::Op;

/// One sample operation of all elements.
#[derive(Clone, Debug)]
pub struct SampleRequest {
    /// What is sampled how.
    pub sample: Sample,
    /// Coordinates as float words, with the layer of an array.
    pub coordinates: SmallVec<[Lanes; 3]>,
    /// The other arguments: bias, level or gradients, offset, reference.
    pub rest: SmallVec<[Lanes; 1]>,
    /// Elements that want a result; the others' coordinates may mean nothing.
    pub active: u16,
}

/// What a shader sees of the world. Every method has a default that yields zeros. Methods that deal in [`Lanes`] are called
/// for one batch after the other.
pub trait Environment {
    /// An input component of every element.
    fn input(&mut self, _location: u32, _component: u8) -> Lanes {
        [0; LANES]
    }

    /// A built-in input of every element; gl_FrontFacing as 0 or 1. Where the invocation of a compute stage stands the
    /// interpreter knows itself.
    fn builtin(&mut self, _builtin: BuiltinInput) -> Lanes {
        [0; LANES]
    }

    /// A word of a uniform buffer at a byte offset, which may lie outside.
    fn ubo(&mut self, _buffer: Descriptor, _offset: u32) -> u32 {
        0
    }

    /// A push-constant word at a byte offset.
    fn push(&mut self, _offset: u32) -> u32 {
        0
    }

    /// A word of a storage buffer at a byte offset, which may lie outside: 0 there.
    fn load(&mut self, _buffer: Descriptor, _offset: u32) -> u32 {
        0
    }

    /// Stores a word of a storage buffer at a byte offset; nothing outside.
    fn store(&mut self, _buffer: Descriptor, _offset: u32, _word: u32) {}

    /// The components of a texel of a storage image or texel buffer.
    fn image_read(&mut self, _texel: Texel, _coordinates: &[u32]) -> [u32; 4] {
        [0; 4]
    }

    /// Stores the components of a texel; nothing outside. The first counts where a texel is one word.
    fn image_write(&mut self, _texel: Texel, _coordinates: &[u32], _words: [u32; 4]) {}

    /// Samples an image: r, g, b, a as float words; the first counts in a comparison.
    fn sample(&mut self, _request: &SampleRequest) -> [Lanes; 4] {
        [[0; LANES]; 4]
    }

    /// Fetches texels by integer coordinates and LOD: r, g, b, a.
    fn fetch(&mut self, _fetch: Fetch, _arguments: &[Lanes], _active: u16) -> [Lanes; 4] {
        [[0; LANES]; 4]
    }

    /// A machine operation that deals with the world outside the ALUs (uniforms, varyings, VPM, TMU, tile
    /// buffer, payload), or a question about an image or a buffer. `None` if the environment does not know it. Operations
    /// without result may return anything.
    fn machine(&mut self, _op: Op, _arguments: &[Lanes], _active: u16) -> Option<Lanes> {
        None
    }
}
