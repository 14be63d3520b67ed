//! Commands outside of passes.

use ash::vk;

use super::Maker;
use crate::api::formats::{Numbers, copied_bytes, row_of};
use crate::api::model::Recording;
use crate::api::slot::Id;
use crate::api::step::*;

impl Maker {
    /// Records something more.
    pub(super) fn go_on(&mut self) {
        let Some((commands, recording)) = self.recording() else { return };
        if self.random.one_in(14) {
            return self.close(commands);
        }
        if recording.inside.is_some() {
            return self.draw(commands, &recording);
        }
        if recording.dirty {
            let newer = self.random.one_in(2);
            let buffer =
                if self.random.one_in(4) { self.a_buffer(vk::BufferUsageFlags::empty()) } else { None };
            self.command(commands, Command::Barrier { newer, buffer: buffer.map(|(buffer, _)| buffer) });
        }
        match self.random.below(16) {
            0..=2 => self.buffer_command(commands),
            3..=7 => self.image_command(commands),
            8..=10 => self.enter(commands),
            11..=13 => self.dispatch(commands),
            14 => self.secondaries(commands),
            _ => self.counters(commands, &recording),
        }
    }

    fn buffer_command(&mut self, commands: Id) {
        let Some((buffer, size)) = self.a_buffer(vk::BufferUsageFlags::TRANSFER_DST) else { return };
        match self.random.below(3) {
            0 => {
                let offset = self.number(size - 1) / 4 * 4;
                let part = (self.number(size - offset) / 4 * 4).max(4);
                let size = if self.random.one_in(3) { vk::WHOLE_SIZE } else { part };
                let word = self.random.word();
                self.command(commands, Command::Fill { buffer, offset, size, word });
            }
            1 => {
                let words = (0..1 + self.random.below(16)).map(|_| self.random.word()).collect();
                let offset = self.number(size - 1) / 4 * 4;
                self.command(commands, Command::Update { buffer, offset, words });
            }
            _ => {
                let Some((from, source)) = self.a_buffer(vk::BufferUsageFlags::TRANSFER_SRC) else { return };
                let mut regions = Vec::new();
                for _ in 0..1 + self.random.below(2) {
                    let (at, to) = (self.number(source - 1), self.number(size - 1));
                    let bytes = 1 + self.number((source - at).min(size - to) - 1);
                    regions.push([at, to, bytes]);
                }
                let newer = self.random.one_in(2);
                self.command(commands, Command::CopyBuffer { from, to: buffer, regions, newer });
            }
        }
    }

    /// A piece of a level: its place and size.
    fn piece(&mut self, image: &ImageShape) -> (Place, [u32; 3]) {
        let level = self.random.below(image.levels as usize) as u32;
        let layer = self.random.below(image.layers as usize) as u32;
        let layers = 1 + self.random.below((image.layers - layer) as usize) as u32;
        let whole = self.random.one_in(3);
        let mut origin = [0; 3];
        let mut extent = [1; 3];
        for axis in 0..3 {
            let volume = axis == 2 && image.kind != vk::ImageType::TYPE_3D;
            let edge = if volume { 1 } else { (image.extent[axis] >> level).max(1) };
            if whole {
                extent[axis] = edge;
                continue;
            }
            let start = self.number(u64::from(edge) - 1) as u32;
            origin[axis] = start as i32;
            extent[axis] = 1 + self.number(u64::from(edge - start) - 1) as u32;
        }
        let mut aspect = crate::format::aspects(image.format);
        if aspect.as_raw().count_ones() > 1 {
            aspect = self.random.pick(&[vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL]);
        }
        (Place { aspect, level, layer, layers, origin }, extent)
    }

    /// The layout of an image there, changed now and then.
    fn layout(&mut self, commands: Id, image: Id, to: vk::ImageLayout) -> vk::ImageLayout {
        let now = |maker: &Maker| {
            maker.model.get(commands).map_or(vk::ImageLayout::GENERAL, |one| one.recording.layout(image))
        };
        let from = now(self);
        if from != to && (from != vk::ImageLayout::GENERAL || self.random.one_in(3)) {
            let to = if self.random.one_in(3) { vk::ImageLayout::GENERAL } else { to };
            if self.command(commands, Command::Transition { image, from, to }) {
                self.command(commands, Command::Barrier { newer: false, buffer: None });
            }
        }
        now(self)
    }

