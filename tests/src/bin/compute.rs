//! Runs compute kernels whose SPIR-V lies in a directory on the driver that the Vulkan loader finds, and saves what each
//! leaves.
//!
//! `compute SPIRV_DIR OUT_DIR [NAME...]`: a file per case; `compute --endless SPIRV_DIR`: a kernel that does not end.

use std::path::PathBuf;
use std::process::ExitCode;

use vc4_tests::album::Album;
use vc4_tests::compute;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let endless = arguments.next_if(|argument| argument == "--endless").is_some();
    let Some(modules) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: compute [--endless] SPIRV_DIR OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    if endless {
        return match compute::endless(&modules) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("compute: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let album = match Album::open("compute SPIRV_DIR", arguments) {
        Ok(album) => album,
        Err(code) => return code,
    };
    let own = album.device_name().contains("VideoCore");
    for case in compute::all().iter().filter(|case| own || case.expected.is_none()) {
        album.add(&case.name, |harness, directory| {
            Ok(std::fs::write(case.result(directory), case.run(harness, &modules)?)?)
        });
    }
    for (name, run) in compute::SEQUENCES {
        album.add(name, |harness, directory| {
            Ok(std::fs::write(directory.join(name), run(harness, &modules)?)?)
        });
    }
    ExitCode::SUCCESS
}
