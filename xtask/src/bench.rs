//! Measurements, printed as tables; ratios where a peer runs beside.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::build;
use crate::display::Display;
use crate::vkcube::{self, Capture};
use crate::{Error, compute, draws, frames, host, packages, programs};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// vkcube on the driver, beside lavapipe.
    Vkcube,
    /// The compiler on the shared shader corpus, beside Mesa's: instructions, uniforms, slots, threads, time per pass.
    Compiler,
    /// The simulator alone: a textured quad, instructions, triangles, on one and two threads.
    Sim,
    /// Recording and submitting draws, on a device that drops its jobs.
    Draws,
    /// What a frame of unmodified programs costs the CPU: bytes of BOs, and instructions.
    Host,
    /// Making pipelines: compiled, and from a pipeline cache.
    Pipelines,
    /// Compute kernels on the driver, beside lavapipe.
    Compute,
    /// What the silicon would take for a frame, by the simulator's counts, beside Mesa's OpenGL ES driver.
    Frames,
    /// Games and other programs on the simulated device, beside lavapipe: frames per second and CPU time.
    Programs,
}

#[derive(clap::Args)]
pub struct Options {
    /// What is measured.
    #[arg(value_enum, default_value_t = What::Vkcube)]
    what: What,
    /// Frames of each vkcube run.
    #[arg(long, default_value_t = 300)]
    frames: u32,
    /// With `draws` and `host`: count on these machines, too, under QEMU: aarch64, armv7.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    machines: Vec<String>,
    /// With `frames`, `host` and `programs`: only these frames, these programs.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    if options.what == What::Draws {
        return draws::run(&options.machines, install);
    }
    if options.what == What::Host {
        return host::run(&options.names, &options.machines, options.frames, install);
    }
    if options.what == What::Programs {
        return programs::run(&options.names, install);
    }
    if options.what == What::Frames {
        return frames::run(&options.names, install);
    }
    if options.what == What::Compute {
        return compute::run(install);
    }
    if options.what == What::Sim {
        return build::cargo(&["bench", "--package", "vc4-sim", "--bench", "frame"]);
    }
    if options.what == What::Pipelines {
        return build::cargo(&["bench", "--package", "vc4-icd", "--bench", "pipelines"]);
    }
    if options.what == What::Compiler {
        packages::require(&["glslang-tools"], install)?;
        return build::cargo(&["run", "--release", "--package", "vc4-tests", "--bin", "bench_compiler"]);
    }
    packages::require(packages::RUN, install)?;
    packages::require(&["mesa-vulkan-drivers"], install)?;
    let manifest = build::driver()?;
    let display = Display::private()?;
    let capture = Capture::new()?;
    let ours = vkcube::cube(&manifest, &display, &capture, options.frames, true)?;
    println!("vkcube 500x500, {} frames without waiting for the display", ours.frames);
    println!("  device                {}", ours.device);
    println!("  frames per second     {:.1}", ours.rate());
    println!("  first frame after     {:.0} ms", ours.first_frame * 1e3);
    println!("  peak resident memory  {:.1} MiB", ours.peak_kib as f64 / 1024.0);
    beside_lavapipe(&manifest, &display, options.frames)
}

/// Both drivers by wall clock: the time of additional frames, so that starting does not count.
fn beside_lavapipe(manifest: &Path, display: &Display, frames: u32) -> Result<(), Error> {
    let reference = format!("/usr/share/vulkan/icd.d/lvp_icd.{}.json", std::env::consts::ARCH);
    let rate = |manifest: &Path| -> Result<f64, Error> {
        let short = seconds(manifest, display, frames / 10 + 1)?;
        let long = seconds(manifest, display, frames / 10 + 1 + frames)?;
        Ok(f64::from(frames) / (long - short))
    };
    let (ours, theirs) = (rate(manifest)?, rate(Path::new(&reference))?);
    println!("The same by wall clock, beside Mesa's lavapipe (which simulates no GPU)");
    println!("  ours                  {ours:.1} frames per second");
    println!("  lavapipe              {theirs:.1} frames per second");
    println!("  ours / lavapipe       {:.2}", ours / theirs);
    Ok(())
}

/// Wall-clock seconds of a whole vkcube run.
fn seconds(manifest: &Path, display: &Display, frames: u32) -> Result<f64, Error> {
    let start = Instant::now();
    let status = Command::new("vkcube")
        .args(["--suppress_popups", "--present_mode", "0", "--c", &frames.to_string()])
        .env("DISPLAY", &display.name)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| format!("vkcube: {error}"))?;
    if status.success() {
        Ok(start.elapsed().as_secs_f64())
    } else {
        Err(format!("vkcube failed ({status})").into())
    }
}
