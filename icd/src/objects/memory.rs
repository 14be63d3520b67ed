//! VkDeviceMemory.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use ash::vk;
use vc4_kernel_abi::{BoHandle, GpuError, Mapping};

use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::name::Name;
use crate::objects::device::Device;
use crate::objects::heap::{Lease, PAGE};
use crate::objects::memory_type::MemoryType;

/// What errors call it.
const WHAT: &str = "vkAllocateMemory";

/// What an allocation is to be, beyond its size.
#[derive(Default)]
pub enum Origin<'a> {
    /// Memory of the device; it may share a BO with others.
    #[default]
    Shared,
    /// A BO of its own.
    Alone,
    /// A BO of its own that can be exported.
    Exportable,
    /// The BO of a file descriptor.
    Imported(BorrowedFd<'a>),
}

/// Device memory.
pub struct DeviceMemory {
    device: Arc<Device>,
    place: OnceLock<Place>,
    size: u64,
    /// Whether the BO may become a file descriptor.
    is_shareable: bool,
    mapped: AtomicBool,
}

/// Where memory lies, and what it may be used for.
struct Place {
    ty: MemoryType,
    lease: Arc<Lease>,
}

impl Object for DeviceMemory {
    type Handle = vk::DeviceMemory;
}

impl DeviceMemory {
    /// Allocates `size` bytes.
    pub fn new(
        device: &Arc<Device>,
        size: u64,
        ty: MemoryType,
        origin: Origin<'_>,
    ) -> Result<DeviceMemory, Error> {
        if size == 0 {
            return Err(Error::InvalidUse(
                "an allocation of 0 bytes; allocationSize must be positive".into(),
            ));
        }
        device.count_allocation()?;
        let is_shareable = matches!(origin, Origin::Exportable | Origin::Imported(_));
        let (place, mapped) = (OnceLock::new(), AtomicBool::new(false));
        let memory = DeviceMemory { device: device.clone(), place, size, is_shareable, mapped };
        match ty {
            MemoryType::Cached if is_shareable => {
                let (own, other) = (ty.index(), MemoryType::Device.index());
                let why = format!("shared memory of type {own}; use type {other}");
                return Err(Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why));
            }
            // Lines of the CPU's caches are no concern of other allocations: each is alone.
            MemoryType::Cached => memory.settle(ty, Lease::whole(device.create_cached_bo(WHAT, size)?)),
            // What it becomes is decided by who uses it first: [`DeviceMemory::place`].
            MemoryType::Host if !is_shareable => device.check_size(WHAT, size)?,
            MemoryType::Local if !is_shareable => {
                memory.settle(ty, DeviceMemory::allocate(device, size, origin)?);
            }
            // What is a BO may be bound to whatever lies in BOs: some programs ask for the types of one resource only.
            MemoryType::Local | MemoryType::Unread | MemoryType::Host | MemoryType::Device => {
                memory.settle(MemoryType::Device, DeviceMemory::allocate(device, size, origin)?);
            }
        }
        Ok(memory)
    }

    fn settle(&self, ty: MemoryType, lease: Arc<Lease>) {
        // Where another thread was faster, the lease ends here.
        let _ = self.place.set(Place { ty, lease });
    }

    fn allocate(device: &Arc<Device>, size: u64, origin: Origin<'_>) -> Result<Arc<Lease>, Error> {
        let create = |size| device.create_bo(WHAT, size);
        match origin {
            Origin::Shared => device.heap().lease(size, create),
            Origin::Alone => create(size).map(Lease::whole),
            Origin::Exportable => {
                let bo = create(size)?;
                // Where memory has to become a file first, nobody has written to it yet.
                device.physical().shared_bos().export(&bo)?;
                Ok(Lease::whole(bo))
            }
            Origin::Imported(fd) => {
                let bo = device.physical().shared_bos().import(fd).map_err(|error| match error {
                    GpuError::OutOfMemory(_) => Error::Gpu(error),
                    _ => Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, error.to_string()),
                })?;
                if bo.size() < size {
                    let why = format!("an import of {size} bytes from a BO of {}", bo.size());
                    return Err(Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why));
                }
                Ok(Lease::whole(bo))
            }
        }
    }

    /// Where it lies, for resources that may have memory of `types`. The host's own becomes the device's if the first to
    /// use it wants that: some programs take the first type that they may map as if it were the only one.
    fn place(&self, types: u32) -> Result<&Place, Error> {
        if self.place.get().is_none() {
            let (device, size) = (&self.device, self.size);
            match types & MemoryType::Host.bit() {
                0 => self.settle(MemoryType::Device, DeviceMemory::allocate(device, size, Origin::Shared)?),
                _ => self.settle(MemoryType::Host, Lease::whole(device.create_host_bo(WHAT, size)?)),
            }
        }
        self.place.get().ok_or_else(|| Error::Panic("memory that lies nowhere".into()))
    }

    /// Where it lies; an error before anybody has used it.
    fn lease(&self) -> Result<&Arc<Lease>, Error> {
        let place = self.place.get().map(|place| &place.lease);
        place.ok_or_else(|| Error::InvalidUse("memory that was neither mapped nor bound".into()))
    }

    /// Bytes asked for.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Gives it a name, of which only the kernel is told.
    pub fn set_name(&self, name: &str) {
        if let Ok(lease) = self.lease() {
            lease.label(name);
        }
    }

    /// A file descriptor of its BO.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        if !self.is_shareable {
            return Err(Error::InvalidUse("an export of memory that was not allocated for it".into()));
        }
        Ok(self.device.physical().shared_bos().export(&self.lease()?.bo)?)
    }

    /// vkMapMemory: the mapping and the byte in it that `offset` names.
    pub fn map(&self, offset: u64, size: u64) -> Result<(Mapping, usize), Error> {
        let end = if size == vk::WHOLE_SIZE { Some(self.size) } else { offset.checked_add(size) };
        let inside = offset < self.size && size != 0 && end.is_some_and(|end| end <= self.size);
        if !inside {
            let why = format!("{size} bytes at {offset} of an allocation of {} bytes", self.size);
            return Err(Error::MemoryMap(why));
        }
        let lease = &self.place(u32::MAX)?.lease;
        if self.mapped.swap(true, Ordering::Relaxed) {
            return Err(Error::MemoryMap("it is mapped already".into()));
        }
        lease.pass_host();
        let mapping = lease.bo.map().map_err(|error| Error::MemoryMap(error.to_string()));
        let mapping = mapping.inspect_err(|_| self.unmap())?;
        Ok((mapping, (lease.offset + offset) as usize))
    }

    /// vkFlushMappedMemoryRanges, one range.
    pub fn flush(&self, offset: u64, size: u64) -> Result<(), Error> {
        let lease = self.lease()?;
        self.range(lease, offset, size).map(|bytes| lease.bo.write_back(bytes))
    }

    /// vkInvalidateMappedMemoryRanges, one range.
    pub fn invalidate(&self, offset: u64, size: u64) -> Result<(), Error> {
        let lease = self.lease()?;
        self.range(lease, offset, size).map(|bytes| lease.bo.forget(bytes))
    }

    /// Bytes of the BO that a range of mapped memory names.
    fn range(&self, lease: &Lease, offset: u64, size: u64) -> Result<Range<usize>, Error> {
        if offset >= self.size {
            return Err(Error::InvalidUse(format!("a range at {offset} of {} bytes", self.size)));
        }
        // Whoever rounds up to whole atoms may end behind the memory.
        let end = offset.saturating_add(size).min(self.size);
        Ok((lease.offset + offset) as usize..(lease.offset + end) as usize)
    }

    /// vkUnmapMemory. The address range stays mapped: BOs are mapped once.
    pub fn unmap(&self) {
        if let (true, Ok(lease)) = (self.mapped.swap(false, Ordering::Relaxed), self.lease()) {
            lease.pass_host();
        }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        self.unmap();
        self.device.uncount_allocation();
    }
}

