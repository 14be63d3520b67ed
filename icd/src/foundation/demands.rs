//! What programs demand and the user decides. Limits that they demand and do not use are said, and what then does not exist
//! is refused where it is made; of what costs time they get less.

use std::sync::OnceLock;

use ash::vk;

use vc4_kernel_abi::environment;
use vc4_shaders::compile::Precision;

use super::limits::{MAX_ANISOTROPY, MAX_IMAGE_PX};

/// The largest edge that can be said: what desktops have.
const MOST_PX: u32 = 16384;

/// Says larger images, framebuffers and viewports than there are, if `VC4VK_IMAGE_LIMIT` does.
pub fn exaggerate(limits: &mut vk::PhysicalDeviceLimits) {
    static SAID: OnceLock<Option<u32>> = OnceLock::new();
    let said = *SAID.get_or_init(|| {
        let text = environment::word("VC4VK_IMAGE_LIMIT")?;
        let edge = parse(&text);
        match edge {
            Some(edge) => log::warn!(
                target: "vc4::debug",
                "VC4VK_IMAGE_LIMIT: programs are told of images of {edge} texels; those above {MAX_IMAGE_PX} are refused"
            ),
            None => log::warn!(
                target: "vc4::debug",
                "VC4VK_IMAGE_LIMIT: {text:?} is no number from {MAX_IMAGE_PX} to {MOST_PX}"
            ),
        }
        edge
    });
    if let Some(edge) = said {
        say(limits, edge);
    }
}

fn parse(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|edge| (MAX_IMAGE_PX..=MOST_PX).contains(edge))
}

fn say(limits: &mut vk::PhysicalDeviceLimits, edge: u32) {
    limits.max_image_dimension1_d = edge;
    limits.max_image_dimension2_d = edge;
    limits.max_image_dimension_cube = edge;
    limits.max_framebuffer_width = edge;
    limits.max_framebuffer_height = edge;
    limits.max_viewport_dimensions = [edge; 2];
    // Twice the edge to both sides, as the specification asks.
    limits.viewport_bounds_range = [-2.0 * edge as f32, 2.0 * edge as f32 - 1.0];
}

/// Samples that the longer axis of a footprint is given at most: what `VC4VK_ANISOTROPY` allows, or the limit.
pub fn anisotropy() -> f32 {
    static ALLOWED: OnceLock<f32> = OnceLock::new();
    *ALLOWED.get_or_init(|| {
        let Some(text) = environment::word("VC4VK_ANISOTROPY") else { return MAX_ANISOTROPY };
        parse_anisotropy(&text).unwrap_or_else(|| {
            log::warn!(
                target: "vc4::debug",
                "VC4VK_ANISOTROPY: {text:?} is no number from 1 to {MAX_ANISOTROPY}; samplers get what they ask for"
            );
            MAX_ANISOTROPY
        })
    })
}

/// How exact powers are: as Vulkan wants them, unless `VC4VK_PRECISION` says that OpenGL's precision will do.
pub fn precision() -> Precision {
    static ASKED: OnceLock<Precision> = OnceLock::new();
    *ASKED.get_or_init(|| {
        let Some(text) = environment::word("VC4VK_PRECISION") else { return Precision::Vulkan };
        parse_precision(&text).unwrap_or_else(|| {
            log::warn!(
                target: "vc4::debug",
                "VC4VK_PRECISION: {text:?} is neither vulkan nor gl; it is vulkan"
            );
            Precision::Vulkan
        })
    })
}

fn parse_precision(text: &str) -> Option<Precision> {
    match text.trim() {
        "" | "vulkan" => Some(Precision::Vulkan),
        "gl" => Some(Precision::Gl),
        _ => None,
    }
}

fn parse_anisotropy(text: &str) -> Option<f32> {
    text.trim().parse().ok().filter(|most| (1.0..=MAX_ANISOTROPY).contains(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_one_that_programs_may_believe() {
        assert_eq!(parse(" 8192 "), Some(8192));
        assert_eq!(parse("12000"), Some(12000));
        assert_eq!(parse("16384"), Some(MOST_PX));
        assert!(["", "4096", "16385", "-1", "8k"].iter().all(|text| parse(text).is_none()));
    }

    #[test]
    fn whatever_is_as_large_is_said() {
        let mut limits = super::super::limits::limits(256 << 20);
        say(&mut limits, 16384);
        assert_eq!((limits.max_image_dimension2_d, limits.max_framebuffer_height), (16384, 16384));
        assert_eq!(limits.viewport_bounds_range, [-32768.0, 32767.0]);
        assert_eq!(limits.max_image_dimension3_d, super::super::limits::MAX_VOLUME_PX);
    }

    #[test]
    fn precision_has_two_names() {
        let known = ["", " vulkan", "gl"].map(parse_precision);
        assert_eq!(known, [Precision::Vulkan, Precision::Vulkan, Precision::Gl].map(Some));
        assert!(["GL", "fast", "1"].iter().all(|text| parse_precision(text).is_none()));
    }

    #[test]
    fn samples_are_as_many_as_samplers_may_have() {
        assert_eq!(["1", " 2.5 ", "16"].map(parse_anisotropy), [Some(1.0), Some(2.5), Some(16.0)]);
        assert!(["", "0", "17", "-1", "nan", "4x"].iter().all(|text| parse_anisotropy(text).is_none()));
    }
}
