//! Copies, blits and clears on whatever driver the loader finds: each case ends in bytes, which two drivers' runs
//! can be compared by.

use ash::vk;
use vc4::image::texel::TexelInfo;
use vc4::state::ColorKind;

use crate::harness::{Buffer, Error, Harness, Named};

/// One case.
pub struct Case {
    /// Name, for messages.
    pub name: String,
    /// Format of the texels that it ends in.
    format: vk::Format,
    work: Work,
}

enum Work {
    /// Texels go up, from image to image between levels and layers, whole and in parts, and down with gaps.
    Copy(vk::ImageType),
    /// Texels of a format are blitted into the case's: source corners, destination corners, filter.
    Blit { from: vk::Format, volume: bool, src: [i32; 2], dst: [i32; 2], filter: vk::Filter },
    /// A level, a layer and then all are cleared.
    Clear([u32; 4], vk::ImageType),
}

/// Pixels of level 0: no multiple of any tile, utile or block, and several tiles.
const SIZE: vk::Extent3D = vk::Extent3D { width: 150, height: 133, depth: 1 };
const VOLUME: vk::Extent3D = vk::Extent3D { width: 19, height: 13, depth: 7 };
const LEVELS: u32 = 3;
const LAYERS: u32 = 2;

/// Formats whose copies are bitwise.
const COLORS: [vk::Format; 31] = [
    vk::Format::R4G4B4A4_UNORM_PACK16,
    vk::Format::R5G6B5_UNORM_PACK16,
    vk::Format::A1R5G5B5_UNORM_PACK16,
    vk::Format::R8_UNORM,
    vk::Format::R8_SNORM,
    vk::Format::R8_UINT,
    vk::Format::R8G8_UNORM,
    vk::Format::R8G8_SINT,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R8G8B8A8_SNORM,
    vk::Format::R8G8B8A8_SINT,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::A8B8G8R8_UINT_PACK32,
    vk::Format::A2B10G10R10_UNORM_PACK32,
    vk::Format::A2B10G10R10_UINT_PACK32,
    vk::Format::R16_UINT,
    vk::Format::R16_SFLOAT,
    vk::Format::R16G16_SINT,
    vk::Format::R16G16_SFLOAT,
    vk::Format::R16G16B16A16_UINT,
    vk::Format::R16G16B16A16_SFLOAT,
    vk::Format::R32_SINT,
    vk::Format::R32_SFLOAT,
    vk::Format::R32G32_UINT,
    vk::Format::R32G32_SFLOAT,
    vk::Format::R32G32B32A32_SINT,
    vk::Format::R32G32B32A32_SFLOAT,
    vk::Format::B10G11R11_UFLOAT_PACK32,
    vk::Format::E5B9G9R9_UFLOAT_PACK32,
];

const DEPTHS: [vk::Format; 4] = [
    vk::Format::D16_UNORM,
    vk::Format::X8_D24_UNORM_PACK32,
    vk::Format::D24_UNORM_S8_UINT,
    vk::Format::D32_SFLOAT,
];

const BLOCKS: [vk::Format; 4] = [
    vk::Format::ETC2_R8G8B8_UNORM_BLOCK,
    vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK,
    vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK,
    vk::Format::EAC_R11G11_SNORM_BLOCK,
];

/// Every case.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, format, work| cases.push(Case { name, format, work });
    for format in COLORS.into_iter().chain(DEPTHS).chain(BLOCKS) {
        add(format!("copy {format:?}"), format, Work::Copy(vk::ImageType::TYPE_2D));
    }
    for format in COLORS {
        add(format!("copy volumes of {format:?}"), format, Work::Copy(vk::ImageType::TYPE_3D));
        let words = clear_words(format);
        add(format!("clear {format:?}"), format, Work::Clear(words, vk::ImageType::TYPE_2D));
        add(format!("clear a volume of {format:?}"), format, Work::Clear(words, vk::ImageType::TYPE_3D));
    }
    for format in DEPTHS {
        let words = [0.3f32.to_bits(), 0xa5, 0, 0];
        add(format!("clear {format:?}"), format, Work::Clear(words, vk::ImageType::TYPE_2D));
    }
    for (index, to) in COLORS.into_iter().enumerate() {
        for from in COLORS.into_iter().chain(BLOCKS).skip(index % 3).step_by(3) {
            for linear in [false, true] {
                let integer = |format| info(format).is_some_and(|info| info.is_integer());
                if kind(from) != kind(to) || linear && integer(to) {
                    continue;
                }
                let volume = index % 4 == 3 && !BLOCKS.contains(&from);
                // Enlarged, mirrored, moved and reduced: distances in the source are odd where they change, which
                // leaves no tie between texels.
                let (src, dst) = match index % 3 {
                    _ if volume => ([0, 99], [11, 2]),
                    0 => ([3, 40], [60, 5]),
                    1 => ([5, 50], [0, 45]),
                    _ => ([0, 53], [7, 24]),
                };
                let filter = if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                let work = Work::Blit { from, volume, src, dst, filter };
                add(format!("blit {from:?} to {to:?}, {filter:?}, {src:?} to {dst:?}"), to, work);
            }
        }
    }
    cases
}

