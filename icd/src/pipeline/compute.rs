//! VkPipeline (compute): a kernel that the CPU runs.

use std::sync::Arc;

use ash::vk;
use vc4_shaders::ir::Workgroup;
use vc4_shaders::key;
use vc4_shaders_cpu::Kernel;

use super::cache::PipelineCache;
use super::info::Stage;
use super::module::ShaderModule;
use super::programs::Source;
use crate::foundation::error::Error;
use crate::foundation::limits;

/// VkPipeline (compute).
pub struct ComputePipeline {
    kernel: Arc<Kernel>,
}

impl ComputePipeline {
    /// Makes a pipeline, from the cache if it has the kernel.
    pub fn new(stage: &Stage, cache: Option<&Arc<PipelineCache>>) -> Result<ComputePipeline, Error> {
        if stage.stage != vk::ShaderStageFlags::COMPUTE {
            let why = format!("a compute pipeline of stage {:?}", stage.stage);
            return Err(Error::InvalidUse(why));
        }
        if let ShaderModule::Assembly(_) = &*stage.module {
            return Err(Error::unsupported("a compute stage of assembly", "give it in SPIR-V"));
        }
        let source = Source::new(stage)?;
        let key = key::compute(source.key());
        if let Some(kernel) = cache.and_then(|cache| cache.find_kernel(&key)) {
            return Ok(ComputePipeline { kernel });
        }
        let kernel = Arc::new(compile(&source)?);
        if let Some(cache) = cache {
            cache.insert_kernel(key, &kernel);
        }
        Ok(ComputePipeline { kernel })
    }

    /// What dispatches run.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }
}

fn compile(source: &Source) -> Result<Kernel, Error> {
    let shader = source.compute()?;
    check(&shader.workgroup)?;
    Kernel::compile(&shader).map_err(|error| Error::Shader(error.to_string()))
}

/// Refuses workgroups beyond the limits.
fn check(workgroup: &Workgroup) -> Result<(), Error> {
    let Workgroup { size, shared_bytes, .. } = *workgroup;
    let most = limits::MAX_WORKGROUP_SIZE;
    let invocations = workgroup.invocations().filter(|count| *count <= limits::MAX_WORKGROUP_INVOCATIONS);
    if invocations.is_none() || size.iter().zip(most).any(|(size, most)| *size > most) {
        return Err(Error::Shader(format!(
            "a workgroup of {size:?} invocations; at most {most:?} and {} in all",
            limits::MAX_WORKGROUP_INVOCATIONS
        )));
    }
    if shared_bytes > limits::MAX_SHARED_BYTES {
        return Err(Error::Shader(format!(
            "{shared_bytes} bytes of shared memory; at most {}",
            limits::MAX_SHARED_BYTES
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workgroup(size: [u32; 3], shared_bytes: u32) -> Workgroup {
        Workgroup { size, shared_bytes, scratch_bytes: 0 }
    }

    #[test]
    fn workgroups_stay_within_the_limits() {
        let refused = |size, shared| check(&workgroup(size, shared)).is_err();
        assert!(!refused([256, 1, 1], limits::MAX_SHARED_BYTES));
        assert!(!refused([1, 1, 64], 0));
        assert!(refused([1, 1, 65], 0));
        assert!(refused([1 << 16, 1 << 16, 1], 0));
        assert!(refused([1, 1, 1], 100 << 20));
        let [x, y, z] = limits::MAX_WORKGROUP_SIZE;
        assert!(refused([x, y, z], 0));
    }
}
