//! The device that programs share, and what it had at the beginning.

use std::ffi::CStr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::{Device, Entry, Instance, vk};

use crate::heap;
use crate::vulkan::Error;

/// A device with its queue.
pub struct Machine {
    _entry: Entry,
    /// The instance.
    pub instance: Instance,
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// The device.
    pub device: Device,
    /// Commands of extensions.
    pub more: More,
    queue: Mutex<vk::Queue>,
    /// Calls that were made.
    pub calls: AtomicU64,
    /// Whether headless surfaces are there.
    pub surfaces: bool,
    budget: bool,
}

/// Commands of extensions.
pub struct More {
    /// Surfaces.
    pub surface: ash::khr::surface::Instance,
    /// Headless ones.
    pub headless: ash::ext::headless_surface::Instance,
    /// Swapchains.
    pub swapchain: ash::khr::swapchain::Device,
    /// Dynamic rendering.
    pub rendering: ash::khr::dynamic_rendering::Device,
    /// Copies with structures.
    pub copies: ash::khr::copy_commands2::Device,
    /// Synchronisation with structures.
    pub sync: ash::khr::synchronization2::Device,
    /// Sets without objects.
    pub push: ash::khr::push_descriptor::Device,
    /// Words beside objects.
    pub private: ash::ext::private_data::Device,
}

fn has(all: &[vk::ExtensionProperties], name: &CStr) -> bool {
    all.iter().any(|one| one.extension_name_as_c_str() == Ok(name))
}

// SAFETY (for every block of this file): handles come from this instance and device and live until `drop`; create infos
// point to locals that outlive the call.
impl Machine {
    /// Opens the first device that the loader finds.
    pub fn open() -> Result<Machine, Error> {
        // SAFETY: the loader is what it says.
        Machine::of(unsafe { Entry::load()? })
    }

    /// Opens the first device that an entry leads to.
    pub fn of(entry: Entry) -> Result<Machine, Error> {
        // SAFETY: see above.
        unsafe {
            let callbacks = heap::callbacks();
            let offered = entry.enumerate_instance_extension_properties(None)?;
            let surfaces = has(&offered, ash::ext::headless_surface::NAME);
            let mut names = Vec::new();
            if surfaces {
                names.extend([ash::khr::surface::NAME.as_ptr(), ash::ext::headless_surface::NAME.as_ptr()]);
            }
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let create = vk::InstanceCreateInfo::default()
                .application_info(&application)
                .enabled_extension_names(&names);
            let instance = entry.create_instance(&create, Some(&callbacks))?;
            let physical = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
            let offered = instance.enumerate_device_extension_properties(physical)?;
            let mut names = vec![
                ash::khr::dynamic_rendering::NAME,
                ash::khr::copy_commands2::NAME,
                ash::khr::synchronization2::NAME,
                ash::khr::push_descriptor::NAME,
                ash::ext::private_data::NAME,
            ];
            let budget = has(&offered, ash::ext::memory_budget::NAME);
            names.extend(surfaces.then_some(ash::khr::swapchain::NAME));
            names.extend(budget.then_some(ash::ext::memory_budget::NAME));
            let names: Vec<_> = names.into_iter().map(CStr::as_ptr).collect();
            let features = vk::PhysicalDeviceFeatures::default()
                .robust_buffer_access(true)
                .fill_mode_non_solid(true)
                .occlusion_query_precise(true)
                .pipeline_statistics_query(true)
                .large_points(true)
                .wide_lines(true)
                .logic_op(true)
                .sampler_anisotropy(true);
            let mut timelines =
                vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
            let mut resets = vk::PhysicalDeviceHostQueryResetFeatures::default().host_query_reset(true);
            let mut imageless =
                vk::PhysicalDeviceImagelessFramebufferFeatures::default().imageless_framebuffer(true);
            let mut rendering = vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true);
            let mut sync = vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true);
            let mut private = vk::PhysicalDevicePrivateDataFeatures::default().private_data(true);
            let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
            let create = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .enabled_features(&features)
                .push_next(&mut timelines)
                .push_next(&mut resets)
                .push_next(&mut imageless)
                .push_next(&mut rendering)
                .push_next(&mut sync)
                .push_next(&mut private);
            let device = instance.create_device(physical, &create, Some(&callbacks))?;
            let queue = Mutex::new(device.get_device_queue(0, 0));
            let more = More {
                surface: ash::khr::surface::Instance::new(&entry, &instance),
                headless: ash::ext::headless_surface::Instance::new(&entry, &instance),
                swapchain: ash::khr::swapchain::Device::new(&instance, &device),
                rendering: ash::khr::dynamic_rendering::Device::new(&instance, &device),
                copies: ash::khr::copy_commands2::Device::new(&instance, &device),
                sync: ash::khr::synchronization2::Device::new(&instance, &device),
                push: ash::khr::push_descriptor::Device::new(&instance, &device),
                private: ash::ext::private_data::Device::new(&instance, &device),
            };
            let calls = AtomicU64::new(8);
            Ok(Machine { _entry: entry, instance, physical, device, more, queue, calls, surfaces, budget })
        }
    }

    /// The queue, for one thread at a time.
    pub fn queue(&self) -> MutexGuard<'_, vk::Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call.
    pub fn count(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    /// Bytes of device memory in use, if the device tells.
    pub fn used_bytes(&self) -> u64 {
        if !self.budget {
            return 0;
        }
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: see above.
        unsafe { self.instance.get_physical_device_memory_properties2(self.physical, &mut properties) };
        budget.heap_usage.iter().sum()
    }

    /// A type of memory that the host sees, and the resources can lie in: coherent, or one that it caches if there is any.
    pub fn memory_type(&self, bits: u32, is_cached: bool) -> Option<u32> {
        // SAFETY: see above.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let all = (0..types.memory_type_count).filter(|index| bits >> index & 1 == 1);
        let of = |way| {
            let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | way;
            all.clone().find(|index| types.memory_types[*index as usize].property_flags.contains(wanted))
        };
        let cached = if is_cached { of(vk::MemoryPropertyFlags::HOST_CACHED) } else { None };
        cached.or_else(|| of(vk::MemoryPropertyFlags::HOST_COHERENT))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let callbacks = heap::callbacks();
        // SAFETY: see above; nothing of the device is used afterwards.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_device(Some(&callbacks));
            self.instance.destroy_instance(Some(&callbacks));
        }
    }
}
