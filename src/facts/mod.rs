//! What no board has confirmed about the machine, as questions with answers to choose from.
//!
//! [`table`] holds all of them, the only place that does: what is asked, which answers (hypotheses) are thinkable, which one is
//! in use, on what evidence, where it stands in the code and how a board could be asked. [`Facts`] is one choice per
//! question. The simulator behaves as its facts say, the driver draws for the machine that they describe, and `vc4 probe`
//! finds them out. [`read()`] and [`write()`] are their text form.

mod table;
mod text;

pub use table::*;
pub use text::{Error, markdown, read, write};

/// How a question could be put to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `vc4 probe` asks it.
    Probe,
    /// It is a number, which is measured and not chosen: by what.
    Measure(&'static str),
    /// Nothing asks it: why, and what would.
    Not(&'static str),
}

/// A thinkable answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// A stable name, for files.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
}

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// A stable name, for files.
    pub name: &'static str,
    /// What is asked.
    pub question: &'static str,
    /// Thinkable answers, the one in use first; none where the answer is a number or has no form yet.
    pub hypotheses: &'static [Hypothesis],
    /// What speaks for the answer in use: a section of the manual, or published results.
    pub evidence: &'static str,
    /// File and item that the answer decides about.
    pub place: (&'static str, &'static str),
    /// Who else depends on it.
    pub users: &'static str,
    /// How a board could be asked.
    pub ask: Ask,
}

impl Row {
    /// The row of this name.
    pub fn find(name: &str) -> Option<(usize, &'static Row)> {
        ROWS.iter().enumerate().find(|(_, row)| row.name == name)
    }

    /// Whether there are answers to choose from.
    pub fn is_choice(&self) -> bool {
        !self.hypotheses.is_empty()
    }

    /// The hypothesis of this name.
    pub fn hypothesis(&self, name: &str) -> Option<usize> {
        self.hypotheses.iter().position(|hypothesis| hypothesis.name == name)
    }
}

impl Facts {
    /// These facts with another answer to a question; both by number, as in [`ROWS`]. Numbers that do not exist change
    /// nothing.
    #[must_use]
    pub fn with(mut self, row: usize, hypothesis: usize) -> Facts {
        self.set(row, hypothesis);
        self
    }

    /// The rows that are answered otherwise than in use here.
    pub fn changed(&self) -> impl Iterator<Item = (&'static Row, &'static Hypothesis)> + '_ {
        ROWS.iter().enumerate().filter_map(|(at, row)| {
            let chosen = self.get(at).filter(|chosen| *chosen > 0)?;
            Some((row, &row.hypotheses[chosen]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_stable_words() {
        let is_word = |name: &str| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        let mut names = BTreeSet::new();
        for row in ROWS {
            assert!(is_word(row.name) && names.insert(row.name), "{}", row.name);
            assert!(row.question.ends_with('?'), "{}", row.question);
            let mut answers = BTreeSet::new();
            for hypothesis in row.hypotheses {
                let name = hypothesis.name;
                assert!(is_word(name) && answers.insert(name), "{}: {name}", row.name);
            }
            assert_ne!(row.hypotheses.len(), 1, "{}: a choice has two answers", row.name);
            assert!(
                row.is_choice() || row.ask != Ask::Probe,
                "{}: the probe tells hypotheses apart",
                row.name
            );
        }
    }

    #[test]
    fn every_choice_can_be_made_and_read_back() {
        for (at, row) in ROWS.iter().enumerate() {
            assert_eq!(Facts::default().get(at), row.is_choice().then_some(0), "{}", row.name);
            for chosen in 0..row.hypotheses.len() {
                let facts = Facts::default().with(at, chosen);
                assert_eq!(facts.get(at), Some(chosen));
                assert_eq!(facts.changed().count(), usize::from(chosen > 0));
            }
            assert_eq!(Facts::default().with(at, row.hypotheses.len()), Facts::default());
        }
        assert_eq!(Facts::default().get(ROWS.len()), None);
    }
}
