//! State that a pipeline fixes or leaves to commands.

use ash::vk;

/// Masks and reference of the stencil test of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StencilFace {
    /// Bits that are compared.
    pub compare_mask: u32,
    /// Bits that change.
    pub write_mask: u32,
    /// The reference.
    pub reference: u32,
}

/// State that commands or the pipeline set.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    /// Viewport 0.
    pub viewport: vk::Viewport,
    /// Scissor 0.
    pub scissor: vk::Rect2D,
    /// Width of lines.
    pub line_width: f32,
    /// Depth bias: constant, clamp, slope.
    pub depth_bias: [f32; 3],
    /// Blend constants.
    pub blend_constants: [f32; 4],
    /// Front and back.
    pub stencil: [StencilFace; 2],
}

impl Default for Dynamic {
    fn default() -> Self {
        Dynamic {
            viewport: vk::Viewport::default(),
            scissor: vk::Rect2D::default(),
            line_width: 1.0,
            depth_bias: [0.0; 3],
            blend_constants: [0.0; 4],
            stencil: [StencilFace::default(); 2],
        }
    }
}
