//! Passes, draws and dispatches.

use ash::vk;

use super::Maker;
use crate::api::model::Recording;
use crate::api::shaders::shader;
use crate::api::slot::Id;
use crate::api::step::*;

impl Maker {
    /// A pipeline for targets of a shape.
    pub(super) fn pipeline(&mut self, shape: Shape, layout: Id, vertex: Id) -> Graphics {
        use vk::{BlendFactor as Factor, CompareOp as Compare, PrimitiveTopology as Topology, StencilOp};
        let plain = !self.random.one_in(4);
        let compares =
            [Compare::ALWAYS, Compare::LESS, Compare::LESS_OR_EQUAL, Compare::EQUAL, Compare::GREATER];
        let factors =
            [Factor::ONE, Factor::ZERO, Factor::SRC_ALPHA, Factor::ONE_MINUS_SRC_ALPHA, Factor::DST_COLOR];
        let factors = if plain { &factors[..2] } else { &factors[..] };
        let ops = [vk::BlendOp::ADD, vk::BlendOp::SUBTRACT, vk::BlendOp::REVERSE_SUBTRACT, vk::BlendOp::MAX];
        let stencils =
            [StencilOp::KEEP, StencilOp::REPLACE, StencilOp::INCREMENT_AND_WRAP, StencilOp::INVERT];
        let blend = self.random.one_in(4).then(|| Blend {
            from: self.random.pick(factors),
            to: self.random.pick(factors),
            op: self.random.pick(&ops),
        });
        let logics = [vk::LogicOp::XOR, vk::LogicOp::AND, vk::LogicOp::COPY_INVERTED, vk::LogicOp::NOR];
        let logic = (blend.is_none() && self.random.one_in(6)).then(|| self.random.pick(&logics));
        let depth = (shape.depth.is_some() && !self.random.one_in(4))
            .then(|| Depth { compare: self.random.pick(&compares), write: self.random.one_in(2) });
        let stencil =
            (shape.depth == Some(vk::Format::D24_UNORM_S8_UINT) && self.random.one_in(2)).then(|| Stencil {
                compare: self.random.pick(&compares),
                fail: self.random.pick(&stencils),
                pass: self.random.pick(&stencils),
                depth: self.random.pick(&stencils),
                value: self.random.word() & 0xff,
            });
        let topologies = [
            Topology::TRIANGLE_STRIP,
            Topology::TRIANGLE_FAN,
            Topology::LINE_LIST,
            Topology::LINE_STRIP,
            Topology::POINT_LIST,
        ];
        let topology = if plain { Topology::TRIANGLE_LIST } else { self.random.pick(&topologies) };
        let polygons = [vk::PolygonMode::FILL, vk::PolygonMode::LINE, vk::PolygonMode::POINT];
        let culls = [vk::CullModeFlags::NONE, vk::CullModeFlags::BACK, vk::CullModeFlags::FRONT_AND_BACK];
        let dynamic = if plain { 3 } else { 3 | self.random.word() & 0xf7 };
        Graphics {
            layout,
            vertex,
            fragment: None,
            pass: None,
            subpass: 0,
            shape,
            cache: self.any(|what| matches!(what, Create::Cache { .. })),
            topology,
            restart: !plain && self.random.one_in(3),
            polygon: if plain { vk::PolygonMode::FILL } else { self.random.pick(&polygons) },
            cull: if plain { vk::CullModeFlags::NONE } else { self.random.pick(&culls) },
            front: self.random.pick(&[vk::FrontFace::CLOCKWISE, vk::FrontFace::COUNTER_CLOCKWISE]),
            discard: self.random.one_in(20),
            blend,
            logic,
            mask: match self.random.one_in(4) {
                true => vk::ColorComponentFlags::from_raw(self.random.word() & 15),
                false => vk::ColorComponentFlags::RGBA,
            },
            depth,
            stencil,
            dynamic,
            extent: [64, 64],
        }
    }

    /// Begins a pass.
    pub(super) fn enter(&mut self, commands: Id) {
        if self.random.one_in(3) {
            return self.render(commands);
        }
        let Some(framebuffer) = self.any(|what| matches!(what, Create::Framebuffer { .. })) else {
            return self.render(commands);
        };
        let Some(Create::Framebuffer { pass, views, extent, imageless }) =
            self.model.get(framebuffer).map(|thing| thing.create.clone())
        else {
            return;
        };
        let clears = self.clears(&views);
        let secondary = self.random.one_in(6);
        let views = if imageless { views } else { Vec::new() };
        let mut extent = [extent[0], extent[1]];
        if self.random.one_in(4) {
            extent = extent.map(|edge| 1 + self.number(u64::from(edge) - 1) as u32);
        }
        self.command(commands, Command::BeginPass { pass, framebuffer, views, extent, clears, secondary });
    }

