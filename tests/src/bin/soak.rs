//! Does the same thing again and again and tells what the process has grown by; for `tests/soak.rs`.
//!
//! `soak frames|pipelines|sets|memory|devices|swapchains COUNT`: prints `before=KIB DESCRIPTORS THREADS`, what the process held in the
//! first half, and `after=`, the same of the second.

use std::process::ExitCode;

use ash::{Entry, vk};
use vc4_tests::vulkan::{CLEAR_STORE, Error, Harness, Lab, Named, Pipeline, Subpass, Vertex, area, color};

/// Edge of what is drawn, in pixels.
const SIZE: [u32; 2] = [64; 2];
/// Descriptor sets in a pool.
const SETS: usize = 1000;
/// Instances of the driver at the same time.
const INSTANCES: usize = 10;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (what, count) = (arguments.next().unwrap_or_default(), arguments.next().and_then(|n| n.parse().ok()));
    let Some(count) = count else {
        eprintln!("usage: soak frames|pipelines|sets|memory|devices|swapchains COUNT");
        return ExitCode::from(2);
    };
    let done = match what.as_str() {
        "frames" => frames(count),
        "pipelines" => pipelines(count),
        "sets" => sets(count),
        "memory" => memory(count),
        "devices" => devices(count),
        "swapchains" => swapchains(count),
        other => Err(format!("unknown: {other}").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{what}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Does `one` so often. The first third is to warm up, as allocators take long to settle; of the rest, prints what the process held in each half: at
/// most of memory, at all times of descriptors and threads.
fn repeat(count: u64, mut one: impl FnMut(u64) -> Result<(), Error>) -> Result<(), Error> {
    let (warm, step) = (count.div_ceil(3), (count / 2000).max(1));
    let middle = warm + (count - warm) / 2;
    let mut halves = [None; 2];
    for number in 0..count {
        one(number)?;
        if number >= warm && number % step == 0 {
            let [memory, descriptors, threads] = holdings();
            let half: &mut [u64; 3] =
                halves[usize::from(number >= middle)].get_or_insert([memory, descriptors, threads]);
            // A thread that was told to end may be seen before it has: what is left behind is there at all times.
            *half = [half[0].max(memory), half[1].min(descriptors), half[2].min(threads)];
        }
    }
    for (name, half) in ["before", "after"].into_iter().zip(halves) {
        let [memory, descriptors, threads] = half.ok_or("too few to tell")?;
        println!("{name}={memory} {descriptors} {threads}");
    }
    Ok(())
}

/// Resident memory in KiB, but for pages of files, which come and go as the kernel likes; open descriptors, threads.
fn holdings() -> [u64; 3] {
    // What the allocator keeps for later comes and goes by megabytes.
    #[cfg(target_env = "gnu")]
    // SAFETY: the function may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let row = |name: &str| {
        let text = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        text.trim().trim_end_matches(" kB").parse().unwrap_or(0)
    };
    let descriptors = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    [row("RssAnon:") + row("RssShmem:"), descriptors as u64, row("Threads:")]
}

/// A triangle over everything.
const TRIANGLE: [Vertex; 3] = [
    [-1.0, -1.0, 0.5, 1.0, 0.0, 0.0, 1.0],
    [3.0, -1.0, 0.5, 0.0, 1.0, 0.0, 1.0],
    [-1.0, 3.0, 0.5, 0.0, 0.0, 1.0, 1.0],
];

/// A pass with one colour.
fn pass(lab: &Lab<'_>) -> Result<vk::RenderPass, Error> {
    lab.pass(&[CLEAR_STORE], &[Subpass { color: Some(0), ..Subpass::default() }])
}

fn frames(count: u64) -> Result<(), Error> {
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let pass = pass(&lab)?;
    let target = lab.target(SIZE, CLEAR_STORE.format, CLEAR_STORE.samples)?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    let pipeline = lab.pipeline(pass, SIZE, &Pipeline::default())?;
    let vertices = lab.vertices(&TRIANGLE)?;
    repeat(count, |_| {
        lab.run(|commands| {
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.0; 4])]);
            // SAFETY: everything lives as long as the lab; the pipeline has one vertex buffer.
            unsafe {
                lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
                lab.device.cmd_draw(commands, 3, 1, 0, 0);
                lab.device.cmd_end_render_pass(commands);
            }
        })
    })
}

