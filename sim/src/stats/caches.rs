//! Caches as far as performance counters need them: which lines are there, not what they hold (qpu.md §7, §4.12).
//!
//! Sizes follow the manual's figures, or those that were measured. A tile, and the vertex shading of a draw, sees caches of a slice of its own,
//! which start cold: which tiles share a slice on the chip depends on time. The L2 cache is the chip's: the kernel empties it where a job
//! begins to bin and to render (kernel-abi.md §11), and tiles find there what others before them read.

use vc4::facts::{Number, Numbers};
use vc4::qpu::cost::{self, slots};

use super::counters::{Counters, Event};

/// Bytes of a line in all caches.
pub const LINE_BYTES: u32 = 64;
/// Bytes and ways of a cache.
type Size = (usize, usize);
/// Of the instruction cache of a slice, and the ways of its cache of uniforms.
const INSTRUCTIONS: Size = (4096, 4);
const UNIFORM_WAYS: usize = 4;

/// How large caches are, and what waiting costs.
///
/// UNVERIFIED: how large and how associative are the caches of uniforms, textures and L2? As [`Number`] assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheModel {
    uniforms: Size,
    textures: Size,
    l2: Size,
    /// Slots from a TMU request to its result, from the unit's own cache, L2 and memory.
    latency: [u64; 3],
    /// Slots of a varying, and of an SFU request, while all QPUs of a slice are at it.
    varying: f64,
    sfu: f64,
    /// Slots of a vector of the VPM beyond its instruction.
    vector: u64,
    /// Slots from a write of the stream's address to the next uniform (qpu.md §7).
    refill: u64,
    /// Clocks that a quad takes the rasteriser.
    pub quad: f64,
    /// Clocks that an access takes the tile buffer.
    pub tile_access: f64,
}

impl CacheModel {
    /// The machine that numbers describe; sizes become powers of two.
    pub fn new(machine: &Numbers) -> CacheModel {
        let whole = |number: Number| machine.get(number).round() as u64;
        let power = |number: Number| (whole(number).clamp(1, 1 << 24) as usize).next_power_of_two();
        let size = |bytes: usize, ways: usize| {
            let bytes = bytes.max(LINE_BYTES as usize);
            (bytes, ways.min(bytes / LINE_BYTES as usize))
        };
        let of_slice = f64::from(cost::QPUS_PER_SLICE);
        CacheModel {
            uniforms: size(power(Number::UniformCache), UNIFORM_WAYS),
            textures: size(power(Number::TextureCache), power(Number::TextureWays)),
            l2: size(power(Number::L2Cache), power(Number::L2Ways)),
            latency: [Number::TmuHit, Number::TmuL2, Number::TmuMemory].map(whole),
            varying: of_slice / machine.get(Number::Varyings),
            sfu: of_slice * machine.get(Number::Sfu),
            vector: whole(Number::Vpm).saturating_sub(1),
            refill: whole(Number::UniformRefill),
            quad: machine.get(Number::Quad),
            tile_access: machine.get(Number::TileAccess) * f64::from(cost::CLOCKS_PER_SLOT),
        }
    }
}

impl Default for CacheModel {
    fn default() -> CacheModel {
        CacheModel::new(&Numbers::default())
    }
}

/// Lines by address, the latest used first in each set.
struct Cache {
    ways: usize,
    /// Line addresses plus one; 0 is empty.
    lines: Vec<u32>,
}