    fn clears(&mut self, views: &[Id]) -> Vec<[u32; 4]> {
        let formats: Vec<vk::Format> = views
            .iter()
            .map(|view| match self.model.get(*view).map(|thing| &thing.create) {
                Some(Create::View { format, .. }) => *format,
                _ => vk::Format::R8_UNORM,
            })
            .collect();
        formats.into_iter().map(|format| self.clear_words(format)).collect()
    }

    fn render(&mut self, commands: Id) {
        // Whatever a pipeline wants to draw to.
        let pipelines =
            self.all(|what| matches!(what, Create::Graphics { pipeline } if pipeline.pass.is_none()));
        if pipelines.is_empty() {
            return;
        }
        let id = self.random.pick(&pipelines);
        let Some(Create::Graphics { pipeline }) = self.model.get(id).map(|one| one.create.clone()) else {
            return;
        };
        let views = self.all(|what| matches!(what, Create::View { kind: vk::ImageViewType::TYPE_2D, .. }));
        let any_size = self.random.one_in(3);
        let mut all: Vec<Id> = Vec::new();
        for format in pipeline.shape.colors.iter().chain(&pipeline.shape.depth) {
            let fits = |view: &&Id| {
                let Some(Create::View { image, format: of, range, .. }) =
                    self.model.get(**view).map(|view| &view.create)
                else {
                    return false;
                };
                let samples = self.model.image(*image).map_or(0, |image| image.samples);
                let apart = all.iter().all(|other| self.model.image_of(*other) != Some(*image));
                let same = any_size || all.is_empty() || self.smallest(&[**view]) == self.smallest(&all);
                of == format && range.levels == 1 && samples == pipeline.shape.samples && apart && same
            };
            let Some(view) = views.iter().find(fits) else { return };
            all.push(*view);
        }
        let (colors, depth) = all.split_at(pipeline.shape.colors.len());
        let (colors, depth) = (colors.to_vec(), depth.first().copied());
        let (clears, extent) = (self.clears(&all), self.smallest(&all));
        let load = self.random.pick(&[vk::AttachmentLoadOp::LOAD, vk::AttachmentLoadOp::CLEAR]);
        let store = vk::AttachmentStoreOp::STORE;
        self.command(
            commands,
            Command::BeginRendering { colors, depth, load, store, clears, extent, layers: 1 },
        );
    }

    /// Draws, clears or ends a pass.
    pub(super) fn draw(&mut self, commands: Id, recording: &Recording) {
        let Some(inside) = recording.inside.clone() else { return };
        if inside.secondary {
            let secondaries = self.in_phase(crate::api::model::Phase::Executable);
            for one in secondaries {
                self.command(commands, Command::Execute { commands: vec![one] });
            }
            return self.leave(commands);
        }
        match self.random.below(12) {
            0 | 1 if inside.own => self.leave(commands),
            2 => {
                let color = self.random.one_in(2);
                let format = if color { inside.shape.colors.first() } else { inside.shape.depth.as_ref() };
                let Some(&format) = format else { return };
                let words = self.clear_words(format);
                let origin = inside.extent.map(|edge| self.number(u64::from(edge) - 1) as i32);
                let extent = [0, 1].map(|axis| {
                    let room = inside.extent[axis] - origin[axis] as u32;
                    1 + self.number(u64::from(room) - 1) as u32
                });
                self.command(commands, Command::ClearAttachments { color, words, origin, extent, layers: 1 });
            }
            3 => self.count_in_pass(commands, recording),
            _ => self.draw_something(commands, recording),
        }
    }

    fn leave(&mut self, commands: Id) {
        let secondary = self.random.one_in(6);
        let _ = self.command(commands, Command::EndPass {})
            || self.command(commands, Command::EndRendering {})
            || self.command(commands, Command::NextSubpass { secondary });
        self.command(commands, Command::Barrier { newer: false, buffer: None });
    }

