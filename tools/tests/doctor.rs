//! `vc4 doctor` as a shell sees it.

use std::process::{Command, Output};

fn doctor(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vc4"));
    command.arg("doctor").args(arguments).env_remove("VC4VK_DEVICE");
    command.output().expect("vc4 starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The last line.
fn verdict(output: &Output) -> String {
    let text = stdout(output);
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("Verdict: ").unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn the_simulated_gpu_works() {
    let output = doctor(&["--device", "sim"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(verdict(&output).starts_with("simulated VideoCore IV"), "{}", stdout(&output));
}

#[test]
fn without_a_gpu_there_is_a_code_of_its_own() {
    let output = doctor(&["--device", "drm:/dev/null"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(verdict(&output).starts_with("no usable GPU."), "{}", stdout(&output));
}

#[test]
fn wrong_usage_is_told() {
    let output = doctor(&["--device", "gpu"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("not one of auto, drm, drm:PATH, sim"), "{text}");
}
