//! What the 32 bits of a colour in the tile buffer mean.
//!
//! The tile holds a word per sample and stores it as it is, or as RGB565 (v3d.md §10.1). The machine never looks into
//! the word, so any format of at most 32 bits per texel can be a target: programs pack and unpack it.

use super::bits::extract;
use super::emitter::Emitter;
use super::srgb;
use crate::image::{ColorKind, Field, FormatInfo, TileFormat};
use crate::qpu::{AddOp, Unpack};

/// What the tile's word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// Kind of all components.
    pub kind: ColorKind,
    /// Places of R, G, B and A; `None` if the format has no such component.
    pub fields: [Option<Field>; 4],
    /// The store keeps the five or six high bits of bytes 0 to 2 only (RGB565).
    pub stores_565: bool,
}

const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];

impl Encoding {
    /// Bytes R, G, B, A.
    pub const RGBA8: Encoding = Encoding::equal(ColorKind::Unorm, 4, 8);

    /// `count` components of `width` bits from the lowest bit up.
    const fn equal(kind: ColorKind, count: usize, width: u8) -> Encoding {
        let mut fields = [None; 4];
        let mut n = 0;
        while n < count {
            fields[n] = Some(Field { bit: n as u8 * width, width });
            n += 1;
        }
        Encoding { kind, fields, stores_565: false }
    }

    /// One to four bytes from R at the lowest; `None` for other counts and for floats.
    pub fn bytes(kind: ColorKind, count: usize) -> Option<Encoding> {
        let fits = (1..=4).contains(&count) && kind != ColorKind::Float;
        fits.then(|| Encoding::equal(kind, count, 8))
    }

    /// One or two halves from R at the lowest; `None` for other counts and for sRGB.
    pub fn halves(kind: ColorKind, count: usize) -> Option<Encoding> {
        let fits = (1..=2).contains(&count) && kind != ColorKind::Srgb;
        fits.then(|| Encoding::equal(kind, count, 16))
    }

    /// R alone in 32 bits: floats and integers.
    pub fn word(kind: ColorKind) -> Option<Encoding> {
        let fits = matches!(kind, ColorKind::Float | ColorKind::Uint | ColorKind::Sint);
        fits.then(|| Encoding::equal(kind, 1, 32))
    }

    /// 10, 10, 10 and 2 bits from the lowest: A2B10G10R10, or A2R10G10B10 with `swap_rb`. `None` for floats and sRGB.
    pub fn bits_10_10_10_2(kind: ColorKind, swap_rb: bool) -> Option<Encoding> {
        let fits = !matches!(kind, ColorKind::Float | ColorKind::Srgb);
        let field = |bit, width| Some(Field { bit, width });
        let mut fields = [field(0, 10), field(10, 10), field(20, 10), field(30, 2)];
        if swap_rb {
            fields.swap(0, 2);
        }
        fits.then_some(Encoding { kind, fields, stores_565: false })
    }

    /// The encoding of a target whose bytes the table of formats names; `None` for depth and for formats that are no
    /// targets.
    pub fn of_format(format: &FormatInfo) -> Option<Encoding> {
        let order = format.tile_order()?;
        let mut fields = [None; 4];
        for (byte, component) in order.into_iter().enumerate() {
            if component < 3 || format.has_alpha() {
                fields[component] = Some(Field { bit: 8 * byte as u8, width: 8 });
            }
        }
        let stores_565 = format.tile == Some(TileFormat::Bgr565);
        Some(Encoding { kind: ColorKind::Unorm, fields, stores_565 })
    }

    /// The components in one of the words of a texel of several, places counted from its lowest bit.
    pub fn in_word(self, word: u8) -> Encoding {
        let first = 32 * u16::from(word);
        let place = |field: Field| {
            let bit = u16::from(field.bit).checked_sub(first).filter(|bit| *bit < 32)?;
            Some(Field { bit: bit as u8, ..field })
        };
        Encoding { fields: self.fields.map(|field| field.and_then(place)), ..self }
    }

