//! Texels in memory, by direct lookups: images in raster order, multisampled ones and texel buffers (T-FETCH, T-ARRAY d).

use smallvec::SmallVec;
use vc4::cl::words::Wrap;
use vc4::hw::TILE_MS_PX;
use vc4::image::layout::{MSAA_TILE_BYTES, msaa_block_offset};
use vc4::qpu::MulOp;

use super::face::Face;
use super::image::{Axes, Components, Image};
use super::level::{Level, Place};
use crate::binding::TextureValue;
use crate::ir::{ImageDim, Op, Value};
use crate::state::TextureAccess;

/// Bits of a page's size.
const PAGE_SHIFT: u32 = 12;
/// Faces of a cube.
const FACES: u32 = 6;
/// Bits of a quad's place along an edge of a tile.
const MSAA_QUAD_BITS: u32 = TILE_MS_PX.ilog2() - 1;

impl Image<'_, '_> {
    pub fn texel_in_memory(
        &mut self,
        place: &Place<'_>,
        level: &Level,
        bytes: u8,
        wrap: [Wrap; 3],
    ) -> Components {
        let (mut at, inside) = self.brought_inside(place, level, wrap);
        let mut layer = place.layer.map(|layer| self.whole(layer));
        if let (ImageDim::Cube, Some(face)) = (self.dim, place.face) {
            let mut number = self.face_number(face);
            if place.outside {
                (number, at) = self.around_the_edge(face, &at, level);
            }
            let number = self.whole(number);
            layer = Some(match layer {
                Some(cube) => {
                    let faces = self.b.word(FACES);
                    let first = self.b.op(Op::Mul(MulOp::Mul24), &[cube, faces]);
                    self.b.iadd(first, number)
                }
                None => number,
            });
        }
        let at: Axes = at.iter().map(|&c| self.whole(c)).collect();
        let layer = if self.dim == ImageDim::D3 { Some(at[2]) } else { layer };
        let row = if at.len() > 1 { Some(at[1]) } else { None };
        let address = self.address(at[0], row, layer, level, bytes);
        let words = self.words_at(address, bytes);
        let texel = self.decoded(&words);
        match inside {
            Some(inside) => self.or_border(inside, texel),
            None => texel,
        }
    }

    /// A place that wrapping has brought into the level, and whether it was inside where a border begins. Beyond the edge
    /// of a cube's face is another one.
    pub fn brought_inside(
        &mut self,
        place: &Place<'_>,
        level: &Level,
        wrap: [Wrap; 3],
    ) -> (Axes, Option<Value>) {
        let mut at: Axes = place.at.iter().copied().collect();
        let mut inside = None;
        if place.outside && place.face.is_none() {
            for axis in 0..at.len() {
                if wrap[axis] == Wrap::Border {
                    let is_inside = self.is_inside(at[axis], level.size[axis]);
                    inside = Some(match inside {
                        Some(all) => self.b.band(all, is_inside),
                        None => is_inside,
                    });
                }
                at[axis] = self.wrapped(at[axis], level, axis, wrap[axis]);
            }
        }
        (at, inside)
    }

    /// A whole float as an integer.
    pub fn whole(&mut self, v: Value) -> Value {
        self.b.op(Op::FToS, &[v])
    }

    /// A place beyond the edge of a face as a face's number and a place on it.
    fn around_the_edge(&mut self, face: &Face, at: &Axes, level: &Level) -> (Value, Axes) {
        let half = self.float(0.5);
        let centre: [Value; 2] = [0, 1].map(|axis| {
            let middle = self.b.fadd(at[axis], half);
            self.b.fmul(middle, level.inverse[axis])
        });
        let direction = self.direction_of(face, centre, false);
        let other = self.face(&direction);
        let place = self.on_face(&other, &direction);
        let mut out = Axes::new();
        for (axis, &c) in place.iter().enumerate() {
            let unit = self.b.fmad(c, half, half);
            let texel = self.b.fmul(unit, level.size[axis]);
            let texel = self.b.op(Op::FFloor, &[texel]);
            out.push(self.clamped(texel, level.size[axis]));
        }
        (self.face_number(&other), out)
    }

    /// 0 to size - 1.
    fn clamped(&mut self, at: Value, size: Value) -> Value {
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let last = self.b.fsub(size, one);
        self.clamp(at, zero, last)
    }

    fn is_inside(&mut self, at: Value, size: Value) -> Value {
        let zero = self.float(0.0);
        let low = self.b.op(Op::FLe, &[zero, at]);
        let high = self.b.op(Op::FLt, &[at, size]);
        self.b.band(low, high)
    }

    /// A whole coordinate brought into the image.
    fn wrapped(&mut self, at: Value, level: &Level, axis: usize, wrap: Wrap) -> Value {
        let (size, inverse) = (level.size[axis], level.inverse[axis]);
        let at = if self.key.mirror_once[axis] {
            // Texel -1 is texel 0.
            let minus = self.float(-1.0);
            let mirrored = self.b.fsub(minus, at);
            self.b.fmax(at, mirrored)
        } else {
            at
        };
        match wrap {
            Wrap::Clamp | Wrap::Border => self.clamped(at, size),
            Wrap::Repeat => self.modulo(at, size, inverse),
            Wrap::Mirror => {
                let half = self.float(0.5);
                let twice = self.b.fadd(size, size);
                let inverse = self.b.fmul(inverse, half);
                let at = self.modulo(at, twice, inverse);
                let one = self.float(1.0);
                let last = self.b.fsub(twice, one);
                let mirrored = self.b.fsub(last, at);
                self.b.fmin(at, mirrored)
            }
        }
    }

