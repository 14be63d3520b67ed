//! `vc4 sim capture`

use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use vc4_sim::capture::VARIABLE;
use vc4_sim::capture::read::{Capture, Outcome};

use super::load;
use crate::output::{Error, Status};

const EXAMPLES: &str = "\
Examples:
  vc4 sim capture -- vkcube --c 60                    60 frames of vkcube to capture.vc4cap
  vc4 sim capture -o glxgears.vc4cap -- ./my-gl-app   any program, through the preloaded render node
  vc4 sim capture --in-process -- ./my-vulkan-app     our Vulkan driver with the simulator inside it
  vc4 sim replay capture.vc4cap --check               run it again without the program

The program sees the simulator as a vc4 render node (LD_PRELOAD of libvc4_drm_shim.so), so that unmodified drivers run
on it; our Vulkan driver is told to take it (VC4VK_DEVICE=drm). If our driver's manifest lies beside this program and
the environment names no other one, Vulkan programs use it. The exit code is the program's.";

/// The preload library, and the driver's manifest as `cargo xtask vkcube` writes it.
const SHIM: &str = "libvc4_drm_shim.so";
/// Where packages put the library, from the directory of programs.
const PACKAGED: &str = "../lib/vc4-tools";
const DRIVER_VARIABLES: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Write the capture to this file; one capture per process, the second is FILE.1
    #[arg(short, long, value_name = "FILE", default_value = "capture.vc4cap")]
    output: PathBuf,
    /// The preload library; without, it is looked for beside this program and where packages put it
    #[arg(long, value_name = "LIBRARY")]
    shim: Option<PathBuf>,
    /// Do not preload anything: the program uses our Vulkan driver with the simulator inside it
    #[arg(long, conflicts_with = "shim")]
    in_process: bool,
    /// Have Vulkan programs use the driver of this manifest
    #[arg(long, value_name = "MANIFEST")]
    icd: Option<PathBuf>,
    /// Only print errors
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let output = std::path::absolute(&options.output)
        .map_err(|error| Error::Write { path: options.output.clone(), error })?;
    make_room(&output)?;
    let old = existing(&output);
    let [program, arguments @ ..] = &options.command[..] else {
        return Err(Error::Input("no command was given".into()));
    };
    let mut command = Command::new(program);
    // A device that another process serves is recorded there.
    command.args(arguments).env(VARIABLE, &output).env_remove("VC4SIM_SERVER");
    if options.in_process {
        command.env("VC4VK_DEVICE", "sim");
    } else {
        let shim = shim(options)?;
        command.env("LD_PRELOAD", preload(&shim, std::env::var_os("LD_PRELOAD")));
        command.env("VC4VK_DEVICE", "drm");
    }
    if let Some(manifest) = manifest(options)? {
        command.envs(DRIVER_VARIABLES.map(|variable| (variable, &manifest)));
    }
    let status = command.status().map_err(|error| Error::Read { path: program.into(), error })?;
    let captures: Vec<PathBuf> = existing(&output).into_iter().filter(|path| !old.contains(path)).collect();
    for path in &captures {
        let capture = load::capture(path)?;
        if !options.quiet {
            eprintln!("{}", summary(path, &capture));
        }
    }
    if captures.is_empty() {
        eprintln!("vc4: {} submitted nothing to the simulator", Path::new(program).display());
    }
    Ok(Status::Exit(code(status)))
}

/// The recorder never overwrites, so an old capture of this name has to go; anything else stays.
fn make_room(output: &Path) -> Result<(), Error> {
    if load::is_capture(output)? {
        let removed = std::fs::remove_file(output);
        return removed.map_err(|error| Error::Write { path: output.to_path_buf(), error });
    }
    if output.exists() {
        return Err(Error::Input(format!("{} exists and is no capture; remove it first", output.display())));
    }
    Ok(())
}

/// Captures of this name: `FILE`, `FILE.1`, ….
fn existing(output: &Path) -> Vec<PathBuf> {
    let numbered = (1..).map(|n| {
        let mut name = output.as_os_str().to_owned();
        name.push(format!(".{n}"));
        PathBuf::from(name)
    });
    let first = output.to_path_buf();
    let first = first.exists().then_some(first);
    first.into_iter().chain(numbered.take_while(|path| path.exists())).collect()
}

/// A file where packages put it.
fn packaged(name: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    Some(executable.parent()?.join(PACKAGED).join(name)).filter(|path| path.exists())
}

/// A file that the build puts beside this program, or one directory up from a test.
fn beside(name: &str) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let directories = executable.ancestors().skip(1).take(2);
    directories.map(|directory| directory.join(name)).find(|path| path.exists())
}

fn shim(options: &Options) -> Result<PathBuf, Error> {
    let found = options.shim.clone().or_else(|| beside(SHIM)).or_else(|| packaged(SHIM)).ok_or_else(|| {
        Error::Input(format!(
            "{SHIM} is not beside this program; build it (cargo build -p vc4-drm-shim), name it with --shim, \
             or use --in-process"
        ))
    })?;
    // The loader searches its own paths for names without a slash, and warns instead of failing.
    std::fs::canonicalize(&found).map_err(|error| Error::Read { path: found, error })
}

/// What is preloaded already stays, behind ours.
fn preload(shim: &Path, before: Option<OsString>) -> OsString {
    let mut list = shim.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        list.push(OsStr::new(":"));
        list.push(before);
    }
    list
}

fn manifest(options: &Options) -> Result<Option<PathBuf>, Error> {
    if let Some(named) = &options.icd {
        let path = std::fs::canonicalize(named);
        return path.map(Some).map_err(|error| Error::Read { path: named.clone(), error });
    }
    if DRIVER_VARIABLES.iter().any(|variable| std::env::var_os(variable).is_some()) {
        return Ok(None);
    }
    Ok(beside(&format!("vc4_icd.{}.json", std::env::consts::ARCH)))
}

/// As a shell tells it: 128 and the signal for a process that a signal ended.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// One line about a capture.
pub fn summary(path: &Path, capture: &Capture) -> String {
    let (mut refused, mut hung, mut unknown, mut instructions) = (0, 0, 0, 0);
    for entry in &capture.entries {
        match &entry.outcome {
            Outcome::Done(done) => {
                hung += usize::from(done.hang.is_some());
                instructions += done.instructions;
            }
            Outcome::Refused { .. } => refused += 1,
            Outcome::Unknown => unknown += 1,
        }
    }
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut line = format!(
        "{}: {} submissions of {} (process {}), {instructions} QPU instructions, {} pages, {bytes} bytes",
        path.display(),
        capture.entries.len(),
        capture.head.program,
        capture.head.process,
        capture.pages()
    );
    for (count, what) in [(refused, "refused"), (hung, "hung"), (unknown, "unfinished")] {
        if count > 0 {
            line.push_str(&format!(", {count} {what}"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_preloaded_stays() {
        let shim = Path::new("/lib/shim.so");
        assert_eq!(preload(shim, None), "/lib/shim.so");
        assert_eq!(preload(shim, Some("".into())), "/lib/shim.so");
        assert_eq!(preload(shim, Some("a.so b.so".into())), "/lib/shim.so:a.so b.so");
    }

    #[test]
    fn exit_codes_are_those_of_a_shell() {
        assert_eq!(code(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(code(ExitStatus::from_raw(11)), 139);
    }
}