    /// The same bytes with sRGB curves; `None` unless this is `Unorm` in bytes.
    pub fn srgb(self) -> Option<Encoding> {
        let bytes = self.byte_order().is_some() && !self.stores_565;
        bytes.then_some(Encoding { kind: ColorKind::Srgb, ..self })
    }

    /// Whether the format keeps component 0–3.
    pub fn has(&self, component: usize) -> bool {
        self.fields.get(component).is_some_and(Option::is_some)
    }

    /// Whether the format keeps alpha; without, the destination's alpha counts as 1 in blending.
    pub fn has_alpha(&self) -> bool {
        self.has(3)
    }

    /// Whether colours can be blended: integers cannot by the API's rules, and a single-precision sum of truncated
    /// operations is no single-precision result.
    pub fn blends(&self) -> bool {
        match self.kind {
            ColorKind::Unorm | ColorKind::Srgb | ColorKind::Snorm => true,
            ColorKind::Float => self.fields.iter().flatten().all(|field| field.width == 16),
            ColorKind::Uint | ColorKind::Sint => false,
        }
    }

    /// Whether logic operations act on this target; on others colours pass unmodified, as the API has it.
    pub fn has_logic(&self) -> bool {
        !matches!(self.kind, ColorKind::Srgb | ColorKind::Float)
    }

    /// Bounds of operands of blending; `None` for floats, which have none.
    pub(super) fn bounds(&self) -> Option<[f32; 2]> {
        match self.kind {
            ColorKind::Unorm | ColorKind::Srgb => Some([0.0, 1.0]),
            ColorKind::Snorm => Some([-1.0, 1.0]),
            ColorKind::Float | ColorKind::Uint | ColorKind::Sint => None,
        }
    }

    /// The component that each byte holds, if this is `Unorm` in bytes.
    pub(super) fn byte_order(&self) -> Option<[Option<usize>; 4]> {
        (self.kind == ColorKind::Unorm).then(|| self.bytes_of()).flatten()
    }

    fn bytes_of(&self) -> Option<[Option<usize>; 4]> {
        let mut order = [None; 4];
        for (component, field) in self.fields.iter().enumerate() {
            let Some(field) = field else { continue };
            if field.width != 8 || field.bit % 8 != 0 {
                return None;
            }
            order[usize::from(field.bit / 8)] = Some(component);
        }
        Some(order)
    }

    /// The bits of the given components.
    pub(super) fn mask(&self, components: [bool; 4]) -> u32 {
        let bits = |field: &Field| (u32::MAX >> (32 - u32::from(field.width))) << field.bit;
        self.fields
            .iter()
            .zip(components)
            .filter_map(|(f, wanted)| f.as_ref().filter(|_| wanted))
            .map(bits)
            .sum()
    }
}

/// R, G, B and A of a word, as floats; 0, 0, 0, 1 for what the format has not. Integers have no such form.
pub(super) fn decode<E: Emitter>(e: &mut E, encoding: &Encoding, word: E::Value) -> [E::Value; 4] {
    let (zero, one) = (e.word(0), e.float(1.0));
    let mut color = [zero, zero, zero, one];
    for (component, value) in color.iter_mut().enumerate() {
        let Some(field) = encoding.fields[component] else { continue };
        *value = decode_field(e, encoding.kind, word, field);
        if encoding.kind == ColorKind::Srgb && component < 3 {
            *value = srgb::to_linear(e, *value);
        }
    }
    color
}

fn decode_field<E: Emitter>(e: &mut E, kind: ColorKind, word: E::Value, at: Field) -> E::Value {
    let (bit, width) = (u32::from(at.bit), u32::from(at.width));
    match kind {
        ColorKind::Float if width == 32 => word,
        ColorKind::Float => e.unpack(word, if bit == 0 { Unpack::Half0 } else { Unpack::Half1 }, true),
        ColorKind::Unorm | ColorKind::Srgb if width == 8 && bit % 8 == 0 => {
            e.unpack(word, BYTES[usize::from(at.bit / 8)], true)
        }
        ColorKind::Snorm => {
            let value = extract(e, true, word, bit, width);
            let (value, scale) = (e.itof(value), e.float(1.0 / ((1u32 << (width - 1)) - 1) as f32));
            let (value, low) = (e.fmul(value, scale), e.float(-1.0));
            e.fmax(value, low)
        }
        _ => {
            let value = extract(e, false, word, bit, width);
            let (value, scale) = (e.itof(value), e.float(1.0 / ((1u64 << width) - 1) as f32));
            e.fmul(value, scale)
        }
    }
}

