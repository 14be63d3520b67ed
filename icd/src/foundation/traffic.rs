//! What the CPU reads and writes of mapped BOs, and why.
//!
//! On a board this memory is write-combined: the CPU caches nothing that it reads there. What costs nothing in the memory of
//! other machines takes most of a frame there, so it is counted everywhere.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use vc4::facts::Number;
use vc4_kernel_abi::Mapping;

use super::cache::Cache;
use super::facts::numbers;

/// Why the CPU looks at a BO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A picture is copied to where it is shown.
    Present,
    /// Buffers and images are copied.
    Copy,
    /// Buffers are copied to images.
    Upload,
    /// Blits.
    Blit,
    /// Resolves.
    Resolve,
    /// Clears of images, fills and updates of buffers.
    Clear,
    /// Indices are looked at, or rewritten.
    Indices,
    /// Parameters of draws and dispatches.
    Indirect,
    /// Words of uniform buffers go into uniform streams.
    Uniforms,
    /// Vertices are copied together.
    Vertices,
    /// Results of queries.
    Query,
    /// Jobs get copies of what lies in the process's own memory.
    Copied,
}

impl Cause {
    /// All of them, as they are declared.
    const ALL: [Cause; 12] = [
        Cause::Present,
        Cause::Copy,
        Cause::Upload,
        Cause::Blit,
        Cause::Resolve,
        Cause::Clear,
        Cause::Indices,
        Cause::Indirect,
        Cause::Uniforms,
        Cause::Vertices,
        Cause::Query,
        Cause::Copied,
    ];

    /// Whether it is one of draws that are put together.
    #[inline]
    fn is_of_draws(self) -> bool {
        matches!(self, Cause::Indices | Cause::Indirect | Cause::Uniforms | Cause::Vertices)
    }

    fn name(self) -> &'static str {
        match self {
            Cause::Present => "present",
            Cause::Copy => "copy",
            Cause::Upload => "upload",
            Cause::Blit => "blit",
            Cause::Resolve => "resolve",
            Cause::Clear => "clear",
            Cause::Indices => "indices",
            Cause::Indirect => "indirect",
            Cause::Uniforms => "uniforms",
            Cause::Vertices => "vertices",
            Cause::Query => "query",
            Cause::Copied => "copied",
        }
    }
}

/// Bytes that a board's CPU moves in a second.
struct Board {
    name: &'static str,
    /// From mapped BOs.
    read: f64,
    /// To mapped BOs.
    written: f64,
}

/// UNVERIFIED: how many bytes per second does the CPU of a Zero and of a Pi 3 read from, and write to, a mapped BO in runs
/// of a cache line?
const BOARDS: [Board; 2] =
    [Board { name: "Zero", read: 30e6, written: 200e6 }, Board { name: "Pi 3", read: 110e6, written: 600e6 }];

/// Bytes of one cause.
#[derive(Debug, Default)]
struct Counter {
    read: AtomicU64,
    written: AtomicU64,
}

/// Bytes that the CPU moved from and to the BOs of a GPU.
#[derive(Debug, Default)]
pub struct Traffic {
    counters: [Counter; Cause::ALL.len()],
    /// Checks of the driver's own that put draws together right now.
    checks: AtomicU32,
    /// What those move.
    unseen: Counter,
}

impl Traffic {
    /// What was moved so far.
    pub fn total(&self) -> Total {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Total(std::array::from_fn(|n| Bytes {
            read: load(&self.counters[n].read),
            written: load(&self.counters[n].written),
        }))
    }

    /// Until the guard is dropped, what is moved to put draws together is not counted: checks of the driver's own cost
    /// nobody anything. Another device that draws meanwhile may lose counts.
    pub fn check(&self) -> Check<'_> {
        self.checks.fetch_add(1, Ordering::Relaxed);
        Check(&self.checks)
    }

    #[inline]
    fn counter(&self, cause: Cause) -> &Counter {
        match self.checks.load(Ordering::Relaxed) > 0 && cause.is_of_draws() {
            true => &self.unseen,
            false => &self.counters[cause as usize],
        }
    }
}

/// A check of the driver's own is under way.
pub struct Check<'a>(&'a AtomicU32);

impl Drop for Check<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Bytes that were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// From BOs.
    pub read: u64,
    /// To BOs.
    pub written: u64,
}

/// Bytes that were moved, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total([Bytes; Cause::ALL.len()]);

impl Total {
    /// What was moved since. Where two devices lost counts to one another ([`ReadAccess::read`]), there may be less than before.
    pub fn since(&self, before: &Total) -> Total {
        Total(std::array::from_fn(|n| Bytes {
            read: self.0[n].read.saturating_sub(before.0[n].read),
            written: self.0[n].written.saturating_sub(before.0[n].written),
        }))
    }

