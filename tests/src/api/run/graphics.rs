//! Makes passes, framebuffers and graphics pipelines.

use ash::vk::{self, Handle};

use super::Runner;
use crate::api::slot::Id;
use crate::api::step::*;
use crate::format::aspects;

fn aspect_of(format: vk::Format) -> vk::ImageAspectFlags {
    aspects(format)
}

/// An attachment of a pass.
struct Attached {
    format: vk::Format,
    samples: u32,
    depth: bool,
    resolved: bool,
}

fn attached(pass: &Pass) -> Vec<Attached> {
    let Shape { colors, depth, samples } = &pass.shape;
    let one = |format: &vk::Format, samples: u32, resolved: bool| Attached {
        format: *format,
        samples,
        depth: aspect_of(*format) != vk::ImageAspectFlags::COLOR,
        resolved,
    };
    let drawn = colors.iter().chain(depth).map(|format| one(format, *samples, false));
    let resolved = colors.iter().filter(|_| pass.resolves).map(|format| one(format, 1, true));
    drawn.chain(resolved).collect()
}

/// How an attachment lies while a pass draws to it.
fn layout_in(pass: &Pass, depth: bool) -> vk::ImageLayout {
    match (pass.optimal, depth) {
        (false, _) => vk::ImageLayout::GENERAL,
        (true, false) => vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL,
        (true, true) => vk::ImageLayout::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
    }
}

