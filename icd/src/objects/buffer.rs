//! VkBuffer and VkBufferView.

use std::sync::Arc;

use ash::vk;
use vc4::image::TexelInfo;
use vc4::state::VertexFormat;
use vc4_kernel_abi::Mapping;

use crate::foundation::error::Error;
use crate::foundation::format;
use crate::foundation::handle::Object;
use crate::foundation::limits::BUFFER_ALIGNMENT;
use crate::foundation::name::Name;
use crate::foundation::traffic::{Access, Cause};
use crate::objects::device::Device;
use crate::objects::memory::{Binding, DeviceMemory, Home};
use crate::objects::memory_type::MemoryType;

/// A buffer.
pub struct Buffer {
    size: u64,
    usage: vk::BufferUsageFlags,
    memory_types: u32,
    home: Home,
}

impl Object for Buffer {
    type Handle = vk::Buffer;
}

impl Buffer {
    /// A buffer without memory.
    pub fn new(device: &Device, info: &vk::BufferCreateInfo<'_>) -> Result<Buffer, Error> {
        Buffer::new_for(device, info, false)
    }

    /// As [`Buffer::new`], of memory that others may share.
    pub fn new_for(
        device: &Device,
        info: &vk::BufferCreateInfo<'_>,
        is_shared: bool,
    ) -> Result<Buffer, Error> {
        if !info.flags.is_empty() {
            return Err(Error::FeatureNotPresent("sparseBinding"));
        }
        if info.size == 0 {
            return Err(Error::InvalidUse("a buffer of 0 bytes; size must be positive".into()));
        }
        let available = device.physical().heap_size();
        if info.size > available {
            return Err(Error::OutOfDeviceMemory { what: "a buffer", bytes: info.size, available });
        }
        let memory_types = MemoryType::of_buffer(device.physical().memory_types(), info.usage, is_shared);
        Ok(Buffer { size: info.size, usage: info.usage, memory_types, home: Home::default() })
    }

    /// So many bytes of memory that something else has, too, as a buffer.
    pub fn over(binding: Binding, size: u64) -> Buffer {
        let usage = vk::BufferUsageFlags::empty();
        Buffer { size, usage, memory_types: 0, home: Home::of(binding) }
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it was made for.
    pub fn usage(&self) -> vk::BufferUsageFlags {
        self.usage
    }

    /// vkGetBufferMemoryRequirements.
    pub fn requirements(&self) -> vk::MemoryRequirements {
        Buffer::requirements_of(self.size, self.memory_types)
    }

    /// What any buffer of `size` bytes requires that may have memory of these types.
    pub fn requirements_of(size: u64, memory_type_bits: u32) -> vk::MemoryRequirements {
        let size = size.checked_next_multiple_of(BUFFER_ALIGNMENT).unwrap_or(u64::MAX);
        vk::MemoryRequirements { size, alignment: BUFFER_ALIGNMENT, memory_type_bits }
    }

    /// vkBindBufferMemory.
    pub fn bind(&self, memory: &DeviceMemory, offset: u64) -> Result<(), Error> {
        let binding = Binding::new(memory, offset, &self.requirements(), self.size)?;
        self.home.bind(binding).map_err(|_| Error::InvalidUse("the buffer has memory already".into()))
    }

    /// Gives it a name.
    pub fn set_name(&self, name: &str) {
        self.home.set_name(name);
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        self.home.name()
    }

    /// Where it lies.
    pub fn binding(&self) -> Result<&Binding, Error> {
        self.home.binding().ok_or_else(|| Error::InvalidUse("a buffer without memory".into()))
    }

    /// The memory, for a cause, and where byte `offset` lies in it; an error unless `size` bytes of the buffer follow.
    pub fn access(&self, offset: u64, size: u64, cause: Cause) -> Result<(Access<'_>, usize), Error> {
        let (binding, at) = self.inside(offset, size)?;
        Ok((binding.bo.access(cause)?, at))
    }

    /// As [`Buffer::access`], for kernels.
    pub fn place(&self, offset: u64, size: u64) -> Result<(Mapping, usize), Error> {
        let (binding, at) = self.inside(offset, size)?;
        Ok((binding.bo.map_for_kernels()?, at))
    }

    fn inside(&self, offset: u64, size: u64) -> Result<(&Binding, usize), Error> {
        if offset.checked_add(size).is_none_or(|end| end > self.size) {
            let have = self.size;
            return Err(Error::InvalidUse(format!(
                "{size} bytes at {offset} leave a buffer of {have} bytes"
            )));
        }
        let binding = self.binding()?;
        Ok((binding, (binding.offset + offset) as usize))
    }

    /// Bytes from `offset` on, at most `range` of them (VK_WHOLE_SIZE: all).
    pub fn clamp(&self, offset: u64, range: u64) -> u64 {
        range.min(self.size.saturating_sub(offset))
    }
}

/// A texel view of a buffer.
pub struct BufferView {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// How a texel lies in memory, for programs.
    pub fields: VertexFormat,
    /// The same for the CPU.
    pub texel: TexelInfo,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub range: u64,
}

impl Object for BufferView {
    type Handle = vk::BufferView;
}

impl BufferView {
    /// A view of `range` bytes at `offset`, or of all whole texels from there on.
    pub fn new(
        buffer: &Arc<Buffer>,
        format: vk::Format,
        offset: u64,
        range: u64,
    ) -> Result<BufferView, Error> {
        let unknown = || Error::FormatNotSupported(format!("{format:?} takes no texel buffers"));
        let features = format::buffer_features(format);
        let texels =
            vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER | vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER;
        if !features.intersects(texels) {
            return Err(unknown());
        }
        let fields = format::row(format).and_then(|row| row.vertex).ok_or_else(unknown)?;
        // What the bits mean is the format's name.
        let texel = TexelInfo::of_name(&format!("{format:?}")).ok_or_else(unknown)?;
        let range = buffer.clamp(offset, range);
        let range = range - range % u64::from(fields.bytes());
        Ok(BufferView { buffer: buffer.clone(), fields, texel, offset, range })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::memory::Origin;
    use crate::testing::device;

    fn buffer(size: u64) -> Result<Buffer, Error> {
        Buffer::new(&device(), &vk::BufferCreateInfo { size, ..Default::default() })
    }

    #[test]
    fn sizes_are_checked() {
        assert_eq!(buffer(0).err().unwrap().result(), vk::Result::ERROR_VALIDATION_FAILED_EXT);
        assert_eq!(buffer(u64::MAX).err().unwrap().result(), vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert_eq!(buffer(65).unwrap().requirements().size, 128);
    }

    #[test]
    fn a_buffer_is_bound_once_and_inside_its_memory() {
        let memory = DeviceMemory::new(&device(), 256, MemoryType::Device, Origin::Alone).unwrap();
        let buffer = buffer(128).unwrap();
        assert!(buffer.binding().is_err());
        assert!(buffer.bind(&memory, 192).is_err());
        assert!(buffer.bind(&memory, 1).is_err());
        buffer.bind(&memory, 128).unwrap();
        assert!(buffer.bind(&memory, 0).is_err());
        assert_eq!(buffer.binding().unwrap().offset, 128);
        assert_eq!((buffer.clamp(100, vk::WHOLE_SIZE), buffer.clamp(200, 4)), (28, 0));
    }
}
