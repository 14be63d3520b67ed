//! VkPipeline (compute): a kernel that the CPU runs, and where it is a picture, the QPUs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use ash::vk;
use vc4_shaders::ir::Workgroup;
use vc4_shaders::key;
use vc4_shaders_cpu::Kernel;

use super::cache::PipelineCache;
use super::graphics::Pipeline;
use super::info::Stage;
use super::kernel::{CompiledKernel, DrawnKernel, drawn, usual_row};
use super::module::ShaderModule;
use super::programs::Source;
use super::rectangles::Rectangles;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::engine::{Engine, kernels};
use crate::foundation::error::Error;
use crate::foundation::format::FormatRow;
use crate::foundation::limits;
use crate::foundation::name::Name;
use crate::objects::device::Device;

/// What draws a kernel to a format.
#[derive(Clone)]
enum Drawing {
    /// A workshop makes it.
    Ordered,
    /// This, or why nothing does.
    Made(Result<Arc<Pipeline>, String>),
}

/// Why a picture is the CPU's for a while.
const UNDER_WAY: &str = "what draws it is being compiled";

/// VkPipeline (compute).
pub struct ComputePipeline {
    kernel: Arc<CompiledKernel>,
    drawings: Mutex<Vec<(vk::Format, Drawing)>>,
    /// What the application calls it.
    pub name: Name,
}

impl ComputePipeline {
    /// Makes a pipeline, from the cache if it has the kernel; an error if that takes compiling and it is not allowed.
    pub fn new(
        device: &Arc<Device>,
        stage: &Stage,
        cache: Option<&Arc<PipelineCache>>,
        may_compile: bool,
    ) -> Result<ComputePipeline, Error> {
        if stage.stage != vk::ShaderStageFlags::COMPUTE {
            let why = format!("a compute pipeline of stage {:?}", stage.stage);
            return Err(Error::InvalidUse(why));
        }
        if let ShaderModule::Assembly(_) = &*stage.module {
            return Err(Error::unsupported("a compute stage of assembly", "give it in SPIR-V"));
        }
        let source = Source::new(stage)?;
        let key = key::compute(source.key());
        let known = cache.and_then(|cache| cache.find_kernel(&key));
        let kernel = match known {
            Some(kernel) => kernel,
            None if !may_compile => return Err(Error::compile_required()),
            None => {
                let kernel = Arc::new(compile(&source, device.gpu().is_simulated())?);
                if let Some(cache) = cache {
                    cache.insert_kernel(key, &kernel);
                }
                kernel
            }
        };
        if flags().contains(Debug::PERF) {
            eprintln!("perf: kernel {:?} {}", stage.entry, choice(&kernel));
        }
        let pipeline = ComputePipeline { kernel, drawings: Mutex::default(), name: Name::default() };
        if may_compile {
            pipeline.prepare(device);
        }
        Ok(pipeline)
    }

    /// Makes what dispatches will draw with, if any will: a dispatch holds up the queue while it compiles.
    fn prepare(&self, device: &Arc<Device>) {
        let Some(drawn) = self.drawn() else { return };
        let may_pay = kernels() == Engine::Qpu || drawn.estimate.least(cores()).is_some();
        if let Some(row) = usual_row(&drawn.picture).filter(|_| may_pay) {
            // A failure is kept and told by the dispatch, which the CPU does then.
            drop(self.make(device, row));
        }
    }

    /// What the CPU runs.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel.cpu
    }

    /// The picture, if it is one.
    pub fn drawn(&self) -> Option<&DrawnKernel> {
        self.kernel.drawn.as_ref().ok()
    }

    /// What draws it to a format; why nothing can, or does yet. What is not there is made in the workshop meanwhile, but at once
    /// where the QPUs are to do all they can.
    pub fn drawing(
        self: &Arc<Self>,
        row: &'static FormatRow,
        rectangles: &mut Rectangles,
    ) -> Result<Arc<Pipeline>, String> {
        let device = rectangles.device().clone();
        match self.known(row) {
            Some(Drawing::Made(made)) => made,
            _ if kernels() == Engine::Qpu => self.make(&device, row),
            Some(Drawing::Ordered) => Err(UNDER_WAY.into()),
            None => {
                self.drawings().push((row.format, Drawing::Ordered));
                let pipeline = self.clone();
                rectangles.workshop.order(move || drop(pipeline.make(&device, row)));
                Err(UNDER_WAY.into())
            }
        }
    }

    fn drawings(&self) -> MutexGuard<'_, Vec<(vk::Format, Drawing)>> {
        self.drawings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, row: &FormatRow) -> Option<Drawing> {
        self.drawings().iter().find(|(format, _)| *format == row.format).map(|(_, drawing)| drawing.clone())
    }

    /// Makes and keeps what draws it to a format.
    fn make(&self, device: &Arc<Device>, row: &'static FormatRow) -> Result<Arc<Pipeline>, String> {
        let fragment = &self.kernel.drawn.as_ref().map_err(Clone::clone)?.picture.fragment;
        let made = Pipeline::of_rectangle(device, fragment, row);
        let made = made.map(Arc::new).map_err(|error| error.to_string());
        let mut drawings = self.drawings();
        drawings.retain(|(format, _)| *format != row.format);
        drawings.push((row.format, Drawing::Made(made.clone())));
        made
    }

    /// Whether so many invocations are to be drawn in so many jobs.
    pub fn pays(&self, invocations: u64, jobs: u32) -> bool {
        let cheaper = |drawn: &DrawnKernel| drawn.estimate.favours_qpu(invocations, jobs, cores());
        kernels() == Engine::Qpu || self.drawn().is_some_and(cheaper)
    }
}

/// Cores that kernels run on.
fn cores() -> u32 {
    available_parallelism().map_or(1, |cores| cores.get() as u32)
}

/// Who runs a kernel, and why.
fn choice(kernel: &CompiledKernel) -> String {
    let drawn = match &kernel.drawn {
        Ok(drawn) => drawn,
        Err(why) => return format!("runs on the CPU: {why}"),
    };
    let ns = |seconds: f64| seconds * 1e9;
    let costs = format!(
        "an invocation takes the QPUs {:.2} ns, a core {:.2} ns",
        ns(drawn.estimate.qpu),
        ns(drawn.estimate.cpu)
    );
    match (kernels(), drawn.estimate.least(cores())) {
        (Engine::Qpu, _) => format!("is a picture and drawn, as VC4VK_COMPUTE says: {costs}"),
        (_, Some(least)) => format!("is a picture, drawn from {least} invocations on: {costs}"),
        (_, None) => format!("is a picture, but runs on the CPU, which is faster: {costs}"),
    }
}

fn compile(source: &Source, simulated: bool) -> Result<CompiledKernel, Error> {
    let shader = source.compute()?;
    check(&shader.workgroup)?;
    let cpu = Kernel::compile(&shader).map_err(|error| Error::Shader(error.to_string()))?;
    let drawn = drawn(&shader, &cpu, simulated);
    Ok(CompiledKernel { cpu, drawn })
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
