//! A diagnosis as people read it in a terminal.

use super::checks::{Checked, Ended};
use super::diagnosis::Diagnosis;
use super::findings::Finding;
use super::machine::Machine;
use super::machine::loader::Manifest;
use super::machine::nodes::Access;
use crate::probe;

/// What is said of checks that were not run.
pub const SKIPPED: &str = "the GPU did not come back from a hang: reboot";

/// The machine as pairs of name and value.
pub fn facts(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let machine = &diagnosis.machine;
    let unknown = || "unknown".to_owned();
    let kernel = &machine.kernel;
    let architecture = kernel.architecture.iter().map(|name| format!(" ({name})"));
    let mebibytes = |bytes: Option<u64>| bytes.map_or_else(unknown, |bytes| format!("{} MiB", bytes >> 20));
    let cma = match (machine.cma_total, machine.cma_free) {
        (Some(0) | None, _) => "none".into(),
        (total, free) => format!("{}, {} free", mebibytes(total), mebibytes(free)),
    };
    let boot = machine.boot.as_ref().map(|boot| {
        let overlay = boot.overlay.map_or("no GPU overlay", |overlay| overlay.name());
        let cma = boot.cma.iter().map(|cma| format!(",{cma}"));
        format!("{overlay}{} in {}", cma.collect::<String>(), boot.file)
    });
    let session = machine.session;
    let display = match (session.wayland, session.x11) {
        (true, true) => "Wayland, X",
        (true, false) => "Wayland",
        (false, true) => "X",
        (false, false) => "none",
    };
    let mut facts = vec![
        ("board", machine.board.model().map_or_else(unknown, str::to_owned)),
        ("system", machine.system.clone().unwrap_or_else(unknown)),
        ("kernel", kernel.release.clone().unwrap_or_else(unknown) + &architecture.collect::<String>()),
        ("firmware", machine.firmware.clone().unwrap_or_else(unknown)),
        ("memory", mebibytes(machine.memory)),
        ("contiguous", cma),
        ("overlay", boot.unwrap_or_else(|| "no config.txt".into())),
        ("nodes", nodes(machine)),
        ("loader", machine.loader.version.clone().unwrap_or_else(|| "none found".into())),
        ("drivers", manifests(&machine.loader.drivers)),
        ("layers", manifests(&machine.loader.layers)),
        ("display", display.into()),
        ("vc4", env!("CARGO_PKG_VERSION").into()),
    ];
    facts.extend(diagnosis.device.iter().map(|device| ("device", device.clone())));
    facts
}

fn nodes(machine: &Machine) -> String {
    let node = |node: &super::machine::nodes::Node| {
        let access = match node.access {
            Access::Granted => "",
            Access::Denied => ", no permission",
            Access::Failed(_) => ", cannot be opened",
        };
        format!("{} ({}{access})", node.name, node.driver)
    };
    let nodes: Vec<String> = machine.nodes.iter().map(node).collect();
    if nodes.is_empty() { "none".into() } else { nodes.join(", ") }
}

fn manifests(manifests: &[Manifest]) -> String {
    let manifest = |manifest: &Manifest| {
        manifest.name.clone() + &manifest.version.iter().map(|v| format!(" ({v})")).collect::<String>()
    };
    let all: Vec<String> = manifests.iter().map(manifest).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

/// All of it.
pub fn all(diagnosis: &Diagnosis) -> String {
    let mut text = format!("{}\n{}", table("Machine", &facts(diagnosis)), findings(&diagnosis.findings));
    if !diagnosis.checks.is_empty() {
        text += &format!("\n{}", checks(&diagnosis.checks));
    }
    if let Some(report) = &diagnosis.answers {
        text += &format!("\nQuestions\n  {}: see the report\n", probe::summary(report));
    }
    text + &format!("\nVerdict: {}\n", diagnosis.sentence())
}

/// Lines of names and values below a title.
fn table(title: &str, rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let rows = rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n"));
    format!("{title}\n{}", rows.collect::<String>())
}

/// What was found.
fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "Findings\n  none\n".into();
    }
    let lines = findings.iter().map(|finding| {
        format!("  {:7}  {}\n           {}\n", finding.weight.name(), finding.seen, finding.advice)
    });
    format!("Findings\n{}", lines.collect::<String>())
}

/// How the checks ended.
fn checks(checks: &[Checked]) -> String {
    let line = |checked: &Checked| {
        let (word, said) = match &checked.ended {
            Ended::Passed(outcome) if outcome.said.is_empty() => ("ok", checked.proves),
            Ended::Passed(outcome) => ("ok", &outcome.said[..]),
            Ended::Differs(outcome) => ("differs", &outcome.said[..]),
            Ended::Failed { why, .. } => ("FAILED", &why[..]),
            Ended::Skipped => ("skipped", SKIPPED),
        };
        format!("  {word:7}  {:13}  {:>6.1} s  {said}\n", checked.name, checked.took.as_secs_f64())
    };
    format!("Checks\n{}", checks.iter().map(line).collect::<String>())
}
