//! Edges and corners of triangles: faces, provoking vertices and slopes are those of the triangle.

use ash::vk;

use super::case::{Case, exact, lined};
use super::draws::{Canvas, SIZE};
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Vertex, rectangle};

/// The programs. Where a line ends, and which pixels its sides cover, is the device's choice as long as lines are not
/// strict.
pub const CASES: [Case; 12] = [
    exact("polygon-filled", filled),
    lined("polygon-lines", 0.04, lines),
    lined("polygon-lines-culled", 0.03, lines_culled),
    // Colours change along lines, and the sides of a line lie where the device puts them.
    lined("polygon-lines-plain", 0.17, lines_plain),
    lined("polygon-lines-clipped", 0.02, lines_clipped),
    exact("polygon-points", points),
    exact("polygon-points-culled", points_culled),
    exact("polygon-points-index", points_index),
    lined("polygon-bias", 0.02, bias),
    exact("polygon-filled-last", filled_last),
    lined("polygon-lines-last", 0.04, lines_last),
    exact("polygon-points-last", points_last),
];

const LINE: vk::PolygonMode = vk::PolygonMode::LINE;
const POINT: vk::PolygonMode = vk::PolygonMode::POINT;

/// A pipeline whose programs tell faces and provoking vertices.
fn telling(polygon_mode: vk::PolygonMode, cull: vk::CullModeFlags) -> Pipeline {
    Pipeline {
        vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/polygon.vert.spv")),
        fragment: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/polygon.frag.spv")),
        polygon_mode,
        cull,
        line_width: 5.0,
        ..Pipeline::default()
    }
}

/// Vertex `n` of a zigzag, in front of `z`.
fn zigzag(n: u32, z: f32) -> Vertex {
    let (x, y) = (-0.85 + 0.28 * (n / 2) as f32, -0.75 + 0.7 * (n % 2) as f32 + 0.05 * n as f32);
    [
        x * (1.0 + 0.5 * z),
        y * (1.0 + 0.5 * z),
        z,
        (n % 4) as f32 / 3.0,
        (n % 3) as f32 / 2.0,
        0.1 * n as f32,
        1.0,
    ]
}

/// A list, a strip with a restart and a fan, of which every other triangle turns its back.
fn shapes(lab: &Lab<'_>, state: &Pipeline) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline =
        |topology, restart| lab.pipeline(canvas.pass, SIZE, &Pipeline { topology, restart, ..state.clone() });
    let list = pipeline(vk::PrimitiveTopology::TRIANGLE_LIST, false)?;
    let strip = pipeline(vk::PrimitiveTopology::TRIANGLE_STRIP, true)?;
    let fan = pipeline(vk::PrimitiveTopology::TRIANGLE_FAN, false)?;
    let place = |n: u32| zigzag(n, 0.1 * (n % 3) as f32);
    let mut vertices: Vec<Vertex> = (0..14).map(place).collect();
    // Pairs of triangles of which one turns the other way.
    for (n, x) in (0u32..).zip([-0.9f32, -0.3, 0.3]) {
        let corner =
            |dx: f32, dy: f32, shade: f32| [x + dx, 0.55 + dy, 0.0, shade, 1.0 - shade, 0.3 * n as f32, 1.0];
        vertices.extend([corner(0.0, 0.0, 0.0), corner(0.0, 0.35, 0.5), corner(0.22, 0.1, 1.0)]);
        vertices.extend([corner(0.3, 0.0, 0.25), corner(0.5, 0.2, 0.75), corner(0.3, 0.35, 1.0)]);
    }
    let vertices = lab.vertices(&vertices)?;
    let indices: Vec<u8> =
        [0u16, 1, 2, 3, 4, 5, 0xffff, 8, 9, 10, 11].iter().flat_map(|index| index.to_le_bytes()).collect();
    let indices = lab.buffer(&indices, vk::BufferUsageFlags::INDEX_BUFFER)?;
    canvas.draw(lab, |commands| {
        // SAFETY: the handles live as long as the lab.
        unsafe {
            lab.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, strip);
            lab.device.cmd_bind_index_buffer(commands, indices, 0, vk::IndexType::UINT16);
            lab.device.cmd_draw_indexed(commands, 11, 1, 0, 0, 0);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, fan);
            lab.device.cmd_draw(commands, 3, 1, 11, 0);
            lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, list);
            lab.device.cmd_draw(commands, 18, 2, 14, 0);
        }
    })
}

fn filled(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &telling(vk::PolygonMode::FILL, vk::CullModeFlags::NONE))
}

fn lines(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &telling(LINE, vk::CullModeFlags::NONE))
}

fn lines_culled(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &telling(LINE, vk::CullModeFlags::BACK))
}

