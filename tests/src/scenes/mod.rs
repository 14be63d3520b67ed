//! The scenes, as data: what is drawn, with which shaders, buffers and textures.

mod basic;
mod corpus;
mod formats;
pub mod resources;
mod textures;

use ash::vk;

/// A picture to draw.
pub struct Scene {
    /// Name on the command line and of the PNG.
    pub name: String,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Clear colour.
    pub clear: [f32; 4],
    /// Draws with a D16 depth buffer cleared to 1.
    pub depth: bool,
    /// Format of the colour attachment.
    pub format: vk::Format,
    /// Blending of all draws.
    pub blend: Option<vk::PipelineColorBlendAttachmentState>,
    /// What is drawn, in order.
    pub draws: Vec<Draw>,
}

impl Default for Scene {
    fn default() -> Self {
        Scene {
            name: String::new(),
            size: [64; 2],
            clear: [0.0; 4],
            depth: false,
            format: vk::Format::R8G8B8A8_UNORM,
            blend: None,
            draws: Vec::new(),
        }
    }
}

/// One draw call with everything that it needs.
pub struct Draw {
    /// SPIR-V of the vertex stage.
    pub vertex_shader: &'static [u8],
    /// SPIR-V of the fragment stage.
    pub fragment_shader: &'static [u8],
    /// Interleaved vertex data.
    pub vertices: Vec<u8>,
    /// Bytes from vertex to vertex.
    pub stride: u32,
    /// Formats of locations 0.., interleaved without gaps.
    pub attributes: Vec<vk::Format>,
    /// 16-bit indices, if the draw is indexed.
    pub indices: Option<Vec<u16>>,
    /// Vertices or indices drawn.
    pub count: u32,
    /// Instances drawn.
    pub instances: u32,
    /// What vertices become.
    pub topology: vk::PrimitiveTopology,
    /// Specialisation of both stages: constant id and word.
    pub specialization: Vec<(u32, u32)>,
    /// Uniform buffers: binding and content. Buffers of one binding are its elements.
    pub uniforms: Vec<(u32, Vec<u8>)>,
    /// Push constants.
    pub push: Vec<u8>,
    /// Textures: binding, texels, filter.
    pub textures: Vec<(u32, Texture, vk::Filter)>,
    /// Other bindings: number and elements.
    pub resources: Vec<(u32, Vec<resources::Resource>)>,
    /// Whether the samplers of these bindings belong to the layout.
    pub immutable_samplers: bool,
    /// Faces left out.
    pub cull: vk::CullModeFlags,
}

impl Default for Draw {
    fn default() -> Self {
        Draw {
            vertex_shader: &[],
            fragment_shader: &[],
            vertices: Vec::new(),
            stride: 0,
            attributes: Vec::new(),
            indices: None,
            count: 0,
            instances: 1,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            specialization: Vec::new(),
            uniforms: Vec::new(),
            push: Vec::new(),
            textures: Vec::new(),
            resources: Vec::new(),
            immutable_samplers: false,
            cull: vk::CullModeFlags::NONE,
        }
    }
}

/// An RGBA8 texture.
pub struct Texture {
    /// Edge in texels.
    pub size: u32,
    /// Four bytes per texel.
    pub rgba: Vec<u8>,
}

impl Texture {
    /// Texels from a function of their position.
    pub fn from_fn(size: u32, texel: impl Fn(u32, u32) -> [u8; 4]) -> Texture {
        let rgba = (0..size * size).flat_map(|i| texel(i % size, i / size)).collect();
        Texture { size, rgba }
    }

    /// Coloured squares on slopes: shows position, orientation and filtering.
    pub fn checker(size: u32) -> Texture {
        Texture::from_fn(size, |x, y| {
            let square = if (x / (size / 8) + y / (size / 8)) % 2 == 0 { 255 } else { 96 };
            [(x * 255 / (size - 1)) as u8, (y * 255 / (size - 1)) as u8, square, 255]
        })
    }

    /// A smooth pattern, where filtering differences stay small.
    pub fn waves(size: u32, phase: u32) -> Texture {
        let wave = |v: u32| (127.5 + 110.0 * (v as f32 * std::f32::consts::TAU / size as f32).sin()) as u8;
        Texture::from_fn(size, |x, y| {
            [wave(x + phase), wave(y + 2 * phase), wave(x + y + 3 * phase), wave(x + 2 * y + phase)]
        })
    }
}

/// Words of floats as bytes.
pub fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// A column-major 4x4 matrix.
pub type Matrix = [[f32; 4]; 4];

/// Matrix helpers for scene data.
pub mod matrix {
    use super::Matrix;

    /// The identity.
    pub const IDENTITY: Matrix = [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]];

    /// a · b.
    pub fn mul(a: &Matrix, b: &Matrix) -> Matrix {
        std::array::from_fn(|c| std::array::from_fn(|r| (0..4).map(|k| a[k][r] * b[c][k]).sum()))
    }

    /// Moves by x, y, z.
    pub fn translation(x: f32, y: f32, z: f32) -> Matrix {
        let mut m = IDENTITY;
        m[3] = [x, y, z, 1.0];
        m
    }

    /// Turns about x, then about y (radians).
    pub fn rotation(about_x: f32, about_y: f32) -> Matrix {
        let ((sx, cx), (sy, cy)) = (about_x.sin_cos(), about_y.sin_cos());
        let x = [[1., 0., 0., 0.], [0., cx, sx, 0.], [0., -sx, cx, 0.], [0., 0., 0., 1.]];
        let y = [[cy, 0., -sy, 0.], [0., 1., 0., 0.], [sy, 0., cy, 0.], [0., 0., 0., 1.]];
        mul(&y, &x)
    }

    /// Perspective for Vulkan's clip space: y down, depth 0 to 1.
    pub fn perspective(tan_half: f32, near: f32, far: f32) -> Matrix {
        let depth = far / (near - far);
        [
            [1. / tan_half, 0., 0., 0.],
            [0., -1. / tan_half, 0., 0.],
            [0., 0., depth, -1.],
            [0., 0., depth * near, 0.],
        ]
    }
}

/// All scenes.
pub fn all() -> Vec<Scene> {
    let mut scenes = basic::scenes();
    scenes.extend(corpus::scenes());
    scenes.extend(formats::scenes());
    scenes.extend(textures::scenes());
    scenes
}
