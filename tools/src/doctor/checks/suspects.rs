//! Which assumptions a known picture rests on: a simulator of each other answer draws it again, and where the picture changes,
//! it rests on the question; where it becomes what the device drew, the answer is found.

use std::time::{Duration, Instant};

use vc4::facts::{Facts, ROWS};
use vc4_sim::Config;
use vc4_sim::capture::attachments::Attachment;
use vc4_sim::capture::read::Capture;
use vc4_sim::replay::Replay;

/// How long all pictures together are thought about. A slow board with many differences has the probe.
const BUDGET: Duration = Duration::from_secs(30);

/// Looks for answers until its time is over.
#[derive(Default)]
pub struct Suspects {
    until: Option<Instant>,
    /// Answers that explained a picture, by number of row and hypothesis.
    found: Vec<(usize, usize)>,
}

/// A surface of a capture after a submission.
pub struct Place<'a> {
    pub capture: &'a Capture,
    pub number: usize,
    pub bo: u32,
    pub attachment: &'a Attachment,
}

impl Place<'_> {
    /// Its words where one answer is another one.
    fn of(&self, (at, chosen): (usize, usize)) -> Option<Vec<u32>> {
        self.words(Facts::default().with(at, chosen))
    }

    /// Its words on a machine that behaves so; `None` where the simulator has none.
    pub fn words(&self, facts: Facts) -> Option<Vec<u32>> {
        let config = Config { facts, ..Replay::config(self.capture) };
        let mut replay = Replay::new(self.capture, config);
        for _ in 0..=self.number {
            replay.step(false)?.ok()?;
        }
        let Attachment { offset, .. } = *self.attachment;
        Some(self.attachment.words(&replay.contents(self.bo, offset, self.attachment.bytes())?))
    }
}

impl Suspects {
    /// In words, what the picture rests on, or which answer would make it what was seen.
    pub fn of(&mut self, place: &Place<'_>, expected: &[u32], seen: &[u32]) -> String {
        if seen.iter().all(|word| *word == 0) {
            // Nothing was drawn: that is no question of assumptions.
            return String::new();
        }
        let until = *self.until.get_or_insert_with(|| Instant::now() + BUDGET);
        // What explained one picture explains the next.
        let known: Vec<_> =
            self.found.iter().copied().filter(|fact| place.of(*fact).as_deref() == Some(seen)).collect();
        if !known.is_empty() {
            return explained(&known);
        }
        let (mut rests, mut fits) = (Vec::new(), Vec::new());
        for (at, row) in ROWS.iter().enumerate() {
            for chosen in 1..row.hypotheses.len() {
                if Instant::now() > until {
                    return String::new();
                }
                let Some(words) = place.of((at, chosen)) else { continue };
                if words == seen {
                    fits.push((at, chosen));
                }
                if words != expected && rests.last() != Some(&row.name) {
                    rests.push(row.name);
                }
            }
        }
        self.found.extend(&fits);
        match (fits.is_empty(), rests.is_empty()) {
            (false, _) => explained(&fits),
            (true, false) => format!("; it rests on {}", rests.join(", ")),
            (true, true) => "; it rests on no assumption".to_owned(),
        }
    }
}

fn explained(facts: &[(usize, usize)]) -> String {
    let names = facts.iter().map(|(at, chosen)| {
        let row = &ROWS[*at];
        format!("{} is \"{}\"", row.name, row.hypotheses[*chosen].name)
    });
    format!("; it is so if {}", names.collect::<Vec<_>>().join(", or if "))
}