fn pipelines(count: u64) -> Result<(), Error> {
    let harness = Harness::new()?;
    repeat(count.div_ceil(50), |number| {
        let lab = Lab::new(&harness);
        let pass = pass(&lab)?;
        for part in 0..50 {
            // Blending differs, so each has programs of its own, until all ways were there.
            let (source, target) = ((number + part) % 15, (number / 15 + part) % 15);
            let blend = vk::PipelineColorBlendAttachmentState::default()
                .blend_enable(true)
                .src_color_blend_factor(vk::BlendFactor::from_raw(source as i32))
                .dst_color_blend_factor(vk::BlendFactor::from_raw(target as i32))
                .color_write_mask(vk::ColorComponentFlags::RGBA);
            lab.pipeline(pass, SIZE, &Pipeline { blend, ..Pipeline::default() })?;
        }
        Ok(())
    })
}

fn sets(count: u64) -> Result<(), Error> {
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let device = lab.device;
    let buffer = lab.buffer(&[0; 1024], vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let uniform = vk::DescriptorType::UNIFORM_BUFFER;
    let stages = vk::ShaderStageFlags::VERTEX;
    let binding = |number| {
        let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(uniform);
        binding.descriptor_count(1).stage_flags(stages)
    };
    let bindings = [binding(0), binding(1)];
    let sizes = [vk::DescriptorPoolSize { ty: uniform, descriptor_count: 2 * SETS as u32 }];
    // SAFETY: the create info points to what lives longer than the call; as for the other blocks, handles come from this device
    // and are destroyed once, at the end.
    let layout = unsafe {
        let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        device.create_descriptor_set_layout(&create, None).named("vkCreateDescriptorSetLayout")?
    };
    let flags = vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET;
    let create =
        vk::DescriptorPoolCreateInfo::default().flags(flags).max_sets(SETS as u32).pool_sizes(&sizes);
    // SAFETY: see above.
    let pool = unsafe { device.create_descriptor_pool(&create, None).named("vkCreateDescriptorPool")? };
    let layouts = vec![layout; SETS];
    // SAFETY: see above; sets are written between their allocation and their end, and nothing uses them.
    let done = repeat(count.div_ceil(SETS as u64), |number| unsafe {
        let allocate = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let sets = device.allocate_descriptor_sets(&allocate).named("vkAllocateDescriptorSets")?;
        for &set in &sets {
            let info = [vk::DescriptorBufferInfo { buffer, offset: 256 * (number % 4), range: 256 }];
            let write = |binding| {
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
                write.descriptor_type(uniform).buffer_info(&info)
            };
            device.update_descriptor_sets(&[write(0), write(1)], &[]);
        }
        match number % 2 {
            0 => device.free_descriptor_sets(pool, &sets).named("vkFreeDescriptorSets"),
            _ => device
                .reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty())
                .named("vkResetDescriptorPool"),
        }
    });
    // SAFETY: see above.
    unsafe {
        device.destroy_descriptor_pool(pool, None);
        device.destroy_descriptor_set_layout(layout, None);
    }
    done
}

fn memory(count: u64) -> Result<(), Error> {
    let harness = Harness::new()?;
    repeat(count.div_ceil(8), |number| {
        let lab = Lab::new(&harness);
        for part in 0..4 {
            let bytes = 1 << (4 + (number + 3 * part) % 14);
            lab.buffer(&vec![part as u8; bytes], vk::BufferUsageFlags::VERTEX_BUFFER)?;
            let edge = 1 << ((number + part) % 9);
            lab.target([edge, edge], CLEAR_STORE.format, CLEAR_STORE.samples)?;
        }
        Ok(())
    })
}

