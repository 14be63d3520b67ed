//! What machine code and its host share.

use std::mem::offset_of;

use vc4_jit::truncating::{Host, Service};

use crate::lanes::Lanes;
use crate::qpu::ports::{Tlb, Varyings};
use crate::qpu::state::{Qpu, Register};
use crate::tmu::Tmu;

/// The argument of all of a program's functions. They are called by [`vc4_jit::truncating::call`] and return the number of a
/// [`super::Exit`].
#[repr(C)]
pub struct Context {
    /// Whose registers, flags and stream pointer the code uses.
    pub qpu: *mut Qpu,
    /// What the code's arithmetic needs.
    pub constants: *const Constant,
    /// The first word of the bus memory.
    pub memory: *const u8,
    pub memory_bytes: u64,
    /// Instructions that may still run.
    pub budget: i64,
    /// Where a function with several entries is entered: [`super::work::Entry::number`].
    pub entry: u32,
    pub varyings: Varyings,
    /// The tile buffer, where code may use it.
    pub tlb: *mut Tlb,
    /// Pixel coordinates of all elements, x and y, where the program asks for them.
    pub pixels: *const [Lanes; 2],
    /// Requests that the code sent by itself.
    pub lookups: u64,
    /// The argument of `perform`.
    pub host: *mut Host,
    /// Does what the code leaves to the interpreter's functions: a piece of [`super::Work`], from an element on. 0, or 1 if
    /// the program cannot go on.
    pub perform: Service,
}

/// Four words, one vector.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Constant(pub [u32; 4]);

/// Places in [`Context`].
pub mod context {
    use super::*;

    pub const QPU: usize = offset_of!(Context, qpu);
    pub const CONSTANTS: usize = offset_of!(Context, constants);
    pub const MEMORY: usize = offset_of!(Context, memory);
    pub const MEMORY_BYTES: usize = offset_of!(Context, memory_bytes);
    pub const BUDGET: usize = offset_of!(Context, budget);
    pub const ENTRY: usize = offset_of!(Context, entry);
    pub const TLB: usize = offset_of!(Context, tlb);
    pub const PIXELS: usize = offset_of!(Context, pixels);
    pub const LOOKUPS: usize = offset_of!(Context, lookups);
    pub const HOST: usize = offset_of!(Context, host);
    pub const PERFORM: usize = offset_of!(Context, perform);
    pub const PARTIAL: usize = offset_of!(Context, varyings) + offset_of!(Varyings, partial);
    pub const COEFFICIENTS: usize = offset_of!(Context, varyings) + offset_of!(Varyings, coefficients);
    pub const COUNT: usize = offset_of!(Context, varyings) + offset_of!(Varyings, count);
    pub const NEXT: usize = offset_of!(Context, varyings) + offset_of!(Varyings, next);
}

/// Z, N and C of the QPU.
pub const FLAGS: [usize; 3] = [offset_of!(Qpu, z), offset_of!(Qpu, n), offset_of!(Qpu, c)];
/// Its stream pointer.
pub const UNIFORMS: usize = offset_of!(Qpu, uniforms);

/// A unit's state.
pub fn tmu(unit: u8) -> i64 {
    (offset_of!(Qpu, tmus) + usize::from(unit) * size_of::<Tmu>()) as i64
}

/// Vectors of four elements in a register.
pub const VECTORS: usize = 4;
pub const VECTOR_BYTES: usize = size_of::<Constant>();

/// A vector of a register.
pub fn register(s: u8, vector: usize) -> i32 {
    (offset_of!(Qpu, regs) + usize::from(s) * size_of::<Register>() + vector * VECTOR_BYTES) as i32
}
