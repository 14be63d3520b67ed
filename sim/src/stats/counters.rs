//! The performance counters of the V3D (kernel-abi.md §4.15): what a job really did, by event.
//!
//! Events of the fixed-function blocks are counted where they happen. Clocks follow the cost model of
//! [`vc4::qpu::cost`]; caches and the stalls that depend on them are those of [`crate::stats`] and are only counted when
//! somebody watches ([`crate::stats::Stats::caches`]), because they cost time. Then tiles are rendered in the order of the list, so that
//! no counter depends on time.

pub use vc4_kernel_abi::perfmon::{EVENTS, Event};

/// UNVERIFIED: which quads and primitives does each event count exactly? As [`Event`] describes them.
///
/// One count per event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; EVENTS]);

impl Counters {
    /// Counts `count` times.
    #[inline]
    pub fn add(&mut self, event: Event, count: u64) {
        self.0[event as usize] += count;
    }

    /// How often an event happened; 0 for numbers that are no event.
    pub fn get(&self, event: u8) -> u64 {
        self.0.get(usize::from(event)).copied().unwrap_or(0)
    }

    /// How often an event happened.
    pub fn of(&self, event: Event) -> u64 {
        self.0[event as usize]
    }

    /// Adds what another part counted.
    pub fn merge(&mut self, other: &Counters) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }

    /// All counts by the kernel's numbers.
    pub fn all(&self) -> &[u64; EVENTS] {
        &self.0
    }
}

/// QPUs of the machine (qpu.md §1.1).
const QPUS: u64 = 12;

/// Clocks for which quads keep the rasteriser busy.
fn rasteriser_clocks(counters: &Counters, clocks_per_quad: f64) -> u64 {
    let quads = counters.of(Event::ValidQuads) + counters.of(Event::ClippedQuads);
    (quads as f64 * clocks_per_quad) as u64
}

/// Clocks for which fragment programs wait for the tile buffer, which takes one access of all QPUs at a time (qpu.md §7). Where it is what a
/// job waits for, all of them stand before it; where the rasteriser is as slow, there are no more programs than it can serve.
pub fn tile_waits(counters: &Counters, tile_clocks: u64, clocks_per_quad: f64) -> u64 {
    if tile_clocks <= rasteriser_clocks(counters, clocks_per_quad) {
        return 0;
    }
    (tile_clocks * QPUS).saturating_sub(counters.of(Event::QpuFragment))
}

/// UNVERIFIED: how long do the fixed-function blocks take beside the QPUs? The time of a job is estimated as the longer of the QPUs' work shared
/// evenly by all of them and so many clocks per quad of the rasteriser (qpu.md §7); the QPUs idle for the rest.
pub fn idle_clocks(counters: &Counters, clocks_per_quad: f64) -> u64 {
    let busy = counters.of(Event::QpuVertex) + counters.of(Event::QpuFragment);
    let rasteriser = rasteriser_clocks(counters, clocks_per_quad);
    (busy.div_ceil(QPUS).max(rasteriser) * QPUS).saturating_sub(busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_kernels_numbers() {
        assert_eq!(Event::L2Misses as usize, EVENTS - 1);
        assert_eq!(Event::QpuIdle as u8, 13);
        assert_eq!(Event::TextureQuads as u8, 24);
        let mut counters = Counters::default();
        counters.add(Event::TextureQuads, 4);
        let other = counters;
        counters.merge(&other);
        assert_eq!((counters.get(24), counters.get(30)), (8, 0));
    }

    #[test]
    fn programs_wait_for_the_slowest_block_alone() {
        let mut counters = Counters::default();
        counters.add(Event::QpuFragment, 100);
        counters.add(Event::ValidQuads, 20);
        assert_eq!(tile_waits(&counters, 40, 1.0), 40 * 12 - 100);
        // The rasteriser is as slow; the programs have enough to do.
        assert_eq!([tile_waits(&counters, 40, 2.0), tile_waits(&counters, 8, 0.1)], [0, 0]);
    }

    #[test]
    fn qpus_idle_while_the_rasteriser_works() {
        let mut counters = Counters::default();
        counters.add(Event::QpuFragment, 100);
        assert_eq!(idle_clocks(&counters, 1.0), 8);
        counters.add(Event::ValidQuads, 50);
        assert_eq!(idle_clocks(&counters, 1.0), 500);
    }
}
