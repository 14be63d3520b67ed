//! Caches as far as performance counters need them: which lines are there, not what they hold (qpu.md §7, §4.12).
//!
//! Sizes follow the manual's figures. A tile, and the vertex shading of a draw, sees caches of its own that start cold:
//! which tiles share a slice on the chip depends on time.

use vc4::qpu::cost::{self, slots};

use super::counters::{Counters, Event};

/// Bytes of a line in all caches.
pub const LINE_BYTES: u32 = 64;
/// Bytes of the instruction cache of a slice, four ways.
const INSTRUCTION_BYTES: usize = 4096;
/// UNVERIFIED: how large and how associative are the caches of uniforms, textures and L2? Here 4 KiB with four ways, 4 KiB with two ways,
/// 32 KiB with four ways.
const SIZES: [(usize, usize); 3] = [(4096, 4), (4096, 2), (32 << 10, 4)];

/// Lines by address, the latest used first in each set.
struct Cache {
    ways: usize,
    /// Line addresses plus one; 0 is empty.
    lines: Vec<u32>,
}

impl Cache {
    fn new((bytes, ways): (usize, usize)) -> Cache {
        Cache { ways, lines: vec![0; bytes / LINE_BYTES as usize] }
    }

    /// Uses the line that holds `address`; false when it was not there.
    fn access(&mut self, address: u32) -> bool {
        let line = address / LINE_BYTES;
        let sets = self.lines.len() / self.ways;
        let first = line as usize % sets * self.ways;
        let set = &mut self.lines[first..first + self.ways];
        let found = set.iter().position(|&held| held == line + 1);
        set[..=found.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = line + 1;
        found.is_some()
    }
}

/// Where a line came from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The unit's own cache.
    Cache,
    /// The L2 cache.
    L2,
    /// Memory.
    Memory,
}

impl Source {
    /// Slots from a TMU request to its result.
    fn latency(self) -> u64 {
        u64::from(slots(match self {
            Source::Cache => cost::Event::TmuHit,
            Source::L2 => cost::Event::TmuL2,
            Source::Memory => cost::Event::TmuMemory,
        }))
    }
}

/// Results on their way that a QPU can wait for.
const IN_FLIGHT: usize = 16;

/// The caches that one QPU sees, and when its texture results arrive.
pub struct Caches {
    instructions: Cache,
    uniforms: Cache,
    textures: [Cache; 2],
    l2: Cache,
    /// Slot numbers at which results are there, for each unit; oldest first.
    arrivals: [Vec<u64>; 2],
    /// Slots since the instance began, waits included.
    now: u64,
    /// Of these, waits for a TMU.
    tmu_wait: u64,
    varyings: u64,
}

impl Default for Caches {
    fn default() -> Caches {
        Caches {
            instructions: Cache::new((INSTRUCTION_BYTES, 4)),
            uniforms: Cache::new(SIZES[0]),
            textures: [Cache::new(SIZES[1]), Cache::new(SIZES[1])],
            l2: Cache::new(SIZES[2]),
            arrivals: [Vec::with_capacity(IN_FLIGHT), Vec::with_capacity(IN_FLIGHT)],
            now: 0,
            tmu_wait: 0,
            varyings: 0,
        }
    }
}

impl Caches {
    /// A program instance begins.
    pub fn begin(&mut self) {
        (self.now, self.tmu_wait, self.varyings) = (0, 0, 0);
        self.arrivals.iter_mut().for_each(Vec::clear);
    }

    fn through_l2(&mut self, address: u32, counters: &mut Counters) -> Source {
        let hit = self.l2.access(address);
        counters.add(if hit { Event::L2Hits } else { Event::L2Misses }, 1);
        if hit { Source::L2 } else { Source::Memory }
    }

    /// An instruction is fetched and takes its slot.
    pub fn instruction(&mut self, address: u32, counters: &mut Counters) {
        self.now += u64::from(slots(cost::Event::Issue));
        counters.add(Event::InstructionCacheHits, 1);
        if !self.instructions.access(address) {
            counters.add(Event::InstructionCacheMisses, 1);
            self.through_l2(address, counters);
        }
    }

    /// A word of the uniform stream is taken.
    pub fn uniform(&mut self, address: u32, counters: &mut Counters) {
        counters.add(Event::UniformCacheHits, 1);
        if !self.uniforms.access(address) {
            counters.add(Event::UniformCacheMisses, 1);
            self.through_l2(address, counters);
        }
    }

    /// A varying is read.
    pub fn varying(&mut self) {
        self.varyings += 1;
    }

    /// A request of `unit` reads these lines.
    pub fn lookup(&mut self, unit: usize, lines: &[u32], counters: &mut Counters) {
        let mut slowest = Source::Cache;
        for &address in lines {
            if !self.textures[unit & 1].access(address) {
                counters.add(Event::TextureCacheMisses, 1);
                slowest = slowest.max(self.through_l2(address, counters));
            }
        }
        self.arrivals[unit & 1].push(self.now + slowest.latency());
    }

    /// The oldest result of `unit` is loaded.
    pub fn load(&mut self, unit: usize) {
        let arrivals = &mut self.arrivals[unit & 1];
        if !arrivals.is_empty() {
            let wait = arrivals.remove(0).saturating_sub(self.now);
            self.now += wait;
            self.tmu_wait += wait;
        }
    }

    /// The instance is over after so many instructions; adds its waits. A program with two threads hides the latency
    /// of one behind the other's instructions (qpu.md §7).
    pub fn end(&mut self, instructions: u64, threaded: bool, counters: &mut Counters) -> u64 {
        let hidden = if threaded { instructions } else { 0 };
        let tmu = self.tmu_wait.saturating_sub(hidden);
        // The interpolator of a slice serves its QPUs in turn.
        let rate = u64::from(slots(cost::Event::VaryingsPerSlot));
        let varying =
            (self.varyings * u64::from(cost::QPUS_PER_SLICE) / rate).saturating_sub(instructions + tmu);
        let clocks = u64::from(cost::CLOCKS_PER_SLOT);
        counters.add(Event::QpuStalledTmu, tmu * clocks);
        counters.add(Event::QpuStalledVarying, varying * clocks);
        (tmu + varying) * clocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_the_lines_used_last() {
        let mut cache = Cache::new((4 * 64, 2));
        // Two sets: even and odd lines.
        let hits: Vec<bool> = [0, 2, 0, 4, 0, 2, 1].map(|line| cache.access(line * 64 + 7)).to_vec();
        assert_eq!(hits, [false, false, true, false, true, false, false]);
    }

    #[test]
    fn results_are_waited_for_in_order() {
        let (mut caches, mut counters) = (Caches::default(), Counters::default());
        caches.begin();
        caches.instruction(0, &mut counters);
        caches.lookup(0, &[4096, 4160], &mut counters);
        caches.lookup(0, &[4096], &mut counters);
        caches.load(0);
        caches.load(0);
        let waited = caches.end(1, false, &mut counters);
        assert_eq!(waited, 4 * u64::from(slots(cost::Event::TmuMemory)));
        assert_eq!(counters.of(Event::TextureCacheMisses), 2);
        assert_eq!(counters.of(Event::L2Misses), 3);
        assert_eq!(
            (counters.of(Event::InstructionCacheHits), counters.of(Event::InstructionCacheMisses)),
            (1, 1)
        );
    }
}
