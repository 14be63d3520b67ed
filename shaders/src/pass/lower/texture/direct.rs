//! Texels in memory, by direct lookups: images in raster order, multisampled ones and texel buffers (T-FETCH, T-ARRAY d).

use smallvec::SmallVec;
use vc4::cl::words::Wrap;
use vc4::hw::TILE_MS_PX;
use vc4::image::layout::{MSAA_TILE_BYTES, msaa_block_offset};
use vc4::image::tiling::MAX_SURFACE;
use vc4::qpu::MulOp;

use super::face::Face;
use super::image::{Axes, Components, Image};
use super::level::{Level, Place};
use super::{decode, face};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Op, Value};
use crate::state::TextureAccess;

/// Bits of a page's size.
const PAGE_SHIFT: u32 = 12;
/// Faces of a cube.
const FACES: u32 = 6;
/// Bits of a quad's place along an edge of a tile.
const MSAA_QUAD_BITS: u32 = TILE_MS_PX.ilog2() - 1;

/// A texel of an image in raster order.
pub fn texel_in_memory(
    image: &mut Image<'_, '_>,
    place: &Place<'_>,
    level: &Level,
    bytes: u8,
    wrap: [Wrap; 3],
) -> Components {
    let (mut at, inside) = brought_inside(image, place, level, wrap);
    let mut layer = place.layer.map(|layer| whole(image, layer));
    if let (ImageDim::Cube, Some(face)) = (image.dim, place.face) {
        let mut number = face::face_number(image, face);
        if place.outside && !image.key.seams {
            (number, at) = around_the_edge(image, face, &at, level);
        }
        let number = whole(image, number);
        layer = Some(match layer {
            Some(cube) => {
                let faces = image.b.word(FACES);
                let first = image.b.op(Op::Mul(MulOp::Mul24), &[cube, faces]);
                image.b.iadd(first, number)
            }
            None => number,
        });
    }
    let at: Axes = at.iter().map(|&c| whole(image, c)).collect();
    let layer = if image.dim == ImageDim::D3 { Some(at[2]) } else { layer };
    let row = if at.len() > 1 { Some(at[1]) } else { None };
    let address = address(image, at[0], row, layer, level, bytes);
    let words = words_at(image, address, bytes);
    let texel = decode::decoded(image, &words);
    match inside {
        Some(inside) => decode::or_border(image, inside, texel),
        None => texel,
    }
}

/// A place that wrapping has brought into the level, and whether it was inside where a border begins. Beyond the edge
/// of a cube's face is another one, unless cubes have seams.
pub fn brought_inside(
    image: &mut Image<'_, '_>,
    place: &Place<'_>,
    level: &Level,
    wrap: [Wrap; 3],
) -> (Axes, Option<Value>) {
    let mut at: Axes = place.at.iter().copied().collect();
    let mut inside = None;
    if place.outside && (place.face.is_none() || image.key.seams) {
        for axis in 0..at.len() {
            if wrap[axis] == Wrap::Border {
                let is_inside = is_inside(image, at[axis], level.size[axis]);
                inside = Some(match inside {
                    Some(all) => image.b.band(all, is_inside),
                    None => is_inside,
                });
            }
            at[axis] = wrapped(image, at[axis], level, axis, wrap[axis]);
        }
    }
    (at, inside)
}

/// A whole float as an integer.
pub fn whole(image: &mut Image<'_, '_>, v: Value) -> Value {
    image.b.op(Op::FToS, &[v])
}

/// A place beyond the edge of a face as a face's number and a place on it.
fn around_the_edge(image: &mut Image<'_, '_>, face: &Face, at: &Axes, level: &Level) -> (Value, Axes) {
    let half = image.float(0.5);
    let centre: [Value; 2] = [0, 1].map(|axis| {
        let middle = image.b.fadd(at[axis], half);
        image.b.fmul(middle, level.inverse[axis])
    });
    let direction = face::direction_of(image, face, centre, false);
    let other = face::of(image, &direction);
    let place = face::on_face(image, &other, &direction);
    let mut out = Axes::new();
    for (axis, &c) in place.iter().enumerate() {
        let unit = image.b.fmad(c, half, half);
        let texel = image.b.fmul(unit, level.size[axis]);
        let texel = image.b.op(Op::FFloor, &[texel]);
        out.push(clamped(image, texel, level.size[axis]));
    }
    (face::face_number(image, &other), out)
}

