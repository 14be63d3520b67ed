//! Compute pipelines.

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A compute pipeline of a module whose entry point is `main`.
    pub(crate) fn compute_pipeline(
        &self,
        words: &[u32],
        layout: vk::PipelineLayout,
        specialization: &[(u32, u32)],
        cache: vk::PipelineCache,
    ) -> Result<vk::Pipeline, Error> {
        let entries: Vec<_> = (0..)
            .zip(specialization)
            .map(|(at, &(id, _))| vk::SpecializationMapEntry { constant_id: id, offset: 4 * at, size: 4 })
            .collect();
        let data: Vec<u8> = specialization.iter().flat_map(|(_, word)| word.to_le_bytes()).collect();
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let create = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: see above.
        unsafe {
            let module = self.device.create_shader_module(&create, None).named("vkCreateShaderModule")?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&special);
            let create = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let made = self.device.create_compute_pipelines(cache, &create, None);
            // Pipelines outlive their modules.
            self.device.destroy_shader_module(module, None);
            let pipeline = made.map_err(|(_, result)| result).named("vkCreateComputePipelines")?[0];
            self.keep(Object::Pipeline(pipeline));
            Ok(pipeline)
        }
    }

    /// A cache of pipelines, from the data of another.
    pub(crate) fn pipeline_cache(&self, data: &[u8]) -> Result<vk::PipelineCache, Error> {
        let create = vk::PipelineCacheCreateInfo::default().initial_data(data);
        // SAFETY: see above.
        let cache = unsafe { self.device.create_pipeline_cache(&create, None) };
        let cache = cache.named("vkCreatePipelineCache")?;
        self.keep(Object::PipelineCache(cache));
        Ok(cache)
    }
}
