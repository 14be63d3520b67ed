//! Dispatches among other commands: between render passes that make what they read and use what they write, with a
//! pipeline cache, and without an end.

use std::path::Path;

use ash::vk;

use crate::outside::glsl;
use crate::vulkan::{
    Attachment, CLEAR_STORE, Error, Harness, Lab, Pipeline, Subpass, Target, area, color, first_level, flat,
    rectangle,
};

const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
const SIZE: [u32; 2] = [64, 64];
const TEXELS: usize = 64 * 64;

/// Turns a picture into a texture, and makes the vertices and the parameters of a draw.
const MAKE: &str = "#version 450\n\
    layout(local_size_x = 8, local_size_y = 8) in;\n\
    layout(binding = 0, rgba8) uniform readonly image2D drawn;\n\
    layout(binding = 1, rgba8) uniform writeonly image2D texture_;\n\
    layout(binding = 2, std430) buffer V { float v[36]; };\n\
    layout(binding = 3, std430) buffer I { uint i[4]; };\n\
    void main() {\n\
      ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
      imageStore(texture_, p, imageLoad(drawn, 63 - p).gbra + vec4(p.x / 255.0, 0.0, p.y / 255.0, 0.0));\n\
      if (p == ivec2(0)) {\n\
        const vec2 corners[6] = vec2[](vec2(0, 0), vec2(0, 1), vec2(1, 0), vec2(1, 0), vec2(0, 1), vec2(1, 1));\n\
        for (int n = 0; n < 6; n++) {\n\
          vec2 c = corners[n], q = c * 2.0 - 1.0;\n\
          v[6 * n] = q.x; v[6 * n + 1] = q.y; v[6 * n + 2] = 0.5; v[6 * n + 3] = 1.0; v[6 * n + 4] = c.x; v[6 * n + 5] = c.y;\n\
        }\n\
        i[0] = 6u; i[1] = 1u; i[2] = 0u; i[3] = 0u;\n\
      }\n\
    }\n";

/// Packs a picture that was drawn.
const TAKE: &str = "#version 450\n\
    layout(local_size_x = 8, local_size_y = 8) in;\n\
    layout(binding = 0) uniform sampler2D drawn;\n\
    layout(binding = 1, std430) buffer B { uint b[]; };\n\
    void main() {\n\
      ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
      b[p.x + 64 * p.y] = packUnorm4x8(texelFetch(drawn, p, 0));\n\
    }\n";

/// Packs the samples of a picture.
const TAKE_SAMPLES: &str = "#version 450\n\
    layout(local_size_x = 8, local_size_y = 8) in;\n\
    layout(binding = 0) uniform sampler2DMS drawn;\n\
    layout(binding = 1, std430) buffer B { uint b[]; };\n\
    void main() {\n\
      ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
      for (int s = 0; s < 4; s++) b[4 * (p.x + 64 * p.y) + s] = packUnorm4x8(texelFetch(drawn, p, s));\n\
      if (p == ivec2(63)) b[4 * 4096] = uint(textureSamples(drawn) + 16 * textureSize(drawn).x);\n\
    }\n";

/// Copies words, after so much work that the QPUs are the better ones at it. It does not say what it writes.
const COPY: &str = "#version 450\n\
    layout(local_size_x = 8, local_size_y = 8) in;\n\
    layout(binding = 0) uniform writeonly uimage2D dst;\n\
    layout(binding = 1, r32ui) uniform readonly uimage2D src;\n\
    void main() {\n\
      ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
      float sum = 0.0;\n\
      for (int y = 0; y < 2 + (p.y & 1); y++) for (int x = 0; x < 2 + (p.x & 1); x++) sum += sin(float(x * p.x + y));\n\
      imageStore(dst, p, imageLoad(src, p) + uint(sum > 100.0));\n\
    }\n";

/// A texture.
const PAINT: &str = "#version 450\n\
    layout(local_size_x = 8, local_size_y = 8) in;\n\
    layout(binding = 0, rgba8) uniform writeonly image2D texture_;\n\
    void main() {\n\
      ivec2 p = ivec2(gl_GlobalInvocationID.xy);\n\
      imageStore(texture_, p, vec4(p.x, p.y, p.x ^ p.y, 255) / 255.0);\n\
    }\n";

