//! Hardware words drawn as the manual draws them: most significant bit first, one letter per
//! field, `0`/`1` for fixed bits, blanks ignored. Masks and shifts are computed from the drawing
//! at compile time; a letter that is missing or stands in two pieces does not compile.

/// A contiguous field of a drawn word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Lowest bit.
    pub shift: u32,
    /// Width in bits.
    pub width: u32,
}

impl Field {
    /// The field's mask, unshifted.
    pub const fn mask(self) -> u64 {
        if self.width == 64 { u64::MAX } else { (1 << self.width) - 1 }
    }

    /// Places `value`; a value that does not fit is a bug in the caller, never silently masked.
    pub const fn put(self, value: u64) -> u64 {
        assert!(value <= self.mask(), "value does not fit its field");
        value << self.shift
    }

    /// Extracts the field from `word`.
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.shift) & self.mask()
    }
}

/// Number of bits that `picture` draws.
pub const fn width(picture: &str) -> u32 {
    let bytes = picture.as_bytes();
    let (mut i, mut bits) = (0, 0);
    while i < bytes.len() {
        if bytes[i] != b' ' {
            bits += 1;
        }
        i += 1;
    }
    bits
}

/// Finds the field drawn with `letter`.
pub const fn field(picture: &str, letter: char) -> Field {
    let bytes = picture.as_bytes();
    let total = width(picture);
    let (mut i, mut position) = (0, 0);
    let (mut first, mut count) = (0, 0);
    while i < bytes.len() {
        if bytes[i] != b' ' {
            if bytes[i] == letter as u8 {
                if count == 0 {
                    first = position;
                }
                assert!(position == first + count, "field stands in two pieces");
                count += 1;
            }
            position += 1;
        }
        i += 1;
    }
    assert!(count > 0, "the picture lacks this field");
    Field { shift: total - first - count, width: count }
}

/// The bits drawn as `0` or `1`: (mask, value).
pub const fn fixed(picture: &str) -> (u64, u64) {
    let bytes = picture.as_bytes();
    let (mut i, mut mask, mut value) = (0, 0u64, 0u64);
    while i < bytes.len() {
        if bytes[i] != b' ' {
            mask = (mask << 1) | (bytes[i] == b'0' || bytes[i] == b'1') as u64;
            value = (value << 1) | (bytes[i] == b'1') as u64;
        }
        i += 1;
    }
    (mask, value)
}
