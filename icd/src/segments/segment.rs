//! A piece of recorded work, for the GPU or for the CPU.

use std::sync::Arc;

use super::list::DrawList;
use super::memo::Memo;
use super::target::{ColorTarget, Start, Target};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::image_view::ImageView;
use crate::objects::memory::{Binding, Span};
use crate::objects::query::{Drawn, QueryCommand};
use crate::pipeline::Rectangles;

/// The segments of a command buffer.
pub type Segments = Vec<Segment>;

/// A piece of recorded work.
#[derive(Clone)]
pub enum Segment {
    /// A piece of a render pass.
    Render(Arc<RenderSegment>),
    /// Something that the CPU does.
    Cpu(Arc<dyn CpuCommand>),
    /// A command of a query pool.
    Query(QueryCommand),
}

/// What of the work before must be complete when a CPU command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Nothing.
    Nothing,
    /// Jobs that use BOs of these.
    Memory(Vec<Span>),
    /// Everything: the host sees that the command ran.
    Everything,
}

impl Touch {
    /// The memory of these bindings. What has no memory makes the command itself fail.
    pub fn memory<'a>(bindings: impl IntoIterator<Item = Result<&'a Binding, Error>>) -> Touch {
        Touch::Memory(bindings.into_iter().flatten().map(Binding::span).collect())
    }
}

/// Workgroups of a dispatch: the first and how many along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first.
    pub first: [u32; 3],
    /// How many.
    pub groups: [u32; 3],
}

/// What jobs leave to the CPU.
pub enum Rest {
    /// Workgroups of the dispatch ([`CpuCommand::run_part`]).
    Groups(Part),
    /// A command.
    Command(Box<dyn CpuCommand>),
}

/// How jobs do what a command asks for.
pub struct Drawing {
    /// The jobs.
    pub renders: Vec<RenderSegment>,
    /// What is left to the CPU, which does it before.
    pub rest: Option<Rest>,
    /// The jobs change what others may read while they are put together: buffers.
    pub changes_buffers: bool,
    /// The command does without the jobs until their programs are compiled.
    pub may_wait: bool,
}

/// A command that the CPU executes on the queue thread.
pub trait CpuCommand: Send + Sync {
    /// What it does, in one line.
    fn describe(&self) -> String;

    /// What the GPU must have finished with before.
    fn touches(&self) -> Touch;

    /// Does it.
    fn run(&self, device: &Arc<Device>) -> Result<(), Error>;

    /// What it says of itself to queries, at the time when it runs.
    ///
    /// # Errors
    /// What says it is not there.
    fn drawn(&self) -> Result<Drawn, Error> {
        Ok(Drawn::default())
    }

    /// Whether it is worth asking for [`CpuCommand::drawing`].
    fn may_be_drawn(&self) -> bool {
        false
    }

    /// Jobs that do the same, if there are any and they are the better way.
    fn drawing(&self, _rectangles: &mut Rectangles) -> Result<Option<Drawing>, Error> {
        Ok(None)
    }

    /// Does the workgroups that a [`Drawing`] leaves.
    fn run_part(&self, device: &Arc<Device>, _part: &Part) -> Result<(), Error> {
        self.run(device)
    }
}

/// A piece of a render pass: one or more GPU jobs.
pub struct RenderSegment {
    /// Where to.
    pub target: Target,
    /// What.
    pub draws: Vec<Arc<DrawList>>,
    /// What the times before have left.
    pub memo: Memo,
}

impl RenderSegment {
    /// A segment.
    pub fn new(target: Target, draws: Vec<Arc<DrawList>>) -> RenderSegment {
        RenderSegment { target, draws, memo: Memo::default() }
    }

    /// Draws what another segment of the same attachments draws, too: elsewhere.
    pub fn join(&mut self, other: RenderSegment) {
        let (own, also) = (&mut self.target.area, other.target.area);
        (own.left, own.top) = (own.left.min(also.left), own.top.min(also.top));
        (own.right, own.bottom) = (own.right.max(also.right), own.bottom.max(also.bottom));
        self.draws.extend(other.draws);
    }

    /// One line for listings.
    pub fn describe(&self) -> String {
        let Target { colors, depth_stencil, area, .. } = &self.target;
        let view =
            |view: &Arc<ImageView>| format!("{:?} {:?}{}", view.row.format, view.extent(), view.image.name());
        let color = |color: &ColorTarget| {
            format!("{} word {} {}", view(&color.view), color.plane, ways(&color.start, color.store))
        };
        let colors: Vec<String> = colors.iter().map(color).collect();
        let mut labels: Vec<&str> =
            self.draws.iter().flat_map(|list| list.labels()).map(AsRef::as_ref).collect();
        labels.dedup();
        let labels = if labels.is_empty() { String::new() } else { format!("{:?}: ", labels.join(", ")) };
        format!(
            "{labels}render {} draws, {} samples, columns {}..{}, rows {}..{}, colours [{}], depth {} {}",
            self.draws.iter().map(|list| list.draws().len()).sum::<usize>(),
            self.target.samples,
            area.left,
            area.right,
            area.top,
            area.bottom,
            colors.join(", "),
            depth_stencil.as_ref().map_or("none".into(), view),
            ways(&self.target.depth_stencil_start, self.target.depth_stencil_store),
        )
    }
}

fn ways<T>(start: &Start<T>, store: bool) -> &'static str {
    match (start, store) {
        (Start::Clear(_), true) => "(clear, store)",
        (Start::Clear(_), false) => "(clear)",
        (Start::Load, true) => "(load, store)",
        (Start::Load, false) => "(load)",
        (Start::Any, true) => "(store)",
        (Start::Any, false) => "(dropped)",
    }
}

impl std::fmt::Display for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Segment::Render(render) => f.write_str(&render.describe()),
            Segment::Cpu(command) => f.write_str(&command.describe()),
            Segment::Query(command) => match command {
                QueryCommand::Reset(_, first, count) => write!(f, "reset {count} queries from {first} on"),
                QueryCommand::Timestamp(_, query) => write!(f, "timestamp {query}"),
                QueryCommand::Begin(asked) => write!(f, "begin a query: {asked:?}"),
                QueryCommand::End(_, query) => write!(f, "end query {query}"),
            },
        }
    }
}