    /// The bytes of one cause.
    #[cfg(test)]
    pub fn of(&self, cause: Cause) -> Bytes {
        self.0[cause as usize]
    }

    /// All causes together.
    pub fn sum(&self) -> Bytes {
        let sum = |part: fn(&Bytes) -> u64| self.0.iter().map(part).sum();
        Bytes { read: sum(|bytes| bytes.read), written: sum(|bytes| bytes.written) }
    }

    fn list(&self, part: fn(&Bytes) -> u64) -> String {
        let parts = Cause::ALL.iter().zip(&self.0).filter(|(_, bytes)| part(bytes) > 0);
        let parts: Vec<String> =
            parts.map(|(cause, bytes)| format!("{} {}", cause.name(), part(bytes))).collect();
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes { read, written } = self.sum();
        let measured = |number| numbers().measured(number);
        let own = match (measured(Number::BoRead), measured(Number::BoWrite)) {
            (Some(read), Some(written)) => Some(Board { name: "board like the measured one", read, written }),
            _ => None,
        };
        let boards = own.as_ref().map_or(&BOARDS[..], std::slice::from_ref);
        let times: Vec<String> = boards
            .iter()
            .map(|board| {
                let seconds = read as f64 / board.read + written as f64 / board.written;
                format!("{:.1} ms on a {}", seconds * 1e3, board.name)
            })
            .collect();
        write!(
            f,
            "the CPU reads {read} bytes of BOs{} and writes {written}{}: {}",
            self.list(|bytes| bytes.read),
            self.list(|bytes| bytes.written),
            times.join(", ")
        )
    }
}

/// As [`Access`], for reading only and counted at once: for causes that only one thread of a device reads for.
#[derive(Clone, Copy)]
pub struct ReadAccess<'a> {
    mapping: Mapping,
    counter: &'a Counter,
    /// What the CPU caches costs it nothing worth counting.
    is_cached: bool,
}

impl<'a> ReadAccess<'a> {
    /// Access to a mapping, counted.
    pub fn new(mapping: Mapping, traffic: &'a Traffic, cause: Cause) -> ReadAccess<'a> {
        ReadAccess { mapping, counter: traffic.counter(cause), is_cached: false }
    }

    /// The same of memory that the CPU may cache.
    pub fn through(self, is_cached: bool) -> ReadAccess<'a> {
        ReadAccess { is_cached, ..self }
    }

    /// As [`Access::read`].
    #[inline]
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        self.count(data.len());
        self.mapping.read(offset, data);
    }

    /// Whether the words from byte `offset` on are those of `before`; if not, as many as those are at the beginning of `words`
    /// now. They are not counted: whoever reads many times counts them together, since 32-bit processors count slowly.
    ///
    /// # Panics
    /// If the range leaves the mapping, or there are more of `before` than `words`.
    #[inline]
    pub fn read_changed(&self, offset: usize, words: &mut [u32], before: &[u32]) -> bool {
        // To look again costs less than to copy all.
        self.is_cached && self.mapping.holds(offset, before)
            || self.mapping.read_words(offset, &mut words[..before.len()], before)
    }

    /// Counts bytes.
    #[inline]
    pub fn count(&self, bytes: usize) {
        if !self.is_cached {
            // Each device has one such thread; an exchange that cores have to agree to would cost draws more than a count
            // that two devices of a process might lose.
            let before = self.counter.read.load(Ordering::Relaxed);
            self.counter.read.store(before + bytes as u64, Ordering::Relaxed);
        }
    }
}

/// A mapped BO and why the CPU looks at it. What was moved is added up at the end.
pub struct Access<'a> {
    mapping: Mapping,
    counter: &'a Counter,
    read: Cell<u64>,
    written: Cell<u64>,
    is_cached: bool,
    cache: Option<&'a Cache>,
}

