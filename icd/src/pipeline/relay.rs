//! A vertex stage that the CPU runs beside the QPUs, because the fragment stage reads more than the machine interpolates
//! (T-VARY).

use vc4_shaders::compile::VertexAttribute;
use vc4_shaders::relay::Relay;
use vc4_shaders_cpu::Kernel;

use crate::foundation::error::Error;

/// A compiled one.
pub struct RelayKernel {
    /// What the CPU runs.
    pub cpu: Kernel,
    /// The attributes that it reads, in order; `None` for locations that the pipeline has none for.
    pub inputs: Vec<Option<VertexAttribute>>,
    /// Words that it stores for a vertex.
    pub words: u32,
}

impl RelayKernel {
    /// Compiles it for a pipeline's attributes.
    pub fn new(relay: &Relay, attributes: &[VertexAttribute]) -> Result<RelayKernel, Error> {
        let cpu = Kernel::compile(&relay.kernel);
        let cpu = cpu.map_err(|error| Error::Shader(format!("vertex stage on the CPU: {error}")))?;
        let attribute = |location: &u32| attributes.iter().find(|known| known.location == *location).copied();
        Ok(RelayKernel { cpu, inputs: relay.locations.iter().map(attribute).collect(), words: relay.words })
    }

    /// Whether it looks at images, which jobs may draw to.
    pub fn looks_at_images(&self) -> bool {
        !self.cpu.images().is_empty()
    }
}
