//! What commands bind and set, and the snapshot of it that a draw keeps.

use std::sync::Arc;

use ash::vk;

use crate::buffer::Buffer;
use crate::descriptor::{Descriptor, DescriptorSet, Descriptors, SetLayout};
use crate::error::Error;
use crate::limits::{MAX_ATTRIBUTES, MAX_PUSH_BYTES, MAX_SETS};
use crate::pipeline::Pipeline;
use crate::segment::IndexBinding;

/// A bound set: its content at the time of binding. Sets must not change between binding and execution (Vulkan 1.0
/// §13.2.6), so the content is that of the execution, too.
#[derive(Clone)]
pub struct BoundSet {
    layout: Arc<SetLayout>,
    content: Descriptors,
    dynamic: Arc<[u32]>,
}

impl BoundSet {
    /// Binds `set` with its share of the dynamic offsets.
    pub fn new(set: &DescriptorSet, dynamic: &[u32]) -> BoundSet {
        BoundSet { layout: set.layout().clone(), content: set.content(), dynamic: dynamic.into() }
    }

    /// The descriptor at a binding's element, and its dynamic offset.
    pub fn descriptor(&self, number: u32, element: u32) -> Option<(&Descriptor, u32)> {
        let binding = self.layout.binding(number).filter(|binding| element < binding.count)?;
        let descriptor = self.content.get((binding.slot + element) as usize)?;
        let dynamic = match binding.is_dynamic() {
            true => self.dynamic.get((binding.dynamic + element) as usize).copied()?,
            false => 0,
        };
        Some((descriptor, dynamic))
    }
}

/// Masks and reference of the stencil test of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StencilFace {
    /// Bits that are compared.
    pub compare_mask: u32,
    /// Bits that change.
    pub write_mask: u32,
    /// The reference.
    pub reference: u32,
}

/// State that commands or the pipeline set.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    /// Viewport 0.
    pub viewport: vk::Viewport,
    /// Scissor 0.
    pub scissor: vk::Rect2D,
    /// Width of lines.
    pub line_width: f32,
    /// Depth bias: constant, clamp, slope.
    pub depth_bias: [f32; 3],
    /// Blend constants.
    pub blend_constants: [f32; 4],
    /// Front and back.
    pub stencil: [StencilFace; 2],
}

impl Default for Dynamic {
    fn default() -> Self {
        Dynamic {
            viewport: vk::Viewport::default(),
            scissor: vk::Rect2D::default(),
            line_width: 1.0,
            depth_bias: [0.0; 3],
            blend_constants: [0.0; 4],
            stencil: [StencilFace::default(); 2],
        }
    }
}

/// A vertex buffer and its first byte.
pub type VertexBinding = Option<(Arc<Buffer>, u64)>;

/// What a draw is drawn with.
#[derive(Clone)]
pub struct Snapshot {
    /// The pipeline.
    pub pipeline: Arc<Pipeline>,
    /// State, the pipeline's included.
    pub dynamic: Dynamic,
    /// Vertex buffers by binding.
    pub vertices: Arc<Vec<VertexBinding>>,
    /// The index buffer.
    pub indices: Option<IndexBinding>,
    sets: Arc<Vec<Option<BoundSet>>>,
    push: Arc<Vec<u8>>,
}

impl Snapshot {
    /// A descriptor and its dynamic offset.
    pub fn descriptor(&self, set: u32, number: u32, element: u32) -> Result<(&Descriptor, u32), Error> {
        let bound = self.sets.get(set as usize).and_then(Option::as_ref);
        let found = bound.and_then(|bound| bound.descriptor(number, element));
        found.ok_or_else(|| {
            let place = format!("set {set}, binding {number}, element {element}");
            Error::InvalidUse(format!("a draw whose shader uses {place}, which is not bound"))
        })
    }

