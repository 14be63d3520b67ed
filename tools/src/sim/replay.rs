//! `vc4 sim replay`

use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use vc4_kernel_abi::Choice;
use vc4_sim::capture::attachments::Attachment;
use vc4_sim::capture::read::{Capture, Entry, Outcome};
use vc4_sim::replay::{DeviceReplay, Replay, ReplayError, Replayed, Watch};
use vc4_sim::stats::Finding;
use vc4_sim::{Config, Mode};

use super::different::Different;
use super::load;
use super::pictures::Pictures;
use super::pixel::{self, Pixel};
use crate::device;
use crate::output::{self, Error, Status};

const EXAMPLES: &str = "\
Examples:
  vc4 sim replay capture.vc4cap                     one line per submission, then the sums
  vc4 sim replay capture.vc4cap --check --quiet     exit code 1 if any result differs from the recorded one
  vc4 sim replay capture.vc4cap --submission 7 --png frames
  vc4 sim replay capture.vc4cap --submission 7 --pixel 120,64    every instruction that ran for a pixel
  vc4 sim replay capture.vc4cap --check --device drm   on the GPU of this Raspberry Pi
  vc4 sim replay capture.vc4cap --check --device drm --png frames    what is different, too, as pictures
  vc4 sim replay capture.vc4cap --strict            refuse what only the kernel's holes let through, watch all programs

Submissions read what earlier ones stored, so --submission N runs those before N as well, silently.";

/// How long the GPU may take for a submission.
const LIMIT: Duration = Duration::from_secs(10);

/// How the simulator is built.
#[derive(clap::Args)]
pub struct Machine {
    /// Rendering threads; one per processor without. Results do not depend on it
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Refuse what only the kernel's holes let through, and report broken rules of the hardware; each is an error
    #[arg(long)]
    pub strict: bool,
}

