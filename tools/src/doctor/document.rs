//! A diagnosis as JSON; `docs/book/user/doctor.md` describes the fields.

use super::checks::{Checked, Ended};
use super::diagnosis::Diagnosis;
use super::findings::Finding;
use super::machine::Machine;
use super::machine::loader::Manifest;
use super::machine::nodes::{Access, Node};
use crate::json::Value;
use crate::probe;

/// Version of the document; it changes when a field changes its meaning or goes away.
const SCHEMA: u64 = 1;

/// All of it.
pub fn value(diagnosis: &Diagnosis) -> Value {
    let (device, no_device) = match &diagnosis.device {
        Ok(device) => (Some(&device[..]), None),
        Err(why) => (None, Some(&why[..])),
    };
    Value::object([
        ("schema", SCHEMA.into()),
        ("vc4", env!("CARGO_PKG_VERSION").into()),
        ("verdict", diagnosis.verdict().name().into()),
        ("sentence", diagnosis.sentence().into()),
        ("device", device.into()),
        ("no_device", no_device.into()),
        ("simulated", diagnosis.is_simulated.into()),
        ("machine", machine(&diagnosis.machine)),
        ("findings", diagnosis.findings.iter().map(finding).collect()),
        ("checks", diagnosis.checks.iter().map(check).collect()),
        ("answers", diagnosis.answers.as_ref().map(answers).into()),
    ])
}

fn answers(report: &probe::Report) -> Value {
    Value::object([
        ("complete", report.is_complete().into()),
        ("rows", report.asked.iter().map(probe::row).collect()),
        ("facts", vc4::facts::write(&report.facts).into()),
    ])
}

fn machine(machine: &Machine) -> Value {
    let boot = machine.boot.as_ref();
    let session = machine.session;
    let loader = &machine.loader;
    Value::object([
        ("board", machine.board.model().into()),
        ("system", machine.system.clone().into()),
        ("kernel", machine.kernel.release.clone().into()),
        ("architecture", machine.kernel.architecture.clone().into()),
        ("kernel_has_vc4", machine.kernel.has_vc4.into()),
        ("vc4_is_loaded", machine.kernel.vc4_is_loaded.into()),
        ("firmware", machine.firmware.clone().into()),
        ("memory", machine.memory.into()),
        ("cma_total", machine.cma_total.into()),
        ("cma_free", machine.cma_free.into()),
        ("cma_argument", machine.kernel.cma_argument.clone().into()),
        ("config", boot.map(|boot| boot.file).into()),
        ("overlay", boot.and_then(|boot| boot.overlay).map(|overlay| overlay.name()).into()),
        ("overlay_cma", boot.and_then(|boot| boot.cma.clone()).into()),
        ("nodes", machine.nodes.iter().map(node).collect()),
        ("loader", loader.version.clone().into()),
        ("drivers_from", loader.forced_by.into()),
        ("drivers", loader.drivers.iter().map(manifest).collect()),
        ("layers", loader.layers.iter().map(manifest).collect()),
        ("x11", session.x11.into()),
        ("wayland", session.wayland.into()),
    ])
}

fn node(node: &Node) -> Value {
    let (access, why) = match &node.access {
        Access::Granted => ("granted", None),
        Access::Denied => ("denied", None),
        Access::Failed(why) => ("failed", Some(&why[..])),
    };
    Value::object([
        ("name", Value::from(&node.name[..])),
        ("driver", Value::from(&node.driver[..])),
        ("compatible", node.compatible.iter().map(|name| &name[..]).collect()),
        ("mode", node.mode.map(|mode| format!("{mode:04o}")).into()),
        ("group", node.group.into()),
        ("access", access.into()),
        ("why", why.into()),
    ])
}

fn manifest(manifest: &Manifest) -> Value {
    Value::object([
        ("name", Value::from(&manifest.name[..])),
        ("library", Value::from(&manifest.library[..])),
        ("library_is_there", manifest.library_is_there.into()),
        ("version", manifest.version.clone().into()),
    ])
}

fn finding(finding: &Finding) -> Value {
    Value::object([
        ("code", Value::from(finding.code)),
        ("weight", finding.weight.name().into()),
        ("seen", Value::from(&finding.seen[..])),
        ("advice", Value::from(&finding.advice[..])),
    ])
}

fn check(checked: &Checked) -> Value {
    let (result, said) = match &checked.ended {
        Ended::Passed(outcome) => ("passed", Some(&outcome.said[..]).filter(|said| !said.is_empty())),
        Ended::Differs(outcome) => ("differs", Some(&outcome.said[..])),
        Ended::Failed { why, .. } => ("failed", Some(&why[..])),
        Ended::Skipped => ("skipped", None),
    };
    let mut fields = vec![
        ("name", Value::from(checked.name)),
        ("proves", checked.proves.into()),
        ("result", result.into()),
        ("said", said.into()),
        ("seconds", checked.took.as_secs_f64().into()),
    ];
    if let Ended::Differs(outcome) = &checked.ended {
        let pictures = outcome.differing.iter().map(|compared| {
            Value::object([("name", compared.name.into()), ("why", Value::from(&compared.why[..]))])
        });
        fields.push(("pictures", pictures.collect()));
    }
    if let Ended::Passed(outcome) = &checked.ended {
        let measured = outcome.measured.iter().map(|measured| {
            Value::object([
                ("name", measured.name.into()),
                ("value", measured.value.into()),
                ("unit", measured.unit.into()),
            ])
        });
        fields.push(("measured", measured.collect()));
        let registers =
            outcome.registers.iter().map(|(name, value)| (*name, Value::from(format!("{value:08x}"))));
        fields.push(("registers", Value::Object(registers.collect())));
    }
    Value::object(fields)
}
