//! Rates by the computer's clock.

use std::time::{Duration, Instant};

use vc4::cl::packets::Tiling;
use vc4_kernel_abi::Submit;

use super::super::experiments::common::{CLEAR, EDGE, UNTOUCHED, all, draw, everywhere, run};
use crate::jobs::bench::{Bench, Failure, LIMIT};
use crate::jobs::job::{Draw, Target, Vertex, at};
use crate::jobs::programs::fragment;
use crate::jobs::timing;

/// The middle one of sorted times.
fn median(times: &[Duration]) -> Option<f64> {
    times.get(times.len() / 2).map(Duration::as_secs_f64)
}

pub fn small_jobs(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    let target = Target::new(bench, Tiling::T, EDGE, EDGE)?;
    let job = target.draw(CLEAR, &[draw(all(0.5))])?;
    run(bench, &target, &job)?;
    Ok(timing::jobs(bench, &job, 100)?.map(|times| median(&times)).to_vec())
}

pub fn copies(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    Ok(timing::copies(bench)?.map(Some).to_vec())
}

pub fn cached_copies(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    Ok(timing::cached_copies(bench)?.map_or(vec![None; 2], |rates| rates.map(Some).to_vec()))
}

/// Looks at what a job stores last until it is there, and waits for the job then: what is left are the interrupt, the kernel's work
/// behind it and the way back.
pub fn interrupt(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
    const ROUNDS: usize = 50;
    let target = Target::new(bench, Tiling::T, EDGE, EDGE)?;
    let job = target.draw(CLEAR, &[draw(all(0.5))])?;
    run(bench, &target, &job)?;
    let map = bench.map(target.color)?;
    let last = map.len() - 4;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        map.write(last, &UNTOUCHED.to_le_bytes());
        let (seqno, start) = (bench.gpu.submit(&job)?, Instant::now());
        while map.read_u32(last) == UNTOUCHED && start.elapsed() < LIMIT {
            std::hint::spin_loop();
        }
        let stored = Instant::now();
        if !bench.gpu.wait_seqno(seqno, Some(LIMIT))? {
            return Err(Failure::Hang);
        }
        times.push(stored.elapsed());
    }
    times.sort();
    Ok(vec![median(&times)])
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

pub fn tiles(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
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
pub fn instructions(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
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
pub fn triangles(bench: &Bench<'_>) -> Result<Vec<Option<f64>>, Failure> {
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
