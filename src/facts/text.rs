//! Facts as text: files of one `name = "hypothesis"` per line and of numbers behind `[numbers]`, which is TOML, and the table of
//! documents.

use std::fmt::Write;

use super::numbers::{NUMBERS, Number, Numbers};
use super::row::{Ask, Row};
use super::table::{Facts, ROWS};

/// Why a text holds no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Error {
    /// From 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// The line behind which numbers stand.
const SECTION: &str = "[numbers]";

/// Reads facts; what the text does not name is as in [`Facts::default`].
///
/// # Errors
/// The first line that is no fact, or no number where numbers stand.
pub fn read(text: &str) -> Result<Facts, Error> {
    Ok(read_all(text)?.0)
}

/// Reads facts and numbers.
///
/// # Errors
/// As [`read`].
pub fn read_all(text: &str) -> Result<(Facts, Numbers), Error> {
    let (mut facts, mut numbers, mut in_numbers) = (Facts::default(), Numbers::default(), false);
    let mut seen: [Option<usize>; ROWS.len()] = [None; ROWS.len()];
    for (number, line) in text.lines().enumerate() {
        let error = |what| Error { line: number + 1, what };
        if line.trim().starts_with('[') {
            if line.trim() != SECTION || std::mem::replace(&mut in_numbers, true) {
                return Err(error(format!("`{}` is not the one {SECTION}", line.trim())));
            }
            continue;
        }
        if in_numbers {
            numbers = measured(line, numbers).map_err(error)?;
            continue;
        }
        let Some((name, value)) = pair(line).map_err(error)? else { continue };
        let (at, row) = Row::find(name).ok_or_else(|| error(unknown(name)))?;
        if !row.is_choice() {
            let what = format!("`{name}` has no answers to choose from: it is a number or an open question");
            return Err(error(what));
        }
        let chosen = row.hypothesis(value).ok_or_else(|| {
            let names: Vec<_> = row.hypotheses.iter().map(|one| format!("\"{}\"", one.name)).collect();
            error(format!("`{name}` cannot be \"{value}\"; it can be {}", names.join(", ")))
        })?;
        if let Some(first) = seen[at].replace(number + 1) {
            return Err(error(format!("`{name}` stands in line {first} already")));
        }
        facts = facts.with(at, chosen);
    }
    Ok((facts, numbers))
}

/// Numbers and that of a line.
fn measured(line: &str, numbers: Numbers) -> Result<Numbers, String> {
    let line = line.split('#').next().unwrap_or_default().trim();
    if line.is_empty() {
        return Ok(numbers);
    }
    let form = || format!("`{line}` is not of the form name = number");
    let (name, value) = line.split_once('=').ok_or_else(form)?;
    let name = name.trim();
    let number = Number::find(name).ok_or_else(|| {
        let names: Vec<_> = NUMBERS.iter().map(|row| row.name).collect();
        format!("there is no number `{name}`; there are {}", names.join(", "))
    })?;
    let value: f64 = value.trim().parse().map_err(|_| form())?;
    let with = numbers.with(number, value);
    match (numbers.measured(number), with.measured(number)) {
        (Some(_), _) => Err(format!("`{name}` stands there already")),
        (None, None) => Err(format!("`{name}` is a positive number of {}", number.row().unit)),
        (None, Some(_)) => Ok(with),
    }
}

/// Name and value of a line; `None` for empty lines and comments.
fn pair(line: &str) -> Result<Option<(&str, &str)>, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let form = || format!("`{line}` is not of the form name = \"hypothesis\"");
    let (name, value) = line.split_once('=').ok_or_else(form)?;
    let (value, rest) =
        value.trim().strip_prefix('"').and_then(|value| value.split_once('"')).ok_or_else(form)?;
    if !(rest.trim().is_empty() || rest.trim().starts_with('#')) {
        return Err(form());
    }
    Ok(Some((name.trim(), value)))
}

fn unknown(name: &str) -> String {
    let common =
        |row: &Row| row.name.split('-').filter(|word| name.split(['-', '_']).any(|w| w == *word)).count();
    let near = ROWS.iter().filter(|row| row.is_choice() && common(row) > 0).max_by_key(|row| common(row));
    match near {
        Some(row) => {
            format!("there is no fact `{name}`; is `{}` meant? `vc4 sim unverified` lists all", row.name)
        }
        None => format!("there is no fact `{name}`; `vc4 sim unverified` lists all"),
    }
}

