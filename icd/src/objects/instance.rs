//! VkInstance: which extensions are on, and the devices found.

use std::sync::{Arc, OnceLock};

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::extension::Extension;
use crate::foundation::handle::{HostAllocator, Object, OwnedHandle};
use crate::objects::physical_device::PhysicalDevice;
use crate::objects::probe;

/// An instance.
pub struct Instance {
    extensions: Vec<Extension>,
    /// The version that the application was written against, 0 for the first …
    version: u32,
    /// … and what devices claim.
    claimed: u32,
    allocator: HostAllocator,
    /// Handles of the devices, made at the first enumeration.
    devices: OnceLock<Vec<OwnedHandle<PhysicalDevice>>>,
}

impl Object for Instance {
    type Handle = vk::Instance;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::INSTANCE;
}

impl Instance {
    /// An instance with those extensions enabled, for an application of an API version and devices that claim one.
    pub fn new(extensions: Vec<Extension>, version: u32, claimed: u32, allocator: HostAllocator) -> Instance {
        Instance { extensions, version, claimed, allocator, devices: OnceLock::new() }
    }

    /// Whether the application enabled `extension`.
    pub fn has(&self, extension: Extension) -> bool {
        self.extensions.contains(&extension)
    }

    /// The allocator of children that bring none.
    pub fn allocator(&self) -> HostAllocator {
        self.allocator
    }

    /// The devices: one, or none when there is nothing usable (said in the log).
    pub fn physical_devices(&self) -> Result<&[OwnedHandle<PhysicalDevice>], Error> {
        if let Some(devices) = self.devices.get() {
            return Ok(devices);
        }
        let mut devices = Vec::new();
        if let Some(gpu) = probe::find() {
            let device = Arc::new(PhysicalDevice::new(gpu, self.claimed, self.version, self.allocator));
            devices.push(OwnedHandle::new(self.allocator, device)?);
        }
        Ok(self.devices.get_or_init(|| devices))
    }
}
