//! What the host may do, and what it changes; and which results are exact.

use ash::vk;

use super::commands::admits_results;
use super::creates::whole_aspects;
use super::{Model, Phase, Recording, need};
use crate::api::shaders::{seen, shader};
use crate::api::slot::{Id, ids};
use crate::api::step::*;

impl Model {
    pub(super) fn admits_host(&self, what: &Host) -> Option<()> {
        match what {
            Host::Write { buffer, offset, size, arguments, .. } => {
                let (all, usage) = self.buffer(*buffer)?;
                need(self.idle(*buffer) && offset.checked_add(*size)? <= all && *size > 0)?;
                need(!self.mapped(*buffer))?;
                let whole = *offset == 0 && *size == all;
                need((usage == vk::BufferUsageFlags::INDIRECT_BUFFER) == *arguments && (whole || !arguments))
            }
            Host::Read { buffer } => {
                need(self.idle(*buffer) && !self.mapped(*buffer) && self.buffer(*buffer).is_some())
            }
            Host::Prepare { image, .. } => {
                let thing = self.get(*image)?;
                need(thing.bound.is_some() && !thing.ready && self.image(*image).is_some())
            }
            Host::ReadImage { image } => {
                need(self.get(*image)?.ready && self.image(*image)?.samples == 1 && self.idle(*image))
            }
            Host::Map { memory, offset, size } => {
                let thing = self.get(*memory)?;
                let Create::Memory { .. } = thing.create else { return None };
                need(!thing.mapped && *offset == 0 && *size == vk::WHOLE_SIZE)
            }
            Host::Unmap { memory } => need(self.get(*memory)?.mapped),
            Host::Flush { memory, offset, size, .. } => {
                need(self.get(*memory)?.mapped && *offset == 0 && *size == vk::WHOLE_SIZE)
            }
            Host::WriteSet { set, writes } => {
                let bindings = self.bindings(*set)?;
                need(self.idle(*set))?;
                writes.iter().try_for_each(|write| self.admits_write(bindings, write))
            }
            Host::WriteByTemplate { set, template, items } => {
                let Create::Template { layout, bindings } = &self.get(*template)?.create else { return None };
                let Create::Set { layout: of, .. } = self.get(*set)?.create else { return None };
                need(of == *layout && self.idle(*set) && items.len() == bindings.len())?;
                bindings.iter().zip(items).try_for_each(|(one, item)| self.admits_item(one.kind, item))
            }
            Host::CopySet { from, to, binding, count } => {
                let (a, b) = (self.bindings(*from)?, self.bindings(*to)?);
                need(self.idle(*to) && from != to && *count == 1)?;
                let one = a.iter().find(|one| one.number == *binding)?;
                need(b.contains(one) && one.count > 0)?;
                need(self.get(*from)?.contents.contains_key(binding))
            }
            Host::ResetSetPool { pool } => {
                need(matches!(self.get(*pool)?.create, Create::SetPool { .. }))?;
                self.family(*pool).iter().try_for_each(|id| need(self.idle(*id)))
            }
            Host::ResetCommandPool { pool, .. } => {
                need(matches!(self.get(*pool)?.create, Create::CommandPool { .. }))?;
                self.family(*pool).iter().try_for_each(|id| need(self.idle(*id)))
            }
            Host::TrimCommandPool { pool } => {
                need(matches!(self.get(*pool)?.create, Create::CommandPool { .. }))
            }
            Host::ResetCommands { commands, .. } => need(self.idle(*commands) && self.resets(*commands)?),
            Host::WaitFences { fences, all, timeout } => {
                need(
                    !fences.is_empty()
                        && (*all || fences.len() == 1)
                        && (*timeout == 0 || *timeout == u64::MAX),
                )?;
                fences.iter().try_for_each(|fence| {
                    let thing = self.get(*fence)?;
                    need(matches!(thing.create, Create::Fence { .. }) && (thing.value != 0 || *timeout == 0))
                })
            }
            Host::ResetFences { fences } => {
                need(!fences.is_empty())?;
                need((0..fences.len()).all(|n| !fences[..n].contains(&fences[n])))?;
                fences.iter().try_for_each(|fence| {
                    need(matches!(self.get(*fence)?.create, Create::Fence { .. }) && self.idle(*fence))
                })
            }
            Host::FenceStatus { fence } => need(matches!(self.get(*fence)?.create, Create::Fence { .. })),
            Host::SetEvent { event } | Host::ResetEvent { event } => {
                need(matches!(self.get(*event)?.create, Create::Event {}) && self.idle(*event))
            }
            Host::EventStatus { event } => need(matches!(self.get(*event)?.create, Create::Event {})),
            Host::SignalTimeline { semaphore, value } => {
                let thing = self.get(*semaphore)?;
                need(matches!(thing.create, Create::Semaphore { timeline: true, .. }))?;
                need(self.idle(*semaphore) && *value > thing.value)
            }
            Host::WaitTimeline { semaphore, value, .. } => {
                let thing = self.get(*semaphore)?;
                need(
                    matches!(thing.create, Create::Semaphore { timeline: true, .. }) && *value <= thing.value,
                )
            }
            Host::Counter { semaphore } => {
                need(matches!(self.get(*semaphore)?.create, Create::Semaphore { timeline: true, .. }))
            }
            Host::ResetQueries { queries, first, count } => {
                need(self.idle(*queries))?;
                self.admits_queries(*queries, *first, *count)
            }
            Host::QueryResults { queries, first, count, stride, flags } => {
                let thing = self.get(*queries)?;
                self.admits_queries(*queries, *first, *count)?;
                admits_results(0, *stride, *flags)?;
                let counted = (*first..*first + *count).all(|query| thing.counted.contains(&query));
                need(thing.ready && (counted || !flags.contains(vk::QueryResultFlags::WAIT)))
            }
            Host::WaitIdle { .. } => Some(()),
            Host::CacheData { cache } => need(matches!(self.get(*cache)?.create, Create::Cache { .. })),
            Host::MergeCaches { into, from } => {
                let is =
                    |id: &Id| self.get(*id).is_some_and(|one| matches!(one.create, Create::Cache { .. }));
                // Others may be using one that is shared.
                need(!self.is_common(*into))?;
                need(is(into) && !from.is_empty() && from.iter().all(is) && !from.contains(into))
            }
            Host::Frame { swapchain, .. } => {
                let thing = self.get(*swapchain)?;
                need(matches!(thing.create, Create::Swapchain { .. }) && thing.value == 0)
            }
            Host::SetPrivate { slot, object, .. } | Host::GetPrivate { slot, object } => {
                need(matches!(self.get(*slot)?.create, Create::PrivateSlot {}))?;
                need(matches!(self.get(*object)?.create, Create::Buffer { .. } | Create::Fence { .. }))
            }
            Host::Ask { .. } => Some(()),
        }
    }

