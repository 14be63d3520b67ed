//! The words of [`StateUniform`] for one draw.

use super::depth_stencil::StencilWords;
use super::{DepthBias, RasterMap, StateUniform, Viewport};
use crate::facts::GuardBand;

/// Everything that state words are computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateWords {
    /// The viewport; in parts of a target as seen from `corner`.
    pub viewport: Viewport,
    /// What the raster is.
    pub raster: RasterMap,
    /// How far the machine leaves X and Y alone.
    pub guard_band: GuardBand,
    /// Column and row of the part that is drawn ([`RasterMap::Part`]).
    pub corner: [u32; 2],
    /// Blend constants R, G, B, A.
    pub blend_constants: [f32; 4],
    /// Depth bias, for programs that compute it.
    pub depth_bias: DepthBias,
    /// Stencil set-up.
    pub stencil: StencilWords,
    /// The pipeline's sample mask, bits 3:0.
    pub sample_mask: u32,
    /// The pixel of each quad that is drawn, 0 to 3, if programs draw one at a time.
    pub quad_pixel: u32,
}

impl Default for StateWords {
    fn default() -> Self {
        StateWords {
            viewport: Viewport { x: 0.0, y: 0.0, width: 1.0, height: 1.0, min_depth: 0.0, max_depth: 1.0 },
            raster: RasterMap::default(),
            guard_band: GuardBand::default(),
            corner: [0; 2],
            blend_constants: [0.0; 4],
            depth_bias: DepthBias::default(),
            stencil: StencilWords::default(),
            sample_mask: 15,
            quad_pixel: 0,
        }
    }
}

impl StateWords {
    /// The word of a slot.
    pub fn word(&self, slot: StateUniform) -> u32 {
        match slot {
            StateUniform::ViewportXScale
            | StateUniform::ViewportXBias
            | StateUniform::ViewportYScale
            | StateUniform::ViewportYBias
            | StateUniform::RasterScale
            | StateUniform::ScreenXScale
            | StateUniform::ScreenYScale
            | StateUniform::DepthScale
            | StateUniform::DepthBias => self.viewport.word(slot, self.raster, self.guard_band).unwrap_or(0),
            StateUniform::Corner(axis) => (self.corner[usize::from(axis & 1)] as f32).to_bits(),
            StateUniform::BiasConstant
            | StateUniform::BiasSlope
            | StateUniform::BiasLow
            | StateUniform::BiasHigh => self.depth_bias.word(slot).unwrap_or(0),
            StateUniform::BlendConstant(component) => self.constant(component).clamp(0.0, 1.0).to_bits(),
            StateUniform::BlendConstantUnclamped(component) => self.constant(component).to_bits(),
            StateUniform::BlendConstantBytes(components) => u32::from_le_bytes(
                components.map(|component| (self.constant(component).clamp(0.0, 1.0) * 255.0).round() as u8),
            ),
            StateUniform::StencilFront => self.stencil.front,
            StateUniform::StencilBack => self.stencil.back,
            StateUniform::StencilMasks => self.stencil.masks,
            StateUniform::StencilBackMasks => self.stencil.back_masks,
            StateUniform::SampleMask => self.sample_mask & 15,
            StateUniform::QuadPixel => self.quad_pixel & 3,
        }
    }

    fn constant(&self, component: u8) -> f32 {
        self.blend_constants.get(usize::from(component)).copied().unwrap_or(0.0)
    }
}
