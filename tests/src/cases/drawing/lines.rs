//! Lines that cover the pixels of Bresenham's algorithm (VK_EXT_line_rasterization).

use ash::vk;

use super::case::{Case, lined};
use super::draws::{Canvas, SIZE};
use super::multisample::Resolved;
use crate::picture::Picture;
use crate::vulkan::{Error, Lab, Pipeline, Vertex};

/// The programs. The pixel beside Bresenham's is as good where a line runs between the two, and so it is at the ends.
pub const CASES: [Case; 3] = [
    lined("lines-bresenham", 0.01, single),
    lined("lines-bresenham-wide", 0.01, wide),
    lined("lines-bresenham-samples", 0.01, samples),
];

fn state(line_width: f32) -> Pipeline {
    let topology = vk::PrimitiveTopology::LINE_LIST;
    Pipeline { topology, line_width, lines: vk::LineRasterizationModeKHR::BRESENHAM, ..Pipeline::default() }
}

/// Lines in all directions around two points, some of them out of the picture.
fn stars() -> Vec<Vertex> {
    let ray = |n: u16| {
        let (middle, reach) = if n % 2 == 0 { ([-0.4f32, -0.1], 0.5) } else { ([0.5, 0.2], 0.7) };
        let (sin, cos) = (f32::from(n) * 0.29 + 0.1).sin_cos();
        let end = |length: f32| {
            let [x, y] = middle;
            [
                x + 0.7 * length * cos,
                y + length * sin,
                0.5,
                0.3,
                1.0 - 0.04 * f32::from(n),
                0.04 * f32::from(n),
                1.0,
            ]
        };
        [end(0.2), end(reach)]
    };
    (0..22).flat_map(ray).collect()
}

fn on_canvas(lab: &Lab<'_>, width: f32) -> Result<Picture, Error> {
    let canvas = Canvas::new(lab, false)?;
    let pipeline = lab.pipeline(canvas.pass, SIZE, &state(width))?;
    let (vertices, count) = (lab.vertices(&stars())?, stars().len() as u32);
    canvas.draw(lab, |commands| lab.draw(commands, pipeline, vertices, count))
}

fn single(lab: &Lab<'_>) -> Result<Picture, Error> {
    on_canvas(lab, 1.0)
}

fn wide(lab: &Lab<'_>) -> Result<Picture, Error> {
    on_canvas(lab, 3.0)
}

/// Of four samples: each pixel is covered or not, so that none is a mixture.
fn samples(lab: &Lab<'_>) -> Result<Picture, Error> {
    let resolved = Resolved::new(lab, vk::Format::R8G8B8A8_UNORM, false)?;
    resolved.draw(lab, &[(state(1.0), stars())])
}
