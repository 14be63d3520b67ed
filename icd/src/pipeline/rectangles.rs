//! Pipelines of the driver's own, which fill rectangles.

use std::sync::Arc;

use ash::vk;
use vc4_shaders::ir::Shader;

use super::graphics::Pipeline;
use super::workshop::Workshop;
use crate::foundation::format::{self, FormatRow};
use crate::foundation::recent::Recent;
use crate::objects::device::Device;

/// What a pipeline does: a name, and a number where it does several things.
pub type Task = (&'static str, u32);

/// Pipelines that are kept: each has three pages of the GPU's memory for every kind of its draws.
const MOST: usize = 16;

/// The pipelines of a device, made at first use; those that were used last.
pub struct Rectangles {
    /// Who compiles what need not be there at once.
    pub workshop: Workshop,
    device: Arc<Device>,
    known: Recent<(Task, vk::Format), Result<Arc<Pipeline>, String>>,
}

impl Rectangles {
    /// None yet.
    pub fn new(device: Arc<Device>) -> Rectangles {
        Rectangles { workshop: Workshop::default(), device, known: Recent::new(MOST) }
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// What fills rectangles of a format with what the fragment stage of a task gives, or why nothing can.
    pub fn pipeline(
        &mut self,
        task: Task,
        format: vk::Format,
        fragment: impl FnOnce() -> Shader,
    ) -> Result<Arc<Pipeline>, String> {
        let device = &self.device;
        let make = || {
            let row: &'static FormatRow = format::row(format).ok_or("a format without texels")?;
            let made = Pipeline::of_rectangle(device, &fragment(), row);
            made.map(Arc::new).map_err(|error| error.to_string())
        };
        if let Some(known) = self.known.get(&(task, format)) {
            return known;
        }
        let made = make();
        self.known.insert((task, format), made.clone());
        made
    }
}
