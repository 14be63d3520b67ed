//! Programs under the Khronos validation layer.

use std::path::Path;
use std::process::{Command, Output};

/// The layer announces itself at information level.
const SIGN: &str = "Khronos Validation Layer Active";

/// Switches the layer on for a command. Its settings go to `directory`.
pub fn watch(command: &mut Command, directory: &Path) {
    // Writes every message to stdout, whatever the program does with debug callbacks.
    let text = "khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG\n\
                khronos_validation.report_flags = error,warn,info\n\
                khronos_validation.log_filename = stdout\n";
    let settings = directory.join("vk_layer_settings.txt");
    std::fs::write(&settings, text).expect("the directory is writable");
    command
        .env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation")
        .env("VK_LOADER_DEBUG", "error,warn")
        .env("VK_LAYER_SETTINGS_PATH", settings);
}

/// Fails on any message of the layer, and if it did not run at all.
#[track_caller]
pub fn assert_silent(output: &Output) {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(
        text.contains(SIGN),
        "the validation layer did not load (Debian's vulkan-validationlayers, or run `cargo xtask test`):\n{text}"
    );
    let complains = |line: &&str| line.contains("Validation Error") || line.contains("Validation Warning");
    let complaints: Vec<&str> = text.lines().filter(complains).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
