//! Writes the book's pages about the device that the Vulkan loader finds: what it says of itself, and nothing else.
//!
//! `reference OUT_DIR`: `extensions.md`, `features.md`, `limits.md`, `formats.md`.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use ash::{Entry, Instance, vk};

/// Extensions that the loader brings, whatever the driver.
const OF_THE_LOADER: [&str; 4] = [
    "VK_EXT_debug_report",
    "VK_EXT_debug_utils",
    "VK_KHR_portability_enumeration",
    "VK_LUNARG_direct_driver_loading",
];

/// The formats of Vulkan 1.0 are numbered from 1 on.
const LAST_FORMAT: i32 = vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw();

/// Those of Vulkan 1.1 convert Y'CBCR.
const PLANAR_FORMATS: std::ops::RangeInclusive<i32> =
    vk::Format::G8B8G8R8_422_UNORM.as_raw()..=vk::Format::G16_B16_R16_3PLANE_444_UNORM.as_raw();

/// What a column of the table of formats says: its head, and the feature of optimal tiling.
const IMAGES: [(&str, vk::FormatFeatureFlags); 8] = [
    ("sampled", vk::FormatFeatureFlags::SAMPLED_IMAGE),
    ("filtered", vk::FormatFeatureFlags::SAMPLED_IMAGE_FILTER_LINEAR),
    ("target", vk::FormatFeatureFlags::COLOR_ATTACHMENT),
    ("blended", vk::FormatFeatureFlags::COLOR_ATTACHMENT_BLEND),
    ("depth", vk::FormatFeatureFlags::DEPTH_STENCIL_ATTACHMENT),
    ("storage", vk::FormatFeatureFlags::STORAGE_IMAGE),
    ("blit from", vk::FormatFeatureFlags::BLIT_SRC),
    ("blit to", vk::FormatFeatureFlags::BLIT_DST),
];

/// The same of buffers.
const BUFFERS: [(&str, vk::FormatFeatureFlags); 3] = [
    ("vertices", vk::FormatFeatureFlags::VERTEX_BUFFER),
    ("texel buffer", vk::FormatFeatureFlags::UNIFORM_TEXEL_BUFFER),
    ("storage texel buffer", vk::FormatFeatureFlags::STORAGE_TEXEL_BUFFER),
];

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1) else {
        eprintln!("usage: reference OUT_DIR");
        return ExitCode::FAILURE;
    };
    match write(Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("reference: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(directory: &Path) -> Result<(), Failure> {
    // SAFETY: the loader is a library that keeps Vulkan's rules; handles live until the process ends.
    let (entry, instance, device) = unsafe {
        let entry = Entry::load()?;
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None)?;
        let device = *instance.enumerate_physical_devices()?.first().ok_or("no Vulkan device")?;
        (entry, instance, device)
    };
    // SAFETY: the device is the instance's.
    let (features, properties) = unsafe {
        (instance.get_physical_device_features(device), instance.get_physical_device_properties(device))
    };
    std::fs::write(directory.join("extensions.md"), extensions(&entry, &instance, device)?)?;
    std::fs::write(directory.join("features.md"), features_page(&features))?;
    std::fs::write(directory.join("limits.md"), limits_page(&properties.limits))?;
    std::fs::write(directory.join("formats.md"), formats(&instance, device))?;
    Ok(())
}

/// What stands above each page.
fn head(title: &str, text: &str) -> String {
    format!(
        "# {title}\n\n{text} The driver wrote this page: `UPDATE_GOLDEN=1 cargo test -p vc4-tests --test docs`.\n\n"
    )
}