/// Bytes of a BO.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The BO.
    pub bo: BoHandle,
    /// The first.
    pub start: u64,
    /// The first behind them.
    pub end: u64,
}

impl Span {
    /// Whether both have a byte in common.
    pub fn meets(&self, other: &Span) -> bool {
        self.bo == other.bo && self.start < other.end && other.start < self.end
    }
}

/// Where a buffer or an image lies: set once by vkBind…Memory (or by a swapchain).
#[derive(Clone, Debug)]
pub struct Binding {
    /// The BO.
    pub bo: Arc<Bo>,
    /// Byte offset in it.
    pub offset: u64,
    /// Bytes from there on that are its own.
    size: u64,
    /// The allocation: keeps others out of the memory.
    lease: Arc<Lease>,
}

impl Binding {
    /// Checks that `memory` is of a type that is wanted, and that so many bytes at `offset` lie in it, aligned.
    pub fn new(
        memory: &DeviceMemory,
        offset: u64,
        wanted: &vk::MemoryRequirements,
        size: u64,
    ) -> Result<Binding, Error> {
        let alignment = wanted.alignment;
        if offset % alignment != 0 {
            return Err(Error::InvalidUse(format!("offset {offset} is no multiple of {alignment}")));
        }
        // The BO is rounded up to pages, the application's view of it is not.
        if offset.checked_add(size).is_none_or(|end| end > memory.size()) {
            let size_ = memory.size();
            return Err(Error::InvalidUse(format!(
                "{size} bytes at {offset} leave an allocation of {size_}"
            )));
        }
        let Place { ty, lease } = memory.place(wanted.memory_type_bits)?;
        if wanted.memory_type_bits & ty.bit() == 0 {
            let (ty, types) = (ty.index(), wanted.memory_type_bits);
            return Err(Error::InvalidUse(format!("memory type {ty}; memoryTypeBits is {types:#b}")));
        }
        let lease = lease.clone();
        Ok(Binding { bo: lease.bo.clone(), offset: lease.offset + offset, size, lease })
    }

