//! Images of several planes: copies name planes, views of planes are images like others, and samplers that convert give the
//! colours that the specification's formulas say, to fragments and kernels alike.
#![cfg(feature = "compute")]

mod support;

use ash::vk;
use support::canvas::{Canvas, GENERAL, Mesh, Parts, Picture, Setup, draw, spirv_module};
use support::triangle::built;
use support::{Image, Vk, extent};

/// Pixels of the picture. Their middles are no edges of texels, of luma or chroma.
const EDGE: u32 = 96;
/// Texels of luma.
const SIZE: [u32; 2] = [36, 28];
const BINDING: u32 = 2;
/// The memory type of all uses that can be mapped.
const MAPPED_TYPE: u32 = 1 << 3;
const WORDS: u32 = 3;
const PUSH_BYTES: u32 = 8;
const STAGES: vk::ShaderStageFlags = vk::ShaderStageFlags::from_raw(
    vk::ShaderStageFlags::FRAGMENT.as_raw() | vk::ShaderStageFlags::COMPUTE.as_raw(),
);
const ASPECTS: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];

/// Components of every plane, and whether chroma has half the texels along each axis.
fn shape(format: vk::Format) -> (&'static [usize], [bool; 2]) {
    match format {
        vk::Format::G8_B8R8_2PLANE_420_UNORM => (&[1, 2], [true, true]),
        vk::Format::G8_B8_R8_3PLANE_420_UNORM => (&[1, 1, 1], [true, true]),
        vk::Format::G8_B8R8_2PLANE_422_UNORM => (&[1, 2], [true, false]),
        vk::Format::G8_B8_R8_3PLANE_422_UNORM => (&[1, 1, 1], [true, false]),
        vk::Format::G8_B8_R8_3PLANE_444_UNORM => (&[1, 1, 1], [false, false]),
        other => panic!("{other:?} has no planes"),
    }
}

/// The bytes of a plane.
#[derive(Clone, PartialEq, Debug)]
struct Plane {
    size: [u32; 2],
    components: usize,
    bytes: Vec<u8>,
}

impl Plane {
    /// The planes of an image; `byte` says those at a place of the image, for each component of all planes.
    fn all(format: vk::Format, size: [u32; 2], byte: impl Fn(u32, u32, usize) -> u8) -> Vec<Plane> {
        let (planes, halved) = shape(format);
        let mut first = 0;
        let plane = |(number, &components): (usize, &usize)| {
            let step = [0, 1].map(|axis| if number > 0 && halved[axis] { 2 } else { 1 });
            let size = [size[0] / step[0], size[1] / step[1]];
            let at = |n: u32| [n % size[0] * step[0], n / size[0] * step[1]];
            let texels = (0..size[0] * size[1]).map(at);
            let bytes = texels.flat_map(|[x, y]| (first..first + components).map(move |c| (x, y, c)));
            let bytes = bytes.map(|(x, y, component)| byte(x, y, component)).collect();
            first += components;
            Plane { size, components, bytes }
        };
        planes.iter().enumerate().map(plane).collect()
    }

    fn texel(&self, at: [i64; 2], component: usize) -> f64 {
        let [x, y] = [0, 1].map(|axis| at[axis].clamp(0, i64::from(self.size[axis]) - 1) as usize);
        f64::from(self.bytes[(y * self.size[0] as usize + x) * self.components + component]) / 255.0
    }

    /// A component at a place that counts texels.
    fn sampled(&self, place: [f64; 2], component: usize, linear: bool) -> f64 {
        if !linear {
            return self.texel(place.map(|c| c.floor() as i64), component);
        }
        let place = place.map(|c| c - 0.5);
        let (first, part) = (place.map(|c| c.floor() as i64), place.map(|c| c - c.floor()));
        let weight = |step: i64, part: f64| if step == 1 { part } else { 1.0 - part };
        let texel = |(x, y): (i64, i64)| {
            weight(x, part[0]) * weight(y, part[1]) * self.texel([first[0] + x, first[1] + y], component)
        };
        [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().map(texel).sum()
    }
}

/// Pseudo-random bytes.
fn noise(x: u32, y: u32, component: usize) -> u8 {
    let mixed =
        (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519)).wrapping_add(component as u32 * 97);
    (mixed.wrapping_mul(3_266_489_917) >> 24) as u8
}

/// Bytes that change by little from texel to texel.
fn slope(x: u32, y: u32, component: usize) -> u8 {
    (60 + [2 * x + y, 3 * x, 4 * y][component] % 150) as u8
}

