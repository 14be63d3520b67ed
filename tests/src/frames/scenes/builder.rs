//! Frames under construction.

use crate::frames::frame::{Content, Draw, Frame, Image, Pass, Program, Texels};
use crate::frames::meshes::{FLAT, Mesh, SURFACE, levels, screen, stains};

/// Edge of the picture.
const EDGE: u32 = 512;
/// What pictures are cleared to.
pub(super) const SKY: [f32; 4] = [0.25, 0.375, 0.5, 1.0];

/// A frame under construction: its picture is there.
pub(super) struct Builder(pub Frame);

/// A mesh in a frame: its buffers, and how much to draw.
#[derive(Clone, Copy)]
pub(super) struct Placed {
    vertices: usize,
    indices: usize,
    count: u32,
}

impl Builder {
    pub fn new(name: &'static str, what: &'static str) -> Builder {
        let picture = target(EDGE, true);
        let (buffers, programs, passes) = (Vec::new(), Vec::new(), Vec::new());
        Builder(Frame { name, what, samples: 1, images: vec![picture], buffers, programs, passes })
    }

    pub fn image(&mut self, image: Image) -> usize {
        self.0.images.push(image);
        self.0.images.len() - 1
    }

    /// A texture with levels, filtered and repeated.
    pub fn texture(&mut self, edge: u32, number: u32) -> usize {
        let content = Content::Texels(Texels::Rgba, levels(edge, stains(edge, number)));
        self.image(Image { size: [edge; 2], content, smooth: true, repeats: true })
    }

    /// A texture without levels, filtered and clamped.
    pub fn plain(&mut self, edge: u32, number: u32) -> usize {
        let content = Content::Texels(Texels::Rgba, vec![stains(edge, number)]);
        self.image(Image { size: [edge; 2], content, smooth: true, repeats: false })
    }

    pub fn buffer(&mut self, bytes: Vec<u8>) -> usize {
        self.0.buffers.push(bytes);
        self.0.buffers.len() - 1
    }

    pub fn mesh(&mut self, mesh: Mesh) -> Placed {
        let (vertices, indices) = (self.buffer(mesh.vertices), self.buffer(mesh.indices));
        Placed { vertices, indices, count: mesh.count }
    }

    pub fn screen(&mut self) -> Placed {
        self.mesh(screen())
    }

    pub fn program(&mut self, program: Program) -> usize {
        self.0.programs.push(program);
        self.0.programs.len() - 1
    }

    /// A pass with a clear.
    pub fn pass(&mut self, target: usize, clear: [f32; 4], draws: Vec<Draw>) {
        self.0.passes.push(Pass { target, clear: Some(clear), draws });
    }

    /// A pass whose draws cover all.
    pub fn cover(&mut self, target: usize, draws: Vec<Draw>) {
        self.0.passes.push(Pass { target, clear: None, draws });
    }

    /// The picture's pass is the last.
    pub fn end(mut self, clear: [f32; 4], draws: Vec<Draw>) -> Frame {
        self.pass(0, clear, draws);
        self.0
    }
}

impl Placed {
    /// All of it, by a program.
    pub fn draw(self, program: usize) -> Draw {
        let Placed { vertices, indices, count } = self;
        Draw { program, vertices, indices: Some(indices), count, ..Draw::default() }
    }
}

/// An image that passes draw.
pub(super) fn target(edge: u32, depth: bool) -> Image {
    Image { size: [edge; 2], content: Content::Target { depth }, smooth: true, repeats: false }
}

/// The vertex shader of rectangles.
pub(super) const THROUGH: &str = "gl_Position = vec4(a0, 0.0, 1.0); place = a1;";

/// A rectangle's program, which reads so many vectors of a draw.
pub(super) fn over(fragment: &'static str, fragment_words: u32, samplers: &'static [bool]) -> Program {
    let (attributes, varyings, vertex) = (FLAT, &[("vec2", "place")], THROUGH);
    Program { attributes, varyings, vertex_words: 0, fragment_words, samplers, vertex, fragment }
}

/// A program for draws of which only depth and stencil count.
pub(super) fn colorless() -> Program {
    Program {
        attributes: SURFACE,
        varyings: &[],
        vertex_words: 4,
        fragment_words: 0,
        samplers: &[],
        vertex: "gl_Position = mat4(u[0], u[1], u[2], u[3]) * vec4(a0, 1.0);",
        fragment: "COLOR = vec4(0.0);",
    }
}
