//! Draws the scenes on the driver that the Vulkan loader finds and saves them as PNG.
//!
//! `scenes OUT_DIR [NAME...]`: all scenes, or the named ones.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::{harness::Harness, scenes};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: scenes OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    let names: Vec<String> = arguments.collect();
    let harness = match Harness::new() {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("scenes: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("device: {}", harness.device_name());
    let mut failed = false;
    for scene in scenes::all() {
        if !names.is_empty() && !names.contains(&scene.name) {
            continue;
        }
        let start = std::time::Instant::now();
        let saved = harness
            .draw(&scene)
            .and_then(|picture| Ok(picture.save_png(&directory.join(format!("{}.png", scene.name)))?));
        match saved {
            Ok(()) => println!("{}: {:.1} ms", scene.name, start.elapsed().as_secs_f64() * 1e3),
            Err(error) => {
                failed = true;
                eprintln!("{}: {error}", scene.name);
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
