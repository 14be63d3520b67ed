//! A command of the CPU that was recorded under a label of the application.

use std::sync::Arc;

use super::segment::{CpuCommand, Drawing, Part, Touch};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::query::Drawn;
use crate::pipeline::Rectangles;

/// The command, which its label changes nothing of but how it is called.
pub struct Labelled<C> {
    /// The label.
    pub label: Arc<str>,
    /// The command.
    pub command: C,
}

impl<C: CpuCommand> CpuCommand for Labelled<C> {
    fn describe(&self) -> String {
        format!("{:?}: {}", self.label, self.command.describe())
    }

    fn touches(&self) -> Touch {
        self.command.touches()
    }

    fn run(&self, device: &Arc<Device>) -> Result<(), Error> {
        self.command.run(device)
    }

    fn drawn(&self) -> Result<Drawn, Error> {
        self.command.drawn()
    }

    fn may_be_drawn(&self) -> bool {
        self.command.may_be_drawn()
    }

    fn drawing(&self, rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        self.command.drawing(rectangles)
    }

    fn run_part(&self, device: &Arc<Device>, part: &Part) -> Result<(), Error> {
        self.command.run_part(device, part)
    }
}
