//! Every way of looking at images and buffers.

use ash::vk;

use crate::scene::{Draw, ImageSource, Resource, Scene, bytes, sampler};

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/texture/", $name, ".spv"))
    };
}

const NEAREST: vk::Filter = vk::Filter::NEAREST;
const LINEAR: vk::Filter = vk::Filter::LINEAR;
const REPEAT: vk::SamplerAddressMode = vk::SamplerAddressMode::REPEAT;
const MIRROR: vk::SamplerAddressMode = vk::SamplerAddressMode::MIRRORED_REPEAT;
const CLAMP: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_EDGE;
const BORDER: vk::SamplerAddressMode = vk::SamplerAddressMode::CLAMP_TO_BORDER;
const MIRROR_ONCE: vk::SamplerAddressMode = vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE;
const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A scene of one triangle that covers everything.
fn scene(name: &str, fragment_shader: &'static [u8], resources: Vec<(u32, Vec<Resource>)>) -> Scene {
    let draw = Draw {
        vertex_shader: spirv!("screen.vert"),
        fragment_shader,
        count: 3,
        resources,
        ..Draw::default()
    };
    Scene { name: format!("texture_{name}"), size: [64, 48], draws: vec![draw], ..Scene::default() }
}

fn one(
    name: &str,
    fragment_shader: &'static [u8],
    image: ImageSource,
    info: vk::SamplerCreateInfo<'static>,
) -> Scene {
    scene(name, fragment_shader, vec![(0, vec![Resource::Combined(image, info)])])
}

fn shaped(
    view: vk::ImageViewType,
    format: vk::Format,
    size: [u32; 3],
    layers: u32,
    levels: u32,
) -> ImageSource {
    ImageSource { view, format, size, layers, levels, base_level: 0, cube_compatible: false }
}

/// All of them.
pub fn scenes() -> Vec<Scene> {
    let all = [operands(), samplers(), comparisons(), formats(), shapes(), buffers(), borders()];
    all.into_iter().flatten().collect()
}

fn operands() -> Vec<Scene> {
    let chain = ImageSource::flat(RGBA, 64, 32, 6);
    let (near, linear) = (sampler(NEAREST, REPEAT), sampler(LINEAR, REPEAT));
    vec![
        one("bias", spirv!("bias.frag"), ImageSource::flat(RGBA, 128, 128, 8), linear),
        one("lod", spirv!("lod.frag"), chain, near),
        one("grad", spirv!("grad.frag"), ImageSource::flat(RGBA, 32, 32, 6), linear),
        one("offset", spirv!("offset.frag"), chain, linear),
        one("offset_nearest", spirv!("offset.frag"), chain, near),
        one("gather", spirv!("gather.frag"), chain, near),
        one("gather_clamp", spirv!("gather.frag"), chain, sampler(NEAREST, CLAMP)),
        one(
            "gather_float",
            spirv!("gather.frag"),
            ImageSource { format: vk::Format::R16G16_SFLOAT, ..chain },
            near,
        ),
        one("fetch", spirv!("fetch.frag"), chain, near),
        one("projected", spirv!("projected.frag"), chain, linear),
        one("query_lod", spirv!("query_lod.frag"), ImageSource::flat(RGBA, 256, 256, 9), near),
    ]
}