fn devices(count: u64) -> Result<(), Error> {
    repeat(count.div_ceil(INSTANCES as u64), |_| {
        let harnesses: Vec<Harness> = (0..INSTANCES).map(|_| Harness::new()).collect::<Result<_, _>>()?;
        for harness in &harnesses {
            let lab = Lab::new(harness);
            let target = lab.target(SIZE, CLEAR_STORE.format, CLEAR_STORE.samples)?;
            lab.picture(&target)?;
        }
        Ok(())
    })
}

/// Swapchains without a window, each made from the one before it, of other sizes; two pictures of each are presented.
fn swapchains(count: u64) -> Result<(), Error> {
    // SAFETY: handles come from this instance and device and are destroyed once, after their last use; create infos point to
    // what lives longer than the calls; this thread alone uses them.
    unsafe {
        let entry = Entry::load()?;
        let names = [ash::khr::surface::NAME.as_ptr(), ash::ext::headless_surface::NAME.as_ptr()];
        let create = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let instance = entry.create_instance(&create, None).named("vkCreateInstance")?;
        let surfaces = ash::khr::surface::Instance::new(&entry, &instance);
        let headless = ash::ext::headless_surface::Instance::new(&entry, &instance);
        let create = vk::HeadlessSurfaceCreateInfoEXT::default();
        let surface = headless.create_headless_surface(&create, None).named("vkCreateHeadlessSurfaceEXT")?;
        let physical = instance.enumerate_physical_devices().named("vkEnumeratePhysicalDevices")?;
        let physical = *physical.first().ok_or("no Vulkan device: check VK_DRIVER_FILES")?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let names = [ash::khr::swapchain::NAME.as_ptr()];
        let create =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let device = instance.create_device(physical, &create, None).named("vkCreateDevice")?;
        let chains = ash::khr::swapchain::Device::new(&instance, &device);
        let queue = device.get_device_queue(0, 0);
        let fence = device.create_fence(&vk::FenceCreateInfo::default(), None).named("vkCreateFence")?;
        let mut last = vk::SwapchainKHR::null();
        let done = repeat(count, |number| {
            let edge = 32 + (number % 7) as u32 * 16;
            let create = vk::SwapchainCreateInfoKHR::default()
                .surface(surface)
                .min_image_count(2 + number as u32 % 2)
                .image_format(vk::Format::B8G8R8A8_UNORM)
                .image_extent(vk::Extent2D { width: edge, height: 48 })
                .image_array_layers(1)
                .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
                .pre_transform(vk::SurfaceTransformFlagsKHR::IDENTITY)
                .composite_alpha(vk::CompositeAlphaFlagsKHR::OPAQUE)
                .present_mode(vk::PresentModeKHR::IMMEDIATE)
                .old_swapchain(last);
            let chain = chains.create_swapchain(&create, None).named("vkCreateSwapchainKHR")?;
            chains.destroy_swapchain(last, None);
            last = chain;
            for _ in 0..2 {
                let acquired = chains.acquire_next_image(chain, u64::MAX, vk::Semaphore::null(), fence);
                let (index, _) = acquired.named("vkAcquireNextImageKHR")?;
                device.wait_for_fences(&[fence], true, u64::MAX).named("vkWaitForFences")?;
                device.reset_fences(&[fence]).named("vkResetFences")?;
                let (chain, index) = ([chain], [index]);
                let present = vk::PresentInfoKHR::default().swapchains(&chain).image_indices(&index);
                chains.queue_present(queue, &present).named("vkQueuePresentKHR")?;
            }
            Ok(())
        });
        chains.destroy_swapchain(last, None);
        device.destroy_fence(fence, None);
        device.destroy_device(None);
        surfaces.destroy_surface(surface, None);
        instance.destroy_instance(None);
        done
    }
}
