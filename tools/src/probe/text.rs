//! A report as people read it in a terminal.

use std::fmt::Write;

use vc4::facts::{Ask, ROWS, Row};

use super::ask::{Answer, Asked, Report};
use super::numbers::{self, By, Counted, Function, Measured};

/// The answer in a few words, and how sure it is.
pub fn answer(asked: &Asked) -> (String, String) {
    let name = |hypothesis: usize| asked.row.hypotheses[hypothesis].name;
    let count = asked.words.len();
    match &asked.answer {
        Answer::Told { hypothesis, telling } => {
            (name(*hypothesis).to_owned(), format!("{count} of {count} words, {telling} tell"))
        }
        Answer::Alike(all) => {
            let names: Vec<_> = all.iter().map(|hypothesis| name(*hypothesis)).collect();
            (names.join(" or "), "cannot be told apart here".to_owned())
        }
        Answer::Other { nearest, differing } => (
            "none of them".to_owned(),
            format!("{} is nearest, {differing} of {count} words differ", name(*nearest)),
        ),
        Answer::Failed(why) => ("not asked".to_owned(), why.clone()),
        Answer::Skipped => {
            ("not asked".to_owned(), "the GPU did not come back from a hang: reboot".to_owned())
        }
    }
}

/// How an answer compares with what is assumed.
pub fn mark(answer: &Answer) -> char {
    match answer {
        Answer::Told { hypothesis: 0, .. } => ' ',
        Answer::Told { .. } => '*',
        _ => '?',
    }
}

/// All of it.
pub fn all(device: &str, report: &Report) -> String {
    let rows: Vec<_> = report.asked.iter().map(|asked| (asked, answer(asked))).collect();
    let names = rows.iter().map(|(asked, _)| asked.row.name.len()).max().unwrap_or(0);
    let answers = rows.iter().map(|(_, (told, _))| told.len()).max().unwrap_or(0);
    let mut out = format!("asked: {device}\n\n");
    // Writing to a string cannot fail.
    for (asked, (told, sure)) in &rows {
        let (mark, name, evidence) = (mark(&asked.answer), asked.row.name, asked.row.evidence);
        let _ = writeln!(out, "{mark} {name:names$}  {told:answers$}  {sure}  [assumed by {evidence}]");
    }
    out.push('\n');
    changes(&mut out, report);
    words(&mut out, report);
    verdict(&mut out, report);
    out
}

/// Answers that are others than assumed, and what depends on them.
fn changes(out: &mut String, report: &Report) {
    for (row, hypothesis) in report.facts.changed() {
        let Row { name, question, hypotheses, users, place: (file, item), .. } = row;
        let _ = writeln!(
            out,
            "{name}: {question}\n    assumed {}, found {}: {}\n    depends on it: {users}\n    stands in {file}, {item}",
            hypotheses[0].name, hypothesis.name, hypothesis.text
        );
    }
}

/// What was seen where no answer fits: whoever adds a hypothesis needs it.
fn words(out: &mut String, report: &Report) {
    for asked in report.asked.iter().filter(|asked| matches!(asked.answer, Answer::Other { .. })) {
        let words: Vec<_> = asked.words.iter().map(|word| format!("{word:08x}")).collect();
        let _ = writeln!(out, "{}: {}\n    seen {}", asked.row.name, asked.row.question, words.join(" "));
    }
}

/// How many answers there are, in a line.
pub fn summary(report: &Report) -> String {
    let count = report.asked.len();
    let told = report.asked.iter().filter(|asked| matches!(asked.answer, Answer::Told { .. })).count();
    let changed = report.facts.changed().count();
    let open =
        if report.is_complete() { String::new() } else { format!(", {} have no answer", count - told) };
    format!("{told} of {count} questions answered, {changed} otherwise than assumed{open}")
}

fn verdict(out: &mut String, report: &Report) {
    let _ = writeln!(out, "{}", summary(report));
    let others = ROWS.iter().filter(|row| row.ask != Ask::Probe).count();
    let _ = writeln!(out, "{others} more cannot be asked this way: `vc4 sim unverified` says why");
}

/// What tells the time of a number.
pub fn by(by: By) -> &'static str {
    match by {
        By::Clock => "clock",
        By::Counters => "counters",
    }
}

/// Numbers, and counters beside a simulator's.
pub fn numbers(report: &numbers::Report) -> String {
    let mut out = String::from("\nnumbers\n");
    if report.is_simulated {
        out +=
            "  a simulated GPU: by the clock they are this computer's, by counters those of its cost model\n";
    }
    for Measured { number, by: how, value } in &report.measured {
        let (row, by) = (number.row(), by(*how));
        let assumed = row.assumed.map(|assumed| format!(", assumed {}", amount(assumed, row.unit)));
        let said = match value {
            Ok(value) => amount(*value, row.unit),
            Err(why) => why.clone(),
        };
        let _ = writeln!(out, "  {:15} {said:>16}  by {by}{}", row.name, assumed.unwrap_or_default());
    }
    let _ = writeln!(out, "  the display {}", report.display);
    out += "\ncounters of a known job, and a simulator's\n";
    match &report.counted {
        Ok(counted) => {
            for Counted { event, device, simulator } in counted {
                let mark = if device == simulator { ' ' } else { '*' };
                let _ = writeln!(out, "{mark} event {event:2} {device:>8} {simulator:>8}");
            }
        }
        Err(why) => {
            let _ = writeln!(out, "  {why}");
        }
    }
    out += "\nspecial functions, beside the tables that were recorded\n";
    match &report.functions {
        Ok(functions) => functions.iter().for_each(|function| compared(&mut out, function)),
        Err(why) => {
            let _ = writeln!(out, "  {why}");
        }
    }
    out
}

fn compared(out: &mut String, function: &Function) {
    let Function { name, asked, differing, first } = function;
    let _ = match first {
        None => writeln!(out, "  {name:9} all of {asked} results are the tables'"),
        Some([operand, seen, expected]) => writeln!(
            out,
            "* {name:9} {differing} of {asked} results differ, the first of {operand:08x}: {seen:08x}, expected {expected:08x}"
        ),
    };
}

/// A number with a unit that people read.
fn amount(value: f64, unit: &str) -> String {
    let scales = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "\u{b5}"), (1e-9, "n")];
    let (scale, letter) = scales.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    format!("{:.3} {letter}{unit}", value / scale)
}
