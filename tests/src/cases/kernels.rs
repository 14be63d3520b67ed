//! Compute kernels that are timed: `cargo xtask bench compute`. What each leaves behind is summed up, so that two drivers
//! can be held against each other.

use std::time::Instant;

use ash::vk;

use crate::vulkan::{Error, Harness, Lab, flat, whole};

/// Dispatches of a kernel; the shortest counts.
const RUNS: u32 = 5;

/// What a kernel is bound to, one binding after the other in set 0.
enum Resource {
    /// A storage buffer of so many floats from 0 to 1.
    Floats(u32),
    /// Of so many words of noise.
    Words(u32),
    /// Of so many words, all 0.
    Zeros(u32),
    /// A storage image of noise, RGBA8.
    Noise([u32; 2]),
    /// A storage image, RGBA8.
    Target([u32; 2]),
}

/// How the result is read when it is summed up.
#[derive(Clone, Copy)]
enum Reading {
    Floats,
    Words,
    Bytes,
}

/// A kernel, what it is run on, and what of it is looked at: the last resource.
pub struct Kernel {
    /// Its name.
    pub name: &'static str,
    spirv: &'static [u8],
    resources: &'static [Resource],
    groups: [u32; 3],
    result: Reading,
}

/// What running a kernel took and left.
pub struct Measured {
    /// Seconds of the shortest dispatch, submission and waiting included.
    pub dispatch: f64,
    /// Seconds that making the pipeline and the first dispatch took beyond that.
    pub pipeline: f64,
    /// The sum over the absolute values of the result, in double precision.
    pub sum: f64,
}

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/kernels/", $name, ".comp.spv"))
    };
}

/// All kernels.
pub const KERNELS: [Kernel; 7] = [
    Kernel {
        name: "product",
        spirv: spirv!("product"),
        resources: &[Resource::Floats(512 * 512), Resource::Floats(512 * 512), Resource::Zeros(512 * 512)],
        groups: [32, 32, 1],
        result: Reading::Floats,
    },
    Kernel {
        name: "blur",
        spirv: spirv!("blur"),
        resources: &[Resource::Noise([1024, 1024]), Resource::Target([1024, 1024])],
        groups: [64, 64, 1],
        result: Reading::Bytes,
    },
    Kernel {
        name: "mandelbrot",
        spirv: spirv!("mandelbrot"),
        resources: &[Resource::Target([1024, 1024])],
        groups: [64, 64, 1],
        result: Reading::Bytes,
    },
    Kernel {
        name: "sum",
        spirv: spirv!("sum"),
        resources: &[Resource::Floats(16 << 20), Resource::Zeros(1024)],
        groups: [1024, 1, 1],
        result: Reading::Floats,
    },
    Kernel {
        name: "prefix",
        spirv: spirv!("prefix"),
        resources: &[Resource::Words(1 << 20), Resource::Zeros(1 << 20)],
        groups: [4096, 1, 1],
        result: Reading::Words,
    },
    Kernel {
        name: "bodies",
        spirv: spirv!("bodies"),
        resources: &[Resource::Floats(4 << 16), Resource::Zeros(4 << 16)],
        groups: [256, 1, 1],
        result: Reading::Floats,
    },
    Kernel {
        name: "histogram",
        spirv: spirv!("histogram"),
        resources: &[Resource::Words(4 << 20), Resource::Zeros(256)],
        groups: [256, 1, 1],
        result: Reading::Words,
    },
];

/// A resource on a device, and how its bytes are read.
enum Bound {
    Buffer(crate::vulkan::Buffer, usize),
    Image(vk::Image, vk::ImageView, [u32; 2]),
}

impl Kernel {
    /// Runs the kernel on a device.
    ///
    /// # Errors
    /// The Vulkan call that failed.
    pub fn measure(&self, harness: &Harness) -> Result<Measured, Error> {
        let lab = Lab::new(harness);
        let bound = self.resources.iter().map(|resource| bind(&lab, resource));
        let bound = bound.collect::<Result<Vec<Bound>, Error>>()?;
        let (layout, set) = descriptors(&lab, &bound)?;
        let start = Instant::now();
        let words = ash::util::read_spv(&mut std::io::Cursor::new(self.spirv))?;
        let pipeline = lab.compute_pipeline(&words, layout, &[], vk::PipelineCache::null())?;
        let mut seconds = [f64::INFINITY; RUNS as usize];
        let mut first = 0.0;
        // What the first dispatch leaves is looked at: some kernels add to what is there.
        let mut sum = 0.0;
        for (run, taken) in seconds.iter_mut().enumerate() {
            let begin = Instant::now();
            lab.run(|commands| {
                let ([x, y, z], point) = (self.groups, vk::PipelineBindPoint::COMPUTE);
                // SAFETY: pipeline, layout and set live as long as the lab, and what the set holds does, too.
                unsafe {
                    lab.device.cmd_bind_pipeline(commands, point, pipeline);
                    lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
                    lab.device.cmd_dispatch(commands, x, y, z);
                }
            })?;
            *taken = begin.elapsed().as_secs_f64();
            if run == 0 {
                first = start.elapsed().as_secs_f64();
                sum = bound.last().map_or(Ok(0.0), |last| self.sum(&lab, last))?;
            }
        }
        let dispatch = seconds.into_iter().fold(f64::INFINITY, f64::min);
        Ok(Measured { dispatch, pipeline: first - dispatch, sum })
    }