impl Cache {
    fn new((bytes, ways): Size) -> Cache {
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
enum Source {
    /// The unit's own cache.
    Cache,
    /// The L2 cache.
    L2,
    /// Memory.
    Memory,
}

/// Results on their way that a QPU can wait for.
const IN_FLIGHT: usize = 16;

/// The caches that one QPU sees, and when its texture results arrive.
pub struct Caches {
    model: CacheModel,
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
    /// Others, for vectors of the VPM.
    vpm_wait: u64,
    /// Others, for uniforms behind a new address of their stream.
    uniform_wait: u64,
    /// The slot from which on the stream has words.
    refilled: u64,
    varyings: u64,
    sfu: u64,
}

impl Caches {
    /// Cold caches.
    pub fn new(model: CacheModel) -> Caches {
        Caches {
            model,
            instructions: Cache::new(INSTRUCTIONS),
            uniforms: Cache::new(model.uniforms),
            textures: [Cache::new(model.textures), Cache::new(model.textures)],
            l2: Cache::new(model.l2),
            arrivals: [Vec::with_capacity(IN_FLIGHT), Vec::with_capacity(IN_FLIGHT)],
            now: 0,
            tmu_wait: 0,
            vpm_wait: 0,
            uniform_wait: 0,
            refilled: 0,
            varyings: 0,
            sfu: 0,
        }
    }

    /// A program instance begins.
    pub fn begin(&mut self) {
        (self.now, self.tmu_wait, self.vpm_wait, self.varyings, self.sfu) = (0, 0, 0, 0, 0);
        (self.uniform_wait, self.refilled) = (0, 0);
        self.arrivals.iter_mut().for_each(Vec::clear);
    }

    /// Other work begins, on a slice that has not seen it: all but the L2 cache is empty.
    pub fn cool_down(&mut self) {
        let [first, second] = &mut self.textures;
        for cache in [&mut self.instructions, &mut self.uniforms, first, second] {
            cache.lines.fill(0);
        }
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
        let wait = self.refilled.saturating_sub(self.now);
        self.now += wait;
        self.uniform_wait += wait;
    }

    /// The stream of uniforms gets another address: what was fetched ahead is lost (qpu.md §4.1).
    pub fn stream_moved(&mut self) {
        self.refilled = self.now + self.model.refill;
    }

    /// A varying is read.
    pub fn varying(&mut self) {
        self.varyings += 1;
    }

    /// A special function is requested.
    pub fn special(&mut self) {
        self.sfu += 1;
    }

    /// A vector of the VPM is read.
    pub fn vector(&mut self) {
        self.now += self.model.vector;
        self.vpm_wait += self.model.vector;
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
        self.arrivals[unit & 1].push(self.now + self.model.latency[slowest as usize]);
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
        let busy = instructions + tmu + self.vpm_wait + self.uniform_wait;
        // Units of a slice serve its QPUs in turn.
        let beyond = |count: u64, each: f64| ((count as f64 * each) as u64).saturating_sub(busy);
        let varying = beyond(self.varyings, self.model.varying);
        let special = beyond(self.sfu, self.model.sfu).saturating_sub(varying);
        let clocks = u64::from(cost::CLOCKS_PER_SLOT);
        counters.add(Event::QpuStalledTmu, tmu * clocks);
        counters.add(Event::QpuStalledVarying, varying * clocks);
        (tmu + self.vpm_wait + self.uniform_wait + varying + special) * clocks
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
    fn other_work_finds_lines_in_the_shared_cache_only() {
        let (mut caches, mut counters) = (Caches::new(CacheModel::default()), Counters::default());
        let work = |caches: &mut Caches, counters: &mut Counters| {
            caches.begin();
            caches.instruction(0, counters);
            caches.uniform(64, counters);
            (0..2).for_each(|unit| caches.lookup(unit, &[128 * (unit as u32 + 1)], counters));
        };
        let events = [Event::InstructionCacheMisses, Event::UniformCacheMisses, Event::TextureCacheMisses];
        let count =
            |counters: &Counters| (events.map(|event| counters.of(event)), counters.of(Event::L2Misses));
        work(&mut caches, &mut counters);
        work(&mut caches, &mut counters);
        assert_eq!(count(&counters), ([1, 1, 2], 4));
        caches.cool_down();
        work(&mut caches, &mut counters);
        assert_eq!(count(&counters), ([2, 2, 4], 4));
    }

    #[test]
    fn a_moved_stream_is_waited_for_once() {
        let (mut caches, mut counters) = (Caches::new(CacheModel::default()), Counters::default());
        let words = |caches: &mut Caches, counters: &mut Counters| {
            for word in 0..2 {
                caches.instruction(0, counters);
                caches.uniform(4 * word, counters);
            }
            caches.end(5, false, counters)
        };
        caches.begin();
        assert_eq!(words(&mut caches, &mut counters), 0);
        caches.begin();
        caches.instruction(0, &mut counters);
        caches.stream_moved();
        for _ in 0..2 {
            caches.instruction(0, &mut counters);
        }
        // Two slots of nine have passed, and the next one is the reader's.
        assert_eq!(words(&mut caches, &mut counters), 4 * (9 - 3));
    }

    #[test]
    fn results_are_waited_for_in_order() {
        let (mut caches, mut counters) = (Caches::new(CacheModel::default()), Counters::default());
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