/// The vertices of two triangles, and words that nobody looks at.
const SHAPE: &str = "#version 450\n\
    layout(local_size_x = 64) in;\n\
    layout(binding = 0, std430) writeonly buffer V { float v[]; };\n\
    void main() {\n\
      uint n = gl_GlobalInvocationID.x, k = n / 6u, c = n % 6u;\n\
      float x = float(0x2cu >> k & 1u), y = float(0x32u >> k & 1u);\n\
      v[n] = c == 0u ? 2.0 * x - 1.0 : c == 1u ? 2.0 * y - 1.0 : c == 2u ? 0.5 : c == 3u ? 1.0 : c == 4u ? x : y;\n\
    }\n";

/// The parameters of a draw, and words that nobody looks at.
const COUNT: &str = "#version 450\n\
    layout(local_size_x = 64) in;\n\
    layout(binding = 0, std430) writeonly buffer I { uint i[]; };\n\
    void main() { uint n = gl_GlobalInvocationID.x; i[n] = n == 0u ? 6u : n == 1u ? 1u : 0u; }\n";

const ADD: &str = "#version 450\n\
    layout(local_size_x = 4) in;\n\
    layout(binding = 0, std430) buffer B { uint b[]; };\n\
    void main() { b[gl_LocalInvocationIndex] += gl_LocalInvocationIndex + 1u; }\n";

const ENDLESS: &str = "#version 450\n\
    layout(local_size_x = 4) in;\n\
    layout(binding = 0, std430) buffer B { uint b[]; };\n\
    void main() { while (atomicAdd(b[0], 0u) == 0u) b[1] += 1u; }\n";

fn compiled(directory: &Path, name: &str, source: &str) -> Result<Vec<u32>, Error> {
    let path = directory.join(format!("{name}.comp"));
    std::fs::write(&path, source)?;
    let module = directory.join(format!("{name}.spv"));
    glsl::compile(&path, &module)?;
    Ok(glsl::words(&module)?)
}

/// A descriptor of a set, and what is in it.
enum Slot {
    Buffer(vk::Buffer),
    Storage(vk::ImageView),
    Sampled(vk::ImageView, vk::Sampler),
}

impl Slot {
    fn ty(&self) -> vk::DescriptorType {
        match self {
            Slot::Buffer(_) => vk::DescriptorType::STORAGE_BUFFER,
            Slot::Storage(_) => vk::DescriptorType::STORAGE_IMAGE,
            Slot::Sampled(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        }
    }
}

/// A layout of pipelines and its set.
fn bind(lab: &Lab<'_>, slots: &[Slot]) -> Result<(vk::PipelineLayout, vk::DescriptorSet), Error> {
    let stages = vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT;
    let bindings: Vec<_> = (0..)
        .zip(slots)
        .map(|(number, slot)| {
            let binding = vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_count(1);
            binding.descriptor_type(slot.ty()).stage_flags(stages)
        })
        .collect();
    let set_layout = lab.set_layout(&bindings)?;
    let sizes: Vec<_> =
        slots.iter().map(|slot| vk::DescriptorPoolSize { ty: slot.ty(), descriptor_count: 1 }).collect();
    let set = lab.set(set_layout, &sizes)?;
    for (number, slot) in (0..).zip(slots) {
        let (mut buffer, mut image) =
            (vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE), vk::DescriptorImageInfo::default());
        image.image_layout = vk::ImageLayout::GENERAL;
        match *slot {
            Slot::Buffer(handle) => buffer.buffer = handle,
            Slot::Storage(view) => image.image_view = view,
            Slot::Sampled(view, sampler) => (image.image_view, image.sampler) = (view, sampler),
        }
        let (buffers, images) = ([buffer], [image]);
        let write =
            vk::WriteDescriptorSet::default().dst_set(set).dst_binding(number).descriptor_type(slot.ty());
        let write = match slot {
            Slot::Buffer(_) => write.buffer_info(&buffers),
            _ => write.image_info(&images),
        };
        // SAFETY: the handles come from the lab and live as long as it; nothing uses the set yet.
        unsafe { lab.device.update_descriptor_sets(&[write], &[]) };
    }
    let layouts = [set_layout];
    Ok((lab.pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts))?, set))
}

