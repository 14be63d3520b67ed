//! Checks of the GPU: small jobs whose results are known by arithmetic, and times.
//!
//! A check is a row of [`CHECKS`]. It gets a [`Bench`], whose BOs are closed when it is over, and has an [`outcome`] or a
//! failure. [`drawing`] and [`speed`] submit [`jobs`](crate::jobs), [`known`] runs captures again and
//! tells by [`differences`](crate::differences) on which assumptions those rest.

mod caches;
mod device;
mod drawing;
mod known;
pub mod outcome;
mod speed;

use std::time::{Duration, Instant};

use vc4_kernel_abi::Gpu;

use crate::jobs::bench::{Bench, Failure};
use crate::jobs::picture::Picture;
use outcome::Outcome;

/// Something that the GPU must do.
pub struct Check {
    /// A name for scripts and people; it stays.
    pub name: &'static str,
    /// What works if it passes.
    pub proves: &'static str,
    run: fn(&Bench<'_>) -> Result<Outcome, Failure>,
}

/// All checks, the simplest first.
pub const CHECKS: &[Check] = &[
    Check { name: "identity", proves: "the 3D block answers", run: device::identity },
    Check { name: "memory", proves: "the CPU reaches the GPU's memory", run: device::memory },
    Check { name: "clears", proves: "jobs run; tiles are stored in every layout", run: drawing::clears },
    Check { name: "caches", proves: "the CPU's caches do as they are told", run: caches::caches },
    Check { name: "shapes", proves: "vertices, binning and fragments", run: drawing::shapes },
    Check { name: "arithmetic", proves: "the QPUs compute", run: drawing::arithmetic },
    Check { name: "interpolation", proves: "varyings", run: drawing::interpolation },
    Check { name: "textures", proves: "the texture units find texels", run: drawing::textures },
    Check { name: "depth", proves: "the depth test", run: drawing::depth },
    Check { name: "order", proves: "jobs see what jobs before them stored", run: drawing::order },
    Check { name: "many", proves: "hundreds of triangles in all tiles", run: drawing::many },
    Check { name: "pictures", proves: "pictures of the driver's tests, bit for bit", run: known::pictures },
    Check { name: "latency", proves: "how long a small job takes", run: speed::latency },
    Check { name: "bandwidth", proves: "how fast the CPU reaches BOs", run: speed::bandwidth },
    Check { name: "filling", proves: "how fast pixels are filled", run: speed::filling },
    Check { name: "allocation", proves: "how much memory there is", run: device::allocation },
];

/// How a check ended.
#[derive(Debug)]
pub enum Ended {
    Passed(Outcome),
    /// It works, and known pictures are not the simulator's.
    Differs(Outcome),
    Failed {
        /// In one sentence.
        why: String,
        /// What is there and what must be.
        pictures: Option<Box<(Picture, Picture)>>,
    },
    /// The GPU did not come back from a hang.
    Skipped,
}

/// A check that was run.
#[derive(Debug)]
pub struct Checked {
    pub name: &'static str,
    pub proves: &'static str,
    pub ended: Ended,
    pub took: Duration,
}

/// Runs all checks and tells `watch` of each before it begins.
pub fn run(gpu: &dyn Gpu, watch: &mut dyn FnMut(&Check)) -> Vec<Checked> {
    let mut is_gone = false;
    CHECKS
        .iter()
        .map(|check| {
            watch(check);
            let start = Instant::now();
            let ended = if is_gone { Ended::Skipped } else { one(gpu, check, &mut is_gone) };
            Checked { name: check.name, proves: check.proves, ended, took: start.elapsed() }
        })
        .collect()
}

fn one(gpu: &dyn Gpu, check: &Check, is_gone: &mut bool) -> Ended {
    let bench = Bench::new(gpu);
    let failure = match (check.run)(&bench) {
        Ok(outcome) if outcome.differing.is_empty() => return Ended::Passed(outcome),
        Ok(outcome) => return Ended::Differs(outcome),
        Err(failure) => failure,
    };
    // The kernel resets a GPU that hangs: the smallest job tells whether that helped.
    *is_gone = failure.is_hang() && drawing::smallest(&Bench::new(gpu)).is_err_and(|error| error.is_hang());
    let why = failure.to_string();
    let pictures = match failure {
        Failure::Picture { seen, expected, .. } => Some(Box::new((*seen, *expected))),
        _ => None,
    };
    Ended::Failed { why, pictures }
}

#[cfg(test)]
mod tests;