    fn mapped(&self, buffer: Id) -> bool {
        let memory = self.get(buffer).and_then(|thing| thing.bound);
        memory.and_then(|memory| self.get(memory)).is_none_or(|memory| memory.mapped)
    }

    /// Whether single buffers of the pool may be reset.
    fn resets(&self, commands: Id) -> Option<bool> {
        let Create::Commands { pool, .. } = self.get(commands)?.create else { return None };
        let Create::CommandPool { flags } = self.get(pool)?.create else { return None };
        Some(flags.contains(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER))
    }

    pub(super) fn admits_begin(
        &self,
        commands: Id,
        flags: vk::CommandBufferUsageFlags,
        pass: Option<Id>,
        framebuffer: Option<Id>,
    ) -> Option<()> {
        let thing = self.get(commands)?;
        let Create::Commands { secondary, .. } = thing.create else { return None };
        let phase = thing.recording.phase;
        // The layer does not see that beginning again resets what became invalid while it was recorded.
        let again = matches!(phase, Phase::Executable | Phase::Spent) && self.resets(commands)?;
        need(self.idle(commands) && (phase == Phase::Initial || again))?;
        let continues = vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
        let both =
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT | vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
        need((flags & !(both | continues)).is_empty() && !flags.contains(both))?;
        need(flags.contains(continues) == pass.is_some() && pass.is_some() == framebuffer.is_some())?;
        match pass {
            Some(pass) => need(secondary && self.inherited(pass, framebuffer).is_some()),
            None => Some(()),
        }
    }

