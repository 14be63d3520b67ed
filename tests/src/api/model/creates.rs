//! Which objects may be made.

use ash::vk;

use super::{Model, need};
use crate::api::formats::{Numbers, ROWS, row_of};
use crate::api::shaders::{PUSH_BYTES, seen, shader};
use crate::api::slot::Id;
use crate::api::step::*;

/// Largest edge of an image, and most bytes of a buffer, so that programs are fast.
const EDGE: u32 = 300;
const BYTES: u64 = 1 << 18;

/// Buffers with dynamic offsets that every device takes in a pipeline layout.
const DYNAMIC_BUFFERS: [(vk::DescriptorType, u32); 2] =
    [(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 8), (vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 4)];

impl Model {
    pub(super) fn admits_create(&self, what: &Create) -> Option<()> {
        match what {
            Create::Memory { owners, .. } => {
                need(!owners.is_empty())?;
                let distinct = |n: usize| !owners[..n].contains(&owners[n]);
                need((0..owners.len()).all(distinct))?;
                owners.iter().try_for_each(|owner| {
                    let thing = self.get(*owner)?;
                    let binds = matches!(thing.create, Create::Buffer { .. } | Create::Image { .. });
                    need(binds && thing.bound.is_none())
                })
            }
            Create::Buffer { size, usage } => need(*size > 0 && *size <= BYTES && !usage.is_empty()),
            Create::BufferView { buffer, offset, range, format } => {
                let (size, usage) = self.buffer(*buffer)?;
                need(usage.contains(vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER))?;
                need(*format == vk::Format::R32_UINT && offset % 256 == 0 && *range > 0 && range % 4 == 0)?;
                need(offset.checked_add(*range)? <= size)
            }
            Create::Image { image } => admits_image(image),
            Create::View { image, kind, format, range } => self.admits_view(*image, *kind, *format, range),
            Create::Sampler { .. } | Create::Module { .. } | Create::Event {} => Some(()),
            Create::SetLayout { bindings, pushed } => {
                let distinct = |n: usize| !bindings[..n].iter().any(|one| one.number == bindings[n].number);
                need((0..bindings.len()).all(distinct))?;
                need(!pushed || bindings.iter().all(|binding| seen(binding.kind) == binding.kind))?;
                need(bindings.iter().all(|binding| binding.count <= 4))
            }
            Create::SetPool { sets, sizes, .. } => need(*sets > 0 && !sizes.is_empty()),
            Create::Set { pool, layout } => self.admits_set(*pool, *layout),
            Create::Template { layout, bindings } => {
                let Create::SetLayout { bindings: all, pushed: false } = &self.get(*layout)?.create else {
                    return None;
                };
                need(!bindings.is_empty() && bindings.iter().all(|one| all.contains(one) && one.count == 1))
            }
            Create::PipelineLayout { sets, push } => {
                need(*push == PUSH_BYTES && sets.len() <= 2)?;
                sets.iter()
                    .try_for_each(|set| need(matches!(self.get(*set)?.create, Create::SetLayout { .. })))?;
                let pushed = |set: &&Id| {
                    self.get(**set)
                        .is_some_and(|set| matches!(set.create, Create::SetLayout { pushed: true, .. }))
                };
                need(sets.iter().filter(pushed).count() <= 1)?;
                let all = sets.iter().filter_map(|set| match &self.get(*set)?.create {
                    Create::SetLayout { bindings, .. } => Some(bindings),
                    _ => None,
                });
                let all: Vec<&Binding> = all.flatten().collect();
                let count =
                    |kind| all.iter().filter(|one| one.kind == kind).map(|one| one.count).sum::<u32>();
                need(DYNAMIC_BUFFERS.iter().all(|(kind, most)| count(*kind) <= *most))
            }
            Create::Cache { from } => from.map_or(Some(()), |from| self.is_cache(from)),
            Create::Compute { layout, module, cache, group } => {
                cache.map_or(Some(()), |cache| self.is_cache(cache))?;
                need((1..=64).contains(group))?;
                self.serves(*layout, self.shader_of(*module, vk::ShaderStageFlags::COMPUTE)?)
            }
            Create::Graphics { pipeline } => self.admits_graphics(pipeline),
            Create::RenderPass { pass, .. } => admits_pass(pass),
            Create::Framebuffer { pass, views, extent, .. } => self.admits_framebuffer(*pass, views, *extent),
            Create::CommandPool { .. } | Create::Fence { .. } | Create::PrivateSlot {} => Some(()),
            Create::Commands { pool, .. } => {
                need(matches!(self.get(*pool)?.create, Create::CommandPool { .. }))
            }
            Create::Semaphore { timeline, value } => need(*timeline || *value == 0),
            Create::Queries { kind, count } => {
                need(QUERIES.contains(kind))?;
                need((1..=32).contains(count))
            }
            Create::Surface {} => Some(()),
            Create::Swapchain { surface, images, extent, mode, old } => {
                need(matches!(self.get(*surface)?.create, Create::Surface {}))?;
                need((2..=6).contains(images) && extent.iter().all(|edge| (1..=EDGE).contains(edge)))?;
                need(matches!(*mode, vk::PresentModeKHR::FIFO | vk::PresentModeKHR::IMMEDIATE))?;
                // One swapchain that is not retired per surface.
                let live = self.things.iter().filter(|(_, thing)| match thing.create {
                    Create::Swapchain { surface: of, .. } => of == *surface && thing.value == 0,
                    _ => false,
                });
                let live: Vec<Id> = live.map(|(id, _)| *id).collect();
                need(live == old.map_or(Vec::new(), |old| vec![old]))
            }
        }
    }

