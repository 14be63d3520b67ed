//! The version of Vulkan that a device claims: the newest, unless the program would be worse off with it.

use std::sync::OnceLock;

use ash::vk;

use vc4_kernel_abi::environment;

use super::limits::{API_VERSION, HEADER_VERSION};

/// Engines that leave a device out which claims a version without having passed the conformance tests for it, as it says in a
/// structure that is part of 1.2; with 1.1 they never ask.
const ASKING: [&[u8]; 1] = [b"wgpu-hal"];

/// What a device claims to a program with an engine of this name: as `VC4VK_VERSION` says, if it says anything.
pub fn claimed(engine: &[u8]) -> u32 {
    static FIXED: OnceLock<Option<u32>> = OnceLock::new();
    let fixed = *FIXED.get_or_init(|| {
        let text = environment::word("VC4VK_VERSION")?;
        let version = parse(&text);
        if version.is_none() {
            log::warn!(target: "vc4::debug", "VC4VK_VERSION: {text:?} is none of 1.0, 1.1 and 1.2");
        }
        version
    });
    fixed.unwrap_or_else(|| suited_to(engine))
}

fn suited_to(engine: &[u8]) -> u32 {
    if ASKING.contains(&engine) { vk::make_api_version(0, 1, 1, HEADER_VERSION) } else { API_VERSION }
}

/// A version that is not newer than what there is.
fn parse(text: &str) -> Option<u32> {
    let minor: u32 = text.trim().strip_prefix("1.")?.parse().ok()?;
    (minor <= vk::api_version_minor(API_VERSION)).then(|| vk::make_api_version(0, 1, minor, HEADER_VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_that_ask_for_conformance_get_what_has_no_answer() {
        assert_eq!(suited_to(b""), API_VERSION);
        assert_eq!(vk::api_version_minor(suited_to(b"wgpu-hal")), 1);
        assert_eq!(suited_to(b"wgpu-hal 2"), API_VERSION);
    }

    #[test]
    fn a_version_is_one_that_there_is() {
        assert_eq!(parse(" 1.1 "), Some(vk::make_api_version(0, 1, 1, HEADER_VERSION)));
        assert_eq!(parse("1.2"), Some(API_VERSION));
        assert!(["", "1", "1.3", "2.0", "1.-1", "1.1.2"].iter().all(|text| parse(text).is_none()));
    }
}
