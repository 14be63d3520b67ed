//! Khronos' conformance tests (`vulkan-cts-1.0.2.6`, built by the user) through `deqp-runner` on the simulated device.
//!
//! What is expected stands under `tests/cts/`: `groups.txt` names the groups, `fails.txt`, `flakes.txt` and `skips.txt` the
//! cases that do not pass, in `deqp-runner`'s form, each block with its cause. Cases of `long.txt` run without strict mode.

mod cases;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::deqp::{self, Run};
use crate::display::Display;
use crate::{Error, build, packages};

/// Cases that one process of the tests runs.
const CASES_PER_PROCESS: usize = 100;
/// Seconds that one case of `long.txt` may take.
const LONG_PATIENCE: u32 = 600;

#[derive(clap::Args)]
#[group(id = "cts_options")]
pub struct Options {
    /// Groups to run, instead of those of tests/cts/groups.txt: prefixes of case names, `dEQP-VK.` may be left out.
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "cts")]
    groups: Vec<String>,
    /// Run every Nth case, but no fewer than --at-least of each group; 1 runs all.
    #[arg(long, value_name = "N", requires = "cts")]
    fraction: Option<usize>,
    /// Cases of each group to run whatever the fraction, evenly spaced.
    #[arg(long, value_name = "N", default_value_t = 60, requires = "cts")]
    at_least: usize,
    /// A list of case names to choose from (vk-default.txt of the mustpass directory), instead of all that the binary has.
    #[arg(long, value_name = "FILE", requires = "cts")]
    cases: Option<PathBuf>,
    /// Where results go; by default cts/ in the target directory.
    #[arg(long, value_name = "DIRECTORY", requires = "cts")]
    output: Option<PathBuf>,
    /// Run the same cases on another driver too, and print how long both took.
    #[arg(long, value_name = "MANIFEST", requires = "cts")]
    beside: Option<PathBuf>,
}

/// Runs a sample of the tests and prints a table; an error when a case ends otherwise than the lists expect.
pub fn run(deqp: &Path, options: &Options, install: bool) -> Result<(), Error> {
    let deqp = deqp::program(deqp, "build deqp-vk of vulkan-cts-1.0.2.6 first: tests/cts/README.md")?;
    packages::require(packages::RUN, install)?;
    deqp::require_runner()?;
    let manifest = build::driver()?;
    let output = match &options.output {
        Some(directory) => directory.clone(),
        None => build::target_directory()?.join("cts"),
    };
    fs::create_dir_all(&output)?;
    let output = output.canonicalize()?;

    let all = match &options.cases {
        Some(file) => cases::read(&fs::read_to_string(file)?),
        None => cases::of(&deqp)?,
    };
    let groups = if options.groups.is_empty() {
        cases::Groups::parse(&fs::read_to_string(lists().join("groups.txt"))?)
    } else {
        cases::Groups::named(&options.groups)
    };
    let chosen = groups.sample(&all, options.fraction, options.at_least);
    if chosen.is_empty() {
        return Err("no case belongs to these groups".into());
    }
    println!("{} cases of {}", chosen.len(), all.len());
    let long = cases::read(&fs::read_to_string(lists().join("long.txt"))?);
    let (long, usual): (Vec<String>, Vec<String>) =
        chosen.iter().cloned().partition(|case| long.contains(case));

    let display = Display::private()?;
    let script = deqp::script(&deqp, &output, deqp::WITHOUT_NEWER_OPTIONS)?;
    let runner = Runner { script: &script, display: &display };
    let start = Instant::now();
    let (mut expected, mut results, mut failures) = (true, String::new(), Vec::new());
    // Strict: every submission passes the kernel's rules, and no program breaks one of the hardware. What takes long runs as
    // machine code, which judges nothing.
    for (name, cases, debug, patience) in
        [("vc4", usual, "strict", deqp::PATIENCE), ("vc4-long", long, "compile", LONG_PATIENCE)]
    {
        if cases.is_empty() {
            continue;
        }
        let directory = output.join(name);
        expected &= runner.run(&manifest, &cases, &directory, patience, Some(debug))?;
        results += &fs::read_to_string(directory.join("results.csv"))?;
        failures.push(directory.join("failures.csv").display().to_string());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", table::print(&groups, &table::parse(&results)));
    println!("{seconds:.0} s; results: {}", output.join("vc4").display());
    if let Some(other) = &options.beside {
        let start = Instant::now();
        runner.run(&other.canonicalize()?, &chosen, &output.join("beside"), LONG_PATIENCE, None)?;
        let theirs = start.elapsed().as_secs_f64();
        println!("{}: {theirs:.0} s for the same cases, {:.2} of ours", other.display(), theirs / seconds);
    }
    if expected {
        Ok(())
    } else {
        Err(format!("cases ended otherwise than tests/cts expects: {}", failures.join(", ")).into())
    }
}

/// Where the expectations stand.
fn lists() -> PathBuf {
    build::workspace().join("tests/cts")
}

/// What all runs share.
struct Runner<'a> {
    /// Starts the tests.
    script: &'a Path,
    display: &'a Display,
}

impl Runner<'_> {
    /// Runs cases on the driver of `manifest`; whether all ended as expected. `debug` is for our driver, of which something
    /// is expected.
    fn run(
        &self,
        manifest: &Path,
        cases: &[String],
        output: &Path,
        patience: u32,
        debug: Option<&str>,
    ) -> Result<bool, Error> {
        let lists = lists();
        let list = output.with_extension("txt");
        fs::write(&list, cases.join("\n") + "\n")?;
        let run = Run {
            script: self.script,
            list: &list,
            output,
            expectations: debug.map(|_| &*lists),
            cases_per_process: CASES_PER_PROCESS,
            patience,
            arguments: &["--deqp-log-images=disable", "--deqp-validation=disable"],
        };
        run.run(|command| {
            command.env("DISPLAY", &self.display.name);
            command.env("VK_DRIVER_FILES", manifest).env("VK_ICD_FILENAMES", manifest);
            command.env("VC4VK_DEBUG", debug.unwrap_or_default()).env("VC4VK_LOG", "error");
        })
    }
}