/// What a format's texels are; of blocks, decoded.
fn info(format: vk::Format) -> Option<TexelInfo> {
    TexelInfo::of_name(match format {
        vk::Format::ETC2_R8G8B8A1_SRGB_BLOCK => "R8G8B8A8_SRGB",
        vk::Format::ETC2_R8G8B8_UNORM_BLOCK | vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK => "R8G8B8A8_UNORM",
        vk::Format::EAC_R11G11_SNORM_BLOCK => "R16G16_SNORM",
        _ => return TexelInfo::of_name(&format!("{format:?}")),
    })
}

/// 0 for what is no integer, else by sign.
fn kind(format: vk::Format) -> u32 {
    match info(format).map(|info| info.kind) {
        Some(ColorKind::Uint) => 1,
        Some(ColorKind::Sint) => 2,
        _ => 0,
    }
}

fn clear_words(format: vk::Format) -> [u32; 4] {
    match kind(format) {
        0 => [0.1f32, 0.7, 0.4, 0.8].map(f32::to_bits),
        _ => [1, 2, 3, 1],
    }
}

/// Bytes of a texel or block in buffers, and the edge of a block.
fn element(format: vk::Format) -> (u32, u32) {
    match format {
        vk::Format::D16_UNORM => (2, 1),
        vk::Format::ETC2_R8G8B8A8_UNORM_BLOCK | vk::Format::EAC_R11G11_SNORM_BLOCK => (16, 4),
        _ if BLOCKS.contains(&format) => (8, 4),
        _ => (info(format).map_or(4, |info| info.bytes), 1),
    }
}

fn aspect(format: vk::Format) -> vk::ImageAspectFlags {
    if DEPTHS.contains(&format) { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR }
}

/// The same bytes on every driver, meaningful in every format: no NaN, depths up to 1, no -128.
fn content(format: vk::Format, texels: usize) -> Vec<u8> {
    let mut state = 0x2545_f491u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let (bytes, _) = element(format);
    let mut content = Vec::new();
    for _ in 0..texels {
        let fraction = (random() >> 8) as f32 / (1 << 24) as f32;
        let texel = match (format, info(format)) {
            (vk::Format::D32_SFLOAT, _) => fraction.to_bits().into(),
            (_, Some(info)) if !BLOCKS.contains(&format) => {
                let mut component = || match info.kind {
                    ColorKind::Uint => random() >> 3,
                    ColorKind::Sint => (random() as i32 >> 3) as u32,
                    _ => ((random() >> 8) as f32 / (1 << 24) as f32 * 2.0 - 0.6).to_bits(),
                };
                info.encode([component(), component(), component(), component()])
            }
            _ => [(); 4].map(|()| u128::from(random())).iter().fold(0, |all, word| all << 32 | word),
        };
        content.extend_from_slice(&texel.to_le_bytes()[..bytes as usize]);
    }
    content
}

impl Case {
    /// Why results differ; `None` if they do not, or by no more than the format's rounding.
    pub fn difference(&self, ours: &[u8], theirs: &[u8]) -> Option<String> {
        if ours.len() != theirs.len() {
            return Some(format!("{} bytes beside {}", ours.len(), theirs.len()));
        }
        let exact = !matches!(self.work, Work::Blit { .. } | Work::Clear(..));
        let Some(info) = info(self.format).filter(|_| !exact) else {
            let at = ours.iter().zip(theirs).position(|(a, b)| a != b)?;
            return Some(format!("byte {at} is {:#x} beside {:#x}", ours[at], theirs[at]));
        };
        let bytes = info.bytes as usize;
        ours.chunks_exact(bytes).zip(theirs.chunks_exact(bytes)).enumerate().find_map(|(at, (a, b))| {
            let (a, b) = (info.decode(info.load(a)), info.decode(info.load(b)));
            let close = (0..4).all(|n| close(&info, n, a[n], b[n]));
            (!close).then(|| format!("texel {at} is {:?} beside {:?}", show(&info, a), show(&info, b)))
        })
    }

