//! A report as JSON; `docs/book/user/doctor.md` describes the fields.

use super::ask::{Answer, Asked, Report};
use super::numbers::{self, Counted, Function, Measured};
use super::text;
use crate::json::Value;

/// Version of the document; it changes when a field changes its meaning or goes away.
const SCHEMA: u64 = 1;

/// All of it.
pub fn value(device: &str, report: &Report, measured: Option<&numbers::Report>) -> Value {
    Value::object([
        ("schema", SCHEMA.into()),
        ("vc4", env!("CARGO_PKG_VERSION").into()),
        ("device", device.into()),
        ("complete", report.is_complete().into()),
        ("rows", report.asked.iter().map(row).collect()),
        ("facts", vc4::facts::write(&report.facts).into()),
        ("numbers", measured.map(|report| report.measured.iter().map(number).collect::<Value>()).into()),
        ("simulated", measured.map(|report| report.is_simulated).into()),
        ("display", measured.map(|report| report.display.as_str()).into()),
        ("counters", measured.and_then(|report| report.counted.as_deref().ok()).map(counters).into()),
        ("functions", measured.and_then(|report| report.functions.as_deref().ok()).map(functions).into()),
    ])
}

fn functions(functions: &[Function]) -> Value {
    let one = |Function { name, asked, differing, first }: &Function| {
        Value::object([
            ("name", (*name).into()),
            ("asked", u64::from(*asked).into()),
            ("differing", u64::from(*differing).into()),
            ("first", first.map(|words| words.into_iter().map(Value::from).collect::<Value>()).into()),
        ])
    };
    functions.iter().map(one).collect()
}

fn number(measured: &Measured) -> Value {
    let row = measured.number.row();
    let (value, why) = match &measured.value {
        Ok(value) => (Some(*value), None),
        Err(why) => (None, Some(&why[..])),
    };
    Value::object([
        ("name", row.name.into()),
        ("unit", row.unit.into()),
        ("value", value.into()),
        ("why", why.into()),
        ("assumed", row.assumed.into()),
        ("by", text::by(measured.by).into()),
    ])
}

fn counters(counted: &[Counted]) -> Value {
    let one = |Counted { event, device, simulator }: &Counted| {
        Value::object([
            ("event", u64::from(*event).into()),
            ("device", (*device).into()),
            ("simulator", (*simulator).into()),
        ])
    };
    counted.iter().map(one).collect()
}

/// An answer.
pub fn row(asked: &Asked) -> Value {
    let hypothesis = match asked.answer {
        Answer::Told { hypothesis, .. } => Some(asked.row.hypotheses[hypothesis].name),
        _ => None,
    };
    let (told, sure) = text::answer(asked);
    Value::object([
        ("name", asked.row.name.into()),
        ("question", asked.row.question.into()),
        ("assumed", asked.row.hypotheses[0].name.into()),
        ("measured", hypothesis.into()),
        ("answer", told.into()),
        ("confidence", sure.into()),
        ("evidence", asked.row.evidence.into()),
        ("words", asked.words.iter().copied().map(Value::from).collect()),
        ("seconds", asked.took.as_secs_f64().into()),
    ])
}