    fn is_cache(&self, id: Id) -> Option<()> {
        need(matches!(self.get(id)?.create, Create::Cache { .. }))
    }

    fn admits_view(
        &self,
        image: Id,
        kind: vk::ImageViewType,
        format: vk::Format,
        range: &Range,
    ) -> Option<()> {
        let thing = self.get(image)?;
        let Create::Image { image } = &thing.create else { return None };
        need(thing.bound.is_some() && format == image.format)?;
        need(view_usage(image.usage))?;
        need(range.aspects == whole_aspects(format))?;
        need(range.levels > 0 && range.layers > 0)?;
        need(range.level.checked_add(range.levels)? <= image.levels)?;
        need(range.layer.checked_add(range.layers)? <= image.layers)?;
        let cube = image.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
        need(match kind {
            vk::ImageViewType::TYPE_1D => image.kind == vk::ImageType::TYPE_1D && range.layers == 1,
            vk::ImageViewType::TYPE_2D => image.kind == vk::ImageType::TYPE_2D && range.layers == 1,
            vk::ImageViewType::TYPE_2D_ARRAY => image.kind == vk::ImageType::TYPE_2D,
            vk::ImageViewType::TYPE_3D => image.kind == vk::ImageType::TYPE_3D,
            vk::ImageViewType::CUBE => cube && range.layers == 6,
            _ => false,
        })
    }

    fn admits_set(&self, pool: Id, layout: Id) -> Option<()> {
        let Create::SetPool { sets, sizes, .. } = &self.get(pool)?.create else { return None };
        let Create::SetLayout { bindings, pushed: false } = &self.get(layout)?.create else { return None };
        // Descriptors that the sets of the pool have, with this one's.
        let mut used = bindings.clone();
        let mut count = 1;
        for thing in self.things.values() {
            if let Create::Set { pool: of, layout } = thing.create {
                if of == pool {
                    count += 1;
                    let Create::SetLayout { bindings, .. } = &self.get(layout)?.create else { return None };
                    used.extend(bindings.iter().cloned());
                }
            }
        }
        // A pool that frees single sets may be in pieces: keep it half empty.
        need(2 * count <= *sets)?;
        let room = |kind| sizes.iter().filter(|size| size.kind == kind).map(|size| size.count).sum::<u32>();
        let taken = |kind| used.iter().filter(|one| one.kind == kind).map(|one| one.count).sum::<u32>();
        need(used.iter().all(|one| 2 * taken(one.kind) <= room(one.kind)))
    }

    /// The shader of a module, if it is for a stage.
    pub(super) fn shader_of(&self, module: Id, stage: vk::ShaderStageFlags) -> Option<u32> {
        let Create::Module { shader: number } = self.get(module)?.create else { return None };
        (shader(number).stage == stage).then_some(number)
    }

