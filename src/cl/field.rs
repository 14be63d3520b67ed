//! The field types of packets and records: how a value becomes bits and text, and back.

use std::fmt::Write as _;

/// A value that stands in a bit field.
pub trait FieldType: Copy {
    /// Kind of the field in words, for listings of the table.
    const KIND: &'static str;

    /// Code and name of each value, for enumerations.
    const NAMES: &'static [(u32, &'static str)] = &[];

    /// Widest field that makes sense, in bits.
    const MAX_WIDTH: u32;

    /// Narrowest field that holds every value, so that writing cannot lose bits.
    const MIN_WIDTH: u32 = Self::MAX_WIDTH;

    /// The bits, right-aligned, at most [`FieldType::MIN_WIDTH`] of them.
    fn to_bits(self) -> u32;

    /// The value with these bits; `None` if the bits mean nothing.
    fn from_bits(bits: u32) -> Option<Self>;

    /// Appends the value as text that [`FieldType::from_text`] reads back without loss.
    fn put_text(self, out: &mut String);

    /// Reads the text form.
    fn from_text(text: &str) -> Option<Self>;
}

/// Parses a decimal or `0x` number.
pub(crate) fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

macro_rules! unsigned {
    ($($ty:ident $width:literal),*) => {$(
        impl FieldType for $ty {
            const KIND: &'static str = "uint";
            const MAX_WIDTH: u32 = $width;
            fn to_bits(self) -> u32 { u32::from(self) }
            fn from_bits(bits: u32) -> Option<Self> { $ty::try_from(bits).ok() }
            fn put_text(self, out: &mut String) { let _ = write!(out, "{self}"); }
            fn from_text(text: &str) -> Option<Self> { $ty::try_from(number(text)?).ok() }
        }
    )*};
}

unsigned!(u8 8, u16 16, u32 32);

impl FieldType for i16 {
    const KIND: &'static str = "signed";
    const MAX_WIDTH: u32 = 16;
    fn to_bits(self) -> u32 {
        u32::from(self as u16)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        u16::try_from(bits).ok().map(|bits| bits as i16)
    }
    fn put_text(self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

impl FieldType for bool {
    const KIND: &'static str = "flag";
    const MAX_WIDTH: u32 = 1;
    fn to_bits(self) -> u32 {
        u32::from(self)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        (bits < 2).then_some(bits == 1)
    }
    fn put_text(self, out: &mut String) {
        out.push(if self { '1' } else { '0' });
    }
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "0" => Some(false),
            "1" => Some(true),
            _ => None,
        }
    }
}

impl FieldType for f32 {
    const KIND: &'static str = "f32";
    const MAX_WIDTH: u32 = 32;
    fn to_bits(self) -> u32 {
        f32::to_bits(self)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        Some(f32::from_bits(bits))
    }
    fn put_text(self, out: &mut String) {
        // A NaN's payload would be lost as "NaN".
        let _ =
            if self.is_nan() { write!(out, "0x{:08x}", f32::to_bits(self)) } else { write!(out, "{self:?}") };
    }
    fn from_text(text: &str) -> Option<Self> {
        if text.starts_with("0x") { number(text).map(f32::from_bits) } else { text.parse().ok() }
    }
}

/// An unsigned field of `N` bits that is no whole integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bits<const N: u32>(u32);

impl<const N: u32> Bits<N> {
    /// The value; `None` if it needs more than `N` bits.
    pub const fn new(value: u32) -> Option<Self> {
        if value >> N == 0 { Some(Bits(value)) } else { None }
    }