/// An image of several planes in memory of its own, with what its planes hold.
struct Video {
    format: vk::Format,
    image: vk::Image,
    planes: Vec<Plane>,
}

fn region(plane: usize, size: [u32; 2]) -> vk::BufferImageCopy {
    let image_subresource =
        vk::ImageSubresourceLayers { aspect_mask: ASPECTS[plane], layer_count: 1, ..Default::default() };
    vk::BufferImageCopy { image_subresource, image_extent: extent(size[0], size[1]), ..Default::default() }
}

impl Video {
    fn info<'a>(format: vk::Format, size: [u32; 2]) -> vk::ImageCreateInfo<'a> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent(size[0], size[1]))
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .flags(vk::ImageCreateFlags::MUTABLE_FORMAT)
            .usage(
                vk::ImageUsageFlags::SAMPLED
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST,
            )
    }

    fn empty(vk: &Vk, format: vk::Format, size: [u32; 2]) -> Video {
        Video::lying(vk, format, size, &Video::info(format, size)).0
    }

    /// An image of this kind, and its memory, which may be mapped.
    fn lying(
        vk: &Vk,
        format: vk::Format,
        size: [u32; 2],
        info: &vk::ImageCreateInfo<'_>,
    ) -> (Video, vk::DeviceMemory) {
        // SAFETY: valid usage.
        unsafe {
            let image = vk.device.create_image(info, None).unwrap();
            let needed = vk.device.get_image_memory_requirements(image);
            let ty = MAPPED_TYPE & needed.memory_type_bits;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(needed.size)
                .memory_type_index(ty.trailing_zeros());
            let memory = vk.device.allocate_memory(&info, None).unwrap();
            vk.device.bind_image_memory(image, memory, 0).unwrap();
            (Video { format, image, planes: Plane::all(format, size, |_, _, _| 0) }, memory)
        }
    }

    fn new(vk: &Vk, format: vk::Format, size: [u32; 2], byte: fn(u32, u32, usize) -> u8) -> Video {
        Video::empty(vk, format, size).filled(vk, size, byte)
    }

    /// All planes filled from one buffer.
    fn filled(self, vk: &Vk, size: [u32; 2], byte: fn(u32, u32, usize) -> u8) -> Video {
        let video = Video { planes: Plane::all(self.format, size, byte), ..self };
        let bytes: Vec<u8> = video.planes.iter().flat_map(|plane| plane.bytes.clone()).collect();
        let buffer = vk.buffer_with(&bytes);
        let mut regions = Vec::new();
        let mut offset = 0;
        for (number, plane) in video.planes.iter().enumerate() {
            regions.push(vk::BufferImageCopy { buffer_offset: offset, ..region(number, plane.size) });
            offset += plane.bytes.len() as u64;
        }
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            device.cmd_copy_buffer_to_image(commands, buffer.handle, video.image, GENERAL, &regions);
        });
        video
    }

    /// What a plane holds.
    fn read(&self, vk: &Vk, number: usize) -> Vec<u8> {
        let plane = &self.planes[number];
        let buffer = vk.buffer(plane.bytes.len());
        let region = region(number, plane.size);
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            device.cmd_copy_image_to_buffer(commands, self.image, GENERAL, buffer.handle, &[region]);
        });
        buffer.read()
    }

    fn view(
        &self,
        vk: &Vk,
        format: vk::Format,
        aspect_mask: vk::ImageAspectFlags,
    ) -> Result<vk::ImageView, vk::Result> {
        let range =
            vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
        let info = vk::ImageViewCreateInfo::default()
            .image(self.image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        // SAFETY: valid usage, or refused.
        unsafe { vk.device.create_image_view(&info, None) }
    }
}

/// A conversion and the filters beside it.
#[derive(Clone, Copy, Debug)]
struct How {
    format: vk::Format,
    model: vk::SamplerYcbcrModelConversion,
    range: vk::SamplerYcbcrRange,
    location: [vk::ChromaLocation; 2],
    filter: vk::Filter,
    chroma_filter: vk::Filter,
    /// CB and CR exchanged, as in YV12 and NV21.
    exchanged: bool,
}

const BT601: How = How {
    format: vk::Format::G8_B8R8_2PLANE_420_UNORM,
    model: vk::SamplerYcbcrModelConversion::YCBCR_601,
    range: vk::SamplerYcbcrRange::ITU_NARROW,
    location: [vk::ChromaLocation::COSITED_EVEN, vk::ChromaLocation::MIDPOINT],
    filter: vk::Filter::NEAREST,
    chroma_filter: vk::Filter::NEAREST,
    exchanged: false,
};

