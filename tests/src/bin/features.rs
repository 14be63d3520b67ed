//! Draws the features whose SPIR-V lies in a directory, on the driver that the Vulkan loader finds, and saves them as PNG.
//!
//! `features SPIRV_DIR OUT_DIR [NAME...]`: all features, or the named ones; `features --corpus SPIRV_DIR OUT_DIR [NAME...]`: the shared
//! corpus. What the driver refuses leaves no picture and a line on the error output.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::album::Album;
use vc4_tests::scene::Scene;
use vc4_tests::{corpus, features, player};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let shared = arguments.next_if(|argument| argument == "--corpus").is_some();
    let Some(modules) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: features [--corpus] SPIRV_DIR OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    let album = match Album::open("features [--corpus] SPIRV_DIR", arguments) {
        Ok(album) => album,
        Err(code) => return code,
    };
    let draw = |name: &str, scene: &dyn Fn() -> std::io::Result<Scene>| {
        album.add(name, |harness, directory| {
            let picture = player::draw(harness, &scene()?)?;
            Ok(picture.save_png(&directory.join(format!("{name}.png")))?)
        });
    };
    if shared {
        let sources = vc4_tests::shared::path("shader-corpus");
        for name in corpus::scenes::names(&sources) {
            draw(&name, &|| corpus::scenes::scene(&sources, &name, &modules));
        }
        return ExitCode::SUCCESS;
    }
    for feature in features::all() {
        draw(&feature.name, &|| feature.scene(&modules));
    }
    ExitCode::SUCCESS
}
