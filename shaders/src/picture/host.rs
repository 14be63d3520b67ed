//! What the host finds out when it dispatches: words that are the same for all invocations.

use crate::binding::Descriptor;

/// A word that the host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostWord {
    /// Of the push constants, by byte.
    Push(u32),
    /// Of a uniform buffer.
    Ubo {
        /// The buffer.
        buffer: Descriptor,
        /// Byte.
        offset: u32,
    },
    /// Workgroups along an axis.
    Groups(u8),
    /// Texels of an image's first level along an axis, or layers.
    Extent {
        /// The image.
        image: Descriptor,
        /// Axis.
        axis: u8,
    },
    /// Elements of a runtime array ([`crate::ir::Op::BufferElements`]).
    Elements {
        /// The buffer.
        buffer: Descriptor,
        /// Where they begin.
        offset: u32,
        /// Bytes of one.
        stride: u32,
    },
}

/// A sum of multiples of such words, modulo 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSum {
    /// What is added to them.
    pub constant: u32,
    /// Words and how often each counts.
    pub words: Vec<(HostWord, u32)>,
}

impl HostSum {
    /// Whether it is this number whatever is bound.
    pub fn is(&self, number: u32) -> bool {
        self.words.is_empty() && self.constant == number
    }

    /// The number; `None` if `word` does not know one of the words.
    pub fn evaluate(&self, mut word: impl FnMut(&HostWord) -> Option<u32>) -> Option<u32> {
        self.words.iter().try_fold(self.constant, |sum, (of, factor)| {
            Some(sum.wrapping_add(word(of)?.wrapping_mul(*factor)))
        })
    }

    /// A fraction of it, if that is whole whatever is bound.
    pub fn divided(&self, by: u32) -> Option<HostSum> {
        let fits = |factor: &u32| factor.checked_rem(by) == Some(0);
        let whole = fits(&self.constant) && self.words.iter().all(|(_, factor)| fits(factor));
        whole.then(|| HostSum {
            constant: self.constant / by,
            words: self.words.iter().map(|(word, factor)| (*word, factor / by)).collect(),
        })
    }
}