impl How {
    fn info<'a>(&self) -> vk::SamplerYcbcrConversionCreateInfo<'a> {
        let mut components = vk::ComponentMapping::default();
        if self.exchanged {
            (components.r, components.b) = (vk::ComponentSwizzle::B, vk::ComponentSwizzle::R);
        }
        vk::SamplerYcbcrConversionCreateInfo::default()
            .format(self.format)
            .ycbcr_model(self.model)
            .ycbcr_range(self.range)
            .components(components)
            .x_chroma_offset(self.location[0])
            .y_chroma_offset(self.location[1])
            .chroma_filter(self.chroma_filter)
    }

    fn sampler(&self, vk: &Vk) -> (vk::SamplerYcbcrConversion, vk::Sampler) {
        // SAFETY: valid usage.
        unsafe {
            let conversion = vk.device.create_sampler_ycbcr_conversion(&self.info(), None).unwrap();
            let mut chained = vk::SamplerYcbcrConversionInfo::default().conversion(conversion);
            let info = vk::SamplerCreateInfo::default()
                .mag_filter(self.filter)
                .min_filter(self.filter)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .address_mode_w(vk::SamplerAddressMode::CLAMP_TO_EDGE)
                .push_next(&mut chained);
            (conversion, vk.device.create_sampler(&info, None).unwrap())
        }
    }

    /// Bytes of the colour at a place that counts luma texels ("Chroma Reconstruction", "Range Expansion", "Model Conversion").
    fn color(&self, planes: &[Plane], place: [f64; 2]) -> [f64; 3] {
        let (_, halved) = shape(self.format);
        let chroma_place = [0, 1].map(|axis| match (halved[axis], self.location[axis]) {
            (true, vk::ChromaLocation::COSITED_EVEN) => 0.5 * (place[axis] + 0.5),
            (true, _) => 0.5 * place[axis],
            (false, _) => place[axis],
        });
        let luma = planes[0].sampled(place, 0, self.filter == vk::Filter::LINEAR);
        let linear = self.chroma_filter == vk::Filter::LINEAR;
        let [blue, red] = match planes {
            [_, both] => [0, 1].map(|component| both.sampled(chroma_place, component, linear)),
            _ => [1, 2].map(|plane| planes[plane].sampled(chroma_place, 0, linear)),
        };
        let [blue, red] = if self.exchanged { [red, blue] } else { [blue, red] };
        let (y, cb, cr) = match self.range {
            vk::SamplerYcbcrRange::ITU_FULL => (luma, blue - 128.0 / 255.0, red - 128.0 / 255.0),
            _ => {
                ((luma * 255.0 - 16.0) / 219.0, (blue * 255.0 - 128.0) / 224.0, (red * 255.0 - 128.0) / 224.0)
            }
        };
        let rgb = match self.model {
            vk::SamplerYcbcrModelConversion::RGB_IDENTITY => [red, luma, blue],
            vk::SamplerYcbcrModelConversion::YCBCR_IDENTITY => [cr, y, cb],
            vk::SamplerYcbcrModelConversion::YCBCR_709 => [
                y + 1.5748 * cr,
                y - (0.133_974_32 / 0.7152) * cb - (0.334_802_48 / 0.7152) * cr,
                y + 1.8556 * cb,
            ],
            vk::SamplerYcbcrModelConversion::YCBCR_601 => {
                [y + 1.402 * cr, y - (0.202_008 / 0.587) * cb - (0.419_198 / 0.587) * cr, y + 1.772 * cb]
            }
            _ => [
                y + 1.4746 * cr,
                y - (0.111_567_02 / 0.6780) * cb - (0.387_377_42 / 0.6780) * cr,
                y + 1.8814 * cb,
            ],
        };
        rgb.map(|c| c.clamp(0.0, 1.0) * 255.0)
    }

    /// Steps of a byte by which a result may be off: a rounding, and of linear filters the unit's weights, in which noise is
    /// not looked at.
    fn bound(&self) -> f64 {
        match self.filter == vk::Filter::LINEAR || self.chroma_filter == vk::Filter::LINEAR {
            true => 2.5,
            false => 1.0,
        }
    }
}

/// Two images in one binding, with their samplers.
struct Scene {
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    words: support::Buffer,
}

