//! `bench compute`: compute kernels on the driver, beside lavapipe; those that are pictures on the simulated QPUs, beside one core.

use std::path::Path;
use std::process::Command;

use crate::{Error, build, packages};

/// How far apart the sums over the results of two drivers may lie: rounding, at the edges of the Mandelbrot set also other
/// numbers of iterations.
const TOLERANCE: f64 = 1e-3;

/// Kernels that are pictures.
const PICTURES: [&str; 2] = ["blur", "mandelbrot"];
/// QPUs of the chip, and the clocks that an instruction of 16 elements takes one of them.
const QPUS: f64 = 12.0;
const CLOCKS_PER_INSTRUCTION: f64 = 4.0;
const GPU_MHZ: f64 = 250.0;
/// UNVERIFIED: how many times longer does a kernel take on a core of a Raspberry Pi Zero than on one of the machine that
/// measures? A guess from clocks (1 GHz, in order, 32 bits at a time) beside a server's core.
const ZERO_SLOWDOWN: f64 = 15.0;

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
    build::cargo(&["build", "--release", "--package", "vc4-tools"])?;
    pictures(&manifest)
}

/// Prints what kernels that are pictures take the QPUs, by the instructions that the simulator executes, and one core.
fn pictures(manifest: &Path) -> Result<(), Error> {
    println!(
        "Pictures, ms: {QPUS} QPUs at {GPU_MHZ} MHz; a Zero's core is taken to be {ZERO_SLOWDOWN} times slower than one here"
    );
    println!("  {:12} {:>9} {:>9} {:>9} {:>6}", "", "QPUs", "core here", "Zero", "gain");
    for name in PICTURES {
        let core = bench(&["taskset", "-c", "0"], manifest, &[("VC4VK_COMPUTE", "cpu")], &[name])?;
        let capture = build::target_directory()?.join(format!("bench-compute-{name}.vc4cap"));
        let path = capture.display().to_string();
        let drawn = bench(&[], manifest, &[("VC4VK_COMPUTE", "qpu"), ("VC4SIM_CAPTURE", &path)], &[name])?;
        let (Some(core), Some(drawn)) = (core.first(), drawn.first()) else {
            return Err(format!("no kernel is called {name}").into());
        };
        if (core.sum - drawn.sum).abs() > TOLERANCE * core.sum.abs() {
            return Err(format!("{name}: results differ: {:e}, on the QPUs {:e}", core.sum, drawn.sum).into());
        }
        let clocks = instructions(&capture)? * CLOCKS_PER_INSTRUCTION / QPUS;
        std::fs::remove_file(&capture)?;
        let (qpu, here) = (clocks / (GPU_MHZ * 1e6), core.dispatch);
        let zero = here * ZERO_SLOWDOWN;
        println!("  {name:12} {:9.2} {:9.2} {:9.1} {:6.2}", qpu * 1e3, here * 1e3, zero * 1e3, zero / qpu);
    }
    Ok(())
}

/// The most QPU instructions of any submission of a capture: a dispatch's.
fn instructions(capture: &Path) -> Result<f64, Error> {
    let program = build::target_directory()?.join("release/vc4");
    let output = Command::new(&program).args(["sim", "replay"]).arg(capture).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let count = |line: &str| {
        let mut words = line.split_whitespace().rev();
        words.find(|word| *word == "instructions").and_then(|_| words.next())?.parse::<f64>().ok()
    };
    let most = text.lines().filter(|line| line.contains(" instances ")).filter_map(count).reduce(f64::max);
    most.ok_or_else(|| format!("{} has no submission that ran", capture.display()).into())
}

/// Runs the kernels on the driver of a manifest.
fn rows(manifest: &Path) -> Result<Vec<Row>, Error> {
    bench(&[], manifest, &[], &[])
}

/// Runs kernels of these names, or all, behind the words of another command.
fn bench(
    around: &[&str],
    manifest: &Path,
    environment: &[(&str, &str)],
    names: &[&str],
) -> Result<Vec<Row>, Error> {
    let program = build::target_directory()?.join("release/bench_compute");
    let shown = program.display().to_string();
    let mut words = around.iter().copied().chain([shown.as_str()]).chain(names.iter().copied());
    let output = Command::new(words.next().unwrap_or_default())
        .args(words)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        // lavapipe keeps machine code in files: a second run would find its pipelines made.
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .envs(environment.iter().copied())
        .output()
        .map_err(|error| format!("{shown}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{shown} failed ({}):\n{text}{said}", output.status).into());
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
