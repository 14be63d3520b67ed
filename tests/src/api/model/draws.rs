//! Which commands of passes, pipelines, draws and dispatches may be recorded, and what they change.

use std::collections::BTreeMap;

use ash::vk;

use super::{Inside, Model, Recording, need};
use crate::api::formats::{Numbers, row_of};
use crate::api::shaders::{PUSH_BYTES, seen, shader};
use crate::api::slot::Id;
use crate::api::step::*;

impl Model {
    /// The pass that a secondary buffer continues.
    pub(super) fn inherited(&self, pass: Id, framebuffer: Option<Id>) -> Option<Inside> {
        let framebuffer = framebuffer?;
        let Create::Framebuffer { extent, .. } = self.get(framebuffer)?.create else { return None };
        let mut inside = self.entered(pass, framebuffer, [extent[0], extent[1]], &[])?;
        inside.own = false;
        Some(inside)
    }

    fn entered(&self, id: Id, framebuffer: Id, extent: [u32; 2], views: &[Id]) -> Option<Inside> {
        let Create::RenderPass { pass, .. } = &self.get(id)?.create else { return None };
        let Create::Framebuffer { pass: of, views: own, imageless, extent: whole } =
            &self.get(framebuffer)?.create
        else {
            return None;
        };
        need(*of == id && extent.iter().zip(whole).all(|(edge, most)| edge <= most && *edge > 0))?;
        need(views.is_empty() || (*imageless && views == own))?;
        let images = own.iter().map(|view| self.image_of(*view)).collect::<Option<Vec<Id>>>()?;
        Some(Inside {
            shape: pass.shape.clone(),
            pass: Some(id),
            extent,
            layers: 1,
            subpass: 0,
            subpasses: pass.subpasses,
            secondary: false,
            images,
            own: true,
        })
    }

    /// The image of a view.
    pub fn image_of(&self, view: Id) -> Option<Id> {
        match self.get(view)?.create {
            Create::View { image, .. } => Some(image),
            _ => None,
        }
    }

    fn rendered(&self, colors: &[Id], depth: Option<Id>, extent: [u32; 2], layers: u32) -> Option<Inside> {
        let mut shape = Shape { colors: Vec::new(), depth: None, samples: 0 };
        let mut images = Vec::new();
        for view in colors.iter().chain(&depth) {
            let Create::View { image, format, .. } = self.get(*view)?.create else { return None };
            let samples = self.image(image)?.samples;
            need(shape.samples == 0 || shape.samples == samples)?;
            shape.samples = samples;
            need(!images.contains(&image))?;
            images.push(self.target(*view, format, samples, [extent[0], extent[1], 1])?);
            let is_depth = super::creates::whole_aspects(format) != vk::ImageAspectFlags::COLOR;
            if depth == Some(*view) {
                need(is_depth)?;
                shape.depth = Some(format);
            } else {
                need(!is_depth)?;
                shape.colors.push(format);
            }
        }
        need(!images.is_empty() && colors.len() <= 2 && layers == 1 && extent.iter().all(|edge| *edge > 0))?;
        Some(Inside {
            shape,
            pass: None,
            extent,
            layers,
            subpass: 0,
            subpasses: 1,
            secondary: false,
            images,
            own: true,
        })
    }

    /// The pass that a command enters.
    pub(super) fn opened(&self, command: &Command) -> Option<Inside> {
        match command {
            Command::BeginPass { pass, framebuffer, views, extent, secondary, .. } => {
                let mut inside = self.entered(*pass, *framebuffer, *extent, views)?;
                inside.secondary = *secondary;
                Some(inside)
            }
            Command::BeginRendering { colors, depth, extent, layers, .. } => {
                self.rendered(colors, *depth, *extent, *layers)
            }
            _ => None,
        }
    }

