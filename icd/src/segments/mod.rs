//! What a command buffer becomes: a list of segments, for the GPU or for the CPU, executed in order.
//!
//! A segment holds state, not packets: lists and uniform streams are built when it runs, because buffers may change
//! until then (vulkan-on-vc4.md §2, late binding).

use std::sync::Arc;

use ash::vk;
use vc4::hw::{TILE_MS_PX, TILE_PX};
use vc4::state::PixelRect;
use vc4_kernel_abi::BoHandle;

use crate::foundation::error::Error;
use crate::objects::buffer::Buffer;
use crate::objects::device::Device;
use crate::objects::image_view::ImageView;
use crate::objects::memory::Binding;
use crate::objects::query::QueryCommand;
use crate::recording::DrawList;

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
    /// Jobs that use one of these.
    Bos(Vec<BoHandle>),
    /// Everything: the host sees that the command ran.
    Everything,
}

impl Touch {
    /// The memory of these bindings. What has no memory makes the command itself fail.
    pub fn memory<'a>(bindings: impl IntoIterator<Item = Result<&'a Binding, Error>>) -> Touch {
        Touch::Bos(bindings.into_iter().flatten().map(|binding| binding.bo.handle()).collect())
    }
}

/// A command that the CPU executes on the queue thread.
pub trait CpuCommand: Send + Sync {
    /// What it does, in one line.
    fn describe(&self) -> String;

    /// What the GPU must have finished with before.
    fn touches(&self) -> Touch;

    /// Does it.
    fn run(&self, device: &Arc<Device>) -> Result<(), Error>;
}

/// What a tile holds when drawing starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<T> {
    /// This value.
    Clear(T),
    /// What memory holds.
    Load,
    /// Anything.
    Any,
}

impl<T> Start<T> {
    /// Whether memory is read.
    pub fn loads(&self) -> bool {
        matches!(self, Start::Load)
    }

    /// The start with another form of its value.
    pub fn map<U>(self, form: impl FnOnce(T) -> U) -> Start<U> {
        match self {
            Start::Clear(value) => Start::Clear(form(value)),
            Start::Load => Start::Load,
            Start::Any => Start::Any,
        }
    }

    /// Whether tiles are cleared.
    pub fn clears(&self) -> bool {
        matches!(self, Start::Clear(_))
    }
}

/// Depth and stencil in the tile buffer's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DepthStencilWord {
    /// 24 bits.
    pub depth: u32,
    /// Stencil.
    pub stencil: u8,
}

/// A colour that a job draws to: all of a texel that the tile buffer holds.
#[derive(Clone)]
pub struct ColorTarget {
    /// The attachment.
    pub view: Arc<ImageView>,
    /// Location of the fragment stage's output.
    pub location: u32,
    /// Which word of its texels.
    pub plane: u8,
    /// Its start: a word of the tile buffer.
    pub start: Start<u32>,
    /// Whether it is kept.
    pub store: bool,
    /// What the averages of its samples are stored to.
    pub resolve: Option<Arc<ImageView>>,
}

/// What a render segment draws to.
#[derive(Clone)]
pub struct Target {
    /// Colours: the segment is drawn once for each, and once without any (T-MRT, T-WIDE).
    pub colors: Vec<ColorTarget>,
    /// Depth and stencil.
    pub depth_stencil: Option<Arc<ImageView>>,
    /// Its start.
    pub depth_stencil_start: Start<DepthStencilWord>,
    /// Whether it is kept.
    pub depth_stencil_store: bool,
    /// Pixels that may change.
    pub area: PixelRect,
    /// Size of the framebuffer.
    pub size: (u32, u32),
    /// Samples of a pixel, of all attachments; without any, of what is drawn.
    pub samples: u32,
}

impl Target {
    /// A target without attachments, of one sample.
    pub fn empty(size: (u32, u32), area: PixelRect) -> Target {
        Target {
            colors: Vec::new(),
            depth_stencil: None,
            depth_stencil_start: Start::Any,
            depth_stencil_store: false,
            area,
            size,
            samples: 1,
        }
    }