    fn image_command(&mut self, commands: Id) {
        let Some((image, shape)) = self.an_image(|_| true) else { return };
        let newer = self.random.one_in(2);
        let source = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        match self.random.below(8) {
            0 | 1 => self.clear_image(commands, image, &shape),
            2 | 3 => {
                let upload = self.random.one_in(2);
                let (usage, to) = match upload {
                    true => (vk::BufferUsageFlags::TRANSFER_SRC, target),
                    false => (vk::BufferUsageFlags::TRANSFER_DST, source),
                };
                let Some((buffer, _)) = self.a_buffer(usage) else { return };
                let (place, extent) = self.piece(&shape);
                let bytes = u64::from(copied_bytes(shape.format, place.aspect).max(4));
                let (row, rows) = match self.random.below(3) {
                    0 => (extent[0] + self.number(5) as u32, extent[1]),
                    1 => (extent[0], extent[1] + self.number(3) as u32),
                    _ => (0, 0),
                };
                let Place { aspect, level, layer, layers, origin } = place;
                let offset = self.number(64) * bytes;
                let regions =
                    vec![Texels { offset, row, rows, aspect, level, layer, layers, origin, extent }];
                // Whatever bytes a buffer holds: depths and floats of an image are to be such.
                let plain = matches!(row_of(shape.format).numbers, Numbers::Depth | Numbers::Float);
                if upload && plain && aspect != vk::ImageAspectFlags::STENCIL {
                    return;
                }
                let layout = self.layout(commands, image, to);
                let command = match upload {
                    true => Command::Upload { buffer, image, layout, regions, newer },
                    false => Command::Download { image, layout, buffer, regions, newer },
                };
                self.command(commands, command);
            }
            4 | 5 => {
                let same = |other: &ImageShape| {
                    row_of(other.format).bytes == row_of(shape.format).bytes
                        && other.kind == shape.kind
                        && other.samples == shape.samples
                        && row_of(other.format).numbers != Numbers::Float
                        || other.format == shape.format
                };
                let Some((to, other)) = self.an_image(same) else { return };
                let (from_place, mut extent) = self.piece(&shape);
                let (mut to_place, room) = self.piece(&other);
                (0..3).for_each(|axis| extent[axis] = extent[axis].min(room[axis]));
                let layers = from_place.layers.min(to_place.layers);
                to_place.aspect = from_place.aspect;
                let (from_place, to_place) = (Place { layers, ..from_place }, Place { layers, ..to_place });
                let layouts = [self.layout(commands, image, source), self.layout(commands, to, target)];
                self.command(
                    commands,
                    Command::CopyImage {
                        from: image,
                        to,
                        layouts,
                        source: from_place,
                        target: to_place,
                        extent,
                        newer,
                    },
                );
            }
            6 => {
                let numbers = row_of(shape.format).numbers;
                let Some((to, other)) = self.an_image(|other| {
                    row_of(other.format).numbers == numbers && other.kind == shape.kind && other.samples == 1
                }) else {
                    return;
                };
                let (from_place, size) = self.piece(&shape);
                let (to_place, room) = self.piece(&other);
                let layers = from_place.layers.min(to_place.layers);
                let scaled = self.random.one_in(3);
                let size: [u32; 3] =
                    if scaled { size } else { [0, 1, 2].map(|axis| size[axis].min(room[axis])) };
                let room = if scaled { room } else { size };
                let end = |place: &Place, size: [u32; 3]| {
                    [0, 1, 2].map(|axis| place.origin[axis] + size[axis] as i32)
                };
                let (mut source_end, target_end) = (end(&from_place, size), end(&to_place, room));
                let mut from_place = Place { layers, ..from_place };
                if self.random.one_in(4) {
                    std::mem::swap(&mut from_place.origin[0], &mut source_end[0]);
                }
                let layouts = [self.layout(commands, image, source), self.layout(commands, to, target)];
                self.command(
                    commands,
                    Command::Blit {
                        from: image,
                        to,
                        layouts,
                        source: from_place,
                        source_end,
                        target: Place { layers, ..to_place },
                        target_end,
                        filter: vk::Filter::NEAREST,
                    },
                );
            }
            _ => {
                let Some((from, many)) = self.an_image(|image| image.samples == 4) else { return };
                let Some((to, one)) = self.an_image(|one| one.samples == 1 && one.format == many.format)
                else {
                    return;
                };
                let extent = [0, 1, 2].map(|axis| many.extent[axis].min(one.extent[axis]));
                let layouts = [self.layout(commands, from, source), self.layout(commands, to, target)];
                self.command(commands, Command::Resolve { from, to, layouts, extent });
            }
        }
    }

