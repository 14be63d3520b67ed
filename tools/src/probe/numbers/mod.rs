//! Numbers of the device: rates and latencies, each by jobs of its own, and what it counts of a known job.

mod counting;
mod dark;
mod functions;
mod latencies;
mod rates;
mod screen;
#[cfg(all(test, target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod screen_tests;
mod sizes;

use vc4::facts::{Facts, Number, Numbers};
use vc4_kernel_abi::Gpu;
use vc4_kernel_abi::perfmon::Event;

use super::ask::simulator;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, at, rectangle};
use counting::counts;
pub use functions::Function;

/// What tells the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The clock of this computer.
    Clock,
    /// Performance counters of the GPU.
    Counters,
}

/// Numbers that are measured together; `None`: what was seen does not tell.
struct Measure {
    numbers: &'static [Number],
    by: By,
    run: fn(&Bench<'_>) -> Result<Vec<Option<f64>>, Failure>,
}

const MEASURES: &[Measure] = &[
    Measure { numbers: &[Number::Submit, Number::Job], by: By::Clock, run: rates::small_jobs },
    Measure { numbers: &[Number::Interrupt], by: By::Clock, run: rates::interrupt },
    Measure { numbers: &[Number::BoWrite, Number::BoRead], by: By::Clock, run: rates::copies },
    Measure { numbers: &[Number::CachedWrite, Number::CachedRead], by: By::Clock, run: rates::cached_copies },
    Measure { numbers: &[Number::TileStore, Number::TileLoad], by: By::Clock, run: rates::tiles },
    Measure { numbers: &[Number::CoreClock], by: By::Clock, run: rates::instructions },
    Measure { numbers: &[Number::Triangles], by: By::Clock, run: rates::triangles },
    Measure { numbers: &[Number::Quad], by: By::Counters, run: latencies::quads },
    Measure { numbers: &[Number::TmuHit], by: By::Counters, run: latencies::tmu_hit },
    Measure { numbers: &[Number::TmuL2], by: By::Counters, run: latencies::tmu_l2 },
    Measure { numbers: &[Number::TmuMemory], by: By::Counters, run: latencies::tmu_memory },
    Measure { numbers: &[Number::Varyings], by: By::Counters, run: latencies::varyings },
    Measure { numbers: &[Number::Sfu], by: By::Counters, run: latencies::special_functions },
    Measure { numbers: &[Number::Vpm], by: By::Counters, run: latencies::vectors },
    Measure { numbers: &[Number::UniformRefill], by: By::Counters, run: latencies::uniform_refill },
    Measure { numbers: &[Number::TileAccess], by: By::Counters, run: latencies::tile_access },
    Measure { numbers: &[Number::UniformCache], by: By::Counters, run: sizes::uniforms },
    Measure { numbers: &[Number::TextureCache, Number::TextureWays], by: By::Counters, run: sizes::textures },
    Measure { numbers: &[Number::L2Cache, Number::L2Ways], by: By::Counters, run: sizes::l2 },
];

/// What is measured while no display reads memory, by the clock.
const DARK: [Number; 3] = [Number::DarkTileStore, Number::DarkTileLoad, Number::DarkBoRead];

/// A number, or why there is none.
#[derive(Clone, Debug)]
pub struct Measured {
    pub number: Number,
    pub by: By,
    pub value: Result<f64, String>,
}

/// What the GPU counts of a known job, and a simulator of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The kernel's number of the event.
    pub event: u8,
    pub device: u64,
    pub simulator: u64,
}

/// All numbers.
#[derive(Clone, Debug)]
pub struct Report {
    pub measured: Vec<Measured>,
    /// What the display did while it should be dark, or why it was not.
    pub display: String,
    /// Or why there are none.
    pub counted: Result<Vec<Counted>, String>,
    /// The special functions beside their tables, or why they were not compared.
    pub functions: Result<Vec<Function>, String>,
    /// Times are the host's then, and counters those of a model.
    pub is_simulated: bool,
}

impl Report {
    /// The numbers that there are.
    pub fn numbers(&self) -> Numbers {
        let with = |numbers: Numbers, measured: &Measured| match measured.value {
            Ok(value) => numbers.with(measured.number, value),
            Err(_) => numbers,
        };
        self.measured.iter().fold(Numbers::default(), with)
    }
}