    /// Makes what is drawn stay in memory, unresolved, for more to come.
    pub fn keep(&mut self) {
        for color in &mut self.colors {
            (color.store, color.resolve) = (true, None);
        }
        self.depth_stencil_store = self.depth_stencil.is_some();
    }

    /// Makes tiles begin with what memory holds.
    pub fn load(&mut self) {
        self.colors.iter_mut().for_each(|color| color.start = Start::Load);
        self.depth_stencil_start = Start::Load;
    }

    /// Whether pixels have four samples.
    pub fn is_multisampled(&self) -> bool {
        self.samples > 1
    }

    /// Edge of a tile in pixels.
    pub fn tile_px(&self) -> u32 {
        tile_px(self.samples)
    }

    /// The attachments.
    pub fn views(&self) -> impl Iterator<Item = &Arc<ImageView>> {
        self.colors.iter().map(|color| &color.view).chain(&self.depth_stencil)
    }

    /// Takes the attachments' number of samples.
    pub fn count_samples(&mut self) {
        let samples = self.views().map(|view| view.samples()).next();
        self.samples = samples.unwrap_or(1);
    }

    /// How often the segment is drawn.
    pub fn passes(&self) -> usize {
        self.colors.len().max(1)
    }

    /// What pass number `pass` draws to: one colour. All begin with the same depth and stencil, so only the last stores
    /// them.
    pub fn pass(&self, pass: usize) -> Target {
        Target {
            colors: self.colors.get(pass).cloned().into_iter().collect(),
            depth_stencil_store: self.depth_stencil_store && self.is_last(pass),
            ..self.clone()
        }
    }

    /// Whether pass number `pass` is the last one.
    pub fn is_last(&self, pass: usize) -> bool {
        pass + 1 == self.passes()
    }
}

/// Edge in pixels of a tile whose pixels have this many samples.
pub fn tile_px(samples: u32) -> u32 {
    if samples > 1 { TILE_MS_PX } else { TILE_PX }
}

/// A piece of a render pass: one or more GPU jobs.
pub struct RenderSegment {
    /// Where to.
    pub target: Target,
    /// What.
    pub draws: Vec<Arc<DrawList>>,
}

/// Parameters of a draw.
#[derive(Clone, Copy, Debug)]
pub enum DrawCall {
    /// vkCmdDraw, vkCmdDrawIndexed.
    Direct(DrawParameters),
    /// An [`IndirectDraw`] of the draw's list.
    Indirect(u32),
}

/// vkCmdDrawIndirect, vkCmdDrawIndexedIndirect: read when the segment runs.
pub struct IndirectDraw {
    /// Parameters in memory.
    pub buffer: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Draws.
    pub count: u32,
    /// Bytes from draw to draw.
    pub stride: u32,
    /// Whether indices are used.
    pub indexed: bool,
}

/// One draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawParameters {
    /// Vertices, or indices.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// First vertex, or first index.
    pub first: u32,
    /// Added to indices; `None` if vertices are drawn in order.
    pub vertex_offset: Option<i32>,
    /// First instance.
    pub first_instance: u32,
}

/// The index buffer of a draw.
#[derive(Clone)]
pub struct IndexBinding {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// First byte.
    pub offset: u64,
    /// Size of an index.
    pub ty: vk::IndexType,
}

impl RenderSegment {
    /// One line for listings.
    pub fn describe(&self) -> String {
        let Target { colors, depth_stencil, area, .. } = &self.target;
        let view = |view: &Arc<ImageView>| format!("{:?} {:?}", view.row.format, view.extent());
        let color = |color: &ColorTarget| {
            format!("{} word {} {}", view(&color.view), color.plane, ways(&color.start, color.store))
        };
        let colors: Vec<String> = colors.iter().map(color).collect();
        format!(
            "render {} draws, {} samples, columns {}..{}, rows {}..{}, colours [{}], depth {} {}",
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
                QueryCommand::Begin => f.write_str("begin a query"),
                QueryCommand::End(_, query) => write!(f, "end query {query}"),
            },
        }
    }
}
