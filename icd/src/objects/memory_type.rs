//! The types of memory that applications allocate.

use ash::vk;

use crate::foundation::error::Error;

/// A type of memory, in the order of VkPhysicalDeviceMemoryProperties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// BOs that applications do not map: whatever is read of them stays as it is until a command changes it.
    Local,
    /// BOs as [`MemoryType::Device`], for what the CPU reads nothing of. It stands in front of [`MemoryType::Host`] for what may
    /// lie in either: sources of transfers.
    Unread,
    /// The process's own memory, for buffers of uniforms, indices and arguments of draws that no command writes to: words of the
    /// first go into the jobs' uniform streams, indices are looked at and rewritten, arguments say what is encoded, so that the
    /// CPU reads them, which is slow where it caches nothing. Jobs that read them themselves get copies. It stands in front of
    /// [`MemoryType::Device`], and looks like it, because applications take the first one that will do.
    Host,
    /// BOs that both sides see, contiguous memory that is mapped write-combined (vulkan-on-vc4.md §3).
    Device,
    /// BOs that the CPU caches, and that are not coherent.
    Cached,
}

/// What the CPU reads of buffers for draws.
const READ_BY_HOST: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// What buffers in the process's own memory may be for beside that: some programs let everything be copied from.
const HARMLESS: vk::BufferUsageFlags = vk::BufferUsageFlags::TRANSFER_SRC;

impl MemoryType {
    const ALL: [MemoryType; 5] =
        [MemoryType::Local, MemoryType::Unread, MemoryType::Host, MemoryType::Device, MemoryType::Cached];
    /// The types of images.
    pub const OF_IMAGES: u32 = MemoryType::Local.bit() | MemoryType::Unread.bit() | MemoryType::Device.bit();
    /// The types of what others share.
    pub const OF_SHARED: u32 = MemoryType::Device.bit();

    /// The types of a device, which may have memory that the CPU caches.
    pub fn of_device(has_cached: bool) -> &'static [MemoryType] {
        let count = if has_cached { MemoryType::ALL.len() } else { MemoryType::ALL.len() - 1 };
        &MemoryType::ALL[..count]
    }

    /// The type that `index` means, among all of its device's.
    pub fn of_index(index: u32, all: &[MemoryType]) -> Result<MemoryType, Error> {
        let unknown = || Error::InvalidUse(format!("memory type {index}; the device has {}", all.len()));
        all.get(index as usize).copied().ok_or_else(unknown)
    }

    /// The types that a buffer may have, bit n for type n: `all` of its device's, unless others share the memory.
    pub fn of_buffer(all: &[MemoryType], usage: vk::BufferUsageFlags, is_shared: bool) -> u32 {
        if is_shared {
            return MemoryType::OF_SHARED;
        }
        // The fewer uses, the more types: VkMemoryRequirements.
        let suits = |ty: &&MemoryType| match ty {
            MemoryType::Unread => !usage.intersects(READ_BY_HOST),
            MemoryType::Host => (READ_BY_HOST | HARMLESS).contains(usage),
            MemoryType::Local | MemoryType::Device | MemoryType::Cached => true,
        };
        all.iter().filter(suits).fold(0, |bits, ty| bits | ty.bit())
    }

    /// Its place in VkPhysicalDeviceMemoryProperties.
    pub const fn index(self) -> u32 {
        self as u32
    }

    /// Its bit in memoryTypeBits.
    pub const fn bit(self) -> u32 {
        1 << self.index()
    }

    /// What is said of it.
    pub fn flags(self) -> vk::MemoryPropertyFlags {
        let seen = vk::MemoryPropertyFlags::DEVICE_LOCAL | vk::MemoryPropertyFlags::HOST_VISIBLE;
        match self {
            MemoryType::Local => vk::MemoryPropertyFlags::DEVICE_LOCAL,
            // That it is cached is not said: a type that is more than another stands behind that.
            MemoryType::Unread | MemoryType::Host | MemoryType::Device => {
                seen | vk::MemoryPropertyFlags::HOST_COHERENT
            }
            MemoryType::Cached => seen | vk::MemoryPropertyFlags::HOST_CACHED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_stand_in_their_places() {
        let (all, few) = (MemoryType::of_device(true), MemoryType::of_device(false));
        for (place, ty) in (0..).zip(all) {
            assert_eq!((ty.index(), MemoryType::of_index(place, all).ok()), (place, Some(*ty)));
        }
        assert!(MemoryType::of_index(4, few).is_err());
        assert!(MemoryType::of_index(5, all).is_err());
    }

    /// VkPhysicalDeviceMemoryProperties: who has fewer flags stands in front.
    #[test]
    fn types_with_fewer_flags_come_first() {
        let types = MemoryType::of_device(true);
        for (place, ty) in types.iter().enumerate() {
            let is_less =
                |other: &MemoryType| ty.flags() != other.flags() && ty.flags().contains(other.flags());
            assert!(!types[place..].iter().any(is_less), "{ty:?}");
        }
    }

    /// VkMemoryRequirements: a buffer for fewer uses may lie wherever one for more may.
    #[test]
    fn fewer_uses_allow_no_fewer_types() {
        let of = |usage, is_shared| MemoryType::of_buffer(MemoryType::of_device(true), usage, is_shared);
        let uses: Vec<_> = (0..512).map(vk::BufferUsageFlags::from_raw).collect();
        for is_shared in [false, true] {
            for some in &uses {
                for more in uses.iter().filter(|more| more.contains(*some)) {
                    assert_eq!(of(*more, is_shared) & !of(*some, is_shared), 0, "{some:?} {more:?}");
                }
            }
        }
    }

    /// Which type applications get that take the first one that they can map.
    #[test]
    fn the_first_type_is_the_one_that_suits() {
        let first = |usage| {
            let types = MemoryType::of_device(true);
            let bits = MemoryType::of_buffer(types, usage, false);
            let suits = |ty: &&MemoryType| {
                bits & ty.bit() != 0 && ty.flags().contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
            };
            types.iter().find(suits).copied()
        };
        type Usage = vk::BufferUsageFlags;
        for read in [Usage::UNIFORM_BUFFER, Usage::INDEX_BUFFER, Usage::INDIRECT_BUFFER] {
            assert_eq!(first(read), Some(MemoryType::Host));
            assert_eq!(first(read | Usage::UNIFORM_BUFFER | Usage::TRANSFER_SRC), Some(MemoryType::Host));
            for other in [Usage::TRANSFER_DST, Usage::VERTEX_BUFFER, Usage::STORAGE_BUFFER] {
                assert_eq!(first(read | other), Some(MemoryType::Device));
                assert_eq!(first(other | Usage::TRANSFER_SRC), Some(MemoryType::Unread));
            }
        }
        assert_eq!(first(Usage::TRANSFER_SRC), Some(MemoryType::Unread));
        let shared = |usage| MemoryType::of_buffer(MemoryType::of_device(true), usage, true);
        assert_eq!(shared(Usage::UNIFORM_BUFFER), MemoryType::Device.bit());
    }
}