fn samplers() -> Vec<Scene> {
    let chain = ImageSource::flat(RGBA, 64, 64, 7);
    let base = ImageSource { base_level: 2, ..chain };
    let odd = ImageSource::flat(RGBA, 30, 20, 1);
    let narrower = ImageSource { base_level: 1, ..ImageSource::flat(RGBA, 6000, 20, 13) };
    let near = sampler(NEAREST, REPEAT);
    let trilinear = sampler(LINEAR, MIRROR).mipmap_mode(vk::SamplerMipmapMode::LINEAR);
    let (clamped, linear, once) =
        (sampler(LINEAR, CLAMP), sampler(LINEAR, REPEAT), sampler(LINEAR, MIRROR_ONCE));
    let separate = vec![
        (0, vec![Resource::Image(odd), Resource::Image(chain)]),
        (1, vec![Resource::Sampler(sampler(LINEAR, CLAMP)), Resource::Sampler(near)]),
    ];
    let mut immutable = scene("immutable_separate", spirv!("separate.frag"), separate.clone());
    immutable.draws[0].immutable_samplers = true;
    let mut fixed = one("immutable", spirv!("plain.frag"), odd, sampler(LINEAR, MIRROR));
    fixed.draws[0].immutable_samplers = true;
    vec![
        immutable,
        fixed,
        one("large", spirv!("plain.frag"), ImageSource::flat(RGBA, 4001, 9, 1), sampler(LINEAR, MIRROR)),
        one("large_levels", spirv!("lod.frag"), ImageSource::flat(RGBA, 20, 2500, 12), trilinear),
        one("panels", spirv!("plain.frag"), ImageSource::flat(RGBA, 8191, 9, 1), sampler(LINEAR, MIRROR)),
        one("panels_levels", spirv!("lod.frag"), ImageSource::flat(RGBA, 8192, 20, 14), trilinear),
        one("panels_base", spirv!("lod.frag"), narrower, trilinear),
        one("panels_high", spirv!("lod.frag"), ImageSource::flat(RGBA, 9, 8192, 14), trilinear),
        one("folded", spirv!("plain.frag"), ImageSource::flat(RGBA, 8192, 64, 1), sampler(LINEAR, CLAMP)),
        one("cuts", spirv!("cuts.frag"), ImageSource::flat(RGBA, 8192, 64, 1), clamped),
        one("cuts_high", spirv!("cuts.frag"), ImageSource::flat(RGBA, 9, 5000, 1), clamped),
        one("cuts_near", spirv!("cuts.frag"), ImageSource::flat(RGBA, 4094, 30, 1), sampler(NEAREST, CLAMP)),
        one(
            "cuts_mirror",
            spirv!("cuts.frag"),
            ImageSource::flat(RGBA, 4094, 30, 1),
            sampler(LINEAR, MIRROR),
        ),
        one("cuts_small", spirv!("cuts.frag"), ImageSource::flat(vk::Format::R8_UNORM, 5001, 7, 1), clamped),
        one(
            "cuts_srgb",
            spirv!("cuts.frag"),
            ImageSource::flat(vk::Format::R8G8B8A8_SRGB, 2500, 7, 1),
            clamped,
        ),
        one("folded_high", spirv!("plain.frag"), ImageSource::flat(RGBA, 9, 5000, 1), sampler(LINEAR, CLAMP)),
        one(
            "folded_near",
            spirv!("plain.frag"),
            ImageSource::flat(RGBA, 2049, 30, 1),
            sampler(NEAREST, CLAMP),
        ),
        one("folded_repeat", spirv!("plain.frag"), ImageSource::flat(RGBA, 7001, 12, 1), linear),
        one(
            "folded_border",
            spirv!("lod.frag"),
            ImageSource::flat(RGBA, 3000, 12, 1),
            sampler(LINEAR, BORDER),
        ),
        one("folded_once", spirv!("plain.frag"), ImageSource::flat(RGBA, 12, 2500, 1), once),
        one("folded_offset", spirv!("offset.frag"), ImageSource::flat(RGBA, 2500, 9, 1), clamped),
        one("folded_gather", spirv!("gather.frag"), ImageSource::flat(RGBA, 2500, 9, 1), clamped),
        one("cuts_fetch", spirv!("cuts_fetch.frag"), ImageSource::flat(RGBA, 2500, 9, 1), clamped),
        one("folded_grad", spirv!("grad.frag"), ImageSource::flat(RGBA, 2500, 30, 1), clamped),
        one("border", spirv!("plain.frag"), odd, sampler(LINEAR, BORDER)),
        one("border_nearest", spirv!("plain.frag"), odd, sampler(NEAREST, BORDER)),
        one("mirror", spirv!("plain.frag"), odd, sampler(LINEAR, MIRROR)),
        one("mirror_once", spirv!("plain.frag"), odd, sampler(LINEAR, MIRROR_ONCE)),
        one("mirror_once_levels", spirv!("plain.frag"), chain, sampler(NEAREST, MIRROR_ONCE)),
        one("min_lod", spirv!("plain.frag"), chain, near.min_lod(2.0)),
        one("max_lod", spirv!("lod.frag"), chain, near.max_lod(1.0)),
        one("sampler_bias", spirv!("lod.frag"), chain, near.mip_lod_bias(1.0)),
        one("base_level", spirv!("lod.frag"), base, near),
        one("base_level_linear", spirv!("lod.frag"), base, trilinear),
        one("trilinear", spirv!("lod.frag"), chain, trilinear),
        one(
            "unnormalized",
            spirv!("unnormalized.frag"),
            odd,
            sampler(LINEAR, CLAMP).unnormalized_coordinates(true).max_lod(0.0),
        ),
        scene("separate", spirv!("separate.frag"), separate),
    ]
}

