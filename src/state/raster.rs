//! Rasteriser state as packets: culling, facing, depth bias, line width and the depth function of
//! CONFIGURATION_BITS (v3d.md §5.6, §9.3, §9.5, §9.7).

use super::StateUniform;
use super::depth_stencil::{DepthStencil, StencilFaceState};
pub use super::error::StateError;
use crate::cl::F187;
use crate::cl::packets::{CompareFunc, ConfigurationBits, DepthOffset, LineWidth, Oversample};
use crate::cl::words::StencilOp;
use crate::hw::DEPTH_MAX;

/// Point sizes in pixels: the lower end by HW-2726, the upper one a driver's choice (v3d.md §9.8).
pub const POINT_SIZE_RANGE: [f32; 2] = [0.125, 256.0];
/// Line widths in pixels, a driver's choice (v3d.md §9.8).
pub const LINE_WIDTH_RANGE: [f32; 2] = [1.0, 32.0];

/// Which order of vertices makes a front face, as seen on a screen whose row 0 is at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrontFace {
    /// Counter-clockwise.
    CounterClockwise,
    /// Clockwise.
    Clockwise,
}

/// Depth bias: offset = constant * r + slope * maximal depth slope.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// In units of one step of the depth buffer, 2^-24. UNVERIFIED: is the machine's step exactly that, and what
    /// slope does it take?
    pub constant: f32,
    /// Times the slope.
    pub slope: f32,
    /// The largest offset if positive, the smallest if negative; none if 0. The machine has none.
    pub clamp: f32,
}

impl DepthBias {
    /// What a program that computes the offset takes from the stream; `None` for other words.
    pub(super) fn word(&self, slot: StateUniform) -> Option<u32> {
        let value = match slot {
            StateUniform::BiasConstant => self.constant / DEPTH_MAX as f32,
            StateUniform::BiasSlope => self.slope,
            StateUniform::BiasLow if self.clamp < 0.0 => self.clamp,
            StateUniform::BiasLow => f32::MIN,
            StateUniform::BiasHigh if self.clamp > 0.0 => self.clamp,
            StateUniform::BiasHigh => f32::MAX,
            _ => return None,
        };
        Some(value.to_bits())
    }

    /// The packet. Both numbers lose their low 16 bits (v3d.md §5.6).
    pub fn packet(&self) -> Result<DepthOffset, StateError> {
        if self.clamp != 0.0 {
            return Err(StateError::DepthBiasClamp(self.clamp));
        }
        Ok(DepthOffset { factor: F187::truncate(self.slope), units: F187::truncate(self.constant) })
    }
}

/// The line width packet, clamped to what lines can have.
pub fn line_width(width: f32) -> LineWidth {
    let [low, high] = LINE_WIDTH_RANGE;
    LineWidth { width: width.max(low).min(high) }
}

/// Rasteriser state of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Raster {
    /// The primitives are triangles; points and lines have no back and are never culled.
    pub triangles: bool,
    /// Drop front faces.
    pub cull_front: bool,
    /// Drop back faces.
    pub cull_back: bool,
    /// Which faces are front.
    pub front_face: FrontFace,
    /// Apply the depth offset packet.
    pub depth_bias: bool,
    /// The target has four samples.
    pub multisample: bool,
    /// Primitives that cover the centre of a pixel cover all of its samples (v3d.md §10.5).
    pub whole_pixels: bool,
    /// The fragment program computes its own depth.
    pub shader_depth: bool,
}

impl Raster {
    /// CONFIGURATION_BITS. `depth` is `None` if the pass has no depth attachment.
    pub fn configuration(&self, depth: Option<&DepthStencil>) -> ConfigurationBits {
        let test = depth.filter(|depth| depth.depth_test);
        ConfigurationBits {
            front: !self.triangles || !self.cull_front,
            back: !self.triangles || !self.cull_back,
            // Facing is a matter of numbers with y upwards; row 0 at the top inverts it (v3d.md §9.3).
            clockwise_front: self.front_face == FrontFace::CounterClockwise,
            depth_offset: self.depth_bias,
            oversample: if self.multisample && !self.whole_pixels { Oversample::X4 } else { Oversample::X1 },
            // Without a depth test every value passes and none is kept (v3d.md §9.7, §10.3).
            depth_func: test.map_or(CompareFunc::Always, |depth| depth.depth_func),
            depth_write: test.is_some_and(|depth| depth.depth_write),
            early_z: depth.is_some_and(|depth| self.early_z(depth)),
            // Kept on, or later tests would see bounds of before (v3d.md §9.5).
            early_z_update: true,
            ..Default::default()
        }
    }