    pub(super) fn admits_drawing(&self, recording: &Recording, command: &Command) -> Option<()> {
        let inside = recording.inside.as_ref();
        // Where secondary buffers draw, the primary records nothing else.
        let silent = inside.is_some_and(|inside| inside.secondary);
        match command {
            Command::NextSubpass { .. } => {
                let inside = inside?;
                need(inside.own && inside.subpass + 1 < inside.subpasses && recording.active.is_none())?;
                return Some(());
            }
            Command::EndPass {} => {
                let inside = inside?;
                need(inside.own && inside.pass.is_some() && inside.subpass + 1 == inside.subpasses)?;
                return need(recording.active.is_none_or(|(_, _, outside)| outside));
            }
            _ => need(!silent)?,
        }
        match command {
            Command::BindPipeline { pipeline, compute } => match self.get(*pipeline)?.create {
                Create::Compute { .. } => need(*compute),
                Create::Graphics { .. } => need(!compute),
                _ => None,
            },
            Command::BindSets { layout, first, sets, dynamic, .. } => {
                let Create::PipelineLayout { sets: wanted, .. } = &self.get(*layout)?.create else {
                    return None;
                };
                need(*first == 0 && !sets.is_empty() && sets.len() <= wanted.len())?;
                let mut rooms = Vec::new();
                for (set, wanted) in sets.iter().zip(wanted) {
                    let Create::Set { layout: of, .. } = self.get(*set)?.create else { return None };
                    need(of == *wanted)?;
                    rooms.extend(self.dynamic_rooms(*set)?);
                }
                need(dynamic.len() == rooms.len())?;
                let fits = |(offset, room): (&u32, &u64)| offset % 256 == 0 && u64::from(*offset) <= *room;
                need(dynamic.iter().zip(&rooms).all(fits))
            }
            Command::PushSet { layout, writes, .. } => {
                let Create::PipelineLayout { sets, .. } = &self.get(*layout)?.create else { return None };
                let Create::SetLayout { bindings, pushed: true } = &self.get(*sets.first()?)?.create else {
                    return None;
                };
                need(!writes.is_empty())?;
                writes.iter().try_for_each(|write| self.admits_write(bindings, write))
            }
            Command::Push { layout, offset, words } => {
                need(matches!(self.get(*layout)?.create, Create::PipelineLayout { .. }))?;
                need(*offset == 0 && words.len() as u32 * 4 == PUSH_BYTES)
            }
            Command::BindVertices { first, buffers, offset } => {
                need(*first == 0 && buffers.len() == 1)?;
                let (size, usage) = self.buffer(*buffers.first()?)?;
                need(usage.contains(vk::BufferUsageFlags::VERTEX_BUFFER) && *offset < size && offset % 4 == 0)
            }
            Command::BindIndices { buffer, offset, kind } => {
                let (size, usage) = self.buffer(*buffer)?;
                need(usage.contains(vk::BufferUsageFlags::INDEX_BUFFER))?;
                need(*offset < size && offset % 4 == 0)?;
                need(matches!(*kind, vk::IndexType::UINT16 | vk::IndexType::UINT32))
            }
            Command::Viewport { place, depths } => {
                need(place[2] > 0.0 && place[2] <= 4096.0 && place[3] > 0.0 && place[3] <= 4096.0)?;
                need(place[..2].iter().all(|at| (-4096.0..=4000.0).contains(at)))?;
                need(depths.iter().all(|depth| (0.0..=1.0).contains(depth)))
            }
            Command::Scissor { origin, extent } => {
                let fits =
                    |axis: usize| i64::from(origin[axis]) + i64::from(extent[axis]) <= i64::from(i32::MAX);
                need(origin.iter().all(|at| *at >= 0) && fits(0) && fits(1))
            }
            Command::Numbers { what, value } => {
                need(*what < 3 && *value >= 0.0 && (*what > 0 || *value == 1.0))
            }
            Command::StencilWord { what, .. } => need(*what < 3),
            Command::BeginPass { clears, .. } | Command::BeginRendering { clears, .. } => {
                need(inside.is_none() && !recording.secondary && recording.active.is_none())?;
                let inside = self.opened(command)?;
                need(inside.images.iter().all(|image| self.get(*image).is_some_and(|image| image.ready)))?;
                need(!inside.images.iter().any(|image| recording.layouts.contains_key(image)))?;
                need(clears.len() == inside.images.len())?;
                // A depth between 0 and 1.
                need(inside.shape.depth.is_none() || clears.iter().all(|words| words[0] <= 1f32.to_bits()))
            }
            Command::EndRendering {} => {
                let inside = inside?;
                need(
                    inside.own
                        && inside.pass.is_none()
                        && recording.active.is_none_or(|(_, _, outside)| outside),
                )
            }
            Command::ClearAttachments { color, origin, extent, layers, words } => {
                let inside = inside?;
                need(
                    *layers == 1 && origin.iter().all(|at| *at >= 0) && extent.iter().all(|edge| *edge > 0),
                )?;
                let fits = |axis: usize| (origin[axis] as u32).checked_add(extent[axis]);
                need(fits(0)? <= inside.extent[0] && fits(1)? <= inside.extent[1])?;
                need(if *color { !inside.shape.colors.is_empty() } else { inside.shape.depth.is_some() })?;
                need(*color || words[0] <= 1f32.to_bits())
            }
            Command::Draw { vertices, instances, first, .. } => {
                self.admits_draw(recording)?;
                self.admits_vertices(recording, u64::from(*vertices) + u64::from(*first))?;
                need(*vertices <= 4096 && *instances <= 16)
            }
            Command::DrawIndexed { indices, instances, first, offset } => {
                self.admits_draw(recording)?;
                let (buffer, start, kind) = recording.indices?;
                let bytes = if kind == vk::IndexType::UINT16 { 2 } else { 4 };
                let (size, _) = self.buffer(buffer)?;
                need(start + (u64::from(*first) + u64::from(*indices)) * bytes <= size)?;
                // Whatever the indices are: only vertices that come from no buffer are safe.
                need(!self.reads_vertices(recording))?;
                need(*indices <= 1024 && *instances <= 16 && *offset == 0)
            }
            Command::DrawIndirect { buffer, offset, count, stride, indexed } => {
                self.admits_draw(recording)?;
                need(*count <= 1 && !indexed && !self.reads_vertices(recording))?;
                self.admits_arguments(*buffer, *offset, 16, *stride)
            }
            Command::Dispatch { groups } => {
                need(inside.is_none() && groups.iter().all(|count| *count <= 32))?;
                self.admits_dispatch(recording)
            }
            Command::DispatchIndirect { buffer, offset } => {
                need(inside.is_none())?;
                self.admits_arguments(*buffer, *offset, 12, 12)?;
                self.admits_dispatch(recording)
            }
            Command::BeginQuery { queries, query, flags } => {
                let Create::Queries { kind, count } = self.get(*queries)?.create else { return None };
                let known = match kind {
                    vk::QueryType::OCCLUSION => vk::QueryControlFlags::PRECISE,
                    _ => vk::QueryControlFlags::empty(),
                };
                need(kind != vk::QueryType::TIMESTAMP && known.contains(*flags))?;
                need(*query < count && recording.reset.contains(queries))?;
                need(recording.active.is_none() && !recording.secondary)?;
                need(!recording.counted.contains(&(*queries, *query)))
            }
            Command::EndQuery { queries, query } => {
                need(recording.active == Some((*queries, *query, recording.inside.is_none())))
            }
            _ => None,
        }
    }