    fn bindings(&self, set: Id) -> Option<&Vec<Binding>> {
        let Create::Set { layout, .. } = self.get(set)?.create else { return None };
        match &self.get(layout)?.create {
            Create::SetLayout { bindings, .. } => Some(bindings),
            _ => None,
        }
    }

    pub(super) fn admits_write(&self, bindings: &[Binding], write: &Write) -> Option<()> {
        let one = bindings.iter().find(|one| one.number == write.binding)?;
        need(one.kind == write.kind && !write.items.is_empty())?;
        need(write.element == 0 && write.items.len() as u32 == one.count)?;
        write.items.iter().try_for_each(|item| self.admits_item(one.kind, item))
    }

    /// Whether a descriptor of a kind may lead there.
    pub fn takes(&self, kind: vk::DescriptorType, item: &Item) -> bool {
        ids(item).iter().all(|id| self.things.contains_key(id)) && self.admits_item(kind, item).is_some()
    }

    fn admits_item(&self, kind: vk::DescriptorType, item: &Item) -> Option<()> {
        use vk::DescriptorType as Type;
        match (seen(kind), item) {
            (
                kind @ (Type::STORAGE_BUFFER | Type::UNIFORM_BUFFER),
                Item::Buffer { buffer, offset, range },
            ) => {
                let (size, usage) = self.buffer(*buffer)?;
                let (wanted, least) = match kind {
                    Type::STORAGE_BUFFER => (vk::BufferUsageFlags::STORAGE_BUFFER, 4),
                    _ => (vk::BufferUsageFlags::UNIFORM_BUFFER, 32),
                };
                need(usage.contains(wanted) && offset % 256 == 0 && *range >= least && range % 4 == 0)?;
                need(*range <= 16384 && offset.checked_add(*range)? <= size)
            }
            (Type::UNIFORM_TEXEL_BUFFER, Item::Texels { view }) => {
                need(matches!(self.get(*view)?.create, Create::BufferView { .. }))
            }
            (Type::STORAGE_IMAGE | Type::COMBINED_IMAGE_SAMPLER, Item::Image { view, sampler }) => {
                let Create::View { image, kind: view_kind, format, range } = &self.get((*view)?)?.create
                else {
                    return None;
                };
                let usage = self.image(*image)?.usage;
                need(*view_kind == vk::ImageViewType::TYPE_2D && self.image(*image)?.samples == 1)?;
                if kind == Type::STORAGE_IMAGE {
                    need(usage.contains(vk::ImageUsageFlags::STORAGE) && *format == vk::Format::R32_UINT)?;
                    return need(range.levels == 1);
                }
                let Create::Sampler { filter, compare, anisotropy, .. } = &self.get((*sampler)?)?.create
                else {
                    return None;
                };
                need(compare.is_none() && *filter == vk::Filter::NEAREST && *anisotropy <= 1.0)?;
                need(
                    usage.contains(vk::ImageUsageFlags::SAMPLED)
                        && range.aspects == vk::ImageAspectFlags::COLOR,
                )
            }
            _ => None,
        }
    }

