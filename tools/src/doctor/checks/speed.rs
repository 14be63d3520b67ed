//! How long things take.

use std::hint::black_box;
use std::time::{Duration, Instant};

use vc4::cl::packets::Tiling;
use vc4_kernel_abi::Submit;

use super::outcome::Outcome;
use crate::jobs::bench::{Bench, Failure, LIMIT};
use crate::jobs::job::{Draw, Target, rectangle};

/// How often a job is timed.
const ROUNDS: usize = 100;
/// Bytes whose copies are timed.
const BYTES: u32 = 4 << 20;
/// Rectangles on top of each other.
const LAYERS: usize = 16;

/// The smallest job: its ioctl, and its way to the GPU and back.
pub fn latency(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let target = Target::new(bench, Tiling::T, 64, 64)?;
    let job = target.draw(0, &[Draw::color(rectangle([0.0, 64.0], [0.0, 64.0], 0.5), u32::MAX)])?;
    // Times of jobs that do nothing say nothing.
    target.expect(&job, 0, |_, _| u32::MAX)?;
    let (mut submits, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let seqno = bench.gpu.submit(&job)?;
        submits.push(start.elapsed());
        if !bench.gpu.wait_seqno(seqno, Some(LIMIT))? {
            return Err(Failure::Hang);
        }
        wholes.push(start.elapsed());
    }
    let [submit, whole] = [&mut submits, &mut wholes].map(|times| {
        times.sort();
        [times[ROUNDS / 2], times[ROUNDS * 95 / 100]].map(microseconds)
    });
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

/// The best of a few.
fn best(mut run: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best.max(Duration::from_nanos(1)))
}

/// What the CPU reads of BOs and writes to them.
pub fn bandwidth(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let map = bench.map(bench.bo(BYTES)?)?;
    let mut bytes = vec![0x5a; BYTES as usize];
    let rate = |time: Duration| f64::from(BYTES >> 20) / time.as_secs_f64();
    let write = rate(best(|| {
        map.write(0, &bytes);
        Ok(())
    })?);
    let read = rate(best(|| {
        map.read(0, &mut bytes);
        black_box(&bytes);
        Ok(())
    })?);
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
    let layers: Vec<Draw> = (0..LAYERS)
        .map(|layer| Draw::color(rectangle([0.0, edge], [0.0, edge], 0.9 - layer as f32 / 32.0), u32::MAX))
        .collect();
    let draws = target.draw(0, &layers)?;
    let time = |job: &Submit| best(|| bench.run(job).map(drop));
    let clear = time(&target.clear(0))?;
    let drawn = time(&draws)?;
    if let Some(pixel) = target.corners()?.into_iter().find(|pixel| *pixel != u32::MAX) {
        return Err(Failure::Wrong(format!("a corner is {pixel:08x} instead of {:08x}", u32::MAX)));
    }
    let pixels = f64::from(EDGE * EDGE) / 1e6;
    let cleared = pixels / clear.as_secs_f64();
    let filled = pixels * LAYERS as f64 / drawn.saturating_sub(clear).as_secs_f64().max(1e-9);
    Ok(Outcome::said(format!("{cleared:.0} million pixels/s cleared and stored, {filled:.0} drawn"))
        .measured("cleared", cleared, "Mpixel/s")
        .measured("drawn", filled, "Mpixel/s"))
}
