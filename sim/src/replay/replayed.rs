//! What came of a submission.

use crate::capture::read::{Done, Outcome};
use crate::profile::Profile;

/// What a submission that ran again did.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// The job, unless it was refused.
    pub done: Option<Done>,
    /// Why it was refused, if it was.
    pub refused: Option<String>,
    /// What was noted, when it was observed.
    pub profile: Option<Profile>,
}

impl Replayed {
    /// In what way the result differs from the recorded one; nothing if that is unknown.
    pub fn differences(&self, recorded: &Outcome) -> Vec<String> {
        match (recorded, &self.done, &self.refused) {
            (Outcome::Unknown, ..) => Vec::new(),
            (Outcome::Refused { .. }, None, _) => Vec::new(),
            (Outcome::Refused { text, .. }, ..) => vec![format!("was refused, runs now: {text}")],
            (Outcome::Done(_), None, refused) => {
                vec![format!("ran, is refused now: {}", refused.as_deref().unwrap_or_default())]
            }
            (Outcome::Done(then), Some(now), _) => job_differences(then, now),
        }
    }
}

fn job_differences(then: &Done, now: &Done) -> Vec<String> {
    let mut out = Vec::new();
    match (&then.hang, &now.hang) {
        (None, Some(what)) => out.push(format!("ended, hangs now: {what}")),
        (Some(what), None) => out.push(format!("hung, ends now: {what}")),
        _ => {}
    }
    for (key, hash) in &then.written {
        match now.written.iter().find(|(other, _)| other == key) {
            Some((_, other)) if other == hash => {}
            _ => out.push(format!("BO {key} has other contents")),
        }
    }
    out
}
