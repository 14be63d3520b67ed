//! What a frame is.

use crate::scene::Matrix;

/// A frame.
pub struct Frame {
    /// Name on the command line.
    pub name: &'static str,
    /// What it stands for.
    pub what: &'static str,
    /// Samples of a pixel of the picture: 1 or 4.
    pub samples: u32,
    /// Images; the first is the picture, with depth and stencil.
    pub images: Vec<Image>,
    /// Vertices, and indices of 16 bits.
    pub buffers: Vec<Vec<u8>>,
    /// Programs.
    pub programs: Vec<Program>,
    /// Passes in order; all begin with a clear.
    pub passes: Vec<Pass>,
}

/// An image.
pub struct Image {
    /// Edges in texels.
    pub size: [u32; 2],
    /// What it holds.
    pub content: Content,
    /// Whether it is filtered, between levels as well if there are some.
    pub smooth: bool,
    /// Whether coordinates wrap around.
    pub repeats: bool,
}

/// What an image holds.
pub enum Content {
    /// Texels of each level.
    Texels(Texels, Vec<Vec<u8>>),
    /// Six faces, RGBA.
    Cube([Vec<u8>; 6]),
    /// What passes draw, RGBA.
    Target {
        /// Whether they have depth and stencil.
        depth: bool,
    },
}

/// Kinds of texels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Texels {
    /// Four bytes.
    Rgba,
    /// A byte, which shaders find in red.
    Luminance,
}

/// An attribute of vertices.
#[derive(Clone, Copy)]
pub enum Attribute {
    /// Floats.
    Floats(u32),
    /// Four bytes from 0 to 1.
    Bytes,
}

/// A pair of shaders.
pub struct Program {
    /// Attributes `a0`, `a1` and so on, one behind the other in one buffer.
    pub attributes: &'static [Attribute],
    /// Types and names of what travels between the stages.
    pub varyings: &'static [(&'static str, &'static str)],
    /// Vectors `u[]` that the vertex shader reads of a draw.
    pub vertex_words: u32,
    /// Vectors `f[]` that the fragment shader reads of a draw.
    pub fragment_words: u32,
    /// Textures `s0`, `s1` and so on; whether each is a cube.
    pub samplers: &'static [bool],
    /// Body of the vertex shader.
    pub vertex: &'static str,
    /// Body of the fragment shader: writes `COLOR`, looks up by `TEXTURE` and `CUBE`.
    pub fragment: &'static str,
}

/// Draws to one target.
pub struct Pass {
    /// Which image.
    pub target: usize,
    /// What it is cleared to; `None` where draws cover all of it.
    pub clear: Option<[f32; 4]>,
    /// What is drawn.
    pub draws: Vec<Draw>,
}

/// How colours are combined with what is there.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Blend {
    /// Replaced.
    Off,
    /// By alpha.
    Alpha,
    /// Added, weighed by alpha.
    Add,
}

/// Which depths pass.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Depth {
    /// All.
    Off,
    /// Those in front.
    Less,
    /// Those in front, and the same ones.
    LessEqual,
}

/// What the stencil does.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Stencil {
    /// Nothing.
    Off,
    /// Counts, of shadow volumes, faces behind what is seen: back faces up, front faces down.
    Volume,
    /// Passes where something was counted.
    Shadowed,
}

/// A draw.
#[derive(Clone)]
pub struct Draw {
    /// Which program.
    pub program: usize,
    /// Buffer of vertices.
    pub vertices: usize,
    /// Buffer of indices, if it has some.
    pub indices: Option<usize>,
    /// The first index or vertex.
    pub first: u32,
    /// Indices or vertices.
    pub count: u32,
    /// Points instead of triangles.
    pub points: bool,
    /// Image of each texture.
    pub textures: Vec<usize>,
    /// Becomes `u[0]` to `u[3]`: from the model to GL's clip space.
    pub transform: Option<Matrix>,
    /// Words behind that.
    pub vertex_words: Vec<f32>,
    /// Words of the fragment shader.
    pub fragment_words: Vec<f32>,
    /// How colours are combined.
    pub blend: Blend,
    /// Which depths pass.
    pub depth: Depth,
    /// Whether depths are written.
    pub writes_depth: bool,
    /// Whether colours are written.
    pub writes_color: bool,
    /// Whether faces that look away are left out.
    pub culls: bool,
    /// What the stencil does.
    pub stencil: Stencil,
    /// Left, top, width, height of what is drawn at most.
    pub scissor: Option<[u32; 4]>,
}

impl Default for Draw {
    fn default() -> Self {
        Draw {
            program: 0,
            vertices: 0,
            indices: None,
            first: 0,
            count: 0,
            points: false,
            textures: Vec::new(),
            transform: None,
            vertex_words: Vec::new(),
            fragment_words: Vec::new(),
            blend: Blend::Off,
            depth: Depth::Off,
            writes_depth: false,
            writes_color: true,
            culls: false,
            stencil: Stencil::Off,
            scissor: None,
        }
    }
}

impl Attribute {
    /// Bytes of one.
    pub fn bytes(self) -> u32 {
        match self {
            Attribute::Floats(count) => 4 * count,
            Attribute::Bytes => 4,
        }
    }
}

impl Program {
    /// Bytes from vertex to vertex.
    pub fn stride(&self) -> u32 {
        self.attributes.iter().map(|attribute| attribute.bytes()).sum()
    }
}

impl Draw {
    /// All words of the vertex shader, the transform first.
    pub(super) fn words(&self, clip: impl Fn(&Matrix) -> Matrix) -> Vec<f32> {
        let transform = self.transform.iter().flat_map(|transform| clip(transform).concat());
        transform.chain(self.vertex_words.iter().copied()).collect()
    }
}