fn comparisons() -> Vec<Scene> {
    let compare = |filter, wrap, op| sampler(filter, wrap).compare_enable(true).compare_op(op);
    let depth = ImageSource::flat(vk::Format::D16_UNORM, 16, 16, 3);
    let layers = shaped(vk::ImageViewType::TYPE_2D_ARRAY, vk::Format::D16_UNORM, [16, 16, 1], 3, 1);
    let less = vk::CompareOp::LESS_OR_EQUAL;
    vec![
        one("shadow", spirv!("shadow.frag"), depth, compare(NEAREST, REPEAT, less)),
        one("shadow_greater", spirv!("shadow.frag"), depth, compare(NEAREST, BORDER, vk::CompareOp::GREATER)),
        one("shadow_linear", spirv!("shadow.frag"), depth, compare(LINEAR, CLAMP, less)),
        one("shadow_gather", spirv!("shadow_gather.frag"), depth, compare(NEAREST, CLAMP, less)),
        one("shadow_array", spirv!("shadow_array.frag"), layers, compare(NEAREST, CLAMP, less)),
        one("depth", spirv!("lod.frag"), depth, sampler(NEAREST, REPEAT)),
    ]
}

fn formats() -> Vec<Scene> {
    let flat = |format| ImageSource::flat(format, 32, 16, 3);
    let near = sampler(NEAREST, REPEAT);
    let linear = sampler(LINEAR, MIRROR);
    let white = sampler(LINEAR, BORDER);
    let wide = vk::Format::R16G16B16A16_SFLOAT;
    vec![
        one("r8_uint", spirv!("integer.frag"), flat(vk::Format::R8_UINT), near),
        one("r32_uint", spirv!("integer.frag"), flat(vk::Format::R32_UINT), near),
        one("rgba8_sint", spirv!("signed.frag"), flat(vk::Format::R8G8B8A8_SINT), near),
        one("rgba8_snorm", spirv!("lod.frag"), flat(vk::Format::R8G8B8A8_SNORM), linear),
        one("r8", spirv!("lod.frag"), flat(vk::Format::R8_UNORM), linear),
        one("r16f", spirv!("lod.frag"), flat(vk::Format::R16_SFLOAT), linear),
        one("rgba16f", spirv!("lod.frag"), flat(vk::Format::R16G16B16A16_SFLOAT), linear),
        one(
            "rgba16f_border",
            spirv!("plain.frag"),
            ImageSource::flat(vk::Format::R16G16B16A16_SFLOAT, 20, 12, 1),
            white,
        ),
        one("r32f_border", spirv!("plain.frag"), ImageSource::flat(vk::Format::R32_SFLOAT, 20, 12, 1), white),
        one("rgba32f", spirv!("lod.frag"), flat(vk::Format::R32G32B32A32_SFLOAT), near),
        one("large", spirv!("lod.frag"), ImageSource::flat(vk::Format::R8_UNORM, 3000, 4, 2), near),
        one("r16g16f", spirv!("lod.frag"), flat(vk::Format::R16G16_SFLOAT), near),
        one("r16g16f_linear", spirv!("lod.frag"), flat(vk::Format::R16G16_SFLOAT), sampler(LINEAR, MIRROR)),
        one("panels_r8", spirv!("lod.frag"), ImageSource::flat(vk::Format::R8_UNORM, 7000, 4, 2), near),
        one("panels_wide", spirv!("lod.frag"), ImageSource::flat(wide, 4500, 4, 2), linear),
        one("srgb_linear", spirv!("lod.frag"), flat(vk::Format::R8G8B8A8_SRGB), sampler(LINEAR, CLAMP)),
    ]
}

