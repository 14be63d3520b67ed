//! All that was found: the machine, what is wrong with it, and how the checks ended.

use vc4_kernel_abi::{Choice, Gpu, GpuError};

use super::checks::{self, Checked, Ended};
use super::findings::{self, Finding, Weight};
use super::machine::Machine;
use crate::probe::{self, Answer};

/// All that was found.
pub struct Diagnosis {
    pub machine: Machine,
    pub findings: Vec<Finding>,
    /// The device, in words; or why there is none.
    pub device: Result<String, String>,
    pub is_simulated: bool,
    /// None where there is no device.
    pub checks: Vec<Checked>,
    /// What the device answered to questions about the chip, if it was asked.
    pub answers: Option<probe::Report>,
}

/// What of a device is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The checks.
    Checks,
    /// The checks, and all questions of `vc4 probe`.
    Questions,
}

/// What it comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Works,
    Wrong,
    NoGpu,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Works => "works",
            Verdict::Wrong => "wrong",
            Verdict::NoGpu => "no-gpu",
        }
    }
}

impl Diagnosis {
    /// Judges the machine and checks its device; `watch` is told of each check and question before it begins.
    pub fn make(
        machine: Machine,
        choice: &Choice,
        device: Result<Box<dyn Gpu>, GpuError>,
        depth: Depth,
        watch: &mut dyn FnMut(&str),
    ) -> Diagnosis {
        let findings = match choice {
            Choice::Auto | Choice::Drm(_) => findings::of_gpu(&machine),
            Choice::Sim | Choice::Noop => findings::of_programs(&machine),
        };
        let hide = |text: String| machine.private.hide(&text);
        let (mut checks, is_simulated) = match &device {
            Ok(gpu) => (checks::run(&**gpu, &mut |check| watch(check.name)), gpu.is_simulated()),
            Err(_) => (Vec::new(), false),
        };
        // Whoever did not come back from a hang would not answer.
        let is_there = !checks.iter().any(|checked| matches!(checked.ended, Ended::Skipped));
        let asked = device.as_ref().ok().filter(|_| is_there && depth == Depth::Questions);
        let mut answers = asked.map(|gpu| probe::ask_all(&**gpu, watch));
        for asked in answers.iter_mut().flat_map(|report| &mut report.asked) {
            if let Answer::Failed(why) = &mut asked.answer {
                *why = hide(std::mem::take(why));
            }
        }
        for checked in &mut checks {
            if let Ended::Failed { why, .. } = &mut checked.ended {
                *why = hide(std::mem::take(why));
            }
        }
        let device = device.map(|gpu| hide(gpu.description())).map_err(|error| hide(error.to_string()));
        Diagnosis { machine, findings, device, is_simulated, checks, answers }
    }

    /// Names of checks that did not pass.
    fn failed(&self) -> Vec<&'static str> {
        let failed = self
            .checks
            .iter()
            .filter(|checked| !matches!(checked.ended, Ended::Passed(_) | Ended::Differs(_)));
        failed.map(|checked| checked.name).collect()
    }

    fn error(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.weight == Weight::Error)
    }

    pub fn verdict(&self) -> Verdict {
        match &self.device {
            Err(_) => Verdict::NoGpu,
            Ok(_) if self.failed().is_empty() && self.error().is_none() => Verdict::Works,
            Ok(_) => Verdict::Wrong,
        }
    }

    /// The verdict in one line.
    pub fn sentence(&self) -> String {
        let gpu = if self.is_simulated { "the simulated GPU" } else { "the GPU" };
        let (failed, count) = (self.failed(), self.checks.len());
        match (&self.device, self.error()) {
            (Err(_), Some(finding)) => format!("no usable GPU. {}", finding.seen),
            (Err(why), None) => format!("no usable GPU: {why}"),
            (Ok(_), _) if !failed.is_empty() => {
                format!(
                    "{gpu} does not work: {} of {count} checks failed ({}).",
                    failed.len(),
                    failed.join(", ")
                )
            }
            (Ok(_), Some(finding)) => format!("{gpu} passed all {count} checks, but: {}", finding.seen),
            (Ok(_), None) => {
                format!("{gpu} works: {count} checks passed{}{}.", self.differing(), self.rest())
            }
        }
    }

    /// `, 3 known pictures differ`.
    fn differing(&self) -> String {
        let count = |checked: &Checked| match &checked.ended {
            Ended::Differs(outcome) => outcome.differing.len(),
            _ => 0,
        };
        match self.checks.iter().map(count).sum() {
            0 => String::new(),
            1 => ", 1 known picture differs".into(),
            count => format!(", {count} known pictures differ"),
        }
    }

    /// `, 2 warnings, 1 note`.
    fn rest(&self) -> String {
        let count = |weight: Weight| self.findings.iter().filter(|finding| finding.weight == weight).count();
        let words = [Weight::Warning, Weight::Note].map(|weight| (weight.name(), count(weight)));
        let words = words.iter().filter(|(_, count)| *count > 0);
        words.map(|(name, count)| format!(", {count} {name}{}", if *count == 1 { "" } else { "s" })).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::machine::tree::Tree;
    use vc4_kernel_abi::Noop;

    fn diagnosis(tree: &Tree, device: Result<Box<dyn Gpu>, GpuError>) -> Diagnosis {
        Diagnosis::make(tree.machine(), &Choice::Auto, device, Depth::Checks, &mut |_| ())
    }

    #[test]
    fn the_cause_is_told_before_its_effect() {
        let no_device = || Err(GpuError::NoDevice("/home/ann/node: no".into()));
        let tree = Tree::pi3("verdict-denied").denied();
        let denied = diagnosis(&tree, no_device());
        assert_eq!(denied.verdict(), Verdict::NoGpu);
        assert!(denied.sentence().contains("belongs to"), "{}", denied.sentence());
        let tree = Tree::pi3("verdict-none");
        let unexplained = diagnosis(&tree, no_device());
        assert_eq!(unexplained.sentence(), "no usable GPU: no usable VC4 device: (hidden): no");
    }

    #[test]
    fn failed_checks_are_counted() {
        let tree = Tree::pi3("verdict-dropped").variable("WAYLAND_DISPLAY", "");
        let dropped = diagnosis(&tree, Ok(Box::new(Noop::new())));
        assert_eq!(dropped.verdict(), Verdict::Wrong);
        assert!(dropped.sentence().contains("checks failed (clears, shapes"), "{}", dropped.sentence());
    }
}
