//! What the fuzzer's language computes with.

/// Elements that run at once.
pub const LANES: usize = 16;

/// A scalar or vector type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    pub base: Base,
    /// Components, 1 to 4.
    pub size: u8,
}

impl Type {
    pub fn scalar(base: Base) -> Type {
        Type { base, size: 1 }
    }
}

/// Components as words; booleans are 0 and 1.
pub type Value = [u32; 4];

/// What the components of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Int,
    Uint,
    Float,
    Bool,
}

/// How large a float can be (as a power of two) and how fine (binary digits behind the point).
pub type Bound = (i32, i32);
