//! What one application context shares: the GPU, the heap, who is woken, whether it is lost. Queues are made above and
//! reach it.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use ash::vk;
use vc4_kernel_abi::{Gpu, GpuError};

use crate::foundation::bo::Bo;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::foundation::extension::Extension;
use crate::foundation::handle::HostAllocator;
use crate::foundation::shelf::Shelf;
use crate::foundation::threads::{AtomicBool, Ordering};
use crate::foundation::waker::{Patience, Waker};
use crate::objects::heap::Heap;
use crate::objects::physical_device::{self, PhysicalDevice};

/// A logical device.
pub struct Device {
    physical: Arc<PhysicalDevice>,
    extensions: Vec<Extension>,
    features: vk::PhysicalDeviceFeatures,
    allocator: HostAllocator,
    lost: AtomicBool,
    waker: Arc<Waker>,
    allocations: AtomicU32,
    heap: Arc<Heap>,
    shelf: Shelf,
}

impl Device {
    /// A device with those extensions and features enabled.
    pub fn new(
        physical: Arc<PhysicalDevice>,
        extensions: Vec<Extension>,
        features: vk::PhysicalDeviceFeatures,
        allocator: HostAllocator,
    ) -> Result<Device, Error> {
        physical_device::check_features(&features)?;
        Ok(Device {
            physical,
            extensions,
            features,
            allocator,
            lost: AtomicBool::new(false),
            waker: Arc::default(),
            allocations: AtomicU32::new(0),
            heap: Arc::default(),
            shelf: Shelf::default(),
        })
    }

    /// What it runs on.
    pub fn physical(&self) -> &Arc<PhysicalDevice> {
        &self.physical
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<dyn Gpu> {
        self.physical.gpu()
    }

    /// Of an application that waits for at most `timeout` nanoseconds.
    pub fn patience(&self, timeout: u64) -> Patience<impl Fn() -> Duration> {
        Patience::new(|| self.gpu().simulation_time(), timeout)
    }

    /// What higher floors keep as long as it lives.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Whether the application enabled `extension`.
    pub fn has(&self, extension: Extension) -> bool {
        self.extensions.contains(&extension)
    }

    /// Whether the application gets a version: what that took over from extensions is there without them.
    pub fn is_of(&self, version: u32) -> bool {
        self.physical.is_of(version)
    }

    /// The features that the application enabled.
    pub fn features(&self) -> &vk::PhysicalDeviceFeatures {
        &self.features
    }

    /// The allocator of children that bring none.
    pub fn allocator(&self) -> HostAllocator {
        self.allocator
    }

    /// Where everything that changes a fence, semaphore or event rings.
    pub fn waker(&self) -> &Arc<Waker> {
        &self.waker
    }

    /// The BOs that small allocations share.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// Ends the device: every wait and submission from now on answers VK_ERROR_DEVICE_LOST.
    pub fn lose(&self, why: &dyn std::fmt::Display) {
        if !self.lost.swap(true, Ordering::SeqCst) {
            log::error!(target: "vc4::device", "device lost: {why}");
        }
        self.waker.ring();
    }

    /// An error once the device is lost.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_lost() { Err(Error::DeviceLost) } else { Ok(()) }
    }

    /// Whether the device was lost.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// A zeroed BO for the driver's own use or for a VkDeviceMemory.
    pub fn create_bo(&self, what: &'static str, bytes: u64) -> Result<Arc<Bo>, Error> {
        self.create(what, bytes, |size| Bo::new(self.gpu(), self.physical.traffic(), size))
    }

    /// As [`Device::create_bo`], of memory that the CPU caches.
    pub fn create_cached_bo(&self, what: &'static str, bytes: u64) -> Result<Arc<Bo>, Error> {
        self.create(what, bytes, |size| Bo::cached(self.gpu(), self.physical.traffic(), size))
    }

    /// As [`Device::create_bo`], of the process's own memory.
    pub fn create_host_bo(&self, what: &'static str, bytes: u64) -> Result<Arc<Bo>, Error> {
        self.create(what, bytes, |size| Bo::of_host(self.gpu(), self.physical.traffic(), size))
    }

    fn create(
        &self,
        what: &'static str,
        bytes: u64,
        bo: impl FnOnce(u32) -> Result<Bo, GpuError>,
    ) -> Result<Arc<Bo>, Error> {
        self.check_size(what, bytes)?;
        Ok(Arc::new(bo(bytes as u32)?))
    }

    /// An error for what is more than all memory.
    pub fn check_size(&self, what: &'static str, bytes: u64) -> Result<(), Error> {
        let available = self.physical.heap_size().min(u32::MAX.into());
        match bytes <= available {
            true => Ok(()),
            false => Err(Error::OutOfDeviceMemory { what, bytes, available }),
        }
    }

    /// Counts a VkDeviceMemory against maxMemoryAllocationCount.
    pub fn count_allocation(&self) -> Result<(), Error> {
        let limit = self.physical.properties().limits.max_memory_allocation_count;
        if self.allocations.fetch_add(1, Ordering::Relaxed) >= limit {
            self.uncount_allocation();
            return Err(Error::TooManyObjects { what: "maxMemoryAllocationCount", limit });
        }
        Ok(())
    }

    /// Takes a VkDeviceMemory out of the count.
    pub fn uncount_allocation(&self) {
        self.allocations.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if flags().contains(Debug::PERF) {
            eprintln!("perf: in all, {}", self.physical.traffic().total());
        }
    }
}