impl Machine {
    pub fn config(&self, capture: &Capture) -> Config {
        let recorded = Replay::config(capture);
        Config {
            threads: self.threads,
            mode: if self.strict { Mode::Strict } else { recorded.mode },
            check_programs: self.strict,
            ..recorded
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// The capture
    file: PathBuf,
    /// Only this submission, counted from 0
    #[arg(long, value_name = "N")]
    submission: Option<usize>,
    #[command(flatten)]
    machine: Machine,
    /// Where to run it: sim, or the GPU: drm, or drm:PATH (a node). The GPU counts nothing
    #[arg(long, value_name = "DEVICE", default_value = "sim", conflicts_with_all = ["threads", "strict"])]
    device: Choice,
    /// Print what was done to this pixel of the submission, instruction by instruction; 0,0 is the frame's first
    #[arg(long, value_name = "X,Y", requires = "submission", conflicts_with = "device")]
    pixel: Option<Pixel>,
    /// Save what each submission stores as NNNN-color.png, NNNN-depth.png, … in this directory; with --check and a
    /// GPU also NNNN-color-expected.png and NNNN-color-different.png where it drew otherwise than the simulator
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,
    /// In PNG files, exchange red and blue: for programs that store BGRA
    #[arg(long, requires = "png")]
    bgra: bool,
    /// Compare every result with the recorded one
    #[arg(long)]
    check: bool,
    /// Only print the sums and what is wrong
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let capture = load::capture(&options.file)?;
    let last = last(options, &capture)?;
    let pictures = options.png.clone().map(|directory| Pictures::new(directory, options.bgra)).transpose()?;
    let gpu = match &options.device {
        Choice::Sim => None,
        choice => Some(device::open(choice).map_err(|error| Error::Input(error.to_string()))?),
    };
    let mut replay = match &gpu {
        None => Runner::Simulator(Box::new(Replay::new(&capture, options.machine.config(&capture)))),
        Some(gpu) => Runner::Device(DeviceReplay::new(&capture, &**gpu)),
    };
    let bar = progress(options, last);
    let (mut sums, mut different) = (Sums::default(), Different::default());
    let start = Instant::now();
    while replay.position() < last {
        let number = replay.position();
        let entry = &capture.entries[number];
        let watch = match options.pixel {
            Some(Pixel(x, y)) if options.submission == Some(number) => Watch::Pixel(x, y),
            _ => Watch::Results,
        };
        let Some(step) = replay.step(watch) else { break };
        let replayed = step.map_err(|error| Error::Input(format!("submission {number}: {error}")))?;
        bar.inc(1);
        if options.submission.is_some_and(|wanted| wanted != number) {
            continue;
        }
        let differences = replayed.differences(&entry.outcome);
        sums.add(entry, &replayed, differences.len());
        if !options.quiet {
            output::print(&line(number, entry, &replayed))?;
        }
        if options.check {
            for difference in &differences {
                output::print(&format!("{number:>6}  differs: it {difference}\n"))?;
            }
            if let (Runner::Device(device), false) = (&replay, differences.is_empty()) {
                output::print(&different.submission(&capture, number, device, pictures.as_ref())?)?;
            }
        }
        if let Some(profile) = &replayed.profile {
            output::print(&pixel::text(profile))?;
        }
        if let (Some(pictures), Some(_)) = (&pictures, &replayed.done) {
            save(pictures, number, entry, &replay)?;
        }
    }
    bar.finish_and_clear();
    let findings = replay.findings();
    for finding in &findings {
        output::print(&format!("{finding}\n"))?;
    }
    output::print(&sums.text(options.check, start))?;
    let refused = options.machine.strict && sums.newly_refused > 0;
    let bad = options.check && sums.differing > 0 || !findings.is_empty() || refused;
    Ok(Status::of_findings(bad))
}

/// What runs the submissions.
enum Runner<'a> {
    Simulator(Box<Replay<'a>>),
    Device(DeviceReplay<'a>),
}

impl Runner<'_> {
    fn position(&self) -> usize {
        match self {
            Runner::Simulator(replay) => replay.position(),
            Runner::Device(replay) => replay.position(),
        }
    }

    fn step(&mut self, watch: Watch) -> Option<Result<Replayed, ReplayError>> {
        match self {
            Runner::Simulator(replay) => replay.step(watch),
            Runner::Device(replay) => replay.step(LIMIT),
        }
    }

    fn contents(&self, key: u32, offset: u32, size: usize) -> Option<Vec<u8>> {
        match self {
            Runner::Simulator(replay) => replay.contents(key, offset, size),
            Runner::Device(replay) => replay.contents(key, offset, size),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        match self {
            Runner::Simulator(replay) => replay.simulator().findings(),
            Runner::Device(_) => Vec::new(),
        }
    }
}

/// The number behind the last submission to run.
fn last(options: &Options, capture: &Capture) -> Result<usize, Error> {
    let count = capture.entries.len();
    match options.submission {
        None => Ok(count),
        Some(number) if number < count => Ok(number + 1),
        Some(number) => Err(Error::Input(format!(
            "{} has no submission {number}; it has {count}, counted from 0",
            options.file.display()
        ))),
    }
}

/// A bar where nothing else is printed meanwhile.
fn progress(options: &Options, steps: usize) -> ProgressBar {
    let lines = !options.quiet && options.submission.is_none() && std::io::stdout().is_terminal();
    if lines || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} submissions, {eta} left");
    ProgressBar::new(steps as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[derive(Default)]
struct Sums {
    submissions: usize,
    refused: usize,
    /// Refused now, but not when they were recorded.
    newly_refused: usize,
    hung: usize,
    differing: usize,
    unknown: usize,
    instructions: u64,
    lookups: u64,
    nanoseconds: u64,
}

impl Sums {
    fn add(&mut self, entry: &Entry, replayed: &Replayed, differences: usize) {
        self.submissions += 1;
        self.differing += usize::from(differences > 0);
        self.unknown += usize::from(entry.outcome == Outcome::Unknown);
        let Some(done) = &replayed.done else {
            self.refused += 1;
            self.newly_refused += usize::from(!matches!(entry.outcome, Outcome::Refused { .. }));
            return;
        };
        self.hung += usize::from(done.hang.is_some());
        self.instructions += done.instructions;
        self.lookups += done.lookups;
        self.nanoseconds += done.nanoseconds;
    }

    fn text(&self, check: bool, start: Instant) -> String {
        let mut text = format!(
            "{} submissions, {} refused, {} hung; {} QPU instructions, {} lookups; {} in jobs, {:.2?} in all\n",
            self.submissions,
            self.refused,
            self.hung,
            self.instructions,
            self.lookups,
            milliseconds(self.nanoseconds),
            start.elapsed()
        );
        if check {
            text.push_str(&match (self.differing, self.unknown) {
                (0, 0) => "every result is the recorded one\n".into(),
                (0, unknown) => format!("no result differs; {unknown} were not recorded\n"),
                (differing, _) => format!("{differing} results differ from the recorded ones\n"),
            });
        }
        text
    }
}

fn milliseconds(nanoseconds: u64) -> String {
    format!("{:.2} ms", nanoseconds as f64 / 1e6)
}

fn line(number: usize, entry: &Entry, replayed: &Replayed) -> String {
    let submit = &entry.submission.submit;
    let size = format!("{}x{}", submit.width, submit.height);
    match &replayed.done {
        None => {
            let why = replayed.refused.as_deref().unwrap_or_default();
            format!("{number:>6}  {size:>9}  refused: {why}\n")
        }
        Some(done) => {
            let end = match &done.hang {
                Some(why) => format!("hung: {why}"),
                None => "done".into(),
            };
            format!(
                "{number:>6}  {size:>9}  {:>10}  {:>8} instances  {:>10} instructions  {:>8} lookups  {end}\n",
                milliseconds(done.nanoseconds),
                done.instances,
                done.instructions,
                done.lookups
            )
        }
    }
}

/// Saves what a submission stored.
fn save(pictures: &Pictures, number: usize, entry: &Entry, replay: &Runner<'_>) -> Result<(), Error> {
    for attachment in Attachment::stored_by(&entry.submission.submit) {
        let Some(bo) = entry.bos.get(attachment.bo) else { continue };
        let Some(bytes) = replay.contents(bo.key, attachment.offset, attachment.bytes()) else { continue };
        pictures.save(number, &attachment, "", &bytes)?;
    }
    Ok(())
}
