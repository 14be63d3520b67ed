//! How long things take.

use std::time::Duration;

use vc4::cl::packets::Tiling;
use vc4_kernel_abi::Submit;

use super::outcome::Outcome;
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target, rectangle};
use crate::jobs::timing;

/// How often a job is timed.
const ROUNDS: usize = 100;
/// Rectangles on top of each other, at most.
const LAYERS: usize = 16;
/// What these may take together: a simulator in an emulator takes seconds for what a board does in a millisecond.
const FILLING: Duration = Duration::from_millis(500);

/// The smallest job: its ioctl, and its way to the GPU and back.
pub fn latency(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let target = Target::new(bench, Tiling::T, 64, 64)?;
    let job = target.draw(0, &[Draw::color(rectangle([0.0, 64.0], [0.0, 64.0], 0.5), u32::MAX)])?;
    // Times of jobs that do nothing say nothing.
    target.expect(&job, 0, |_, _| u32::MAX)?;
    let times = timing::jobs(bench, &job, ROUNDS)?;
    let [submit, whole] = times.map(|times| [times[ROUNDS / 2], times[ROUNDS * 95 / 100]].map(microseconds));
    Ok(Outcome::said(format!(
        "{:.0} µs to submit, {:.0} µs to the end (95 of 100: {:.0} µs)",
        submit[0], whole[0], whole[1]
    ))
    .measured("submit", submit[0], "µs")
    .measured("submit, 95 of 100", submit[1], "µs")
    .measured("job", whole[0], "µs")
    .measured("job, 95 of 100", whole[1], "µs"))
}

fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// What the CPU reads of BOs and writes to them.
pub fn bandwidth(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let [write, read] = timing::copies(bench)?.map(|rate| rate / f64::from(1 << 20));
    Ok(Outcome::said(format!("the CPU writes {write:.0} MiB/s, reads {read:.0} MiB/s"))
        .measured("write", write, "MiB/s")
        .measured("read", read, "MiB/s"))
}

/// Pixels that are cleared and stored, and pixels that a program covers.
pub fn filling(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    const EDGE: u32 = 1024;
    let target = Target::new(bench, Tiling::T, EDGE, EDGE)?;
    let edge = EDGE as f32;
    // Each is nearer than those before it, so all of them are drawn.
    let draws = |count: usize| {
        let layer =
            |layer| Draw::color(rectangle([0.0, edge], [0.0, edge], 0.9 - layer as f32 / 32.0), u32::MAX);
        target.draw(0, &(0..count).map(layer).collect::<Vec<Draw>>())
    };
    let time = |job: &Submit| timing::best(|| bench.run(job).map(drop));
    let clear = time(&target.clear(0))?;
    let one = time(&draws(1)?)?;
    let layers = (FILLING.as_secs_f64() / one.as_secs_f64().max(1e-9)).clamp(1.0, LAYERS as f64) as usize;
    let drawn = time(&draws(layers)?)?;
    if let Some(pixel) = target.corners()?.into_iter().find(|pixel| *pixel != u32::MAX) {
        return Err(Failure::Wrong(format!("a corner is {pixel:08x} instead of {:08x}", u32::MAX)));
    }
    let pixels = f64::from(EDGE * EDGE) / 1e6;
    let cleared = pixels / clear.as_secs_f64();
    let filled = pixels * layers as f64 / drawn.saturating_sub(clear).as_secs_f64().max(1e-9);
    Ok(Outcome::said(format!("{cleared:.0} million pixels/s cleared and stored, {filled:.0} drawn"))
        .measured("cleared", cleared, "Mpixel/s")
        .measured("drawn", filled, "Mpixel/s"))
}
