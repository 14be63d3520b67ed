//! What no board has confirmed about the machine, as questions with answers to choose from.
//!
//! `table.rs` holds all of them, the only place that does: what is asked, which answers (hypotheses) are thinkable, which one is
//! in use, on what evidence, where it stands in the code and how a board could be asked. [`Facts`] is one choice per
//! question. The simulator behaves as its facts say, the driver draws for the machine that they describe, and `vc4 probe`
//! finds them out. [`read()`] and [`write()`] are their text form. How fast the machine is are [`Numbers`], in a table of their
//! own; a file may hold both.

mod numbers;
mod row;
mod table;
mod text;

pub use numbers::{NUMBERS, Number, NumberRow, Numbers};
pub use row::{Ask, Hypothesis, Row};
pub use table::*;
pub use text::{Error, markdown, read, read_all, write, write_numbers};

impl WeightBits {
    /// The number: a texel is divided into 2^n steps along each axis.
    pub const fn count(self) -> u32 {
        match self {
            WeightBits::Five => 5,
            WeightBits::Six => 6,
            WeightBits::Seven => 7,
            WeightBits::Eight => 8,
        }
    }
}

impl LodBits {
    /// The number: two levels are blended in 2^n steps.
    pub const fn count(self) -> u32 {
        match self {
            LodBits::Four => 4,
            LodBits::Five => 5,
            LodBits::Six => 6,
            LodBits::Eight => 8,
        }
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
