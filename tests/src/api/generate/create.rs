//! Objects.

use ash::vk;

use super::Maker;
use crate::api::formats::{Numbers, ROWS, Row, row_of};
use crate::api::shaders::{PUSH_BYTES, SHADERS, Shader, shader};
use crate::api::slot::Id;
use crate::api::step::*;

/// Edges of images: tiles end inside of some.
const EDGES: [u32; 12] = [1, 2, 3, 7, 8, 16, 17, 31, 32, 64, 65, 100];

impl Maker {
    pub(super) fn create(&mut self) {
        match self.random.below(20) {
            0 | 1 => self.buffers(),
            2..=5 => self.images(),
            6 | 7 => self.kernel(),
            8..=10 => self.drawing(),
            11 => self.passes(),
            12 => drop(self.make(Create::Cache { from: None })),
            13 => self.waiters(),
            14 => self.queries(),
            15 if self.surfaces => self.shows(),
            16 => self.pools(),
            17 => self.views(),
            _ => self.oddments(),
        }
    }

    pub(super) fn buffers(&mut self) {
        use vk::BufferUsageFlags as Usage;
        let mut owners = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let mut usage = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
            for more in [
                Usage::STORAGE_BUFFER,
                Usage::UNIFORM_BUFFER,
                Usage::UNIFORM_TEXEL_BUFFER,
                Usage::VERTEX_BUFFER,
                Usage::INDEX_BUFFER,
            ] {
                if self.random.one_in(2) {
                    usage |= more;
                }
            }
            if self.random.one_in(8) {
                usage = Usage::INDIRECT_BUFFER;
            }
            let size = self.random.pick(&[4, 16, 60, 256, 1000, 1024, 4096, 5000, 16384, 40000, 70000]);
            owners.extend(self.make(Create::Buffer { size, usage }));
        }
        self.memory(owners.clone());
        for buffer in owners {
            let Some((size, usage)) = self.model.buffer(buffer) else { continue };
            let arguments = usage == Usage::INDIRECT_BUFFER;
            if arguments || self.random.one_in(2) {
                let seed = self.random.word();
                self.host(Host::Write { buffer, offset: 0, size, seed, arguments });
            }
        }
    }

    fn memory(&mut self, owners: Vec<Id>) {
        let spare = self.random.pick(&[0, 0, 1, 4096]);
        let gap = self.random.pick(&[0, 0, 0, 1, 4096]);
        let newer = self.random.one_in(3);
        self.make(Create::Memory { owners, spare, gap, newer });
    }

    fn images(&mut self) {
        let mut owners = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let image = self.shape();
            owners.extend(self.make(Create::Image { image }));
        }
        let images = owners.clone();
        self.memory(owners);
        for image in images {
            let seed = self.random.word();
            if !self.random.one_in(10) {
                self.host(Host::Prepare { image, seed });
            }
            for _ in 0..1 + self.random.below(2) {
                self.view(image);
            }
        }
    }

    fn shape(&mut self) -> ImageShape {
        use vk::ImageUsageFlags as Usage;
        let row: Row = self.random.pick(&ROWS);
        let depth = row.numbers == Numbers::Depth;
        let mut usage = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        let mut kind = self.random.pick(&[
            vk::ImageType::TYPE_2D,
            vk::ImageType::TYPE_2D,
            vk::ImageType::TYPE_2D,
            vk::ImageType::TYPE_2D,
            vk::ImageType::TYPE_1D,
            vk::ImageType::TYPE_3D,
        ]);
        let mut extent = [0, 1, 2].map(|_| self.random.pick(&EDGES));
        if depth {
            kind = vk::ImageType::TYPE_2D;
        }
        if self.random.one_in(2) {
            usage |= Usage::SAMPLED;
        }
        if kind == vk::ImageType::TYPE_2D && row.target && !self.random.one_in(3) {
            usage |= if depth { Usage::DEPTH_STENCIL_ATTACHMENT } else { Usage::COLOR_ATTACHMENT };
        }
        if row.storage && self.random.one_in(2) {
            usage |= Usage::STORAGE;
        }
        match kind {
            vk::ImageType::TYPE_1D => (extent[1], extent[2]) = (1, 1),
            vk::ImageType::TYPE_2D => extent[2] = 1,
            _ => extent[2] = extent[2].min(9),
        }
        let longest = extent.into_iter().max().unwrap_or(1);
        let mut shape = ImageShape {
            kind,
            format: row.format,
            extent,
            levels: if self.random.one_in(2) {
                1
            } else {
                1 + self.random.below(longest.ilog2() as usize + 1) as u32
            },
            layers: if kind == vk::ImageType::TYPE_3D { 1 } else { self.random.pick(&[1, 1, 1, 2, 6, 7]) },
            samples: 1,
            linear: false,
            usage,
            flags: vk::ImageCreateFlags::empty(),
        };
        if usage.intersects(Usage::COLOR_ATTACHMENT | Usage::DEPTH_STENCIL_ATTACHMENT)
            && self.random.one_in(4)
        {
            shape.samples = 4;
            shape.levels = 1;
            shape.layers = 1;
            shape.usage &= !(Usage::STORAGE | Usage::SAMPLED);
        } else if !depth && kind == vk::ImageType::TYPE_2D && self.random.one_in(10) {
            shape.linear = true;
            (shape.levels, shape.layers) = (1, 1);
            shape.usage = Usage::TRANSFER_SRC | Usage::TRANSFER_DST;
        } else if kind == vk::ImageType::TYPE_2D && shape.layers >= 6 && self.random.one_in(2) {
            shape.extent[1] = shape.extent[0];
            shape.levels = shape.levels.min(shape.extent[0].ilog2() + 1);
            shape.flags = vk::ImageCreateFlags::CUBE_COMPATIBLE;
        }
        shape
    }

    /// A view of some of an image.
    fn view(&mut self, image: Id) -> Option<Id> {
        let shape = self.model.image(image)?.clone();
        let target = self.random.one_in(2);
        let level = if self.random.one_in(3) { self.random.below(shape.levels as usize) as u32 } else { 0 };
        let layer = self.random.below(shape.layers as usize) as u32;
        let (kind, layers) = match shape.kind {
            vk::ImageType::TYPE_1D => (vk::ImageViewType::TYPE_1D, 1),
            vk::ImageType::TYPE_3D => (vk::ImageViewType::TYPE_3D, 1),
            _ if target || self.random.one_in(2) => (vk::ImageViewType::TYPE_2D, 1),
            _ if !shape.flags.is_empty() && layer + 6 <= shape.layers => (vk::ImageViewType::CUBE, 6),
            _ => (vk::ImageViewType::TYPE_2D_ARRAY, shape.layers - layer),
        };
        let levels = if target { 1 } else { shape.levels - level };
        let aspects = crate::format::aspects(shape.format);
        let range = Range { aspects, level, levels, layer, layers };
        self.make(Create::View { image, kind, format: shape.format, range })
    }

    fn views(&mut self) {
        if let Some(image) = self.any(|what| matches!(what, Create::Image { .. })) {
            self.view(image);
        }
        if let Some((buffer, size)) = self.a_buffer(vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER) {
            let offset = if size > 512 && self.random.one_in(2) { 256 } else { 0 };
            let range = ((size - offset) / 4 * 4).min(1 << 14);
            self.make(Create::BufferView { buffer, format: vk::Format::R32_UINT, offset, range });
        }
    }

    /// Bindings that a shader reads, and some that it does not.
    fn bindings(&mut self, number: u32, pushed: bool) -> Vec<Binding> {
        let stages = shader(number).stage;
        let one =
            |(number, kind): (u32, &vk::DescriptorType)| Binding { number, kind: *kind, count: 1, stages };
        let mut bindings: Vec<Binding> = (0..).zip(shader(number).bindings).map(one).collect();
        while self.random.one_in(3) && bindings.len() < 5 {
            let kind =
                self.random.pick(&[vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::STORAGE_BUFFER]);
            let count = self.random.below(3) as u32;
            bindings.push(Binding { number: 5 + bindings.len() as u32, kind, count, stages });
        }
        // What is pushed has no dynamic offsets.
        if !pushed && self.random.one_in(2) {
            for binding in &mut bindings {
                binding.kind = match binding.kind {
                    vk::DescriptorType::UNIFORM_BUFFER => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
                    vk::DescriptorType::STORAGE_BUFFER => vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
                    kind => kind,
                };
            }
        }
        bindings
    }

    /// Set layout, pipeline layout, and sets, or none where they are pushed.
    fn layouts(&mut self, number: u32) -> Option<Id> {
        let pushed = self.random.one_in(5);
        let bindings = self.bindings(number, pushed);
        let layout = self.make(Create::SetLayout { bindings: bindings.clone(), pushed })?;
        let mut sets = vec![layout];
        if bindings.is_empty() && self.random.one_in(2) {
            sets.clear();
        }
        let pipeline = self.make(Create::PipelineLayout { sets, push: PUSH_BYTES })?;
        if !bindings.is_empty() && !pushed {
            self.sets(layout, bindings);
        }
        Some(pipeline)
    }

    fn sets(&mut self, layout: Id, bindings: Vec<Binding>) {
        let pools = self.all(|what| matches!(what, Create::SetPool { .. }));
        if pools.len() < 2 {
            self.pools();
        }
        let Some(pool) = self.any(|what| matches!(what, Create::SetPool { .. })) else { return };
        for _ in 0..1 + self.random.below(2) {
            if let Some(set) = self.make(Create::Set { pool, layout }) {
                self.write_set(set);
            }
        }
        if self.random.one_in(4) {
            let bindings: Vec<Binding> = bindings.into_iter().filter(|one| one.count == 1).collect();
            self.make(Create::Template { layout, bindings });
        }
    }

    /// One more set of a layout.
    pub(super) fn a_set(&mut self, layout: Id) -> Option<Id> {
        let pool = self.any(|what| matches!(what, Create::SetPool { .. }))?;
        let set = self.make(Create::Set { pool, layout })?;
        self.write_set(set);
        Some(set)
    }

    fn pools(&mut self) {
        use vk::DescriptorType as Type;
        let kinds = [
            Type::UNIFORM_BUFFER,
            Type::STORAGE_BUFFER,
            Type::UNIFORM_BUFFER_DYNAMIC,
            Type::STORAGE_BUFFER_DYNAMIC,
            Type::STORAGE_IMAGE,
            Type::COMBINED_IMAGE_SAMPLER,
            Type::UNIFORM_TEXEL_BUFFER,
        ];
        let count = self.random.pick(&[16, 40]);
        let sizes = kinds.into_iter().map(|kind| PoolSize { kind, count }).collect();
        let frees = self.random.one_in(2);
        self.make(Create::SetPool { sets: count, sizes, frees });
    }

    fn module(&mut self, stage: vk::ShaderStageFlags) -> Option<(Id, u32)> {
        self.module_of(|shader| shader.stage == stage)
    }

    fn module_of(&mut self, fits: impl Fn(&Shader) -> bool) -> Option<(Id, u32)> {
        let numbers: Vec<u32> = (0..SHADERS.len() as u32).filter(|n| fits(shader(*n))).collect();
        if numbers.is_empty() {
            return None;
        }
        let number = self.random.pick(&numbers);
        let known = self.any(|what| matches!(what, Create::Module { shader } if *shader == number));
        let id = match known {
            Some(id) => id,
            None => self.make(Create::Module { shader: number })?,
        };
        Some((id, number))
    }

    fn cache(&mut self) -> Option<Id> {
        if self.random.one_in(2) { self.any(|what| matches!(what, Create::Cache { .. })) } else { None }
    }

    pub(super) fn kernel(&mut self) {
        let Some((module, number)) = self.module(vk::ShaderStageFlags::COMPUTE) else { return };
        let Some(layout) = self.layouts(number) else { return };
        let (cache, group) = (self.cache(), self.random.pick(&[1, 2, 7, 16, 64]));
        self.make(Create::Compute { layout, module, cache, group });
    }

    /// A shape that targets of the program have.
    fn target_shape(&mut self) -> Option<(Shape, Vec<Id>)> {
        let views = self.all(|what| matches!(what, Create::View { kind: vk::ImageViewType::TYPE_2D, .. }));
        let targets: Vec<(Id, ImageShape)> = views
            .into_iter()
            .filter_map(|view| {
                let Create::View { image, range, .. } = &self.model.get(view)?.create else { return None };
                let shape = self.model.image(*image)?;
                let attached =
                    vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
                (range.levels == 1 && shape.usage.intersects(attached)).then(|| (view, shape.clone()))
            })
            .collect();
        if targets.is_empty() {
            return None;
        }
        let (view, first) = targets[self.random.below(targets.len())].clone();
        let depth = |shape: &ImageShape| row_of(shape.format).numbers == Numbers::Depth;
        let mut shape = Shape { colors: Vec::new(), depth: None, samples: first.samples };
        let mut chosen = vec![view];
        if depth(&first) {
            shape.depth = Some(first.format);
            return Some((shape, chosen));
        }
        shape.colors.push(first.format);
        let (edges, any) = (self.smallest(&[view]), self.random.one_in(3));
        let fits =
            |of: &(Id, ImageShape)| of.1.samples == first.samples && (any || self.smallest(&[of.0]) == edges);
        let floats = |of: &ImageShape| {
            !matches!(row_of(of.format).numbers, Numbers::Uint | Numbers::Sint | Numbers::Depth)
        };
        let second = targets.iter().find(|of| of.0 != view && floats(&of.1) && fits(of)).cloned();
        let tested = targets.iter().find(|of| depth(&of.1) && fits(of)).cloned();
        if let Some((view, other)) = second.filter(|_| floats(&first) && self.random.one_in(2)) {
            shape.colors.push(other.format);
            chosen.push(view);
        }
        if let Some((view, other)) = tested.filter(|_| self.random.one_in(2)) {
            shape.depth = Some(other.format);
            chosen.push(view);
        }
        Some((shape, chosen))
    }

    fn passes(&mut self) {
        let Some((shape, mut views)) = self.target_shape() else { return };
        let mut pass = Pass {
            resolves: false,
            subpasses: self.random.pick(&[1, 1, 1, 2, 3]),
            load: self.random.pick(&[
                vk::AttachmentLoadOp::LOAD,
                vk::AttachmentLoadOp::LOAD,
                vk::AttachmentLoadOp::CLEAR,
                vk::AttachmentLoadOp::CLEAR,
                vk::AttachmentLoadOp::DONT_CARE,
            ]),
            store: match self.random.one_in(8) {
                true => vk::AttachmentStoreOp::DONT_CARE,
                false => vk::AttachmentStoreOp::STORE,
            },
            optimal: self.random.one_in(2),
            shape,
        };
        if pass.shape.samples == 4 && self.random.one_in(2) {
            let format = pass.shape.colors.first().copied();
            let single = self.all(|what| {
                matches!(what, Create::View { kind: vk::ImageViewType::TYPE_2D, format: of, .. } if Some(*of) == format)
            });
            let single: Vec<Id> = single.into_iter().filter(|view| self.samples(*view) == 1).collect();
            if !single.is_empty() {
                views.push(self.random.pick(&single));
                pass.resolves = true;
            }
        }
        let newer = self.random.one_in(2);
        let wanted = pass.attachments().len();
        let Some(pass) = self.make(Create::RenderPass { pass, newer }) else { return };
        if views.len() == wanted {
            let mut extent = self.smallest(&views);
            if self.random.one_in(6) {
                extent = extent.map(|edge| edge.div_ceil(2));
            }
            let imageless = self.random.one_in(4);
            self.make(Create::Framebuffer { pass, views, extent: [extent[0], extent[1], 1], imageless });
        }
    }

    fn samples(&self, view: Id) -> u32 {
        self.model.image_of(view).and_then(|image| self.model.image(image)).map_or(0, |image| image.samples)
    }

    /// The size that all views have.
    pub(super) fn smallest(&self, views: &[Id]) -> [u32; 2] {
        views.iter().fold([u32::MAX; 2], |least, view| {
            let Some(Create::View { image, range, .. }) = self.model.get(*view).map(|thing| &thing.create)
            else {
                return least;
            };
            let Some(shape) = self.model.image(*image) else { return least };
            [0, 1].map(|axis| least[axis].min((shape.extent[axis] >> range.level).max(1)))
        })
    }

    /// A pipeline that draws to targets of the program.
    fn drawing(&mut self) {
        let passes = self.all(|what| matches!(what, Create::RenderPass { .. }));
        if passes.is_empty() || self.random.one_in(3) {
            self.passes();
        }
        let pass = match self.random.one_in(3) {
            true => None,
            false => self.any(|what| matches!(what, Create::RenderPass { .. })),
        };
        let described = pass.and_then(|pass| self.model.get(pass)).map(|thing| thing.create.clone());
        let (shape, subpasses) = match described {
            Some(Create::RenderPass { pass, .. }) => (pass.shape, pass.subpasses),
            _ => match self.target_shape() {
                Some((shape, _)) => (shape, 1),
                None => return,
            },
        };
        let subpass = self.random.below(subpasses as usize) as u32;
        self.pipeline_for(shape, pass, subpass);
    }

    /// A pipeline for a subpass, or, without a pass, for dynamic rendering.
    pub(super) fn pipeline_for(&mut self, shape: Shape, pass: Option<Id>, subpass: u32) -> Option<Id> {
        let (vertex, _) = self.module(vk::ShaderStageFlags::VERTEX)?;
        let uint = shape.colors.iter().any(|format| row_of(*format).numbers == Numbers::Uint);
        let targets = shape.colors.len().max(1);
        let (fragment, number) = self.module_of(|shader| {
            shader.stage == vk::ShaderStageFlags::FRAGMENT && shader.uint == uint && shader.targets == targets
        })?;
        let layout = self.layouts(number)?;
        let mut pipeline = self.pipeline(shape, layout, vertex);
        pipeline.fragment = (!pipeline.shape.colors.is_empty() && !pipeline.discard).then_some(fragment);
        (pipeline.pass, pipeline.subpass) = (pass, subpass);
        self.make(Create::Graphics { pipeline })
    }

    fn waiters(&mut self) {
        let signaled = self.random.one_in(3);
        self.make(Create::Fence { signaled });
        let timeline = self.random.one_in(2);
        let value = if timeline { self.number(9) } else { 0 };
        self.make(Create::Semaphore { timeline, value });
        self.make(Create::Event {});
    }

    fn queries(&mut self) {
        let kind = self.random.pick(&QUERIES);
        let count = self.random.pick(&[1, 2, 5, 32]);
        if let Some(queries) = self.make(Create::Queries { kind, count }) {
            self.host(Host::ResetQueries { queries, first: 0, count });
        }
    }

    fn shows(&mut self) {
        if self.all(|what| matches!(what, Create::Surface {})).len() < 2 {
            self.make(Create::Surface {});
        }
        let Some(surface) = self.any(|what| matches!(what, Create::Surface {})) else { return };
        let live = self.all(|what| matches!(what, Create::Swapchain { surface: of, .. } if *of == surface));
        let old = live.into_iter().find(|id| self.model.get(*id).is_some_and(|thing| thing.value == 0));
        let images = 2 + self.random.below(3) as u32;
        let extent = [0, 1].map(|_| self.random.pick(&EDGES));
        let mode = self.random.pick(&[vk::PresentModeKHR::FIFO, vk::PresentModeKHR::IMMEDIATE]);
        self.make(Create::Swapchain { surface, images, extent, mode, old });
    }

    fn oddments(&mut self) {
        use vk::SamplerAddressMode as Address;
        match self.random.below(4) {
            0 => drop(self.make(Create::PrivateSlot {})),
            1 => {
                let from = self.any(|what| matches!(what, Create::Cache { .. }));
                self.make(Create::Cache { from });
            }
            2 => {
                let flags = match self.random.one_in(2) {
                    true => vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER,
                    false => vk::CommandPoolCreateFlags::TRANSIENT,
                };
                if self.all(|what| matches!(what, Create::CommandPool { .. })).len() < 3 {
                    self.make(Create::CommandPool { flags });
                }
            }
            _ => {
                let filter =
                    self.random.pick(&[vk::Filter::NEAREST, vk::Filter::NEAREST, vk::Filter::LINEAR]);
                let address =
                    self.random.pick(&[Address::REPEAT, Address::CLAMP_TO_EDGE, Address::CLAMP_TO_BORDER]);
                let border = self
                    .random
                    .pick(&[vk::BorderColor::INT_OPAQUE_BLACK, vk::BorderColor::INT_TRANSPARENT_BLACK]);
                let compare = self.random.one_in(8).then_some(vk::CompareOp::LESS);
                let anisotropy = if self.random.one_in(8) { 4.0 } else { 1.0 };
                let lods = [0.0, if self.random.one_in(2) { 0.0 } else { 5.0 }];
                self.make(Create::Sampler { filter, address, border, compare, anisotropy, lods });
            }
        }
    }
}