/// The same three with the values of the last vertex.
fn filled_last(lab: &Lab<'_>) -> Result<Picture, Error> {
    last(lab, vk::PolygonMode::FILL)
}

fn lines_last(lab: &Lab<'_>) -> Result<Picture, Error> {
    last(lab, LINE)
}

fn points_last(lab: &Lab<'_>) -> Result<Picture, Error> {
    last(lab, POINT)
}

fn last(lab: &Lab<'_>, mode: vk::PolygonMode) -> Result<Picture, Error> {
    let provoking = vk::ProvokingVertexModeEXT::LAST_VERTEX;
    shapes(lab, &Pipeline { provoking, ..telling(mode, vk::CullModeFlags::NONE) })
}

/// Programs that ask nothing of the triangle.
fn lines_plain(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &Pipeline { polygon_mode: LINE, line_width: 5.0, ..Pipeline::default() })
}

fn points(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &telling(POINT, vk::CullModeFlags::NONE))
}

fn points_culled(lab: &Lab<'_>) -> Result<Picture, Error> {
    shapes(lab, &telling(POINT, vk::CullModeFlags::FRONT))
}

/// Triangles by vertex index in a viewport that mirrors, by a program with a loop.
fn points_index(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = Pipeline {
        vertex: include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/polygon_index.vert.spv")),
        attributes: Vec::new(),
        mirrored: true,
        ..telling(POINT, vk::CullModeFlags::BACK)
    };
    let pipeline = lab.pipeline(canvas.pass, SIZE, &pipeline)?;
    let none = lab.vertices(&[[0.0; 7]])?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, none, 12))
}

/// A triangle in front of the near plane and over the edges: its edges end there, and none follow the planes.
fn lines_clipped(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &telling(LINE, vk::CullModeFlags::BACK))?;
    let vertices = [
        [-0.8, -0.6, 0.5, 1.0, 0.0, 0.0, 1.0],
        [-0.6, 0.9, 0.4, 0.0, 1.0, 0.5, 1.0],
        [0.5, 0.1, -0.5, 0.0, 0.0, 1.0, 1.0],
        [0.2, -0.9, 0.3, 1.0, 1.0, 0.0, 1.0],
        [0.5, 0.4, 0.2, 0.0, 1.0, 0.5, 1.0],
        [2.5, -0.3, 0.6, 0.0, 0.0, 1.0, 1.0],
    ];
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, 6))
}

/// Edges of a steep triangle over what is filled, moved towards the viewer and away by its slope.
fn bias(lab: &Lab<'_>) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, true)?;
    let tested = |state| Pipeline { depth: Some(vk::CompareOp::LESS_OR_EQUAL), ..state };
    let fill = lab.pipeline(canvas.pass, SIZE, &tested(Pipeline::default()))?;
    let edges =
        |bias| Pipeline { polygon_mode: LINE, line_width: 5.0, bias: Some(bias), ..Pipeline::default() };
    let nearer = lab.pipeline(canvas.pass, SIZE, &tested(edges([0.0, 0.0, -8.0])))?;
    let farther = lab.pipeline(canvas.pass, SIZE, &tested(edges([0.0, 0.0, 8.0])))?;
    let constant = lab.pipeline(canvas.pass, SIZE, &tested(edges([-4e5, 0.0, 0.0])))?;
    let triangle = |x: f32, y: f32, rgb: [f32; 3]| {
        let [r, g, b] = rgb;
        let corner = |dx: f32, dy: f32, z: f32| [x + dx, y + dy, z, r, g, b, 1.0];
        [corner(0.0, 0.0, 0.2), corner(0.1, 0.7, 0.7), corner(0.5, 0.2, 0.45)]
    };
    let white = [1.0; 3];
    let mut vertices: Vec<Vertex> = rectangle([-1.0, -1.0, 1.0, 0.0], 0.9, [0.0, 0.0, 0.5, 1.0]);
    for x in [-0.9, -0.25, 0.4] {
        vertices.extend(triangle(x, -0.8, [0.5, 0.0, 0.0]));
    }
    vertices.extend(triangle(-0.9, -0.8, white));
    vertices.extend(triangle(-0.25, -0.8, white));
    vertices.extend(triangle(0.4, -0.8, white));
    let vertices = lab.vertices(&vertices)?;
    canvas.draw(lab, |commands| {
        lab.draw(commands, fill, vertices, 15);
        // SAFETY: the handles live as long as the lab.
        unsafe {
            for (pipeline, first) in [(nearer, 15), (farther, 18), (constant, 21)] {
                lab.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
                lab.device.cmd_draw(commands, 3, 1, first, 0);
            }
        }
    })
}