/// A kernel with its set.
struct Kernel {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

impl Kernel {
    fn new(lab: &Lab<'_>, words: &[u32], slots: &[Slot], cache: vk::PipelineCache) -> Result<Kernel, Error> {
        let (layout, set) = bind(lab, slots)?;
        Ok(Kernel { pipeline: lab.compute_pipeline(words, layout, &[], cache)?, layout, set })
    }

    fn dispatch(&self, lab: &Lab<'_>, commands: vk::CommandBuffer, groups: [u32; 3]) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: the handles come from the lab and live as long as it.
        unsafe {
            lab.device.cmd_bind_pipeline(commands, point, self.pipeline);
            lab.device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            lab.device.cmd_dispatch(commands, groups[0], groups[1], groups[2]);
        }
    }
}

fn image(lab: &Lab<'_>, usage: vk::ImageUsageFlags) -> Result<Target, Error> {
    let samples = vk::SampleCountFlags::TYPE_1;
    let image = lab.image(&flat(SIZE, RGBA, samples, usage))?;
    let view = lab.view(image, RGBA, vk::ImageAspectFlags::COLOR)?;
    Ok(Target { image, view, format: RGBA, samples, size: SIZE })
}

/// A picture is drawn, a kernel makes a texture, vertices and an indirect draw of it, a picture is drawn with these, and a
/// kernel packs that: all in one command buffer.
pub(super) fn passes(harness: &Harness, modules: &Path) -> Result<Vec<u8>, Error> {
    let lab = Lab::new(harness);
    let (attachment, sampled, storage) =
        (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::SAMPLED, vk::ImageUsageFlags::STORAGE);
    let [first, second] = [image(&lab, attachment | storage)?, image(&lab, attachment | sampled)?];
    let texture = image(&lab, storage | sampled | vk::ImageUsageFlags::TRANSFER_DST)?;
    let all = first_level(vk::ImageAspectFlags::COLOR);
    let region = [crate::vulkan::whole(SIZE)];
    lab.upload(texture.image, all, &[0; 4 * TEXELS], &region, vk::ImageLayout::GENERAL)?;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let vertices = lab.buffer(&[0; 4 * 36], usage | vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let indirect = lab.buffer(&[0; 16], usage | vk::BufferUsageFlags::INDIRECT_BUFFER)?;
    let packed = lab.mapped(&[0; 4 * TEXELS], usage)?;
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default())?;
    let none = vk::PipelineCache::null();
    let slots = [
        Slot::Storage(first.view),
        Slot::Storage(texture.view),
        Slot::Buffer(vertices),
        Slot::Buffer(indirect),
    ];
    let make = Kernel::new(&lab, &compiled(modules, "make", MAKE)?, &slots, none)?;
    let slots = [Slot::Sampled(second.view, sampler), Slot::Buffer(packed.buffer)];
    let take = Kernel::new(&lab, &compiled(modules, "take", TAKE)?, &slots, none)?;
    let pass = lab.pass(
        &[Attachment { format: RGBA, ..CLEAR_STORE }],
        &[Subpass { color: Some(0), ..Subpass::default() }],
    )?;
    let (layout, set) = bind(&lab, &[Slot::Sampled(texture.view, sampler)])?;
    let framebuffers = [lab.framebuffer(pass, &[first], SIZE)?, lab.framebuffer(pass, &[second], SIZE)?];
    // Colours of whole bytes, which leave nothing to round.
    let shapes = lab.vertices(&rectangle([-0.7, -0.4, 0.3, 0.9], 0.5, [230.0 / 255.0, 0.2, 0.6, 1.0]))?;
    let plain = lab.pipeline(pass, SIZE, &Pipeline::default())?;
    let textured = lab.pipeline(
        pass,
        SIZE,
        &Pipeline {
            vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/quad.vert.spv")),
            fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/quad.frag.spv")),
            stride: 24,
            attributes: vec![vk::Format::R32G32B32A32_SFLOAT, vk::Format::R32G32_SFLOAT],
            layout: Some(layout),
            ..Pipeline::default()
        },
    )?;
    let clears = [color([0.2, 0.4, 26.0 / 255.0, 1.0])];
    lab.run(|commands| {
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: the handles come from the lab and live as long as it.
        unsafe {
            lab.begin(commands, pass, framebuffers[0], area(SIZE), &clears);
            lab.draw(commands, plain, shapes, 6);
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            make.dispatch(&lab, commands, [8, 8, 1]);
            lab.barrier(commands);
            lab.begin(commands, pass, framebuffers[1], area(SIZE), &clears);
            lab.device.cmd_bind_pipeline(commands, point, textured);
            lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_draw_indirect(commands, indirect, 0, 1, 16);
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            take.dispatch(&lab, commands, [8, 8, 1]);
            lab.barrier(commands);
        }
    })?;
    lab.contents(&packed, 4 * TEXELS)
}

/// Kernels that are pictures make a texture, vertices and an indirect draw; a picture is drawn with these, a kernel packs it,
/// and both are copied: all in one command buffer.
pub(super) fn pictures(harness: &Harness, modules: &Path) -> Result<Vec<u8>, Error> {
    let lab = Lab::new(harness);
    let (attachment, sampled, storage) =
        (vk::ImageUsageFlags::COLOR_ATTACHMENT, vk::ImageUsageFlags::SAMPLED, vk::ImageUsageFlags::STORAGE);
    let drawn = image(&lab, attachment | sampled | vk::ImageUsageFlags::TRANSFER_SRC)?;
    let texture = image(&lab, storage | sampled | vk::ImageUsageFlags::TRANSFER_SRC)?;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    // Nothing that a kernel writes is there before.
    let vertices = lab.mapped(&[0xa5; 4 * TEXELS], usage | vk::BufferUsageFlags::VERTEX_BUFFER)?;
    let indirect = lab.mapped(&[0; 4 * TEXELS], usage | vk::BufferUsageFlags::INDIRECT_BUFFER)?;
    let packed = lab.mapped(&[0; 4 * TEXELS], usage)?;
    let copies = [(); 2].map(|()| lab.mapped(&[0; 4 * TEXELS], vk::BufferUsageFlags::TRANSFER_DST));
    let [first_copy, second_copy] = copies;
    let copies = [(texture.image, first_copy?), (drawn.image, second_copy?)];
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default())?;
    let none = vk::PipelineCache::null();
    let kernel =
        |name, source, slots: &[Slot]| Kernel::new(&lab, &compiled(modules, name, source)?, slots, none);
    let paint = kernel("paint", PAINT, &[Slot::Storage(texture.view)])?;
    let shape = kernel("shape", SHAPE, &[Slot::Buffer(vertices.buffer)])?;
    let count = kernel("count", COUNT, &[Slot::Buffer(indirect.buffer)])?;
    let take =
        kernel("take_drawn", TAKE, &[Slot::Sampled(drawn.view, sampler), Slot::Buffer(packed.buffer)])?;
    let pass = lab.pass(
        &[Attachment { format: RGBA, ..CLEAR_STORE }],
        &[Subpass { color: Some(0), ..Subpass::default() }],
    )?;
    let (layout, set) = bind(&lab, &[Slot::Sampled(texture.view, sampler)])?;
    let framebuffer = lab.framebuffer(pass, &[drawn], SIZE)?;
    let textured = lab.pipeline(
        pass,
        SIZE,
        &Pipeline {
            vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/quad.vert.spv")),
            fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/quad.frag.spv")),
            stride: 24,
            attributes: vec![vk::Format::R32G32B32A32_SFLOAT, vk::Format::R32G32_SFLOAT],
            layout: Some(layout),
            ..Pipeline::default()
        },
    )?;
    let point = vk::PipelineBindPoint::GRAPHICS;
    lab.run(|commands| {
        // SAFETY: the handles come from the lab and live as long as it.
        unsafe {
            to_general(&lab, commands, texture.image);
            paint.dispatch(&lab, commands, [8, 8, 1]);
            shape.dispatch(&lab, commands, [64, 1, 1]);
            count.dispatch(&lab, commands, [64, 1, 1]);
            lab.barrier(commands);
            lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.2, 0.4, 0.0, 1.0])]);
            lab.device.cmd_bind_pipeline(commands, point, textured);
            lab.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices.buffer], &[0]);
            lab.device.cmd_draw_indirect(commands, indirect.buffer, 0, 1, 16);
            lab.device.cmd_end_render_pass(commands);
            lab.barrier(commands);
            take.dispatch(&lab, commands, [8, 8, 1]);
            for (image, buffer) in &copies {
                let (general, regions) = (vk::ImageLayout::GENERAL, [crate::vulkan::whole(SIZE)]);
                lab.device.cmd_copy_image_to_buffer(commands, *image, general, buffer.buffer, &regions);
            }
            lab.barrier(commands);
        }
    })?;
    let mut bytes = lab.contents(&packed, 4 * TEXELS)?;
    for (_, buffer) in &copies {
        bytes.extend(lab.contents(buffer, 4 * TEXELS)?);
    }
    Ok(bytes)
}

