//! Programs whose price is compared with that of others (`tests/costs.rs`): what the driver takes apart is to cost what its parts
//! do. They read nothing back, so that passes are all they are made of.

use ash::vk;

use super::case::{Case, exact};
use super::views;
use crate::picture::Picture;
use crate::vulkan::{Attachment, CLEAR_STORE, Error, Lab, Pipeline, Subpass, Vertex, area, color, depth};

/// The programs.
pub const CASES: [Case; 4] = [
    exact("cost-large", |lab| target(lab, WHOLE, &[|x| x])),
    exact("cost-parts", |lab| target(lab, PART, &[|x| 2.0 * x + 1.0, |x| 2.0 * x - 1.0])),
    exact("cost-two-views", |lab| multiview(lab, 0b11)),
    exact("cost-one-view", |lab| multiview(lab, 0b1)),
];

/// As wide as Vulkan wants targets to be.
const WHOLE: [u32; 2] = [4096, 1024];
/// As wide as the chip draws at once.
const PART: [u32; 2] = [2048, 1024];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
/// Columns and rows of the mesh.
const CELLS: [u32; 2] = [48, 24];

/// A mesh that covers the picture, bent in depth, its columns moved.
fn mesh(moved: fn(f32) -> f32) -> Vec<Vertex> {
    let [columns, rows] = CELLS;
    let corner = |x: u32, y: u32| {
        let (s, t) = (x as f32 / columns as f32, y as f32 / rows as f32);
        [moved(2.0 * s - 1.0), 2.0 * t - 1.0, 0.2 + 0.6 * s * t, s, t, 1.0 - s, 1.0]
    };
    let cells = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
    let corners = [(0, 0), (0, 1), (1, 0), (1, 0), (0, 1), (1, 1)];
    cells.flat_map(|(x, y)| corners.map(|(right, down)| corner(x + right, y + down))).collect()
}

fn nothing() -> Picture {
    Picture { width: 1, height: 1, rgba: vec![0; 4] }
}

/// A pass to a target of its own for each of the parts.
fn target(lab: &Lab<'_>, size: [u32; 2], parts: &[fn(f32) -> f32]) -> Result<Picture, Error> {
    let depth_format = lab.depth_stencil_format();
    let attachments =
        [Attachment { format: FORMAT, ..CLEAR_STORE }, Attachment { format: depth_format, ..CLEAR_STORE }];
    let subpass = Subpass { color: Some(0), depth: Some(1), ..Subpass::default() };
    let pass = lab.pass(&attachments, &[subpass])?;
    let state = Pipeline { depth: Some(vk::CompareOp::LESS), ..Pipeline::default() };
    let pipeline = lab.pipeline(pass, size, &state)?;
    for part in parts {
        let targets = [lab.target(size, FORMAT, ONE)?, lab.target(size, depth_format, ONE)?];
        let framebuffer = lab.framebuffer(pass, &targets, size)?;
        let corners = mesh(*part);
        let vertices = lab.vertices(&corners)?;
        lab.run(|commands| {
            lab.begin(commands, pass, framebuffer, area(size), &[color([0.1; 4]), depth(1.0, 0)]);
            lab.draw(commands, pipeline, vertices, corners.len() as u32);
            // SAFETY: the pass was begun.
            unsafe { lab.device.cmd_end_render_pass(commands) };
        })?;
    }
    Ok(nothing())
}

/// A pass of some views.
fn multiview(lab: &Lab<'_>, mask: u32) -> Result<Picture, Error> {
    let image = views::array(lab, FORMAT, ONE, vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
    let pass = views::pass_of(lab, FORMAT, mask)?;
    let framebuffer = lab.framebuffer_of(pass, &[image.1], views::SIZE)?;
    let pipeline = lab.pipeline(pass, views::SIZE, &Pipeline::default())?;
    let corners = mesh(|x| x);
    let vertices = lab.vertices(&corners)?;
    lab.run(|commands| {
        lab.begin(commands, pass, framebuffer, area(views::SIZE), &[color([0.1; 4])]);
        lab.draw(commands, pipeline, vertices, corners.len() as u32);
        // SAFETY: the pass was begun.
        unsafe { lab.device.cmd_end_render_pass(commands) };
    })?;
    Ok(nothing())
}
