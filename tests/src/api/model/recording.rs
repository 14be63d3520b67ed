//! What a command buffer holds while it is recorded.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use crate::api::slot::Id;
use crate::api::step::{Item, Shape};

/// Where a command buffer is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is recorded.
    #[default]
    Initial,
    /// Between begin and end.
    Recording,
    /// To be submitted.
    Executable,
    /// Submitted, and for one time only.
    Spent,
    /// Something that it used has changed or ended.
    Invalid,
}

/// The pass that recording is in.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// What pipelines must agree with.
    pub shape: Shape,
    /// The render pass; none with dynamic rendering.
    pub pass: Option<Id>,
    /// Pixels.
    pub extent: [u32; 2],
    /// Layers.
    pub layers: u32,
    /// The subpass.
    pub subpass: u32,
    /// How many there are.
    pub subpasses: u32,
    /// Whether the commands come from secondary buffers.
    pub secondary: bool,
    /// Images that are drawn to.
    pub images: Vec<Id>,
    /// Whether the pass is the command buffer's own.
    pub own: bool,
}

/// What a set holds, by binding, and the pipeline layout that it was bound with.
pub type Bound = (Id, BTreeMap<u32, Vec<Item>>);

/// What is recorded, and bound.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Where it is.
    pub phase: Phase,
    /// Whether it is a secondary buffer.
    pub secondary: bool,
    /// Objects that it names.
    pub uses: BTreeSet<Id>,
    /// For one submission.
    pub once: bool,
    /// May be pending more than once.
    pub simultaneous: bool,
    /// The pass.
    pub inside: Option<Inside>,
    /// Pipelines for drawing and computing.
    pub pipelines: [Option<Id>; 2],
    /// What set 0 leads to, by pipeline layout, for drawing and computing.
    pub sets: [Option<Bound>; 2],
    /// Push constants, and for which layout.
    pub push: Option<(Id, Vec<u32>)>,
    /// Vertices.
    pub vertices: Option<(Id, u64)>,
    /// Indices.
    pub indices: Option<(Id, u64, vk::IndexType)>,
    /// The viewport.
    pub viewport: Option<([f32; 4], [f32; 2])>,
    /// The scissor.
    pub scissor: Option<([i32; 2], [u32; 2])>,
    /// Dynamic states that were set.
    pub dynamic: u32,
    /// Whether something was done that the next command has to wait for.
    pub dirty: bool,
    /// Images that are not in the layout GENERAL.
    pub layouts: BTreeMap<Id, vk::ImageLayout>,
    /// Events that were set here.
    pub events: BTreeSet<Id>,
    /// Pools of queries some of which were reset, here or in buffers that were executed.
    pub cleared: BTreeSet<Id>,
    /// Pools of queries that were reset here, all of them.
    pub reset: BTreeSet<Id>,
    /// Queries that were counted here.
    pub counted: BTreeSet<(Id, u32)>,
    /// The query that counts.
    pub active: Option<(Id, u32, bool)>,
}

impl Recording {
    /// After the beginning.
    pub fn begun(flags: vk::CommandBufferUsageFlags, secondary: bool) -> Recording {
        Recording {
            phase: Phase::Recording,
            secondary,
            once: flags.contains(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT),
            simultaneous: flags.contains(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE),
            dirty: true,
            ..Recording::default()
        }
    }

    /// Whether it may end here.
    pub fn can_end(&self) -> bool {
        self.phase == Phase::Recording
            && self.active.is_none()
            && self.layouts.is_empty()
            && self.inside.as_ref().is_none_or(|inside| !inside.own)
    }

    /// The layout of an image.
    pub fn layout(&self, image: Id) -> vk::ImageLayout {
        self.layouts.get(&image).copied().unwrap_or(vk::ImageLayout::GENERAL)
    }
}
