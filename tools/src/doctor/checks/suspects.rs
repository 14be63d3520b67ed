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

/// Draws on until its time is over.
pub struct Suspects {
    until: Option<Instant>,
}

/// A surface of a capture after a submission.
pub struct Place<'a> {
    pub capture: &'a Capture,
    pub number: usize,
    pub bo: u32,
    pub attachment: &'a Attachment,
}

impl Place<'_> {
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
    /// Its time begins with the first picture.
    pub fn new() -> Suspects {
        Suspects { until: None }
    }

    /// In words, what the picture rests on and which answer would make it what was seen.
    pub fn of(&mut self, place: &Place<'_>, expected: &[u32], seen: &[u32]) -> String {
        if seen.iter().all(|word| *word == 0) {
            // Nothing was drawn: that is no question of assumptions.
            return String::new();
        }
        let until = *self.until.get_or_insert_with(|| Instant::now() + BUDGET);
        let (mut rests, mut fits) = (Vec::new(), Vec::new());
        for (at, row) in ROWS.iter().enumerate() {
            for (chosen, hypothesis) in row.hypotheses.iter().enumerate().skip(1) {
                if Instant::now() > until {
                    return String::new();
                }
                let Some(words) = place.words(Facts::default().with(at, chosen)) else { continue };
                if words == seen {
                    fits.push(format!("{} is \"{}\"", row.name, hypothesis.name));
                }
                if words != expected && rests.last() != Some(&row.name) {
                    rests.push(row.name);
                }
            }
        }
        match (fits.is_empty(), rests.is_empty()) {
            (false, _) => format!("; it is so if {}", fits.join(", or if ")),
            (true, false) => format!("; it rests on {}", rests.join(", ")),
            (true, true) => "; it rests on no assumption".to_owned(),
        }
    }
}
