//! `vc4 doctor`: what is wrong with the GPU of this machine.
//!
//! [`machine`] reads what the system tells, [`findings`] judges it; [`device`] opens the GPU. [`text`] is for people.

mod device;
mod findings;
mod machine;
mod text;

use std::path::Path;
use std::process::{Command, Stdio};

use vc4_kernel_abi::Choice;

use crate::output::{self, Error, Status};
use findings::{Finding, Weight};
use machine::{Machine, Surroundings};

const HELP: &str = "\
Examples:
  vc4 doctor                    the GPU of this Raspberry Pi
  vc4 doctor --device sim       the simulated GPU, on any machine

Exit codes:
  0  the GPU works; there may be notes and warnings
  1  something is wrong
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
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let choice = device::choice(options.device.as_ref())?;
    let machine = Machine::collect(&Surroundings {
        root: Path::new("/"),
        variable: &|name| std::env::var(name).ok(),
        open: &|path| std::fs::File::options().read(true).write(true).open(path).map(drop),
        firmware: &firmware,
    });
    let is_gpu = matches!(choice, Choice::Auto | Choice::Drm(_));
    let findings = if is_gpu { findings::of_gpu(&machine) } else { findings::of_programs(&machine) };
    output::print(&text::table("Machine", &text::facts(&machine)))?;
    output::print(&format!("\n{}", text::findings(&findings)))?;
    let (status, verdict) = match device::open(&choice) {
        Ok(gpu) => {
            let gpu = machine.private.hide(&gpu.description());
            (Status::of_findings(has_errors(&findings)), format!("{gpu}: {}.", count(&findings)))
        }
        Err(error) => {
            let why = match findings.first().filter(|finding| finding.weight == Weight::Error) {
                Some(finding) => finding.seen.clone(),
                None => machine.private.hide(&error.to_string()),
            };
            (Status::Exit(NO_GPU), format!("no usable GPU. {why}"))
        }
    };
    output::print(&format!("\nVerdict: {verdict}\n"))?;
    Ok(status)
}

fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.weight == Weight::Error)
}

/// `2 warnings, 1 note`.
fn count(findings: &[Finding]) -> String {
    let weights = [Weight::Error, Weight::Warning, Weight::Note];
    let counts = weights.map(|weight| findings.iter().filter(|finding| finding.weight == weight).count());
    let words = weights.iter().zip(counts).filter(|(_, count)| *count > 0);
    let words: Vec<String> = words
        .map(|(weight, count)| format!("{count} {}{}", weight.name(), if count == 1 { "" } else { "s" }))
        .collect();
    if words.is_empty() { "nothing to complain about".into() } else { words.join(", ") }
}

/// The firmware's version by the command that Raspberry Pi OS has for it: date and commit.
fn firmware() -> Option<String> {
    let command = Command::new("vcgencmd").arg("version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = String::from_utf8(command.ok()?.stdout).ok()?;
    let date = text.lines().next()?.trim();
    let commit = text.lines().find_map(|line| line.strip_prefix("version ")?.split(' ').next())?;
    Some(format!("{date}, {commit}"))
}
