//! When pictures are to be seen and when they were (VK_GOOGLE_display_timing).
//!
//! All times are nanoseconds of CLOCK_MONOTONIC, with which the kernel stamps page flips, X servers what they present, and Wayland
//! compositors too, unless they say another clock. Displays that tell no times show a picture at once, as far as anybody knows.

use ash::vk;

/// Time between two refreshes where no display told another one. 60 Hz is what the monitors and televisions on these boards run at.
pub(super) const REFRESH_NS: u64 = 1_000_000_000 / 60;

/// What displays may say of that.
const PLAUSIBLE_NS: std::ops::RangeInclusive<u64> = 1_000_000..=1_000_000_000;

/// The part of a refresh by which a time may be wrong that somebody counted from an earlier one, and by which a picture is handed over
/// behind the refresh before its own.
const SLACK: u64 = 16;

/// What an application says of a picture besides its image.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tags {
    /// For vkWaitForPresentKHR, or 0.
    pub id: u64,
    /// For vkGetPastPresentationTimingGOOGLE.
    pub time: Option<vk::PresentTimeGOOGLE>,
}

/// CLOCK_MONOTONIC in nanoseconds.
pub(super) fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours. The clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What a display says of a picture that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    /// Since when, if it tells.
    pub at: Option<u64>,
    /// Nanoseconds to the next refresh, if it tells.
    pub refresh: Option<u64>,
}

/// The refreshes of a display, as far as it told.
#[derive(Debug)]
pub(super) struct Ticks {
    /// Nanoseconds between two.
    refresh: u64,
    /// One of them.
    last: Option<u64>,
    /// When the picture before was seen.
    before: Option<u64>,
}

impl Default for Ticks {
    fn default() -> Ticks {
        Ticks { refresh: REFRESH_NS, last: None, before: None }
    }
}

impl Ticks {
    /// Nanoseconds between two refreshes.
    pub fn refresh(&self) -> u64 {
        self.refresh
    }

    /// When to hand a picture over that must not be seen before `desired`: right behind the refresh before its own.
    pub fn hand_over(&self, desired: u64) -> u64 {
        let Some(last) = self.last else { return desired };
        let slack = self.refresh / SLACK;
        let ticks = desired.saturating_sub(last.saturating_add(slack)).div_ceil(self.refresh);
        match ticks {
            0 => last,
            _ => last.saturating_add((ticks - 1).saturating_mul(self.refresh)).saturating_add(slack),
        }
    }

    /// A picture was seen that was complete at `ready` (`None`: the display waited for the GPU); what to tell of it.
    pub fn see(
        &mut self,
        sight: Sight,
        ready: Option<u64>,
        asked: vk::PresentTimeGOOGLE,
    ) -> vk::PastPresentationTimingGOOGLE {
        if let Some(refresh) = sight.refresh.filter(|refresh| PLAUSIBLE_NS.contains(refresh)) {
            self.refresh = refresh;
        }
        self.last = sight.at.or(self.last);
        let at = sight.at.unwrap_or_else(now);
        let earliest = self.earliest(ready.unwrap_or(at), at);
        self.before = Some(at);
        vk::PastPresentationTimingGOOGLE {
            present_id: asked.present_id,
            desired_present_time: asked.desired_present_time,
            actual_present_time: at,
            earliest_present_time: earliest,
            present_margin: ready.map_or(0, |ready| earliest.saturating_sub(ready)),
        }
    }

    /// The first refresh in which a picture could have been seen: behind it being complete, and behind the picture before.
    fn earliest(&self, ready: u64, at: u64) -> u64 {
        let spare = at.saturating_sub(ready) / self.refresh * self.refresh;
        let behind = self.before.map_or(0, |before| before.saturating_add(self.refresh));
        (at - spare).max(behind).min(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn asked(desired: u64) -> vk::PresentTimeGOOGLE {
        vk::PresentTimeGOOGLE { present_id: 7, desired_present_time: desired }
    }

    /// Ticks of ten milliseconds; a picture was seen at a second.
    fn ticks() -> Ticks {
        let mut ticks = Ticks::default();
        let sight = Sight { at: Some(1000 * MS), refresh: Some(10 * MS) };
        let past = ticks.see(sight, Some(995 * MS), asked(3));
        assert_eq!((past.present_id, past.desired_present_time), (7, 3));
        assert_eq!((past.actual_present_time, past.earliest_present_time), (1000 * MS, 1000 * MS));
        assert_eq!(past.present_margin, 5 * MS);
        ticks
    }

    #[test]
    fn pictures_are_handed_over_behind_the_refresh_before_theirs() {
        let ticks = ticks();
        assert_eq!(ticks.refresh(), 10 * MS);
        // What is over is at once.
        assert_eq!(ticks.hand_over(0), 1000 * MS);
        assert_eq!(ticks.hand_over(1000 * MS), 1000 * MS);
        let slack = 10 * MS / SLACK;
        for (desired, before) in [(1001, 1000), (1010, 1000), (1011, 1010), (1015, 1010), (1100, 1090)] {
            assert_eq!(ticks.hand_over(desired * MS), before * MS + slack, "{desired}");
        }
        // Counted with a refresh that is not quite the display's.
        assert_eq!(ticks.hand_over(1010 * MS + 5000), 1000 * MS + slack);
        assert_eq!(Ticks::default().hand_over(17), 17, "nobody knows when the display refreshes");
        assert!(ticks.hand_over(u64::MAX) > u64::MAX / 2);
    }

    #[test]
    fn what_could_have_been_earlier_is_told() {
        let mut ticks = ticks();
        let sight = |at: u64| Sight { at: Some(at * MS), refresh: None };
        // It waited for its time.
        let past = ticks.see(sight(1050), Some(1012 * MS), asked(1045 * MS));
        assert_eq!((past.earliest_present_time, past.present_margin), (1020 * MS, 8 * MS));
        // It waited for the picture before.
        let past = ticks.see(sight(1060), Some(1025 * MS), asked(0));
        assert_eq!((past.earliest_present_time, past.present_margin), (1060 * MS, 35 * MS));
        // The display waited for the GPU.
        let past = ticks.see(sight(1090), None, asked(0));
        assert_eq!((past.earliest_present_time, past.present_margin), (1090 * MS, 0));
        // Whatever a display says, it is no more than wrong.
        let end = ticks.see(Sight { at: Some(u64::MAX), refresh: None }, Some(u64::MAX), asked(u64::MAX));
        assert_eq!(end.earliest_present_time, u64::MAX);
        assert_eq!(ticks.hand_over(u64::MAX), u64::MAX);
        let _ = ticks.see(sight(1090), None, asked(0));
        // Nonsense changes nothing.
        let _ = ticks.see(Sight { at: None, refresh: Some(0) }, None, asked(0));
        assert_eq!((ticks.refresh(), ticks.last), (10 * MS, Some(1090 * MS)));
    }
}
