//! Pipelines that clear attachments in the middle of a subpass: a draw over a rectangle leaves the tiles where they are, while
//! the CPU would have to wait until they are in memory.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use rustc_hash::FxHashMap;
use vc4_shaders::ir::{Builder, Op, Output, Shader, Stage};

use super::graphics::Pipeline;
use super::info::{ColorBlend, DepthStencil, GraphicsInfo, Multisample};
use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::render_pass::Formats;

/// What is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cleared {
    /// The colour at a location. Its components are the push constants.
    Color(u32),
    /// These aspects: to the viewport's depth, to the stencil reference.
    DepthStencil(vk::ImageAspectFlags),
}

#[derive(PartialEq, Eq, Hash)]
struct Key {
    colors: Vec<(u32, vk::Format)>,
    depth_stencil: vk::ImageAspectFlags,
    samples: u32,
    cleared: Cleared,
}

/// The pipelines of a device, made at first use.
#[derive(Default)]
pub struct Clears {
    known: Mutex<FxHashMap<Key, Arc<Pipeline>>>,
}

impl Clears {
    /// What clears an attachment of a subpass whose pixels have so many samples.
    pub fn pipeline(
        &self,
        device: &Arc<Device>,
        formats: &Formats,
        samples: u32,
        cleared: Cleared,
    ) -> Result<Arc<Pipeline>, Error> {
        let colors = formats.colors.iter().map(|(location, row)| (*location, row.format)).collect();
        let key = Key { colors, depth_stencil: formats.depth_stencil, samples, cleared };
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = known().get(&key) {
            return Ok(pipeline.clone());
        }
        let pipeline =
            Arc::new(Pipeline::of_clear(device, &fragment(cleared), info(formats, samples, cleared)?)?);
        Ok(known().entry(key).or_insert(pipeline).clone())
    }
}

fn info(formats: &Formats, samples: u32, cleared: Cleared) -> Result<GraphicsInfo, Error> {
    let mask = |location| match cleared == Cleared::Color(location) {
        true => vk::ColorComponentFlags::RGBA,
        false => vk::ColorComponentFlags::empty(),
    };
    let locations = formats.colors.iter().map(|(location, _)| location + 1).max().unwrap_or(0);
    let attachment = |location| vk::PipelineColorBlendAttachmentState {
        color_write_mask: mask(location),
        ..Default::default()
    };
    let blend = ColorBlend { attachments: (0..locations).map(attachment).collect(), ..ColorBlend::default() };
    let replace = vk::StencilOpState {
        fail_op: vk::StencilOp::REPLACE,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: vk::StencilOp::REPLACE,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xff,
        write_mask: 0xff,
        reference: 0,
    };
    let clears = |aspect| matches!(cleared, Cleared::DepthStencil(aspects) if aspects.contains(aspect));
    let clears_depth = clears(vk::ImageAspectFlags::DEPTH);
    let depth_stencil = DepthStencil {
        depth_test: clears_depth.then_some(vk::CompareOp::ALWAYS),
        depth_write: clears_depth,
        bounds: None,
        stencil: clears(vk::ImageAspectFlags::STENCIL).then_some([replace; 2]),
    };
    let mut info = GraphicsInfo::of_rectangle(formats.clone())?;
    info.multisample = info
        .multisample
        .map(|state| Multisample { samples: vk::SampleCountFlags::from_raw(samples), ..state });
    info.depth_stencil = Some(depth_stencil);
    info.blend = Some(blend);
    info.dynamic.push(vk::DynamicState::STENCIL_REFERENCE);
    Ok(info)
}

fn fragment(cleared: Cleared) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    if let (Some(entry), Cleared::Color(location)) = (shader.entry(), cleared) {
        let b = &mut Builder::new(&mut shader, entry);
        for component in 0..4u8 {
            let value = b.op(Op::LoadPush(4 * u32::from(component)), &[]);
            b.store_output(Output::User { location, component }, value);
        }
    }
    shader
}