    /// Whether a pipeline layout has what a shader reads.
    fn serves(&self, layout: Id, number: u32) -> Option<()> {
        let Create::PipelineLayout { sets, .. } = &self.get(layout)?.create else { return None };
        let shader = shader(number);
        if shader.bindings.is_empty() {
            return Some(());
        }
        let Create::SetLayout { bindings, .. } = &self.get(*sets.first()?)?.create else { return None };
        let mut wanted = (0..).zip(shader.bindings);
        need(wanted.all(|(number, kind)| {
            let has = |one: &Binding| {
                one.number == number
                    && seen(one.kind) == *kind
                    && one.count > 0
                    && one.stages.contains(shader.stage)
            };
            bindings.iter().any(has)
        }))
    }

    fn admits_graphics(&self, pipeline: &Graphics) -> Option<()> {
        let Graphics { shape, .. } = pipeline;
        pipeline.cache.map_or(Some(()), |cache| self.is_cache(cache))?;
        self.serves(pipeline.layout, self.shader_of(pipeline.vertex, vk::ShaderStageFlags::VERTEX)?)?;
        match pipeline.pass {
            Some(pass) => {
                let Create::RenderPass { pass, .. } = &self.get(pass)?.create else { return None };
                need(pass.shape == *shape && pipeline.subpass < pass.subpasses)?;
            }
            // Without a fragment stage the layer forgets the samples of pipelines for dynamic rendering.
            None => need(!pipeline.discard || shape.samples == 1).and_then(|()| admits_shape(shape))?,
        }
        let fragment = pipeline.fragment.map(|f| self.shader_of(f, vk::ShaderStageFlags::FRAGMENT));
        if let Some(number) = fragment {
            need(!pipeline.discard && !shape.colors.is_empty())?;
            self.serves(pipeline.layout, number?)?;
            let uint = shader(number?).uint;
            need(shape.colors.iter().all(|format| is_uint(*format) == uint))?;
            need(shape.colors.iter().all(|format| row_of(*format).numbers != Numbers::Sint))?;
            // What a shader does not write is undefined.
            need(shape.colors.len() == shader(number?).targets)?;
        } else {
            need(pipeline.discard || shape.colors.is_empty())?;
        }
        need(pipeline.dynamic & 3 == 3 || pipeline.extent.iter().all(|edge| (1..=EDGE).contains(edge)))?;
        // Wide lines and edges are other suites' subject.
        need(pipeline.blend.is_none() || shape.colors.iter().all(|format| blends(*format)))?;
        need(
            pipeline.logic.is_none()
                || (pipeline.blend.is_none() && shape.colors.iter().all(|f| takes_logic(*f))),
        )?;
        let strips = [
            vk::PrimitiveTopology::TRIANGLE_STRIP,
            vk::PrimitiveTopology::TRIANGLE_FAN,
            vk::PrimitiveTopology::LINE_STRIP,
        ];
        need(!pipeline.restart || strips.contains(&pipeline.topology))?;
        need(pipeline.depth.is_none() || shape.depth.is_some())?;
        need(pipeline.stencil.is_none() || shape.depth == Some(vk::Format::D24_UNORM_S8_UINT))
    }

    fn admits_framebuffer(&self, pass: Id, views: &[Id], extent: [u32; 3]) -> Option<()> {
        let Create::RenderPass { pass, .. } = &self.get(pass)?.create else { return None };
        let wanted = pass.attachments();
        need(views.len() == wanted.len() && extent[2] == 1)?;
        need(extent.iter().all(|edge| *edge > 0))?;
        let mut images = Vec::new();
        for (view, (format, samples)) in views.iter().zip(wanted) {
            images.push(self.target(*view, format, samples, extent)?);
        }
        need((0..images.len()).all(|n| !images[..n].contains(&images[n])))
    }

