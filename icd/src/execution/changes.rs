//! When the queue last changed memory. What jobs were made of is the same as long as nobody has changed it.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use vc4_kernel_abi::BoHandle;

use crate::objects::memory::{Binding, Span};
use crate::segments::{Target, Touch};

/// BOs whose times are remembered.
const MAX_BOS: usize = 4096;
/// Parts of a BO that have times of their own.
const MAX_PARTS: usize = 16;

/// A part of a BO, and when it changed last.
type Part = (Span, u64);

/// Times are counted in commands and passes.
#[derive(Debug, Default)]
pub struct Changes {
    now: u64,
    /// When something changed that no entry of `parts` names.
    of_any: u64,
    parts: FxHashMap<BoHandle, SmallVec<[Part; 1]>>,
}

impl Changes {
    /// The time.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The CPU executes a command. What it touches it may write.
    pub fn by_command(&mut self, touch: &Touch) {
        self.now += 1;
        match touch {
            Touch::Nothing => {}
            Touch::Everything => self.of_any = self.now,
            Touch::Memory(spans) => spans.iter().for_each(|span| self.change(*span)),
        }
    }

    /// Jobs draw to a target.
    pub fn by_pass(&mut self, target: &Target) {
        self.now += 1;
        let colors = target.colors.iter().flat_map(|color| color.resolve.iter().chain([&color.view]));
        for view in colors.chain(&target.depth_stencil) {
            // Without memory there is nothing to change.
            if let Some(span) = view.image.binding().ok().map(Binding::span) {
                self.change(span);
            }
        }
    }

    fn change(&mut self, span: Span) {
        if self.parts.len() >= MAX_BOS && !self.parts.contains_key(&span.bo) {
            self.parts.clear();
            self.of_any = self.now;
        }
        let parts = self.parts.entry(span.bo).or_default();
        if parts.len() >= MAX_PARTS {
            let all = parts.iter().fold(span, |all, (part, _)| join(all, *part));
            *parts = SmallVec::from_buf([(all, self.now)]);
            return;
        }
        // Parts that meet become one, which is as new as this.
        let whole =
            parts.iter().filter(|(part, _)| part.meets(&span)).fold(span, |all, (part, _)| join(all, *part));
        parts.retain(|(part, _)| !part.meets(&whole));
        parts.push((whole, self.now));
    }

    /// Whether a byte may have been changed after a time.
    pub fn since(&self, span: &Span, time: u64) -> bool {
        let parts = self.parts.get(&span.bo);
        let changed = |(part, at): &Part| *at > time && part.meets(span);
        self.of_any > time || parts.is_some_and(|parts| parts.iter().any(changed))
    }
}

/// From the first byte of both to the last.
fn join(a: Span, b: Span) -> Span {
    Span { bo: a.bo, start: a.start.min(b.start), end: a.end.max(b.end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(bo: u32, start: u64, end: u64) -> Span {
        Span { bo: BoHandle(bo), start, end }
    }

    #[test]
    fn bytes_change_by_commands_that_touch_them() {
        let mut changes = Changes::default();
        let start = changes.now();
        changes.by_command(&Touch::Memory(vec![span(1, 64, 128)]));
        let seen = [span(1, 0, 64), span(1, 0, 65), span(1, 127, 128), span(1, 128, 256), span(2, 64, 128)];
        assert_eq!(seen.map(|span| changes.since(&span, start)), [false, true, true, false, false]);
        let then = changes.now();
        // What is changed with it is as new as it.
        changes.by_command(&Touch::Memory(vec![span(1, 120, 200)]));
        assert_eq!(seen.map(|span| changes.since(&span, then)), [false, true, true, true, false]);
        assert!(!changes.since(&seen[1], changes.now()));
        changes.by_command(&Touch::Nothing);
        assert!(!changes.since(&seen[4], then));
        changes.by_command(&Touch::Everything);
        assert!(changes.since(&seen[4], then));
    }

    #[test]
    fn what_is_forgotten_counts_as_changed() {
        let mut changes = Changes::default();
        let many = (0..MAX_BOS as u32).map(|bo| span(bo, 0, 4));
        changes.by_command(&Touch::Memory(many.collect()));
        let (then, other) = (changes.now(), span(u32::MAX, 0, 4));
        assert!(!changes.since(&other, then));
        changes.by_command(&Touch::Memory(vec![span(5000, 0, 4)]));
        assert!(changes.since(&other, then) && changes.since(&span(0, 0, 4), then));
        assert!(!changes.since(&span(0, 0, 4), changes.now()));
    }

    #[test]
    fn many_parts_of_a_bo_become_one() {
        let mut changes = Changes::default();
        for part in 0..MAX_PARTS as u64 {
            changes.by_command(&Touch::Memory(vec![span(1, 100 * part, 100 * part + 1)]));
        }
        let then = changes.now();
        assert!(!changes.since(&span(1, 1, 100), 0));
        changes.by_command(&Touch::Memory(vec![span(1, 5000, 5001)]));
        assert!(changes.since(&span(1, 1, 100), then));
        assert!(!changes.since(&span(1, 5001, 5002), then));
    }
}