fn shapes() -> Vec<Scene> {
    use vk::ImageViewType as View;
    let layers = shaped(View::TYPE_2D_ARRAY, RGBA, [32, 16, 1], 5, 4);
    let small = ImageSource { format: vk::Format::R8G8_UNORM, ..layers };
    let broad = shaped(View::TYPE_2D_ARRAY, RGBA, [5000, 8, 1], 5, 4);
    let faces = shaped(View::TYPE_2D_ARRAY, RGBA, [16, 16, 1], 6, 3);
    let faces = ImageSource { cube_compatible: true, ..faces };
    let volume = shaped(View::TYPE_3D, RGBA, [16, 16, 8], 1, 2);
    let line = shaped(View::TYPE_1D, RGBA, [16, 1, 1], 1, 1);
    let lines = shaped(View::TYPE_1D_ARRAY, RGBA, [16, 1, 1], 4, 1);
    let cube = shaped(View::CUBE, RGBA, [16, 16, 1], 6, 1);
    let floats = ImageSource { format: vk::Format::R16G16_SFLOAT, ..cube };
    let wide = ImageSource { format: vk::Format::R16G16B16A16_SFLOAT, ..cube };
    let side = |image: ImageSource| ImageSource { view: View::TYPE_2D_ARRAY, cube_compatible: true, ..image };
    let (sides, float_sides, wide_sides) = (side(cube), side(floats), side(wide));
    let cubes = shaped(View::CUBE_ARRAY, RGBA, [16, 16, 1], 12, 1);
    let (near, linear) = (sampler(NEAREST, REPEAT), sampler(LINEAR, REPEAT));
    let trilinear = sampler(LINEAR, CLAMP).mipmap_mode(vk::SamplerMipmapMode::LINEAR);
    let seams = |sampler: vk::SamplerCreateInfo<'static>| {
        sampler.flags(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT)
    };
    let one_dimensional =
        vec![(0, vec![Resource::Combined(line, linear)]), (1, vec![Resource::Combined(lines, near)])];
    vec![
        one("layers", spirv!("layers.frag"), layers, near),
        one("layers_linear", spirv!("layers.frag"), layers, sampler(LINEAR, MIRROR)),
        one("layers_border", spirv!("layers.frag"), layers, sampler(LINEAR, BORDER)),
        one("layers_panels", spirv!("layers.frag"), broad, linear),
        one("layers_small", spirv!("layers.frag"), small, linear),
        one("layers_small_border", spirv!("layers.frag"), small, sampler(LINEAR, BORDER)),
        one("layers_auto", spirv!("layers_auto.frag"), layers, sampler(LINEAR, CLAMP)),
        one("cube", spirv!("around.frag"), cube, near),
        one("cube_linear", spirv!("around.frag"), cube, linear),
        one("cube_float", spirv!("around.frag"), floats, near),
        one("cube_seams", spirv!("around.frag"), cube, seams(sampler(LINEAR, CLAMP))),
        one("cube_seams_repeat", spirv!("around.frag"), cube, seams(linear)),
        one("cube_seams_mirror", spirv!("around.frag"), cube, seams(sampler(LINEAR, MIRROR))),
        one("cube_seams_border", spirv!("around.frag"), cube, seams(sampler(LINEAR, BORDER))),
        one("cube_seams_float", spirv!("around.frag"), floats, seams(linear)),
        one("cube_seams_wide", spirv!("around.frag"), wide, seams(sampler(LINEAR, BORDER))),
        one("cube_seams_levels", spirv!("around.frag"), ImageSource { levels: 5, ..cube }, seams(trilinear)),
        one("cubes_seams", spirv!("cubes.frag"), cubes, seams(sampler(LINEAR, CLAMP))),
        one("around_repeat", spirv!("around_layers.frag"), sides, linear),
        one("around_border", spirv!("around_layers.frag"), sides, sampler(LINEAR, BORDER)),
        one("around_float", spirv!("around_layers.frag"), float_sides, linear),
        one("around_wide", spirv!("around_layers.frag"), wide_sides, sampler(LINEAR, BORDER)),
        one("cubes", spirv!("cubes.frag"), cubes, near),
        one("faces", spirv!("layers.frag"), faces, near),
        one("faces_linear", spirv!("layers.frag"), faces, sampler(LINEAR, MIRROR)),
        one("faces_border", spirv!("layers.frag"), faces, sampler(LINEAR, BORDER)),
        one("faces_mirror_once", spirv!("layers.frag"), faces, sampler(LINEAR, MIRROR_ONCE)),
        one("layers_mirror_once", spirv!("layers.frag"), layers, sampler(LINEAR, MIRROR_ONCE)),
        one("gather_cube", spirv!("gather_cube.frag"), cube, near),
        one("gather_cube_seams", spirv!("gather_cube.frag"), cube, seams(sampler(NEAREST, CLAMP))),
        scene("line", spirv!("line.frag"), one_dimensional),
        one("volume", spirv!("volume.frag"), volume, near),
        one("volume_linear", spirv!("volume.frag"), volume, linear),
        one(
            "volume_border",
            spirv!("volume.frag"),
            ImageSource { levels: 1, ..volume },
            sampler(NEAREST, BORDER),
        ),
        one("volume_long", spirv!("volume.frag"), shaped(View::TYPE_3D, RGBA, [600, 2, 2], 1, 2), linear),
        one("volume_deep", spirv!("volume.frag"), shaped(View::TYPE_3D, RGBA, [3, 2, 2048], 1, 2), near),
        one("cube_wide", spirv!("around.frag"), wide, near),
    ]
}

