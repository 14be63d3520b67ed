//! Descriptor set layouts, pools and sets. A set is an array of resolved resources that is replaced as a
//! whole, so that recorded work keeps what it was recorded with.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::{HostAllocator, Object};
use crate::foundation::limits::MAX_SET_DESCRIPTORS;
use crate::objects::buffer::{Buffer, BufferView};
use crate::objects::image_view::ImageView;
use crate::objects::sampler::Sampler;

/// One binding of a layout.
#[derive(Clone)]
pub struct Binding {
    /// Binding number.
    pub number: u32,
    /// Type.
    pub ty: vk::DescriptorType,
    /// Elements.
    pub count: u32,
    /// Stages that may read it.
    pub stages: vk::ShaderStageFlags,
    /// Immutable samplers, one per element, or none.
    pub immutable: Vec<Arc<Sampler>>,
    /// Slot of element 0 in sets.
    pub slot: u32,
    /// Planes of the images that its samplers convert; 1 if they convert none. Elements stand one after the other in sets, all
    /// first planes, then all second ones, and so on: to shaders planes are elements like others.
    planes: u32,
    /// Place of element 0 among the set's dynamic offsets, for dynamic buffers.
    pub dynamic: u32,
}

impl Binding {
    /// A binding; where it lies in sets is the layout's to say.
    pub fn new(
        number: u32,
        ty: vk::DescriptorType,
        count: u32,
        stages: vk::ShaderStageFlags,
        immutable: Vec<Arc<Sampler>>,
    ) -> Binding {
        let planes = immutable.iter().map(|sampler| sampler.planes()).max().unwrap_or(1);
        Binding { number, ty, count, stages, immutable, slot: 0, planes, dynamic: 0 }
    }

    /// Slots in all.
    pub fn slots(&self) -> u32 {
        self.count.saturating_mul(self.planes)
    }

    /// The element that a plane of an element is to shaders.
    pub fn element_of_plane(&self, element: u32, plane: u32) -> u32 {
        plane * self.count + element
    }

    /// What samples a plane, if the layout says so.
    fn sampler(&self, element: u32, plane: u32) -> Option<&Arc<Sampler>> {
        self.immutable.get(element as usize).map(|sampler| sampler.of_plane(plane))
    }

    /// Whether its buffers take a dynamic offset.
    pub fn is_dynamic(&self) -> bool {
        matches!(
            self.ty,
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC | vk::DescriptorType::STORAGE_BUFFER_DYNAMIC
        )
    }
}

/// VkDescriptorSetLayout.
pub struct SetLayout {
    /// Bindings by increasing number.
    bindings: Vec<Binding>,
    slots: u32,
    dynamics: u32,
}

impl Object for SetLayout {
    type Handle = vk::DescriptorSetLayout;
}

impl SetLayout {
    /// As [`SetLayout::new`], unless it has more descriptors than a set may have (maxPerSetDescriptors).
    pub fn checked(bindings: Vec<Binding>) -> Result<SetLayout, Error> {
        let descriptors: u64 = bindings.iter().map(|binding| u64::from(binding.count)).sum();
        if descriptors > u64::from(MAX_SET_DESCRIPTORS) {
            return Err(Error::InvalidUse(format!(
                "{descriptors} descriptors in a set, of which {MAX_SET_DESCRIPTORS} are the most"
            )));
        }
        Ok(SetLayout::new(bindings))
    }

    /// A layout; `slot` and `dynamic` of the bindings are filled in here.
    pub fn new(mut bindings: Vec<Binding>) -> SetLayout {
        bindings.sort_by_key(|binding| binding.number);
        let (mut slots, mut dynamics) = (0, 0);
        for binding in &mut bindings {
            (binding.slot, binding.dynamic) = (slots, dynamics);
            slots += binding.slots();
            dynamics += if binding.is_dynamic() { binding.count } else { 0 };
        }
        SetLayout { bindings, slots, dynamics }
    }

