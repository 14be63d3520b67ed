//! Runs the programs of [`vc4_tests::drawing`] on the driver that the Vulkan loader finds and saves their pictures.
//!
//! `drawing OUT_DIR [NAME...]`: all programs, or the named ones.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::lab::Lab;
use vc4_tests::{drawing, harness::Harness};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: drawing OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    let names: Vec<String> = arguments.collect();
    let harness = match Harness::new() {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("drawing: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("device: {}", harness.device_name());
    let mut failed = false;
    for case in drawing::all() {
        if !names.is_empty() && !names.iter().any(|name| name == case.name) {
            continue;
        }
        let saved = (case.run)(&Lab::new(&harness))
            .and_then(|picture| Ok(picture.save_png(&directory.join(format!("{}.png", case.name)))?));
        match saved {
            Ok(()) => println!("{}", case.name),
            Err(error) => {
                failed = true;
                eprintln!("{}: {error}", case.name);
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