/// Borders whose colour has no name.
fn borders() -> Vec<Scene> {
    use vk::ImageViewType as View;
    let own = |filter| sampler(filter, BORDER).border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
    let integer = sampler(NEAREST, BORDER).border_color(vk::BorderColor::INT_CUSTOM_EXT);
    let flat = |format| ImageSource::flat(format, 30, 20, 1);
    let layers = shaped(View::TYPE_2D_ARRAY, RGBA, [32, 16, 1], 5, 4);
    let faces = ImageSource { cube_compatible: true, ..shaped(View::TYPE_2D_ARRAY, RGBA, [16, 16, 1], 6, 3) };
    let depth = flat(vk::Format::D16_UNORM);
    let compare = own(NEAREST).compare_enable(true).compare_op(vk::CompareOp::LESS);
    let plain = |name, format, filter| one(name, spirv!("plain.frag"), flat(format), own(filter));
    vec![
        plain("border_own", RGBA, NEAREST),
        plain("border_own_linear", RGBA, LINEAR),
        plain("border_own_bgra", vk::Format::B8G8R8A8_UNORM, LINEAR),
        plain("border_own_srgb", vk::Format::R8G8B8A8_SRGB, NEAREST),
        plain("border_own_r8", vk::Format::R8_UNORM, LINEAR),
        plain("border_own_rg8", vk::Format::R8G8_UNORM, NEAREST),
        plain("border_own_snorm", vk::Format::R8G8B8A8_SNORM, LINEAR),
        plain("border_own_r16f", vk::Format::R16_SFLOAT, NEAREST),
        plain("border_own_rgba16f", vk::Format::R16G16B16A16_SFLOAT, LINEAR),
        plain("border_own_rgba32f", vk::Format::R32G32B32A32_SFLOAT, NEAREST),
        one("border_own_large", spirv!("plain.frag"), ImageSource::flat(RGBA, 2500, 9, 1), own(LINEAR)),
        one("border_own_depth", spirv!("plain.frag"), depth, own(NEAREST)),
        one("border_own_shadow", spirv!("shadow.frag"), depth, compare),
        one("border_own_layers", spirv!("layers.frag"), layers, own(LINEAR)),
        one("border_own_faces", spirv!("layers.frag"), faces, own(LINEAR)),
        one(
            "border_own_volume",
            spirv!("volume.frag"),
            shaped(View::TYPE_3D, RGBA, [16, 16, 8], 1, 1),
            own(LINEAR),
        ),
        one("border_own_uint", spirv!("integer.frag"), flat(vk::Format::R32_UINT), integer),
        one("border_own_sint", spirv!("signed.frag"), flat(vk::Format::R8G8B8A8_SINT), integer),
    ]
}

