//! Records passes, draws, dispatches and what they read.

use ash::vk;

use super::Runner;
use super::create::STAGES;
use crate::api::slot::Id;
use crate::api::step::*;
use crate::format::aspects;

fn rectangle(origin: [i32; 2], extent: [u32; 2]) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x: origin[0], y: origin[1] },
        extent: vk::Extent2D { width: extent[0], height: extent[1] },
    }
}

fn contents(secondary: bool) -> vk::SubpassContents {
    match secondary {
        true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
        false => vk::SubpassContents::INLINE,
    }
}

fn clear(words: [u32; 4], depth: bool) -> vk::ClearValue {
    match depth {
        true => vk::ClearValue {
            depth_stencil: vk::ClearDepthStencilValue {
                depth: f32::from_bits(words[0]),
                stencil: words[1] & 0xff,
            },
        },
        false => vk::ClearValue { color: vk::ClearColorValue { uint32: words } },
    }
}

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    fn is_depth(&self, view: Id) -> bool {
        match self.objects.get(&view).map(|object| &object.what) {
            Some(Create::View { format, .. }) => aspects(*format) != vk::ImageAspectFlags::COLOR,
            _ => false,
        }
    }

    pub(super) fn record(&mut self, commands: vk::CommandBuffer, command: &Command) {
        let device = self.device();
        let point = |compute: bool| match compute {
            true => vk::PipelineBindPoint::COMPUTE,
            false => vk::PipelineBindPoint::GRAPHICS,
        };
        // SAFETY: see above.
        unsafe {
            match command {
                Command::BindPipeline { pipeline, compute } => {
                    device.cmd_bind_pipeline(commands, point(*compute), self.handle(*pipeline));
                }
                Command::BindSets { layout, compute, first, sets, dynamic } => {
                    let sets: Vec<vk::DescriptorSet> = self.handles(sets);
                    let layout = self.handle(*layout);
                    device.cmd_bind_descriptor_sets(
                        commands,
                        point(*compute),
                        layout,
                        *first,
                        &sets,
                        dynamic,
                    );
                }
                Command::PushSet { layout, compute, writes } => {
                    let layout = self.handle(*layout);
                    self.with_writes(vk::DescriptorSet::null(), writes, |runner, writes| {
                        runner.machine.more.push.cmd_push_descriptor_set(
                            commands,
                            point(*compute),
                            layout,
                            0,
                            writes,
                        );
                    });
                }
                Command::Push { layout, offset, words } => {
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    device.cmd_push_constants(commands, self.handle(*layout), STAGES, *offset, &bytes);
                }
                Command::BindVertices { first, buffers, offset } => {
                    let buffers: Vec<vk::Buffer> = self.handles(buffers);
                    let offsets = vec![*offset; buffers.len()];
                    device.cmd_bind_vertex_buffers(commands, *first, &buffers, &offsets);
                }
                Command::BindIndices { buffer, offset, kind } => {
                    device.cmd_bind_index_buffer(commands, self.handle(*buffer), *offset, *kind);
                }
                Command::Viewport { place: [x, y, width, height], depths: [min_depth, max_depth] } => {
                    let viewport = vk::Viewport {
                        x: *x,
                        y: *y,
                        width: *width,
                        height: *height,
                        min_depth: *min_depth,
                        max_depth: *max_depth,
                    };
                    device.cmd_set_viewport(commands, 0, &[viewport]);
                }
                Command::Scissor { origin, extent } => {
                    device.cmd_set_scissor(commands, 0, &[rectangle(*origin, *extent)]);
                }
                Command::Numbers { what: 0, value } => device.cmd_set_line_width(commands, *value),
                Command::Numbers { what: 1, value } => {
                    device.cmd_set_depth_bias(commands, *value, 0.0, *value)
                }
                Command::Numbers { value, .. } => device.cmd_set_blend_constants(commands, &[*value; 4]),
                Command::StencilWord { what, value } => {
                    let faces = vk::StencilFaceFlags::FRONT_AND_BACK;
                    match what {
                        0 => device.cmd_set_stencil_compare_mask(commands, faces, *value),
                        1 => device.cmd_set_stencil_write_mask(commands, faces, *value),
                        _ => device.cmd_set_stencil_reference(commands, faces, *value),
                    }
                }
                Command::Draw { vertices, instances, first, first_instance } => {
                    device.cmd_draw(commands, *vertices, *instances, *first, *first_instance);
                }
                Command::DrawIndexed { indices, instances, first, offset } => {
                    device.cmd_draw_indexed(commands, *indices, *instances, *first, *offset, 0);
                }
                Command::DrawIndirect { buffer, offset, count, stride, indexed } => {
                    let buffer = self.handle(*buffer);
                    match indexed {
                        true => device.cmd_draw_indexed_indirect(commands, buffer, *offset, *count, *stride),
                        false => device.cmd_draw_indirect(commands, buffer, *offset, *count, *stride),
                    }
                }
                Command::Dispatch { groups: [x, y, z] } => device.cmd_dispatch(commands, *x, *y, *z),
                Command::DispatchIndirect { buffer, offset } => {
                    device.cmd_dispatch_indirect(commands, self.handle(*buffer), *offset);
                }
                Command::Execute { commands: secondaries } => {
                    device.cmd_execute_commands(commands, &self.all_commands(secondaries));
                }
                _ => self.pass(commands, command),
            }
        }
    }

    /// Beginnings and ends of passes.
    fn pass(&mut self, commands: vk::CommandBuffer, command: &Command) {
        let device = self.device();
        // SAFETY: see above.
        unsafe {
            match command {
                Command::BeginPass { pass, framebuffer, views, extent, clears, secondary } => {
                    // Which of the values are depths the framebuffer knows.
                    let own = match self.objects.get(framebuffer).map(|object| &object.what) {
                        Some(Create::Framebuffer { views, .. }) => views.clone(),
                        _ => Vec::new(),
                    };
                    let is_depth = |n: usize| own.get(n).is_some_and(|view| self.is_depth(*view));
                    let values: Vec<_> =
                        clears.iter().enumerate().map(|(n, words)| clear(*words, is_depth(n))).collect();
                    let views: Vec<vk::ImageView> = self.handles(views);
                    let mut given = vk::RenderPassAttachmentBeginInfo::default().attachments(&views);
                    let begin = vk::RenderPassBeginInfo::default()
                        .render_pass(self.handle(*pass))
                        .framebuffer(self.handle(*framebuffer))
                        .render_area(rectangle([0; 2], *extent))
                        .clear_values(&values);
                    let begin = if views.is_empty() { begin } else { begin.push_next(&mut given) };
                    device.cmd_begin_render_pass(commands, &begin, contents(*secondary));
                }
                Command::NextSubpass { secondary } => device.cmd_next_subpass(commands, contents(*secondary)),
                Command::EndPass {} => device.cmd_end_render_pass(commands),
                Command::BeginRendering { colors, depth, load, store, clears, extent, layers } => {
                    let attachment = |view: Id, words: [u32; 4], depth: bool| {
                        vk::RenderingAttachmentInfo::default()
                            .image_view(self.handle(view))
                            .image_layout(vk::ImageLayout::GENERAL)
                            .load_op(*load)
                            .store_op(*store)
                            .clear_value(clear(words, depth))
                    };
                    let words = |n: usize| clears.get(n).copied().unwrap_or_default();
                    let drawn: Vec<_> = colors
                        .iter()
                        .enumerate()
                        .map(|(n, view)| attachment(*view, words(n), false))
                        .collect();
                    let tested = depth.map(|view| (view, attachment(view, words(colors.len()), true)));
                    let mut info = vk::RenderingInfo::default()
                        .render_area(rectangle([0; 2], *extent))
                        .layer_count(*layers)
                        .color_attachments(&drawn);
                    if let Some((view, attachment)) = &tested {
                        info = info.depth_attachment(attachment);
                        if self.has_stencil(*view) {
                            info = info.stencil_attachment(attachment);
                        }
                    }
                    self.machine.more.rendering.cmd_begin_rendering(commands, &info);
                }
                Command::EndRendering {} => self.machine.more.rendering.cmd_end_rendering(commands),
                Command::ClearAttachments { color, words, origin, extent, layers } => {
                    // Stencil is cleared where there is some.
                    let aspect =
                        if *color { vk::ImageAspectFlags::COLOR } else { vk::ImageAspectFlags::DEPTH };
                    let attachments = [vk::ClearAttachment {
                        aspect_mask: aspect,
                        color_attachment: 0,
                        clear_value: clear(*words, !color),
                    }];
                    let places = [vk::ClearRect {
                        rect: rectangle(*origin, *extent),
                        base_array_layer: 0,
                        layer_count: *layers,
                    }];
                    device.cmd_clear_attachments(commands, &attachments, &places);
                }
                _ => self.transfer(commands, command),
            }
        }
    }

    fn has_stencil(&self, view: Id) -> bool {
        match self.objects.get(&view).map(|object| &object.what) {
            Some(Create::View { format, .. }) => aspects(*format).contains(vk::ImageAspectFlags::STENCIL),
            _ => false,
        }
    }
}