/// The word of a colour given as floats, or as integers for integer formats: clamped and rounded to nearest as its
/// kind wants. Integers that do not fit lose their high bits.
pub(super) fn encode<E: Emitter>(e: &mut E, encoding: &Encoding, mut color: [E::Value; 4]) -> E::Value {
    let zero = e.word(0);
    if encoding.kind == ColorKind::Srgb {
        for (component, value) in color.iter_mut().enumerate().take(3) {
            if encoding.has(component) {
                *value = srgb::from_linear(e, *value);
            }
        }
    }
    if let (ColorKind::Unorm | ColorKind::Srgb, Some(order)) = (encoding.kind, encoding.bytes_of()) {
        return e.pack_unorm8(order.map(|component| component.map_or(zero, |n| color[n])));
    }
    if encoding.kind == ColorKind::Float && encoding.fields.iter().flatten().all(|field| field.width == 16) {
        let at = |bit| encoding.fields.iter().position(|field| field.is_some_and(|field| field.bit == bit));
        let [low, high] = [0, 16].map(|bit| at(bit).map_or(zero, |component| color[component]));
        return e.pack_half_floats(low, high);
    }
    let mut word = None;
    for (field, value) in encoding.fields.iter().zip(color) {
        let Some(field) = field else { continue };
        let value = encode_field(e, encoding.kind, value, *field);
        let value = if field.bit == 0 { value } else { e.shl(value, u32::from(field.bit)) };
        word = Some(word.map_or(value, |word| e.or(word, value)));
    }
    word.unwrap_or(zero)
}

/// The bits of a component, at bit 0.
fn encode_field<E: Emitter>(e: &mut E, kind: ColorKind, value: E::Value, at: Field) -> E::Value {
    let width = u32::from(at.width);
    let one = e.float(1.0);
    match kind {
        ColorKind::Float => value,
        ColorKind::Uint | ColorKind::Sint if width == 32 => value,
        ColorKind::Uint | ColorKind::Sint => {
            let mask = e.word((1 << width) - 1);
            e.and(value, mask)
        }
        ColorKind::Unorm | ColorKind::Srgb => {
            let (zero, half) = (e.word(0), e.float(0.5));
            let value = e.fmax(value, zero);
            let value = e.fmin(value, one);
            let most = e.float(((1u32 << width) - 1) as f32);
            let value = e.fmul(value, most);
            let value = e.fadd(value, half);
            e.ftoi(value)
        }
        ColorKind::Snorm => {
            let (low, sign) = (e.float(-1.0), 1u32 << (width - 1));
            let value = e.fmax(value, low);
            let value = e.fmin(value, one);
            let most = e.float((sign - 1) as f32);
            let value = e.fmul(value, most);
            // Above zero truncation rounds down, and the bias is the sign bit inverted.
            let bias = e.float(sign as f32 + 0.5);
            let value = e.fadd(value, bias);
            let (value, sign) = (e.ftoi(value), e.word(sign));
            e.add(AddOp::Xor, value, sign)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_wide_texels_share_out_the_components() {
        let whole = Encoding::equal(ColorKind::Float, 4, 16);
        let places =
            |word| whole.in_word(word).fields.map(|field| field.map(|field| (field.bit, field.width)));
        assert_eq!(places(0), [Some((0, 16)), Some((16, 16)), None, None]);
        assert_eq!(places(1), [None, None, Some((0, 16)), Some((16, 16))]);
        assert_eq!(places(2), [None; 4]);
        assert_eq!(Encoding::RGBA8.in_word(0), Encoding::RGBA8);
    }
}