/// The first use of an image that kernels write.
///
/// # Safety
/// Commands and image come from the lab.
unsafe fn to_general(lab: &Lab<'_>, commands: vk::CommandBuffer, image: vk::Image) {
    let barrier = vk::ImageMemoryBarrier::default()
        .image(image)
        .new_layout(vk::ImageLayout::GENERAL)
        .dst_access_mask(vk::AccessFlags::SHADER_WRITE)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .subresource_range(first_level(vk::ImageAspectFlags::COLOR));
    let (before, behind) = (vk::PipelineStageFlags::TOP_OF_PIPE, vk::PipelineStageFlags::COMPUTE_SHADER);
    // SAFETY: as the caller says.
    unsafe {
        let none = vk::DependencyFlags::empty();
        lab.device.cmd_pipeline_barrier(commands, before, behind, none, &[], &[], &[barrier]);
    }
}

/// A kernel reads the samples of a picture of which two in four were drawn.
pub(super) fn samples(harness: &Harness, modules: &Path) -> Result<Vec<u8>, Error> {
    let lab = Lab::new(harness);
    let count = vk::SampleCountFlags::TYPE_4;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let image = lab.image(&flat(SIZE, RGBA, count, usage))?;
    let view = lab.view(image, RGBA, vk::ImageAspectFlags::COLOR)?;
    let target = Target { image, view, format: RGBA, samples: count, size: SIZE };
    let attachment = Attachment { format: RGBA, samples: count, ..CLEAR_STORE };
    let pass = lab.pass(&[attachment], &[Subpass { color: Some(0), ..Subpass::default() }])?;
    let framebuffer = lab.framebuffer(pass, &[target], SIZE)?;
    // Edges of pixels, so that only the mask tells samples apart.
    let shapes = lab.vertices(&rectangle([-0.75, -0.5, 0.5, 0.25], 0.5, [0.2, 0.6, 0.8, 1.0]))?;
    let pipeline =
        lab.pipeline(pass, SIZE, &Pipeline { samples: count, mask: Some(0b0101), ..Pipeline::default() })?;
    let packed = lab.mapped(&[0; 16 * TEXELS + 4], vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let sampler = lab.sampler(&vk::SamplerCreateInfo::default())?;
    let words = compiled(modules, "take_samples", TAKE_SAMPLES)?;
    let slots = [Slot::Sampled(view, sampler), Slot::Buffer(packed.buffer)];
    let take = Kernel::new(&lab, &words, &slots, vk::PipelineCache::null())?;
    lab.run(|commands| {
        lab.begin(commands, pass, framebuffer, area(SIZE), &[color([0.4, 0.0, 1.0, 0.6])]);
        lab.draw(commands, pipeline, shapes, 6);
        // SAFETY: the pass was begun here.
        unsafe { lab.device.cmd_end_render_pass(commands) };
        lab.barrier(commands);
        take.dispatch(&lab, commands, [8, 8, 1]);
        lab.barrier(commands);
    })?;
    lab.contents(&packed, 16 * TEXELS + 4)
}

/// Two pipelines of one kernel from one cache, both run; the data of the cache make one again.
pub(super) fn cached(harness: &Harness, modules: &Path) -> Result<Vec<u8>, Error> {
    let lab = Lab::new(harness);
    let buffer = lab.mapped(&[0; 16], vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let words = compiled(modules, "add", ADD)?;
    let cache = lab.pipeline_cache(&[])?;
    let first = Kernel::new(&lab, &words, &[Slot::Buffer(buffer.buffer)], cache)?;
    let second = Kernel::new(&lab, &words, &[Slot::Buffer(buffer.buffer)], cache)?;
    // SAFETY: the cache comes from this device and lives as long as the lab.
    let data = unsafe { lab.device.get_pipeline_cache_data(cache) }?;
    let third = Kernel::new(&lab, &words, &[Slot::Buffer(buffer.buffer)], lab.pipeline_cache(&data)?)?;
    lab.run(|commands| {
        for kernel in [&first, &second, &third] {
            kernel.dispatch(&lab, commands, [1, 1, 1]);
            lab.barrier(commands);
        }
    })?;
    lab.contents(&buffer, 16)
}

/// A kernel that does not end: the device is lost, and the next one works.
///
/// # Errors
/// What is wrong.
pub fn endless(modules: &Path) -> Result<(), Error> {
    let words = compiled(modules, "endless", ENDLESS)?;
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let buffer = lab.mapped(&[0; 16], vk::BufferUsageFlags::STORAGE_BUFFER)?;
    let kernel = Kernel::new(&lab, &words, &[Slot::Buffer(buffer.buffer)], vk::PipelineCache::null())?;
    match lab.run(|commands| kernel.dispatch(&lab, commands, [2, 1, 1])) {
        Ok(()) => return Err("a kernel without an end ended".into()),
        Err(error) if error.to_string().contains("ERROR_DEVICE_LOST") => {}
        Err(error) => return Err(error),
    }
    let next = Harness::new()?;
    let sums = cached(&next, modules)?;
    let expected: Vec<u8> = (1..5u32).flat_map(|n| (3 * n).to_le_bytes()).collect();
    if sums == expected { Ok(()) } else { Err(format!("the next device computes {sums:?}").into()) }
}

/// Dispatches the same kernel, and looks at what it leaves, until it is enough.
///
/// # Errors
/// What is wrong.
pub fn repeated(modules: &Path, is_enough: &dyn Fn() -> bool) -> Result<(), Error> {
    let words = compiled(modules, "copy", COPY)?;
    let harness = Harness::new()?;
    let lab = Lab::new(&harness);
    let format = vk::Format::R32_UINT;
    let copies = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    let images = [0, 1].map(|_| {
        let usage = vk::ImageUsageFlags::STORAGE | copies;
        lab.image(&flat(SIZE, format, vk::SampleCountFlags::TYPE_1, usage))
    });
    let [copy, source] = images;
    let [copy, source] = [copy?, source?];
    let content: Vec<u8> =
        (0..TEXELS as u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    let (all, region) = (first_level(vk::ImageAspectFlags::COLOR), [crate::vulkan::whole(SIZE)]);
    lab.upload(source, all, &content, &region, vk::ImageLayout::GENERAL)?;
    let slots =
        [copy, source].map(|image| lab.view(image, format, vk::ImageAspectFlags::COLOR).map(Slot::Storage));
    let slots = slots.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kernel = Kernel::new(&lab, &words, &slots, vk::PipelineCache::null())?;
    let result = lab.mapped(&vec![0; content.len()], vk::BufferUsageFlags::TRANSFER_DST)?;
    while !is_enough() {
        lab.upload(copy, all, &vec![0; content.len()], &region, vk::ImageLayout::GENERAL)?;
        lab.run(|commands| {
            kernel.dispatch(&lab, commands, [8, 8, 1]);
            lab.barrier(commands);
            // SAFETY: image and buffer live as long as the lab, and the region fits both.
            unsafe {
                let layout = vk::ImageLayout::GENERAL;
                lab.device.cmd_copy_image_to_buffer(commands, copy, layout, result.buffer, &region);
            }
            lab.barrier(commands);
        })?;
        if lab.contents(&result, content.len())? != content {
            return Err("a copy differs".into());
        }
    }
    Ok(())
}
