//! What the host does in between.

use ash::vk;

use super::Maker;
use crate::api::formats::ROWS;
use crate::api::shaders::seen;
use crate::api::slot::Id;
use crate::api::step::*;

impl Maker {
    pub(super) fn host_move(&mut self) {
        match self.random.below(20) {
            0 => self.host_write(),
            1 => {
                if let Some(buffer) = self.any(|what| matches!(what, Create::Buffer { .. })) {
                    self.host(Host::Read { buffer });
                }
            }
            2 => {
                if let Some(image) = self.any(|what| matches!(what, Create::Image { .. })) {
                    let seed = self.random.word();
                    let _ = self.host(Host::Prepare { image, seed }) || self.host(Host::ReadImage { image });
                }
            }
            3 => {
                if let Some(memory) = self.any(|what| matches!(what, Create::Memory { .. })) {
                    let (offset, size) = (0, vk::WHOLE_SIZE);
                    let invalidate = self.random.one_in(2);
                    if !self.host(Host::Map { memory, offset, size }) {
                        self.host(Host::Flush { memory, offset, size, invalidate });
                        self.host(Host::Unmap { memory });
                    }
                }
            }
            4 | 5 => {
                if let Some(set) = self.any(|what| matches!(what, Create::Set { .. })) {
                    self.write_set(set);
                }
            }
            6 => self.copy_set(),
            7 => self.resets(),
            8 | 9 => self.waits(),
            10 => self.events(),
            11 => self.timelines(),
            12 => self.query_results(),
            13 => {
                let device = self.random.one_in(3);
                self.host(Host::WaitIdle { device });
            }
            14 => self.caches(),
            15 | 16 if self.surfaces => {
                if let Some(swapchain) = self.any(|what| matches!(what, Create::Swapchain { .. })) {
                    let word = self.random.word();
                    self.host(Host::Frame { swapchain, word, present: true });
                }
            }
            17 => self.private(),
            _ => {
                let (what, word) = (self.random.below(6) as u32, self.random.word());
                let format = self.random.pick(&ROWS).format;
                self.host(Host::Ask { what, format, word });
            }
        }
    }

    fn host_write(&mut self) {
        let all: Vec<Id> = self.all(|what| matches!(what, Create::Buffer { .. }));
        if all.is_empty() {
            return;
        }
        let buffer = self.random.pick(&all);
        let Some((size, usage)) = self.model.buffer(buffer) else { return };
        let arguments = usage == vk::BufferUsageFlags::INDIRECT_BUFFER;
        let offset = if arguments { 0 } else { self.number(size - 1) };
        let size = if arguments { size } else { 1 + self.number(size - offset - 1) };
        let seed = self.random.word();
        self.host(Host::Write { buffer, offset, size, seed, arguments });
    }

    /// Something that a descriptor can lead to.
    pub(super) fn item(&mut self, kind: vk::DescriptorType) -> Option<Item> {
        use vk::DescriptorType as Type;
        match seen(kind) {
            kind @ (Type::UNIFORM_BUFFER | Type::STORAGE_BUFFER) => {
                let usage = match kind {
                    Type::UNIFORM_BUFFER => vk::BufferUsageFlags::UNIFORM_BUFFER,
                    _ => vk::BufferUsageFlags::STORAGE_BUFFER,
                };
                let (buffer, size) = self.a_buffer(usage)?;
                let offset = if size > 512 && self.random.one_in(3) { 256 } else { 0 };
                let room = ((size - offset) / 4 * 4).min(16384);
                let range = if self.random.one_in(2) { room } else { room.min(64) };
                Some(Item::Buffer { buffer, offset, range })
            }
            Type::UNIFORM_TEXEL_BUFFER => {
                let view = self.any(|what| matches!(what, Create::BufferView { .. }))?;
                Some(Item::Texels { view })
            }
            _ => {
                let view =
                    self.any(|what| matches!(what, Create::View { kind: vk::ImageViewType::TYPE_2D, .. }));
                let sampler = match kind {
                    Type::COMBINED_IMAGE_SAMPLER => Some(
                        self.any(|what| matches!(what, Create::Sampler { .. })).or_else(|| self.sampler())?,
                    ),
                    _ => None,
                };
                Some(Item::Image { view, sampler })
            }
        }
    }

    fn sampler(&mut self) -> Option<Id> {
        self.make(Create::Sampler {
            filter: vk::Filter::NEAREST,
            address: vk::SamplerAddressMode::CLAMP_TO_EDGE,
            border: vk::BorderColor::INT_OPAQUE_BLACK,
            compare: None,
            anisotropy: 1.0,
            lods: [0.0, 0.0],
        })
    }

    pub(super) fn writes(&mut self, bindings: &[Binding]) -> Vec<Write> {
        let mut writes = Vec::new();
        for one in bindings.iter().filter(|one| one.count > 0) {
            let mut items = Vec::new();
            // A few tries, as not all that there is will do.
            for _ in 0..4 * one.count {
                if items.len() as u32 == one.count {
                    break;
                }
                let item = self.item(one.kind);
                items.extend(item.filter(|item| self.model.takes(one.kind, item)));
            }
            if items.len() as u32 == one.count {
                writes.push(Write { binding: one.number, element: 0, kind: one.kind, items });
            }
        }
        writes
    }

    pub(super) fn bindings_of(&self, set: Id) -> Option<Vec<Binding>> {
        let Create::Set { layout, .. } = self.model.get(set)?.create else { return None };
        match &self.model.get(layout)?.create {
            Create::SetLayout { bindings, .. } => Some(bindings.clone()),
            _ => None,
        }
    }

