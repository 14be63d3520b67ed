//! What shaders read through descriptors.

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};

/// Input attachments of pipelines: bindings 0 and up of set 0.
#[derive(Clone, Copy)]
pub struct Inputs {
    /// The layout of pipelines that read them: [`Pipeline::layout`](super::Pipeline::layout).
    pub layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A layout of one set.
    pub(crate) fn set_layout(
        &self,
        bindings: &[vk::DescriptorSetLayoutBinding<'_>],
    ) -> Result<vk::DescriptorSetLayout, Error> {
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
        // SAFETY: see above.
        let layout = unsafe { self.device.create_descriptor_set_layout(&create, None) };
        let layout = layout.named("vkCreateDescriptorSetLayout")?;
        self.keep(Object::SetLayout(layout));
        Ok(layout)
    }

    /// A set from a pool of its own.
    pub(crate) fn set(
        &self,
        layout: vk::DescriptorSetLayout,
        sizes: &[vk::DescriptorPoolSize],
    ) -> Result<vk::DescriptorSet, Error> {
        let create = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(sizes);
        // SAFETY: see above.
        unsafe {
            let pool = self.device.create_descriptor_pool(&create, None).named("vkCreateDescriptorPool")?;
            self.keep(Object::SetPool(pool));
            let layouts = [layout];
            let allocate =
                vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            Ok(self.device.allocate_descriptor_sets(&allocate).named("vkAllocateDescriptorSets")?[0])
        }
    }

    /// A sampler.
    pub(crate) fn sampler(&self, create: &vk::SamplerCreateInfo<'_>) -> Result<vk::Sampler, Error> {
        let mut border = vk::SamplerCustomBorderColorCreateInfoEXT::default();
        let mut create = *create;
        if let Some(color) = own_border(create.border_color) {
            border = border.custom_border_color(color);
            create = create.push_next(&mut border);
        }
        // SAFETY: see above.
        let sampler = unsafe { self.device.create_sampler(&create, None).named("vkCreateSampler")? };
        self.keep(Object::Sampler(sampler));
        Ok(sampler)
    }

    /// Input attachments for pipelines with their layout; the images are in `layout` when they are read.
    pub fn inputs(&self, views: &[vk::ImageView], layout: vk::ImageLayout) -> Result<Inputs, Error> {
        let ty = vk::DescriptorType::INPUT_ATTACHMENT;
        let bindings: Vec<_> = (0..views.len() as u32)
            .map(|binding| {
                let binding = vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(ty);
                binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::FRAGMENT)
            })
            .collect();
        let set_layout = self.set_layout(&bindings)?;
        let set_layouts = [set_layout];
        let pipeline =
            self.pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts))?;
        let sizes = [vk::DescriptorPoolSize { ty, descriptor_count: views.len() as u32 }];
        let set = self.set(set_layout, &sizes)?;
        for (binding, &image_view) in (0..).zip(views) {
            let info = [vk::DescriptorImageInfo { image_view, image_layout: layout, ..Default::default() }];
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
            // SAFETY: see above.
            unsafe {
                self.device.update_descriptor_sets(&[write.descriptor_type(ty).image_info(&info)], &[]);
            }
        }
        Ok(Inputs { layout: pipeline, set })
    }

    /// Binds input attachments for the draws that follow.
    pub fn bind_inputs(&self, commands: vk::CommandBuffer, inputs: &Inputs) {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: see above.
        unsafe {
            self.device.cmd_bind_descriptor_sets(commands, point, inputs.layout, 0, &[inputs.set], &[]);
        }
    }
}

/// The border of samplers whose colour has no name: no component is like another one, and unsigned bytes hold all of them.
fn own_border(color: vk::BorderColor) -> Option<vk::ClearColorValue> {
    match color {
        vk::BorderColor::FLOAT_CUSTOM_EXT => {
            Some(vk::ClearColorValue { float32: [204.0 / 255.0, 51.0 / 255.0, 102.0 / 255.0, 153.0 / 255.0] })
        }
        vk::BorderColor::INT_CUSTOM_EXT => Some(vk::ClearColorValue { uint32: [100, 7, 60, 2] }),
        _ => None,
    }
}
