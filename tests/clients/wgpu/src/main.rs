//! A program on wgpu's Vulkan back end, with the limits that wgpu asks for unless it is told otherwise: kernels whose results it
//! checks, and a picture that it saves.
//!
//! `vc4-wgpu downlevel|default OUT.pam`

use std::process::ExitCode;

mod collatz;
mod gpu;
mod picture;

use gpu::{Error, Gpu};

fn run(limits: &str, path: &str) -> Result<(), Error> {
    let gpu = Gpu::new(match limits {
        "downlevel" => wgpu::Limits::downlevel_defaults(),
        "default" => wgpu::Limits::default(),
        other => return Err(format!("{other:?} is neither downlevel nor default").into()),
    })?;
    collatz::check(&gpu)?;
    picture::save(&gpu, path)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [limits, path] = &arguments[..] else {
        eprintln!("vc4-wgpu downlevel|default OUT.pam");
        return ExitCode::FAILURE;
    };
    match run(limits, path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
