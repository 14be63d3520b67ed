//! Fragment programs of blits, and of moves from image to image.

use smallvec::SmallVec;
use vc4::image::TexelInfo;
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Builder, ImageDim, Lod, Op, Sample, Shader, Value};

use super::packed;
use super::programs::{IMAGE, fetch_of, fragment_of, pixel};

/// The slice behind, where two are mixed.
pub(super) const BEHIND: Descriptor = Descriptor { set: 1, binding: 0, element: 0 };

/// Push constants of what reads an image, along each of two axes: the factor of a pixel's number, …
pub(super) const SCALE_AT: [u32; 2] = [0, 4];
/// … what is added then, which is the place of pixel 0 …
pub(super) const FIRST_AT: [u32; 2] = [8, 12];
/// … the last texel …
pub(super) const LAST_AT: [u32; 2] = [16, 20];
/// … and of two slices that are mixed, the weight of the one behind.
pub(super) const WEIGHT_AT: u32 = 24;
/// Words of all of them.
pub(super) const SCALED_WORDS: usize = 7;

/// What a pixel gets of an image whose texels it passes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scaled {
    /// The texel that its place is in.
    Nearest,
    /// The mean of the texels around its place, as exact as floats are.
    Mean,
    /// As the texture unit filters, where places are fractions of the image.
    Unit,
}

/// What becomes of what an image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// What the target's format makes of it.
    Color,
    /// The same of integers, which end at the limits of the format's.
    Limited(TexelInfo),
    /// The bits of a texel of a format that no target has.
    Bits(TexelInfo),
}

/// How a rectangle is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scaling {
    /// What a pixel gets of an image.
    pub what: Scaled,
    /// Whether there are two images, which are mixed.
    pub mixes: bool,
    /// What becomes of it.
    pub becomes: Becomes,
}

impl Scaling {
    /// Tells the programs for a target's format apart.
    pub fn number(self) -> u32 {
        let becomes = match self.becomes {
            Becomes::Color => 0,
            Becomes::Limited(_) => 1,
            Becomes::Bits(TexelInfo { shared_exponent: true, .. }) => 2,
            // Where the first field of each such format begins and how wide it is tells which it is.
            Becomes::Bits(TexelInfo { fields: [red, ..], .. }) => {
                red.map_or(3, |field| 4 + (u32::from(field.bit) << 8 | u32::from(field.width)))
            }
        };
        self.what as u32 | u32::from(self.mixes) << 2 | becomes << 3
    }
}

/// Fills pixels with what an image, or a mixture of two, has for them.
pub(super) fn scaled(Scaling { what, mixes, becomes }: Scaling) -> Shader {
    fragment_of(|b| {
        let pixel = pixel(b);
        let mut place = |axis: usize| {
            let pixel = b.stof(pixel[axis]);
            let [scale, first] = [SCALE_AT[axis], FIRST_AT[axis]].map(|at| b.op(Op::LoadPush(at), &[]));
            b.fmad(pixel, scale, first)
        };
        let places = [0, 1].map(&mut place);
        let mut color = seen(b, what, IMAGE, places);
        if mixes {
            let (behind, weight) = (seen(b, what, BEHIND, places), b.op(Op::LoadPush(WEIGHT_AT), &[]));
            color = mix(b, &color, &behind, weight);
        }
        match becomes {
            Becomes::Color => color,
            Becomes::Limited(info) => packed::limited(b, &info, &color),
            Becomes::Bits(info) => SmallVec::from_slice(&[packed::bits(b, &info, &color)]),
        }
    })
}

/// What an image has at a place.
fn seen(b: &mut Builder, what: Scaled, image: Descriptor, places: [Value; 2]) -> SmallVec<[Value; 4]> {
    match what {
        Scaled::Unit => {
            let (level, [x, y]) = (b.word(0), places);
            let sample = Op::Sample(Sample::plain(image, ImageDim::D2, Lod::Explicit));
            b.emit(sample, &[x, y, level]).into_iter().collect()
        }
        Scaled::Nearest => {
            let [x, y] = [0, 1].map(|axis| inside(b, places[axis], axis));
            fetch_of(b, image, x, y)
        }
        Scaled::Mean => {
            let [x, y] = [0, 1].map(|axis| around(b, places[axis], axis));
            let rows = y.texels.map(|y| {
                let [left, right] = x.texels.map(|x| fetch_of(b, image, x, y));
                mix(b, &left, &right, x.weight)
            });
            mix(b, &rows[0], &rows[1], y.weight)
        }
    }
}

/// The texel that a place is in, or the edge's.
fn inside(b: &mut Builder, place: Value, axis: usize) -> Value {
    let (zero, last) = (b.float(0.0), b.op(Op::LoadPush(LAST_AT[axis]), &[]));
    let place = b.op(Op::FMax, &[place, zero]);
    let place = b.op(Op::FMin, &[place, last]);
    b.op(Op::FToS, &[place])
}

/// Two neighbours and the weight of the second.
struct Around {
    texels: [Value; 2],
    weight: Value,
}

fn around(b: &mut Builder, place: Value, axis: usize) -> Around {
    let (half, one) = (b.float(0.5), b.float(1.0));
    let place = b.op(Op::FSub, &[place, half]);
    let low = b.op(Op::FFloor, &[place]);
    let high = b.fadd(low, one);
    let weight = b.op(Op::FSub, &[place, low]);
    Around { texels: [inside(b, low, axis), inside(b, high, axis)], weight }
}

fn mix(b: &mut Builder, from: &[Value], to: &[Value], weight: Value) -> SmallVec<[Value; 4]> {
    let mut one = |(from, to): (&Value, &Value)| {
        let way = b.op(Op::FSub, &[*to, *from]);
        b.fmad(way, weight, *from)
    };
    from.iter().zip(to).map(&mut one).collect()
}