/// All facts as [`read`] takes them, each with its question and what the answer says.
pub fn write(facts: &Facts) -> String {
    let mut out = String::new();
    for (at, row) in ROWS.iter().enumerate() {
        let Some(chosen) = facts.get(at) else { continue };
        let Row { name, question, .. } = row;
        let hypothesis = row.hypotheses[chosen];
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# {question} {}\n{name} = \"{}\"", hypothesis.text, hypothesis.name);
    }
    out
}

/// What was measured as [`read_all`] takes it, each with what it is; nothing where nothing was.
pub fn write_numbers(numbers: &Numbers) -> String {
    let mut out = String::new();
    for number in Number::ALL {
        let Some(value) = numbers.measured(*number) else { continue };
        if out.is_empty() {
            let _ = writeln!(out, "{SECTION}");
        }
        let row = number.row();
        let _ = writeln!(out, "# {} In {}.\n{} = {value:?}", row.text, row.unit, row.name);
    }
    out
}

/// The table of documents.
pub fn markdown() -> String {
    let mut out =
        String::from("| name | question | in use | how to ask | where |\n| --- | --- | --- | --- | --- |\n");
    for Row { name, question, hypotheses, place: (file, item), ask, .. } in ROWS {
        let others: Vec<_> = hypotheses.iter().skip(1).map(|one| one.name).collect();
        let answers = match hypotheses.first() {
            Some(first) => format!("{}; or {}", first.name, others.join(", ")),
            None => String::new(),
        };
        let ask = match ask {
            Ask::Probe => "`vc4 probe`",
            Ask::Measure(how) | Ask::Not(how) => how,
        };
        let _ = writeln!(out, "| `{name}` | {question} | {answers} | {ask} | `{file}`: `{item}` |");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{ProvokingVertex, SharedEdges};

    #[test]
    fn what_is_written_is_read() {
        for (at, row) in ROWS.iter().enumerate() {
            for chosen in 0..row.hypotheses.len() {
                let facts = Facts::default().with(at, chosen);
                assert_eq!(read(&write(&facts)), Ok(facts), "{}", row.name);
            }
        }
        let text = "# of a board\n\n provoking-vertex = \"first\" # seen\nshared-edges=\"bottom-right\"\n";
        let facts = read(text).unwrap();
        assert_eq!(facts.provoking_vertex, ProvokingVertex::First);
        assert_eq!(facts.shared_edges, SharedEdges::BottomRight);
        assert_eq!(read(""), Ok(Facts::default()));
    }

    #[test]
    fn numbers_stand_behind_the_facts() {
        let numbers = Numbers::default().with(Number::Job, 3.25e-4).with(Number::TmuHit, 11.0);
        let facts = Facts { provoking_vertex: ProvokingVertex::First, ..Facts::default() };
        assert_eq!(read_all(&(write(&facts) + &write_numbers(&numbers))), Ok((facts, numbers)));
        assert_eq!(write_numbers(&Numbers::default()), "");
        let said = |text: &str| read_all(text).unwrap_err().to_string();
        assert!(
            said("[numbers]\nspeed = 3")
                .starts_with("line 2: there is no number `speed`; there are submit, job")
        );
        assert_eq!(said("[numbers]\njob = \"1\""), "line 2: `job = \"1\"` is not of the form name = number");
        assert_eq!(said("[numbers]\njob = -1"), "line 2: `job` is a positive number of s");
        assert_eq!(said("[numbers]\njob = 1\njob = 2"), "line 3: `job` stands there already");
        assert_eq!(said("[facts]"), "line 1: `[facts]` is not the one [numbers]");
        assert_eq!(said("[numbers]\n[numbers]"), "line 2: `[numbers]` is not the one [numbers]");
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let said = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            said("provoking-vertex = \"middle\""),
            "line 1: `provoking-vertex` cannot be \"middle\"; it can be \"last\", \"first\""
        );
        assert_eq!(
            said("\nprovoking-point = \"last\""),
            "line 2: there is no fact `provoking-point`; is `provoking-vertex` meant? `vc4 sim unverified` lists all"
        );
        assert!(said("xyz = \"last\"").ends_with("no fact `xyz`; `vc4 sim unverified` lists all"));
        assert!(said("provoking-vertex = last").contains("is not of the form name = \"hypothesis\""));
        assert!(said("provoking-vertex = \"last\" x").contains("is not of the form"));
        assert!(said("provoking-vertex").contains("is not of the form"));
        assert!(said("board-clock = \"last\"").contains("no fact"));
        assert!(said("idents = \"x\"").contains("no answers to choose from"));
        let twice = "provoking-vertex = \"last\"\nprovoking-vertex = \"first\"";
        assert_eq!(said(twice), "line 2: `provoking-vertex` stands in line 1 already");
    }
}