/// 0 to size - 1.
fn clamped(image: &mut Image<'_, '_>, at: Value, size: Value) -> Value {
    let (zero, one) = (image.float(0.0), image.float(1.0));
    let last = image.b.fsub(size, one);
    image.clamp(at, zero, last)
}

fn is_inside(image: &mut Image<'_, '_>, at: Value, size: Value) -> Value {
    let zero = image.float(0.0);
    let low = image.b.op(Op::FLe, &[zero, at]);
    let high = image.b.op(Op::FLt, &[at, size]);
    image.b.band(low, high)
}

/// A whole coordinate brought into the image.
fn wrapped(image: &mut Image<'_, '_>, at: Value, level: &Level, axis: usize, wrap: Wrap) -> Value {
    let (size, inverse) = (level.size[axis], level.inverse[axis]);
    let at = if image.key.mirror_once[axis] {
        // Texel -1 is texel 0.
        let minus = image.float(-1.0);
        let mirrored = image.b.fsub(minus, at);
        image.b.fmax(at, mirrored)
    } else {
        at
    };
    match wrap {
        Wrap::Clamp | Wrap::Border => clamped(image, at, size),
        Wrap::Repeat => modulo(image, at, size, inverse),
        Wrap::Mirror => {
            let half = image.float(0.5);
            let twice = image.b.fadd(size, size);
            let inverse = image.b.fmul(inverse, half);
            let at = modulo(image, at, twice, inverse);
            let one = image.float(1.0);
            let last = image.b.fsub(twice, one);
            let mirrored = image.b.fsub(last, at);
            image.b.fmin(at, mirrored)
        }
    }
}

/// at - size·⌊at/size⌋ of whole numbers; the quotient may be one off, which the remainder shows.
fn modulo(image: &mut Image<'_, '_>, at: Value, size: Value, inverse: Value) -> Value {
    let quotient = image.b.fmul(at, inverse);
    let quotient = image.b.op(Op::FFloor, &[quotient]);
    let part = image.b.fmul(quotient, size);
    let rest = image.b.fsub(at, part);
    let zero = image.float(0.0);
    let low = image.b.op(Op::FLt, &[rest, zero]);
    let more = image.b.fadd(rest, size);
    let rest = image.b.select(low, more, rest);
    let high = image.b.op(Op::FLe, &[size, rest]);
    let less = image.b.fsub(rest, size);
    image.b.select(high, less, rest)
}

/// Byte offset of a texel from the view's first layer: rows of one length, levels below each other
/// ([`TextureValue::LevelRows`]), layers at pages.
fn address(
    image: &mut Image<'_, '_>,
    column: Value,
    row: Option<Value>,
    layer: Option<Value>,
    level: &Level,
    bytes: u8,
) -> Value {
    let base = image.value(TextureValue::BaseLevel);
    let number = match level.number {
        Some(number) => image.b.fadd(number, base),
        None => base,
    };
    let number = whole(image, number);
    let rows = image.value(TextureValue::LevelRows);
    let left = image.b.op(Op::Shr, &[rows, number]);
    let above = image.b.op(Op::ISub, &[rows, left]);
    let mut line = image.b.iadd(above, number);
    if let Some(row) = row {
        line = image.b.iadd(line, row);
    }
    let stride = image.value(TextureValue::Stride);
    let line = image.b.op(Op::Mul(MulOp::Mul24), &[line, stride]);
    let (column, panel) = in_panel(image, column);
    let column = scaled(image, column, bytes);
    let address = image.b.iadd(line, column);
    let address = at_pages(image, address, panel, TextureValue::PanelPages);
    in_layer(image, address, layer)
}

/// A column as one of its panel, and the panel's number where there are several.
fn in_panel(image: &mut Image<'_, '_>, column: Value) -> (Value, Option<Value>) {
    if !image.key.panels {
        return (column, None);
    }
    let (mask, shift) = (image.b.word(MAX_SURFACE - 1), image.b.word(MAX_SURFACE.ilog2()));
    let inner = image.b.op(Op::And, &[column, mask]);
    (inner, Some(image.b.op(Op::Shr, &[column, shift])))
}

/// A byte offset in a layer as one from the view's first layer.
fn in_layer(image: &mut Image<'_, '_>, offset: Value, layer: Option<Value>) -> Value {
    at_pages(image, offset, layer, TextureValue::LayerPages)
}

