//! `vc4 doctor`: what is wrong with the GPU of this machine.
//!
//! [`machine`] reads what the system tells, [`findings`] judges it; [`checks`] run on its GPU. All of
//! it is a [`diagnosis`]: [`text`] for a terminal, a [`document`] for programs, a [`page`] to send.

mod checks;
mod diagnosis;
mod document;
mod findings;
mod machine;
mod page;
mod text;

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use vc4_kernel_abi::Choice;

use crate::device;
use crate::output::{self, Error, Status};
use crate::probe;
use checks::CHECKS;
use diagnosis::{Depth, Diagnosis, Verdict};
use machine::{Machine, Surroundings};

const HELP: &str = "\
Examples:
  vc4 doctor                    the GPU of this Raspberry Pi
  vc4 doctor --report pi.html   all of it in one page, to send to others
  vc4 doctor --json             for programs
  vc4 doctor --device sim       the simulated GPU, on any machine

Exit codes:
  0  the GPU passed all checks; there may be warnings, notes and known pictures that differ
  1  a check failed, something else is wrong, or the report cannot be written
  2  wrong usage
  3  there is no VideoCore IV that can be used

Nothing is changed and nothing is sent anywhere. Names, addresses and serial numbers are left out.";

/// The exit code where there is no GPU.
const NO_GPU: u8 = 3;

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Options {
    /// Which GPU: auto, drm, drm:PATH (a node) or sim. Without, as VC4VK_DEVICE says
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Write all of it to one HTML page, with pictures and the JSON document inside. Asks the questions of `vc4 probe`, too
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let choice = device::choice(options.device.as_ref())?;
    let report = options.report.as_deref().map(Report::open).transpose()?;
    let machine = Machine::collect(&Surroundings {
        root: Path::new("/"),
        variable: &|name| std::env::var(name).ok(),
        open: &|path| std::fs::File::options().read(true).write(true).open(path).map(drop),
        firmware: &firmware,
    });
    // Who sends a page sends the answers, too; who looks what is wrong does not wait for them.
    let depth = if report.is_some() { Depth::Questions } else { Depth::Checks };
    let bar = progress(CHECKS.len() + if depth == Depth::Questions { probe::count() } else { 0 });
    let diagnosis = Diagnosis::make(machine, &choice, device::open(&choice), depth, &mut |name| {
        bar.set_message(name.to_owned());
        bar.inc(1);
    });
    bar.finish_and_clear();
    // A page that finds no room is no reason to say nothing, and nobody who reads on none to write no page.
    let written = report.map_or(Ok(()), |report| report.write(&page::html(&diagnosis)));
    output::print(&match options.json {
        true => format!("{}\n", document::value(&diagnosis)),
        false => text::all(&diagnosis),
    })?;
    written?;
    Ok(match diagnosis.verdict() {
        Verdict::Works => Status::Success,
        Verdict::Wrong => Status::Findings,
        Verdict::NoGpu => Status::Exit(NO_GPU),
    })
}

/// The file of the page. It is opened before the checks run, as nobody wants to wait for them twice.
struct Report<'a> {
    path: &'a Path,
    file: File,
}

impl Report<'_> {
    fn open(path: &Path) -> Result<Report<'_>, Error> {
        // What is there stays until there is something better.
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| Error::Write { path: path.to_path_buf(), error })?;
        Ok(Report { path, file })
    }

    fn write(mut self, page: &str) -> Result<(), Error> {
        // Pipes and terminals have no length.
        let emptied = match self.file.metadata() {
            Ok(metadata) if metadata.is_file() => self.file.set_len(0),
            other => other.map(drop),
        };
        emptied
            .and_then(|()| self.file.write_all(page.as_bytes()))
            .map_err(|error| Error::Write { path: self.path.to_path_buf(), error })
    }
}

/// A bar on a terminal.
fn progress(count: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    let bar = ProgressBar::new(count as u64);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The firmware's version by the command that Raspberry Pi OS has for it: date and commit.
fn firmware() -> Option<String> {
    let command = Command::new("vcgencmd").arg("version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = String::from_utf8(command.ok()?.stdout).ok()?;
    let date = text.lines().next()?.trim();
    let commit = text.lines().find_map(|line| line.strip_prefix("version ")?.split(' ').next())?;
    Some(format!("{date}, {commit}"))
}
