//! `bench draws`: what a draw costs the host, in time and in instructions.

use std::path::PathBuf;
use std::process::Command;

use crate::{Error, build, packages};

/// Draws of the shorter of two runs whose difference is counted.
const DRAWS: u64 = 1000;
/// Frames of each counted run: all but the first find their tables grown.
const FRAMES: u64 = 5;
/// Frames of the shorter of two runs of one recording.
const AGAIN_FRAMES: u64 = 100;
/// The bench's cases.
const CASES: [&str; 4] = ["push", "uniform", "indexed", "same"];

/// Prints time per draw, then instructions per draw as valgrind counts them.
pub fn run(install: bool) -> Result<(), Error> {
    packages::require(&["valgrind"], install)?;
    let arguments = ["bench", "--package", "vc4-icd", "--bench", "draws"];
    build::cargo(&arguments)?;
    let program = executable(&arguments)?;
    println!("host instructions per draw, both threads, by valgrind");
    for case in CASES {
        let [short, long] =
            [DRAWS, 2 * DRAWS].map(|draws| instructions(&program, case, (draws, FRAMES), &[]));
        let count = (long? - short?) as f64 / (DRAWS * FRAMES) as f64;
        println!("  {case:8} {count:7.0}");
    }
    println!("the same of {DRAWS} draws that are submitted again");
    for case in CASES {
        let [short, long] = [AGAIN_FRAMES, 2 * AGAIN_FRAMES]
            .map(|frames| instructions(&program, case, (DRAWS, frames), &["--again"]));
        let count = (long? - short?) as f64 / (DRAWS * AGAIN_FRAMES) as f64;
        println!("  {case:8} {count:7.1}");
    }
    Ok(())
}

/// Where cargo put the bench.
fn executable(arguments: &[&str]) -> Result<PathBuf, Error> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(arguments)
        .args(["--no-run", "--message-format=short"])
        .current_dir(build::workspace())
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let path =
        text.lines().find_map(|line| line.trim().strip_prefix("Executable ")?.split(['(', ')']).nth(1));
    let path = path.ok_or_else(|| format!("cargo does not say where the bench is:\n{text}"))?;
    Ok(build::workspace().join(path))
}

/// Instructions that valgrind counts in a run.
fn instructions(
    program: &PathBuf,
    case: &str,
    (draws, frames): (u64, u64),
    more: &[&str],
) -> Result<u64, Error> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["--case", case, "--draws", &draws.to_string(), "--frames", &frames.to_string()])
        .args(more)
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split("Collected :").nth(1)?.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind failed ({}):\n{text}", output.status).into())
}