    pub(super) fn host(&mut self, what: &Host) {
        match what {
            Host::Write { buffer, arguments, .. } => self.thing(*buffer).ready |= *arguments,
            Host::Prepare { image, .. } => {
                self.thing(*image).ready = true;
                self.submitted += 1;
                self.finish(self.submitted);
            }
            Host::Map { memory, .. } => self.thing(*memory).mapped = true,
            Host::Unmap { memory } => self.thing(*memory).mapped = false,
            Host::WriteSet { set, writes } => {
                self.invalidate(*set);
                for write in writes {
                    self.thing(*set).contents.insert(write.binding, write.items.clone());
                }
            }
            Host::WriteByTemplate { set, template, items } => {
                self.invalidate(*set);
                let Create::Template { bindings, .. } = self.things[template].create.clone() else { return };
                for (one, item) in bindings.iter().zip(items) {
                    self.thing(*set).contents.insert(one.number, vec![item.clone()]);
                }
            }
            Host::CopySet { from, to, binding, .. } => {
                self.invalidate(*to);
                let mut items = self.things[to].contents.get(binding).cloned().unwrap_or_default();
                let first = self.things[from].contents[binding].first().cloned();
                items.splice(..items.len().min(1), first);
                self.thing(*to).contents.insert(*binding, items);
            }
            Host::ResetSetPool { pool } => {
                for id in self.family(*pool).into_iter().filter(|id| id != pool) {
                    self.invalidate(id);
                    self.things.remove(&id);
                }
            }
            Host::ResetCommandPool { pool, .. } => {
                for id in self.family(*pool).into_iter().filter(|id| id != pool) {
                    self.invalidate(id);
                    self.thing(id).recording = Recording::default();
                }
            }
            Host::ResetCommands { commands, .. } => {
                self.invalidate(*commands);
                self.thing(*commands).recording = Recording::default();
            }
            Host::WaitFences { fences, timeout, .. } if *timeout > 0 => {
                for fence in fences {
                    self.finish(self.things[fence].busy);
                }
            }
            Host::ResetFences { fences } => fences.iter().for_each(|fence| self.thing(*fence).value = 0),
            Host::SignalTimeline { semaphore, value } => self.thing(*semaphore).value = *value,
            Host::ResetQueries { queries, first, count } => {
                let thing = self.thing(*queries);
                thing.counted.retain(|query| query < first || query - first >= *count);
                let Create::Queries { count: all, .. } = thing.create else { return };
                thing.ready |= *first == 0 && *count == all;
            }
            Host::WaitIdle { .. } => self.finish(self.submitted),
            Host::Frame { .. } => {
                self.submitted += 1;
                self.finish(self.submitted);
            }
            _ => (),
        }
    }

    /// Which contents a command makes of which, and whether they are exact.
    pub(super) fn follow(&mut self, commands: Id, command: &Command) {
        match command {
            Command::CopyImage { from, to, source, .. } => {
                self.flow.flows(*from, *to);
                // Of two aspects lavapipe copies both, whichever is asked for.
                if self.image(*from).is_some_and(|image| whole_aspects(image.format) != source.aspect) {
                    self.flow.taint(*to);
                }
            }
            Command::CopyBuffer { from, to, .. }
            | Command::Upload { buffer: from, image: to, .. }
            | Command::Download { image: from, buffer: to, .. }
            | Command::Resolve { from, to, .. } => self.flow.flows(*from, *to),
            Command::Blit { from, to, source, source_end, target, target_end, .. } => {
                self.flow.flows(*from, *to);
                let format = |id: &Id| self.image(*id).map(|image| image.format);
                let size = |from: [i32; 3], to: [i32; 3]| [0, 1].map(|axis| from[axis].abs_diff(to[axis]));
                // Texels that are not scaled and not converted stay as they are.
                let same = size(source.origin, *source_end) == size(target.origin, *target_end);
                if !same || format(from) != format(to) {
                    self.flow.taint(*to);
                }
            }
            Command::ClearColor { image, words, .. } => {
                let exact =
                    self.image(*image).is_some_and(|image| super::flow::is_exact(image.format, *words));
                if !exact {
                    self.flow.taint(*image);
                }
            }
            Command::ClearDepth { image, depth, .. } if *depth != 0.0 && *depth != 1.0 => {
                self.flow.taint(*image);
            }
            Command::CopyQueries { buffer, .. } => self.flow.taint(*buffer),
            Command::BeginPass { pass, clears, .. } => {
                let Create::RenderPass { pass, .. } = &self.things[pass].create else { return };
                let (shape, load, store, resolves) =
                    (pass.shape.clone(), pass.load, pass.store, pass.resolves);
                let Some(inside) = self.opened(command) else { return };
                self.follow_pass(&shape, &inside.images, clears, load, store);
                if resolves {
                    let drawn = inside.images.clone();
                    for n in 0..shape.colors.len() {
                        self.flow.flows(drawn[n], drawn[drawn.len() - shape.colors.len() + n]);
                    }
                }
            }
            Command::BeginRendering { clears, load, store, .. } => {
                let Some(inside) = self.opened(command) else { return };
                self.follow_pass(&inside.shape, &inside.images, clears, *load, *store);
            }
            Command::ClearAttachments { color, words, .. } => {
                let Some(inside) = self.things[&commands].recording.inside.clone() else { return };
                let (format, image) = match color {
                    true => (inside.shape.colors.first().copied(), inside.images.first()),
                    false => (inside.shape.depth, inside.images.get(inside.shape.colors.len())),
                };
                if let (Some(format), Some(image)) = (format, image) {
                    if !super::flow::is_exact(format, *words) {
                        self.flow.taint(*image);
                    }
                }
            }
            Command::Dispatch { .. } | Command::DispatchIndirect { .. } => self.follow_dispatch(commands),
            Command::Draw { .. } | Command::DrawIndexed { .. } | Command::DrawIndirect { .. } => {
                self.follow_draw(commands, command);
            }
            _ => (),
        }
    }