impl Scene {
    fn new(vk: &Vk, hows: [How; 2], videos: [&Video; 2]) -> Scene {
        let samplers = hows.map(|how| how.sampler(vk));
        let immutable = samplers.map(|(_, sampler)| sampler);
        let words = vk.buffer((EDGE * EDGE * 4) as usize);
        let (texture, storage) =
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::DescriptorType::STORAGE_BUFFER);
        let binding = |number, ty| {
            vk::DescriptorSetLayoutBinding::default().binding(number).descriptor_type(ty).stage_flags(STAGES)
        };
        let bindings = [
            binding(BINDING, texture).descriptor_count(2).immutable_samplers(&immutable),
            binding(WORDS, storage).descriptor_count(1),
        ];
        let push = [vk::PushConstantRange { stage_flags: STAGES, offset: 0, size: PUSH_BYTES }];
        // SAFETY: valid usage.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let layouts = [vk.device.create_descriptor_set_layout(&info, None).unwrap()];
            let info =
                vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts).push_constant_ranges(&push);
            let layout = vk.device.create_pipeline_layout(&info, None).unwrap();
            let sizes = [(texture, 2), (storage, 1)]
                .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = vk.device.create_descriptor_pool(&info, None).unwrap();
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            let set = vk.device.allocate_descriptor_sets(&info).unwrap()[0];
            let images = [0, 1].map(|n| vk::DescriptorImageInfo {
                image_view: videos[n].view(vk, videos[n].format, vk::ImageAspectFlags::COLOR).unwrap(),
                image_layout: GENERAL,
                ..Default::default()
            });
            let buffers =
                [vk::DescriptorBufferInfo { buffer: words.handle, offset: 0, range: vk::WHOLE_SIZE }];
            let write = |binding, ty| {
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(ty)
            };
            // The second element alone, then both, as elements are written in any number.
            let writes = [
                write(BINDING, texture).dst_array_element(1).image_info(&images[..1]),
                write(BINDING, texture).image_info(&images),
                write(WORDS, storage).buffer_info(&buffers),
            ];
            vk.device.update_descriptor_sets(&writes, &[]);
            Scene { layout, set, words }
        }
    }

    fn bind(&self, device: &ash::Device, commands: vk::CommandBuffer, point: vk::PipelineBindPoint) {
        let push = [EDGE as f32; 2].map(f32::to_le_bytes).concat();
        // SAFETY: valid usage.
        unsafe {
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[self.set], &[]);
            device.cmd_push_constants(commands, self.layout, STAGES, 0, &push);
        }
    }

    /// What fragments see.
    fn drawn(&self, vk: &Vk, canvas: &Canvas) -> Picture {
        let spirv = |bytes: &[u8]| spirv_module(vk, bytes);
        let vertex = spirv(include_bytes!("../../tests/shaders/pos_color.vert.spv"));
        let fragment = spirv(include_bytes!("../../tests/shaders/ycbcr.frag.spv"));
        let formats = [support::canvas::POSITION, support::canvas::FLOAT_COLOR];
        let mut parts = Parts::new(vk, vertex, fragment, &formats);
        parts.layout = self.layout;
        let pipeline = built(vk, canvas, &Setup::default(), &parts);
        let mesh = Mesh::rect(vk, EDGE, [0.0, 0.0, EDGE as f32, EDGE as f32], 0.5, 0);
        canvas.draw(vk, canvas.whole(), |device, commands| {
            self.bind(device, commands, vk::PipelineBindPoint::GRAPHICS);
            draw(device, commands, pipeline, canvas, &mesh);
        })
    }

    /// What a kernel sees.
    fn computed(&self, vk: &Vk) -> Picture {
        let module = spirv_module(vk, include_bytes!("../../tests/shaders/ycbcr.comp.spv"));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout);
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            let pipeline = device.create_compute_pipelines(Default::default(), &[info], None).unwrap()[0];
            self.bind(device, commands, vk::PipelineBindPoint::COMPUTE);
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            device.cmd_dispatch(commands, EDGE / 8, EDGE / 8, 1);
        });
        Picture { width: EDGE, words: self.words.words() }
    }
}

