//! vkCmdSetEvent, vkCmdResetEvent, vkCmdWaitEvents.

use std::sync::Arc;

use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::sync::Event;
use crate::segments::{CpuCommand, Touch};

/// vkCmdSetEvent, vkCmdResetEvent: the host sees the change when the GPU has done everything before.
pub struct ChangeEvent {
    /// The event.
    pub event: Arc<Event>,
    /// Set or reset.
    pub set: bool,
}

impl CpuCommand for ChangeEvent {
    fn describe(&self) -> String {
        format!("{} an event", if self.set { "set" } else { "reset" })
    }

    fn touches(&self) -> Touch {
        Touch::Everything
    }

    fn run(&self, _: &Arc<Device>) -> Result<(), Error> {
        match self.set {
            true => self.event.set(),
            false => self.event.reset(),
        }
        Ok(())
    }
}

/// vkCmdWaitEvents: the queue thread waits, so that the host may set them later.
pub struct WaitEvents {
    /// All of them are waited for.
    pub events: Vec<Arc<Event>>,
}

impl CpuCommand for WaitEvents {
    fn describe(&self) -> String {
        format!("wait for {} events", self.events.len())
    }

    fn touches(&self) -> Touch {
        Touch::Nothing
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        self.events.iter().try_for_each(|event| event.wait(device))
    }
}
