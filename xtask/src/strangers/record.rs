//! Outcomes, and the table that keeps them between runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Error;

/// What became of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its programs, or how its kernel runs.
    Compiled(Vec<Program>),
    /// The compiler says why not.
    Refused(String),
    /// No answer: a panic, a signal, or none in time.
    Fault(String),
}

/// A program of an entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `VS`, `CS`, `FS` for the QPUs' programs, `compute` for a kernel.
    pub kind: String,
    /// QPU instructions; of a kernel, those of its picture or none.
    pub instructions: u32,
    /// Words of the uniform stream.
    pub uniforms: u32,
    /// Threads, 1 or 2.
    pub threads: u32,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Module, stage and entry point.
    pub name: String,
    /// SPIR-V instructions of the whole module.
    pub operations: u32,
    /// Milliseconds from the start of the process to its end.
    pub milliseconds: u32,
    /// What became of it.
    pub outcome: Outcome,
}

impl Compiled {
    /// Whether there was no answer.
    pub fn is_fault(&self) -> bool {
        matches!(self.outcome, Outcome::Fault(_))
    }

    /// Its programs; none if it was refused.
    pub fn programs(&self) -> &[Program] {
        match &self.outcome {
            Outcome::Compiled(programs) => programs,
            _ => &[],
        }
    }
}

/// One line per entry point: name, operations, milliseconds, and either `kind:instructions:uniforms:threads` for each
/// program or why there is none.
pub fn write(path: &Path, all: &[Compiled]) -> Result<(), Error> {
    let mut text = String::from("name\toperations\tms\toutcome\n");
    for one in all {
        let outcome = match &one.outcome {
            Outcome::Compiled(programs) => {
                let program =
                    |p: &Program| format!("{}:{}:{}:{}", p.kind, p.instructions, p.uniforms, p.threads);
                let programs: Vec<String> = programs.iter().map(program).collect();
                format!("ok {}", programs.join(" "))
            }
            Outcome::Refused(why) => format!("refused {}", clean(why)),
            Outcome::Fault(what) => format!("fault {}", clean(what)),
        };
        text.push_str(&format!(
            "{}\t{}\t{}\t{outcome}\n",
            clean(&one.name),
            one.operations,
            one.milliseconds
        ));
    }
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Text that breaks no line and no column.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The table of an earlier run, by name.
pub fn read(path: &Path) -> Result<BTreeMap<String, Compiled>, Error> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut all = BTreeMap::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let one = parse(line).ok_or_else(|| format!("{}:{}: no outcome", path.display(), number + 1))?;
        all.insert(one.name.clone(), one);
    }
    Ok(all)
}

fn parse(line: &str) -> Option<Compiled> {
    let mut columns = line.splitn(4, '\t');
    let name = columns.next()?.to_owned();
    let operations = columns.next()?.parse().ok()?;
    let milliseconds = columns.next()?.parse().ok()?;
    let outcome = columns.next()?;
    let (verdict, rest) = outcome.split_once(' ').unwrap_or((outcome, ""));
    let outcome = match verdict {
        "ok" => Outcome::Compiled(rest.split_whitespace().map(program).collect::<Option<_>>()?),
        "refused" => Outcome::Refused(rest.to_owned()),
        "fault" => Outcome::Fault(rest.to_owned()),
        _ => return None,
    };
    Some(Compiled { name, operations, milliseconds, outcome })
}

fn program(text: &str) -> Option<Program> {
    let mut parts = text.split(':');
    let kind = parts.next()?.to_owned();
    let mut number = || parts.next()?.parse().ok();
    Some(Program { kind, instructions: number()?, uniforms: number()?, threads: number()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_as_written() {
        let program =
            |kind: &str, instructions| Program { kind: kind.into(), instructions, uniforms: 3, threads: 2 };
        let one =
            |name: &str, outcome| Compiled { name: name.into(), operations: 7, milliseconds: 9, outcome };
        let all = [
            one("a.spv vertex main", Outcome::Compiled(vec![program("VS", 12), program("CS", 11)])),
            one("b.spv fragment main", Outcome::Refused("no: 12 values\n  --> b.frag:3".into())),
            one("c.spv fragment main", Outcome::Fault("signal 6".into())),
        ];
        let path = std::env::temp_dir().join(format!("strangers-record-{}.tsv", std::process::id()));
        write(&path, &all).unwrap();
        let again = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(again.len(), 3);
        assert_eq!(again["a.spv vertex main"].outcome, all[0].outcome);
        assert_eq!(
            again["b.spv fragment main"].outcome,
            Outcome::Refused("no: 12 values   --> b.frag:3".into())
        );
        assert!(again["c.spv fragment main"].is_fault());
        assert_eq!(again["c.spv fragment main"].operations, 7);
    }
}