fn extensions(entry: &Entry, instance: &Instance, device: vk::PhysicalDevice) -> Result<String, Failure> {
    // SAFETY: the device is the instance's.
    let (of_instances, of_devices) = unsafe {
        (
            entry.enumerate_instance_extension_properties(None)?,
            instance.enumerate_device_extension_properties(device)?,
        )
    };
    let mut page = head("Extensions", "What the driver offers.");
    page += "| extension | version | of |\n| --- | --- | --- |\n";
    for (all, level) in [(of_instances, "instances"), (of_devices, "devices")] {
        let mut rows = Vec::new();
        for extension in all {
            // SAFETY: names are terminated, by the specification.
            let name = unsafe { CStr::from_ptr(extension.extension_name.as_ptr()) }.to_str()?.to_owned();
            if !OF_THE_LOADER.contains(&name.as_str()) {
                rows.push(format!("| `{name}` | {} | {level} |\n", extension.spec_version));
            }
        }
        rows.sort();
        page.extend(rows);
    }
    Ok(page)
}

fn features_page(features: &vk::PhysicalDeviceFeatures) -> String {
    let mut page = head("Features", "`VkPhysicalDeviceFeatures`.");
    page += "| feature | |\n| --- | --- |\n";
    for (name, value) in fields(&format!("{features:?}")) {
        let _ = writeln!(page, "| `{name}` | {} |", if value == "1" { "yes" } else { "" });
    }
    page
}

fn limits_page(limits: &vk::PhysicalDeviceLimits) -> String {
    let mut page = head("Limits of the device", "`VkPhysicalDeviceLimits` of the simulated device.");
    page += "| limit | value |\n| --- | --- |\n";
    for (name, value) in fields(&format!("{limits:?}")) {
        let value = value.trim_matches(['[', ']']).replace(" | ", ", ");
        let _ = writeln!(page, "| `{name}` | {value} |");
    }
    page
}

fn formats(instance: &Instance, device: vk::PhysicalDevice) -> String {
    let mut page = head(
        "Formats",
        "What images in optimal tiling and buffers of each format of Vulkan 1.0 and 1.1 can do; others are not known.",
    );
    page += "| format |";
    for (head, _) in IMAGES.iter().chain(&BUFFERS) {
        let _ = write!(page, " {head} |");
    }
    page += "\n| --- |";
    page += &" --- |".repeat(IMAGES.len() + BUFFERS.len());
    page += "\n";
    for format in (1..=LAST_FORMAT).chain(PLANAR_FORMATS).map(vk::Format::from_raw) {
        // SAFETY: the device is the instance's.
        let properties = unsafe { instance.get_physical_device_format_properties(device, format) };
        let (images, buffers) = (properties.optimal_tiling_features, properties.buffer_features);
        if images.is_empty() && buffers.is_empty() {
            continue;
        }
        let _ = write!(page, "| `{format:?}` |");
        let cells = IMAGES.iter().map(|(_, feature)| images.contains(*feature));
        for has in cells.chain(BUFFERS.iter().map(|(_, feature)| buffers.contains(*feature))) {
            page += if has { " x |" } else { " |" };
        }
        page += "\n";
    }
    page
}

/// Vulkan's names and the values of a structure's fields, as it is printed.
fn fields(printed: &str) -> Vec<(String, String)> {
    let inside = printed.split_once('{').map_or("", |(_, inside)| inside).trim().trim_end_matches('}');
    let (mut fields, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, character) in inside.char_indices().chain([(inside.len(), ',')]) {
        match character {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                if let Some((name, value)) = inside[start..place].split_once(':') {
                    fields.push((camel(name.trim()), value.trim().to_owned()));
                }
                start = place + 1;
            }
            _ => {}
        }
    }
    fields
}

/// `max_image_dimension2_d` as Vulkan writes it.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let initial = letters.next().map(|letter| letter.to_ascii_uppercase());
        name + &initial.into_iter().chain(letters).collect::<String>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_vulkans_names() {
        let found = fields("S { max_image_dimension2_d: 2048, sizes: [1.0, 2.0], flags: A | B }");
        let wanted = [("maxImageDimension2D", "2048"), ("sizes", "[1.0, 2.0]"), ("flags", "A | B")];
        assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
