//! Bad input gets the right result and one clear line, never a crash.

use std::process::Command;

use vc4_tests::driver;

/// Runs one case; gives back what the call answered and what the driver said on stderr.
fn case(name: &str, configure: impl FnOnce(&mut Command)) -> (String, String) {
    let mut command = driver::command(env!("CARGO_BIN_EXE_bad_input"), &driver::ours());
    configure(command.arg(name));
    let output = command.output().expect("bad_input starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{name}: {}\n{stderr}", output.status);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = stdout.lines().find_map(|line| line.strip_prefix("answer: ")).expect("an answer").to_owned();
    (answer, stderr)
}

/// The driver's own lines among what the loader prints.
fn driver_lines(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| line.contains("vc4")).collect()
}

#[track_caller]
fn refused(name: &str, result: &str, words: &[&str]) {
    let (answer, stderr) = case(name, |_| ());
    assert!(answer.contains(result), "{name} answered {answer}, not {result}\n{stderr}");
    let lines = driver_lines(&stderr);
    assert_eq!(lines.len(), 1, "{name} should log one line:\n{stderr}");
    for word in words {
        assert!(lines[0].contains(word), "{name}: no {word:?} in {:?}", lines[0]);
    }
}

#[test]
fn truncated_spirv() {
    refused("truncated-spirv", "ERROR_INVALID_SHADER_NV", &["vkCreate"]);
}

#[test]
fn garbage_spirv() {
    refused("garbage-spirv", "ERROR_INVALID_SHADER_NV", &["vkCreate"]);
}

#[test]
fn unknown_capability() {
    refused("unknown-capability", "ERROR_INVALID_SHADER_NV", &["Kernel"]);
}

#[test]
fn pipeline_over_a_hardware_limit() {
    refused("too-many-attributes", "ERROR_INVALID_SHADER_NV", &["attributes", "63"]);
}

#[test]
fn impossible_allocations() {
    let words = ["vkAllocateMemory", "cma=", "config.txt"];
    refused("huge-allocation", "ERROR_OUT_OF_DEVICE_MEMORY", &words);
    refused("huger-than-addressable", "ERROR_OUT_OF_DEVICE_MEMORY", &words);
    refused("zero-allocation", "ERROR", &["vkAllocateMemory"]);
}

#[test]
fn missing_and_refusing_render_nodes() {
    for (device, word) in [("drm:/dev/dri/renderD999", "renderD999"), ("drm:/dev/null", "/dev/null")] {
        let (answer, stderr) = case("device", |command| {
            command.env("VC4VK_DEVICE", device);
        });
        assert!(
            answer.contains("no Vulkan device")
                || answer.contains("ERROR_INITIALIZATION_FAILED")
                || answer.contains("ERROR_INCOMPATIBLE_DRIVER"),
            "{device}: {answer}"
        );
        let lines = driver_lines(&stderr);
        assert_eq!(lines.len(), 1, "{device}:\n{stderr}");
        assert!(lines[0].contains(word), "{device}: {:?}", lines[0]);
    }
}

#[test]
fn an_unknown_device_choice_is_reported() {
    let (answer, stderr) = case("device", |command| {
        command.env("VC4VK_DEVICE", "abacus");
    });
    assert_ne!(answer, "success");
    assert!(stderr.contains("abacus") && stderr.contains("auto"), "{stderr}");
}
