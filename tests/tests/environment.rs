//! Set-uid programs are not steered by their user's environment.
#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use vc4_tests::scratch;

/// Somebody without rights.
const NOBODY: u32 = 65534;

fn seen(program: &Path, user: u32) -> String {
    let mut command = Command::new(program);
    command.arg("VC4SIM_CAPTURE").env("VC4SIM_CAPTURE", "/somewhere").uid(user).current_dir("/");
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_set_uid_program_sees_no_variables() {
    if !nix::unistd::geteuid().is_root() {
        println!("only root can make such a program for somebody else");
        return;
    }
    // Where everybody may look, unlike where things are built.
    let directory = scratch::empty(std::env::temp_dir(), "set-uid");
    let program = directory.join("environment");
    std::fs::copy(env!("CARGO_BIN_EXE_environment"), &program).expect("there is room");
    let with =
        |mode| std::fs::set_permissions(&program, PermissionsExt::from_mode(mode)).expect("it is ours");
    with(0o755);
    assert_eq!(seen(&program, NOBODY), r#"Some("/somewhere")"#);
    with(0o4755);
    assert_eq!(seen(&program, NOBODY), "None");
    assert_eq!(seen(&program, 0), r#"Some("/somewhere")"#, "root has no more rights than root");
    std::fs::remove_dir_all(&directory).expect("it is ours");
}

#[test]
fn nothing_reads_the_environment_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut readers = Vec::new();
    for source in [
        "icd/src",
        "sim/src",
        "sim/drm-shim/src",
        "jit/src",
        "shaders/src",
        "shaders/cpu/src",
        "kernel-abi/src",
    ] {
        look(&root.join(source), &mut readers);
    }
    assert!(readers.is_empty(), "use vc4_kernel_abi::environment in {readers:?}");
}

/// The files below a directory, tests apart, that read a variable.
fn look(directory: &Path, readers: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("the sources are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                look(&path, readers);
            }
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // What stands behind the first unit test is for tests.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let reads = ["env::var", "getenv", "parse_env"].iter().any(|call| code.contains(call));
        if reads && name != "environment.rs" && !name.contains("tests") {
            readers.push(path);
        }
    }
}