/// A byte offset so many times `pages` further on.
fn at_pages(image: &mut Image<'_, '_>, offset: Value, number: Option<Value>, pages: TextureValue) -> Value {
    let Some(number) = number else { return offset };
    let pages = image.value(pages);
    let start = image.b.op(Op::Mul(MulOp::Mul24), &[number, pages]);
    let shift = image.b.word(PAGE_SHIFT);
    let start = image.b.shl(start, shift);
    image.b.iadd(offset, start)
}

/// A sample of a pixel ([`vc4::image::layout::MsaaLayout`]); all are integers.
pub fn sample_in_memory(
    image: &mut Image<'_, '_>,
    [x, y]: [Value; 2],
    layer: Option<Value>,
    sample: Value,
) -> Components {
    let (x, panel) = in_panel(image, x);
    // Bit `from` and the `count - 1` above it, moved to bit `to`.
    let mut field = |v: Value, from: u32, count: u32, to: u32| {
        let mask = image.b.word(((1 << count) - 1) << from);
        let bits = image.b.op(Op::And, &[v, mask]);
        let by = image.b.word(to.abs_diff(from));
        image.b.op(if to < from { Op::Shr } else { Op::Shl }, &[bits, by])
    };
    let parts = [
        field(x, 0, 1, msaa_block_offset(1, 0, 0).ilog2()),
        field(y, 0, 1, msaa_block_offset(0, 1, 0).ilog2()),
        field(sample, 0, 2, msaa_block_offset(0, 0, 1).ilog2()),
        field(x, 1, MSAA_QUAD_BITS, msaa_block_offset(2, 0, 0).ilog2()),
        field(y, 1, MSAA_QUAD_BITS, msaa_block_offset(0, 2, 0).ilog2()),
    ];
    let tile_bits = MSAA_TILE_BYTES.ilog2();
    let edge_bits = TILE_MS_PX.ilog2();
    let column = field(x, edge_bits, 32 - tile_bits, tile_bits);
    let row = field(y, edge_bits, 32 - tile_bits, 0);
    let pitch = image.value(TextureValue::Stride);
    let row = image.b.op(Op::Mul(MulOp::Mul24), &[row, pitch]);
    let offset = parts.into_iter().fold(column, |sum, part| image.b.iadd(sum, part));
    let offset = image.b.iadd(offset, row);
    let offset = at_pages(image, offset, panel, TextureValue::PanelPages);
    let address = in_layer(image, offset, layer);
    let words = words_at(image, address, 4);
    decode::decoded(image, &words)
}

fn scaled(image: &mut Image<'_, '_>, index: Value, bytes: u8) -> Value {
    if bytes == 1 {
        return index;
    }
    let shift = image.b.word(bytes.trailing_zeros());
    image.b.shl(index, shift)
}

/// The words of a texel: whole ones, or the bits of a small texel at the bottom of one.
fn words_at(image: &mut Image<'_, '_>, address: Value, bytes: u8) -> SmallVec<[Value; 4]> {
    let buffer = image.texture.image;
    if bytes < 4 {
        let at = image.b.op(Op::ClampDirect { buffer, last: 0 }, &[address]);
        let word = image.b.op(Op::TmuDirect { buffer, offset: 0 }, &[at]);
        // Shifts count modulo 32, so whole words of the address drop out.
        let three = image.b.word(3);
        let bits = image.b.shl(address, three);
        return SmallVec::from_slice(&[image.b.op(Op::Shr, &[word, bits])]);
    }
    if image.key.planes > 1 {
        let distance = image.value(TextureValue::PlaneBytes);
        let mut at = address;
        return (0..image.key.planes)
            .map(|plane| {
                if plane > 0 {
                    at = image.b.iadd(at, distance);
                }
                let place = image.b.op(Op::ClampDirect { buffer, last: 0 }, &[at]);
                image.b.op(Op::TmuDirect { buffer, offset: 0 }, &[place])
            })
            .collect();
    }
    let bytes = u32::from(bytes);
    let at = image.b.op(Op::ClampDirect { buffer, last: bytes - 4 }, &[address]);
    let word = |offset| image.b.op(Op::TmuDirect { buffer, offset }, &[at]);
    (0..bytes).step_by(4).map(word).collect()
}

/// A texel of a texel buffer.
pub fn texel_of_buffer(image: &mut Image<'_, '_>, index: Value) -> Components {
    let bytes = match image.key.access {
        TextureAccess::Direct { bytes, .. } => bytes,
        _ => 4,
    };
    let address = scaled(image, index, bytes);
    let words = words_at(image, address, bytes);
    decode::decoded(image, &words)
}