    /// Runs the case; `None` if the device has no such image or blit.
    pub fn run(&self, harness: &Harness) -> Result<Option<Vec<u8>>, Error> {
        let optimal = |format| harness.optimal_features(format);
        let needed = vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR;
        match self.work {
            Work::Blit { from, filter, .. } => {
                let source = optimal(from).contains(vk::FormatFeatureFlags::BLIT_SRC);
                let target = optimal(self.format).contains(vk::FormatFeatureFlags::BLIT_DST);
                let linear = filter == vk::Filter::NEAREST || optimal(from).contains(needed);
                if !(source && target && linear) {
                    return Ok(None);
                }
            }
            _ if optimal(self.format).is_empty() => return Ok(None),
            _ => {}
        }
        match &self.work {
            Work::Copy(ty) => self.copy(harness, *ty).map(Some),
            Work::Clear(words, ty) => self.clear(harness, *words, *ty).map(Some),
            Work::Blit { from, volume, src, dst, filter } => {
                self.blit(harness, *from, *volume, *src, *dst, *filter).map(Some)
            }
        }
    }

    fn copy(&self, harness: &Harness, ty: vk::ImageType) -> Result<Vec<u8>, Error> {
        let source = Image::new(harness, self.format, ty)?;
        let target = Image::new(harness, self.format, ty)?;
        source.upload(harness)?;
        target.upload(harness)?;
        let (_, block) = element(self.format);
        // From level 1 to level 0, and from level 0 to level 0 of another layer.
        let whole = source.extent(1);
        let cut = |edge: u32| (edge / 2).max(1) / block * block;
        let depth = if ty == vk::ImageType::TYPE_3D { 2 } else { 1 };
        let at = |x, y| vk::Offset3D { x, y, z: depth as i32 - 1 };
        let edge = block as i32;
        let regions = [
            vk::ImageCopy {
                src_subresource: source.layers(1, 0, source.layers),
                src_offset: at(0, edge),
                dst_subresource: source.layers(0, 0, source.layers),
                dst_offset: at(edge, 2 * edge),
                extent: vk::Extent3D { width: cut(whole.width), height: cut(whole.height), depth },
            },
            vk::ImageCopy {
                src_subresource: source.layers(0, source.layers - 1, 1),
                src_offset: at(3 * edge, edge),
                dst_subresource: source.layers(2, 0, 1),
                dst_offset: vk::Offset3D::default(),
                extent: vk::Extent3D { width: block, height: block, depth: 1 },
            },
        ];
        // Parts that begin and end where tiles do, and a whole level.
        let same = |mip_level, x, extent| vk::ImageCopy {
            src_subresource: source.layers(mip_level, 0, source.layers),
            src_offset: vk::Offset3D { x, y: 0, z: 0 },
            dst_subresource: source.layers(mip_level, 0, source.layers),
            dst_offset: vk::Offset3D { x, y: 0, z: 0 },
            extent,
        };
        let tiles = vk::Extent3D { width: 64, height: 128, depth: 1 };
        let parts = [same(0, 64, tiles), same(1, 0, source.extent(1))];
        let parts = if ty == vk::ImageType::TYPE_2D { &parts[..] } else { &parts[1..] };
        // SAFETY: handles live until `destroy`; regions lie inside.
        harness.submit(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            harness.device.cmd_copy_image(commands, source.image, general, target.image, general, &regions);
            harness.device.cmd_copy_image(commands, source.image, general, target.image, general, parts);
        })?;
        let mut bytes = target.download(harness)?;
        // The bits above a 24-bit depth are undefined.
        if matches!(self.format, vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT) {
            bytes.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = 0);
        }
        source.destroy(harness);
        target.destroy(harness);
        Ok(bytes)
    }

    fn clear(&self, harness: &Harness, words: [u32; 4], ty: vk::ImageType) -> Result<Vec<u8>, Error> {
        let image = Image::new(harness, self.format, ty)?;
        image.upload(harness)?;
        let aspects = match self.format {
            vk::Format::D24_UNORM_S8_UINT => vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL,
            format => aspect(format),
        };
        let range = |base_mip_level, level_count, base_array_layer, layer_count| vk::ImageSubresourceRange {
            aspect_mask: aspects,
            base_mip_level,
            level_count,
            base_array_layer,
            layer_count,
        };
        let last = image.layers - 1;
        let ranges =
            [range(1, vk::REMAINING_MIP_LEVELS, 0, 1), range(0, 1, last, vk::REMAINING_ARRAY_LAYERS)];
        // SAFETY: handles live until `destroy`.
        harness.submit(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            if aspect(self.format) == vk::ImageAspectFlags::COLOR {
                let value = vk::ClearColorValue { uint32: words };
                harness.device.cmd_clear_color_image(commands, image.image, general, &value, &ranges);
            } else {
                let value = vk::ClearDepthStencilValue { depth: f32::from_bits(words[0]), stencil: words[1] };
                harness.device.cmd_clear_depth_stencil_image(commands, image.image, general, &value, &ranges);
            }
        })?;
        let mut bytes = image.download(harness)?;
        if matches!(self.format, vk::Format::X8_D24_UNORM_PACK32 | vk::Format::D24_UNORM_S8_UINT) {
            bytes.iter_mut().skip(3).step_by(4).for_each(|byte| *byte = 0);
        }
        image.destroy(harness);
        Ok(bytes)
    }

    fn blit(
        &self,
        harness: &Harness,
        from: vk::Format,
        volume: bool,
        src: [i32; 2],
        dst: [i32; 2],
        filter: vk::Filter,
    ) -> Result<Vec<u8>, Error> {
        let ty = if volume { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D };
        let source = Image::new(harness, from, ty)?;
        let target = Image::new(harness, self.format, ty)?;
        source.upload(harness)?;
        target.upload(harness)?;
        // The same map for all axes, cut down to what a volume has.
        let corner = |image: &Image, at: i32, z: i32| {
            let edge = image.extent(0);
            let inside = |at: i32, edge: u32| at.min(edge as i32);
            vk::Offset3D { x: inside(at, edge.width), y: inside(at, edge.height), z: inside(z, edge.depth) }
        };
        let depth = source.extent(0).depth as i32;
        let regions = [vk::ImageBlit {
            src_subresource: source.layers(0, 0, source.layers),
            src_offsets: [corner(&source, src[0], 0), corner(&source, src[1], depth)],
            dst_subresource: target.layers(0, 0, target.layers),
            dst_offsets: [corner(&target, dst[0], 0), corner(&target, dst[1], depth)],
        }];
        // SAFETY: handles live until `destroy`; regions lie inside.
        harness.submit(|commands| unsafe {
            let general = vk::ImageLayout::GENERAL;
            harness.device.cmd_blit_image(
                commands,
                source.image,
                general,
                target.image,
                general,
                &regions,
                filter,
            );
        })?;
        let bytes = target.download(harness)?;
        source.destroy(harness);
        target.destroy(harness);
        Ok(bytes)
    }
}