    /// The bindings by increasing number.
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The binding with that number.
    pub fn binding(&self, number: u32) -> Option<&Binding> {
        let index = self.bindings.binary_search_by_key(&number, |binding| binding.number).ok()?;
        self.bindings.get(index)
    }

    /// Whether the samplers of a binding are part of the layout.
    pub fn has_immutable(&self, number: u32) -> bool {
        self.binding(number).is_some_and(|binding| !binding.immutable.is_empty())
    }

    /// Number of dynamic offsets that binding a set takes.
    pub fn dynamics(&self) -> u32 {
        self.dynamics
    }

    /// The place of `element` counted from binding `number`; elements may run over into the bindings that
    /// follow (vkUpdateDescriptorSets, "consecutive binding updates").
    fn place(&self, number: u32, mut element: u32) -> Option<(&Binding, u32)> {
        let first = self.bindings.binary_search_by_key(&number, |binding| binding.number).ok()?;
        for binding in &self.bindings[first..] {
            if element < binding.count {
                return Some((binding, element));
            }
            element -= binding.count;
        }
        None
    }
}

/// What one slot of a set holds.
#[derive(Clone, Default)]
pub enum Descriptor {
    /// Never written.
    #[default]
    Empty,
    /// A sampler alone.
    Sampler(Arc<Sampler>),
    /// An image, with a sampler if the type has one.
    Image {
        /// The view; `None` before the first update of a slot with an immutable sampler.
        view: Option<Arc<ImageView>>,
        /// The sampler.
        sampler: Option<Arc<Sampler>>,
    },
    /// A range of a buffer.
    Buffer {
        /// The buffer.
        buffer: Arc<Buffer>,
        /// First byte, without the dynamic offset.
        offset: u64,
        /// Bytes; VK_WHOLE_SIZE resolved.
        range: u64,
    },
    /// A texel view of a buffer.
    Texels(Arc<BufferView>),
}

/// The content of a set at one moment.
pub type Descriptors = Arc<Vec<Descriptor>>;

/// VkDescriptorSet.
pub struct DescriptorSet {
    layout: Arc<SetLayout>,
    content: Mutex<Descriptors>,
}

impl Object for DescriptorSet {
    type Handle = vk::DescriptorSet;
}

impl DescriptorSet {
    /// A set that holds nothing but its layout's immutable samplers.
    pub fn new(layout: &Arc<SetLayout>) -> DescriptorSet {
        let mut content = vec![Descriptor::Empty; layout.slots as usize];
        for binding in &layout.bindings {
            let elements = 0..binding.immutable.len() as u32;
            elements.for_each(|element| put(&mut content, binding, element, Descriptor::Empty));
        }
        DescriptorSet { layout: layout.clone(), content: Mutex::new(Arc::new(content)) }
    }

    /// Its layout.
    pub fn layout(&self) -> &Arc<SetLayout> {
        &self.layout
    }

    /// Its content now. Later updates do not change what was handed out.
    pub fn content(&self) -> Descriptors {
        self.content.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What pushing `writes` (binding, element, values) over `old` leaves: a set of its own, so that recorded work keeps what
    /// it was recorded with. Of another layout, or without `old`, nothing stays beside them.
    pub fn pushed(
        old: Option<&DescriptorSet>,
        layout: &Arc<SetLayout>,
        writes: Vec<(u32, u32, Vec<Descriptor>)>,
    ) -> Result<DescriptorSet, Error> {
        let set = match old.filter(|old| Arc::ptr_eq(&old.layout, layout)) {
            Some(old) => DescriptorSet { layout: layout.clone(), content: Mutex::new(old.content()) },
            None => DescriptorSet::new(layout),
        };
        writes.into_iter().try_for_each(|(binding, element, values)| set.write(binding, element, values))?;
        Ok(set)
    }

    /// vkUpdateDescriptorSets, one write: `values` go to consecutive elements from `element` of binding
    /// `number` on.
    pub fn write(&self, number: u32, element: u32, values: Vec<Descriptor>) -> Result<(), Error> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let content = Arc::make_mut(&mut content);
        for (index, value) in values.into_iter().enumerate() {
            let place = self.layout.place(number, element.saturating_add(index as u32));
            let (binding, element) = place.ok_or_else(|| outside(number, element, index))?;
            put(content, binding, element, value);
        }
        Ok(())
    }

