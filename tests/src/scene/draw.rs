//! What is drawn: a picture and its draws.

use ash::vk;

use super::resource::Resource;
use super::texture::Texture;

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
    pub resources: Vec<(u32, Vec<Resource>)>,
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

/// Words of floats as bytes.
pub fn bytes(floats: &[f32]) -> Vec<u8> {
    floats.iter().flat_map(|f| f.to_le_bytes()).collect()
}
