//! What jobs would take the silicon: counts of a [`Profile`], and an estimate of time from them.
//!
//! A job bins, then renders. Each half takes as long as its slowest unit: units work beside each other, and lists and tiles keep them
//! busy. Rates are measured ones where a board was asked ([`Numbers`]), and else assumed. The estimate is for comparing frames; it
//! knows nothing of what the display reads, and nothing of the time between jobs.

use vc4::facts::{Number, Numbers};
use vc4::hw::tile_px;
use vc4::qpu::Stage;
use vc4::qpu::cost::{self, CLOCKS_PER_SLOT, QPUS_PER_SLICE, SLICES, TMUS_PER_SLICE, slots};
use vc4_kernel_abi::uapi::SURFACE_READ_IS_FULL_RES;
use vc4_kernel_abi::{Submit, Surface};

use crate::profile::Profile;
use crate::stats::counters::Event;
use crate::stats::{LINE_BYTES, Work};

/// Clocks of the GPU that are looked at: of the Pi 1 and Zero, the Pi 2 and 3, and overclocked.
pub const CLOCKS: [f64; 3] = [250e6, 300e6, 400e6];

/// Quads of a program instance.
const INSTANCE_QUADS: u64 = 4;
/// Vertices of a program instance.
const INSTANCE_VERTICES: u64 = 16;
/// Bytes of a word of the tile buffer: a colour, or depth and stencil, of a sample.
const SAMPLE_BYTES: u64 = 4;
/// Samples of a pixel of tiles that keep all of them.
const SAMPLES: u64 = 4;
/// About so much of a tile's list is a primitive; states are few beside.
const TILE_ITEM_BYTES: u64 = 8;

/// A unit that a job can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Programs.
    Qpu,
    /// Texture units.
    Tmu,
    /// Rasteriser and tile buffer: a quad per clock.
    Tiles,
    /// The binner.
    Binner,
    /// Memory.
    Memory,
}

impl Unit {
    /// All of them.
    pub const ALL: [Unit; 5] = [Unit::Qpu, Unit::Tmu, Unit::Tiles, Unit::Binner, Unit::Memory];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Qpu => "QPU",
            Unit::Tmu => "TMU",
            Unit::Tiles => "tiles",
            Unit::Binner => "binner",
            Unit::Memory => "memory",
        }
    }
}

/// What some jobs take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Jobs.
    pub jobs: u64,
    /// Clocks of all QPUs together in coordinate, vertex and fragment programs, waits included.
    pub qpu_clocks: [u64; 3],
    /// Of these, waits for texture units and varyings.
    pub wait_clocks: u64,
    /// Of the clocks in fragment programs, those of programs of which two share a QPU.
    pub threaded_clocks: u64,
    /// Quads looked up.
    pub texture_quads: u64,
    /// Lines that the cache of a texture unit did not hold.
    pub texture_misses: u64,
    /// Quads that programs or early depth tests got.
    pub quads: u64,
    /// Bytes that tiles load, and store.
    pub tile_bytes: [u64; 2],
    /// Bytes of tile lists, each written and read once.
    pub list_bytes: u64,
    /// Bytes of vertices that are fetched, and of lines that no cache held.
    pub read_bytes: u64,
    /// Vertices that vertex programs shade, in whole batches, and distinct ones that draws name.
    pub vertices: [u64; 2],
    /// Primitives that reach the binner's lists.
    pub primitives: u64,
    /// Binner memory beyond the first block of each job, blocks.
    pub spills: u64,
    /// Seconds that memory takes for what tiles store and what is read for vertices and textures: a driver whose tiles load
    /// nothing, whose lists take nothing and whose programs take no time would draw no faster.
    pub least: f64,
    /// Seconds at each of [`CLOCKS`].
    pub seconds: [f64; 3],
    /// Of the seconds at the first clock, those that each of [`Unit::ALL`] is the slowest in.
    pub bound: [f64; 5],
}