    /// `count` descriptors from `element` of binding `number` on, for copying.
    pub fn read(&self, number: u32, element: u32, count: u32) -> Result<Vec<Descriptor>, Error> {
        let content = self.content();
        let place = |index: u32| self.layout.place(number, element.saturating_add(index));
        let one = |index: u32| match place(index) {
            Some((binding, element)) => Ok(content[(binding.slot + element) as usize].clone()),
            None => Err(outside(number, element, index as usize)),
        };
        (0..count).map(one).collect()
    }
}

fn outside(number: u32, element: u32, index: usize) -> Error {
    Error::InvalidUse(format!("a descriptor set without binding {number}, element {element} + {index}"))
}

/// Writes an element of a binding: with an immutable sampler the image only, and of images of several planes all.
fn put(content: &mut [Descriptor], binding: &Binding, element: u32, value: Descriptor) {
    for plane in 1..binding.planes {
        let view = match &value {
            Descriptor::Image { view: Some(view), .. } => view.planes.get(plane as usize - 1).cloned(),
            _ => None,
        };
        let sampler = binding.sampler(element, plane).cloned();
        let slot = binding.slot + binding.element_of_plane(element, plane);
        content[slot as usize] = Descriptor::Image { view, sampler };
    }
    let first = match (binding.sampler(element, 0), value) {
        (None, value) => value,
        (Some(sampler), _) if binding.ty == vk::DescriptorType::SAMPLER => {
            Descriptor::Sampler(sampler.clone())
        }
        (sampler, Descriptor::Image { view, .. }) => Descriptor::Image { view, sampler: sampler.cloned() },
        (sampler, _) => Descriptor::Image { view: None, sampler: sampler.cloned() },
    };
    content[(binding.slot + element) as usize] = first;
}

/// VkDescriptorUpdateTemplate.
pub struct UpdateTemplate {
    /// Where descriptors stand in the application's data, and where they go.
    pub entries: Vec<vk::DescriptorUpdateTemplateEntry>,
    /// For pushed descriptors: what they are for.
    pub point: vk::PipelineBindPoint,
}

impl Object for UpdateTemplate {
    type Handle = vk::DescriptorUpdateTemplate;
}

/// VkDescriptorPool: how much is left.
pub struct DescriptorPool {
    /// Whether sets may be freed one by one.
    pub free_sets: bool,
    /// Where sets come from.
    pub allocator: HostAllocator,
    capacity: Room,
    state: Mutex<PoolState>,
}

struct PoolState {
    room: Room,
    /// Sets that are live; the pool ends their handles.
    live: BTreeSet<vk::DescriptorSet>,
}

/// Sets and descriptors per type.
#[derive(Clone, Default)]
struct Room {
    sets: u32,
    descriptors: Vec<(vk::DescriptorType, u32)>,
}

impl Room {
    fn of(&mut self, ty: vk::DescriptorType) -> Option<&mut u32> {
        self.descriptors.iter_mut().find(|(have, _)| *have == ty).map(|(_, count)| count)
    }

