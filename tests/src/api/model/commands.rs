//! Which commands may be recorded outside of passes, and what they change.

use ash::vk;

use super::creates::whole_aspects;
use super::{Model, Phase, Recording, need};
use crate::api::formats::{Numbers, copied_bytes, row_of};
use crate::api::slot::{Id, ids};
use crate::api::step::*;

/// Whether a command does something that must wait for what was done before.
fn acts(command: &Command) -> bool {
    matches!(
        command,
        Command::Fill { .. }
            | Command::Update { .. }
            | Command::CopyBuffer { .. }
            | Command::Upload { .. }
            | Command::Download { .. }
            | Command::CopyImage { .. }
            | Command::Blit { .. }
            | Command::Resolve { .. }
            | Command::ClearColor { .. }
            | Command::ClearDepth { .. }
            | Command::Dispatch { .. }
            | Command::DispatchIndirect { .. }
            | Command::BeginPass { .. }
            | Command::BeginRendering { .. }
            | Command::CopyQueries { .. }
            | Command::ResetQueries { .. }
            | Command::Execute { .. }
    )
}

impl Model {
    pub(super) fn admits_command(&self, recording: &Recording, command: &Command) -> Option<()> {
        let outside = recording.inside.is_none();
        need(!acts(command) || !outside || !recording.dirty)?;
        match command {
            Command::Barrier { buffer, .. } => {
                need(outside)?;
                buffer.map_or(Some(()), |buffer| self.buffer(buffer).map(|_| ()))
            }
            Command::Transition { image, from, to } => {
                need(outside && self.get(*image)?.ready && !recording.dirty && from != to)?;
                need(recording.layout(*image) == *from)?;
                let transfers = [
                    vk::ImageLayout::GENERAL,
                    vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                    vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                ];
                need(transfers.contains(to))
            }
            Command::Fill { buffer, offset, size, .. } => {
                need(outside)?;
                let (all, usage) = self.buffer(*buffer)?;
                need(usage.contains(vk::BufferUsageFlags::TRANSFER_DST))?;
                need(offset % 4 == 0 && *offset < all)?;
                need(
                    *size == vk::WHOLE_SIZE
                        || (*size > 0 && size % 4 == 0 && offset.checked_add(*size)? <= all),
                )
            }
            Command::Update { buffer, offset, words } => {
                need(outside && !words.is_empty() && words.len() <= 64)?;
                let (all, usage) = self.buffer(*buffer)?;
                need(usage.contains(vk::BufferUsageFlags::TRANSFER_DST) && offset % 4 == 0)?;
                need(offset.checked_add(4 * words.len() as u64)? <= all)
            }
            Command::CopyBuffer { from, to, regions, .. } => {
                need(outside && from != to && !regions.is_empty())?;
                let (source, read) = self.buffer(*from)?;
                let (target, written) = self.buffer(*to)?;
                need(read.contains(vk::BufferUsageFlags::TRANSFER_SRC))?;
                need(written.contains(vk::BufferUsageFlags::TRANSFER_DST))?;
                let apart = |n: usize| {
                    regions[..n].iter().all(|one| {
                        one[1] + one[2] <= regions[n][1] || regions[n][1] + regions[n][2] <= one[1]
                    })
                };
                regions.iter().try_for_each(|[at, to, size]| {
                    need(*size > 0 && at.checked_add(*size)? <= source && to.checked_add(*size)? <= target)
                })?;
                need((0..regions.len()).all(apart))
            }
            Command::Upload { buffer, image, layout, regions, .. } => {
                need(outside)?;
                let writes = vk::BufferUsageFlags::TRANSFER_SRC;
                self.admits_texels(recording, *buffer, writes, *image, *layout, regions)
            }
            Command::Download { image, layout, buffer, regions, .. } => {
                need(outside)?;
                let writes = vk::BufferUsageFlags::TRANSFER_DST;
                self.admits_texels(recording, *buffer, writes, *image, *layout, regions)
            }
            Command::CopyImage { from, to, layouts, source, target, extent, .. } => {
                need(outside && from != to)?;
                let (a, b) =
                    (self.used(recording, *from, layouts[0])?, self.used(recording, *to, layouts[1])?);
                let depth = |image: &ImageShape| row_of(image.format).numbers == Numbers::Depth;
                need(row_of(a.format).bytes == row_of(b.format).bytes && a.samples == b.samples)?;
                need(a.kind == b.kind && (a.format == b.format || (!depth(a) && !depth(b))))?;
                need(a.samples == 1 || a.format == b.format)?;
                need(source.layers == target.layers && source.aspect == target.aspect)?;
                fits(a, source, *extent)?;
                fits(b, target, *extent)
            }
            Command::Blit { from, to, layouts, source, source_end, target, target_end, filter } => {
                need(outside && from != to && *filter == vk::Filter::NEAREST)?;
                let (a, b) =
                    (self.used(recording, *from, layouts[0])?, self.used(recording, *to, layouts[1])?);
                let numbers = |image: &ImageShape| row_of(image.format).numbers;
                need(numbers(a) == numbers(b) && a.samples == 1 && b.samples == 1 && a.kind == b.kind)?;
                need(numbers(a) != Numbers::Depth && a.kind == vk::ImageType::TYPE_2D)?;
                need(!a.linear && !b.linear)?;
                need(source.layers == target.layers)?;
                let size = |from: [i32; 3], to: [i32; 3]| -> Option<([i32; 3], [u32; 3])> {
                    let low = [0, 1, 2].map(|axis| from[axis].min(to[axis]));
                    let size = [0, 1, 2].map(|axis| from[axis].abs_diff(to[axis]));
                    need(from[2] == 0 && to[2] == 1)?;
                    Some((low, size))
                };
                let (low, extent) = size(source.origin, *source_end)?;
                fits(a, &Place { origin: low, ..source.clone() }, extent)?;
                let (low, extent) = size(target.origin, *target_end)?;
                fits(b, &Place { origin: low, ..target.clone() }, extent)
            }
            Command::Resolve { from, to, layouts, extent } => {
                need(outside && from != to)?;
                let (a, b) =
                    (self.used(recording, *from, layouts[0])?, self.used(recording, *to, layouts[1])?);
                need(!b.linear)?;
                need(
                    a.samples == 4
                        && b.samples == 1
                        && a.format == b.format
                        && b.kind == vk::ImageType::TYPE_2D,
                )?;
                need(matches!(row_of(a.format).numbers, Numbers::Unorm))?;
                let color = vk::ImageAspectFlags::COLOR;
                let place = Place { aspect: color, level: 0, layer: 0, layers: 1, origin: [0; 3] };
                fits(a, &place, *extent)?;
                fits(b, &place, *extent)
            }
            Command::ClearColor { image, layout, range, .. } => {
                need(outside)?;
                let shape = self.used(recording, *image, *layout)?;
                need(row_of(shape.format).numbers != Numbers::Depth)?;
                ranges(shape, range)
            }
            Command::ClearDepth { image, layout, depth, range, .. } => {
                need(outside && (0.0..=1.0).contains(depth))?;
                let shape = self.used(recording, *image, *layout)?;
                need(row_of(shape.format).numbers == Numbers::Depth)?;
                ranges(shape, range)
            }
            Command::ResetQueries { queries, first, count } => {
                need(outside && recording.active.is_none())?;
                self.admits_queries(*queries, *first, *count)
            }
            Command::CopyQueries { queries, first, count, buffer, offset, stride, flags } => {
                need(outside)?;
                self.admits_queries(*queries, *first, *count)?;
                let mut all = *first..*first + *count;
                need(all.all(|query| recording.counted.contains(&(*queries, query))))?;
                let (size, usage) = self.buffer(*buffer)?;
                need(usage.contains(vk::BufferUsageFlags::TRANSFER_DST))?;
                admits_results(*offset, *stride, *flags)?;
                need(offset.checked_add(stride.checked_mul(u64::from(*count))?)? <= size)
            }
            Command::Timestamp { queries, query, .. } => {
                let Create::Queries { kind: vk::QueryType::TIMESTAMP, count } = self.get(*queries)?.create
                else {
                    return None;
                };
                need(*query < count && recording.reset.contains(queries) && !recording.secondary)?;
                need(!recording.counted.contains(&(*queries, *query)) && outside)
            }
            Command::SetEvent { event } => {
                need(outside && matches!(self.get(*event)?.create, Create::Event {}))
            }
            // What a secondary buffer does to events is not known to the one that executes it.
            Command::ResetEvent { event } => {
                need(outside && !recording.secondary && matches!(self.get(*event)?.create, Create::Event {}))
            }
            Command::WaitEvents { events } => {
                need(outside && !recording.secondary && !events.is_empty())?;
                need(events.iter().all(|event| recording.events.contains(event)))
            }
            Command::Execute { commands } => self.admits_execute(recording, commands),
            _ => self.admits_drawing(recording, command),
        }
    }

