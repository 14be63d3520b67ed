//! Draws the scenes on the driver that the Vulkan loader finds and saves them as PNG.
//!
//! `scenes OUT_DIR [NAME...]`: all scenes, or the named ones.

use std::process::ExitCode;

use vc4_tests::album::Album;
use vc4_tests::{player, scenes};

fn main() -> ExitCode {
    let album = match Album::open("scenes", std::env::args().skip(1)) {
        Ok(album) => album,
        Err(code) => return code,
    };
    let mut failed = false;
    for scene in scenes::all() {
        failed |= !album.add(&scene.name, |harness, directory| {
            let file = directory.join(format!("{}.png", scene.name));
            Ok(player::draw(harness, &scene)?.save_png(&file)?)
        });
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
