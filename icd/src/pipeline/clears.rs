//! Pipelines that clear attachments in the middle of a subpass: a draw over a rectangle leaves the tiles where they are, while
//! the CPU would have to wait until they are in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use vc4_shaders::ir::{Builder, Op, Output, Shader, Stage};

use super::graphics::Pipeline;
use super::info::{ColorBlend, DepthStencil, GraphicsInfo, Multisample};
use crate::foundation::error::Error;
use crate::foundation::format::{self, FormatRow};
use crate::foundation::recent::Recent;
use crate::objects::device::Device;
use crate::objects::render_pass::Formats;

/// What is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// The colour at a location. Its components are the push constants.
    Color(u32),
    /// These aspects: to the viewport's depth, to the stencil reference.
    DepthStencil(vk::ImageAspectFlags),
}

#[derive(PartialEq, Eq)]
struct Key {
    colors: Vec<(u32, vk::Format)>,
    depth_stencil: vk::ImageAspectFlags,
    samples: u32,
    cleared: Cleared,
}

/// Pipelines that are kept: each has three pages of the GPU's memory for every word of its subpass's colours.
const MOST: usize = 16;

/// The pipelines of a device, made at first use; those that were used last.
pub struct Clears {
    known: Mutex<Recent<Key, Arc<Pipeline>>>,
}

impl Default for Clears {
    fn default() -> Clears {
        Clears { known: Mutex::new(Recent::new(MOST)) }
    }
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
        let formats = what_matters(formats, cleared);
        let colors = formats.colors.iter().map(|(location, row)| (*location, row.format)).collect();
        let key = Key { colors, depth_stencil: formats.depth_stencil, samples, cleared };
        if let Some(pipeline) = self.known().get(&key) {
            return Ok(pipeline);
        }
        // Nobody waits for another thread's compilation.
        let info = info(formats, samples, cleared)?;
        let pipeline = Arc::new(Pipeline::of_fragment(device, &fragment(cleared), info)?);
        let mut known = self.known();
        if let Some(pipeline) = known.get(&key) {
            return Ok(pipeline);
        }
        known.insert(key, pipeline.clone());
        Ok(pipeline)
    }

    fn known(&self) -> MutexGuard<'_, Recent<Key, Arc<Pipeline>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A subpass for whose clears the same programs do: of colours that stay as they are only the number of words counts.
fn what_matters(formats: &Formats, cleared: Cleared) -> Formats {
    let plain = |row: &'static FormatRow| {
        let words = match row.target?.planes() {
            1 => vk::Format::R32_UINT,
            2 => vk::Format::R32G32_UINT,
            4 => vk::Format::R32G32B32A32_UINT,
            _ => return None,
        };
        format::row(words)
    };
    let color = |&(location, row)| match cleared == Cleared::Color(location) {
        true => (location, row),
        false => (location, plain(row).unwrap_or(row)),
    };
    Formats { colors: formats.colors.iter().map(color).collect(), ..*formats }
}

fn info(formats: Formats, samples: u32, cleared: Cleared) -> Result<GraphicsInfo, Error> {
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
    let mut info = GraphicsInfo::of_rectangle(formats)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    fn formats(colors: &[vk::Format]) -> Formats {
        let row = |&format| format::row(format).unwrap();
        Formats { colors: (0..).zip(colors.iter().map(row)).collect(), ..Formats::default() }
    }

    #[test]
    fn programs_are_shared_where_they_do_the_same_and_forgotten_where_they_are_many() {
        let (device, clears) = (device(), Clears::default());
        let (bytes, wide) = (vk::Format::R8G8B8A8_UNORM, vk::Format::R16G16B16A16_SFLOAT);
        let make = |colors: &[vk::Format], samples, cleared| {
            clears.pipeline(&device, &formats(colors), samples, cleared).unwrap()
        };
        let first = Cleared::Color(0);
        let one = make(&[bytes, vk::Format::B8G8R8A8_SRGB], 1, first);
        assert!(Arc::ptr_eq(&one, &make(&[bytes, vk::Format::R32_SFLOAT], 1, first)));
        for other in [
            make(&[bytes, wide], 1, first),
            make(&[wide, bytes], 1, first),
            make(&[bytes, bytes], 4, first),
            make(&[bytes, bytes], 1, Cleared::Color(1)),
        ] {
            assert!(!Arc::ptr_eq(&one, &other));
        }
        let count = |clears: &Clears| clears.known().count();
        assert_eq!(count(&clears), 5);
        for location in 0..MOST as u32 {
            let row = format::row(bytes).unwrap();
            let formats = Formats { colors: vec![(location, row)], ..Formats::default() };
            clears.pipeline(&device, &formats, 1, Cleared::Color(location)).unwrap();
        }
        assert_eq!(count(&clears), MOST);
        assert!(!Arc::ptr_eq(&one, &make(&[bytes, bytes], 1, first)));
    }
}
