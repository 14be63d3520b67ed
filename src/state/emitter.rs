//! Where patches write their operations, and what they take from the uniform stream.

use crate::qpu::{AddOp, MulOp, Unpack};

/// A word of pipeline state that a patch reads from the uniform stream; its value is known per draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateUniform {
    /// f32: Xc' = Xc * this + Wc * [`StateUniform::ViewportXBias`] (T-VIEWPORT).
    ViewportXScale,
    /// f32: see [`StateUniform::ViewportXScale`].
    ViewportXBias,
    /// f32: as X, negative for a viewport of negative height.
    ViewportYScale,
    /// f32: see [`StateUniform::ViewportYScale`].
    ViewportYBias,
    /// f32: half the raster in 1/16 pixels, the number of packet 105: Xs = Xc'/Wc * this, as for Y.
    RasterScale,
    /// f32: half the viewport's width in 1/16 pixels: Xs = Xc/Wc * this ([`super::viewport::RasterMap::Viewport`]).
    ScreenXScale,
    /// f32: as X, negative for a viewport of negative height.
    ScreenYScale,
    /// f32: column (0) or row (1) of the part of a target that is drawn ([`super::viewport::RasterMap::Part`]).
    Corner(u8),
    /// f32: maxDepth - minDepth; Zs = Zc/Wc * this + [`StateUniform::DepthBias`] (T-ZRANGE).
    DepthScale,
    /// f32: minDepth.
    DepthBias,
    /// f32: the constant part of the depth bias, in terms of a depth of 0 to 1 ([`super::raster::DepthBias`]).
    BiasConstant,
    /// f32: what the depth bias takes the slope times.
    BiasSlope,
    /// f32: the smallest depth bias.
    BiasLow,
    /// f32: the largest depth bias.
    BiasHigh,
    /// f32: blend constant, component 0 (red) to 3 (alpha), within 0..1.
    BlendConstant(u8),
    /// f32: blend constant as the application gave it.
    BlendConstantUnclamped(u8),
    /// Four bytes, lowest first: the blend constants of these components within 0..1, times 255.
    BlendConstantBytes([u8; 4]),
    /// Stencil set-up word of front faces, or of both (v3d.md §10.3).
    StencilFront,
    /// Stencil set-up word of back faces.
    StencilBack,
    /// Stencil set-up word with both full write masks, or twice that of front faces.
    StencilMasks,
    /// Stencil set-up word with the full write mask of back faces for both.
    StencilBackMasks,
    /// Samples that the pipeline's sample mask keeps, bits 3:0.
    SampleMask,
    /// The pixel of each quad that is drawn, 0 to 3, by programs that draw one at a time.
    QuadPixel,
}

/// What a selection tests about a word, seen as an integer (the Z and N flags of a move, qpu.md §2.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// All 32 bits are zero. A float -0.0 is not zero in this sense.
    Zero,
    /// Some bit is set.
    NotZero,
    /// Bit 31 is set: a negative integer or float, -0.0 included.
    Negative,
    /// Bit 31 is clear.
    NotNegative,
}

/// Where a patch writes its operations: an IR builder with virtual registers, or a splicer into finished code.
///
/// Every value is one 32-bit word per SIMD element. Operations appear in the order of the calls; the
/// implementation may fold and reorder those without side effects. Side effects (`write_*`, `tlb_color`) keep
/// their order; hazards, scoreboard signals and register choice are the implementation's business.
pub trait Emitter {
    /// A word per element.
    type Value: Copy;

    /// The same constant word in every element.
    fn word(&mut self, bits: u32) -> Self::Value;

    /// The same constant float in every element.
    fn float(&mut self, v: f32) -> Self::Value {
        self.word(v.to_bits())
    }

    /// A word supplied per draw.
    fn uniform(&mut self, slot: StateUniform) -> Self::Value;

    /// Whether the minimum of a float and 1 costs nothing: it is known to be no more, or is computed once for a whole draw.
    fn is_limited(&self, value: Self::Value) -> bool {
        let _ = value;
        false
    }

    /// An operation of the add unit. Unary operations read `a`; their `b` repeats `a`.
    fn add(&mut self, op: AddOp, a: Self::Value, b: Self::Value) -> Self::Value;

    /// An operation of the mul unit.
    fn mul(&mut self, op: MulOp, a: Self::Value, b: Self::Value) -> Self::Value;

    /// 1/a: the SFU's estimate refined as [`refined`] does.
    fn recip(&mut self, a: Self::Value) -> Self::Value;

    /// A part of a word (qpu.md §2.11): with `float`, byte/255 or float16 as a float; otherwise the byte
    /// zero-extended, the half sign-extended.
    fn unpack(&mut self, from: Self::Value, unpack: Unpack, float: bool) -> Self::Value;

    /// Four floats as bytes, `rgba[0]` lowest: clamped to 0..1, times 255, rounded as the mul pack does.
    fn pack_unorm8(&mut self, rgba: [Self::Value; 4]) -> Self::Value;

