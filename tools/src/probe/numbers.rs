//! Numbers of the device: rates and latencies, each by jobs of its own, and what it counts of a known job.

use std::time::Duration;

use vc4::cl::packets::Tiling;
use vc4::facts::{Facts, Number, Numbers};
use vc4_kernel_abi::{Gpu, Submit};

use super::ask::simulator;
use super::experiments::common::{CLEAR, EDGE, Monitor, all, draw, everywhere, run};
use super::experiments::textures::{far_lookups, near_lookups};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, Vertex, at, rectangle};
use crate::jobs::programs::fragment;
use crate::jobs::timing;

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
    Measure { numbers: &[Number::Submit, Number::Job], by: By::Clock, run: small_jobs },
    Measure { numbers: &[Number::BoWrite, Number::BoRead], by: By::Clock, run: copies },
    Measure { numbers: &[Number::TileStore, Number::TileLoad], by: By::Clock, run: tiles },
    Measure { numbers: &[Number::CoreClock], by: By::Clock, run: instructions },
    Measure { numbers: &[Number::Triangles], by: By::Clock, run: triangles },
    Measure {
        numbers: &[Number::TmuHit],
        by: By::Counters,
        run: |bench| latency(bench, near_lookups(bench)?),
    },
    Measure {
        numbers: &[Number::TmuMemory],
        by: By::Counters,
        run: |bench| latency(bench, far_lookups(bench)?),
    },
];

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
    /// Or why there are none.
    pub counted: Result<Vec<Counted>, String>,
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

/// How many times [`measure`] watches.
pub const STEPS: usize = MEASURES.len() + 1;

/// Measures a device, where the chip is as `facts` say, and tells `watch` of each step before. A job that hangs is the last one.
pub fn measure(gpu: &dyn Gpu, facts: Facts, watch: &mut dyn FnMut(&str)) -> Report {
    let (mut measured, mut hang) = (Vec::new(), None);
    for Measure { numbers, by, run } in MEASURES {
        watch(numbers[0].row().name);
        let values = match &hang {
            Some(why) => Err(format!("not measured: {why}")),
            None => run(&Bench::new(gpu)).map_err(|failure| {
                hang = failure.is_hang().then(|| failure.to_string());
                failure.to_string()
            }),
        };
        let lost = || Err("what was measured is within the noise".to_owned());
        for (n, number) in numbers.iter().enumerate() {
            let value = match &values {
                Ok(values) => values.get(n).copied().flatten().map_or_else(lost, Ok),
                Err(why) => Err(why.clone()),
            };
            measured.push(Measured { number: *number, by: *by, value });
        }
    }
    watch("counters");
    let counted = match hang {
        Some(why) => Err(format!("not counted: {why}")),
        None => counted(gpu, facts).map_err(|failure| failure.to_string()),
    };
    Report { measured, counted, is_simulated: gpu.is_simulated() }
}

/// The middle one of sorted times.
fn median(times: &[Duration]) -> Option<f64> {
    times.get(times.len() / 2).map(Duration::as_secs_f64)
}

fn small_jobs(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    let target = Target::new(bench, Tiling::T, EDGE, EDGE)?;
    let job = target.draw(CLEAR, &[draw(all(0.5))])?;
    run(bench, &target, &job)?;
    Ok(timing::jobs(bench, &job, 100)?.map(|times| median(&times)).to_vec())
}

fn copies(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    Ok(timing::copies(bench)?.map(Some).to_vec())
}

/// The least time of a job that is known to have been done.
fn time(bench: &Bench<'_>, target: &Target<'_>, job: &Submit) -> Result<f64, Failure> {
    run(bench, target, job)?;
    Ok(timing::best(|| bench.run(job).map(drop))?.as_secs_f64())
}

/// So much per second of what a job takes longer than another; `None` if that is less than a tenth.
fn rate(amount: f64, longer: f64, shorter: f64) -> Option<f64> {
    let more = longer - shorter;
    (more > longer / 10.0).then(|| amount / more)
}

fn tiles(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    const LARGE: u32 = 1024;
    let small = Target::new(bench, Tiling::T, EDGE, EDGE)?;
    let large = Target::new(bench, Tiling::T, LARGE, LARGE)?;
    let least = time(bench, &small, &small.clear(CLEAR))?;
    let stored = time(bench, &large, &large.clear(CLEAR))?;
    let loaded = large.draw_over(&[])?;
    let both = timing::best(|| bench.run(&loaded).map(drop))?.as_secs_f64();
    let bytes = |edge: u32| f64::from(4 * edge * edge);
    Ok(vec![rate(bytes(LARGE) - bytes(EDGE), stored, least), rate(bytes(LARGE), both, stored)])
}

