//! Records what moves, fills and counts.

use ash::vk;

use super::create::subresources;
use super::{Runner, everything};
use crate::api::step::*;

fn layers(place: &Place) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: place.aspect,
        mip_level: place.level,
        base_array_layer: place.layer,
        layer_count: place.layers,
    }
}

fn offset([x, y, z]: [i32; 3]) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

fn extent([width, height, depth]: [u32; 3]) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

fn texels(region: &Texels) -> vk::BufferImageCopy {
    vk::BufferImageCopy {
        buffer_offset: region.offset,
        buffer_row_length: region.row,
        buffer_image_height: region.rows,
        image_subresource: vk::ImageSubresourceLayers {
            aspect_mask: region.aspect,
            mip_level: region.level,
            base_array_layer: region.layer,
            layer_count: region.layers,
        },
        image_offset: offset(region.origin),
        image_extent: extent(region.extent),
    }
}

fn newer_texels(region: &Texels) -> vk::BufferImageCopy2<'static> {
    let plain = texels(region);
    vk::BufferImageCopy2::default()
        .buffer_offset(plain.buffer_offset)
        .buffer_row_length(plain.buffer_row_length)
        .buffer_image_height(plain.buffer_image_height)
        .image_subresource(plain.image_subresource)
        .image_offset(plain.image_offset)
        .image_extent(plain.image_extent)
}

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    pub(super) fn transfer(&mut self, commands: vk::CommandBuffer, command: &Command) {
        let device = self.device();
        let copies = &self.machine.more.copies;
        // SAFETY: see above.
        unsafe {
            match command {
                Command::Fill { buffer, offset, size, word } => {
                    device.cmd_fill_buffer(commands, self.handle(*buffer), *offset, *size, *word);
                }
                Command::Update { buffer, offset, words } => {
                    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
                    device.cmd_update_buffer(commands, self.handle(*buffer), *offset, &bytes);
                }
                Command::CopyBuffer { from, to, regions, newer: false } => {
                    let one = |[src, dst, size]: &[u64; 3]| vk::BufferCopy {
                        src_offset: *src,
                        dst_offset: *dst,
                        size: *size,
                    };
                    let regions: Vec<_> = regions.iter().map(one).collect();
                    device.cmd_copy_buffer(commands, self.handle(*from), self.handle(*to), &regions);
                }
                Command::CopyBuffer { from, to, regions, newer: true } => {
                    let one = |[src, dst, size]: &[u64; 3]| {
                        vk::BufferCopy2::default().src_offset(*src).dst_offset(*dst).size(*size)
                    };
                    let regions: Vec<_> = regions.iter().map(one).collect();
                    let info = vk::CopyBufferInfo2::default()
                        .src_buffer(self.handle(*from))
                        .dst_buffer(self.handle(*to))
                        .regions(&regions);
                    copies.cmd_copy_buffer2(commands, &info);
                }
                Command::Upload { buffer, image, layout, regions, newer: false } => {
                    let regions: Vec<_> = regions.iter().map(texels).collect();
                    let (from, to) = (self.handle(*buffer), self.handle(*image));
                    device.cmd_copy_buffer_to_image(commands, from, to, *layout, &regions);
                }
                Command::Upload { buffer, image, layout, regions, newer: true } => {
                    let regions: Vec<_> = regions.iter().map(newer_texels).collect();
                    let info = vk::CopyBufferToImageInfo2::default()
                        .src_buffer(self.handle(*buffer))
                        .dst_image(self.handle(*image))
                        .dst_image_layout(*layout)
                        .regions(&regions);
                    copies.cmd_copy_buffer_to_image2(commands, &info);
                }
                Command::Download { image, layout, buffer, regions, newer: false } => {
                    let regions: Vec<_> = regions.iter().map(texels).collect();
                    let (from, to) = (self.handle(*image), self.handle(*buffer));
                    device.cmd_copy_image_to_buffer(commands, from, *layout, to, &regions);
                }
                Command::Download { image, layout, buffer, regions, newer: true } => {
                    let regions: Vec<_> = regions.iter().map(newer_texels).collect();
                    let info = vk::CopyImageToBufferInfo2::default()
                        .src_image(self.handle(*image))
                        .src_image_layout(*layout)
                        .dst_buffer(self.handle(*buffer))
                        .regions(&regions);
                    copies.cmd_copy_image_to_buffer2(commands, &info);
                }
                Command::CopyImage { from, to, layouts, source, target, extent: size, newer } => {
                    let (src, dst) = (self.handle(*from), self.handle(*to));
                    if *newer {
                        let regions = [vk::ImageCopy2::default()
                            .src_subresource(layers(source))
                            .src_offset(offset(source.origin))
                            .dst_subresource(layers(target))
                            .dst_offset(offset(target.origin))
                            .extent(extent(*size))];
                        let info = vk::CopyImageInfo2::default()
                            .src_image(src)
                            .src_image_layout(layouts[0])
                            .dst_image(dst)
                            .dst_image_layout(layouts[1])
                            .regions(&regions);
                        copies.cmd_copy_image2(commands, &info);
                    } else {
                        let regions = [vk::ImageCopy {
                            src_subresource: layers(source),
                            src_offset: offset(source.origin),
                            dst_subresource: layers(target),
                            dst_offset: offset(target.origin),
                            extent: extent(*size),
                        }];
                        device.cmd_copy_image(commands, src, layouts[0], dst, layouts[1], &regions);
                    }
                }
                Command::Blit { from, to, layouts, source, source_end, target, target_end, filter } => {
                    let regions = [vk::ImageBlit {
                        src_subresource: layers(source),
                        src_offsets: [offset(source.origin), offset(*source_end)],
                        dst_subresource: layers(target),
                        dst_offsets: [offset(target.origin), offset(*target_end)],
                    }];
                    let (src, dst) = (self.handle(*from), self.handle(*to));
                    device.cmd_blit_image(commands, src, layouts[0], dst, layouts[1], &regions, *filter);
                }
                Command::Resolve { from, to, layouts, extent: size } => {
                    let color = vk::ImageAspectFlags::COLOR;
                    let all = Place { aspect: color, level: 0, layer: 0, layers: 1, origin: [0; 3] };
                    let regions = [vk::ImageResolve {
                        src_subresource: layers(&all),
                        src_offset: offset([0; 3]),
                        dst_subresource: layers(&all),
                        dst_offset: offset([0; 3]),
                        extent: extent(*size),
                    }];
                    let (src, dst) = (self.handle(*from), self.handle(*to));
                    device.cmd_resolve_image(commands, src, layouts[0], dst, layouts[1], &regions);
                }
                Command::ClearColor { image, layout, words, range } => {
                    let value = vk::ClearColorValue { uint32: *words };
                    let ranges = [subresources(range)];
                    device.cmd_clear_color_image(commands, self.handle(*image), *layout, &value, &ranges);
                }
                Command::ClearDepth { image, layout, depth, stencil, range } => {
                    let value = vk::ClearDepthStencilValue { depth: *depth, stencil: *stencil };
                    let ranges = [subresources(range)];
                    device.cmd_clear_depth_stencil_image(
                        commands,
                        self.handle(*image),
                        *layout,
                        &value,
                        &ranges,
                    );
                }
                Command::CopyQueries { queries, first, count, buffer, offset, stride, flags } => {
                    let (from, to) = (self.handle(*queries), self.handle(*buffer));
                    // Without end, where the queries are not counted.
                    let wait =
                        if self.valid { vk::QueryResultFlags::WAIT } else { vk::QueryResultFlags::empty() };
                    let flags = *flags | wait;
                    device.cmd_copy_query_pool_results(
                        commands, from, *first, *count, to, *offset, *stride, flags,
                    );
                }
                _ => self.order(commands, command),
            }
        }
    }

    /// Barriers, events, queries.
    fn order(&mut self, commands: vk::CommandBuffer, command: &Command) {
        let device = self.device();
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let memory = [everything()];
        let none = vk::DependencyFlags::empty();
        // SAFETY: see above.
        unsafe {
            match command {
                Command::Barrier { newer: false, buffer } => {
                    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
                    let buffers: Vec<_> = buffer
                        .iter()
                        .map(|buffer| {
                            vk::BufferMemoryBarrier::default()
                                .buffer(self.handle(*buffer))
                                .size(vk::WHOLE_SIZE)
                                .src_access_mask(access)
                                .dst_access_mask(access)
                        })
                        .collect();
                    device.cmd_pipeline_barrier(commands, all, all, none, &memory, &buffers, &[]);
                }
                Command::Barrier { newer: true, .. } => {
                    let access = vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE;
                    let memory = [vk::MemoryBarrier2::default()
                        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                        .src_access_mask(access)
                        .dst_access_mask(access)];
                    let info = vk::DependencyInfo::default().memory_barriers(&memory);
                    self.machine.more.sync.cmd_pipeline_barrier2(commands, &info);
                }
                Command::Transition { image, from, to } => {
                    let shape = self.shape(*image);
                    let barriers = [self.transition(*image, &shape, *from, *to)];
                    device.cmd_pipeline_barrier(commands, all, all, none, &memory, &[], &barriers);
                }
                Command::SetEvent { event } => device.cmd_set_event(commands, self.handle(*event), all),
                Command::ResetEvent { event } => device.cmd_reset_event(commands, self.handle(*event), all),
                Command::WaitEvents { events } => {
                    let events: Vec<vk::Event> = self.handles(events);
                    device.cmd_wait_events(commands, &events, all, all, &memory, &[], &[]);
                }
                Command::ResetQueries { queries, first, count } => {
                    device.cmd_reset_query_pool(commands, self.handle(*queries), *first, *count);
                }
                Command::BeginQuery { queries, query, flags } => {
                    device.cmd_begin_query(commands, self.handle(*queries), *query, *flags);
                }
                Command::EndQuery { queries, query } => {
                    device.cmd_end_query(commands, self.handle(*queries), *query);
                }
                Command::Timestamp { queries, query, newer: false } => {
                    let stage = vk::PipelineStageFlags::ALL_COMMANDS;
                    device.cmd_write_timestamp(commands, stage, self.handle(*queries), *query);
                }
                Command::Timestamp { queries, query, newer: true } => {
                    let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
                    self.machine.more.sync.cmd_write_timestamp2(
                        commands,
                        stage,
                        self.handle(*queries),
                        *query,
                    );
                }
                _ => (),
            }
        }
    }

    /// A barrier that takes all of an image from one layout to another.
    pub(super) fn transition(
        &self,
        image: crate::api::slot::Id,
        shape: &ImageShape,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) -> vk::ImageMemoryBarrier<'static> {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        vk::ImageMemoryBarrier::default()
            .src_access_mask(if from == vk::ImageLayout::UNDEFINED { vk::AccessFlags::empty() } else { all })
            .dst_access_mask(all)
            .old_layout(from)
            .new_layout(to)
            .image(self.handle(image))
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: crate::format::aspects(shape.format),
                base_mip_level: 0,
                level_count: vk::REMAINING_MIP_LEVELS,
                base_array_layer: 0,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
            })
    }
}