    /// Takes room for a set of `layout`, all or nothing.
    fn take(&mut self, layout: &SetLayout) -> Result<(), Error> {
        let mut left = self.clone();
        left.sets = left.sets.checked_sub(1).ok_or(Error::OutOfPoolMemory("no set is left"))?;
        for binding in layout.bindings.iter().filter(|binding| binding.count > 0) {
            let count = left.of(binding.ty).ok_or(Error::OutOfPoolMemory("it has no such descriptors"))?;
            let rest = count.checked_sub(binding.count);
            *count = rest.ok_or(Error::OutOfPoolMemory("too few descriptors of a type are left"))?;
        }
        *self = left;
        Ok(())
    }

    fn give_back(&mut self, layout: &SetLayout) {
        self.sets += 1;
        for binding in &layout.bindings {
            if let Some(count) = self.of(binding.ty) {
                *count += binding.count;
            }
        }
    }
}

impl Object for DescriptorPool {
    type Handle = vk::DescriptorPool;
}

impl DescriptorPool {
    /// A pool of `sets` sets with those descriptors.
    pub fn new(
        sets: u32,
        sizes: &[vk::DescriptorPoolSize],
        free_sets: bool,
        allocator: HostAllocator,
    ) -> DescriptorPool {
        let mut capacity = Room { sets, descriptors: Vec::new() };
        for size in sizes {
            match capacity.of(size.ty) {
                Some(count) => *count = count.saturating_add(size.descriptor_count),
                None => capacity.descriptors.push((size.ty, size.descriptor_count)),
            }
        }
        let state = PoolState { room: capacity.clone(), live: BTreeSet::new() };
        DescriptorPool { free_sets, allocator, capacity, state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for a set of `layout` and makes its handle with `create`.
    pub fn allocate(
        &self,
        layout: &Arc<SetLayout>,
        create: impl FnOnce(Arc<DescriptorSet>) -> Result<vk::DescriptorSet, Error>,
    ) -> Result<vk::DescriptorSet, Error> {
        let mut state = self.state();
        state.room.take(layout)?;
        let made = create(Arc::new(DescriptorSet::new(layout)));
        match &made {
            Ok(handle) => drop(state.live.insert(*handle)),
            Err(_) => state.room.give_back(layout),
        }
        made
    }

    /// Forgets a set; whether it was of this pool, so that the caller may end it.
    pub fn forget(&self, handle: vk::DescriptorSet, layout: impl FnOnce() -> Arc<SetLayout>) -> bool {
        let mut state = self.state();
        let known = state.live.remove(&handle);
        if known {
            state.room.give_back(&layout());
        }
        known
    }

    /// Empties the pool: the handles that the caller must end.
    pub fn reset(&self) -> BTreeSet<vk::DescriptorSet> {
        let mut state = self.state();
        state.room = self.capacity.clone();
        std::mem::take(&mut state.live)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;
    use ash::vk::Handle;

    fn binding(number: u32, ty: vk::DescriptorType, count: u32) -> Binding {
        Binding::new(number, ty, count, vk::ShaderStageFlags::ALL, Vec::new())
    }

    fn buffer() -> Descriptor {
        let info = vk::BufferCreateInfo { size: 64, ..Default::default() };
        let buffer = Arc::new(Buffer::new(&device(), &info).unwrap());
        Descriptor::Buffer { buffer, offset: 0, range: 64 }
    }

    #[test]
    fn updates_run_over_into_the_next_binding_and_stop_at_the_end() {
        let ty = vk::DescriptorType::UNIFORM_BUFFER;
        let layout = Arc::new(SetLayout::new(vec![binding(5, ty, 1), binding(2, ty, 2)]));
        let set = DescriptorSet::new(&layout);
        let before = set.content();
        set.write(2, 1, vec![buffer(), buffer()]).unwrap();
        let content = set.content();
        assert!(matches!(
            content[..],
            [Descriptor::Empty, Descriptor::Buffer { .. }, Descriptor::Buffer { .. }]
        ));
        assert!(before.iter().all(|slot| matches!(slot, Descriptor::Empty)));
        assert!(set.write(5, 0, vec![buffer(), buffer()]).is_err());
        assert!(set.write(3, 0, vec![buffer()]).is_err());
        assert_eq!(set.read(2, 1, 2).unwrap().len(), 2);
        assert!(set.read(5, u32::MAX, 1).is_err());
    }

    #[test]
    fn updates_leave_immutable_samplers() {
        use vk::DescriptorType as Type;
        let device = device();
        let sampler = || Arc::new(Sampler::new(&device, &vk::SamplerCreateInfo::default()).unwrap());
        let writes = [
            // What is read of a write whose sampler handles must not be looked at.
            (Type::SAMPLER, Descriptor::Empty),
            (Type::SAMPLER, Descriptor::Sampler(sampler())),
            (Type::COMBINED_IMAGE_SAMPLER, Descriptor::Image { view: None, sampler: None }),
            (Type::COMBINED_IMAGE_SAMPLER, Descriptor::Image { view: None, sampler: Some(sampler()) }),
        ];
        for (ty, value) in writes {
            let immutable = sampler();
            let stages = vk::ShaderStageFlags::ALL;
            let binding = Binding::new(0, ty, 1, stages, vec![immutable.clone()]);
            let set = DescriptorSet::new(&Arc::new(SetLayout::new(vec![binding])));
            set.write(0, 0, vec![value]).unwrap();
            let content = set.content();
            let (Descriptor::Sampler(kept) | Descriptor::Image { sampler: Some(kept), .. }) = &content[0]
            else {
                panic!("{ty:?}: no sampler is left")
            };
            assert!(Arc::ptr_eq(kept, &immutable), "{ty:?}");
        }
    }

    #[test]
    fn a_layout_has_no_more_descriptors_than_a_set() {
        let layout = |counts: [u32; 2]| {
            let binding = |n: u32| binding(n, vk::DescriptorType::STORAGE_BUFFER, counts[n as usize]);
            SetLayout::checked(vec![binding(0), binding(1)])
        };
        assert!(layout([MAX_SET_DESCRIPTORS, 0]).is_ok());
        assert!(layout([MAX_SET_DESCRIPTORS, 1]).is_err());
        assert!(layout([u32::MAX, u32::MAX]).is_err());
    }

    #[test]
    fn dynamic_offsets_are_counted_in_binding_order() {
        let dynamic = vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC;
        let plain = vk::DescriptorType::UNIFORM_BUFFER;
        let layout =
            SetLayout::new(vec![binding(7, dynamic, 1), binding(1, dynamic, 2), binding(3, plain, 4)]);
        assert_eq!(layout.dynamics(), 3);
        assert_eq!(layout.binding(7).unwrap().dynamic, 2);
        assert_eq!(layout.binding(7).unwrap().slot, 6);
    }

    #[test]
    fn a_pool_gives_what_it_has_and_takes_it_back() {
        let ty = vk::DescriptorType::UNIFORM_BUFFER;
        let layout = Arc::new(SetLayout::new(vec![binding(0, ty, 2)]));
        let size = vk::DescriptorPoolSize { ty, descriptor_count: 5 };
        let pool = DescriptorPool::new(3, &[size], true, HostAllocator::default());
        let mut next = 0;
        let mut allocate = || {
            pool.allocate(&layout, |_| {
                next += 1;
                Ok(vk::DescriptorSet::from_raw(next))
            })
        };
        let first = allocate().unwrap();
        allocate().unwrap();
        assert!(matches!(allocate(), Err(Error::OutOfPoolMemory(_))));
        assert!(pool.forget(first, || layout.clone()));
        // Neither a second time nor of another pool.
        assert!(!pool.forget(first, || unreachable!()));
        allocate().unwrap();
        assert_eq!(pool.reset().len(), 2);
        let other = Arc::new(SetLayout::new(vec![binding(0, vk::DescriptorType::SAMPLER, 1)]));
        assert!(pool.allocate(&other, |_| Ok(vk::DescriptorSet::null())).is_err());
    }
}