fn buffers() -> Vec<Scene> {
    let texels = vec![
        (0, vec![Resource::Texels(vk::Format::R32G32B32A32_SFLOAT, bytes(&floats(64)))]),
        (1, vec![Resource::Texels(vk::Format::R8G8_UINT, (0..32).map(|n| n * 8).collect())]),
        (2, vec![Resource::Texels(vk::Format::R16G16B16A16_SINT, halves(64))]),
    ];
    let storage = |count: usize| Resource::Storage(bytes(&floats(count)));
    let sizes = vec![
        (0, vec![Resource::Combined(ImageSource::flat(RGBA, 60, 30, 5), sampler(NEAREST, CLAMP))]),
        (
            1,
            vec![Resource::Combined(
                shaped(vk::ImageViewType::CUBE, RGBA, [16, 16, 1], 6, 1),
                sampler(NEAREST, CLAMP),
            )],
        ),
        (
            2,
            vec![Resource::Combined(
                shaped(vk::ImageViewType::TYPE_2D_ARRAY, RGBA, [32, 20, 1], 7, 3),
                sampler(NEAREST, CLAMP),
            )],
        ),
        (3, vec![Resource::Texels(vk::Format::R8_UNORM, vec![0; 77])]),
    ];
    let storage_image =
        |view, format, size, layers| vec![Resource::StorageImage(shaped(view, format, size, layers, 1))];
    let images = vec![
        (0, storage_image(vk::ImageViewType::TYPE_2D, RGBA, [60, 30, 1], 1)),
        (1, storage_image(vk::ImageViewType::TYPE_2D_ARRAY, vk::Format::R32_SFLOAT, [16, 20, 1], 3)),
        (2, storage_image(vk::ImageViewType::CUBE, RGBA, [16, 16, 1], 6)),
        (3, storage_image(vk::ImageViewType::TYPE_3D, vk::Format::R16G16B16A16_SFLOAT, [8, 8, 4], 1)),
    ];
    let corners = [-0.9f32, -0.8, 0.7, -0.6, 0.1, 0.9];
    let vertex = Draw {
        vertex_shader: spirv!("vertex.vert"),
        fragment_shader: spirv!("uv.frag"),
        count: 3,
        resources: vec![
            (0, vec![Resource::Texels(vk::Format::R32G32_SFLOAT, bytes(&corners))]),
            (1, vec![Resource::Storage(bytes(&[0.05, -0.05, 0.1, 0.0]))]),
            (2, vec![Resource::Combined(ImageSource::flat(RGBA, 16, 16, 3), sampler(NEAREST, CLAMP))]),
        ],
        ..Draw::default()
    };
    vec![
        scene("texels", spirv!("texels.frag"), texels),
        scene("storage", spirv!("storage.frag"), vec![(0, vec![storage(12), storage(4 + 8 * 6)])]),
        scene("storage_images", spirv!("images.frag"), images),
        scene("size", spirv!("size.frag"), sizes),
        Scene { name: "texture_vertex".into(), size: [64, 48], draws: vec![vertex], ..Scene::default() },
    ]
}

/// Numbers 0..1.
fn floats(count: usize) -> Vec<f32> {
    (0..count).map(|n| (n * 7 % 16) as f32 / 16.0).collect()
}

fn halves(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| ((n * 53 % 1000) as i16 - 200).to_le_bytes()).collect()
}
