//! What the operations on memory name: which memory, and what an atomic operation does to a word.

use crate::binding::Descriptor;

/// Memory that a compute shader addresses by byte, in words. What lies beyond its end reads as 0 and takes no stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// The bound range of a storage buffer.
    Buffer(Descriptor),
    /// What the invocations of a workgroup share.
    Shared,
    /// An invocation's own: arrays that are too large, or indexed too often, to be values.
    Scratch,
}

/// What an atomic operation makes of the word in memory, m.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Atomic {
    /// m + a.
    Add,
    /// Signed minimum of m and a.
    SMin,
    /// Unsigned minimum.
    UMin,
    /// Signed maximum.
    SMax,
    /// Unsigned maximum.
    UMax,
    /// m & a.
    And,
    /// m | a.
    Or,
    /// m ^ a.
    Xor,
    /// a.
    Exchange,
    /// a where m equals b, else m.
    CompareExchange,
}

impl Atomic {
    /// Number of operands behind the place.
    pub const fn operands(self) -> usize {
        if matches!(self, Atomic::CompareExchange) { 2 } else { 1 }
    }
}

/// What a compute shader has beside its code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Workgroup {
    /// Invocations along each axis; none is 0.
    pub size: [u32; 3],
    /// Bytes of [`Memory::Shared`].
    pub shared_bytes: u32,
    /// Bytes of [`Memory::Scratch`] of each invocation.
    pub scratch_bytes: u32,
}

impl Workgroup {
    /// Invocations; `None` if there are 2^32 or more.
    pub fn invocations(&self) -> Option<u32> {
        let [x, y, z] = self.size;
        x.checked_mul(y)?.checked_mul(z)
    }
}