/// Whether a component is the same up to the rounding of conversions.
fn close(info: &TexelInfo, component: usize, a: u32, b: u32) -> bool {
    if a == b || info.is_integer() {
        return a == b;
    }
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    let Some(field) = info.fields[component] else { return true };
    let step = match info.kind {
        ColorKind::Unorm => 1.0 / ((1u64 << field.width) - 1) as f32,
        // A step of the curve is at most 2.4 of a linear one.
        ColorKind::Srgb => 2.5 / 255.0,
        ColorKind::Snorm => 1.0 / ((1u64 << (field.width - 1)) - 1) as f32,
        _ if info.shared_exponent => 1.0 / 128.0,
        // Weights of filters have eight bits or more.
        _ => a.abs().max(b.abs()) / 32.0,
    };
    // Filters of eight-bit weights, beside the rounding of the result.
    (a - b).abs() <= step * 1.01 + 2.0 / 256.0
}

fn show(info: &TexelInfo, color: [u32; 4]) -> Vec<String> {
    let text = |word: &u32| match info.is_integer() {
        true => format!("{}", *word as i32),
        false => format!("{}", f32::from_bits(*word)),
    };
    color.iter().map(text).collect()
}

/// An image with memory of its own, in the general layout.
struct Image {
    image: vk::Image,
    memory: vk::DeviceMemory,
    format: vk::Format,
    size: vk::Extent3D,
    layers: u32,
}