    /// The image of a view that can be drawn to.
    pub(super) fn target(&self, view: Id, format: vk::Format, samples: u32, extent: [u32; 3]) -> Option<Id> {
        let Create::View { image: id, kind: vk::ImageViewType::TYPE_2D, format: of, range } =
            &self.get(view)?.create
        else {
            return None;
        };
        let image = self.image(*id)?;
        need(*of == format && image.samples == samples && range.levels == 1)?;
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
        need(image.usage.intersects(usage) && self.get(*id)?.bound.is_some())?;
        let edge = |axis: usize| (image.extent[axis] >> range.level).max(1);
        need(extent[0] <= edge(0) && extent[1] <= edge(1))?;
        Some(*id)
    }
}

/// The aspects of a format.
pub fn whole_aspects(format: vk::Format) -> vk::ImageAspectFlags {
    crate::format::aspects(format)
}

/// Whether an image with this usage may have views.
fn view_usage(usage: vk::ImageUsageFlags) -> bool {
    !(usage & !(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)).is_empty()
}

fn is_uint(format: vk::Format) -> bool {
    row_of(format).numbers == Numbers::Uint
}

fn blends(format: vk::Format) -> bool {
    let row = row_of(format);
    matches!(row.numbers, Numbers::Unorm | Numbers::Srgb) && row.bytes <= 4
}

fn takes_logic(format: vk::Format) -> bool {
    let row = row_of(format);
    matches!(row.numbers, Numbers::Unorm | Numbers::Uint) && row.bytes <= 4
}

fn admits_shape(shape: &Shape) -> Option<()> {
    need(shape.samples == 1 || shape.samples == 4)?;
    need(!shape.colors.is_empty() || shape.depth.is_some())?;
    need(shape.colors.len() <= 2)?;
    let known = |format: &vk::Format| ROWS.iter().find(|row| row.format == *format);
    let color =
        |format: &vk::Format| known(format).is_some_and(|row| row.target && row.numbers != Numbers::Depth);
    need(shape.colors.iter().all(color))?;
    need(shape.depth.is_none_or(|format| known(&format).is_some_and(|row| row.numbers == Numbers::Depth)))
}

fn admits_pass(pass: &Pass) -> Option<()> {
    admits_shape(&pass.shape)?;
    need((1..=3).contains(&pass.subpasses))?;
    need(!pass.resolves || (pass.shape.samples == 4 && !pass.shape.colors.is_empty()))?;
    // Whole numbers are resolved by taking one of the samples.
    need(!pass.resolves || pass.shape.colors.iter().all(|format| row_of(*format).numbers == Numbers::Unorm))
}

fn admits_image(image: &ImageShape) -> Option<()> {
    let row = ROWS.into_iter().find(|row| row.format == image.format)?;
    need(image.extent.iter().all(|edge| (1..=EDGE).contains(edge)))?;
    let transfers = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    need(image.usage.contains(transfers))?;
    let depth = row.numbers == Numbers::Depth;
    need(!image.usage.contains(vk::ImageUsageFlags::COLOR_ATTACHMENT) || (row.target && !depth))?;
    need(!image.usage.contains(vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT) || depth)?;
    need(!image.usage.contains(vk::ImageUsageFlags::STORAGE) || row.storage)?;
    let [width, height, deep] = image.extent;
    let longest = width.max(height).max(deep);
    need((1..=u32::BITS - longest.leading_zeros()).contains(&image.levels))?;
    need((1..=8).contains(&image.layers))?;
    let volume = image.kind == vk::ImageType::TYPE_3D;
    let flat = image.kind == vk::ImageType::TYPE_2D;
    need(volume || deep == 1)?;
    need(image.kind != vk::ImageType::TYPE_1D || height == 1)?;
    need(!volume || (image.layers == 1 && !depth))?;
    let attached = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    need(flat || (!depth && !image.usage.intersects(attached)))?;
    if image.samples != 1 {
        need(image.samples == 4 && flat && image.levels == 1 && !image.linear)?;
        need(image.usage.intersects(attached) && !image.usage.contains(vk::ImageUsageFlags::STORAGE))?;
        need(image.flags.is_empty())?;
    }
    if image.linear {
        need(flat && image.levels == 1 && image.layers == 1 && image.usage == transfers && !depth)?;
    }
    let cube = image.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    need(!cube || (flat && width == height && image.layers >= 6 && image.samples == 1))
}
