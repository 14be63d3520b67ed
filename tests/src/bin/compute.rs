//! Runs compute kernels whose SPIR-V lies in a directory on the driver that the Vulkan loader finds, and saves what each
//! leaves.
//!
//! `compute SPIRV_DIR OUT_DIR [NAME...]`: a file per case; `compute --endless SPIRV_DIR`: a kernel that does not end;
//! `compute --repeated SPIRV_DIR`: one again and again until the standard input ends;
//! `compute --made-up DIR OUT_DIR [NAME...]`: the cases that a suite has written there.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use vc4_tests::album::Album;
use vc4_tests::compute;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let endless = arguments.next_if(|argument| argument == "--endless").is_some();
    let repeated = arguments.next_if(|argument| argument == "--repeated").is_some();
    let made_up = arguments.next_if(|argument| argument == "--made-up").is_some();
    let Some(modules) = arguments.next().map(PathBuf::from) else {
        eprintln!("usage: compute [--endless|--repeated|--made-up] SPIRV_DIR OUT_DIR [NAME...]");
        return ExitCode::from(2);
    };
    if endless || repeated {
        let ended = match endless {
            true => compute::endless(&modules),
            false => compute::repeated(&modules, &input_ended()),
        };
        return match ended {
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
    if made_up {
        let cases = match compute::read(&modules) {
            Ok(cases) => cases,
            Err(error) => {
                eprintln!("compute: {error}");
                return ExitCode::FAILURE;
            }
        };
        for case in &cases {
            album.add(&case.name, |harness, directory| {
                Ok(std::fs::write(case.result(directory), case.run(harness, &modules)?)?)
            });
        }
        return ExitCode::SUCCESS;
    }
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

/// Whether the standard input has ended.
fn input_ended() -> impl Fn() -> bool {
    let ended = Arc::new(AtomicBool::new(false));
    let setting = ended.clone();
    std::thread::spawn(move || {
        // An error ends it, too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        setting.store(true, Ordering::Relaxed);
    });
    move || ended.load(Ordering::Relaxed)
}
