//! Khronos' OpenGL ES 2 tests on the simulated device, in one of two ways.
//!
//! With Mesa's own vc4 driver: Mesa runs the same cases on Raspberry Pi 3 boards and publishes which fail there, and as many
//! must fail here, and the same. With this machine's zink, OpenGL upon Vulkan: then they are tests of our driver.
//!
//! What is expected stands under `tests/gles2/`, in `deqp-runner`'s form, each block with its cause.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::deqp::{self, Run};
use crate::display::Display;
use crate::{Error, build, packages};

/// Cases that one process of the tests runs.
const CASES_PER_PROCESS: usize = 250;

/// How boards are asked (Mesa's `deqp-broadcom-rpi3.toml`).
const SURFACE: [&str; 5] = [
    "--deqp-surface-type=pbuffer",
    "--deqp-gl-config-name=rgba8888d24s8ms0",
    "--deqp-surface-width=256",
    "--deqp-surface-height=256",
    "--deqp-log-images=disable",
];

#[derive(clap::Args)]
#[group(id = "gles2_options")]
pub struct Options {
    /// The list of cases: gles2-master.txt of VK-GL-CTS' mustpass lists.
    #[arg(long, value_name = "FILE", requires = "gles2")]
    gles2_cases: Option<PathBuf>,
    /// Where Mesa with its vc4 driver for this machine is installed (its `--prefix`).
    #[arg(long, value_name = "PREFIX", requires = "gles2", conflicts_with = "gles2_zink")]
    gles2_mesa: Option<PathBuf>,
    /// Run them with zink of this machine's Mesa, on the driver.
    #[arg(long, requires = "gles2")]
    gles2_zink: bool,
}

/// Runs all cases; an error when one ends otherwise than the lists expect.
pub fn run(deqp: &Path, options: &Options, install: bool) -> Result<(), Error> {
    let deqp = deqp::program(deqp, "build deqp-gles2 of VK-GL-CTS first: tests/gles2/README.md")?;
    let missing =
        |option: &str, what: &str| format!("{option} is missing: {what}; see tests/gles2/README.md");
    let cases = options.gles2_cases.as_deref();
    let cases = cases.ok_or_else(|| missing("--gles2-cases", "the list of cases, gles2-master.txt"))?;
    let cases = cases.canonicalize().map_err(|error| format!("{}: {error}", cases.display()))?;
    if options.gles2_zink {
        return through_zink(&deqp, &cases, install);
    }
    let prefix = options.gles2_mesa.as_deref();
    let prefix = prefix.ok_or_else(|| missing("--gles2-mesa", "where Mesa is installed, or --gles2-zink"))?;
    let mesa = Mesa::find(prefix)?;
    packages::require(packages::RUN, install)?;
    deqp::require_runner()?;
    build::cargo(&["build", "--package", "vc4-drm-shim", "--release"])?;
    let shim = build::target_directory()?.join("release/libvc4_drm_shim.so").canonicalize()?;
    // The runner itself must not have the device: the library is for the tests alone.
    let preload = format!("export LD_PRELOAD='{}'", shim.display());
    all(&deqp, &cases, ("gles2", &preload), |command| mesa.prepare(command))
}

/// As [`run`], by zink on the driver. Mesa 22.3's threaded front end has no commands for contexts of OpenGL ES 2 alone.
fn through_zink(deqp: &Path, cases: &Path, install: bool) -> Result<(), Error> {
    packages::require(packages::RUN, install)?;
    packages::require(&["libgl1-mesa-dri", "libegl1", "libgles2"], install)?;
    deqp::require_runner()?;
    let manifest = build::driver()?;
    let display = Display::private()?;
    all(deqp, cases, ("gles2/zink", deqp::WITHOUT_NEWER_OPTIONS), |command| {
        command.env("DISPLAY", &display.name).env("EGL_PLATFORM", "x11");
        command.env("MESA_LOADER_DRIVER_OVERRIDE", "zink").env("mesa_glthread", "false");
        command.env("VK_DRIVER_FILES", &manifest).env("VK_ICD_FILENAMES", &manifest);
        // Zink leaves out devices that call themselves CPUs.
        command.env("VC4VK_DEVICE", "sim").env("VC4VK_DEBUG", "gpu").env("VC4VK_LOG", "error");
    })
}

/// Runs the cases with the expectations of a directory below `tests/`; `before` stands in front of each start of the tests.
fn all(
    deqp: &Path,
    cases: &Path,
    (lists, before): (&str, &str),
    prepare: impl FnOnce(&mut Command),
) -> Result<(), Error> {
    let output = build::target_directory()?.join(lists);
    fs::create_dir_all(&output)?;
    let output = output.canonicalize()?;
    let (script, results) = (deqp::script(deqp, &output, before)?, output.join("results"));
    let expected = build::workspace().join("tests").join(lists);
    let run = Run {
        script: &script,
        list: cases,
        output: &results,
        expectations: Some(&expected),
        cases_per_process: CASES_PER_PROCESS,
        patience: deqp::PATIENCE,
        arguments: &SURFACE,
    };
    match run.run(prepare)? {
        true => Ok(()),
        false => Err(format!(
            "cases ended otherwise than tests/{lists} expects: {}",
            results.join("failures.csv").display()
        )
        .into()),
    }
}

/// A Mesa of the user's own.
struct Mesa {
    libraries: PathBuf,
}

impl Mesa {
    /// The libraries below `prefix`.
    fn find(prefix: &Path) -> Result<Mesa, Error> {
        let multiarch = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
        let places = ["lib", "lib64", &multiarch].map(|place| prefix.join(place));
        let found = places.into_iter().find(|place| place.join("dri/vc4_dri.so").exists());
        let libraries = found.ok_or_else(|| {
            format!(
                "{}: no dri/vc4_dri.so in its libraries; build Mesa with -Dgallium-drivers=vc4: tests/gles2/README.md",
                prefix.display()
            )
        })?;
        Ok(Mesa { libraries: libraries.canonicalize()? })
    }

    fn prepare(&self, command: &mut Command) {
        command.env("LD_LIBRARY_PATH", &self.libraries);
        command.env("LIBGL_DRIVERS_PATH", self.libraries.join("dri"));
        // Another driver would pass as well.
        command.env("EGL_PLATFORM", "surfaceless").env("MESA_LOADER_DRIVER_OVERRIDE", "vc4");
        command.env("MESA_SHADER_CACHE_DISABLE", "true").env("VC4SIM_THREADS", "1");
    }
}