/// Every pixel is the colour that the specification says of one of the two images.
#[track_caller]
fn check(what: &str, picture: &Picture, hows: [How; 2], videos: [&Video; 2]) {
    for (x, y) in (0..EDGE).flat_map(|y| (0..EDGE).map(move |x| (x, y))) {
        let number = usize::from(y & 4 != 0);
        let (how, video) = (&hows[number], videos[number]);
        let place = [0, 1].map(|axis| {
            (f64::from([x, y][axis]) + 0.5) * f64::from(video.planes[0].size[axis]) / f64::from(EDGE)
        });
        let want = how.color(&video.planes, place);
        let got = picture.at(x, y).to_le_bytes();
        for (component, want) in want.into_iter().enumerate() {
            let error = (f64::from(got[component]) - want).abs();
            assert!(
                error <= how.bound(),
                "{what} {how:?} at {x}, {y}: {got:?}, component {component} not {want}"
            );
        }
        assert_eq!(got[3], 255, "{what} {how:?}: alpha at {x}, {y}");
    }
}

/// Draws and computes.
fn see(vk: &Vk, canvas: &Canvas, hows: [How; 2], videos: [&Video; 2]) {
    let scene = Scene::new(vk, hows, videos);
    check("drawn", &scene.drawn(vk, canvas), hows, videos);
    check("computed", &scene.computed(vk), hows, videos);
}

fn start() -> (Vk, Canvas) {
    support::assembly::keep_log();
    let vk = Vk::of_version(vk::API_VERSION_1_1, &[]);
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    (vk, canvas)
}

const TWO: vk::Format = vk::Format::G8_B8R8_2PLANE_420_UNORM;
const THREE: vk::Format = vk::Format::G8_B8_R8_3PLANE_420_UNORM;

#[test]
fn colours_are_the_formulas() {
    let (vk, canvas) = start();
    let videos = [TWO, THREE].map(|format| Video::new(&vk, format, SIZE, noise));
    use vk::{SamplerYcbcrModelConversion as Model, SamplerYcbcrRange as Range};
    for (models, ranges) in [
        ([Model::RGB_IDENTITY, Model::YCBCR_IDENTITY], [Range::ITU_FULL; 2]),
        ([Model::YCBCR_601, Model::YCBCR_709], [Range::ITU_FULL, Range::ITU_NARROW]),
        ([Model::YCBCR_2020, Model::YCBCR_601], [Range::ITU_NARROW, Range::ITU_NARROW]),
    ] {
        let how = |n: usize| How {
            format: videos[n].format,
            model: models[n],
            range: ranges[n],
            exchanged: n == 1,
            ..BT601
        };
        see(&vk, &canvas, [how(0), how(1)], [&videos[0], &videos[1]]);
    }
}

#[test]
fn chroma_lies_where_the_conversion_says() {
    let (vk, canvas) = start();
    use vk::ChromaLocation as At;
    for (format, other) in [
        (TWO, THREE),
        (vk::Format::G8_B8R8_2PLANE_422_UNORM, vk::Format::G8_B8_R8_3PLANE_422_UNORM),
        (vk::Format::G8_B8_R8_3PLANE_444_UNORM, TWO),
    ] {
        for (byte, filters) in [
            (noise as fn(u32, u32, usize) -> u8, [vk::Filter::NEAREST; 2]),
            (slope, [vk::Filter::LINEAR; 2]),
            // Luma and chroma each in its own way.
            (slope, [vk::Filter::NEAREST, vk::Filter::LINEAR]),
        ] {
            let videos = [format, other].map(|format| Video::new(&vk, format, SIZE, byte));
            for locations in [
                [[At::COSITED_EVEN; 2], [At::MIDPOINT; 2]],
                [[At::MIDPOINT, At::COSITED_EVEN], [At::COSITED_EVEN, At::MIDPOINT]],
            ] {
                let how = |n: usize| How {
                    format: videos[n].format,
                    location: locations[n],
                    filter: filters[0],
                    chroma_filter: filters[1],
                    ..BT601
                };
                see(&vk, &canvas, [how(0), how(1)], [&videos[0], &videos[1]]);
            }
        }
    }
}

/// Images wider than the texture unit reads are looked up word by word.
#[test]
fn wide_images_are_seen_too() {
    let (vk, canvas) = start();
    let size = [2404, 12];
    let video = Video::new(&vk, TWO, size, noise);
    see(&vk, &canvas, [BT601, How { exchanged: true, ..BT601 }], [&video, &video]);
}

