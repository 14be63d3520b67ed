//! The device that both halves of the program use.

use wgpu::util::DeviceExt;

/// Whatever goes wrong, in words.
pub type Error = Box<dyn std::error::Error>;

/// What both halves draw or compute with.
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
}

impl Gpu {
    /// The first adapter that Vulkan has.
    pub fn new(limits: wgpu::Limits) -> Result<Gpu, Error> {
        let vulkan = wgpu::InstanceDescriptor {
            backends: wgpu::Backends::VULKAN,
            ..wgpu::InstanceDescriptor::default()
        };
        let instance = wgpu::Instance::new(&vulkan);
        let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
        println!("{}", adapter.get_info().name);
        let wanted = wgpu::DeviceDescriptor { required_limits: limits, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&wanted))?;
        Ok(Gpu { device, queue })
    }

    /// A buffer with content.
    pub fn buffer(&self, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    }

    /// A shader module of WGSL.
    pub fn module(&self, source: &str) -> wgpu::ShaderModule {
        let source = wgpu::ShaderSource::Wgsl(source.into());
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source })
    }

    /// Submits `commands` and returns what a buffer that can be mapped holds then.
    pub fn read(&self, commands: wgpu::CommandEncoder, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Error> {
        self.queue.submit([commands.finish()]);
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
            let _ = sender.send(result);
        });
        self.device.poll(wgpu::PollType::wait_indefinitely()).map_err(|error| format!("{error:?}"))?;
        receiver.recv()??;
        Ok(buffer.slice(..).get_mapped_range().to_vec())
    }
}
