//! What names stand for at a point of the translation.
//!
//! Variables are flattened to *slots*, one per scalar; the value of a slot changes as the translation walks
//! the structured tree, which makes SSA without a separate pass: where ways meet, slots with different values
//! get a phi. Changes since a branch are kept in a layer of their own, so that joining costs what changed.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirv::StorageClass;

use crate::binding::{Descriptor, Texture};
use crate::ir::{Memory, Op, Output, Texel, Type, Value};
use crate::spirv::binary::Id;
use crate::spirv::types::{ImageType, Ty};

/// What a result id stands for.
#[derive(Clone, Debug)]
pub enum Entity {
    /// A flattened value.
    Data(Rc<[Value]>),
    /// A pointer.
    Pointer(Rc<Pointer>),
    /// An image, perhaps with a sampler.
    Image {
        /// Where they are bound.
        texture: Texture,
        /// Its type.
        image: ImageType,
    },
    /// A sampler without an image.
    Sampler(Descriptor),
    /// A pointer to a texel.
    Texel(Rc<TexelPointer>),
    /// What stands in an array of descriptors, or was made of it, by an index that is not constant.
    Chosen(Rc<Chosen>),
}

/// One of several things by an index.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The index. Outside the array it leads to any of the elements.
    pub index: Value,
    /// What each element is; at least one, all of a kind.
    pub elements: Vec<Entity>,
}

/// What OpImageTexelPointer points to.
#[derive(Clone, Debug)]
pub struct TexelPointer {
    /// The image.
    pub texel: Texel,
    /// Coordinates, with layer and sample.
    pub coordinates: SmallVec<[Value; 4]>,
}

impl Entity {
    /// Whether both are the same definition.
    pub fn is(&self, other: &Entity) -> bool {
        match (self, other) {
            (Entity::Data(a), Entity::Data(b)) => Rc::ptr_eq(a, b) || a == b,
            (Entity::Pointer(a), Entity::Pointer(b)) => Rc::ptr_eq(a, b),
            (Entity::Image { texture: a, .. }, Entity::Image { texture: b, .. }) => a == b,
            (Entity::Sampler(a), Entity::Sampler(b)) => a == b,
            (Entity::Texel(a), Entity::Texel(b)) => Rc::ptr_eq(a, b),
            (Entity::Chosen(a), Entity::Chosen(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Slots of a variable.
    Slots {
        /// The variable's first slot.
        base: u32,
        /// Its number of slots.
        count: u32,
    },
    /// A buffer that does not change while the shader runs: a uniform buffer, or any in stages that store nothing.
    Ubo(Descriptor),
    /// A storage buffer that may change.
    Buffer(Descriptor),
    /// Memory of the workgroup or the invocation, scalar by scalar.
    Words {
        /// Which.
        memory: Memory,
        /// Byte where the variable begins.
        base: u32,
    },
    /// Scratch memory that holds a constant from the start; what is stored there is that constant again.
    Table {
        /// Byte where it begins.
        base: u32,
    },
    /// The push constants.
    Push,
    /// An image, a sampler, both in one, or an array of them.
    Image(Descriptor),
}

/// A step of an access chain whose index is not constant.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The index.
    pub index: Value,
    /// Distance of neighbours: bytes in buffers, scalars elsewhere.
    pub stride: u32,
    /// Number of elements.
    pub count: u32,
}

/// How matrices lie in a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatrixLayout {
    /// Bytes between columns, or between rows if `row_major`.
    pub stride: u32,
    /// Rows are contiguous.
    pub row_major: bool,
}

/// A pointer: a place, a constant offset and dynamic steps.
#[derive(Clone, Debug)]
pub struct Pointer {
    /// What it points into.
    pub place: Place,
    /// Storage class.
    pub class: StorageClass,
    /// Bytes into the buffer; scalars elsewhere.
    pub offset: u32,
    /// Steps with dynamic index.
    pub dynamic: SmallVec<[Step; 1]>,
    /// Type of what it points to.
    pub ty: Ty,
    /// Layout of a matrix at or below this place.
    pub matrix: MatrixLayout,
    /// Bytes between the components of a vector at this place.
    pub component_stride: u32,
}

impl Pointer {
    /// A pointer to all of a place.
    pub fn new(place: Place, class: StorageClass, ty: Ty) -> Pointer {
        Pointer {
            place,
            class,
            offset: 0,
            dynamic: SmallVec::new(),
            ty,
            matrix: MatrixLayout::default(),
            component_stride: 4,
        }
    }
}

/// Built-ins that can be read or written.
pub const BUILTINS: &str = "gl_VertexIndex, gl_InstanceIndex, gl_BaseVertex, gl_BaseInstance, gl_DrawID, gl_ViewIndex, gl_FragCoord, gl_FrontFacing, gl_PointCoord, \
    gl_SampleMaskIn, gl_SampleID, gl_SamplePosition, gl_HelperInvocation, gl_NumWorkGroups, gl_WorkGroupSize, gl_WorkGroupID, gl_LocalInvocationID, \
    gl_LocalInvocationIndex, gl_GlobalInvocationID, gl_NumSubgroups, gl_SubgroupID, gl_SubgroupSize, gl_SubgroupInvocationID, gl_Subgroup*Mask (inputs); gl_Position, gl_PointSize, gl_FragDepth, gl_SampleMask (outputs); gl_ClipDistance, gl_CullDistance";

/// What a slot holds before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Any value.
    Undef,
    /// False: exit flags of constructs.
    False,
    /// An input, loaded on first use.
    Load(Op),
    /// A built-in whose value is known: one of subgroups.
    Known(u32),
    /// The first word of gl_Subgroup*Mask.
    SubgroupMask(SubgroupMask),
    /// gl_GlobalInvocationID along an axis.
    Global(u8),
    /// A built-in that this compiler lacks.
    Unsupported(String),
}

/// The invocations of a subgroup that compare so with the one that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubgroupMask {
    /// Itself.
    Eq,
    /// Itself and those behind it.
    Ge,
    /// Those behind it.
    Gt,
    /// Itself and those before it.
    Le,
    /// Those before it.
    Lt,
}

