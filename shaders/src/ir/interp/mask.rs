//! Sets of elements, and words of all elements, batch by batch.

use smallvec::{SmallVec, smallvec};
use vc4::hw::LANES;
use vc4::qpu::Lanes;

/// A set of elements of all batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask(pub SmallVec<[u16; 2]>);

impl Mask {
    /// The first `count` elements.
    pub fn first(count: usize) -> Mask {
        let batch = |number: usize| match count - number * LANES {
            rest if rest < LANES => (1 << rest) - 1,
            _ => !0,
        };
        Mask((0..count.div_ceil(LANES)).map(batch).collect())
    }

    /// None of as many elements as `other` has.
    pub fn none_of(other: &Mask) -> Mask {
        Mask(smallvec![0; other.0.len()])
    }

    /// Whether nobody is in it.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&batch| batch == 0)
    }

    /// Those in both.
    pub fn and(&self, other: &Mask) -> Mask {
        Mask(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    /// Those that are not in `other`.
    pub fn without(&self, other: &Mask) -> Mask {
        Mask(self.0.iter().zip(&other.0).map(|(a, b)| a & !b).collect())
    }

    /// Takes in those of `other`.
    pub fn add(&mut self, other: &Mask) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// The batches with somebody in them.
    pub fn batches(&self) -> impl Iterator<Item = (usize, u16)> + use<> {
        self.0.clone().into_iter().enumerate().filter(|&(_, mask)| mask != 0)
    }
}

/// Whether an element of a batch is in its mask.
pub const fn is_set(mask: u16, lane: usize) -> bool {
    mask >> lane & 1 != 0
}

/// The elements of a batch whose word is not 0.
pub fn mask_of(lanes: &Lanes) -> u16 {
    (0..LANES).fold(0, |mask, lane| mask | u16::from(lanes[lane] != 0) << lane)
}

/// The elements of a mask.
pub fn lanes_of(mask: u16) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |&lane| is_set(mask, lane))
}