    /// An image with contents, in that layout.
    fn used(&self, recording: &Recording, image: Id, layout: vk::ImageLayout) -> Option<&ImageShape> {
        let shape = self.image(image)?;
        need(self.get(image)?.ready && recording.layout(image) == layout)?;
        Some(shape)
    }

    pub(super) fn admits_queries(&self, queries: Id, first: u32, count: u32) -> Option<()> {
        let Create::Queries { count: all, .. } = self.get(queries)?.create else { return None };
        need(count > 0 && first.checked_add(count)? <= all)
    }

    fn admits_texels(
        &self,
        recording: &Recording,
        buffer: Id,
        usage: vk::BufferUsageFlags,
        image: Id,
        layout: vk::ImageLayout,
        regions: &[Texels],
    ) -> Option<()> {
        let (size, has) = self.buffer(buffer)?;
        let shape = self.used(recording, image, layout)?;
        need(has.contains(usage) && shape.samples == 1 && regions.len() == 1)?;
        regions.iter().try_for_each(|region| {
            let Texels { offset, row, rows, aspect, level, layer, layers, origin, extent } = region;
            let place =
                Place { aspect: *aspect, level: *level, layer: *layer, layers: *layers, origin: *origin };
            fits(shape, &place, *extent)?;
            need(aspect.as_raw().count_ones() == 1)?;
            let bytes = copied_bytes(shape.format, *aspect);
            need(offset % u64::from(bytes.max(4)) == 0)?;
            need(*row == 0 || *row >= extent[0])?;
            need(*rows == 0 || *rows >= extent[1])?;
            let row = u64::from((*row).max(extent[0]));
            let rows = u64::from((*rows).max(extent[1]));
            let slices = u64::from(extent[2] * layers);
            let texels = (slices - 1) * rows * row + u64::from(extent[1] - 1) * row + u64::from(extent[0]);
            need(offset.checked_add(texels * u64::from(bytes))? <= size)
        })
    }