impl Price {
    /// The price of a job.
    pub fn of(submit: &Submit, profile: &Profile, machine: &Numbers) -> Price {
        let counters = &profile.stats.counters;
        let work = |stage: Stage| {
            let mut sum = Work::default();
            let programs = profile.counts.programs.iter().filter(|((_, of), _)| *of == stage);
            programs.for_each(|(_, work)| sum.add(work));
            sum
        };
        let stages = [Stage::Coordinate, Stage::Vertex, Stage::Fragment].map(work);
        // Counters tell vertex and coordinate programs in one number, with what they wait for.
        let before = counters.of(Event::QpuVertex);
        let share = stages[0].cycles as f64 / (stages[0].cycles + stages[1].cycles).max(1) as f64;
        let coordinate = (before as f64 * share) as u64;
        // What programs wait for at the tile buffer is that unit's time.
        let fragment = counters.of(Event::QpuFragment).saturating_sub(profile.stats.tile_waits);
        let distinct = profile.draws.iter().map(|draw| draw.vertices as u64).sum();
        let fetched = profile.draws.iter().map(|draw| {
            let attributes = draw.record.attributes.iter();
            let bytes: u64 = attributes.map(|attribute| u64::from(attribute.bytes)).sum();
            // Once for binning, once for rendering.
            2 * draw.vertices as u64 * bytes
        });
        let fetched: u64 = fetched.sum();
        let listed: u64 = profile.tile_primitives.iter().map(|&count| count as u64).sum();
        let threaded = profile.draws.iter().zip(0..).filter(|(draw, _)| {
            let fragment = draw.programs.iter().find(|program| program.stage == Stage::Fragment);
            fragment.is_some_and(|program| vc4::qpu::Cost::of(&program.code).threaded)
        });
        let threaded =
            threaded.filter_map(|(_, number)| profile.counts.programs.get(&(number, Stage::Fragment)));
        let threaded: u64 = threaded.map(|work| work.cycles).sum();
        let threaded = threaded as f64 / stages[2].cycles.max(1) as f64;
        let mut price = Price {
            jobs: 1,
            qpu_clocks: [coordinate, before - coordinate, fragment],
            wait_clocks: counters.of(Event::QpuStalledTmu) + counters.of(Event::QpuStalledVarying),
            threaded_clocks: (fragment as f64 * threaded) as u64,
            texture_quads: counters.of(Event::TextureQuads),
            texture_misses: counters.of(Event::TextureCacheMisses),
            quads: counters.of(Event::ValidQuads) + counters.of(Event::ClippedQuads),
            tile_bytes: tile_bytes(submit, profile.tiles.edge),
            list_bytes: listed * TILE_ITEM_BYTES,
            read_bytes: fetched + counters.of(Event::L2Misses) * u64::from(LINE_BYTES),
            vertices: [stages[1].instances * INSTANCE_VERTICES, distinct],
            primitives: profile.draws.iter().map(|draw| draw.primitives as u64).sum(),
            spills: u64::from(profile.stats.spills),
            ..Price::default()
        };
        let bare = Price { tile_bytes: [0, price.tile_bytes[1]], list_bytes: 0, ..price };
        price.least = bare.halves(machine, CLOCKS[0]).1[Unit::Memory as usize];
        for (clock, hertz) in CLOCKS.into_iter().enumerate() {
            let (binning, rendering) = price.halves(machine, hertz);
            for half in [binning, rendering] {
                let slowest = half.iter().copied().fold(0.0, f64::max);
                price.seconds[clock] += slowest;
                if let (0, Some(unit)) = (clock, half.iter().position(|&seconds| seconds == slowest)) {
                    price.bound[unit] += slowest;
                }
            }
        }
        price
    }

    /// Seconds of each unit while the job bins, and while it renders.
    fn halves(&self, machine: &Numbers, hertz: f64) -> ([f64; 5], [f64; 5]) {
        let clocks = |count: f64| count / hertz;
        let qpus = f64::from(SLICES * QPUS_PER_SLICE);
        let [coordinate, vertex, fragment] = self.qpu_clocks.map(|count| clocks(count as f64 / qpus));
        let request = slots(cost::Event::TmuRequest) * CLOCKS_PER_SLOT;
        let per_quad = f64::from(request) / f64::from(TMUS_PER_SLICE * SLICES) / INSTANCE_QUADS as f64;
        let stored = |bytes: u64| bytes as f64 / machine.get(Number::TileStore);
        let loaded = |bytes: u64| bytes as f64 / machine.get(Number::TileLoad);
        let binning = [
            coordinate,
            0.0,
            0.0,
            self.primitives as f64 / machine.get(Number::Triangles),
            stored(self.list_bytes),
        ];
        let rendering = [
            vertex + fragment,
            clocks(self.texture_quads as f64 * per_quad),
            clocks(self.quads as f64),
            0.0,
            stored(self.tile_bytes[1]) + loaded(self.tile_bytes[0] + self.list_bytes + self.read_bytes),
        ];
        (binning, rendering)
    }

    /// What both take.
    pub fn add(&mut self, other: &Price) {
        self.combine(other, |a, b| a + b, |a, b| a + b);
    }

    /// What it takes beyond another, of `times` frames each.
    #[must_use]
    pub fn beyond(mut self, other: &Price, times: u64) -> Price {
        let times = times.max(1);
        self.combine(other, |a, b| a.saturating_sub(b) / times, |a, b| (a - b).max(0.0) / times as f64);
        self
    }

