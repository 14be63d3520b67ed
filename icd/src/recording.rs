//! Recording: commands become segments. A command buffer's life cycle is in [`crate::command_buffer`].

mod pass;
mod state;

use std::sync::Arc;

use ash::vk;

use crate::command_buffer::{ClearAttachment, PassBegin};
use crate::debug::{Debug, flags};
use crate::error::Error;
use crate::segment::{CpuCommand, Draw, DrawCall, Segment, Segments};
use pass::Pass;
pub use state::{BoundSet, Dynamic, Snapshot, State, StencilFace, VertexBinding};

/// A command inside of a render pass.
#[derive(Clone)]
pub enum PassCommand {
    /// A draw.
    Draw(Draw),
    /// vkCmdClearAttachments.
    Clear(Arc<Vec<ClearAttachment>>, Arc<Vec<vk::ClearRect>>),
}

/// What a finished command buffer holds.
#[derive(Clone)]
pub struct Recorded {
    /// What it does on its own.
    pub segments: Arc<Segments>,
    /// What it does inside of the pass that it continues (secondary buffers).
    pub inside: Arc<Vec<PassCommand>>,
}

/// A recording under way.
#[derive(Default)]
pub struct Recording {
    /// What is bound and set.
    pub state: State,
    segments: Segments,
    pass: Option<Pass>,
    /// Commands of a pass that another command buffer begins; `None` unless this one continues a pass.
    inside: Option<Vec<PassCommand>>,
}

impl Recording {
    /// A recording; `continues`: it runs inside of another command buffer's pass.
    pub fn new(continues: bool) -> Recording {
        Recording { inside: continues.then(Vec::new), ..Recording::default() }
    }

    /// The result.
    pub fn finish(self) -> Result<Recorded, Error> {
        if self.pass.is_some() {
            return Err(Error::InvalidUse("the recording ends inside of a render pass".into()));
        }
        if flags().contains(Debug::SEGMENTS) {
            for (index, segment) in self.segments.iter().enumerate() {
                eprintln!("segment {index}: {segment}");
            }
        }
        let (segments, inside) = (Arc::new(self.segments), Arc::new(self.inside.unwrap_or_default()));
        Ok(Recorded { segments, inside })
    }

    /// Appends something that the CPU does; not inside of a pass.
    pub fn cpu(&mut self, command: impl CpuCommand + 'static) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() {
            return Err(Error::InvalidUse(format!("{} inside of a render pass", command.describe())));
        }
        self.cpu_anywhere(command);
        Ok(())
    }

    /// Appends something that the CPU does; inside of a pass it is done before.
    pub fn cpu_anywhere(&mut self, command: impl CpuCommand + 'static) {
        self.segments.push(Segment::Cpu(Arc::new(command)));
    }

    /// A draw with the state of this moment.
    pub fn draw(&mut self, call: DrawCall) -> Result<(), Error> {
        let state = self.state.snapshot()?;
        self.pass_command(PassCommand::Draw(Draw { state, call }))
    }

    /// A command inside of a pass.
    pub fn pass_command(&mut self, command: PassCommand) -> Result<(), Error> {
        if let Some(inside) = &mut self.inside {
            inside.push(command);
            return Ok(());
        }
        let pass = self.pass.as_mut().ok_or_else(outside)?;
        match command {
            PassCommand::Draw(draw) => pass.draw(draw),
            PassCommand::Clear(attachments, rects) => pass.clear(&attachments, &rects, &mut self.segments)?,
        }
        Ok(())
    }

    /// vkCmdBeginRenderPass.
    pub fn begin_pass(&mut self, begin: PassBegin) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() {
            return Err(Error::InvalidUse("a render pass inside of a render pass".into()));
        }
        self.pass = Some(Pass::begin(begin, &mut self.segments)?);
        Ok(())
    }

    /// vkCmdNextSubpass.
    pub fn next_subpass(&mut self) -> Result<(), Error> {
        self.pass.as_mut().ok_or_else(outside)?.next(&mut self.segments)
    }

    /// vkCmdEndRenderPass.
    pub fn end_pass(&mut self) -> Result<(), Error> {
        self.pass.take().ok_or_else(outside)?.end(&mut self.segments);
        Ok(())
    }

    /// vkCmdExecuteCommands, one command buffer.
    pub fn execute(&mut self, recorded: &Recorded) -> Result<(), Error> {
        for command in recorded.inside.iter() {
            self.pass_command(command.clone())?;
        }
        self.segments.extend(recorded.segments.iter().cloned());
        // What is bound and set is undefined after this (Vulkan 1.0 §5.5).
        self.state = State::default();
        Ok(())
    }
}

fn outside() -> Error {
    Error::InvalidUse("a command of a render pass outside of one".into())
}