    /// Two floats as float16, `low` in bits 15:0: away from zero; what lies below the smallest normal float16 becomes 0.
    fn pack_half_floats(&mut self, low: Self::Value, high: Self::Value) -> Self::Value {
        let (low, high) = (half(self, low), half(self, high));
        self.pack_halves(low, high)
    }

    /// log2(|a|), within 2^-12 for normal numbers. The SFU does better than the default.
    fn log2(&mut self, a: Self::Value) -> Self::Value {
        log2(self, a)
    }

    /// 2^a, to 12 bits for a in -126..127. The SFU does better than the default.
    fn exp2(&mut self, a: Self::Value) -> Self::Value {
        exp2(self, a)
    }

    /// The word `high[15:0] << 16 | low[15:0]`.
    fn pack_halves(&mut self, low: Self::Value, high: Self::Value) -> Self::Value;

    /// Per element `yes` where `flag` holds for `on`, else `no`.
    fn select(&mut self, flag: Flag, on: Self::Value, yes: Self::Value, no: Self::Value) -> Self::Value;

    /// Reads the destination colour word, byte 0 lowest; on multisampled targets that of the next sample.
    fn tlb_color(&mut self) -> Self::Value;

    /// Writes the colour of all samples.
    fn write_tlb_color(&mut self, v: Self::Value);

    /// Starts the depth and stencil test with a 24-bit unsigned Z.
    fn write_tlb_z(&mut self, z: Self::Value);

    /// Writes a stencil set-up word; before the Z write.
    fn write_tlb_stencil(&mut self, word: Self::Value);

    /// Appends one word per vertex to the shaded vertex in the VPM.
    fn write_vpm(&mut self, v: Self::Value);

    /// The interpolated Z of the pixel, a 24-bit unsigned integer (rb15).
    fn payload_z(&mut self) -> Self::Value;

    /// a + b as floats.
    fn fadd(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::Fadd, a, b)
    }

    /// a - b as floats.
    fn fsub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::Fsub, a, b)
    }

    /// a * b as floats.
    fn fmul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.mul(MulOp::Fmul, a, b)
    }

    /// The smaller float.
    fn fmin(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::Fmin, a, b)
    }

    /// The larger float.
    fn fmax(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::Fmax, a, b)
    }

    /// Float to signed integer, toward zero.
    fn ftoi(&mut self, a: Self::Value) -> Self::Value {
        self.add(AddOp::Ftoi, a, a)
    }

    /// Signed integer to float.
    fn itof(&mut self, a: Self::Value) -> Self::Value {
        self.add(AddOp::Itof, a, a)
    }

    /// Bitwise and.
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::And, a, b)
    }

    /// Bitwise or.
    fn or(&mut self, a: Self::Value, b: Self::Value) -> Self::Value {
        self.add(AddOp::Or, a, b)
    }

    /// Shift left by a constant.
    fn shl(&mut self, a: Self::Value, by: u32) -> Self::Value {
        let by = self.word(by);
        self.add(AddOp::Shl, a, by)
    }

    /// Logical shift right by a constant.
    fn shr(&mut self, a: Self::Value, by: u32) -> Self::Value {
        let by = self.word(by);
        self.add(AddOp::Shr, a, by)
    }

    /// Arithmetic shift right by a constant.
    fn asr(&mut self, a: Self::Value, by: u32) -> Self::Value {
        let by = self.word(by);
        self.add(AddOp::Asr, a, by)
    }
}

/// An emitter that reaches the samples of a multisampled target one by one.
pub trait SampleEmitter: Emitter {
    /// Writes the colour of the next sample, 0 to 3 in order (multisampled targets only).
    fn write_tlb_color_sample(&mut self, v: Self::Value);

    /// The sample mask of the pixel, bits 3:0 (MS_FLAGS).
    fn coverage(&mut self) -> Self::Value;

    /// 1 in elements of back faces, else 0 (REV_FLAG).
    fn reverse(&mut self) -> Self::Value;

    /// Replaces the sample mask; before the Z write.
    fn write_coverage(&mut self, mask: Self::Value);
}

// Functions for emitters without a better way: polynomials and the layout of floats.

const MANTISSA: u32 = 23;
const ONE: u32 = 0x3f80_0000;
/// log2(1 + x) on 0..1, highest power first and nothing below x: within 1.1e-4.
const LOG2: [f32; 4] = [-0.084_767_56, 0.325_593_6, -0.679_942_85, 1.439_014_5];
/// 2^x on 0..1, highest power first: within 7.5e-5 of the result.
const EXP2: [f32; 4] = [0.078_024_14, 0.226_067_7, 0.695_833_4, 0.999_925_2];

/// The polynomial with these coefficients, highest power first.
fn polynomial<E: Emitter + ?Sized>(e: &mut E, coefficients: &[f32], x: E::Value) -> E::Value {
    let mut sum = e.float(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        let (product, coefficient) = (e.fmul(sum, x), e.float(coefficient));
        sum = e.fadd(product, coefficient);
    }
    sum
}

