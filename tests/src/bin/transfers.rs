//! Runs the transfers on the driver that the Vulkan loader finds and saves what each ends in.
//!
//! `transfers OUT_DIR [NAME...]`: a file per case, named by its number, and one of the mip chain, `chain`; none where the device has no such format.

use std::process::ExitCode;

use vc4_tests::album::Album;
use vc4_tests::transfers;

fn main() -> ExitCode {
    let album = match Album::open("transfers", std::env::args().skip(1)) {
        Ok(album) => album,
        Err(code) => return code,
    };
    let mut failed = false;
    for (number, case) in transfers::all().iter().enumerate() {
        failed |= !album.add(&case.name, |harness, directory| match case.run(harness)? {
            Some(bytes) => Ok(std::fs::write(directory.join(number.to_string()), bytes)?),
            None => Ok(()),
        });
    }
    failed |= !album.add("chain", |harness, directory| {
        Ok(std::fs::write(directory.join("chain"), transfers::chain::run(harness)?)?)
    });
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
