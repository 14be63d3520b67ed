//! `vc4 probe` as a shell sees it.

use std::path::PathBuf;
use std::process::{Command, Output};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vc4"));
    command.arg("probe").args(arguments).env_remove("VC4VK_DEVICE").env_remove("VC4SIM_FACTS");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn code(output: &Output, code: i32) -> String {
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "{said}\n{}", text(&output.stderr));
    said
}

fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

#[test]
fn the_simulator_is_as_assumed() {
    let said = code(&command(&["--device", "sim"]).output().expect("vc4 starts"), 0);
    assert!(said.contains("0 otherwise than assumed\n"), "{said}");
    let json = code(&command(&["--device", "sim", "--json", "ms-flags"]).output().expect("vc4 starts"), 0);
    assert!(json.contains("\"measured\": \"all\"") || json.contains("\"measured\":\"all\""), "{json}");
}

#[test]
fn wrong_names_and_devices_are_told() {
    let usage = |name: &str| text(&command(&[name]).output().expect("vc4 starts").stderr);
    assert!(usage("colours").contains("there is no such question"), "{}", usage("colours"));
    assert!(
        usage("branch-element").contains("The kernel refuses register branches"),
        "{}",
        usage("branch-element")
    );
    let none = command(&["--device", "drm:/dev/null"]).output().expect("vc4 starts");
    code(&none, 3);
    assert!(text(&none.stderr).contains("`vc4 doctor` says what to do"), "{}", text(&none.stderr));
}

/// The preload library of this build.
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn library() -> PathBuf {
    let library = std::path::Path::new(env!("CARGO_BIN_EXE_vc4")).with_file_name("libvc4_drm_shim.so");
    assert!(library.exists(), "{} is not built: run `cargo build -p vc4-drm-shim`", library.display());
    library
}

/// Nobody has lit the display of the simulated node, and nobody else has it. The rates are this computer's, which may be busy: a rate
/// within the noise was measured too.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn numbers_of_a_node_are_measured_in_the_dark_as_well() {
    let mut command = command(&["--numbers", "--json", "provoking-vertex"]);
    let said = code(&command.env("LD_PRELOAD", library()).output().expect("vc4 starts"), 0);
    let all: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains("\"was off all the time: what is not called dark"), "{said}");
    for name in ["dark-tile-store", "dark-tile-load", "dark-bo-read"] {
        let number = all.split(&format!("\"{name}\"")).nth(1).unwrap_or_else(|| panic!("{name}: {said}"));
        let value = number.split("\"value\":").nth(1).map(str::trim_start).unwrap_or_default();
        let why = value.strip_prefix("null").map(|rest| rest.split('}').next().unwrap_or_default());
        let is_noise = why.is_some_and(|why| why.contains("what was measured is within the noise"));
        let is_rate = value.starts_with(|first: char| first.is_ascii_digit());
        assert!(is_rate || is_noise, "{name}: {value}");
    }
}

/// Ten facts are other than assumed, and the way to them leads through ioctls.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn a_render_node_is_found_out() {
    let other = "\
        attribute-tail = \"memory\"\ncube-tie = \"z-y-x\"\ndepth-slope = \"sum\"\nfmul-rounding = \"nearest-even\"\n\
        lod-formula = \"sum\"\npacket-106 = \"offset-first\"\nprovoking-vertex = \"first\"\nresolve-rounding = \"down\"\n\
        sample-positions = \"grid\"\nshared-edges = \"bottom-right\"\n";
    let (facts, found) = (file("other.toml", other), file("found.toml", ""));
    let out = found.to_str().expect("text");
    let mut command = command(&["--facts-out", out]);
    let output =
        command.env("LD_PRELOAD", library()).env("VC4SIM_FACTS", &facts).output().expect("vc4 starts");
    let said = code(&output, 1);
    assert!(said.contains("VideoCore IV via /dev/dri/renderD128"), "{said}");
    assert!(said.contains("10 otherwise than assumed\n"), "{said}");
    let read =
        |path: &PathBuf| vc4::facts::read(&std::fs::read_to_string(path).expect("a file")).expect("facts");
    assert_eq!(read(&found), read(&facts));
}