    /// The low `N` bits of `value`, dropping the others.
    pub const fn low(value: u32) -> Self {
        Bits(value & ((1 << N) - 1))
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const N: u32> FieldType for Bits<N> {
    const KIND: &'static str = "uint";
    const MAX_WIDTH: u32 = N;
    fn to_bits(self) -> u32 {
        self.0
    }
    fn from_bits(bits: u32) -> Option<Self> {
        Bits::new(bits)
    }
    fn put_text(self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
    fn from_text(text: &str) -> Option<Self> {
        Bits::new(number(text)?)
    }
}

/// A number 1 to `1 << N` in a field of `N` bits, where the field's 0 means the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Count<const N: u32>(u32);

impl<const N: u32> Count<N> {
    /// The largest number, `1 << N`.
    pub const MAX: Self = Count(1 << N);

    /// One.
    pub const ONE: Self = Count(1);

    /// The number; `None` outside 1 to `1 << N`.
    pub const fn new(value: u32) -> Option<Self> {
        if value >= 1 && value <= 1 << N { Some(Count(value)) } else { None }
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl<const N: u32> FieldType for Count<N> {
    const KIND: &'static str = "count";
    const MAX_WIDTH: u32 = N;
    fn to_bits(self) -> u32 {
        self.0 & ((1 << N) - 1)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        if bits == 0 { Some(Self::MAX) } else { Count::new(bits) }
    }
    fn put_text(self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
    fn from_text(text: &str) -> Option<Self> {
        Count::new(number(text)?)
    }
}

/// A size in whole 4 KiB pages, fewer than `1 << N` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Pages<const N: u32>(u32);

impl<const N: u32> Pages<N> {
    /// Zero bytes.
    pub const ZERO: Self = Pages(0);

    /// A size in bytes; `None` if it is no multiple of 4096 or too large.
    pub const fn from_bytes(bytes: u32) -> Option<Self> {
        if bytes % 4096 == 0 && (bytes / 4096) >> N == 0 { Some(Pages(bytes / 4096)) } else { None }
    }

    /// The size in bytes.
    pub const fn bytes(self) -> u32 {
        self.0 * 4096
    }
}

impl<const N: u32> FieldType for Pages<N> {
    const KIND: &'static str = "pages";
    const MAX_WIDTH: u32 = N;
    fn to_bits(self) -> u32 {
        self.0
    }
    fn from_bits(bits: u32) -> Option<Self> {
        (bits >> N == 0).then_some(Pages(bits))
    }
    fn put_text(self, out: &mut String) {
        let _ = write!(out, "0x{:x}", self.bytes());
    }
    fn from_text(text: &str) -> Option<Self> {
        Pages::from_bytes(number(text)?)
    }
}

/// A 32-bit bus address, or a byte offset inside a BO where the kernel adds the BO's address. `SHIFT` low bits
/// are not stored: the address is a multiple of `1 << SHIFT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Addr<const SHIFT: u32 = 0>(u32);

impl<const SHIFT: u32> Addr<SHIFT> {
    /// Address zero.
    pub const ZERO: Self = Addr(0);

    /// The address; `None` if it is not aligned.
    pub const fn new(address: u32) -> Option<Self> {
        if address & ((1 << SHIFT) - 1) == 0 { Some(Addr(address)) } else { None }
    }

    /// The byte address.
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl From<u32> for Addr<0> {
    fn from(address: u32) -> Self {
        Addr(address)
    }
}

impl<const SHIFT: u32> FieldType for Addr<SHIFT> {
    const KIND: &'static str = "address";
    const MAX_WIDTH: u32 = 32 - SHIFT;
    fn to_bits(self) -> u32 {
        self.0 >> SHIFT
    }
    fn from_bits(bits: u32) -> Option<Self> {
        bits.checked_shl(SHIFT).filter(|address| address >> SHIFT == bits).map(Addr)
    }
    fn put_text(self, out: &mut String) {
        let _ = write!(out, "0x{:08x}", self.0);
    }
    fn from_text(text: &str) -> Option<Self> {
        Addr::new(number(text)?)
    }
}

/// The top 16 bits of a float: sign, 8 exponent bits, 7 mantissa bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct F187(pub u16);

impl F187 {
    /// Drops the low mantissa bits.
    pub const fn truncate(value: f32) -> Self {
        F187((value.to_bits() >> 16) as u16)
    }

    /// The value as a float.
    pub const fn get(self) -> f32 {
        f32::from_bits((self.0 as u32) << 16)
    }
}

impl FieldType for F187 {
    const KIND: &'static str = "f187";
    const MAX_WIDTH: u32 = 16;
    fn to_bits(self) -> u32 {
        u32::from(self.0)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        u16::try_from(bits).ok().map(F187)
    }
    fn put_text(self, out: &mut String) {
        self.get().put_text(out);
    }
    fn from_text(text: &str) -> Option<Self> {
        f32::from_text(text).map(F187::truncate)
    }
}

/// A signed coordinate in sixteenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct S12_4(pub i16);

impl S12_4 {
    /// The coordinate of a whole pixel; `None` beyond -2048..=2047.
    pub fn from_px(px: i32) -> Option<Self> {
        i16::try_from(px.checked_mul(16)?).ok().map(S12_4)
    }

    /// In pixels.
    pub fn px(self) -> f32 {
        f32::from(self.0) / 16.0
    }
}

impl FieldType for S12_4 {
    const KIND: &'static str = "s12.4";
    const MAX_WIDTH: u32 = 16;
    fn to_bits(self) -> u32 {
        u32::from(self.0 as u16)
    }
    fn from_bits(bits: u32) -> Option<Self> {
        u16::try_from(bits).ok().map(|bits| S12_4(bits as i16))
    }
    fn put_text(self, out: &mut String) {
        self.px().put_text(out);
    }
    fn from_text(text: &str) -> Option<Self> {
        let sixteenths = f32::from_text(text)? * 16.0;
        let whole = sixteenths as i16;
        (f32::from(whole) == sixteenths).then_some(S12_4(whole))
    }
}

/// Declares an enumeration of field values: code, variant, name in text.
macro_rules! vocabulary {
    ($($(#[$meta:meta])* $name:ident $width:literal { $($(#[$row:meta])* $code:literal $variant:ident $text:literal,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[$row])* $variant = $code,)* }

        impl $name {
            /// All values in the order of their codes.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The hardware code.
            pub const fn code(self) -> u32 { self as u32 }

            /// The value with this code; `None` for reserved codes.
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $($code => Some($name::$variant),)* _ => None }
            }

            /// The name in listings.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl $crate::cl::field::FieldType for $name {
            const KIND: &'static str = "enum";
            const NAMES: &'static [(u32, &'static str)] = &[$(($code, $text),)*];
            const MAX_WIDTH: u32 = 8;
            const MIN_WIDTH: u32 = $width;
            fn to_bits(self) -> u32 { self.code() }
            fn from_bits(bits: u32) -> Option<Self> { Self::from_code(bits) }
            fn put_text(self, out: &mut String) { out.push_str(self.name()); }
            fn from_text(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == text)
            }
        }

        // Every code fits the narrowest field that holds the enumeration.
        const _: () = {
            $(assert!(($code as u32) >> $width == 0, "code is wider than the field");)*
        };
    )*};
}
pub(crate) use vocabulary;
