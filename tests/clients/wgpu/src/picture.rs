//! A picture: cubes with depth, a texture that a kernel made, and all the components between the stages that the limits allow.

use crate::gpu::{Error, Gpu};

const SIZE: u32 = 256;
const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth24Plus;
/// Edge of the texture.
const EDGE: u32 = 64;
/// Corners of twelve triangles.
const CORNERS: u32 = 36;
/// Cubes.
const CUBES: u32 = 7;

const PAINT: &str = "
@group(0) @binding(0) var painted: texture_storage_2d<rgba8unorm, write>;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let place = (vec2<f32>(id.xy) + 0.5) / 64.0 - 0.5;
    let rings = 0.5 + 0.5 * cos(40.0 * length(place));
    textureStore(painted, id.xy, vec4<f32>(rings, place.x + 0.5, place.y + 0.5, 1.0));
}
";

/// Fifteen vectors of four between the stages: 60 components.
const DRAW: &str = "
struct View { matrix: mat4x4<f32> };
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var painted: texture_2d<f32>;
@group(0) @binding(2) var filtered: sampler;

struct Shaded {
    @builtin(position) position: vec4<f32>,
    @location(0) place: vec4<f32>,
    @location(1) @interpolate(flat) face: vec4<u32>,
MEMBERS
};

@vertex
fn vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) cube: u32) -> Shaded {
    let face = corner / 6u;
    let at = array<vec2<f32>, 6>(vec2(0.0, 0.0), vec2(1.0, 0.0), vec2(1.0, 1.0), vec2(0.0, 0.0), vec2(1.0, 1.0), vec2(0.0, 1.0));
    let uv = at[corner % 6u];
    let flat_place = vec3<f32>(2.0 * uv - 1.0, select(-1.0, 1.0, (face & 1u) == 1u));
    var local = flat_place;
    if face / 2u == 1u { local = flat_place.yzx; }
    if face / 2u == 2u { local = flat_place.zxy; }
    let angle = 0.9 * f32(cube);
    let away = vec3<f32>(3.4 * cos(angle), 3.4 * sin(angle), 0.4 * f32(cube));
    var out: Shaded;
    out.position = view.matrix * vec4<f32>(local * (0.6 + 0.15 * f32(cube % 3u)) + away, 1.0);
    out.place = vec4<f32>(uv, f32(face), f32(cube));
    out.face = vec4<u32>(face, cube, face * 40u, 255u - cube * 30u);
STORES
    return out;
}

@fragment
fn fragment(in: Shaded) -> @location(0) vec4<f32> {
    var sum = vec4<f32>(0.0);
SUMS
    let texel = textureSample(painted, filtered, in.place.xy * 2.0);
    let shade = vec3<f32>(vec2<f32>(in.face.zw) / 255.0, 0.5);
    return vec4<f32>(0.5 * texel.rgb * shade + 0.5 * sum.rgb / 7.0, 1.0);
}
";

/// The module: members 2 to 14 are different functions of the corner, and each weighs otherwise.
fn module() -> String {
    let lines = |line: fn(u32) -> String| (2..15).map(line).collect::<Vec<_>>().join("\n");
    DRAW.replace("MEMBERS", &lines(|n| format!("    @location({n}) more{n}: vec4<f32>,")))
        .replace(
            "STORES",
            &lines(|n| format!("    out.more{n} = fract(vec4<f32>(local, f32(cube)) * 0.{n:02} + 0.{n}3);")),
        )
        .replace(
            "SUMS",
            &lines(|n| format!("    sum += in.more{n} * vec4<f32>(0.{n:02}, 1.{n:02}, 0.5, 0.7);")),
        )
}

/// A perspective from in front of the cubes.
fn matrix() -> [[f32; 4]; 4] {
    let (near, far, distance) = (1.0, 30.0, 9.0);
    let depth = far / (near - far);
    // A turn about x, the distance, and the projection.
    let (sin, cos) = 0.5f32.sin_cos();
    let focal = 1.4;
    [
        [focal, 0.0, 0.0, 0.0],
        [0.0, focal * cos, depth * sin, -sin],
        [0.0, -focal * sin, depth * cos, -cos],
        [0.0, 0.0, -depth * distance + near * depth, distance],
    ]
}

/// Draws it and saves it.
pub fn save(gpu: &Gpu, path: &str) -> Result<(), Error> {
    let device = &gpu.device;
    let texture = |size, format, usage| {
        device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: size, height: size, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    };
    let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
    let painted =
        texture(EDGE, FORMAT, wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING);
    let target =
        texture(SIZE, FORMAT, wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC);
    let depth = texture(SIZE, DEPTH, wgpu::TextureUsages::RENDER_ATTACHMENT);
    let paint = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &gpu.module(PAINT),
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let module = gpu.module(&module());
    let draw = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vertex"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format: DEPTH,
            depth_write_enabled: true,
            depth_compare: wgpu::CompareFunction::Less,
            stencil: Default::default(),
            bias: Default::default(),
        }),
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("fragment"),
            compilation_options: Default::default(),
            targets: &[Some(FORMAT.into())],
        }),
        multiview: None,
        cache: None,
    });
    let uniform = gpu.buffer(bytemuck::cast_slice(&matrix()), wgpu::BufferUsages::UNIFORM);
    let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
        address_mode_u: wgpu::AddressMode::Repeat,
        address_mode_v: wgpu::AddressMode::MirrorRepeat,
        ..Default::default()
    });
    let texels = view(&painted);
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let painting = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &paint.get_bind_group_layout(0),
        entries: &[entry(0, wgpu::BindingResource::TextureView(&texels))],
    });
    let drawing = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &draw.get_bind_group_layout(0),
        entries: &[
            entry(0, uniform.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(&texels)),
            entry(2, wgpu::BindingResource::Sampler(&sampler)),
        ],
    });
    let read = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(4 * SIZE * SIZE),
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut commands = device.create_command_encoder(&Default::default());
    let mut pass = commands.begin_compute_pass(&Default::default());
    pass.set_pipeline(&paint);
    pass.set_bind_group(0, &painting, &[]);
    pass.dispatch_workgroups(EDGE / 8, EDGE / 8, 1);
    drop(pass);
    let (color_view, depth_view) = (view(&target), view(&depth));
    let mut pass = commands.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: &color_view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.1, g: 0.2, b: 0.3, a: 1.0 }),
                store: wgpu::StoreOp::Store,
            },
        })],
        depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
            view: &depth_view,
            depth_ops: Some(wgpu::Operations {
                load: wgpu::LoadOp::Clear(1.0),
                store: wgpu::StoreOp::Discard,
            }),
            stencil_ops: None,
        }),
        ..Default::default()
    });
    pass.set_pipeline(&draw);
    pass.set_bind_group(0, &drawing, &[]);
    pass.draw(0..CORNERS, 0..CUBES);
    drop(pass);
    commands.copy_texture_to_buffer(
        target.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &read,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(4 * SIZE),
                rows_per_image: None,
            },
        },
        target.size(),
    );
    let pixels = gpu.read(commands, &read)?;
    let header =
        format!("P7\nWIDTH {SIZE}\nHEIGHT {SIZE}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n");
    Ok(std::fs::write(path, [header.as_bytes(), &pixels].concat())?)
}
