//! What a picture is drawn to.

use super::host::HostSum;
use crate::binding::Descriptor;
use crate::ir::Texel;

/// What is drawn to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The texel at the invocation's place of an image: as many axes as it has, layers counted.
    Image(Texel),
    /// A word of a buffer.
    Buffer {
        /// The buffer.
        buffer: Descriptor,
        /// Byte of the first invocation's word.
        start: HostSum,
        /// How words follow each other.
        order: Order,
    },
}

/// How the words of invocations lie in a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// In one line along the first axis: the picture's rows may be of any length.
    Line,
    /// In rows of so many words.
    Rows(HostSum),
}
