//! Times compute kernels on the driver that the Vulkan loader finds: a row per kernel, tab-separated, with the seconds of a
//! dispatch, those of making the pipeline, and the sum over the result. `cargo xtask bench compute` runs it on two drivers.
//!
//! `bench_compute [NAME...]`

use std::process::ExitCode;

use vc4_tests::kernels::KERNELS;
use vc4_tests::vulkan::Harness;

fn main() -> ExitCode {
    let harness = match Harness::new() {
        Ok(harness) => harness,
        Err(error) => {
            eprintln!("bench_compute: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("# {}", harness.device_name());
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut failed = false;
    for kernel in
        KERNELS.iter().filter(|kernel| names.is_empty() || names.iter().any(|name| name == kernel.name))
    {
        match kernel.measure(&harness) {
            Ok(measured) => {
                println!(
                    "{}\t{:.6}\t{:.6}\t{:e}",
                    kernel.name, measured.dispatch, measured.pipeline, measured.sum
                )
            }
            Err(error) => {
                eprintln!("{}: {error}", kernel.name);
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
