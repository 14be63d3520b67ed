//! Contents of buffers and images: what the host gives them, and what it finds there.

use ash::vk;

use super::{Runner, everything};
use crate::api::formats::{Numbers, copied_bytes, row_of};
use crate::api::slot::Id;
use crate::api::step::*;
use crate::format::aspects;
use crate::random::Random;

/// Most bytes of an image that programs look at.
const MOST: u64 = 1 << 24;

/// A buffer of the program's own.
struct Staging {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    size: u64,
}

/// The pieces that hold all of an image, one behind the other in a buffer, and the bytes of all.
fn pieces(image: &ImageShape) -> (Vec<vk::BufferImageCopy>, u64) {
    let (mut all, mut at) = (Vec::new(), 0u64);
    let kinds = [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL];
    for aspect in kinds.into_iter().filter(|aspect| aspects(image.format).contains(*aspect)) {
        for level in 0..image.levels.min(16) {
            let edge = |axis: usize| image.extent[axis].checked_shr(level).unwrap_or(0).max(1);
            let volume = image.kind == vk::ImageType::TYPE_3D;
            let depth = if volume { edge(2) } else { 1 };
            all.push(vk::BufferImageCopy {
                buffer_offset: at,
                image_subresource: vk::ImageSubresourceLayers {
                    aspect_mask: aspect,
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: image.layers,
                },
                image_extent: vk::Extent3D { width: edge(0), height: edge(1), depth },
                ..Default::default()
            });
            let texels = [edge(1), depth, image.layers].into_iter().map(u64::from);
            let texels = texels.fold(u64::from(edge(0)), u64::saturating_mul);
            let bytes = texels.saturating_mul(u64::from(copied_bytes(image.format, aspect)));
            at = at.saturating_add(bytes).checked_next_multiple_of(16).unwrap_or(u64::MAX);
        }
    }
    (all, at)
}

/// Bytes that may lie in an image of a format and stay as they are.
fn texels(format: vk::Format, bytes: u64, seed: u32) -> Vec<u8> {
    let mut random = Random(u64::from(seed));
    let row = row_of(format);
    let mut word = || match (row.numbers, format) {
        // Floats that every format holds: small whole numbers.
        (Numbers::Float, _) if row.bytes == 2 || row.bytes == 8 => {
            random.pick(&[0, 0x3c00_3c00, 0xbc00_3800])
        }
        (Numbers::Float, _) => random.pick(&[0f32, 1.0, -2.0, 0.25]).to_bits(),
        (Numbers::Depth, vk::Format::D32_SFLOAT) => random.pick(&[0f32, 1.0]).to_bits(),
        // The byte beside 24 bits of depth is nobody's.
        (Numbers::Depth, vk::Format::D24_UNORM_S8_UINT) => random.word() & 0x00ff_ffff,
        _ => random.word(),
    };
    (0..bytes.div_ceil(4)).map(|_| word()).flat_map(u32::to_le_bytes).take(bytes as usize).collect()
}