/// What was measured so far, and the hang that was the last of it.
#[derive(Default)]
struct Progress {
    measured: Vec<Measured>,
    hang: Option<String>,
}

impl Progress {
    /// Measures some numbers, unless a job hung before.
    fn take(&mut self, numbers: &[Number], by: By, run: impl FnOnce() -> Result<Vec<Option<f64>>, Failure>) {
        let values = match &self.hang {
            Some(why) => Err(format!("not measured: {why}")),
            None => run().map_err(|failure| {
                self.hang = failure.is_hang().then(|| failure.to_string());
                failure.to_string()
            }),
        };
        let lost = || Err("what was measured is within the noise".to_owned());
        for (n, &number) in numbers.iter().enumerate() {
            let value = match &values {
                Ok(values) => values.get(n).copied().flatten().map_or_else(lost, Ok),
                Err(why) => Err(why.clone()),
            };
            self.measured.push(Measured { number, by, value });
        }
    }
}

/// How many times [`measure`] watches.
pub const STEPS: usize = MEASURES.len() + 3;

/// Measures a device, where the chip is as `facts` say, and tells `watch` of each step before. A job that hangs is the last one.
pub fn measure(gpu: &dyn Gpu, facts: Facts, watch: &mut dyn FnMut(&str)) -> Report {
    let mut progress = Progress::default();
    for Measure { numbers, by, run } in MEASURES {
        watch(numbers[0].row().name);
        progress.take(numbers, *by, || run(&Bench::new(gpu)));
    }
    watch(DARK[0].row().name);
    let mut display = "was left alone: the GPU hung before".to_owned();
    progress.take(&DARK, By::Clock, || {
        let (rates, said) = dark::measure(gpu, gpu.card());
        display = said;
        rates
    });
    let Progress { measured, hang } = progress;
    watch("counters");
    let counted = match &hang {
        Some(why) => Err(format!("not counted: {why}")),
        None => counted(gpu, facts).map_err(|failure| failure.to_string()),
    };
    watch("functions");
    let functions = match hang {
        Some(why) => Err(format!("not compared: {why}")),
        None => functions::compare(&Bench::new(gpu)).map_err(|failure| failure.to_string()),
    };
    Report { measured, display, counted, functions, is_simulated: gpu.is_simulated() }
}

/// Events of the fixed-function blocks.
const EVENTS: [Event; 13] = [
    Event::PrimitivesWithoutPixels,
    Event::ValidPrimitives,
    Event::ClippedQuads,
    Event::ValidQuads,
    Event::QuadsFailingStencil,
    Event::QuadsFailingZAndStencil,
    Event::QuadsPassingZAndStencil,
    Event::QuadsZeroCoverage,
    Event::QuadsNonZeroCoverage,
    Event::QuadsWrittenToColor,
    Event::PrimitivesOutside,
    Event::PrimitivesClipped,
    Event::PrimitivesReversed,
];

/// A rectangle, one behind it, a triangle between pixels and one outside.
fn counted(gpu: &dyn Gpu, facts: Facts) -> Result<Vec<Counted>, Failure> {
    let draws = || {
        let behind = Draw::color(rectangle([16.0, 40.0], [8.0, 24.0], 0.75), 1);
        let between = vec![at(3.6, 3.6, 0.5), at(4.4, 3.6, 0.5), at(3.6, 4.4, 0.5)];
        let outside = vec![at(100.0, 3.0, 0.5), at(120.0, 3.0, 0.5), at(100.0, 30.0, 0.5)];
        let front = Draw::color(rectangle([8.0, 56.0], [8.0, 40.0], 0.5), 2);
        [front, behind, Draw::color(between, 3), Draw::color(outside, 4)]
    };
    let device = counts(&Bench::new(gpu), EVENTS, &draws())?;
    let simulator = simulator(facts);
    let expected = counts(&Bench::new(&simulator), EVENTS, &draws())?;
    let all = EVENTS.into_iter().zip(device).zip(expected);
    Ok(all.map(|((event, device), simulator)| Counted { event: event as u8, device, simulator }).collect())
}
