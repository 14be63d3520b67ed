//! Pipeline state as packets, words and QPU patches.
//!
//! The machine has no fixed-function vertex conversion, viewport transform, blending or write mask: each of
//! them is a few operations in front of or behind the program. A *patch* is such a piece, written once against
//! [`Emitter`]; what may change without a new program (viewport, blend constants, stencil words) is a
//! [`StateUniform`], a word of the uniform stream that is filled in per draw from [`StateWords`].

mod approx;
mod bits;
pub mod blend;
mod blend_bytes;
mod blend_floats;
#[cfg(test)]
mod blend_tests;
pub mod depth_stencil;
mod logic;
#[cfg(test)]
mod model;
pub mod multisample;
pub mod raster;
pub mod srgb;
pub mod target;
pub mod texture;
pub mod uniforms;
pub mod vertex_fetch;
pub mod viewport;

use crate::qpu::{AddOp, MulOp, Unpack};

pub use blend::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, LogicOp};
pub use depth_stencil::{DepthStencil, DepthStencilPlan, StencilFaceState};
pub use multisample::Multisample;
pub use raster::{DepthBias, FrontFace, Raster, StateError};
pub use target::{ColorKind, Encoding, Field};
pub use texture::{Sampler, TextureError, TextureView};
pub use uniforms::StateWords;
pub use vertex_fetch::VertexFormat;
pub use viewport::{PixelRect, Position, RasterMap, VertexStage, Viewport};

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
    /// f32: half the viewport's width in 1/16 pixels: Xs = Xc/Wc * this ([`viewport::RasterMap::Viewport`]).
    ScreenXScale,
    /// f32: as X, negative for a viewport of negative height.
    ScreenYScale,
    /// f32: maxDepth - minDepth; Zs = Zc/Wc * this + [`StateUniform::DepthBias`] (T-ZRANGE).
    DepthScale,
    /// f32: minDepth.
    DepthBias,
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

    /// An operation of the add unit. Unary operations read `a`; their `b` repeats `a`.
    fn add(&mut self, op: AddOp, a: Self::Value, b: Self::Value) -> Self::Value;

    /// An operation of the mul unit.
    fn mul(&mut self, op: MulOp, a: Self::Value, b: Self::Value) -> Self::Value;

    /// 1/a: the SFU's estimate refined by one Newton step.
    fn recip(&mut self, a: Self::Value) -> Self::Value;

    /// A part of a word (qpu.md §2.11): with `float`, byte/255 or float16 as a float; otherwise the byte
    /// zero-extended, the half sign-extended.
    fn unpack(&mut self, from: Self::Value, unpack: Unpack, float: bool) -> Self::Value;

    /// Four floats as bytes, `rgba[0]` lowest: clamped to 0..1, times 255, rounded as the mul pack does.
    fn pack_unorm8(&mut self, rgba: [Self::Value; 4]) -> Self::Value;

    /// Two floats as float16, `low` in bits 15:0: to nearest; what lies below the smallest normal float16 becomes 0.
    fn pack_half_floats(&mut self, low: Self::Value, high: Self::Value) -> Self::Value {
        let (low, high) = (approx::half(self, low), approx::half(self, high));
        self.pack_halves(low, high)
    }

    /// log2(|a|), within 2^-12 for normal numbers. The SFU does better than the default.
    fn log2(&mut self, a: Self::Value) -> Self::Value {
        approx::log2(self, a)
    }

    /// 2^a, to 12 bits for a in -126..127. The SFU does better than the default.
    fn exp2(&mut self, a: Self::Value) -> Self::Value {
        approx::exp2(self, a)
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