    /// The push-constant word at a byte offset; 0 beyond what there is.
    pub fn push_word(&self, offset: u32) -> u32 {
        let at = offset as usize;
        let bytes = self.push.get(at..at + 4).and_then(|bytes| bytes.first_chunk::<4>());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }
}

/// What is bound and set while recording.
pub struct State {
    pipeline: Option<Arc<Pipeline>>,
    dynamic: Dynamic,
    vertices: Arc<Vec<VertexBinding>>,
    indices: Option<IndexBinding>,
    sets: Arc<Vec<Option<BoundSet>>>,
    push: Arc<Vec<u8>>,
}

impl Default for State {
    fn default() -> Self {
        State {
            pipeline: None,
            dynamic: Dynamic::default(),
            vertices: Arc::new(vec![None; MAX_ATTRIBUTES as usize]),
            indices: None,
            sets: Arc::new(vec![None; MAX_SETS as usize]),
            push: Arc::new(vec![0; MAX_PUSH_BYTES as usize]),
        }
    }
}

impl State {
    /// Binds a graphics pipeline.
    pub fn bind_pipeline(&mut self, pipeline: &Arc<Pipeline>) {
        self.pipeline = Some(pipeline.clone());
    }

    /// The state that commands set.
    pub fn dynamic(&mut self) -> &mut Dynamic {
        &mut self.dynamic
    }

    /// Binds sets from number `first` on; they share the dynamic offsets in order.
    pub fn bind_sets(
        &mut self,
        first: u32,
        sets: &[Arc<DescriptorSet>],
        mut dynamic: &[u32],
    ) -> Result<(), Error> {
        let places = Arc::make_mut(&mut self.sets);
        for (index, set) in sets.iter().enumerate() {
            let count = set.layout().dynamics() as usize;
            let few = || Error::InvalidUse(format!("descriptor set {index} lacks dynamic offsets"));
            let (own, rest) = dynamic.split_at_checked(count).ok_or_else(few)?;
            let place = places.get_mut(first as usize + index);
            let many = || Error::InvalidUse(format!("set number {first} + {index} of {MAX_SETS}"));
            *place.ok_or_else(many)? = Some(BoundSet::new(set, own));
            dynamic = rest;
        }
        Ok(())
    }

    /// Binds vertex buffers from binding `first` on.
    pub fn bind_vertices(&mut self, first: u32, buffers: &[(Arc<Buffer>, u64)]) -> Result<(), Error> {
        let places = Arc::make_mut(&mut self.vertices);
        for (index, buffer) in buffers.iter().enumerate() {
            let place = places.get_mut(first as usize + index);
            let many = || Error::InvalidUse(format!("vertex binding {first} + {index} of {MAX_ATTRIBUTES}"));
            *place.ok_or_else(many)? = Some(buffer.clone());
        }
        Ok(())
    }

    /// Binds an index buffer.
    pub fn bind_indices(&mut self, binding: IndexBinding) {
        self.indices = Some(binding);
    }

    /// Sets push constants.
    pub fn push(&mut self, offset: u32, values: &[u8]) -> Result<(), Error> {
        let bytes = Arc::make_mut(&mut self.push);
        let start = offset as usize;
        let place = start.checked_add(values.len()).and_then(|end| bytes.get_mut(start..end));
        let outside = || Error::InvalidUse(format!("{} bytes of push constants at {offset}", values.len()));
        place.ok_or_else(outside)?.copy_from_slice(values);
        Ok(())
    }

    /// What a draw needs.
    pub fn snapshot(&self) -> Result<Snapshot, Error> {
        let unbound = || Error::InvalidUse("a draw without a pipeline".into());
        let pipeline = self.pipeline.clone().ok_or_else(unbound)?;
        let dynamic = pipeline.fix(self.dynamic);
        Ok(Snapshot {
            pipeline,
            dynamic,
            vertices: self.vertices.clone(),
            indices: self.indices.clone(),
            sets: self.sets.clone(),
            push: self.push.clone(),
        })
    }
}
