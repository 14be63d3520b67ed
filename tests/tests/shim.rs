//! Every scene through the driver's own render-node path, on the preload library: the pictures are bit for bit those of
//! the simulator inside the driver.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::path::{Path, PathBuf};
use std::process::Command;

use vc4_tests::{icd, scenes};

fn draw_all(name: &str, prepare: impl FnOnce(&mut Command)) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    let mut command = icd::command(env!("CARGO_BIN_EXE_scenes"), &icd::ours());
    prepare(command.arg(&directory));
    let output = command.output().expect("scenes starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{name} failed:\n{}{}", text(&output.stdout), text(&output.stderr));
    directory
}

#[test]
fn a_render_node_draws_what_the_simulator_draws() {
    let inside = draw_all("scenes-inside", |_| {});
    let through = draw_all("scenes-render-node", |command| {
        command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", icd::drm_shim());
    });
    let differing: Vec<String> = scenes::all()
        .into_iter()
        .map(|scene| format!("{}.png", scene.name))
        .filter(|file| {
            let read = |directory: &Path| std::fs::read(directory.join(file)).expect("scenes saved it");
            read(&inside) != read(&through)
        })
        .collect();
    assert!(
        differing.is_empty(),
        "{differing:?} differ between {} and {}",
        inside.display(),
        through.display()
    );
}

#[test]
fn the_driver_finds_the_node_by_itself() {
    let output = icd::command(env!("CARGO_BIN_EXE_scenes"), &icd::ours())
        .env("VC4VK_DEVICE", "auto")
        .env("VC4VK_LOG", "info")
        .env("LD_PRELOAD", icd::drm_shim())
        .args([env!("CARGO_TARGET_TMPDIR"), "no such scene"])
        .output()
        .expect("scenes starts");
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && log.contains("/dev/dri/renderD128"), "{log}");
}
