//! The unit that code works on.

/// Invocations that run as one: elements of a SIMD batch, and Vulkan's subgroup.
pub const WIDTH: usize = 4;

/// A word of every element of a batch.
pub type Words = [u32; WIDTH];
