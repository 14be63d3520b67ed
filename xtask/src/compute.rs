//! `bench compute`: compute kernels on the driver, beside lavapipe.

use std::path::Path;
use std::process::Command;

use crate::{Error, build, packages};

/// How far apart the sums over the results of two drivers may lie: rounding, at the edges of the Mandelbrot set also other
/// numbers of iterations.
const TOLERANCE: f64 = 1e-3;

/// A kernel on one driver.
struct Row {
    name: String,
    dispatch: f64,
    pipeline: f64,
    sum: f64,
}

/// Prints the time of a dispatch and of a pipeline on both drivers, with ratios.
pub fn run(install: bool) -> Result<(), Error> {
    packages::require(&["mesa-vulkan-drivers", "libvulkan1"], install)?;
    let manifest = build::driver()?;
    build::cargo(&["build", "--release", "--package", "vc4-tests", "--bin", "bench_compute"])?;
    let reference = format!("/usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH);
    let ours = rows(&manifest)?;
    let theirs = rows(Path::new(&reference))?;
    println!("Compute kernels, ms; speed is lavapipe's time over ours");
    println!(
        "  {:12} {:>9} {:>9} {:>6}   {:>9} {:>9} {:>6}",
        "", "dispatch", "lavapipe", "speed", "pipeline", "lavapipe", "speed"
    );
    let mut speeds = Vec::new();
    for (our, their) in ours.iter().zip(&theirs) {
        if our.name != their.name || (our.sum - their.sum).abs() > TOLERANCE * their.sum.abs() {
            return Err(
                format!("{}: results differ: {:e}, lavapipe {:e}", our.name, our.sum, their.sum).into()
            );
        }
        let speed = their.dispatch / our.dispatch;
        println!(
            "  {:12} {:9.2} {:9.2} {:6.2}   {:9.2} {:9.2} {:6.2}",
            our.name,
            our.dispatch * 1e3,
            their.dispatch * 1e3,
            speed,
            our.pipeline * 1e3,
            their.pipeline * 1e3,
            their.pipeline / our.pipeline
        );
        speeds.push(speed);
    }
    speeds.sort_by(f64::total_cmp);
    if let (Some(least), Some(median)) = (speeds.first(), speeds.get(speeds.len() / 2)) {
        println!("  median {median:.2}, least {least:.2}");
    }
    Ok(())
}

/// Runs the kernels on the driver of a manifest.
fn rows(manifest: &Path) -> Result<Vec<Row>, Error> {
    let program = build::target_directory()?.join("release/bench_compute");
    let output = Command::new(&program)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} failed ({}):\n{text}{said}", program.display(), output.status).into());
    }
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn row(line: &str) -> Result<Row, Error> {
    let mut fields = line.split('\t');
    let name = fields.next().unwrap_or_default().to_owned();
    let mut number = || -> Result<f64, Error> {
        let field = fields.next().ok_or_else(|| format!("a row lacks a field: {line}"))?;
        field.parse().map_err(|error| format!("{line}: {error}").into())
    };
    Ok(Row { name, dispatch: number()?, pipeline: number()?, sum: number()? })
}