/// Exponent, and the polynomial of the mantissa.
fn log2<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let (magnitude, low, one) = (e.word(0x7fff_ffff), e.word((1 << MANTISSA) - 1), e.word(ONE));
    let a = e.and(a, magnitude);
    let (exponent, bias) = (e.shr(a, MANTISSA), e.word(127));
    let exponent = e.add(AddOp::Sub, exponent, bias);
    let exponent = e.itof(exponent);
    let mantissa = e.and(a, low);
    let mantissa = e.or(mantissa, one);
    let fraction = e.fsub(mantissa, one);
    let log = polynomial(e, &LOG2, fraction);
    let log = e.fmul(log, fraction);
    e.fadd(exponent, log)
}

/// The polynomial of the fraction, with the whole part added to its exponent.
fn exp2<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let bias = e.float(127.0);
    let positive = e.fadd(a, bias);
    let whole = e.ftoi(positive);
    let floor = e.itof(whole);
    let fraction = e.fsub(positive, floor);
    let power = polynomial(e, &EXP2, fraction);
    let (exponent, bias) = (e.shl(whole, MANTISSA), e.word(ONE));
    let exponent = e.add(AddOp::Sub, exponent, bias);
    e.add(AddOp::Add, power, exponent)
}

/// The estimate r of 1/a and one step of Newton's, r·(2 - a·r): 1 for 1 (`recip-one`), else up to 3 ULP off, mostly too small, as products
/// are truncated. That is 1/500 of a sixteenth of a pixel where coordinates are largest.
pub fn refined<E: Emitter + ?Sized>(
    e: &mut E,
    a: E::Value,
    estimate: impl FnOnce(&mut E, E::Value) -> E::Value,
) -> E::Value {
    let r = estimate(e, a);
    let two = e.float(2.0);
    let product = e.fmul(a, r);
    let correction = e.fsub(two, product);
    e.fmul(r, correction)
}

/// A float16 in bits 15:0, rounded away from zero as [`crate::qpu::pack::f32_to_f16`] does.
fn half<E: Emitter + ?Sized>(e: &mut E, a: E::Value) -> E::Value {
    let (sign, magnitude) = (e.word(0x8000), e.word(0x7fff_ffff));
    let top = e.shr(a, 16);
    let sign = e.and(top, sign);
    let magnitude = e.and(a, magnitude);
    let almost_one = e.word(0x1fff);
    // An infinity must not overflow into the sign.
    let most = e.word(0x7f80_0000);
    let magnitude = e.add(AddOp::Min, magnitude, most);
    let rounded = e.add(AddOp::Add, magnitude, almost_one);
    let rebase = e.word(112 << MANTISSA);
    let rebased = e.add(AddOp::Sub, rounded, rebase);
    let (normal, infinity) = (e.shr(rebased, 13), e.word(0x7c00));
    let normal = e.add(AddOp::Min, normal, infinity);
    let signed = e.or(normal, sign);
    let smallest = e.word(113 << MANTISSA);
    let room = e.add(AddOp::Sub, rounded, smallest);
    let zero = e.word(0);
    e.select(Flag::Negative, room, zero, signed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::state::StateWords;
    use crate::state::model::Model;

    #[test]
    fn the_reciprocal_of_1_is_1() {
        let mut model = Model::new(StateWords::default());
        for one in [1f32, -1.0] {
            assert_eq!(f32::from_bits(model.recip(one.to_bits())), one);
        }
    }

    proptest! {
        #[test]
        fn reciprocals_hold_their_bound(mantissa in 0..1u32 << MANTISSA, exponent in 3..251u32) {
            let a = exponent << MANTISSA | mantissa;
            let exact = 1.0 / f64::from(f32::from_bits(a));
            let unit = f64::from(f32::from_bits((exact as f32).to_bits() + 1)) - f64::from(exact as f32);
            let found = f64::from(f32::from_bits(Model::new(StateWords::default()).recip(a)));
            prop_assert!((found - exact).abs() <= 3.0 * unit, "{found} {exact}");
        }
    }

    #[test]
    fn approximations_hold_their_bounds() {
        let mut model = Model::new(StateWords::default());
        for step in 1..4000u32 {
            let x = step as f32 / 2048.0;
            let log = f64::from(f32::from_bits(log2(&mut model, x.to_bits())));
            assert!((log - f64::from(x).log2()).abs() < 1.5e-4, "log2({x}) = {log}");
            let y = x * 32.0 - 31.0;
            let power = f64::from(f32::from_bits(exp2(&mut model, y.to_bits())));
            assert!((power / f64::from(y).exp2() - 1.0).abs() < 1.5e-4, "exp2({y}) = {power}");
        }
        for word in (0..=u32::MAX).step_by(65_521) {
            let expected = crate::qpu::pack::f32_to_f16(word);
            if f32::from_bits(word).is_finite() {
                assert_eq!(half(&mut model, word), expected, "{word:#x}");
            }
        }
    }
}
