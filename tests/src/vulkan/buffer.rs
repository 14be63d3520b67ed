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
pub(crate) struct Held<'a>(&'a [AtomicU8]);

impl Held<'_> {
    /// Writes bytes.
    ///
    /// # Panics
    /// If they leave the buffer.
    pub(crate) fn write(&self, offset: usize, content: &[u8]) {
        let places = &self.0[offset..][..content.len()];
        places.iter().zip(content).for_each(|(place, byte)| place.store(*byte, Ordering::Relaxed));
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
            let visible = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let memory = self.harness.memory(needs, visible)?;
            self.keep(Object::Memory(memory));
            self.device.bind_buffer_memory(buffer, memory, 0).named("vkBindBufferMemory")?;
            let flags = vk::MemoryMapFlags::empty();
            let mapped = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(content.as_ptr(), mapped.cast(), content.len());
            self.device.unmap_memory(memory);
            Ok(Buffer { buffer, memory })
        }
    }

    /// Writes to a buffer, which the host sees for so long only.
    pub(crate) fn write(&self, buffer: &Buffer, offset: u64, content: &[u8]) -> Result<(), Error> {
        // SAFETY: see above; the mapping covers the content, or there is none.
        unsafe {
            let (flags, size) = (vk::MemoryMapFlags::empty(), content.len() as u64);
            let mapped = self.device.map_memory(buffer.memory, offset, size, flags).named("vkMapMemory")?;
            std::ptr::copy_nonoverlapping(content.as_ptr(), mapped.cast(), content.len());
            self.device.unmap_memory(buffer.memory);
        }
        Ok(())
    }

    /// Lets the host see a buffer from now on.
    pub(crate) fn hold(&self, buffer: &Buffer) -> Result<Held<'_>, Error> {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: see above; the mapping covers the buffer and lives as long as the lab.
        unsafe {
            let needs = self.device.get_buffer_memory_requirements(buffer.buffer);
            let mapped =
                self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, flags).named("vkMapMemory")?;
            Ok(Held(std::slice::from_raw_parts(mapped.cast::<AtomicU8>(), needs.size as usize)))
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