    /// Whether quads may be dropped before shading (v3d.md §9.5).
    fn early_z(&self, depth: &DepthStencil) -> bool {
        // The bounds of a frame serve < and <= under Linux. A dropped quad performs no stencil operation, neither
        // that of the depth test nor, as the stencil test comes first, that of the stencil test.
        let changes = |face: &StencilFaceState| {
            face.write_mask != 0 && (face.depth_fail != StencilOp::Keep || face.fail != StencilOp::Keep)
        };
        depth.depth_test
            && matches!(depth.depth_func, CompareFunc::Less | CompareFunc::LessOrEqual)
            && !self.multisample
            && !self.shader_depth
            && !depth.stencil.is_some_and(|faces| faces.iter().any(changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cl::Packet;

    const TRIANGLES: Raster = Raster {
        triangles: true,
        cull_front: false,
        cull_back: false,
        front_face: FrontFace::Clockwise,
        depth_bias: false,
        multisample: false,
        whole_pixels: false,
        shader_depth: false,
    };
    const LESS: DepthStencil =
        DepthStencil { depth_test: true, depth_write: true, depth_func: CompareFunc::Less, stencil: None };

    fn bits(raster: Raster, depth: Option<DepthStencil>) -> u32 {
        raster.configuration(depth.as_ref()).payload() as u32
    }

    #[test]
    fn worked_list() {
        // v3d.md §11.3: both faces, LESS with write and early Z.
        assert_eq!(bits(TRIANGLES, Some(LESS)), 0x03_9003);
    }

    #[test]
    fn faces_follow_the_screen() {
        let culled = Raster { cull_back: true, front_face: FrontFace::CounterClockwise, ..TRIANGLES };
        assert_eq!(bits(culled, None) & 7, 0b101);
        assert_eq!(bits(Raster { cull_front: true, ..TRIANGLES }, None) & 7, 0b010);
        let points = Raster { triangles: false, cull_front: true, cull_back: true, ..TRIANGLES };
        assert_eq!(bits(points, None) & 3, 3);
    }

    #[test]
    fn no_depth_means_always() {
        assert_eq!(bits(TRIANGLES, None), 0x02_7003);
        let off = DepthStencil { depth_test: false, ..LESS };
        assert_eq!(bits(TRIANGLES, Some(off)), 0x02_7003);
        assert_eq!(bits(Raster { depth_bias: true, ..TRIANGLES }, None) & 8, 8);
    }

    #[test]
    fn early_z_only_where_it_cannot_be_seen() {
        let early = |raster, depth| bits(raster, Some(depth)) >> 16 & 1;
        let with = |depth_func| DepthStencil { depth_func, ..LESS };
        for func in CompareFunc::ALL {
            let expected = matches!(func, CompareFunc::Less | CompareFunc::LessOrEqual);
            assert_eq!(early(TRIANGLES, with(*func)), u32::from(expected), "{func:?}");
        }
        assert_eq!(early(Raster { multisample: true, ..TRIANGLES }, LESS), 0);
        assert_eq!(bits(Raster { multisample: true, ..TRIANGLES }, Some(LESS)) >> 6 & 3, 1);
        assert_eq!(early(Raster { shader_depth: true, ..TRIANGLES }, LESS), 0);
        let keep = StencilFaceState::default();
        let stencil = |face| DepthStencil { stencil: Some([keep, face]), ..LESS };
        assert_eq!(early(TRIANGLES, stencil(StencilFaceState { pass: StencilOp::Replace, ..keep })), 1);
        assert_eq!(early(TRIANGLES, stencil(StencilFaceState { depth_fail: StencilOp::Invert, ..keep })), 0);
        assert_eq!(early(TRIANGLES, stencil(StencilFaceState { fail: StencilOp::Invert, ..keep })), 0);
        let masked = StencilFaceState { depth_fail: StencilOp::Invert, write_mask: 0, ..keep };
        assert_eq!(early(TRIANGLES, stencil(masked)), 1);
    }

    #[test]
    fn bias_and_width() {
        let bias = DepthBias { constant: 2.0, slope: -1.5, clamp: 0.0 };
        let packet = bias.packet().unwrap();
        assert_eq!((packet.factor.get(), packet.units.get()), (-1.5, 2.0));
        // v3d.md §5.6: opcode 101, two floats without their low 16 bits, the factor of the slope first.
        let mut bytes = Vec::new();
        let third = DepthBias { constant: 1.0 / 3.0, slope: -100.7, clamp: 0.0 };
        third.packet().unwrap().write(&mut bytes);
        let halves = [(-100.7f32).to_bits() >> 16, (1.0f32 / 3.0).to_bits() >> 16].map(|half| half as u16);
        assert_eq!(bytes, [&[101], &halves[0].to_le_bytes()[..], &halves[1].to_le_bytes()[..]].concat());
        assert_eq!(DepthBias { clamp: 1.0, ..bias }.packet(), Err(StateError::DepthBiasClamp(1.0)));
        let word = |bias: DepthBias, slot| bias.word(slot).map(f32::from_bits);
        assert_eq!(word(bias, StateUniform::BiasConstant), Some(2.0 / DEPTH_MAX as f32));
        assert_eq!(word(bias, StateUniform::BiasSlope), Some(-1.5));
        let bounds = |clamp| {
            let bias = DepthBias { clamp, ..bias };
            [StateUniform::BiasLow, StateUniform::BiasHigh].map(|slot| word(bias, slot).unwrap())
        };
        assert_eq!(
            [bounds(0.0), bounds(0.5), bounds(-0.5)],
            [[f32::MIN, f32::MAX], [f32::MIN, 0.5], [-0.5, f32::MAX]]
        );
        assert_eq!(word(bias, StateUniform::SampleMask), None);
        assert_eq!((line_width(0.0).width, line_width(1e9).width), (1.0, 32.0));
    }
}
