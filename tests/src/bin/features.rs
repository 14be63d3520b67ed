//! Draws the features whose SPIR-V lies in a directory, on the driver that the Vulkan loader finds, and saves them as PNG.
//!
//! `features SPIRV_DIR OUT_DIR [NAME...]`: all features, or the named ones. A feature that the driver refuses leaves no
//! picture and a line on the error output.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::{features, harness::Harness};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(modules), Some(pictures)) =
        (arguments.next().map(PathBuf::from), arguments.next().map(PathBuf::from))
    else {
        eprintln!("usage: features SPIRV_DIR OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    let names: Vec<String> = arguments.collect();
    let harness = match Harness::new() {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("features: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("device: {}", harness.device_name());
    for feature in features::all() {
        if !names.is_empty() && !names.contains(&feature.name) {
            continue;
        }
        let drawn = feature.scene(&modules).map_err(Into::into).and_then(|scene| {
            let picture = harness.draw(&scene)?;
            Ok(picture.save_png(&pictures.join(format!("{}.png", feature.name)))?)
        });
        if let Err(error) = drawn as Result<(), vc4_tests::harness::Error> {
            eprintln!("{}: {error}", feature.name);
        }
    }
    ExitCode::SUCCESS
}
