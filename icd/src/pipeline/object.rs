//! What a VkPipeline handle is: the bind points have pipelines of their own and one type of handle.

use std::sync::Arc;

use ash::vk;

#[cfg(feature = "compute")]
use super::compute::ComputePipeline;
use super::graphics::Pipeline;
use crate::foundation::handle::Object;

/// VkPipeline.
pub enum PipelineObject {
    /// Draws.
    Graphics(Arc<Pipeline>),
    /// Dispatches.
    #[cfg(feature = "compute")]
    Compute(Arc<ComputePipeline>),
}

impl Object for PipelineObject {
    type Handle = vk::Pipeline;
}

impl PipelineObject {
    /// Gives it a name.
    pub fn set_name(&self, name: &str) {
        match self {
            PipelineObject::Graphics(pipeline) => pipeline.set_name(name),
            #[cfg(feature = "compute")]
            PipelineObject::Compute(pipeline) => pipeline.name.set(name),
        }
    }
}