    /// Words that clear a target: mostly such that every format holds them as they are.
    pub(super) fn clear_words(&mut self, format: vk::Format) -> [u32; 4] {
        let one = 1f32.to_bits();
        let rare = self.random.one_in(6);
        [0; 4].map(|_: u32| match row_of(format).numbers {
            Numbers::Uint | Numbers::Sint => self.random.word() & 0x7f,
            Numbers::Unorm | Numbers::Srgb | Numbers::Float if rare => {
                (self.random.below(256) as f32 / 255.0).to_bits()
            }
            Numbers::Depth if rare => 0.5f32.to_bits(),
            _ => self.random.pick(&[0, one]),
        })
    }

    fn clear_image(&mut self, commands: Id, image: Id, shape: &ImageShape) {
        let level = self.random.below(shape.levels as usize) as u32;
        let layer = self.random.below(shape.layers as usize) as u32;
        let range = Range {
            aspects: crate::format::aspects(shape.format),
            level,
            levels: 1 + self.random.below((shape.levels - level) as usize) as u32,
            layer,
            layers: 1 + self.random.below((shape.layers - layer) as usize) as u32,
        };
        let words = self.clear_words(shape.format);
        let layout = self.layout(commands, image, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
        let command = if row_of(shape.format).numbers == Numbers::Depth {
            let stencil = self.random.word() & 0xff;
            Command::ClearDepth { image, layout, depth: f32::from_bits(words[0]), stencil, range }
        } else {
            Command::ClearColor { image, layout, words, range }
        };
        self.command(commands, command);
    }

    fn secondaries(&mut self, commands: Id) {
        let secondaries = self.in_phase(crate::api::model::Phase::Executable);
        let secondaries: Vec<Id> = secondaries
            .into_iter()
            .filter(|id| self.model.get(*id).is_some_and(|one| one.recording.secondary))
            .collect();
        if secondaries.is_empty() {
            return;
        }
        let one = self.random.pick(&secondaries);
        if self.command(commands, Command::Execute { commands: vec![one] }) {
            self.command(commands, Command::Barrier { newer: false, buffer: None });
        }
    }

    fn counters(&mut self, commands: Id, recording: &Recording) {
        if self.random.one_in(2) {
            let Some(event) = self.any(|what| matches!(what, Create::Event {})) else { return };
            let command = match self.random.below(3) {
                0 if recording.events.contains(&event) => Command::WaitEvents { events: vec![event] },
                1 => Command::ResetEvent { event },
                _ => Command::SetEvent { event },
            };
            self.command(commands, command);
            return;
        }
        let Some(queries) = self.any(|what| matches!(what, Create::Queries { .. })) else { return };
        let Some(Create::Queries { count, .. }) = self.model.get(queries).map(|one| one.create.clone())
        else {
            return;
        };
        if !recording.reset.contains(&queries) {
            self.command(commands, Command::ResetQueries { queries, first: 0, count });
            self.command(commands, Command::Barrier { newer: false, buffer: None });
        }
        let query = self.random.below(count as usize) as u32;
        match self.random.below(3) {
            0 => {
                let Some((buffer, _)) = self.a_buffer(vk::BufferUsageFlags::TRANSFER_DST) else { return };
                let (stride, flags) = self.result_layout();
                let counted =
                    recording.counted.iter().find(|(pool, _)| *pool == queries).map(|(_, query)| *query);
                let first = counted.unwrap_or(query);
                let offset = self.number(4) * 8;
                self.command(
                    commands,
                    Command::CopyQueries { queries, first, count: 1, buffer, offset, stride, flags },
                );
            }
            1 => {
                let flags = self.query_flags(queries);
                if self.command(commands, Command::BeginQuery { queries, query, flags }) {
                    self.command(commands, Command::EndQuery { queries, query });
                }
            }
            _ => {
                let newer = self.random.one_in(2);
                self.command(commands, Command::Timestamp { queries, query, newer });
            }
        }
    }
}
