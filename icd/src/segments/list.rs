//! Draws in the order of recording. State that draws share stands once: a draw is a handful of places in the
//! tables of its list, so recording one costs what changed since the one before.

use std::sync::Arc;

use ash::vk;

use rustc_hash::FxHashMap;

use super::draw::{DrawCall, IndexBinding, IndirectDraw};
use crate::foundation::error::Error;
use crate::foundation::limits::{MAX_ATTRIBUTES, MAX_SETS};
use crate::objects::buffer::Buffer;
use crate::objects::descriptor::{Descriptor, DescriptorSet, Descriptors};
use crate::pipeline::Pipeline;
use crate::pipeline::dynamic::Dynamic;

/// A place in a table that holds nothing.
const NONE: u32 = u32::MAX;

/// Where the parts of a state stand in their list. Equal places are equal parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawState {
    /// The pipeline.
    pub pipeline: u32,
    /// Dynamic state.
    pub dynamic: u32,
    /// Vertex buffers.
    pub vertices: u32,
    /// The index buffer.
    pub indices: u32,
    /// Descriptor sets and dynamic offsets.
    pub sets: u32,
    /// Push constants.
    pub push: u32,
}

impl DrawState {
    /// The state before anything was bound.
    pub const NOTHING: DrawState =
        DrawState { pipeline: NONE, dynamic: NONE, vertices: NONE, indices: NONE, sets: NONE, push: NONE };
}

/// A draw command.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// The place of its state; draws between which nothing changes have the same.
    pub state: u32,
    /// What is drawn.
    pub call: DrawCall,
}

/// A vertex buffer of a table.
#[derive(Clone, Copy)]
struct VertexSlot {
    buffer: u32,
    offset: u64,
}

/// A descriptor set of a table, and the place of its first dynamic offset.
#[derive(Clone, Copy)]
struct SetSlot {
    set: u32,
    offsets: u32,
}

impl SetSlot {
    const NOTHING: SetSlot = SetSlot { set: NONE, offsets: 0 };
}

/// The bound sets of a state: a part of `slots`. As short as they allow, since one is written whenever a set changes, to
/// memory that the queue thread's core had last.
#[derive(Clone, Copy, Default)]
struct SetTable {
    /// The place of set 0.
    first: u32,
    /// Sets up to the last that is bound.
    count: u32,
    /// Those that are others than in the table before: bit n for set n.
    changed: u32,
}

/// Push constants of a state: a part of `push_words`, as long as something was pushed.
#[derive(Clone, Copy)]
struct Pushed {
    first: u32,
    count: u32,
}

/// A part of a table.
fn part<T>(table: &[T], first: u32, count: u32) -> &[T] {
    &table[first as usize..][..count as usize]
}

/// A set that draws use: its content at the time of the first of them. Sets must not change between binding and
/// execution (Vulkan 1.0 §13.2.6), so the content is that of the execution, too.
struct BoundSet {
    set: Arc<DescriptorSet>,
    content: Descriptors,
}

/// Draws of one pass, one behind the other.
#[derive(Default)]
pub struct DrawList {
    draws: Vec<Draw>,
    states: Vec<DrawState>,
    indirect: Vec<IndirectDraw>,
    pipelines: Vec<Arc<Pipeline>>,
    dynamics: Vec<Dynamic>,
    vertices: Vec<[VertexSlot; MAX_ATTRIBUTES as usize]>,
    indices: Vec<IndexBinding>,
    sets: Vec<SetTable>,
    slots: Vec<SetSlot>,
    offsets: Vec<u32>,
    push: Vec<Pushed>,
    push_words: Vec<u32>,
    buffers: Vec<Arc<Buffer>>,
    bound: Vec<BoundSet>,
    /// The place that was looked for last: one set with many offsets is bound again and again.
    last_bound: u32,
    /// Places of `buffers` and `bound` by address.
    places: FxHashMap<usize, u32>,
    /// Labels of the application, each with the number of the first draw that it is for.
    labels: Vec<(usize, Option<Arc<str>>)>,
}

impl DrawList {
    /// The draws.
    #[inline]
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// The pipelines that draws use.
    pub fn pipelines(&self) -> &[Arc<Pipeline>] {
        &self.pipelines
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }

    /// The state of a draw of this list.
    #[inline]
    pub fn state(&self, draw: &Draw) -> Snapshot<'_> {
        Snapshot { list: self, state: self.states[draw.state as usize] }
    }

    /// Whether two draws have one pipeline.
    #[inline]
    pub fn shares_pipeline(&self, a: &Draw, b: &Draw) -> bool {
        let pipeline = |draw: &Draw| self.states[draw.state as usize].pipeline;
        a.state == b.state || pipeline(a) == pipeline(b)
    }

    /// Takes all draws out and keeps the memory of the tables.
    pub fn clear(&mut self) {
        let DrawList { draws, states, indirect, pipelines, dynamics, vertices, indices, sets, .. } = self;
        draws.clear();
        states.clear();
        indirect.clear();
        pipelines.clear();
        dynamics.clear();
        vertices.clear();
        indices.clear();
        sets.clear();
        self.slots.clear();
        self.offsets.clear();
        self.push.clear();
        self.push_words.clear();
        self.buffers.clear();
        self.bound.clear();
        self.places.clear();
        self.labels.clear();
        self.last_bound = 0;
    }

    /// Draws from here on have a label, or none.
    pub fn mark(&mut self, label: Option<&Arc<str>>) {
        self.labels.retain(|(first, _)| *first != self.draws.len());
        self.labels.push((self.draws.len(), label.cloned()));
    }

    /// The label of a draw.
    pub fn label(&self, draw: usize) -> Option<&Arc<str>> {
        self.labels.iter().rfind(|(first, _)| *first <= draw)?.1.as_ref()
    }

    /// The labels that draws have, in order.
    pub fn labels(&self) -> impl Iterator<Item = &Arc<str>> {
        self.labels
            .iter()
            .filter(|(first, _)| *first < self.draws.len())
            .filter_map(|(_, label)| label.as_ref())
    }

    /// The commands of an indirect draw.
    pub fn indirect(&self, place: u32) -> Option<&IndirectDraw> {
        self.indirect.get(place as usize)
    }

    /// The buffers that draws take vertices, indices and arguments from.
    pub fn buffers(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        let arguments = self.indirect.iter().flat_map(|draw| {
            let counted = draw.counted.as_ref().map(|(buffer, _)| buffer);
            std::iter::once(&draw.buffer).chain(counted)
        });
        self.buffers.iter().chain(self.indices.iter().map(|binding| &binding.buffer)).chain(arguments)
    }

    /// All that stands in sets that draws use.
    pub fn descriptors(&self) -> impl Iterator<Item = &Descriptor> {
        self.bound.iter().flat_map(|bound| bound.content.iter())
    }

    /// The last draw's state.
    #[inline]
    pub fn last(&self) -> Option<DrawState> {
        self.states.last().copied()
    }

    /// Appends a state; the draws behind it have it.
    pub fn add_state(&mut self, state: DrawState) {
        self.states.push(state);
    }

    /// Appends a draw with the last state.
    #[inline]
    pub fn push(&mut self, call: DrawCall) {
        self.draws.push(Draw { state: self.states.len() as u32 - 1, call });
    }

    /// Files the parameters of an indirect draw; its place.
    pub fn add_indirect(&mut self, draw: IndirectDraw) -> u32 {
        place(&mut self.indirect, draw)
    }

    /// Files a pipeline; its place.
    pub fn add_pipeline(&mut self, pipeline: &Arc<Pipeline>) -> u32 {
        place(&mut self.pipelines, pipeline.clone())
    }

    /// Files dynamic state; its place.
    pub fn add_dynamic(&mut self, dynamic: Dynamic) -> u32 {
        place(&mut self.dynamics, dynamic)
    }

    /// Files an index buffer; its place.
    pub fn add_indices(&mut self, binding: Option<&IndexBinding>) -> u32 {
        binding.map_or(NONE, |binding| place(&mut self.indices, binding.clone()))
    }

    /// Files vertex buffers, by binding; the place of their table.
    pub fn add_vertices(&mut self, bound: &[Option<(Arc<Buffer>, u64)>]) -> u32 {
        let mut table = [VertexSlot { buffer: NONE, offset: 0 }; MAX_ATTRIBUTES as usize];
        for (slot, bound) in table.iter_mut().zip(bound) {
            if let Some((buffer, offset)) = bound {
                let buffers = &mut self.buffers;
                let key = Arc::as_ptr(buffer) as usize;
                let buffer = *self.places.entry(key).or_insert_with(|| place(buffers, buffer.clone()));
                *slot = VertexSlot { buffer, offset: *offset };
            }
        }
        place(&mut self.vertices, table)
    }

    /// Adds bound sets with their dynamic offsets; those that are not `changed` stand as in the table `last`.
    pub fn add_sets<'a>(
        &mut self,
        last: u32,
        changed: u32,
        bound: impl Fn(usize) -> Option<(&'a Arc<DescriptorSet>, &'a [u32])>,
    ) -> u32 {
        let last = self.sets.get(last as usize).copied().unwrap_or_default();
        let first = self.slots.len();
        self.slots.extend_from_within(last.first as usize..(last.first + last.count) as usize);
        let mut left = changed & ((1 << MAX_SETS) - 1);
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            left &= left - 1;
            let slot = bound(number).map(|(set, offsets)| self.bind(set, offsets));
            match (self.slots.get_mut(first + number), slot) {
                (Some(old), slot) => *old = slot.unwrap_or(SetSlot::NOTHING),
                (None, None) => {}
                (None, Some(slot)) => {
                    self.slots.resize(first + number, SetSlot::NOTHING);
                    self.slots.push(slot);
                }
            }
        }
        let count = (self.slots.len() - first) as u32;
        place(&mut self.sets, SetTable { first: first as u32, count, changed })
    }

    /// Files a set with its dynamic offsets.
    fn bind(&mut self, set: &Arc<DescriptorSet>, offsets: &[u32]) -> SetSlot {
        let known = self.bound.get(self.last_bound as usize);
        if !known.is_some_and(|known| Arc::ptr_eq(&known.set, set)) {
            let sets = &mut self.bound;
            let key = Arc::as_ptr(set) as usize;
            let add = || place(sets, BoundSet { set: set.clone(), content: set.content() });
            self.last_bound = *self.places.entry(key).or_insert_with(add);
        }
        let first = self.offsets.len() as u32;
        self.offsets.extend_from_slice(offsets);
        SetSlot { set: self.last_bound, offsets: first }
    }

    /// Files push constants; their place.
    pub fn add_push(&mut self, words: &[u32]) -> u32 {
        let pushed = Pushed { first: self.push_words.len() as u32, count: words.len() as u32 };
        self.push_words.extend_from_slice(words);
        place(&mut self.push, pushed)
    }
}

