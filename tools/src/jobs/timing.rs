//! How long things take: the clock around jobs and copies.

use std::hint::black_box;
use std::time::{Duration, Instant};

use vc4_kernel_abi::{BoHandle, Submit};

use super::bench::{Bench, Failure, LIMIT};

/// Bytes whose copies are timed.
const BYTES: u32 = 4 << 20;

/// The best of a few.
pub fn best(mut run: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed());
    }
    Ok(best.max(Duration::from_nanos(1)))
}

/// Bytes in a second that the CPU writes to a BO, and that it reads of one.
pub fn copies(bench: &Bench<'_>) -> Result<[f64; 2], Failure> {
    copies_of(bench, bench.bo(BYTES)?)
}

/// The same where the CPU caches the BO; `None` without such memory.
pub fn cached_copies(bench: &Bench<'_>) -> Result<Option<[f64; 2]>, Failure> {
    match bench.gpu.has_cached_memory() {
        true => Ok(Some(copies_of(bench, bench.cached_bo(BYTES)?)?)),
        false => Ok(None),
    }
}

fn copies_of(bench: &Bench<'_>, bo: BoHandle) -> Result<[f64; 2], Failure> {
    let map = bench.map(bo)?;
    let mut bytes = vec![0x5a; BYTES as usize];
    let rate = |time: Duration| f64::from(BYTES) / time.as_secs_f64();
    let write = rate(best(|| {
        map.write(0, &bytes);
        Ok(())
    })?);
    let read = rate(best(|| {
        map.read(0, &mut bytes);
        black_box(&bytes);
        Ok(())
    })?);
    Ok([write, read])
}

/// A job's system call and the whole job, so often: in the order of their times.
pub fn jobs(bench: &Bench<'_>, job: &Submit, rounds: usize) -> Result<[Vec<Duration>; 2], Failure> {
    let (mut submits, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        let seqno = bench.gpu.submit(job)?;
        submits.push(start.elapsed());
        if !bench.gpu.wait_seqno(seqno, Some(LIMIT))? {
            return Err(Failure::Hang);
        }
        wholes.push(start.elapsed());
    }
    submits.sort();
    wholes.sort();
    Ok([submits, wholes])
}
