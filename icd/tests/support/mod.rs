//! A device of the driver itself, without loader, and short ways to buffers, images and submissions.

pub mod assembly;
pub mod canvas;
pub mod quad;
pub mod resources;
pub mod triangle;

use std::ffi::CStr;
use std::sync::Once;

use ash::vk;
use vulkan_vc4::entry::vk_icdGetInstanceProcAddr;

/// Instance, device and a command buffer. Objects die with the device.
pub struct Vk {
    pub instance: ash::Instance,
    pub device: ash::Device,
    pub queue: vk::Queue,
    pool: vk::CommandPool,
}

/// A buffer in memory of its own.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub handle: vk::Buffer,
    memory: *mut u8,
    size: usize,
}

impl Buffer {
    pub fn write(&self, bytes: &[u8]) {
        assert!(bytes.len() <= self.size);
        // SAFETY: mapped for the buffer's size while the device lives.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory, bytes.len()) }
    }

    pub fn read(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.size];
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.memory, bytes.as_mut_ptr(), self.size) };
        bytes
    }

    pub fn words(&self) -> Vec<u32> {
        self.read().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

/// A 2D image with one level and a view of it.
#[derive(Clone, Copy)]
pub struct Image {
    pub handle: vk::Image,
    pub view: vk::ImageView,
    pub width: u32,
    pub height: u32,
}

/// The colour aspect of level 0, layer 0.
pub const COLOR: vk::ImageSubresourceLayers = vk::ImageSubresourceLayers {
    aspect_mask: vk::ImageAspectFlags::COLOR,
    mip_level: 0,
    base_array_layer: 0,
    layer_count: 1,
};

pub const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

pub fn extent(width: u32, height: u32) -> vk::Extent3D {
    vk::Extent3D { width, height, depth: 1 }
}

pub fn rect(x: i32, y: i32, width: u32, height: u32) -> vk::Rect2D {
    vk::Rect2D { offset: vk::Offset2D { x, y }, extent: vk::Extent2D { width, height } }
}

impl Vk {
    pub fn new() -> Vk {
        Vk::with(&[])
    }

    /// A device with these extensions.
    pub fn with(extensions: &[&CStr]) -> Vk {
        Vk::of_version(vk::API_VERSION_1_0, extensions)
    }

    /// A device with these extensions for an application that asks for a version.
    pub fn of_version(version: u32, extensions: &[&CStr]) -> Vk {
        Vk::of_features(version, extensions, vk::PhysicalDeviceFeatures::default())
    }

    /// The same with these features.
    pub fn of_features(version: u32, extensions: &[&CStr], features: vk::PhysicalDeviceFeatures) -> Vk {
        static SIMULATOR: Once = Once::new();
        // SAFETY: every test comes through here first, and nothing of the driver runs before.
        SIMULATOR.call_once(|| unsafe { std::env::set_var("VC4VK_DEVICE", "sim") });
        let functions = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        // SAFETY: valid usage; the functions are the driver's own.
        unsafe {
            let entry = ash::Entry::from_static_fn(functions);
            let application = vk::ApplicationInfo::default().api_version(version);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None).unwrap();
            let physical = instance.enumerate_physical_devices().unwrap()[0];
            let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&names)
                .enabled_features(&features);
            let device = instance.create_device(physical, &info, None).unwrap();
            let queue = device.get_device_queue(0, 0);
            let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
            let info = vk::CommandPoolCreateInfo::default().flags(flags);
            let pool = device.create_command_pool(&info, None).unwrap();
            Vk { instance, device, queue, pool }
        }
    }

    fn memory(&self, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size);
        // SAFETY: valid usage.
        unsafe { self.device.allocate_memory(&info, None) }.unwrap()
    }

    pub fn buffer(&self, size: usize) -> Buffer {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST
            | vk::BufferUsageFlags::VERTEX_BUFFER
            | vk::BufferUsageFlags::INDEX_BUFFER
            | vk::BufferUsageFlags::INDIRECT_BUFFER
            | vk::BufferUsageFlags::UNIFORM_BUFFER;
        let info = vk::BufferCreateInfo::default().size(size as u64).usage(usage);
        // SAFETY: valid usage.
        unsafe {
            let handle = self.device.create_buffer(&info, None).unwrap();
            let memory = self.memory(self.device.get_buffer_memory_requirements(handle).size);
            self.device.bind_buffer_memory(handle, memory, 0).unwrap();
            let flags = vk::MemoryMapFlags::empty();
            let memory = self.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).unwrap();
            Buffer { handle, memory: memory.cast(), size }
        }
    }

    pub fn buffer_with(&self, bytes: &[u8]) -> Buffer {
        let buffer = self.buffer(bytes.len());
        buffer.write(bytes);
        buffer
    }

    pub fn image(&self, format: vk::Format, width: u32, height: u32, usage: vk::ImageUsageFlags) -> Image {
        self.image_of(vk::SampleCountFlags::TYPE_1, format, width, height, usage)
    }

    pub fn image_of(
        &self,
        samples: vk::SampleCountFlags,
        format: vk::Format,
        width: u32,
        height: u32,
        usage: vk::ImageUsageFlags,
    ) -> Image {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent(width, height))
            .mip_levels(1)
            .array_layers(1)
            .samples(samples)
            .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        let aspect_mask = match format {
            vk::Format::D24_UNORM_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            vk::Format::D16_UNORM => vk::ImageAspectFlags::DEPTH,
            _ => vk::ImageAspectFlags::COLOR,
        };
        // SAFETY: valid usage.
        unsafe {
            let handle = self.device.create_image(&info, None).unwrap();
            let memory = self.memory(self.device.get_image_memory_requirements(handle).size);
            self.device.bind_image_memory(handle, memory, 0).unwrap();
            let range = vk::ImageSubresourceRange {
                aspect_mask,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            let info = vk::ImageViewCreateInfo::default()
                .image(handle)
                .view_type(vk::ImageViewType::TYPE_2D)
                .format(format)
                .subresource_range(range);
            let view = self.device.create_image_view(&info, None).unwrap();
            Image { handle, view, width, height }
        }
    }

    pub fn commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        // SAFETY: valid usage.
        unsafe { self.device.allocate_command_buffers(&info) }.unwrap()[0]
    }

    /// Records a primary command buffer.
    pub fn record(&self, body: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> vk::CommandBuffer {
        let commands = self.commands(vk::CommandBufferLevel::PRIMARY);
        // SAFETY: valid usage.
        unsafe {
            self.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            body(&self.device, commands);
            self.device.end_command_buffer(commands).unwrap();
        }
        commands
    }

    /// Submits it with a fence.
    pub fn submit(&self, commands: vk::CommandBuffer) -> vk::Fence {
        let commands = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: valid usage.
        unsafe {
            let fence = self.device.create_fence(&vk::FenceCreateInfo::default(), None).unwrap();
            self.device.queue_submit(self.queue, &[info], fence).unwrap();
            fence
        }
    }

    /// Records, submits and waits.
    pub fn run(&self, body: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let fence = self.submit(self.record(body));
        // SAFETY: valid usage.
        unsafe { self.device.wait_for_fences(&[fence], true, u64::MAX) }.unwrap();
    }

    /// The words of a colour image, row by row.
    pub fn pixels(&self, image: &Image) -> Vec<u32> {
        let buffer = self.buffer((image.width * image.height * 4) as usize);
        let region = vk::BufferImageCopy {
            image_subresource: COLOR,
            image_extent: extent(image.width, image.height),
            ..Default::default()
        };
        // SAFETY: valid usage.
        self.run(|device, commands| unsafe {
            let layout = vk::ImageLayout::GENERAL;
            device.cmd_copy_image_to_buffer(commands, image.handle, layout, buffer.handle, &[region]);
        });
        buffer.words()
    }
}

impl Drop for Vk {
    fn drop(&mut self) {
        // SAFETY: tests do not outlive their device; objects that are left over are the application's loss.
        unsafe {
            let _ = self.device.device_wait_idle();
            self.device.destroy_command_pool(self.pool, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