/// A scalar of a variable.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Type.
    pub ty: Type,
    /// Value before the first store.
    pub initial: Initial,
}

/// A slot of an output variable.
#[derive(Clone, Debug)]
pub struct OutputSlot {
    /// The slot.
    pub slot: u32,
    /// The output, or what was asked for that there is not.
    pub target: std::result::Result<Output, String>,
}

/// Number of a function's inlined copy, with an id in it.
pub type Key = (u32, Id);

/// Changes of slots and ids.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Values of slots.
    pub slots: BTreeMap<u32, Value>,
    /// Meaning of ids.
    pub ids: FxHashMap<Key, Entity>,
}

/// The layers, outermost first.
#[derive(Debug)]
pub struct Env {
    layers: Vec<Layer>,
}

impl Default for Env {
    fn default() -> Env {
        Env { layers: vec![Layer::default()] }
    }
}

impl Env {
    /// Number of layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Begins a layer.
    pub fn push(&mut self, layer: Layer) {
        self.layers.push(layer);
    }

    /// Ends the innermost layer and returns its changes.
    pub fn pop(&mut self) -> Layer {
        self.layers.pop().unwrap_or_default()
    }

    /// The changes of all layers above `depth`.
    pub fn changes(&self, depth: usize) -> Layer {
        let mut all = Layer::default();
        for layer in &self.layers[depth..] {
            all.slots.extend(layer.slots.iter().map(|(&slot, &value)| (slot, value)));
            all.ids.extend(layer.ids.iter().map(|(&key, entity)| (key, entity.clone())));
        }
        all
    }

    /// Takes over changes into the innermost layer.
    pub fn absorb(&mut self, changes: Layer) {
        if let Some(top) = self.layers.last_mut() {
            top.slots.extend(changes.slots);
            top.ids.extend(changes.ids);
        }
    }

    /// The value of a slot, if it was written.
    pub fn slot(&self, slot: u32) -> Option<Value> {
        self.layers.iter().rev().find_map(|layer| layer.slots.get(&slot).copied())
    }

    /// Changes a slot.
    pub fn set_slot(&mut self, slot: u32, value: Value) {
        if let Some(top) = self.layers.last_mut() {
            top.slots.insert(slot, value);
        }
    }

    /// Sets what a slot held from the start.
    pub fn set_initial(&mut self, slot: u32, value: Value) {
        if let Some(bottom) = self.layers.first_mut() {
            bottom.slots.insert(slot, value);
        }
    }

    /// What an id stands for.
    pub fn id(&self, key: Key) -> Option<&Entity> {
        self.layers.iter().rev().find_map(|layer| layer.ids.get(&key))
    }

    /// Defines an id.
    pub fn set_id(&mut self, key: Key, entity: Entity) {
        if let Some(top) = self.layers.last_mut() {
            top.ids.insert(key, entity);
        }
    }

    /// Forgets slots from `slot` on and the ids of a function copy: an inlined call has ended.
    pub fn forget(&mut self, slot: u32, copy: u32) {
        if let Some(top) = self.layers.last_mut() {
            top.slots.split_off(&slot);
            top.ids.retain(|&(owner, _), _| owner != copy);
        }
    }
}