/// Stages and accesses of attachments.
const DRAWING: vk::PipelineStageFlags = vk::PipelineStageFlags::from_raw(
    vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT.as_raw()
        | vk::PipelineStageFlags::EARLY_FRAGMENT_TESTS.as_raw()
        | vk::PipelineStageFlags::LATE_FRAGMENT_TESTS.as_raw(),
);
const TOUCHES: vk::AccessFlags = vk::AccessFlags::from_raw(
    vk::AccessFlags::COLOR_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags::COLOR_ATTACHMENT_WRITE.as_raw()
        | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_READ.as_raw()
        | vk::AccessFlags::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw(),
);

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    pub(super) fn render_pass(&mut self, pass: &Pass, newer: bool) -> Option<u64> {
        let all = attached(pass);
        let general = vk::ImageLayout::GENERAL;
        let colors = pass.shape.colors.len();
        let reference = |n: usize| (n as u32, layout_in(pass, all[n].depth));
        let color_at: Vec<_> = (0..colors).map(reference).collect();
        let depth_at = pass.shape.depth.map(|_| reference(colors));
        let first_resolved = all.len() - if pass.resolves { colors } else { 0 };
        let last = pass.subpasses.saturating_sub(1);
        let subpasses = pass.subpasses.min(8);
        let load = |one: &Attached| if one.resolved { vk::AttachmentLoadOp::DONT_CARE } else { pass.load };
        let store = |one: &Attached| if one.resolved { vk::AttachmentStoreOp::STORE } else { pass.store };
        // SAFETY: see above.
        let made = unsafe {
            if newer {
                let attachments: Vec<_> = all
                    .iter()
                    .map(|one| {
                        vk::AttachmentDescription2::default()
                            .format(one.format)
                            .samples(vk::SampleCountFlags::from_raw(one.samples))
                            .load_op(load(one))
                            .store_op(store(one))
                            .stencil_load_op(load(one))
                            .stencil_store_op(store(one))
                            .initial_layout(general)
                            .final_layout(general)
                    })
                    .collect();
                let refer = |(attachment, layout): (u32, vk::ImageLayout), depth: bool| {
                    let aspect = match depth {
                        true => aspect_of(all[attachment as usize].format),
                        false => vk::ImageAspectFlags::COLOR,
                    };
                    vk::AttachmentReference2::default()
                        .attachment(attachment)
                        .layout(layout)
                        .aspect_mask(aspect)
                };
                let color: Vec<_> = color_at.iter().map(|at| refer(*at, false)).collect();
                let resolve: Vec<_> =
                    (first_resolved..all.len()).map(|n| refer((n as u32, general), false)).collect();
                let depth = depth_at.map(|at| refer(at, true));
                let described: Vec<_> = (0..subpasses)
                    .map(|n| {
                        let subpass = vk::SubpassDescription2::default().color_attachments(&color);
                        let subpass = match &depth {
                            Some(depth) => subpass.depth_stencil_attachment(depth),
                            None => subpass,
                        };
                        if n == last && pass.resolves {
                            subpass.resolve_attachments(&resolve)
                        } else {
                            subpass
                        }
                    })
                    .collect();
                let between: Vec<_> = (1..subpasses)
                    .map(|n| {
                        vk::SubpassDependency2::default()
                            .src_subpass(n - 1)
                            .dst_subpass(n)
                            .src_stage_mask(DRAWING)
                            .dst_stage_mask(DRAWING)
                            .src_access_mask(TOUCHES)
                            .dst_access_mask(TOUCHES)
                            .dependency_flags(vk::DependencyFlags::BY_REGION)
                    })
                    .collect();
                let create = vk::RenderPassCreateInfo2::default()
                    .attachments(&attachments)
                    .subpasses(&described)
                    .dependencies(&between);
                self.device().create_render_pass2(&create, Some(&self.callbacks))
            } else {
                let attachments: Vec<_> = all
                    .iter()
                    .map(|one| {
                        vk::AttachmentDescription::default()
                            .format(one.format)
                            .samples(vk::SampleCountFlags::from_raw(one.samples))
                            .load_op(load(one))
                            .store_op(store(one))
                            .stencil_load_op(load(one))
                            .stencil_store_op(store(one))
                            .initial_layout(general)
                            .final_layout(general)
                    })
                    .collect();
                let refer = |(attachment, layout)| vk::AttachmentReference { attachment, layout };
                let color: Vec<_> = color_at.iter().map(|at| refer(*at)).collect();
                let resolve: Vec<_> =
                    (first_resolved..all.len()).map(|n| refer((n as u32, general))).collect();
                let depth = depth_at.map(refer);
                let described: Vec<_> = (0..subpasses)
                    .map(|n| {
                        let subpass = vk::SubpassDescription::default().color_attachments(&color);
                        let subpass = match &depth {
                            Some(depth) => subpass.depth_stencil_attachment(depth),
                            None => subpass,
                        };
                        if n == last && pass.resolves {
                            subpass.resolve_attachments(&resolve)
                        } else {
                            subpass
                        }
                    })
                    .collect();
                let between: Vec<_> = (1..subpasses)
                    .map(|n| vk::SubpassDependency {
                        src_subpass: n - 1,
                        dst_subpass: n,
                        src_stage_mask: DRAWING,
                        dst_stage_mask: DRAWING,
                        src_access_mask: TOUCHES,
                        dst_access_mask: TOUCHES,
                        dependency_flags: vk::DependencyFlags::BY_REGION,
                    })
                    .collect();
                let create = vk::RenderPassCreateInfo::default()
                    .attachments(&attachments)
                    .subpasses(&described)
                    .dependencies(&between);
                self.device().create_render_pass(&create, Some(&self.callbacks))
            }
        };
        self.check("vkCreateRenderPass", made).map(Handle::as_raw)
    }

    pub(super) fn framebuffer(
        &mut self,
        pass: Id,
        views: &[Id],
        [width, height, layers]: [u32; 3],
        imageless: bool,
    ) -> Option<u64> {
        let handles: Vec<vk::ImageView> = self.handles(views);
        let create = vk::FramebufferCreateInfo::default()
            .render_pass(self.handle(pass))
            .width(width)
            .height(height)
            .layers(layers);
        // What each image is like, as far as it is known.
        let shapes: Vec<(ImageShape, u32)> = views
            .iter()
            .map(|view| match self.objects.get(view).map(|object| &object.what) {
                Some(Create::View { image, range, .. }) => (self.shape(*image), range.level),
                _ => (self.shape(*view), 0),
            })
            .collect();
        let formats: Vec<[vk::Format; 1]> = shapes.iter().map(|(shape, _)| [shape.format]).collect();
        let images: Vec<_> = shapes
            .iter()
            .zip(&formats)
            .map(|((shape, level), formats)| {
                let edge = |axis: usize| shape.extent[axis].checked_shr(*level).unwrap_or(0).max(1);
                vk::FramebufferAttachmentImageInfo::default()
                    .flags(shape.flags)
                    .usage(shape.usage)
                    .width(edge(0))
                    .height(edge(1))
                    .layer_count(1)
                    .view_formats(formats)
            })
            .collect();
        let mut described = vk::FramebufferAttachmentsCreateInfo::default().attachment_image_infos(&images);
        let create = match imageless {
            true => {
                let mut create =
                    create.flags(vk::FramebufferCreateFlags::IMAGELESS).push_next(&mut described);
                create.attachment_count = views.len() as u32;
                create
            }
            false => create.attachments(&handles),
        };
        // SAFETY: see above.
        let made = unsafe { self.device().create_framebuffer(&create, Some(&self.callbacks)) };
        self.check("vkCreateFramebuffer", made).map(Handle::as_raw)
    }

    pub(super) fn graphics(&mut self, pipeline: &Graphics) -> Option<u64> {
        let stage = |stage, module: Id| {
            let module = self.handle(module);
            vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
        };
        let mut stages = vec![stage(vk::ShaderStageFlags::VERTEX, pipeline.vertex)];
        stages.extend(pipeline.fragment.map(|fragment| stage(vk::ShaderStageFlags::FRAGMENT, fragment)));
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: 4, ..Default::default() }];
        let attributes =
            [vk::VertexInputAttributeDescription { format: vk::Format::R16G16_SNORM, ..Default::default() }];
        let reads = match self.objects.get(&pipeline.vertex).map(|object| &object.what) {
            Some(Create::Module { shader }) => crate::api::shaders::shader(*shader).vertices,
            _ => false,
        };
        let mut vertices = vk::PipelineVertexInputStateCreateInfo::default();
        if reads {
            vertices =
                vertices.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(pipeline.topology)
            .primitive_restart_enable(pipeline.restart);
        let [width, height] = pipeline.extent;
        let viewports = [vk::Viewport {
            width: width as f32,
            height: height as f32,
            max_depth: 1.0,
            ..Default::default()
        }];
        let scissors = [vk::Rect2D { extent: vk::Extent2D { width, height }, ..Default::default() }];
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(pipeline.polygon)
            .cull_mode(pipeline.cull)
            .front_face(pipeline.front)
            .rasterizer_discard_enable(pipeline.discard)
            .depth_bias_enable(pipeline.dynamic & 8 != 0)
            .line_width(1.0);
        let samples = vk::SampleCountFlags::from_raw(pipeline.shape.samples);
        let samples = vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(samples);
        let mut depth = vk::PipelineDepthStencilStateCreateInfo::default();
        if let Some(Depth { compare, write }) = pipeline.depth {
            depth = depth.depth_test_enable(true).depth_compare_op(compare).depth_write_enable(write);
        }
        if let Some(Stencil { compare, fail, pass, depth: failed, value }) = pipeline.stencil {
            let face = vk::StencilOpState {
                fail_op: fail,
                pass_op: pass,
                depth_fail_op: failed,
                compare_op: compare,
                compare_mask: 0xff,
                write_mask: 0xff,
                reference: value,
            };
            depth = depth.stencil_test_enable(true).front(face).back(face);
        }
        let mut blend = vk::PipelineColorBlendAttachmentState::default().color_write_mask(pipeline.mask);
        if let Some(Blend { from, to, op }) = pipeline.blend {
            blend = blend
                .blend_enable(true)
                .src_color_blend_factor(from)
                .dst_color_blend_factor(to)
                .color_blend_op(op)
                .src_alpha_blend_factor(from)
                .dst_alpha_blend_factor(to)
                .alpha_blend_op(op);
        }
        let blends = vec![blend; pipeline.shape.colors.len()];
        let blends = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(&blends)
            .logic_op_enable(pipeline.logic.is_some())
            .logic_op(pipeline.logic.unwrap_or_default());
        let states: Vec<_> = dynamic_states(pipeline.dynamic).collect();
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let mut rendering =
            vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&pipeline.shape.colors);
        if let Some(format) = pipeline.shape.depth {
            rendering = rendering.depth_attachment_format(format);
            if aspect_of(format).contains(vk::ImageAspectFlags::STENCIL) {
                rendering = rendering.stencil_attachment_format(format);
            }
        }
        let create = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blends)
            .dynamic_state(&dynamic)
            .layout(self.handle(pipeline.layout))
            .subpass(pipeline.subpass);
        let create = [match pipeline.pass {
            Some(pass) => create.render_pass(self.handle(pass)),
            None => create.push_next(&mut rendering),
        }];
        // SAFETY: see above.
        let made = unsafe {
            self.device().create_graphics_pipelines(self.some(pipeline.cache), &create, Some(&self.callbacks))
        };
        let made = made.map_err(|(_, error)| error);
        self.check("vkCreateGraphicsPipelines", made).map(|all| all[0].as_raw())
    }
}
