//! Pipeline state as code: VC4 has no fixed function for blending, vertex unpacking, viewport
//! transform or colour packing, so each is a QPU patch plus the words that its uniforms take
//! (vulkan-on-vc4.md §8). A patch is written once, against [`Emitter`].

use crate::qpu::{AddOp, MulOp, Unpack};

/// A uniform word that pipeline state or dynamic state defines at draw time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateUniform {
    /// kx of Xc' = Xc·kx + Wc·bx: the application's viewport folded into the raster window (T-VIEWPORT), f32.
    ViewportXScale,
    /// bx, f32.
    ViewportXBias,
    /// ky, f32.
    ViewportYScale,
    /// by, f32.
    ViewportYBias,
    /// Half the raster window in sixteenths of a pixel: Xs = Xc'/Wc · this, f32.
    RasterScale,
    /// f - n of the depth range: Zs = Zc/Wc · this + n, f32.
    DepthScale,
    /// n of the depth range, f32.
    DepthBias,
    /// Blend constant component 0–3, f32.
    BlendConstant(u8),
    /// Stencil set-up word of front faces, or of both.
    StencilFront,
    /// Stencil set-up word of back faces.
    StencilBack,
    /// Stencil word with both full write masks.
    StencilMasks,
}

/// What a conditional move looks at, on the integer value of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flag {
    /// The word is zero.
    Zero,
    /// The word is not zero.
    NotZero,
    /// Bit 31 is set.
    Negative,
    /// Bit 31 is clear.
    NotNegative,
}

/// Where a patch writes its operations: the compiler's IR builder (virtual registers) or the
/// splicer of assembly modules (physical registers found by liveness).
pub trait Emitter {
    /// A 32-bit word per element.
    type Value: Copy;

    /// A constant.
    fn word(&mut self, bits: u32) -> Self::Value;
    /// A float constant.
    fn float(&mut self, value: f32) -> Self::Value {
        self.word(value.to_bits())
    }
    /// A word supplied at draw time.
    fn uniform(&mut self, slot: StateUniform) -> Self::Value;
    /// An add-unit operation; unary operations take `a` twice.
    fn add(&mut self, op: AddOp, a: Self::Value, b: Self::Value) -> Self::Value;
    /// A mul-unit operation.
    fn mul(&mut self, op: MulOp, a: Self::Value, b: Self::Value) -> Self::Value;
    /// 1/a by the SFU and one Newton step.
    fn recip(&mut self, a: Self::Value) -> Self::Value;
    /// A byte or half of a word: as a float (v/255, float16) or zero-/sign-extended (qpu.md §2.11).
    fn unpack(&mut self, from: Self::Value, part: Unpack, float: bool) -> Self::Value;
    /// Four floats as bytes, clamped and rounded as the mul pack does; byte 0 is `rgba[0]`.
    fn pack_unorm8(&mut self, rgba: [Self::Value; 4]) -> Self::Value;
    /// Bits 15:0 of `low` and of `high`.
    fn pack_halves(&mut self, low: Self::Value, high: Self::Value) -> Self::Value;
    /// `yes` in elements where `flag` holds for `on`, else `no`.
    fn select(&mut self, flag: Flag, on: Self::Value, yes: Self::Value, no: Self::Value) -> Self::Value;
    /// Destination colour word of the current sample.
    fn tlb_color(&mut self) -> Self::Value;
    /// Writes the colour word; skipped in discarded elements.
    fn write_tlb_color(&mut self, value: Self::Value);
    /// Starts the depth and stencil test; skipped in discarded elements.
    fn write_tlb_z(&mut self, z: Self::Value);
    /// Stencil set-up word.
    fn write_tlb_stencil(&mut self, word: Self::Value);
    /// Next output row of a vertex or coordinate program.
    fn write_vpm(&mut self, value: Self::Value);
    /// The payload's 24-bit Z.
    fn payload_z(&mut self) -> Self::Value;
}