    fn count_in_pass(&mut self, commands: Id, recording: &Recording) {
        if let Some((queries, query, _)) = recording.active {
            self.command(commands, Command::EndQuery { queries, query });
            return;
        }
        let counts =
            |what: &Create| matches!(what, Create::Queries { kind, .. } if *kind != vk::QueryType::TIMESTAMP);
        for queries in self.all(counts) {
            let query = self.random.below(5) as u32;
            let flags = self.query_flags(queries);
            self.command(commands, Command::BeginQuery { queries, query, flags });
        }
    }

    /// Whether a query counts exactly.
    pub(super) fn query_flags(&mut self, queries: Id) -> vk::QueryControlFlags {
        let is_occlusion =
            |what: &Create| matches!(what, Create::Queries { kind: vk::QueryType::OCCLUSION, .. });
        let is_occlusion = self.model.get(queries).is_some_and(|thing| is_occlusion(&thing.create));
        match is_occlusion && self.random.one_in(2) {
            true => vk::QueryControlFlags::PRECISE,
            false => vk::QueryControlFlags::empty(),
        }
    }

    fn draw_something(&mut self, commands: Id, recording: &Recording) {
        let Some(inside) = &recording.inside else { return };
        let fits = |what: &Create| match what {
            Create::Graphics { pipeline } => {
                pipeline.shape == inside.shape
                    && pipeline.pass == inside.pass
                    && (inside.pass.is_none() || pipeline.subpass == inside.subpass)
            }
            _ => false,
        };
        let known = if self.random.one_in(5) { None } else { self.any(fits) };
        let (pass, subpass) = (inside.pass, inside.subpass);
        let id = known.or_else(|| self.pipeline_for(inside.shape.clone(), pass, subpass));
        let Some(id) = id else { return };
        let Some(thing) = self.model.get(id) else { return };
        let (create, shaders) = (thing.create.clone(), thing.shaders.clone());
        let Create::Graphics { pipeline } = create else { return };
        self.command(commands, Command::BindPipeline { pipeline: id, compute: false });
        let mut extent = inside.extent;
        if self.random.one_in(8) {
            extent = extent.map(|edge| 1 + self.number(u64::from(edge) - 1) as u32);
        }
        let place = [0.0, 0.0, extent[0] as f32, extent[1] as f32];
        self.command(commands, Command::Viewport { place, depths: [0.0, 1.0] });
        let origin = if self.random.one_in(3) {
            extent.map(|edge| self.number(u64::from(edge)) as i32)
        } else {
            [0; 2]
        };
        self.command(commands, Command::Scissor { origin, extent });
        for what in 0..3 {
            if pipeline.dynamic >> (2 + what) & 1 == 1 {
                self.command(commands, Command::Numbers { what, value: 1.0 });
            }
            if pipeline.dynamic >> (5 + what) & 1 == 1 {
                let value = self.random.word() & 0xff;
                self.command(commands, Command::StencilWord { what, value });
            }
        }
        self.push_words(commands, pipeline.layout, extent);
        for number in &shaders {
            if shader(*number).vertices {
                let found = self.a_buffer(vk::BufferUsageFlags::VERTEX_BUFFER);
                let Some((buffer, _)) = found else { return };
                self.command(commands, Command::BindVertices { first: 0, buffers: vec![buffer], offset: 0 });
            }
            if !shader(*number).bindings.is_empty() {
                self.bind_sets(commands, pipeline.layout, false);
            }
        }
        for _ in 0..1 + self.random.below(3) {
            self.draw_call(commands);
        }
    }

    fn draw_call(&mut self, commands: Id) {
        let instances = self.random.pick(&[1, 1, 1, 0, 2, 5]);
        match self.random.below(6) {
            0 => {
                let Some((buffer, size)) = self.a_buffer(vk::BufferUsageFlags::INDEX_BUFFER) else { return };
                let kind = self.random.pick(&[vk::IndexType::UINT16, vk::IndexType::UINT32]);
                let offset = self.number(size - 1) / 4 * 4;
                self.command(commands, Command::BindIndices { buffer, offset, kind });
                let indices = self.number(60) as u32;
                self.command(commands, Command::DrawIndexed { indices, instances, first: 0, offset: 0 });
            }
            1 => {
                let Some((buffer, size)) = self.a_buffer(vk::BufferUsageFlags::INDIRECT_BUFFER) else {
                    return;
                };
                let offset = self.number(size - 1) / 4 * 4;
                let (count, stride) = (self.random.below(2) as u32, self.random.pick(&[16, 20]));
                self.command(
                    commands,
                    Command::DrawIndirect { buffer, offset, count, stride, indexed: false },
                );
            }
            _ => {
                let vertices = self.random.pick(&[6, 6, 6, 6, 0, 3, 12, 30]);
                let first = if self.random.one_in(6) { self.number(7) as u32 } else { 0 };
                let first_instance = self.number(3) as u32;
                self.command(commands, Command::Draw { vertices, instances, first, first_instance });
            }
        }
    }