    fn combine(&mut self, other: &Price, whole: impl Fn(u64, u64) -> u64, real: impl Fn(f64, f64) -> f64) {
        let pairs: [(&mut u64, u64); 9] = [
            (&mut self.jobs, other.jobs),
            (&mut self.wait_clocks, other.wait_clocks),
            (&mut self.threaded_clocks, other.threaded_clocks),
            (&mut self.texture_quads, other.texture_quads),
            (&mut self.texture_misses, other.texture_misses),
            (&mut self.quads, other.quads),
            (&mut self.list_bytes, other.list_bytes),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.primitives, other.primitives),
        ];
        pairs.into_iter().for_each(|(own, more)| *own = whole(*own, more));
        self.spills = whole(self.spills, other.spills);
        let lists = self.qpu_clocks.iter_mut().zip(other.qpu_clocks);
        let lists = lists.chain(self.tile_bytes.iter_mut().zip(other.tile_bytes));
        let lists = lists.chain(self.vertices.iter_mut().zip(other.vertices));
        lists.for_each(|(own, more)| *own = whole(*own, more));
        let times = self.seconds.iter_mut().zip(other.seconds);
        let times = times.chain(self.bound.iter_mut().zip(other.bound));
        let times = times.chain([(&mut self.least, other.least)]);
        times.for_each(|(own, more)| *own = real(*own, more));
    }

    /// The unit that most of the time is spent on.
    pub fn slowest(&self) -> Unit {
        let most = Unit::ALL.into_iter().zip(self.bound).max_by(|a, b| a.1.total_cmp(&b.1));
        most.map_or(Unit::Qpu, |(unit, _)| unit)
    }
}

/// Bytes that the tiles of a job load and store: all tiles of its rectangle do, also empty ones. Their edge is the bin list's, if there
/// is one. Colours count as 32 bits; those of 16 are half of that.
fn tile_bytes(submit: &Submit, edge: u32) -> [u64; 2] {
    let [x0, y0, x1, y1] = submit.tiles.map(u64::from);
    let many = submit.msaa_color_write.is_some() || submit.msaa_zs_write.is_some();
    let edge = u64::from(if edge > 0 { edge } else { tile_px(many) });
    let pixels = (x1 + 1).saturating_sub(x0) * (y1 + 1).saturating_sub(y0) * edge * edge;
    let of = |surface: Option<Surface>, samples: u64| surface.map_or(0, |_| pixels * SAMPLE_BYTES * samples);
    // A tile that keeps its samples is loaded as it was stored.
    let whole = |surface: Option<Surface>| {
        let full = surface.is_some_and(|surface| surface.flags & SURFACE_READ_IS_FULL_RES != 0);
        if full { SAMPLES } else { 1 }
    };
    let loads = of(submit.color_read, whole(submit.color_read)) + of(submit.zs_read, whole(submit.zs_read));
    let stores = of(submit.color_write, 1)
        + of(submit.zs_write, 1)
        + of(submit.msaa_color_write, SAMPLES)
        + of(submit.msaa_zs_write, SAMPLES);
    [loads, stores]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(price: Price) -> Price {
        let (binning, rendering) = price.halves(&Numbers::default(), CLOCKS[0]);
        let slowest = |half: [f64; 5]| half.into_iter().fold(0.0, f64::max);
        Price { seconds: [slowest(binning) + slowest(rendering); 3], ..price }
    }

    #[test]
    fn a_job_takes_as_long_as_its_slowest_units() {
        // Twelve QPUs of four clocks each: a thousand clocks of the chip.
        let programs = job(Price { qpu_clocks: [0, 0, 12_000], ..Price::default() });
        assert_eq!(programs.seconds[0], 1000.0 / CLOCKS[0]);
        // A quad per clock is faster here, and slower there.
        assert_eq!(job(Price { quads: 900, ..programs }).seconds, programs.seconds);
        assert_eq!(job(Price { quads: 2000, ..programs }).seconds[0], 2000.0 / CLOCKS[0]);
        // Coordinate programs are done before.
        let both = job(Price { qpu_clocks: [12_000, 0, 12_000], ..Price::default() });
        assert_eq!(both.seconds[0], 2.0 * programs.seconds[0]);
    }

    #[test]
    fn frames_are_what_more_of_them_take() {
        let one = Price {
            jobs: 3,
            quads: 100,
            seconds: [1.0; 3],
            bound: [1.0, 0.0, 0.0, 0.0, 2.0],
            ..Price::default()
        };
        let frame = Price {
            jobs: 2,
            quads: 40,
            seconds: [0.5; 3],
            bound: [0.0, 0.0, 0.0, 0.0, 0.5],
            ..Price::default()
        };
        let mut three = one;
        three.add(&frame);
        three.add(&frame);
        assert_eq!(three.beyond(&one, 2), frame);
        assert_eq!(three.slowest(), Unit::Memory);
    }
}
