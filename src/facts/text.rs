//! Facts as text: files of one `name = "hypothesis"` per line, which is TOML, and the table of documents.

use std::fmt::Write;

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

/// Reads facts; what the text does not name is as in [`Facts::default`].
///
/// # Errors
/// The first line that is no fact.
pub fn read(text: &str) -> Result<Facts, Error> {
    let mut facts = Facts::default();
    let mut seen: [Option<usize>; ROWS.len()] = [None; ROWS.len()];
    for (number, line) in text.lines().enumerate() {
        let error = |what| Error { line: number + 1, what };
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
    Ok(facts)
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