/// Programs of many additions and of a few, on all QPUs: four clocks each (qpu.md §1.1).
fn instructions(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    const LARGE: u32 = 1024;
    const FEW: usize = 64;
    const MANY: usize = 320;
    let target = Target::new(bench, Tiling::Raster, LARGE, LARGE)?;
    let timed = |count: usize| {
        let code = "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n".to_owned()
            + &"sig_none ; r1 = add.always(r0, r0) ; nop = nop() ;\n".repeat(count);
        let one = Draw { fragment: fragment(&code), ..draw(everywhere(LARGE, LARGE, 0.5)) };
        time(bench, &target, &target.draw(CLEAR, &[one])?)
    };
    let (few, many) = (timed(FEW)?, timed(MANY)?);
    // Clocks of each of twelve QPUs.
    let programs = f64::from(LARGE * LARGE) / 16.0;
    Ok(vec![rate(programs * (MANY - FEW) as f64 * 4.0 / 12.0, many, few)])
}

/// Triangles around the middle of one pixel each.
fn triangles(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    const LARGE: u32 = 256;
    const MANY: u32 = 8000;
    const FEW: u32 = MANY / 8;
    let target = Target::new(bench, Tiling::Raster, LARGE, LARGE)?;
    let timed = |count: u32| {
        let corners = |n: u32| {
            let (x, y) = ((2 * n % LARGE) as f32, (2 * n / LARGE * 2 % LARGE) as f32);
            [at(x, y, 0.5), at(x + 1.5, y, 0.5), at(x, y + 1.5, 0.5)]
        };
        let vertices: Vec<Vertex> = (0..count).flat_map(corners).collect();
        time(bench, &target, &target.draw(CLEAR, &[draw(vertices)])?)
    };
    let (few, many) = (timed(FEW)?, timed(MANY)?);
    Ok(vec![rate(f64::from(MANY - FEW), many, few)])
}

/// Clocks that QPUs wait for a TMU, and quads that were looked up (kernel-abi.md §4.15).
const LOOKUPS: [u8; 2] = [17, 24];

/// Slots of a lookup whose result is taken by the next instruction: a slot is four clocks, a lookup four quads.
fn latency(bench: &Bench<'_>, one: Draw) -> Result<Vec<Option<f64>>, Failure> {
    let [stalled, quads] = counts(bench, &LOOKUPS, &[one])?[..] else { return Ok(vec![None]) };
    Ok(vec![(quads > 0 && stalled > 0).then(|| stalled as f64 / quads as f64 + 1.0)])
}

/// Counts of events of the usual target with some draws.
fn counts(bench: &Bench<'_>, events: &[u8], draws: &[Draw]) -> Result<Vec<u64>, Failure> {
    let target = Target::new(bench, Tiling::Raster, EDGE, EDGE)?;
    let monitor = Monitor::new(bench, events)?;
    let mut job = target.draw(CLEAR, draws)?;
    job.perfmon = Some(monitor.id);
    run(bench, &target, &job)?;
    Ok(monitor.values()?[..events.len()].to_vec())
}

/// Events of the fixed-function blocks (kernel-abi.md §4.15).
const EVENTS: [u8; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A rectangle, one behind it, a triangle between pixels and one outside.
fn counted(gpu: &dyn Gpu, facts: Facts) -> Result<Vec<Counted>, Failure> {
    let draws = || {
        let behind = Draw::color(rectangle([16.0, 40.0], [8.0, 24.0], 0.75), 1);
        let between = vec![at(3.6, 3.6, 0.5), at(4.4, 3.6, 0.5), at(3.6, 4.4, 0.5)];
        let outside = vec![at(100.0, 3.0, 0.5), at(120.0, 3.0, 0.5), at(100.0, 30.0, 0.5)];
        let front = Draw::color(rectangle([8.0, 56.0], [8.0, 40.0], 0.5), 2);
        [front, behind, Draw::color(between, 3), Draw::color(outside, 4)]
    };
    let device = counts(&Bench::new(gpu), &EVENTS, &draws())?;
    let simulator = simulator(facts);
    let expected = counts(&Bench::new(&simulator), &EVENTS, &draws())?;
    let all = EVENTS.into_iter().zip(device).zip(expected);
    Ok(all.map(|((event, device), simulator)| Counted { event, device, simulator }).collect())
}
