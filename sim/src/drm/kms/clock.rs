//! Time of the display: vertical blanks by the clock.

use crate::drm::time::monotonic_ns;

/// Time between blanks while there is no mode.
const IDLE_PERIOD_NS: u64 = 16_666_667;
/// Counts blanks.
pub struct Clock {
    base_ns: u64,
    base_sequence: u64,
    period_ns: u64,
}

impl Clock {
    /// The blanks of a display without a mode.
    pub fn start() -> Clock {
        Clock { base_ns: monotonic_ns(), base_sequence: 0, period_ns: IDLE_PERIOD_NS }
    }

    /// The last blank.
    pub fn sequence(&self) -> u64 {
        self.base_sequence + monotonic_ns().saturating_sub(self.base_ns) / self.period_ns
    }

    /// When a blank is, or was.
    pub fn time_of(&self, sequence: u64) -> u64 {
        let blanks = sequence.saturating_sub(self.base_sequence);
        self.base_ns.saturating_add(blanks.saturating_mul(self.period_ns))
    }

    /// Goes on with another mode.
    pub fn set_period(&mut self, period_ns: u64) {
        if period_ns != self.period_ns {
            *self = Clock { base_sequence: self.sequence(), base_ns: monotonic_ns(), period_ns };
        }
    }
}