impl Image {
    fn new(harness: &Harness, format: vk::Format, ty: vk::ImageType) -> Result<Image, Error> {
        let volume = ty == vk::ImageType::TYPE_3D;
        let (size, layers) = if volume { (VOLUME, 1) } else { (SIZE, LAYERS) };
        let create = vk::ImageCreateInfo::default()
            .image_type(ty)
            .format(format)
            .extent(size)
            .mip_levels(LEVELS)
            .array_layers(layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
        // SAFETY: the device lives as long as the harness.
        let (image, memory) = unsafe {
            let image = harness.device.create_image(&create, None).named("vkCreateImage")?;
            let needs = harness.device.get_image_memory_requirements(image);
            let memory = harness.memory(needs, vk::MemoryPropertyFlags::empty())?;
            harness.device.bind_image_memory(image, memory, 0).named("vkBindImageMemory")?;
            (image, memory)
        };
        let image = Image { image, memory, format, size, layers };
        image.to_general(harness)?;
        Ok(image)
    }

    fn to_general(&self, harness: &Harness) -> Result<(), Error> {
        let stencil = match self.format {
            vk::Format::D24_UNORM_S8_UINT => vk::ImageAspectFlags::STENCIL,
            _ => vk::ImageAspectFlags::empty(),
        };
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspect(self.format) | stencil,
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 0,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        let barrier = [vk::ImageMemoryBarrier::default()
            .image(self.image)
            .new_layout(vk::ImageLayout::GENERAL)
            .subresource_range(range)];
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the image lives until `destroy`.
        harness.submit(|commands| unsafe {
            harness.device.cmd_pipeline_barrier(commands, all, all, flags, &[], &[], &barrier);
        })
    }

    fn extent(&self, level: u32) -> vk::Extent3D {
        let vk::Extent3D { width, height, depth } = self.size;
        let [width, height, depth] = [width, height, depth].map(|edge| (edge >> level).max(1));
        vk::Extent3D { width, height, depth }
    }

    fn layers(&self, mip_level: u32, base_array_layer: u32, layer_count: u32) -> vk::ImageSubresourceLayers {
        let aspect_mask = aspect(self.format);
        vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer, layer_count }
    }

    /// A region per level with rows and slices longer than needed, and the bytes of them all.
    fn regions(&self) -> (Vec<vk::BufferImageCopy>, usize) {
        let (bytes, block) = element(self.format);
        let (mut regions, mut end) = (Vec::new(), 16);
        for level in 0..LEVELS {
            let extent = self.extent(level);
            let (row, rows) = (extent.width.next_multiple_of(block) + 3 * block, extent.height + 2 * block);
            regions.push(vk::BufferImageCopy {
                buffer_offset: end,
                buffer_row_length: row,
                buffer_image_height: rows.next_multiple_of(block),
                image_subresource: self.layers(level, 0, self.layers),
                image_offset: vk::Offset3D::default(),
                image_extent: extent,
            });
            let slices = self.layers * extent.depth;
            end += u64::from(row / block * rows.div_ceil(block) * slices * bytes).next_multiple_of(16);
        }
        (regions, end as usize)
    }

    fn upload(&self, harness: &Harness) -> Result<(), Error> {
        let (regions, size) = self.regions();
        let texels = size / element(self.format).0 as usize;
        let mut bytes = content(self.format, texels);
        bytes.resize(size, 0);
        let buffer = harness.buffer(&bytes, vk::BufferUsageFlags::TRANSFER_SRC)?;
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: both live until they are destroyed below and by `destroy`; regions lie inside.
        harness.submit(|commands| unsafe {
            let Buffer { buffer, .. } = buffer;
            harness.device.cmd_copy_buffer_to_image(commands, buffer, self.image, general, &regions);
        })?;
        harness.destroy_buffer(buffer);
        Ok(())
    }

    fn download(&self, harness: &Harness) -> Result<Vec<u8>, Error> {
        let (regions, size) = self.regions();
        let buffer = harness.buffer(&vec![0; size], vk::BufferUsageFlags::TRANSFER_DST)?;
        let general = vk::ImageLayout::GENERAL;
        // SAFETY: as above.
        harness.submit(|commands| unsafe {
            let Buffer { buffer, .. } = buffer;
            harness.device.cmd_copy_image_to_buffer(commands, self.image, general, buffer, &regions);
        })?;
        let bytes = harness.contents(&buffer, size)?;
        harness.destroy_buffer(buffer);
        Ok(bytes)
    }

    fn destroy(self, harness: &Harness) {
        // SAFETY: the queue is idle, and nobody uses them again.
        unsafe {
            harness.device.destroy_image(self.image, None);
            harness.device.free_memory(self.memory, None);
        }
    }
}