    /// The same memory from a byte further on.
    pub fn from(&self, offset: u64) -> Binding {
        Binding { offset: self.offset + offset, size: self.size.saturating_sub(offset), ..self.clone() }
    }

    /// The first bytes of it; an error if it has fewer.
    pub fn part(&self, size: u64) -> Result<Binding, Error> {
        match size > self.size {
            true => Err(Error::InvalidUse(format!("{size} bytes of a memory of {}", self.size))),
            false => Ok(Binding { size, ..self.clone() }),
        }
    }

    /// The start of a BO that nothing else lies in.
    pub fn whole(bo: Arc<Bo>) -> Binding {
        Binding { bo: bo.clone(), offset: 0, size: bo.size(), lease: Lease::whole(bo) }
    }

    /// The bytes.
    pub fn span(&self) -> Span {
        Span { bo: self.bo.handle(), start: self.offset, end: self.offset + self.size }
    }

    /// Tells the kernel what lies there, if it is all of an allocation.
    pub fn label(&self, name: &str) {
        if self.offset == self.lease.offset && self.size + PAGE > self.bo.size() {
            self.lease.label(name);
        }
    }

    /// The allocation.
    pub fn lease(&self) -> &Arc<Lease> {
        &self.lease
    }

    /// [`Lease::host_version`] of the memory.
    pub fn host_version(&self) -> Option<u64> {
        self.lease.host_version()
    }
}

/// Where a buffer or an image lies, once it is bound, and what the application calls it.
#[derive(Default)]
pub struct Home {
    binding: OnceLock<Binding>,
    name: Name,
}

impl Home {
    /// Of what has memory from the beginning.
    pub fn of(binding: Binding) -> Home {
        Home { binding: OnceLock::from(binding), name: Name::default() }
    }

    /// Binds it, once; the binding comes back if it has memory already.
    pub fn bind(&self, binding: Binding) -> Result<(), Binding> {
        self.binding.set(binding)?;
        self.label();
        Ok(())
    }

    /// Where it lies.
    pub fn binding(&self) -> Option<&Binding> {
        self.binding.get()
    }