#[test]
fn copies_name_planes() {
    let (vk, _) = start();
    for format in [TWO, THREE, vk::Format::G8_B8_R8_3PLANE_444_UNORM] {
        let video = Video::new(&vk, format, SIZE, noise);
        let other = Video::empty(&vk, format, SIZE);
        let last = video.planes.len() - 1;
        for (number, plane) in video.planes.iter().enumerate() {
            assert_eq!(video.read(&vk, number), plane.bytes, "{format:?}, plane {number}");
        }
        // From plane to plane, and to an image of the plane's format.
        let layers =
            |aspect_mask| vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
        let plane = &video.planes[last];
        let part = if plane.components == 2 { vk::Format::R8G8_UNORM } else { vk::Format::R8_UNORM };
        let image = vk.image(part, plane.size[0], plane.size[1], vk::ImageUsageFlags::TRANSFER_SRC);
        let copy = |from: usize, to| vk::ImageCopy {
            src_subresource: layers(ASPECTS[from]),
            dst_subresource: layers(to),
            extent: extent(video.planes[from].size[0], video.planes[from].size[1]),
            ..Default::default()
        };
        let buffer = vk.buffer(plane.bytes.len());
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            let regions = [copy(last, ASPECTS[last]), copy(0, ASPECTS[0])];
            device.cmd_copy_image(commands, video.image, GENERAL, other.image, GENERAL, &regions);
            let whole = [copy(last, vk::ImageAspectFlags::COLOR)];
            device.cmd_copy_image(commands, video.image, GENERAL, image.handle, GENERAL, &whole);
            let region = vk::BufferImageCopy {
                image_subresource: layers(vk::ImageAspectFlags::COLOR),
                image_extent: extent(plane.size[0], plane.size[1]),
                ..Default::default()
            };
            device.cmd_copy_image_to_buffer(commands, image.handle, GENERAL, buffer.handle, &[region]);
        });
        assert_eq!(buffer.read(), plane.bytes, "{format:?}");
        for number in [0, last] {
            assert_eq!(other.read(&vk, number), video.planes[number].bytes, "{format:?}, plane {number}");
        }
    }
}

/// Linear images are the application's: it finds every plane where the layout of its aspect says.
#[test]
fn planes_have_rows() {
    let (vk, _) = start();
    for format in [TWO, THREE] {
        let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        let info = Video::info(format, SIZE).tiling(vk::ImageTiling::LINEAR).usage(usage);
        let (video, memory) = Video::lying(&vk, format, SIZE, &info);
        let video = video.filled(&vk, SIZE, noise);
        for (number, plane) in video.planes.iter().enumerate() {
            let place = vk::ImageSubresource { aspect_mask: ASPECTS[number], mip_level: 0, array_layer: 0 };
            let row = plane.size[0] as usize * plane.components;
            // SAFETY: valid usage; the rows lie inside the memory, as the layout says.
            let bytes: Vec<u8> = unsafe {
                let layout = vk.device.get_image_subresource_layout(video.image, place);
                assert!(layout.row_pitch >= row as u64, "{format:?}, plane {number}: {layout:?}");
                let flags = vk::MemoryMapFlags::empty();
                let start = vk.device.map_memory(memory, 0, vk::WHOLE_SIZE, flags).unwrap().cast::<u8>();
                let rows = (0..u64::from(plane.size[1])).flat_map(|y| {
                    let at = start.add((layout.offset + y * layout.row_pitch) as usize);
                    std::slice::from_raw_parts(at, row).to_vec()
                });
                let bytes = rows.collect();
                vk.device.unmap_memory(memory);
                bytes
            };
            assert_eq!(bytes, plane.bytes, "{format:?}, plane {number}");
            assert_eq!(video.read(&vk, number), plane.bytes, "{format:?}, plane {number}");
        }
    }
}

