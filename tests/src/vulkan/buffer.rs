//! Buffers with memory that the host sees.

use std::sync::atomic::{AtomicU8, Ordering};

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};
use super::mesh::Vertex;

/// A buffer with its own memory.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    /// The buffer.
    pub buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

/// A buffer that the host sees.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    lab: &'a Lab<'a>,
    memory: vk::DeviceMemory,
    bytes: &'a [AtomicU8],
}

impl Held<'_> {
    /// Writes bytes.
    ///
    /// # Panics
    /// If they leave the buffer.
    pub(crate) fn write(&self, offset: usize, content: &[u8]) -> Result<(), Error> {
        let places = &self.bytes[offset..][..content.len()];
        places.iter().zip(content).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
        self.lab.flush(self.memory)
    }
}

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A buffer with this content, which [`Lab::contents`] reads.
    pub(crate) fn mapped(&self, content: &[u8], usage: vk::BufferUsageFlags) -> Result<Buffer, Error> {
        let create = vk::BufferCreateInfo::default().size(content.len() as u64).usage(usage);
        // SAFETY: see above; the mapping covers the content.
        unsafe {
            let buffer = self.device.create_buffer(&create, None).named("vkCreateBuffer")?;
            self.keep(Object::Buffer(buffer));
            let needs = self.device.get_buffer_memory_requirements(buffer);
            let memory = self.harness.memory(needs, self.harness.host_memory())?;
            self.keep(Object::Memory(memory));
            self.device.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(content.as_ptr(), mapped.cast(), content.len());
            self.flush(memory)?;
            self.device.unmap_memory(memory);
            Ok(Buffer { buffer, memory })
        }
    }

    /// Writes to a buffer, which the host sees for so long only.
    pub(crate) fn write(&self, buffer: &Buffer, offset: u64, content: &[u8]) -> Result<(), Error> {
        // SAFETY: see above; the mapping covers the content, or there is none.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let mapped =
                self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            let place = mapped.cast::<u8>().add(offset as usize);
            std::ptr::copy_nonoverlapping(content.as_ptr(), place, content.len());
            self.flush(buffer.memory)?;
            self.device.unmap_memory(buffer.memory);
        }
        Ok(())
    }

    /// What the host wrote to mapped memory goes to the device; coherent memory needs none of it, and takes it.
    fn flush(&self, memory: vk::DeviceMemory) -> Result<(), Error> {
        let range = vk::MappedMemoryRange::default().memory(memory).size(vk::WHOLE_SIZE);
        // SAFETY: see above; the memory is mapped.
        unsafe { self.device.flush_mapped_memory_ranges(&[range]).named("vkFlushMappedMemoryRanges") }
    }

    /// Lets the host see a buffer from now on.
    pub(crate) fn hold(&self, buffer: &Buffer) -> Result<Held<'_>, Error> {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: see above; the mapping covers the buffer and lives as long as the lab.
        unsafe {
            let needs = self.device.get_buffer_memory_requirements(buffer.buffer);
            let mapped =
                self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            let bytes = std::slice::from_raw_parts(mapped.cast::<AtomicU8>(), needs.size as usize);
            Ok(Held { lab: self, memory: buffer.memory, bytes })
        }
    }

    /// The first bytes of a buffer.
    pub(crate) fn contents(&self, buffer: &Buffer, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        // SAFETY: see above; the mapping covers `length` bytes.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let mapped =
                self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            let range = vk::MappedMemoryRange::default().memory(buffer.memory).size(vk::WHOLE_SIZE);
            if self.harness.invalidates() {
                let call = "vkInvalidateMappedMemoryRanges";
                self.device.invalidate_mapped_memory_ranges(&[range]).named(call)?;
            }
            std::ptr::copy_nonoverlapping(mapped.cast(), bytes.as_mut_ptr(), length);
            self.device.unmap_memory(buffer.memory);
        }
        Ok(bytes)
    }

    /// A buffer with this content.
    pub fn buffer(&self, content: &[u8], usage: vk::BufferUsageFlags) -> Result<vk::Buffer, Error> {
        Ok(self.mapped(content, usage)?.buffer)
    }

    /// A view of all of a texel buffer.
    pub(crate) fn buffer_view(
        &self,
        buffer: vk::Buffer,
        format: vk::Format,
    ) -> Result<vk::BufferView, Error> {
        let create = vk::BufferViewCreateInfo::default().buffer(buffer).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: see above.
        let view = unsafe { self.device.create_buffer_view(&create, None).named("vkCreateBufferView")? };
        self.keep(Object::BufferView(view));
        Ok(view)
    }

    /// A vertex buffer.
    pub fn vertices(&self, vertices: &[Vertex]) -> Result<vk::Buffer, Error> {
        let bytes: Vec<u8> = vertices.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
        self.buffer(&bytes, vk::BufferUsageFlags::VERTEX_BUFFER)
    }
}
