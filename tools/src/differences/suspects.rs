//! Which assumptions a known picture rests on: a simulator of each other answer draws it again, and where the picture changes,
//! it rests on the question; where it becomes what the device drew, the answer is found.

use std::time::{Duration, Instant};

use vc4::facts::{Facts, ROWS};

use super::instruction;
use super::place::Place;
use crate::jobs::picture::Picture;

/// How long all pictures together are thought about. A slow board with many differences has the probe.
const BUDGET: Duration = Duration::from_secs(30);

/// Looks for answers until its time is over.
#[derive(Default)]
pub struct Suspects {
    until: Option<Instant>,
    /// Answers that explained a picture, by number of row and hypothesis.
    found: Vec<(usize, usize)>,
}

impl Suspects {
    /// In words, where a picture is another one, what it rests on or which answer would make it what was seen, and the instruction
    /// that the difference comes from.
    pub fn of(&mut self, place: &Place<'_>, expected: &Picture, seen: &Picture) -> String {
        let Some(first) = seen.first_difference(expected) else { return String::new() };
        if seen.words.iter().all(|word| *word == 0) {
            // Nothing was drawn: that is no question of assumptions.
            return String::new();
        }
        let until = *self.until.get_or_insert_with(|| Instant::now() + BUDGET);
        if Instant::now() > until {
            return String::new();
        }
        let Some(usual) = place.traced(Facts::default(), first) else { return String::new() };
        let mut text = match usual.tiles.edge {
            0 => String::new(),
            edge => format!("; {}", seen.tiles(expected, edge)),
        };
        let said = match self.answer(place, expected, seen, until) {
            Answer::Late => return text,
            Answer::Is(facts) => {
                text += &explained(&facts);
                let other = place.traced(fact(facts[0]), first);
                other.map(|other| instruction::parting(&usual, &other))
            }
            Answer::RestsOn(rows) => {
                text += &match rows.is_empty() {
                    true => "; it rests on no assumption".to_owned(),
                    false => format!("; it rests on {}", rows.join(", ")),
                };
                instruction::last(&usual, place.attachment.zs)
            }
        };
        text + &said.map_or(String::new(), |said| format!("; {said}"))
    }

    fn answer(&mut self, place: &Place<'_>, expected: &Picture, seen: &Picture, until: Instant) -> Answer {
        let drawn = |chosen| place.words(fact(chosen));
        // What explained one picture explains the next.
        let known: Vec<_> =
            self.found.iter().copied().filter(|one| drawn(*one).as_ref() == Some(&seen.words)).collect();
        if !known.is_empty() {
            return Answer::Is(known);
        }
        let (mut rests, mut fits) = (Vec::new(), Vec::new());
        for (at, row) in ROWS.iter().enumerate() {
            for chosen in 1..row.hypotheses.len() {
                if Instant::now() > until {
                    return Answer::Late;
                }
                let Some(words) = drawn((at, chosen)) else { continue };
                if words == seen.words {
                    fits.push((at, chosen));
                }
                if words != expected.words && rests.last() != Some(&row.name) {
                    rests.push(row.name);
                }
            }
        }
        self.found.extend(&fits);
        if fits.is_empty() { Answer::RestsOn(rests) } else { Answer::Is(fits) }
    }
}

/// What was found out about a picture.
enum Answer {
    /// There was no time.
    Late,
    /// Each of these answers alone makes it what was seen.
    Is(Vec<(usize, usize)>),
    /// None does; the questions whose answers change it.
    RestsOn(Vec<&'static str>),
}

/// The usual machine, with one other answer.
fn fact((at, chosen): (usize, usize)) -> Facts {
    Facts::default().with(at, chosen)
}

fn explained(facts: &[(usize, usize)]) -> String {
    let names = facts.iter().map(|(at, chosen)| {
        let row = &ROWS[*at];
        format!("{} is \"{}\"", row.name, row.hypotheses[*chosen].name)
    });
    format!("; it is so if {}", names.collect::<Vec<_>>().join(", or if "))
}