    fn follow_pass(
        &mut self,
        shape: &Shape,
        images: &[Id],
        clears: &[[u32; 4]],
        load: vk::AttachmentLoadOp,
        store: vk::AttachmentStoreOp,
    ) {
        let formats = shape.colors.iter().chain(&shape.depth);
        for ((format, image), words) in formats.zip(images).zip(clears) {
            let cleared = load == vk::AttachmentLoadOp::CLEAR && super::flow::is_exact(*format, *words);
            if store != vk::AttachmentStoreOp::STORE || (load != vk::AttachmentLoadOp::LOAD && !cleared) {
                self.flow.taint(*image);
            }
        }
    }

    fn follow_dispatch(&mut self, commands: Id) {
        let recording = self.things[&commands].recording.clone();
        let (Some(pipeline), Some((_, contents))) = (recording.pipelines[1], &recording.sets[1]) else {
            return;
        };
        let Some(&number) = self.things[&pipeline].shaders.first() else { return };
        let kinds = (0..).zip(shader(number).bindings);
        let memories: Vec<Id> =
            kinds.filter_map(|(number, kind)| self.item(contents.get(&number)?.first()?, *kind)).collect();
        for from in &memories[1.min(memories.len())..] {
            self.flow.flows(*from, memories[0]);
        }
    }

    fn follow_draw(&mut self, commands: Id, command: &Command) {
        let recording = self.things[&commands].recording.clone();
        let Some(inside) = &recording.inside else { return };
        let Some(pipeline) = recording.pipelines[0].and_then(|id| self.get(id)).cloned() else { return };
        let Create::Graphics { pipeline: state } = &pipeline.create else { return };
        let exact = super::flow::draws_exactly(state, &pipeline.shaders, &recording, inside, command);
        let read: Vec<Id> = match &recording.sets[0] {
            Some((_, contents)) => {
                let memory = |id| self.image_of(id).or_else(|| self.buffer(id).map(|_| id));
                contents.values().flatten().flat_map(ids).filter_map(memory).collect()
            }
            None => Vec::new(),
        };
        for image in &inside.images {
            read.iter().for_each(|from| self.flow.flows(*from, *image));
            // The tests of depth and stencil decide about colours.
            inside
                .images
                .iter()
                .filter(|other| *other != image)
                .for_each(|from| self.flow.flows(*from, *image));
            if !exact {
                self.flow.taint(*image);
            }
        }
    }
}
