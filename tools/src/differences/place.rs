//! A surface behind a submission of a capture, drawn again.

use vc4::facts::Facts;
use vc4_sim::Config;
use vc4_sim::capture::attachments::Attachment;
use vc4_sim::capture::read::Capture;
use vc4_sim::profile::Profile;
use vc4_sim::replay::{Replay, Watch};

/// A surface of a capture after a submission.
pub struct Place<'a> {
    pub capture: &'a Capture,
    /// The submission, counted from 0.
    pub number: usize,
    /// The surface's BO by its key in the capture.
    pub bo: u32,
    pub attachment: &'a Attachment,
}

impl Place<'_> {
    /// Its bytes on a machine that behaves so; `None` where the simulator has none.
    pub fn bytes(&self, facts: Facts) -> Option<Vec<u8>> {
        Some(self.drawn(facts, Watch::Results)?.0)
    }

    /// Its pixels; see [`Attachment::words`].
    pub fn words(&self, facts: Facts) -> Option<Vec<u32>> {
        Some(self.attachment.words(&self.bytes(facts)?))
    }

    /// What the submission did on a machine that behaves so, and to that pixel, instruction by instruction.
    pub fn traced(&self, facts: Facts, (x, y): (u32, u32)) -> Option<Profile> {
        self.drawn(facts, Watch::Pixel(x, y))?.1
    }

    fn drawn(&self, facts: Facts, watch: Watch) -> Option<(Vec<u8>, Option<Profile>)> {
        let config = Config { facts, ..Replay::config(self.capture) };
        let mut replay = Replay::new(self.capture, config);
        for _ in 0..self.number {
            replay.step(Watch::Results)?.ok()?;
        }
        let profile = replay.step(watch)?.ok()?.profile;
        let Attachment { offset, .. } = *self.attachment;
        Some((replay.contents(self.bo, offset, self.attachment.bytes())?, profile))
    }
}