/// A plane is an image of its own format to whoever looks at it alone.
#[test]
fn planes_are_seen_alone() {
    let (vk, canvas) = start();
    let video = Video::new(&vk, THREE, SIZE, slope);
    for (number, plane) in video.planes.iter().enumerate() {
        let [width, height] = plane.size;
        let view = video.view(&vk, vk::Format::R8_UNORM, ASPECTS[number]).unwrap();
        let image = Image { handle: video.image, view, width, height };
        let alone = vk.image(vk::Format::R8_UNORM, width, height, vk::ImageUsageFlags::SAMPLED);
        let buffer = vk.buffer_with(&plane.bytes);
        let region = vk::BufferImageCopy {
            image_subresource: support::COLOR,
            image_extent: extent(width, height),
            ..Default::default()
        };
        // SAFETY: valid usage.
        vk.run(|device, commands| unsafe {
            device.cmd_copy_buffer_to_image(commands, buffer.handle, alone.handle, GENERAL, &[region]);
        });
        let shown = |image: &Image| {
            let resources = support::resources::Resources::new(&vk, image, &[0; 16]);
            let spirv = |bytes: &[u8]| spirv_module(&vk, bytes);
            let vertex = spirv(include_bytes!("../../tests/shaders/quad.vert.spv"));
            let fragment = spirv(include_bytes!("../../tests/shaders/quad.frag.spv"));
            let formats = [support::triangle::POSITION4, support::triangle::UV];
            let mut parts = Parts::new(&vk, vertex, fragment, &formats);
            parts.layout = resources.layout;
            let pipeline = built(&vk, &canvas, &Setup::default(), &parts);
            let mesh = support::triangle::quad(&vk);
            canvas.draw(&vk, canvas.whole(), |device, commands| {
                resources.bind(device, commands, &[0; support::resources::PUSH_BYTES as usize]);
                draw(device, commands, pipeline, &canvas, &mesh);
            })
        };
        let [got, want] = [shown(&image).words, shown(&alone).words];
        assert!(got == want, "plane {number}");
        assert!(want.iter().any(|word| word & 0xff > 60), "plane {number} shows something");
    }
}

const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const LINEAR: u64 = 0;

/// A frame as decoders of video lay it out: rows of one pitch, one plane behind the other, wherever that is.
struct Frame {
    layouts: Vec<vk::SubresourceLayout>,
    memory: vk::DeviceMemory,
    size: u64,
}

impl Frame {
    fn new(vk: &Vk, planes: &[Plane], pitch: u64, gap: u64) -> Frame {
        let mut size = 0;
        let mut layouts = Vec::new();
        for plane in planes {
            layouts.push(vk::SubresourceLayout { offset: size, row_pitch: pitch, ..Default::default() });
            size += pitch * u64::from(plane.size[1]) + gap;
        }
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(DMA_BUF);
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).push_next(&mut export);
        // SAFETY: valid usage; the memory is larger than what is written.
        let memory = unsafe {
            let memory = vk.device.allocate_memory(&info, None).unwrap();
            let all = vk.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()).unwrap();
            for (plane, layout) in planes.iter().zip(&layouts) {
                let row = plane.size[0] as usize * plane.components;
                for (y, bytes) in plane.bytes.chunks_exact(row).enumerate() {
                    let at = layout.offset as usize + y * pitch as usize;
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), all.cast::<u8>().add(at), row);
                }
            }
            memory
        };
        Frame { layouts, memory, size }
    }

    /// An image of planes of the frame.
    fn image(
        &self,
        vk: &Vk,
        format: vk::Format,
        size: [u32; 2],
        planes: std::ops::Range<usize>,
    ) -> Result<vk::Image, vk::Result> {
        let mut explicit = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
            .drm_format_modifier(LINEAR)
            .plane_layouts(&self.layouts[planes]);
        let mut external = vk::ExternalMemoryImageCreateInfo::default().handle_types(DMA_BUF);
        let info = Video::info(format, size)
            .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
            .push_next(&mut explicit)
            .push_next(&mut external);
        // SAFETY: valid usage, or refused.
        unsafe {
            let image = vk.device.create_image(&info, None)?;
            assert!(vk.device.get_image_memory_requirements(image).size <= self.size.next_multiple_of(4096));
            vk.device.bind_image_memory(image, self.memory, 0).unwrap();
            Ok(image)
        }
    }
}