// SAFETY (for every block): see the room's page. What is read or written through a mapping lies inside of the object, whose
// size the program knows.
impl Runner<'_> {
    /// Where a buffer or memory lies, and how many bytes it has.
    fn mapping(&self, buffer: Id) -> Option<(vk::DeviceMemory, u64, u64)> {
        let object = self.objects.get(&buffer).filter(|object| object.live)?;
        let (memory, at) = object.place?;
        let Create::Buffer { size, .. } = object.what else { return None };
        // What is not there any more, or mapped otherwise, cannot be mapped.
        let owner = self.objects.values().find(|one| {
            matches!(one.what, Create::Memory { .. }) && one.live && one.place == Some((memory, 0))
        })?;
        (!owner.mapped && at.checked_add(size)? <= owner.size).then_some((memory, at, size))
    }

    pub(super) fn write(&mut self, buffer: Id, offset: u64, bytes: &[u8]) {
        let Some((memory, at, size)) = self.mapping(buffer) else { return };
        let Some(room) = size.checked_sub(offset) else { return };
        let bytes = &bytes[..bytes.len().min(room as usize)];
        // SAFETY: see above.
        unsafe {
            let mapped = self.device().map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            if let Some(mapped) = self.check("vkMapMemory", mapped) {
                let to = mapped.cast::<u8>().add((at + offset) as usize);
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                self.flush(memory);
                self.device().unmap_memory(memory);
            }
        }
    }

    pub(super) fn read(&mut self, buffer: Id) -> Option<Vec<u8>> {
        let (memory, at, size) = self.mapping(buffer)?;
        self.read_memory(memory, at, size)
    }

    fn read_memory(&mut self, memory: vk::DeviceMemory, at: u64, size: u64) -> Option<Vec<u8>> {
        // SAFETY: see above.
        unsafe {
            let mapped = self.device().map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
            let mapped = self.check("vkMapMemory", mapped)?.cast::<u8>().add(at as usize);
            let mut bytes = vec![0; size as usize];
            self.invalidate(memory);
            std::ptr::copy_nonoverlapping(mapped, bytes.as_mut_ptr(), bytes.len());
            self.device().unmap_memory(memory);
            Some(bytes)
        }
    }

    /// What the host wrote to memory that is mapped goes to the device; coherent memory takes it, too.
    pub(super) fn flush(&mut self, memory: vk::DeviceMemory) {
        let range = vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE);
        // SAFETY: see above.
        let flushed = unsafe { self.device().flush_mapped_memory_ranges(&[range]) };
        self.check("vkFlushMappedMemoryRanges", flushed);
    }

    /// The host is to see what the device wrote to memory that is mapped.
    pub(super) fn invalidate(&mut self, memory: vk::DeviceMemory) {
        let range = vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE);
        // SAFETY: see above.
        let invalidated = unsafe { self.device().invalidate_mapped_memory_ranges(&[range]) };
        self.check("vkInvalidateMappedMemoryRanges", invalidated);
    }

    fn staging(&mut self, size: u64) -> Option<Staging> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let create = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: see above.
        unsafe {
            let buffer = self.device().create_buffer(&create, Some(&self.callbacks));
            let buffer = self.check("vkCreateBuffer", buffer)?;
            let needs = self.device().get_buffer_memory_requirements(buffer);
            let index = self.machine.memory_type(needs.memory_type_bits, true)?;
            let allocate =
                vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
            let memory = self.device().allocate_memory(&allocate, Some(&self.callbacks));
            let Some(memory) = self.check("vkAllocateMemory", memory) else {
                self.device().destroy_buffer(buffer, Some(&self.callbacks));
                return None;
            };
            let bound = self.device().bind_buffer_memory(buffer, memory, 0);
            self.check("vkBindBufferMemory", bound);
            Some(Staging { buffer, memory, size })
        }
    }

    fn end_staging(&self, staging: &Staging) {
        // SAFETY: see above.
        unsafe {
            self.device().destroy_buffer(staging.buffer, Some(&self.callbacks));
            self.device().free_memory(staging.memory, Some(&self.callbacks));
        }
    }

    /// Takes an image to GENERAL and gives it contents: texels, or, where pixels have samples, a colour.
    pub(super) fn prepare(&mut self, image: Id, seed: u32) {
        let shape = self.shape(image);
        let (regions, bytes) = pieces(&shape);
        if bytes == 0 || bytes > MOST {
            return;
        }
        let staging = if shape.samples == 1 { self.staging(bytes) } else { None };
        if let Some(staging) = &staging {
            let content = texels(shape.format, bytes, seed);
            // SAFETY: see above; the mapping has the size of the staging buffer.
            unsafe {
                let flags = vk::MemoryMapFlags::empty();
                let mapped = self.device().map_memory(staging.memory, 0, vk::WHOLE_SIZE, flags);
                if let Some(mapped) = self.check("vkMapMemory", mapped) {
                    std::ptr::copy_nonoverlapping(content.as_ptr(), mapped.cast::<u8>(), content.len());
                    self.flush(staging.memory);
                    self.device().unmap_memory(staging.memory);
                }
            }
        }
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        let (general, undefined) = (vk::ImageLayout::GENERAL, vk::ImageLayout::UNDEFINED);
        self.now(|runner, commands| {
            let device = runner.device();
            let to = [runner.transition(image, &shape, undefined, general)];
            let handle = runner.handle(image);
            // SAFETY: see above.
            unsafe {
                device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &to);
                let ranges = [to[0].subresource_range];
                match &staging {
                    Some(staging) => {
                        device.cmd_copy_buffer_to_image(commands, staging.buffer, handle, general, &regions);
                    }
                    None if aspects(shape.format) == vk::ImageAspectFlags::COLOR => {
                        let value = vk::ClearColorValue { uint32: [0; 4] };
                        device.cmd_clear_color_image(commands, handle, general, &value, &ranges);
                    }
                    None => {
                        let value = vk::ClearDepthStencilValue { depth: 1.0, stencil: seed & 0xff };
                        device.cmd_clear_depth_stencil_image(commands, handle, general, &value, &ranges);
                    }
                }
                device.cmd_pipeline_barrier(commands, all, all, none, &[everything()], &[], &[]);
            }
        });
        if let Some(staging) = &staging {
            self.end_staging(staging);
        }
    }

    pub(super) fn read_image(&mut self, image: Id) {
        let shape = self.shape(image);
        let (regions, bytes) = pieces(&shape);
        if bytes == 0 || bytes > MOST || shape.samples != 1 {
            return;
        }
        let Some(staging) = self.staging(bytes) else { return };
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        self.now(|runner, commands| {
            let device = runner.device();
            // SAFETY: see above.
            unsafe {
                device.cmd_pipeline_barrier(commands, all, all, none, &[everything()], &[], &[]);
                device.cmd_fill_buffer(commands, staging.buffer, 0, vk::WHOLE_SIZE, 0);
                device.cmd_pipeline_barrier(commands, all, all, none, &[everything()], &[], &[]);
                let layout = vk::ImageLayout::GENERAL;
                device.cmd_copy_image_to_buffer(
                    commands,
                    runner.handle(image),
                    layout,
                    staging.buffer,
                    &regions,
                );
                let host = vk::PipelineStageFlags::HOST;
                device.cmd_pipeline_barrier(commands, all, host, none, &[everything()], &[], &[]);
            }
        });
        if let Some(mut bytes) = self.read_memory(staging.memory, 0, staging.size) {
            if shape.format == vk::Format::D24_UNORM_S8_UINT {
                // The byte beside 24 bits of depth is nobody's.
                let depth = regions
                    .iter()
                    .find(|one| one.image_subresource.aspect_mask != vk::ImageAspectFlags::DEPTH);
                let end = depth.map_or(bytes.len(), |stencil| stencil.buffer_offset as usize);
                bytes[..end].chunks_exact_mut(4).for_each(|texel| texel[3] = 0);
            }
            self.outcome.results.push((image, bytes));
        }
        self.end_staging(&staging);
    }
}