    /// Arguments of a draw or dispatch: the buffer must hold small numbers, as the host wrote them there at last.
    fn admits_arguments(&self, buffer: Id, offset: u64, bytes: u64, stride: u32) -> Option<()> {
        let (size, usage) = self.buffer(buffer)?;
        need(usage == vk::BufferUsageFlags::INDIRECT_BUFFER && self.get(buffer)?.ready)?;
        need(offset % 4 == 0 && u64::from(stride) >= bytes && stride % 4 == 0)?;
        need(offset.checked_add(bytes)? <= size)
    }

    fn admits_vertices(&self, recording: &Recording, vertices: u64) -> Option<()> {
        if !self.reads_vertices(recording) {
            return Some(());
        }
        let (buffer, offset) = recording.vertices?;
        let (size, _) = self.buffer(buffer)?;
        need(offset + 4 * vertices <= size)
    }

    fn reads_vertices(&self, recording: &Recording) -> bool {
        let pipeline = recording.pipelines[0].and_then(|pipeline| self.get(pipeline));
        pipeline.is_some_and(|thing| thing.shaders.iter().any(|number| shader(*number).vertices))
    }

    fn admits_draw(&self, recording: &Recording) -> Option<()> {
        let inside = recording.inside.as_ref()?;
        let thing = self.get(recording.pipelines[0]?)?;
        let Create::Graphics { pipeline } = &thing.create else { return None };
        need(pipeline.shape == inside.shape && pipeline.pass == inside.pass)?;
        need(pipeline.pass.is_none() || pipeline.subpass == inside.subpass)?;
        let dynamic = recording.dynamic;
        need(pipeline.dynamic & !dynamic == 0)?;
        // Static state overwrites what was set.
        need(recording.push.as_ref().is_some_and(|(layout, _)| *layout == pipeline.layout))?;
        for &number in &thing.shaders {
            need(!shader(number).vertices || recording.vertices.is_some())?;
            self.bound(recording, 0, pipeline.layout, number, &inside.images)?;
        }
        Some(())
    }

    fn admits_dispatch(&self, recording: &Recording) -> Option<()> {
        let thing = self.get(recording.pipelines[1]?)?;
        let Create::Compute { layout, .. } = thing.create else { return None };
        need(recording.push.as_ref().is_some_and(|(of, _)| *of == layout))?;
        self.bound(recording, 1, layout, *thing.shaders.first()?, &[])
    }

