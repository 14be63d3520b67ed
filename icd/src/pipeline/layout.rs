//! VkPipelineLayout.

use std::sync::Arc;

use ash::vk;

use vc4_shaders::binding::{Descriptor, Texture};
use vc4_shaders::state::Conversions;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::limits;
use crate::objects::descriptor::SetLayout;

/// VkPipelineLayout.
pub struct PipelineLayout {
    /// Set layouts by set number.
    pub sets: Vec<Arc<SetLayout>>,
    /// Bytes of push constants in use.
    pub push_bytes: u32,
    /// What samplers of the sets make of images of several planes.
    pub conversions: Arc<Conversions>,
}

impl Object for PipelineLayout {
    type Handle = vk::PipelineLayout;
}

impl PipelineLayout {
    /// A layout within the limits.
    pub fn new(sets: Vec<Arc<SetLayout>>, ranges: &[vk::PushConstantRange]) -> Result<PipelineLayout, Error> {
        let end = |range: &vk::PushConstantRange| range.offset.saturating_add(range.size);
        let push_bytes = ranges.iter().map(end).max().unwrap_or(0);
        if push_bytes > limits::MAX_PUSH_BYTES || sets.len() > limits::MAX_SETS as usize {
            let count = sets.len();
            let why = format!("a pipeline layout of {count} sets and {push_bytes} bytes of push constants");
            return Err(Error::InvalidUse(why));
        }
        let conversions = Arc::new(conversions(&sets));
        Ok(PipelineLayout { sets, push_bytes, conversions })
    }
}

/// The conversions of sets' samplers.
fn conversions(sets: &[Arc<SetLayout>]) -> Conversions {
    let mut conversions = Conversions::new();
    for (set, layout) in (0..).zip(sets) {
        for binding in layout.bindings() {
            for (element, sampler) in (0..).zip(&binding.immutable) {
                let texture = |plane| {
                    let element = binding.element_of_plane(element, plane);
                    Texture::combined(Descriptor { set, binding: binding.number, element })
                };
                if let Some(conversion) = sampler.conversion() {
                    conversions.insert(texture(0), conversion.key(texture));
                }
            }
        }
    }
    conversions
}
