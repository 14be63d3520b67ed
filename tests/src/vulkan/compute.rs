//! Compute pipelines.

use ash::util::read_spv;
use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A pipeline of the entry point `main` of a module.
    pub(crate) fn compute_pipeline(
        &self,
        spirv: &[u8],
        layout: vk::PipelineLayout,
    ) -> Result<vk::Pipeline, Error> {
        let words = read_spv(&mut std::io::Cursor::new(spirv))?;
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: see above; the module is used until it is destroyed here.
        unsafe {
            let module = self.device.create_shader_module(&create, None).named("vkCreateShaderModule")?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &create, None);
            self.device.destroy_shader_module(module, None);
            let pipeline = made.map_err(|(_, result)| result).named("vkCreateComputePipelines")?[0];
            self.keep(Object::Pipeline(pipeline));
            Ok(pipeline)
        }
    }

    /// Runs workgroups of a pipeline with one set bound.
    pub(crate) fn dispatch(
        &self,
        commands: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        layout: vk::PipelineLayout,
        set: vk::DescriptorSet,
        [x, y, z]: [u32; 3],
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: see above.
        unsafe {
            self.device.cmd_bind_pipeline(commands, point, pipeline);
            self.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            self.device.cmd_dispatch(commands, x, y, z);
        }
    }
}
