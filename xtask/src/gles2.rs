//! Khronos' OpenGL ES 2 tests with Mesa's own vc4 driver on the simulated device. Mesa runs the same cases on Raspberry Pi 3
//! boards and publishes which fail there: as many must fail here, and the same.
//!
//! What is expected stands under `tests/gles2/`, in `deqp-runner`'s form, each block with its cause.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::deqp::{self, Run};
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
    #[arg(long, value_name = "PREFIX", requires = "gles2")]
    gles2_mesa: Option<PathBuf>,
}

/// Runs all cases; an error when one ends otherwise than the lists expect.
pub fn run(deqp: &Path, options: &Options, install: bool) -> Result<(), Error> {
    let deqp = deqp::program(deqp, "build deqp-gles2 of vulkan-cts-1.3.3.0 first: tests/gles2/README.md")?;
    let missing =
        |option: &str, what: &str| format!("{option} is missing: {what}; see tests/gles2/README.md");
    let cases = options.gles2_cases.as_deref();
    let cases = cases.ok_or_else(|| missing("--gles2-cases", "the list of cases, gles2-master.txt"))?;
    let prefix = options.gles2_mesa.as_deref();
    let prefix = prefix.ok_or_else(|| missing("--gles2-mesa", "where Mesa is installed"))?;
    let mesa = Mesa::find(prefix)?;
    packages::require(packages::RUN, install)?;
    deqp::require_runner()?;
    build::cargo(&["build", "--package", "vc4-drm-shim", "--release"])?;
    let target = build::target_directory()?;
    let shim = target.join("release/libvc4_drm_shim.so").canonicalize()?;
    let output = target.join("gles2");
    fs::create_dir_all(&output)?;
    let output = output.canonicalize()?;
    let lists = build::workspace().join("tests/gles2");
    // The runner itself must not have the device: the library is for the tests alone.
    let preload = format!("export LD_PRELOAD='{}'", shim.display());
    let run = Run {
        script: &deqp::script(&deqp, &output, &preload)?,
        list: &cases.canonicalize().map_err(|error| format!("{}: {error}", cases.display()))?,
        output: &output.join("results"),
        expectations: Some(&lists),
        cases_per_process: CASES_PER_PROCESS,
        patience: deqp::PATIENCE,
        arguments: &SURFACE,
    };
    match run.run(|command| mesa.prepare(command))? {
        true => Ok(()),
        false => Err(format!(
            "cases ended otherwise than tests/gles2 expects: {}",
            output.join("results/failures.csv").display()
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
