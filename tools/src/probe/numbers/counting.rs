//! What the GPU counts of a job.

use vc4::cl::packets::Tiling;
use vc4_kernel_abi::perfmon::Event;

use super::super::experiments::common::{CLEAR, EDGE, Monitor, run};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::{Draw, Target};

/// Counts of events of the usual target with some draws.
pub fn counts<const N: usize>(
    bench: &Bench<'_>,
    events: [Event; N],
    draws: &[Draw],
) -> Result<[u64; N], Failure> {
    counts_on(bench, &Target::new(bench, Tiling::Raster, EDGE, EDGE)?, events, draws)
}

/// Counts of events of a target with some draws.
pub fn counts_on<const N: usize>(
    bench: &Bench<'_>,
    target: &Target<'_>,
    events: [Event; N],
    draws: &[Draw],
) -> Result<[u64; N], Failure> {
    let monitor = Monitor::new(bench, &events.map(|event| event as u8))?;
    let mut job = target.draw(CLEAR, draws)?;
    job.perfmon = Some(monitor.id);
    run(bench, target, &job)?;
    let values = monitor.values()?;
    Ok(std::array::from_fn(|n| values[n]))
}
