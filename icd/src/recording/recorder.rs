//! Commands become segments. A command buffer's life cycle is in [`super::command_buffer`].

use std::sync::Arc;

use ash::vk;

#[cfg(feature = "compute")]
use super::compute::ComputeState;
use super::labels::Labels;
use super::pass::{ClearAttachment, Pass, PassBegin};
use super::state::State;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::query::{Counting, QueryCommand};
use crate::pipeline::Pipeline;
use crate::segments::{
    CpuCommand, DrawCall, DrawList, DrawParameters, IndirectDraw, Labelled, Segment, Segments,
};
use crate::transfers::clear::FillParts;

/// A command inside of a render pass.
#[derive(Clone)]
pub enum PassCommand {
    /// Draws.
    Draws(Arc<DrawList>),
    /// A command of a query pool.
    Query(QueryCommand),
    /// vkCmdPipelineBarrier.
    Barrier,
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

impl Recorded {
    /// The longest list of draws, emptied, if nobody else needs what was recorded.
    pub fn recycle(self) -> DrawList {
        let segments = Arc::try_unwrap(self.segments).unwrap_or_default().into_iter();
        let of_segment = |segment| match segment {
            Segment::Render(render) => Arc::try_unwrap(render).map_or(Vec::new(), |render| render.draws),
            Segment::Cpu(_) | Segment::Query(_) => Vec::new(),
        };
        let inside = Arc::try_unwrap(self.inside).unwrap_or_default().into_iter();
        let of_command = |command| match command {
            PassCommand::Draws(draws) => Some(draws),
            PassCommand::Query(_) | PassCommand::Barrier | PassCommand::Clear(..) => None,
        };
        let lists = segments.flat_map(of_segment).chain(inside.filter_map(of_command));
        let mut list =
            lists.filter_map(Arc::into_inner).max_by_key(|list| list.draws().len()).unwrap_or_default();
        list.clear();
        list
    }
}

/// A recording under way.
#[derive(Default)]
pub struct Recorder {
    /// What is bound and set.
    pub state: State,
    segments: Segments,
    pass: Option<Pass>,
    /// Commands of a pass that another command buffer begins; `None` unless this one continues a pass.
    inside: Option<Vec<PassCommand>>,
    /// Draws since the last other command of the pass.
    draws: DrawList,
    /// What queries that are under way ask.
    counting: Counting,
    /// Where in the application's frame this is.
    labels: Labels,
    /// What is bound for dispatches, if anything is.
    #[cfg(feature = "compute")]
    compute: Option<Box<ComputeState>>,
}

impl Recorder {
    /// A recording; `continues`: it runs inside of another command buffer's pass. `draws` is an empty list, for its
    /// memory.
    pub fn new(continues: bool, draws: DrawList) -> Recorder {
        Recorder { inside: continues.then(Vec::new), draws, ..Recorder::default() }
    }

    /// The result.
    pub fn finish(mut self) -> Result<Recorded, Error> {
        self.close_draws()?;
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

    /// Appends what the tile buffer does for a transfer.
    pub fn transfer(&mut self, segments: Segments) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() {
            return Err(Error::InvalidUse("a transfer inside of a render pass".into()));
        }
        self.segments.extend(segments);
        Ok(())
    }

    /// Appends a clear of an image: what the tile buffer does of it, and the rest.
    pub fn fill(&mut self, mut parts: FillParts) -> Result<(), Error> {
        self.transfer(parts.by_tiles())?;
        if parts.is_empty() { Ok(()) } else { self.cpu(parts) }
    }

    /// Appends something that the CPU does; inside of a pass it is done before.
    pub fn cpu_anywhere(&mut self, command: impl CpuCommand + 'static) {
        let command: Arc<dyn CpuCommand> = match self.labels.path() {
            None => Arc::new(command),
            Some(label) => Arc::new(Labelled { label: label.clone(), command }),
        };
        self.segments.push(Segment::Cpu(command));
    }

    /// Changes the label of what follows.
    pub fn label(&mut self, change: impl FnOnce(&mut Labels)) {
        change(&mut self.labels);
        self.draws.mark(self.labels.path());
    }

    /// vkCmdPipelineBarrier.
    pub fn barrier(&mut self) -> Result<(), Error> {
        match self.pass.is_some() || self.inside.is_some() {
            true => self.pass_command(PassCommand::Barrier),
            false => Ok(()),
        }
    }