    pub(super) fn write_set(&mut self, set: Id) {
        let Some(bindings) = self.bindings_of(set) else { return };
        let templates = self.all(|what| matches!(what, Create::Template { .. }));
        let writes = self.writes(&bindings);
        for template in templates {
            let Some(Create::Template { bindings, .. }) =
                self.model.get(template).map(|one| one.create.clone())
            else {
                continue;
            };
            let item = |one: &Binding| {
                let write = writes.iter().find(|write| write.binding == one.number)?;
                write.items.first().cloned()
            };
            if let Some(items) = bindings.iter().map(item).collect::<Option<Vec<Item>>>() {
                if self.host(Host::WriteByTemplate { set, template, items }) {
                    return;
                }
            }
        }
        if !writes.is_empty() {
            self.host(Host::WriteSet { set, writes });
        }
    }

    fn copy_set(&mut self) {
        let all = self.all(|what| matches!(what, Create::Set { .. }));
        if all.len() < 2 {
            return;
        }
        let (from, to) = (self.random.pick(&all), self.random.pick(&all));
        let binding = self.random.below(3) as u32;
        self.host(Host::CopySet { from, to, binding, count: 1 });
    }

    fn resets(&mut self) {
        let release = self.random.one_in(2);
        match self.random.below(8) {
            0 => {
                if let Some(pool) = self.any(|what| matches!(what, Create::SetPool { .. })) {
                    self.host(Host::ResetSetPool { pool });
                }
            }
            1 | 2 => {
                if let Some(pool) = self.any(|what| matches!(what, Create::CommandPool { .. })) {
                    self.host(Host::ResetCommandPool { pool, release });
                }
            }
            3 => {
                if let Some(pool) = self.any(|what| matches!(what, Create::CommandPool { .. })) {
                    self.host(Host::TrimCommandPool { pool });
                }
            }
            _ => {
                if let Some(commands) = self.any(|what| matches!(what, Create::Commands { .. })) {
                    self.host(Host::ResetCommands { commands, release });
                }
            }
        }
    }

    fn waits(&mut self) {
        let fences = self.all(|what| matches!(what, Create::Fence { .. }));
        if fences.is_empty() {
            return;
        }
        let fence = self.random.pick(&fences);
        match self.random.below(4) {
            0 => drop(self.host(Host::FenceStatus { fence })),
            1 => drop(self.host(Host::WaitFences { fences, all: true, timeout: 0 })),
            _ => {
                let all = self.random.one_in(2);
                self.host(Host::WaitFences { fences: vec![fence], all, timeout: u64::MAX });
                self.host(Host::ResetFences { fences: vec![fence] });
            }
        }
    }

    fn events(&mut self) {
        let Some(event) = self.any(|what| matches!(what, Create::Event {})) else { return };
        let what = match self.random.below(3) {
            0 => Host::SetEvent { event },
            1 => Host::ResetEvent { event },
            _ => Host::EventStatus { event },
        };
        self.host(what);
    }

    fn timelines(&mut self) {
        let timelines = |what: &Create| matches!(what, Create::Semaphore { timeline: true, .. });
        let Some(semaphore) = self.any(timelines) else { return };
        let value = self.model.get(semaphore).map_or(0, |thing| thing.value);
        let what = match self.random.below(3) {
            0 => Host::SignalTimeline { semaphore, value: value + 1 + self.number(5) },
            1 => Host::WaitTimeline { semaphore, value, timeout: u64::MAX },
            _ => Host::Counter { semaphore },
        };
        self.host(what);
    }

    fn query_results(&mut self) {
        let Some(queries) = self.any(|what| matches!(what, Create::Queries { .. })) else { return };
        let Some(Create::Queries { count: all, .. }) =
            self.model.get(queries).map(|thing| thing.create.clone())
        else {
            return;
        };
        if self.random.one_in(3) {
            self.host(Host::ResetQueries { queries, first: 0, count: all });
            return;
        }
        let first = self.random.below(all as usize) as u32;
        let count = 1 + self.random.below((all - first) as usize) as u32;
        let (stride, mut flags) = self.result_layout();
        if self.random.one_in(2) {
            flags |= vk::QueryResultFlags::WAIT;
        }
        self.host(Host::QueryResults { queries, first, count, stride, flags });
    }

    /// How results of queries lie.
    pub(super) fn result_layout(&mut self) -> (u64, vk::QueryResultFlags) {
        let mut flags = vk::QueryResultFlags::empty();
        if self.random.one_in(2) {
            flags |= vk::QueryResultFlags::TYPE_64;
        }
        if self.random.one_in(2) {
            flags |= vk::QueryResultFlags::WITH_AVAILABILITY;
        }
        (self.random.pick(&[4, 8, 16, 24]), flags)
    }

    fn caches(&mut self) {
        let caches = self.all(|what| matches!(what, Create::Cache { .. }));
        if caches.is_empty() {
            return;
        }
        let (cache, into) = (self.random.pick(&caches), self.random.pick(&caches));
        if self.random.one_in(2) {
            self.host(Host::CacheData { cache });
        } else {
            self.host(Host::MergeCaches { into, from: vec![cache] });
        }
    }

    fn private(&mut self) {
        let (slot, object) = (
            self.any(|what| matches!(what, Create::PrivateSlot {})),
            self.any(|what| matches!(what, Create::Buffer { .. } | Create::Fence { .. })),
        );
        let (Some(slot), Some(object)) = (slot, object) else { return };
        let value = self.random.long();
        if self.random.one_in(2) {
            self.host(Host::SetPrivate { slot, object, value });
        } else {
            self.host(Host::GetPrivate { slot, object });
        }
    }
}