    /// Whether a shader finds what it reads and writes: each thing once, none of them drawn to.
    fn bound(
        &self,
        recording: &Recording,
        point: usize,
        layout: Id,
        of_number: u32,
        drawn: &[Id],
    ) -> Option<()> {
        let wanted = shader(of_number).bindings;
        if wanted.is_empty() {
            return Some(());
        }
        let (of, contents) = recording.sets[point].as_ref()?;
        need(*of == layout)?;
        let mut seen: Vec<Id> = drawn.to_vec();
        for (number, kind) in (0..).zip(wanted) {
            let items = contents.get(&number)?;
            let item = items.first()?;
            let memory = self.item(item, *kind)?;
            if *kind == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
                let numbers = row_of(self.image(memory)?.format).numbers;
                need((numbers == Numbers::Uint) == shader(of_number).uint)?;
                need(numbers != Numbers::Sint && numbers != Numbers::Depth)?;
            }
            need(!seen.contains(&memory) && !recording.layouts.contains_key(&memory))?;
            seen.push(memory);
        }
        Some(())
    }

    /// The buffer or image that a descriptor leads to, if it may be used as such.
    pub fn item(&self, item: &Item, kind: vk::DescriptorType) -> Option<Id> {
        match item {
            Item::Buffer { buffer, .. } => self.buffer(*buffer).map(|_| *buffer),
            Item::Texels { view } => match self.get(*view)?.create {
                Create::BufferView { buffer, .. } => Some(buffer),
                _ => None,
            },
            Item::Image { view, .. } => {
                let image = self.image_of((*view)?)?;
                let _ = kind;
                need(self.get(image)?.ready).map(|()| image)
            }
        }
    }

    /// The largest dynamic offsets of a set, in the order in which they are given.
    pub fn dynamic_rooms(&self, set: Id) -> Option<Vec<u64>> {
        let thing = self.get(set)?;
        let Create::Set { layout, .. } = thing.create else { return None };
        let Create::SetLayout { bindings, .. } = &self.get(layout)?.create else { return None };
        let mut dynamic: Vec<&Binding> = bindings.iter().filter(|one| seen(one.kind) != one.kind).collect();
        dynamic.sort_unstable_by_key(|one| one.number);
        let mut rooms = Vec::new();
        for one in dynamic {
            let items = thing.contents.get(&one.number);
            for element in 0..one.count as usize {
                // What holds nothing has no room, and is not used.
                rooms.push(match items.and_then(|items| items.get(element)) {
                    Some(Item::Buffer { buffer, offset, range }) => self.buffer(*buffer)?.0 - offset - range,
                    _ => 0,
                });
            }
        }
        Some(rooms)
    }

    pub(super) fn record_drawing(&mut self, recording: &mut Recording, command: &Command) {
        match command {
            Command::BindPipeline { pipeline, compute } => {
                recording.pipelines[usize::from(*compute)] = Some(*pipeline);
                if let Create::Graphics { pipeline } = &self.things[pipeline].create {
                    // What the pipeline fixes is undefined for the next one that does not.
                    recording.dynamic &= pipeline.dynamic;
                }
            }
            Command::BindSets { layout, compute, sets, .. } => {
                let contents = self.things[&sets[0]].contents.clone();
                recording.sets[usize::from(*compute)] = Some((*layout, contents));
            }
            Command::PushSet { layout, compute, writes } => {
                let contents: BTreeMap<u32, Vec<Item>> =
                    writes.iter().map(|write| (write.binding, write.items.clone())).collect();
                recording.sets[usize::from(*compute)] = Some((*layout, contents));
            }
            Command::Push { layout, words, .. } => recording.push = Some((*layout, words.clone())),
            Command::BindVertices { buffers, offset, .. } => recording.vertices = Some((buffers[0], *offset)),
            Command::BindIndices { buffer, offset, kind } => {
                recording.indices = Some((*buffer, *offset, *kind))
            }
            Command::Viewport { place, depths } => {
                recording.viewport = Some((*place, *depths));
                recording.dynamic |= 1;
            }
            Command::Scissor { origin, extent } => {
                recording.scissor = Some((*origin, *extent));
                recording.dynamic |= 2;
            }
            Command::Numbers { what, .. } => recording.dynamic |= 4 << what,
            Command::StencilWord { what, .. } => recording.dynamic |= 32 << what,
            Command::BeginPass { .. } | Command::BeginRendering { .. } => {
                recording.inside = self.opened(command)
            }
            Command::NextSubpass { secondary } => {
                if let Some(inside) = &mut recording.inside {
                    inside.subpass += 1;
                    inside.secondary = *secondary;
                }
            }
            Command::EndPass {} | Command::EndRendering {} => recording.inside = None,
            Command::BeginQuery { queries, query, .. } => {
                recording.active = Some((*queries, *query, recording.inside.is_none()));
            }
            Command::EndQuery { queries, query } => {
                recording.active = None;
                recording.counted.insert((*queries, *query));
            }
            _ => (),
        }
    }
}