    /// at - size·⌊at/size⌋ of whole numbers; the quotient may be one off, which the remainder shows.
    fn modulo(&mut self, at: Value, size: Value, inverse: Value) -> Value {
        let quotient = self.b.fmul(at, inverse);
        let quotient = self.b.op(Op::FFloor, &[quotient]);
        let part = self.b.fmul(quotient, size);
        let rest = self.b.fsub(at, part);
        let zero = self.float(0.0);
        let low = self.b.op(Op::FLt, &[rest, zero]);
        let more = self.b.fadd(rest, size);
        let rest = self.b.select(low, more, rest);
        let high = self.b.op(Op::FLe, &[size, rest]);
        let less = self.b.fsub(rest, size);
        self.b.select(high, less, rest)
    }

    /// Byte offset of a texel from the view's first layer: rows of one length, levels below each other
    /// ([`TextureValue::LevelRows`]), layers at pages.
    fn address(
        &mut self,
        column: Value,
        row: Option<Value>,
        layer: Option<Value>,
        level: &Level,
        bytes: u8,
    ) -> Value {
        let base = self.value(TextureValue::BaseLevel);
        let number = match level.number {
            Some(number) => self.b.fadd(number, base),
            None => base,
        };
        let number = self.whole(number);
        let rows = self.value(TextureValue::LevelRows);
        let left = self.b.op(Op::Shr, &[rows, number]);
        let above = self.b.op(Op::ISub, &[rows, left]);
        let mut line = self.b.iadd(above, number);
        if let Some(row) = row {
            line = self.b.iadd(line, row);
        }
        let stride = self.value(TextureValue::Stride);
        let line = self.b.op(Op::Mul(MulOp::Mul24), &[line, stride]);
        let column = self.scaled(column, bytes);
        let address = self.b.iadd(line, column);
        self.in_layer(address, layer)
    }

    /// A byte offset in a layer as one from the view's first layer.
    fn in_layer(&mut self, offset: Value, layer: Option<Value>) -> Value {
        let Some(layer) = layer else { return offset };
        let pages = self.value(TextureValue::LayerPages);
        let start = self.b.op(Op::Mul(MulOp::Mul24), &[layer, pages]);
        let shift = self.b.word(PAGE_SHIFT);
        let start = self.b.shl(start, shift);
        self.b.iadd(offset, start)
    }

    /// A sample of a pixel ([`vc4::image::layout::MsaaLayout`]); all are integers.
    pub fn sample_in_memory(
        &mut self,
        [x, y]: [Value; 2],
        layer: Option<Value>,
        sample: Value,
    ) -> Components {
        // Bit `from` and the `count - 1` above it, moved to bit `to`.
        let mut field = |v: Value, from: u32, count: u32, to: u32| {
            let mask = self.b.word(((1 << count) - 1) << from);
            let bits = self.b.op(Op::And, &[v, mask]);
            let by = self.b.word(to.abs_diff(from));
            self.b.op(if to < from { Op::Shr } else { Op::Shl }, &[bits, by])
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
        let pitch = self.value(TextureValue::Stride);
        let row = self.b.op(Op::Mul(MulOp::Mul24), &[row, pitch]);
        let offset = parts.into_iter().fold(column, |sum, part| self.b.iadd(sum, part));
        let offset = self.b.iadd(offset, row);
        let address = self.in_layer(offset, layer);
        let words = self.words_at(address, 4);
        self.decoded(&words)
    }

    fn scaled(&mut self, index: Value, bytes: u8) -> Value {
        if bytes == 1 {
            return index;
        }
        let shift = self.b.word(bytes.trailing_zeros());
        self.b.shl(index, shift)
    }

    /// The words of a texel: whole ones, or the bits of a small texel at the bottom of one.
    fn words_at(&mut self, address: Value, bytes: u8) -> SmallVec<[Value; 4]> {
        let image = self.texture.image;
        if bytes < 4 {
            let at = self.b.op(Op::ClampDirect { buffer: image, last: 0 }, &[address]);
            let word = self.b.op(Op::TmuDirect { buffer: image, offset: 0 }, &[at]);
            // Shifts count modulo 32, so whole words of the address drop out.
            let three = self.b.word(3);
            let bits = self.b.shl(address, three);
            return SmallVec::from_slice(&[self.b.op(Op::Shr, &[word, bits])]);
        }
        if self.key.planes > 1 {
            let distance = self.value(TextureValue::PlaneBytes);
            let mut at = address;
            return (0..self.key.planes)
                .map(|plane| {
                    if plane > 0 {
                        at = self.b.iadd(at, distance);
                    }
                    let place = self.b.op(Op::ClampDirect { buffer: image, last: 0 }, &[at]);
                    self.b.op(Op::TmuDirect { buffer: image, offset: 0 }, &[place])
                })
                .collect();
        }
        let bytes = u32::from(bytes);
        let at = self.b.op(Op::ClampDirect { buffer: image, last: bytes - 4 }, &[address]);
        let word = |offset| self.b.op(Op::TmuDirect { buffer: image, offset }, &[at]);
        (0..bytes).step_by(4).map(word).collect()
    }

    pub fn texel_of_buffer(&mut self, index: Value) -> Components {
        let bytes = match self.key.access {
            TextureAccess::Direct { bytes, .. } => bytes,
            _ => 4,
        };
        let address = self.scaled(index, bytes);
        let words = self.words_at(address, bytes);
        self.decoded(&words)
    }
}