    fn admits_execute(&self, recording: &Recording, commands: &[Id]) -> Option<()> {
        need(!recording.secondary && recording.active.is_none() && !commands.is_empty())?;
        need(recording.layouts.is_empty())?;
        for (n, id) in commands.iter().enumerate() {
            let one = &self.get(*id)?.recording;
            need(one.phase == Phase::Executable && one.secondary && self.idle(*id))?;
            need(!commands[..n].contains(id) && !recording.uses.contains(id))?;
            need(one.simultaneous || !recording.simultaneous)?;
            match (&recording.inside, &one.inside) {
                (None, None) => (),
                (Some(primary), Some(secondary)) => {
                    need(primary.secondary && primary.pass == secondary.pass)?;
                    need(primary.subpass == secondary.subpass && primary.images == secondary.images)?;
                    // What it clears lies inside of all of the framebuffer.
                    need(primary.extent == secondary.extent)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    pub(super) fn record(&mut self, commands: Id, command: &Command) {
        self.follow(commands, command);
        let mut recording = std::mem::take(&mut self.thing(commands).recording);
        for id in ids(command) {
            recording.uses.insert(id);
            recording.uses.extend(self.reached(id));
        }
        recording.dirty |= acts(command);
        match command {
            Command::Barrier { .. } => recording.dirty = false,
            Command::Transition { image, to, .. } => {
                match *to {
                    vk::ImageLayout::GENERAL => recording.layouts.remove(image),
                    to => recording.layouts.insert(*image, to),
                };
                recording.dirty = true;
            }
            Command::SetEvent { event } => drop(recording.events.insert(*event)),
            Command::ResetEvent { event } => drop(recording.events.remove(event)),
            Command::ResetQueries { queries, first, count } => {
                if self.admits_all(*queries, *first, *count) {
                    recording.reset.insert(*queries);
                }
                recording.cleared.insert(*queries);
                recording
                    .counted
                    .retain(|(pool, query)| pool != queries || *query < *first || *query - *first >= *count);
            }
            Command::Timestamp { queries, query, .. } => drop(recording.counted.insert((*queries, *query))),
            Command::Execute { commands } => {
                for id in commands {
                    let inner = &self.things[id].recording;
                    recording.uses.extend(inner.uses.iter().copied());
                    recording.cleared.extend(inner.cleared.iter().copied());
                    recording.counted.retain(|(pool, _)| !inner.cleared.contains(pool));
                    if !self.things[id].recording.simultaneous {
                        // It belongs to one primary buffer only.
                        self.invalidate(*id);
                    }
                }
                recording.pipelines = [None; 2];
                recording.sets = [None, None];
                (recording.push, recording.vertices, recording.indices) = (None, None, None);
                (recording.viewport, recording.scissor, recording.dynamic) = (None, None, 0);
            }
            _ => self.record_drawing(&mut recording, command),
        }
        self.thing(commands).recording = recording;
    }

    fn admits_all(&self, queries: Id, first: u32, count: u32) -> bool {
        matches!(self.things[&queries].create, Create::Queries { count: all, .. } if first == 0 && count == all)
    }

    /// What an object leads to: submissions use all of it.
    fn reached(&self, id: Id) -> Vec<Id> {
        let Some(thing) = self.get(id) else { return Vec::new() };
        let mut found = thing.needs.clone();
        found.extend(thing.bound);
        found.extend(thing.contents.values().flat_map(ids));
        let further: Vec<Id> = found.iter().flat_map(|id| self.reached(*id)).collect();
        found.extend(further);
        found
    }
}

/// The layout of results of queries.
pub fn admits_results(offset: u64, stride: u64, flags: vk::QueryResultFlags) -> Option<()> {
    let bytes = if flags.contains(vk::QueryResultFlags::TYPE_64) { 8 } else { 4 };
    let words = if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) { 2 } else { 1 };
    need(offset % bytes == 0 && stride % bytes == 0 && stride >= bytes * words)?;
    need(!flags.contains(vk::QueryResultFlags::PARTIAL))
}

/// Whether a piece of a level is inside of it.
pub fn fits(image: &ImageShape, place: &Place, extent: [u32; 3]) -> Option<()> {
    need(place.level < image.levels && place.layers > 0)?;
    need(place.layer.checked_add(place.layers)? <= image.layers)?;
    need(!place.aspect.is_empty() && whole_aspects(image.format).contains(place.aspect))?;
    [0, 1, 2].into_iter().try_for_each(|axis| {
        let volume = axis == 2 && image.kind != vk::ImageType::TYPE_3D;
        let edge = if volume { 1 } else { (image.extent[axis] >> place.level).max(1) };
        let start = u32::try_from(place.origin[axis]).ok()?;
        need(extent[axis] > 0 && start.checked_add(extent[axis])? <= edge)
    })
}

fn ranges(image: &ImageShape, range: &Range) -> Option<()> {
    need(range.aspects == whole_aspects(image.format))?;
    need(range.levels > 0 && range.layers > 0)?;
    need(range.level.checked_add(range.levels)? <= image.levels)?;
    need(range.layer.checked_add(range.layers)? <= image.layers)
}