/// Appends to a table.
fn place<T>(table: &mut Vec<T>, item: T) -> u32 {
    table.push(item);
    table.len() as u32 - 1
}

/// A descriptor that is bound.
pub struct Bound<'a> {
    /// It.
    pub descriptor: &'a Descriptor,
    /// Its place among the dynamic offsets of its set, if it has one.
    pub dynamic: Option<u32>,
    /// The dynamic offset, or 0.
    pub offset: u32,
    /// It is an input attachment: each view of a pass reads a layer of its own.
    pub is_input: bool,
}

/// What a draw is drawn with.
#[derive(Clone, Copy)]
pub struct Snapshot<'a> {
    list: &'a DrawList,
    /// Where its parts stand.
    pub state: DrawState,
}

impl<'a> Snapshot<'a> {
    /// The pipeline.
    #[inline]
    pub fn pipeline(&self) -> &'a Arc<Pipeline> {
        &self.list.pipelines[self.state.pipeline as usize]
    }

    /// State, the pipeline's included.
    #[inline]
    pub fn dynamic(&self) -> &'a Dynamic {
        &self.list.dynamics[self.state.dynamic as usize]
    }

    /// The vertex buffer of a binding and its first byte.
    pub fn vertices(&self, binding: u32) -> Option<(&'a Arc<Buffer>, u64)> {
        let slot = self.list.vertices.get(self.state.vertices as usize)?.get(binding as usize)?;
        Some((self.list.buffers.get(slot.buffer as usize)?, slot.offset))
    }

    /// The index buffer.
    pub fn indices(&self) -> Option<&'a IndexBinding> {
        self.list.indices.get(self.state.indices as usize)
    }

    /// A descriptor and its dynamic offset.
    pub fn descriptor(&self, set: u32, number: u32, element: u32) -> Result<Bound<'a>, Error> {
        self.find(set, number, element).ok_or_else(|| {
            let place = format!("set {set}, binding {number}, element {element}");
            Error::InvalidUse(format!("a draw whose shader uses {place}, which is not bound"))
        })
    }

    #[inline]
    fn slot(&self, set: u32) -> Option<&'a SetSlot> {
        let table = self.list.sets.get(self.state.sets as usize)?;
        part(&self.list.slots, table.first, table.count).get(set as usize)
    }

    /// What tells one set of a list from all others; `None` if there is none.
    #[inline]
    pub fn set_place(&self, set: u32) -> Option<u32> {
        self.slot(set).map(|slot| slot.set)
    }

    /// A dynamic offset of a set, by its place among them.
    #[inline]
    pub fn dynamic_offset(&self, set: u32, place: u32) -> Option<u32> {
        self.list.offsets.get((self.slot(set)?.offsets + place) as usize).copied()
    }

    fn find(&self, set: u32, number: u32, element: u32) -> Option<Bound<'a>> {
        let slot = self.slot(set)?;
        let bound = self.list.bound.get(slot.set as usize)?;
        let binding = bound.set.layout().binding(number).filter(|binding| element < binding.slots())?;
        let descriptor = bound.content.get((binding.slot + element) as usize)?;
        let dynamic = binding.is_dynamic().then_some(binding.dynamic + element);
        let offset = match dynamic {
            Some(place) => self.dynamic_offset(set, place)?,
            None => 0,
        };
        let is_input = binding.ty == vk::DescriptorType::INPUT_ATTACHMENT;
        Some(Bound { descriptor, dynamic, offset, is_input })
    }

    /// The words of push constants, as far as there are any.
    pub fn push(&self) -> &'a [u32] {
        let Pushed { first, count } = self.list.push[self.state.push as usize];
        part(&self.list.push_words, first, count)
    }

    /// The sets that are others than in the table before: bit n for set n.
    pub fn changed_sets(&self) -> u32 {
        self.list.sets.get(self.state.sets as usize).map_or(0, |table| table.changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::descriptor::SetLayout;

    #[test]
    fn a_table_of_sets_keeps_what_did_not_change() {
        let layout = Arc::new(SetLayout::new(Vec::new()));
        let [a, b] = [(); 2].map(|()| Arc::new(DescriptorSet::new(&layout)));
        let mut list = DrawList::default();
        let mut add = |last, changed, bound: [Option<(&Arc<DescriptorSet>, &[u32])>; 3]| {
            list.add_sets(last, changed, |number| bound.get(number).copied().flatten())
        };
        let first = add(NONE, u32::MAX, [None, Some((&a, &[5])), None]);
        // What is not said to have changed is not asked for.
        let moved = add(first, 0b010, [None, Some((&a, &[7])), Some((&b, &[]))]);
        let more = add(moved, 0b101, [Some((&b, &[1])), None, Some((&a, &[9, 10]))]);
        let fewer = add(more, u32::MAX, [None, Some((&b, &[2])), None]);
        let sets = |table| {
            let snapshot = Snapshot { list: &list, state: DrawState { sets: table, ..DrawState::NOTHING } };
            [0, 1, 2, MAX_SETS].map(|set| {
                let place = snapshot.set_place(set).filter(|place| *place != NONE)?;
                snapshot.dynamic_offset(set, 0).map(|offset| (place, offset))
            })
        };
        assert_eq!(sets(first), [None, Some((0, 5)), None, None]);
        assert_eq!(sets(moved), [None, Some((0, 7)), None, None]);
        assert_eq!(sets(more), [Some((1, 1)), Some((0, 7)), Some((0, 9)), None]);
        assert_eq!(sets(fewer), [None, Some((1, 2)), None, None]);
        assert_eq!(list.bound.len(), 2);
    }
}