    /// Push constants: a rectangle of whole pixels, colours, numbers.
    fn push_words(&mut self, commands: Id, layout: Id, extent: [u32; 2]) {
        let edge = |maker: &mut Maker, axis: usize| {
            let at = maker.number(u64::from(extent[axis])) as f32;
            (at / extent[axis] as f32 * 2.0 - 1.0).to_bits()
        };
        let mut words: Vec<u32> = [0, 1, 0, 1].into_iter().map(|axis| edge(self, axis)).collect();
        if self.random.one_in(2) {
            let (low, high) = ((-1f32).to_bits(), 1f32.to_bits());
            words = vec![low, low, high, high];
        }
        let one = 1f32.to_bits();
        let rare = self.random.one_in(5);
        for _ in 0..4 {
            let part = (self.random.below(256) as f32 / 255.0).to_bits();
            words.push(if rare { part } else { self.random.pick(&[0, one]) });
        }
        words.extend((0..4).map(|_| self.random.word() & 0x7f));
        words.push(self.random.pick(&[0, one]));
        words.push(self.random.word());
        words.extend([0, 0]);
        self.command(commands, Command::Push { layout, offset: 0, words });
    }

    /// Binds or pushes what a layout has room for.
    fn bind_sets(&mut self, commands: Id, layout: Id, compute: bool) {
        let Some(Create::PipelineLayout { sets: wanted, .. }) =
            self.model.get(layout).map(|thing| thing.create.clone())
        else {
            return;
        };
        let Some(&wanted) = wanted.first() else { return };
        let Some(Create::SetLayout { bindings, pushed }) =
            self.model.get(wanted).map(|thing| thing.create.clone())
        else {
            return;
        };
        if pushed {
            let writes = self.writes(&bindings);
            self.command(commands, Command::PushSet { layout, compute, writes });
            return;
        }
        let sets = self.all(|what| matches!(what, Create::Set { layout: of, .. } if *of == wanted));
        // Those that hold something everywhere, if there are such.
        let holds = |set: &Id| {
            let contents = self.model.get(*set).map_or(0, |set| set.contents.len());
            contents >= bindings.iter().filter(|one| one.count > 0).count()
        };
        let whole: Vec<Id> = sets.iter().copied().filter(holds).collect();
        let sets = if whole.is_empty() { sets } else { whole };
        let set = if sets.is_empty() { self.a_set(wanted) } else { Some(self.random.pick(&sets)) };
        let Some(set) = set else { return };
        let rooms = self.model.dynamic_rooms(set).unwrap_or_default();
        let dynamic = rooms.into_iter().map(|room| self.number(room / 256) as u32 * 256).collect();
        self.command(commands, Command::BindSets { layout, compute, first: 0, sets: vec![set], dynamic });
    }

    pub(super) fn dispatch(&mut self, commands: Id) {
        let Some(pipeline) = self.any(|what| matches!(what, Create::Compute { .. })) else { return };
        let Some(Create::Compute { layout, .. }) = self.model.get(pipeline).map(|one| one.create.clone())
        else {
            return;
        };
        self.command(commands, Command::BindPipeline { pipeline, compute: true });
        self.push_words(commands, layout, [1, 1]);
        self.bind_sets(commands, layout, true);
        if self.random.one_in(5) {
            let Some((buffer, size)) = self.a_buffer(vk::BufferUsageFlags::INDIRECT_BUFFER) else { return };
            let offset = self.number(size - 1) / 4 * 4;
            self.command(commands, Command::DispatchIndirect { buffer, offset });
            return;
        }
        let count = |maker: &mut Maker| maker.random.pick(&[0, 1, 1, 2, 3, 17]);
        let groups = [count(self), count(self), if self.random.one_in(4) { 2 } else { 1 }];
        self.command(commands, Command::Dispatch { groups });
    }
}
