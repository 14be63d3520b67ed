//! Runs the programs of [`vc4_tests::drawing`] on the driver that the Vulkan loader finds and saves their pictures.
//!
//! `drawing OUT_DIR [NAME...]`: all programs with pictures, or the named ones, also those that are priced.

use std::process::ExitCode;

use vc4_tests::album::Album;
use vc4_tests::drawing;
use vc4_tests::vulkan::Lab;

fn main() -> ExitCode {
    let album = match Album::open("drawing", std::env::args().skip(1)) {
        Ok(album) => album,
        Err(code) => return code,
    };
    let mut failed = false;
    let priced = drawing::priced().iter().filter(|case| album.names(case.name)).copied();
    for case in drawing::all().into_iter().chain(priced) {
        failed |= !album.add(case.name, |harness, directory| {
            let file = directory.join(format!("{}.png", case.name));
            Ok((case.run)(&Lab::new(harness))?.save_png(&file)?)
        });
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
