//! The unit that code works on.

use vc4_shaders::ir::SUBGROUP;

/// Invocations that run as one: elements of a SIMD batch, and Vulkan's subgroup.
pub const WIDTH: usize = SUBGROUP as usize;

/// A word of every element of a batch.
pub type Words = [u32; WIDTH];
