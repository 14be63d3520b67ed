//! Draws the features whose SPIR-V lies in a directory, on the driver that the Vulkan loader finds, and saves them as PNG.
//!
//! `features SPIRV_DIR OUT_DIR [NAME...]`: all features, or the named ones; `features --corpus SPIRV_DIR OUT_DIR [NAME...]`: the shared
//! corpus. What the driver refuses leaves no picture and a line on the error output.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::harness::{Error, Harness};
use vc4_tests::scenes::Scene;
use vc4_tests::{corpus_scenes, features};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let shared = arguments.next_if(|argument| argument == "--corpus").is_some();
    let (Some(modules), Some(pictures)) =
        (arguments.next().map(PathBuf::from), arguments.next().map(PathBuf::from))
    else {
        eprintln!("usage: features [--corpus] SPIRV_DIR OUT_DIR [NAME...]");
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
    let draw = |name: &str, scene: std::io::Result<Scene>| {
        let drawn: Result<(), Error> = scene.map_err(Into::into).and_then(|scene| {
            let picture = harness.draw(&scene)?;
            Ok(picture.save_png(&pictures.join(format!("{name}.png")))?)
        });
        if let Err(error) = drawn {
            eprintln!("{name}: {error}");
        }
    };
    let wanted = |name: &String| names.is_empty() || names.contains(name);
    if shared {
        let sources = vc4_tests::shared::path("shader-corpus");
        for name in corpus_scenes::names(&sources) {
            if wanted(&name) {
                draw(&name, corpus_scenes::scene(&sources, &name, &modules));
            }
        }
        return ExitCode::SUCCESS;
    }
    for feature in features::all() {
        if wanted(&feature.name) {
            draw(&feature.name, feature.scene(&modules));
        }
    }
    ExitCode::SUCCESS
}