    /// Gives it a name.
    pub fn set_name(&self, name: &str) {
        self.name.set(name);
        self.label();
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Tells the kernel the name, once there is memory that has it.
    fn label(&self) {
        if let (Some(binding), Some(name)) = (self.binding(), self.name.get()) {
            binding.label(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{device, sharing_device};

    const WANTED: vk::MemoryRequirements =
        vk::MemoryRequirements { size: 64, alignment: 64, memory_type_bits: !0 };

    fn memory(device: &Arc<Device>, size: u64) -> Result<DeviceMemory, Error> {
        DeviceMemory::new(device, size, MemoryType::Device, Origin::Shared)
    }

    #[test]
    fn impossible_sizes_give_the_right_error() {
        let device = device();
        let result = |size| memory(&device, size).err().map(|error| error.result());
        assert_eq!(result(0), Some(vk::Result::ERROR_VALIDATION_FAILED_EXT));
        assert_eq!(result(u64::MAX), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        assert_eq!(result(1 << 40), Some(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
        assert_eq!(result(1), None);
    }

    #[test]
    fn a_map_stays_inside_and_happens_once() {
        let device = device();
        let _before = memory(&device, 1).unwrap();
        let memory = memory(&device, 100).unwrap();
        assert!(memory.map(0, 101).is_err());
        assert!(memory.map(100, 1).is_err());
        assert!(memory.map(u64::MAX, 2).is_err());
        let (_, at) = memory.map(10, vk::WHOLE_SIZE).unwrap();
        // The second page of the BO that both share.
        assert_eq!(at, 4096 + 10);
        assert!(memory.map(0, 1).is_err());
        memory.unmap();
        memory.map(99, 1).unwrap();
    }

    #[test]
    fn what_is_bound_keeps_its_place() {
        let device = device();
        let old = memory(&device, 4096).unwrap();
        let binding = Binding::new(&old, 64, &WANTED, 64).unwrap();
        drop(old);
        let new = memory(&device, 4096).unwrap();
        assert_ne!(Binding::new(&new, 64, &WANTED, 64).unwrap().offset, binding.offset);
        drop(binding);
        assert_eq!(memory(&device, 4096).unwrap().lease().unwrap().offset, 0);
    }

    #[test]
    fn it_is_known_whether_the_host_may_have_written() {
        let device = sharing_device();
        let memory = memory(&device, 4096).unwrap();
        let binding = Binding::new(&memory, 0, &WANTED, 64).unwrap();
        let before = binding.host_version();
        assert!(before.is_some());
        memory.map(0, 64).unwrap();
        assert_eq!(binding.host_version(), None);
        // A second mapping is refused, and changes nothing.
        assert!(memory.map(0, 64).is_err());
        assert_eq!(binding.host_version(), None);
        memory.unmap();
        memory.unmap();
        let after = binding.host_version();
        assert!(after.is_some() && after != before);
        // Others write to what they were given whenever they like.
        let shared = DeviceMemory::new(&device, 4096, MemoryType::Device, Origin::Exportable).unwrap();
        assert_eq!(Binding::new(&shared, 0, &WANTED, 64).unwrap().host_version(), None);
    }

    #[test]
    fn memory_of_the_host_becomes_what_uses_it_first() {
        let device = device();
        let new = || DeviceMemory::new(&device, 4096, MemoryType::Host, Origin::Shared).unwrap();
        let of = |ty: MemoryType| vk::MemoryRequirements { memory_type_bits: ty.bit(), ..WANTED };
        let bind = |memory: &DeviceMemory, wanted| Binding::new(memory, 0, &wanted, 64);
        let host = new();
        assert!(bind(&host, WANTED).unwrap().bo.is_copied());
        assert!(bind(&host, of(MemoryType::Device)).is_err());
        assert!(bind(&host, of(MemoryType::Host)).is_ok());
        let mapped = new();
        assert!(mapped.flush(0, 1).is_err());
        mapped.map(0, 64).unwrap().0.write_u32(0, 7);
        assert_eq!(bind(&mapped, WANTED).unwrap().bo.map().unwrap().read_u32(0), 7);
        let other = new();
        assert!(!bind(&other, of(MemoryType::Device)).unwrap().bo.is_copied());
        assert!(!bind(&other, WANTED).unwrap().bo.is_copied());
        assert!(bind(&other, of(MemoryType::Cached)).is_err());
        assert!(DeviceMemory::new(&device, 1 << 40, MemoryType::Host, Origin::Shared).is_err());
        let shared = sharing_device();
        let shared = DeviceMemory::new(&shared, 4096, MemoryType::Host, Origin::Exportable).unwrap();
        assert!(!shared.lease().unwrap().bo.is_copied());
    }

    #[test]
    fn only_what_asks_for_it_is_alone() {
        let device = device();
        let alone = DeviceMemory::new(&device, 4096, MemoryType::Device, Origin::Alone).unwrap();
        assert_eq!((alone.lease().unwrap().bo.size(), alone.lease().unwrap().offset), (4096, 0));
        let shared = [memory(&device, 4096).unwrap(), memory(&device, 4096).unwrap()];
        assert!(Arc::ptr_eq(&shared[0].lease().unwrap().bo, &shared[1].lease().unwrap().bo));
    }

    #[test]
    fn more_allocations_than_the_limit_are_refused_until_one_is_freed() {
        let device = device();
        let limit = device.physical().properties().limits.max_memory_allocation_count;
        let mut all: Vec<_> = (0..limit).map(|_| memory(&device, 1).unwrap()).collect();
        let refused = memory(&device, 1).err().unwrap();
        assert_eq!(refused.result(), vk::Result::ERROR_TOO_MANY_OBJECTS);
        all.pop();
        memory(&device, 1).unwrap();
    }
}