    /// A command of a query pool, inside of a pass or outside.
    pub fn query(&mut self, command: QueryCommand) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() {
            return self.pass_command(PassCommand::Query(command));
        }
        self.counting.note(&command);
        self.segments.push(Segment::Query(command));
        Ok(())
    }

    /// vkCmdBindPipeline. Draws of a list have one number of samples, and a pass without attachments may have several.
    pub fn bind_pipeline(&mut self, pipeline: &Arc<Pipeline>) -> Result<(), Error> {
        if !self.draws.is_empty() && self.state.samples() != pipeline.samples() {
            self.close_draws()?;
        }
        self.state.bind_pipeline(pipeline);
        Ok(())
    }

    /// A draw with the state of this moment.
    pub fn draw(&mut self, parameters: DrawParameters) -> Result<(), Error> {
        self.check_inside()?;
        self.state.draw(&mut self.draws, DrawCall::Direct(parameters))
    }

    /// Draws whose parameters lie in memory.
    pub fn draw_indirect(&mut self, draw: IndirectDraw) -> Result<(), Error> {
        self.check_inside()?;
        let place = self.draws.add_indirect(draw);
        self.state.draw(&mut self.draws, DrawCall::Indirect(place))
    }

    #[inline]
    fn check_inside(&self) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() { Ok(()) } else { Err(outside()) }
    }

    /// A command inside of a pass, after all draws so far.
    pub fn pass_command(&mut self, command: PassCommand) -> Result<(), Error> {
        self.close_draws()?;
        self.append(command)
    }

    /// Hands the draws so far to the pass.
    fn close_draws(&mut self) -> Result<(), Error> {
        if self.draws.is_empty() {
            return Ok(());
        }
        let draws = std::mem::take(&mut self.draws);
        if let label @ Some(_) = self.labels.path() {
            self.draws.mark(label);
        }
        self.append(PassCommand::Draws(Arc::new(draws)))
    }

    fn append(&mut self, command: PassCommand) -> Result<(), Error> {
        if let Some(inside) = &mut self.inside {
            inside.push(command);
            return Ok(());
        }
        if let PassCommand::Query(command) = &command {
            self.counting.note(command);
        }
        let pass = self.pass.as_mut().ok_or_else(outside)?;
        match command {
            PassCommand::Draws(draws) => pass.draw(draws, &mut self.segments),
            PassCommand::Query(command) => pass.query(command, &mut self.segments),
            PassCommand::Barrier => pass.barrier(&mut self.segments),
            PassCommand::Clear(attachments, rects) => pass.clear(&attachments, &rects, &mut self.segments),
        }
    }

    /// What is bound for dispatches.
    #[cfg(feature = "compute")]
    pub fn compute(&mut self) -> &mut ComputeState {
        self.compute.get_or_insert_default()
    }

    /// vkCmdBeginRenderPass.
    pub fn begin_pass(&mut self, device: &Arc<Device>, begin: PassBegin) -> Result<(), Error> {
        if self.pass.is_some() || self.inside.is_some() {
            return Err(Error::InvalidUse("a render pass inside of a render pass".into()));
        }
        self.pass = Some(Pass::begin(device, begin, self.counting, &mut self.segments)?);
        Ok(())
    }

    /// vkCmdNextSubpass.
    pub fn next_subpass(&mut self) -> Result<(), Error> {
        self.close_draws()?;
        self.pass.as_mut().ok_or_else(outside)?.next(&mut self.segments)
    }

    /// vkCmdEndRenderPass.
    pub fn end_pass(&mut self) -> Result<(), Error> {
        self.close_draws()?;
        self.pass.take().ok_or_else(outside)?.end(&mut self.segments)
    }

    /// vkCmdExecuteCommands, one command buffer.
    pub fn execute(&mut self, recorded: &Recorded) -> Result<(), Error> {
        for command in recorded.inside.iter() {
            self.pass_command(command.clone())?;
        }
        self.segments.extend(recorded.segments.iter().cloned());
        // What is bound and set is undefined after this (Vulkan 1.0 §5.5).
        self.state = State::default();
        #[cfg(feature = "compute")]
        {
            self.compute = None;
        }
        Ok(())
    }
}

#[cold]
fn outside() -> Error {
    Error::InvalidUse("a command of a render pass outside of one".into())
}
