//! Pipeline state as packets, words and QPU patches.
//!
//! The machine has no fixed-function vertex conversion, viewport transform, blending or write mask: each of
//! them is a few operations in front of or behind the program. A *patch* is such a piece, written once against
//! [`Emitter`]; what may change without a new program (viewport, blend constants, stencil words) is a
//! [`StateUniform`], a word of the uniform stream that is filled in per draw from [`StateWords`].

mod bits;
pub mod blend;
pub mod depth_stencil;
mod emitter;
mod error;
mod model;
pub mod multisample;
pub mod raster;
pub mod srgb;
pub mod target;
pub mod texture;
pub mod uniforms;
pub mod vertex_fetch;
pub mod viewport;
pub mod ycbcr;

pub use crate::image::{ColorKind, Field};
pub use blend::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, LogicOp};
pub use depth_stencil::{DepthStencil, DepthStencilPlan, StencilFaceState};
pub use emitter::{Emitter, Flag, SampleEmitter, StateUniform, refined};
pub use error::StateError;
pub use multisample::Multisample;
pub use raster::{DepthBias, FrontFace, Raster};
pub use target::Encoding;
pub use texture::{Sampler, TextureError, TextureView};
pub use uniforms::StateWords;
pub use vertex_fetch::VertexFormat;
pub use viewport::{PixelRect, Position, RasterMap, VertexStage, Viewport};