    fn sum(&self, lab: &Lab<'_>, last: &Bound) -> Result<f64, Error> {
        let bytes = match last {
            Bound::Buffer(buffer, length) => lab.contents(buffer, *length)?,
            Bound::Image(image, _, size) => {
                let length = (size[0] * size[1] * 4) as usize;
                let read = lab.mapped(&vec![0; length], vk::BufferUsageFlags::TRANSFER_DST)?;
                lab.run(|commands| {
                    lab.barrier(commands);
                    let layout = vk::ImageLayout::GENERAL;
                    // SAFETY: image and buffer live as long as the lab, and the buffer has room for the image.
                    unsafe {
                        lab.device.cmd_copy_image_to_buffer(
                            commands,
                            *image,
                            layout,
                            read.buffer,
                            &[whole(*size)],
                        );
                    }
                })?;
                lab.contents(&read, length)?
            }
        };
        let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Ok(match self.result {
            Reading::Floats => words.map(|word| f64::from(f32::from_bits(word).abs())).sum(),
            Reading::Words => words.map(f64::from).sum(),
            Reading::Bytes => bytes.iter().map(|&byte| f64::from(byte)).sum(),
        })
    }
}

/// A number that looks random, from 0 to 2^32 - 1.
fn noise(index: u32) -> u32 {
    let mixed = index.wrapping_add(1).wrapping_mul(0x9e37_79b9);
    (mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca6b)
}

fn bind(lab: &Lab<'_>, resource: &Resource) -> Result<Bound, Error> {
    let words = |count: u32, word: fn(u32) -> u32| -> Vec<u8> {
        (0..count).flat_map(|index| word(index).to_le_bytes()).collect()
    };
    let float = |index: u32| ((noise(index) >> 8) as f32 / (1 << 24) as f32).to_bits();
    let content = match *resource {
        Resource::Floats(count) => words(count, float),
        Resource::Words(count) => words(count, noise),
        Resource::Zeros(count) => words(count, |_| 0),
        Resource::Noise([width, height]) => words(width * height, noise),
        Resource::Target([width, height]) => words(width * height, |_| 0),
    };
    let (Resource::Noise(size) | Resource::Target(size)) = *resource else {
        let buffer = lab.mapped(&content, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        return Ok(Bound::Buffer(buffer, content.len()));
    };
    let format = vk::Format::R8G8B8A8_UNORM;
    let usage =
        vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = lab.image(&flat(size, format, vk::SampleCountFlags::TYPE_1, usage))?;
    let all = crate::vulkan::first_level(vk::ImageAspectFlags::COLOR);
    lab.upload(image, all, &content, &[whole(size)], vk::ImageLayout::GENERAL)?;
    Ok(Bound::Image(image, lab.view(image, format, vk::ImageAspectFlags::COLOR)?, size))
}

/// A pipeline layout of one set, and that set with `bound` in it.
fn descriptors(lab: &Lab<'_>, bound: &[Bound]) -> Result<(vk::PipelineLayout, vk::DescriptorSet), Error> {
    let ty = |bound: &Bound| match bound {
        Bound::Buffer(..) => vk::DescriptorType::STORAGE_BUFFER,
        Bound::Image(..) => vk::DescriptorType::STORAGE_IMAGE,
    };
    let bindings: Vec<_> = (0..)
        .zip(bound)
        .map(|(binding, bound)| {
            let binding =
                vk::DescriptorSetLayoutBinding::default().binding(binding).descriptor_type(ty(bound));
            binding.descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE)
        })
        .collect();
    let set_layouts = [lab.set_layout(&bindings)?];
    let layout = lab.pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts))?;
    let sizes: Vec<_> =
        bound.iter().map(|bound| vk::DescriptorPoolSize { ty: ty(bound), descriptor_count: 1 }).collect();
    let set = lab.set(set_layouts[0], &sizes)?;
    for (binding, bound) in (0..).zip(bound) {
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(ty(bound));
        let (buffer, image);
        let write = match *bound {
            Bound::Buffer(bound, _) => {
                buffer =
                    [vk::DescriptorBufferInfo { buffer: bound.buffer, offset: 0, range: vk::WHOLE_SIZE }];
                write.buffer_info(&buffer)
            }
            Bound::Image(_, image_view, _) => {
                let image_layout = vk::ImageLayout::GENERAL;
                image = [vk::DescriptorImageInfo { image_view, image_layout, ..Default::default() }];
                write.image_info(&image)
            }
        };
        // SAFETY: set, buffer and view live as long as the lab; nothing uses the set yet.
        unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
    }
    Ok((layout, set))
}
