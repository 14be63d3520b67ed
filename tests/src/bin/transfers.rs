//! Runs the transfers on the driver that the Vulkan loader finds and saves what each ends in.
//!
//! `transfers OUT_DIR`: a file per case, named by its number; none where the device has no such format.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::{harness::Harness, transfers};

fn main() -> ExitCode {
    let Some(directory) = std::env::args().nth(1).map(PathBuf::from) else {
        eprintln!("usage: transfers OUT_DIR");
        return ExitCode::from(2);
    };
    let harness = match Harness::new() {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("transfers: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut failed = false;
    for (number, case) in transfers::all().iter().enumerate() {
        let saved = case.run(&harness).and_then(|bytes| match bytes {
            Some(bytes) => Ok(std::fs::write(directory.join(number.to_string()), bytes)?),
            None => Ok(()),
        });
        if let Err(error) = saved {
            failed = true;
            eprintln!("{}: {error}", case.name);
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
