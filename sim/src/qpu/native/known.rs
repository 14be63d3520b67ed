//! What is known of values before code runs.

pub const SIGN: u32 = 0x8000_0000;
pub const INF: u32 = 0x7f80_0000;
/// Fraction bits of a float.
pub const MANTISSA_BITS: i64 = 23;

/// Which floats code expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floats {
    /// No infinities and NaNs.
    Finite,
    /// Any.
    All,
}

/// What is known of a value in all elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// No element is a float without a normal exponent, other than zero.
    pub normal: bool,
    /// No element is a NaN.
    pub number: bool,
    /// As floats, all elements lie between minus and plus two to this, at most [`FINITE`]. `None`: there may be infinities or NaNs.
    pub below: Option<i32>,
    /// Every element is this word.
    pub word: Option<u32>,
    /// That it is normal and no NaN holds in the interpreter's results, too: nothing had to be looked at.
    pub always: bool,
}

/// [`Known::below`] of all finite floats.
pub const FINITE: i32 = 128;
/// Of what counts as zero if it is not normal: the smallest one that says something.
pub const ZERO: i32 = -126;
/// Of an operand that was looked at. Products of two such are finite, and so are sums of some such products; numbers beyond
/// are about as rare in programs as infinities.
pub const CHECKED: i32 = 60;

impl Known {
    /// What is known of a constant.
    pub fn constant(word: u32) -> Known {
        let exponent = (word & INF) >> 23;
        Known {
            normal: exponent != 0 || word & !SIGN == 0,
            number: word & !SIGN <= INF,
            below: (word & INF != INF).then_some(exponent as i32 + ZERO),
            word: Some(word),
            always: true,
        }
    }

    /// What is known where some elements are of one value and some of another.
    pub fn or(self, other: Known) -> Known {
        Known {
            normal: self.normal && other.normal,
            number: self.number && other.number,
            below: self.below.zip(other.below).map(|(a, b)| a.max(b)),
            word: None,
            always: self.always && other.always,
        }
    }

    /// A float that arithmetic made.
    pub const FLOAT: Known = Known { normal: true, number: true, below: None, word: None, always: true };

    /// Whether it is a float that the host orders as a QPU does.
    pub fn is_ordered(self) -> bool {
        self.normal && (self.number || self.below.is_some())
    }

    /// One that has such a bound.
    pub fn float_below(below: i32) -> Known {
        Known { below: Some(below), ..Known::FLOAT }
    }
}

/// [`Known::below`] of what is an integer of 32 bits when it is cut off.
pub const INTEGER: i32 = 31;

/// Twice the magnitude of the smallest float with a normal exponent, as a word.
pub const SMALLEST: u32 = 1 << 24;

/// A suspect from here on is too large, or an infinity or a NaN.
pub const SUSPICIOUS: u32 = ((CHECKED - ZERO + 1) as u32) << 24;