impl<'a> Access<'a> {
    /// Access to a mapping, counted.
    pub fn new(mapping: Mapping, traffic: &'a Traffic, cause: Cause) -> Access<'a> {
        let counter = traffic.counter(cause);
        Access { mapping, counter, read: Cell::new(0), written: Cell::new(0), is_cached: false, cache: None }
    }

    /// The same of memory that the CPU may cache: what is moved there is not counted. Where the driver has to know what its
    /// caches hold, `cache` is told.
    pub fn through(mut self, is_cached: bool, cache: Option<&'a Cache>) -> Access<'a> {
        (self.is_cached, self.cache) = (is_cached, cache);
        self
    }

    /// Copies bytes from `offset` into `data`.
    ///
    /// # Panics
    /// If the range leaves the mapping: callers check application input first.
    #[inline]
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        self.read.set(self.read.get() + data.len() as u64);
        self.mapping.read(offset, data);
    }

    /// The word at byte `offset`.
    ///
    /// # Panics
    /// If the word leaves the mapping.
    pub fn read_u32(&self, offset: usize) -> u32 {
        self.read.set(self.read.get() + 4);
        self.mapping.read_u32(offset)
    }

    /// Copies `data` to byte `offset`.
    ///
    /// # Panics
    /// If the range leaves the mapping.
    #[inline]
    pub fn write(&self, offset: usize, data: &[u8]) {
        self.written.set(self.written.get() + data.len() as u64);
        self.mapping.write(offset, data);
    }
}

impl Drop for Access<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(cache) = self.cache.filter(|_| self.written.get() > 0) {
            cache.dirty();
        }
        if self.is_cached {
            return;
        }
        let add = |counter: &AtomicU64, bytes: u64| {
            if bytes > 0 {
                counter.fetch_add(bytes, Ordering::Relaxed);
            }
        };
        add(&self.counter.read, self.read.get());
        add(&self.counter.written, self.written.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn causes_stand_in_their_places() {
        for (place, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, place, "{cause:?}");
        }
    }

    #[test]
    fn what_is_moved_is_listed_by_cause_and_estimated() {
        let traffic = Traffic::default();
        let bo = device().create_bo("test", 64).unwrap();
        let mapping = bo.map().unwrap();
        let start = traffic.total();
        Access::new(mapping, &traffic, Cause::Copy).read(8, &mut [0; 24]);
        {
            let access = Access::new(mapping, &traffic, Cause::Clear);
            access.write(0, &[7; 40]);
            assert_eq!(access.read_u32(4), 0x0707_0707);
        }
        let moved = traffic.total().since(&start);
        assert_eq!(moved.of(Cause::Copy), Bytes { read: 24, written: 0 });
        assert_eq!(moved.of(Cause::Clear), Bytes { read: 4, written: 40 });
        assert_eq!(moved.sum(), Bytes { read: 28, written: 40 });
        assert_eq!(
            moved.to_string(),
            "the CPU reads 28 bytes of BOs (copy 24, clear 4) and writes 40 (clear 40): \
             0.0 ms on a Zero, 0.0 ms on a Pi 3"
        );
    }

    #[test]
    fn words_are_compared_as_they_are_read_and_counted_together() {
        let (traffic, bo) = (Traffic::default(), device().create_bo("test", 64).unwrap());
        let mapping = bo.map().unwrap();
        let words: Vec<u32> = (1..8).map(|n| n * 0x0123_4567).collect();
        mapping.write(5, bytemuck::cast_slice(&words));
        let access = ReadAccess::new(mapping, &traffic, Cause::Uniforms);
        for is_cached in [false, true] {
            let access = access.through(is_cached);
            let is_as = |before: &[u32]| {
                let mut read = [0; 7];
                let is_same = access.read_changed(5, &mut read, before);
                let is_read = read[..before.len()] == words[..before.len()];
                is_same == (words[..before.len()] == *before) && (is_read || is_same && is_cached)
            };
            assert!((0..=7).all(|count| is_as(&words[..count])));
            for number in 0..words.len() {
                let mut other = words.clone();
                other[number] ^= 1 << (4 * number);
                assert!(is_as(&other), "word {number}");
            }
        }
        assert_eq!(traffic.total().sum(), Bytes::default());
        access.count(28);
        assert_eq!(traffic.total().of(Cause::Uniforms), Bytes { read: 28, written: 0 });
    }

    /// Another thread may look at any time: it must not see what a check moves, not even for a while.
    #[test]
    fn what_checks_move_is_never_seen() {
        let traffic = Traffic::default();
        let bo = device().create_bo("test", 64).unwrap();
        let mapping = bo.map().unwrap();
        let draw = || {
            Access::new(mapping, &traffic, Cause::Indices).read(0, &mut [0; 2]);
            ReadAccess::new(mapping, &traffic, Cause::Uniforms).read(0, &mut [0; 8]);
            Access::new(mapping, &traffic, Cause::Copy).read(0, &mut [0; 4]);
        };
        {
            let _check = traffic.check();
            draw();
            assert_eq!(traffic.total().sum(), Bytes { read: 4, written: 0 });
        }
        let checked = traffic.total();
        assert_eq!(checked.sum(), Bytes { read: 4, written: 0 });
        draw();
        assert_eq!(traffic.total().since(&checked).sum(), Bytes { read: 14, written: 0 });
        assert_eq!(checked.since(&traffic.total()), Total::default());
    }
}
