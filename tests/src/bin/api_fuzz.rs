//! Runs random programs of the API on the driver that the Vulkan loader finds, for `tests/api.rs`.
//!
//! `api_fuzz [valid|invalid] [first=SEED] [count=N] [moves=N] [threads=N] [seconds=N] [offscreen] [results] [bytes=N] [print]
//! [keep=STEP,…]`: a line per finding, and what buffers and images hold if results are asked for (a digest, and so many bytes from both ends); `print` shows the steps of
//! a program instead.

use std::process::ExitCode;

fn main() -> ExitCode {
    vc4_tests::api::work::main(std::env::args().skip(1))
}
