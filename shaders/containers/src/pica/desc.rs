//! Operand descriptors: destination mask, and swizzle and sign of up to three sources.
//!
//! | bits | content |
//! |------|---------|
//! | 3:0 | destination mask, bit 3 = x, 2 = y, 1 = z, 0 = w |
//! | 4, 12:5 | negate source 1, its swizzle |
//! | 13, 21:14 | negate source 2, its swizzle |
//! | 22, 30:23 | negate source 3, its swizzle |
//! | 31 | ignored (aemstro sets it) |
//!
//! A swizzle is four 2-bit selectors, first component in the top two bits; 0 x, 1 y, 2 z, 3 w.

use core::fmt::{self, Display, Formatter};

const COMPONENTS: [char; 4] = ['x', 'y', 'z', 'w'];

/// Which components an instruction writes: bit 3 = x, 2 = y, 1 = z, 0 = w.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(u8);

impl Mask {
    /// All four components.
    pub const XYZW: Mask = Mask(15);

    /// The mask of the low four bits; `None` when others are set.
    pub fn new(bits: u8) -> Option<Mask> {
        (bits < 16).then_some(Mask(bits))
    }

    /// The four bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Reads `xyz`, `w`, or `_` for no component; components stand in order, each at most once.
    pub fn parse(text: &str) -> Option<Mask> {
        let mut bits = 0;
        for letter in text.chars().filter(|&letter| letter != '_') {
            let bit = 8 >> component(letter)?;
            // A lower bit already taken means out of order, the same bit means twice.
            if bits & (2 * bit - 1) != 0 {
                return None;
            }
            bits |= bit;
        }
        (!text.is_empty()).then_some(Mask(bits))
    }
}

impl Display for Mask {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("_");
        }
        (0..4).filter(|n| self.0 & 8 >> n != 0).try_for_each(|n| write!(f, "{}", COMPONENTS[n]))
    }
}

/// Which component of a register stands in each place of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Swizzle(u8);

impl Swizzle {
    /// Every component in its own place.
    pub const IDENTITY: Swizzle = Swizzle(0x1B);

    /// The swizzle with these selector bits; all 256 values are swizzles.
    pub fn new(bits: u8) -> Swizzle {
        Swizzle(bits)
    }

    /// The selector bits.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The component (0 x … 3 w) that stands in `place`, 0 to 3.
    pub fn selector(self, place: usize) -> u8 {
        self.0 >> (6 - 2 * place.min(3)) & 3
    }

    /// Reads one to four component letters; the last one fills the places left.
    pub fn parse(text: &str) -> Option<Swizzle> {
        let mut letters = text.chars();
        let (mut bits, mut last) = (0, component(letters.next()?)?);
        for place in 0..4 {
            if place > 0 {
                last = letters.next().map_or(Some(last), component)?;
            }
            bits = bits << 2 | last;
        }
        letters.next().is_none().then_some(Swizzle(bits))
    }
}

impl Display for Swizzle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        (0..4).try_for_each(|place| write!(f, "{}", COMPONENTS[usize::from(self.selector(place))]))
    }
}

fn component(letter: char) -> Option<u8> {
    Some(match letter {
        'x' | 'r' => 0,
        'y' | 'g' => 1,
        'z' | 'b' => 2,
        'w' | 'a' => 3,
        _ => return None,
    })
}

/// A source operand's share of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The operand is negated.
    pub negate: bool,
    /// The operand's components.
    pub swizzle: Swizzle,
}

impl Default for Source {
    fn default() -> Self {
        Source { negate: false, swizzle: Swizzle::IDENTITY }
    }
}

/// An entry of the descriptor table: the hardware's word and the second word files carry beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// The word the hardware is given.
    pub word: u32,
    /// Second word of the entry: 0 from picasso and nihstro, 0x0F from aemstro; meaning unknown.
    pub second: u32,
}

impl Descriptor {
    /// Bits of the destination mask.
    pub const MASK_BITS: u32 = 15;

    /// Bits of source `n`, 0 to 2.
    pub const fn source_bits(n: usize) -> u32 {
        0x1FF << (4 + 9 * n)
    }

    /// Bits of source `n` that matter when only the components in `places` (bit 3 = x … bit 0 = w) are read: the
    /// sign and their selectors.
    pub(super) fn source_places(n: usize, places: u32) -> u32 {
        let selectors =
            (0..4).filter(|place| places >> place & 1 != 0).fold(0, |bits, place| bits | 3 << (2 * place));
        (1 | selectors << 1) << (4 + 9 * n)
    }

    /// Which components are written.
    pub fn mask(self) -> Mask {
        Mask((self.word & Self::MASK_BITS) as u8)
    }

    /// Sign and swizzle of source `n`, 0 to 2.
    pub fn source(self, n: usize) -> Source {
        let bits = self.word >> (4 + 9 * n.min(2));
        Source { negate: bits & 1 != 0, swizzle: Swizzle((bits >> 1) as u8) }
    }

    /// The descriptor with another mask.
    pub fn with_mask(self, mask: Mask) -> Descriptor {
        Descriptor { word: self.word & !Self::MASK_BITS | u32::from(mask.0), ..self }
    }

    /// The descriptor with another sign and swizzle of source `n`, 0 to 2.
    pub fn with_source(self, n: usize, source: Source) -> Descriptor {
        let n = n.min(2);
        let bits = u32::from(source.negate) | u32::from(source.swizzle.0) << 1;
        Descriptor { word: self.word & !Self::source_bits(n) | bits << (4 + 9 * n), ..self }
    }
}

/// `xyz, xyzw, -wwww, xyzw`: the mask and the three sources.
impl Display for Descriptor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.mask())?;
        (0..3).try_for_each(|n| {
            let source = self.source(n);
            write!(f, ", {}{}", if source.negate { "-" } else { "" }, source.swizzle)
        })
    }
}