/// What a decoder has written is seen where it lies, all planes at once or each as an image of its own.
#[test]
fn frames_of_others_are_seen_as_they_lie() {
    support::assembly::keep_log();
    let vk = Vk::of_version(
        vk::API_VERSION_1_2,
        &[
            c"VK_KHR_external_memory_fd",
            c"VK_EXT_external_memory_dma_buf",
            c"VK_EXT_image_drm_format_modifier",
        ],
    );
    let canvas = Canvas::new(&vk, EDGE, false, vk::AttachmentLoadOp::CLEAR);
    for (format, pitch, gap) in [(TWO, 64, 0), (THREE, 48, 16), (TWO, 96, 4096)] {
        let planes = Plane::all(format, SIZE, noise);
        let frame = Frame::new(&vk, &planes, pitch, gap);
        let image = frame.image(&vk, format, SIZE, 0..planes.len()).unwrap();
        let memory_planes = [
            vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
            vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
            vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
        ];
        for (plane, layout) in frame.layouts.iter().enumerate() {
            let asked = vk::ImageSubresource { aspect_mask: memory_planes[plane], ..Default::default() };
            // SAFETY: valid usage.
            let told = unsafe { vk.device.get_image_subresource_layout(image, asked) };
            assert_eq!((told.offset, told.row_pitch), (layout.offset, layout.row_pitch), "{format:?}");
        }
        let video = Video { format, image, planes };
        let how = How { format, ..BT601 };
        see(&vk, &canvas, [how, How { exchanged: true, ..how }], [&video, &video]);
        for (number, plane) in video.planes.iter().enumerate() {
            assert_eq!(video.read(&vk, number), plane.bytes, "{format:?}, plane {number}");
            // As libplacebo takes them.
            let part = if plane.components == 2 { vk::Format::R8G8_UNORM } else { vk::Format::R8_UNORM };
            let alone = frame.image(&vk, part, plane.size, number..number + 1).unwrap();
            let buffer = vk.buffer(plane.bytes.len());
            let region = vk::BufferImageCopy {
                image_subresource: support::COLOR,
                image_extent: extent(plane.size[0], plane.size[1]),
                ..Default::default()
            };
            // SAFETY: valid usage.
            vk.run(|device, commands| unsafe {
                device.cmd_copy_image_to_buffer(commands, alone, GENERAL, buffer.handle, &[region]);
            });
            assert_eq!(buffer.read(), plane.bytes, "{format:?}, plane {number} alone");
        }
        let wrong = Err(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
        assert_eq!(frame.image(&vk, format, SIZE, 0..1), wrong);
        let mut shifted = Frame { layouts: frame.layouts.clone(), ..frame };
        shifted.layouts[1].offset += 8;
        assert_eq!(shifted.image(&vk, format, SIZE, 0..video.planes.len()), wrong);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (vk, _) = start();
    let video = Video::new(&vk, TWO, SIZE, noise);
    for (format, aspect) in [
        // A plane that there is not, another number of bytes, one format for all planes.
        (vk::Format::R8_UNORM, vk::ImageAspectFlags::PLANE_2),
        (vk::Format::R8_UNORM, vk::ImageAspectFlags::PLANE_1),
        (vk::Format::R8_UNORM, vk::ImageAspectFlags::COLOR),
    ] {
        assert!(video.view(&vk, format, aspect).is_err(), "{format:?} {aspect:?}");
    }
    // SAFETY: valid usage, or refused.
    unsafe {
        for info in [
            // Rows are for copies.
            Video::info(TWO, SIZE).tiling(vk::ImageTiling::LINEAR),
            Video::info(TWO, SIZE).mip_levels(2),
            Video::info(TWO, SIZE).array_layers(2),
            Video::info(TWO, SIZE).samples(vk::SampleCountFlags::TYPE_4),
            Video::info(TWO, SIZE).usage(vk::ImageUsageFlags::COLOR_ATTACHMENT),
            Video::info(TWO, SIZE).usage(vk::ImageUsageFlags::STORAGE),
            Video::info(TWO, SIZE).flags(vk::ImageCreateFlags::DISJOINT),
            Video::info(TWO, SIZE).image_type(vk::ImageType::TYPE_3D),
        ] {
            let made = vk.device.create_image(&info, None);
            assert_eq!(made.err(), Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED), "{info:?}");
        }
        for info in [
            How { format: vk::Format::R8G8B8A8_UNORM, ..BT601 }.info(),
            How { format: vk::Format::UNDEFINED, ..BT601 }.info(),
            BT601.info().ycbcr_model(vk::SamplerYcbcrModelConversion::from_raw(77)),
            BT601.info().ycbcr_range(vk::SamplerYcbcrRange::from_raw(-1)),
            BT601.info().x_chroma_offset(vk::ChromaLocation::from_raw(9)),
        ] {
            assert!(vk.device.create_sampler_ycbcr_conversion(&info, None).is_err(), "{info:?}");
        }
        // Regions of no plane fail the recording.
        let buffer = vk.buffer(4096);
        for aspect_mask in [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::PLANE_2] {
            let mut region = region(0, [8, 8]);
            region.image_subresource.aspect_mask = aspect_mask;
            let commands = vk.commands(vk::CommandBufferLevel::PRIMARY);
            vk.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).unwrap();
            vk.device.cmd_copy_buffer_to_image(commands, buffer.handle, video.image, GENERAL, &[region]);
            assert!(vk.device.end_command_buffer(commands).is_err(), "{aspect_mask:?}");
        }
    }
}
