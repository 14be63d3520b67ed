//! `vc4 probe`: what no board has confirmed, asked of the GPU of this machine.
//!
//! `vc4 doctor --report` asks as well. [`experiments`] are jobs whose results tell hypotheses apart; [`ask`] runs them and compares with simulators. [`text`] and
//! [`document`] say what came of it.

mod ask;
mod document;
mod experiments;
mod numbers;
#[cfg(test)]
mod tests;
mod text;

use std::io::IsTerminal;
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use vc4::facts;
use vc4_kernel_abi::{Choice, Gpu};

use crate::device;
use crate::output::{self, Error, Status};
pub use ask::{Answer, Asked, Report};
pub use document::row;
use experiments::EXPERIMENTS;
pub use text::{answer, mark, summary};

const HELP: &str = "\
Examples:
  vc4 probe                            all questions, to the GPU of this Raspberry Pi
  vc4 probe --facts-out pi.toml        and the answers as a file for driver and simulator
  vc4 probe --numbers --facts-out pi.toml   and how fast it is: rates, latencies, counters
  vc4 probe provoking-vertex           one question, and those on whose answers it depends
  vc4 probe --device sim --json        the simulated GPU, for programs

Exit codes:
  0  every question has an answer, and it is the one that driver and simulator assume
  1  some answer is another one, or there is none
  2  wrong usage
  3  there is no VideoCore IV that can be used

Jobs are small, and each has a time limit. A job that hangs is ended by the kernel; the next experiment runs.";

/// The exit code where there is no GPU.
const NO_GPU: u8 = 3;

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Options {
    /// Which GPU: auto, drm, drm:PATH (a node) or sim. Without, as VC4VK_DEVICE says
    #[arg(long, value_name = "DEVICE")]
    device: Option<Choice>,
    /// Write what was measured to a file of facts
    #[arg(long, value_name = "FILE")]
    facts_out: Option<PathBuf>,
    /// Measure rates and latencies, too, and count a known job. Where no desktop runs, screens are off meanwhile for a moment
    #[arg(long)]
    numbers: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Only these questions; `vc4 sim unverified` lists them
    #[arg(value_name = "NAME", value_parser = name)]
    names: Vec<String>,
}

/// The name of a question that can be put.
fn name(text: &str) -> Result<String, String> {
    if EXPERIMENTS.iter().any(|experiment| experiment.name == text) {
        return Ok(text.to_owned());
    }
    Err(match facts::Row::find(text) {
        Some((_, row)) => match row.ask {
            facts::Ask::Probe => "it has no experiment".to_owned(),
            facts::Ask::Measure(how) | facts::Ask::Not(how) => format!("the probe does not ask this. {how}"),
        },
        None => "there is no such question; `vc4 sim unverified` lists all".to_owned(),
    })
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let choice = device::choice(options.device.as_ref())?;
    let gpu = match device::open(&choice) {
        Ok(gpu) => gpu,
        Err(error) => {
            eprintln!("error: there is no GPU to ask: {error}\n`vc4 doctor` says what to do");
            return Ok(Status::Exit(NO_GPU));
        }
    };
    let names: Vec<&str> = options.names.iter().map(String::as_str).collect();
    let experiments = ask::wanted(&names);
    let bar = progress(experiments.len() + if options.numbers { numbers::STEPS } else { 0 });
    let report = ask::ask(&*gpu, &experiments, &mut |experiment| {
        bar.set_message(experiment.name);
        bar.inc(1);
    });
    let numbers = options.numbers.then(|| {
        numbers::measure(&*gpu, report.facts, &mut |name| {
            bar.set_message(name.to_owned());
            bar.inc(1);
        })
    });
    bar.finish_and_clear();
    let device = gpu.description();
    if let Some(path) = &options.facts_out {
        let head = format!("# Measured by vc4 probe on: {device}\n");
        let measured = numbers.as_ref().map(|numbers| facts::write_numbers(&numbers.numbers()));
        let text = head + &facts::write(&report.facts) + &measured.unwrap_or_default();
        output::write(Some(path), text.as_bytes())?;
    }
    output::print(&match options.json {
        true => format!("{}\n", document::value(&device, &report, numbers.as_ref())),
        false => text::all(&device, &report) + &numbers.as_ref().map(text::numbers).unwrap_or_default(),
    })?;
    let as_assumed = |answer: &Answer| matches!(answer, Answer::Told { hypothesis: 0, .. });
    Ok(Status::of_findings(!report.asked.iter().all(|asked| as_assumed(&asked.answer))))
}

/// Puts all questions to a device and tells `watch` the name of each before.
pub fn ask_all(gpu: &dyn Gpu, watch: &mut dyn FnMut(&str)) -> Report {
    ask::ask(gpu, &ask::wanted(&[]), &mut |experiment| watch(experiment.name))
}

/// How many questions [`ask_all`] puts.
pub fn count() -> usize {
    EXPERIMENTS.len()
}

/// A bar on a terminal.
fn progress(count: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    ProgressBar::new(count as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
