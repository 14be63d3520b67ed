//! The hardware: runs one job after the other.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use vc4_kernel_abi::Seqno;

use super::order::Order;
use crate::config::Config;
use crate::error::JobError;
use crate::kernel::Slot;
use crate::memory::Memory;
use crate::rendering::tlb::ClearValues;
use crate::stats::{CacheModel, Finding, Stats};
use crate::{binning, profile, rendering};

/// What the hardware keeps from job to job.
#[derive(Default)]
pub(super) struct Machine {
    pool: Option<rayon::ThreadPool>,
    /// Clear values and tile content left by the last job: undefined to the next (v3d.md §10.4).
    clear: ClearValues,
    /// Broken rules that were logged: rule, program, instruction.
    reported: BTreeSet<(&'static str, u32, u32)>,
}

/// Why a job stands still.
pub(super) struct Hung {
    pub what: String,
    /// Whether the binning list does.
    pub binning: bool,
}

impl Hung {
    fn binning(what: impl ToString) -> Hung {
        Hung { what: what.to_string(), binning: true }
    }

    fn rendering(what: impl ToString) -> Hung {
        Hung { what: what.to_string(), binning: false }
    }
}

impl Machine {
    /// Runs a job. The text tells why it hung. Returns the findings that no earlier job had as well.
    pub fn run(
        &mut self,
        memory: &Memory,
        config: &Config,
        seqno: Seqno,
        order: &Order,
    ) -> (Result<Stats, Hung>, Vec<Finding>) {
        let start = Instant::now();
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => match start_pool(config.threads) {
                Ok(pool) => pool,
                Err(what) => return (Err(Hung::rendering(what)), Vec::new()),
            },
        };
        let clear = &mut self.clear;
        let result =
            catch_unwind(AssertUnwindSafe(|| pool.install(|| run_job(memory, config, order, clear))));
        self.pool = Some(pool);
        let stats = match result {
            Ok(Ok(stats)) => stats,
            Ok(Err(hung)) => return (Err(hung), Vec::new()),
            Err(_) => {
                let what = "the simulator panicked; see the message on stderr".to_owned();
                return (Err(Hung::rendering(what)), Vec::new());
            }
        };
        let findings = self.new_findings(seqno, &stats);
        log::debug!(
            target: "vc4::sim",
            "job {}: {} instances, {} instructions, {} lookups, {:?}",
            seqno.0, stats.instances, stats.instructions, stats.lookups, start.elapsed(),
        );
        match stats.findings.first() {
            Some(first) if config.findings_are_errors => {
                (Err(Hung::rendering(JobError::Finding(Box::new(first.clone())))), findings)
            }
            _ => (Ok(stats), findings),
        }
    }

    /// Findings that were not logged before; logs them.
    fn new_findings(&mut self, seqno: Seqno, stats: &Stats) -> Vec<Finding> {
        let reported = &mut self.reported;
        let fresh = stats.findings.iter().filter(|f| reported.insert((f.rule.id, f.program, f.index)));
        let fresh: Vec<Finding> = fresh.cloned().collect();
        for finding in &fresh {
            log::warn!(target: "vc4::sim", "job {}: {finding}", seqno.0);
        }
        fresh
    }
}

fn start_pool(threads: Option<NonZeroUsize>) -> Result<rayon::ThreadPool, String> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.map_or(0, NonZeroUsize::get))
        .thread_name(|n| format!("vc4-sim-{n}"))
        .build()
        .map_err(|error| format!("cannot start the rendering threads: {error}"))
}

/// Both threads of the control list executor, one after the other: the rendering list waits for the
/// binning list's semaphore anyway.
fn run_job(memory: &Memory, config: &Config, order: &Order, clear: &mut ClearValues) -> Result<Stats, Hung> {
    let Config { check_programs: check, count_caches, engine, instruction_limit, .. } = *config;
    let Order { job, profile, .. } = order;
    let caches = (count_caches || order.counted).then(|| CacheModel::new(&config.numbers));
    let mut stats = Stats { check, caches, engine, instruction_limit, ..Stats::default() };
    let mut slots = Vec::new();
    let mut overflow = || {
        slots.push(job.overflow()?);
        Some(Slot::BYTES)
    };
    if let Some(profile) = profile {
        profile::begin(profile, memory, job, &mut stats);
    }
    let binned = match job.bin {
        Some(list) => {
            let binned =
                binning::bin(memory, &config.facts, list.address, list.length, &mut overflow, &mut stats);
            Some(binned.map_err(Hung::binning)?)
        }
        None => None,
    };
    if let (Some(profile), Some(binned)) = (profile, &binned) {
        profile::binned(profile, memory, binned);
    }
    let list = job.render;
    let segments = rendering::segments(memory, list.address, list.length, binned.as_ref(), clear, &mut stats);
    let segments = segments.map_err(Hung::rendering)?;
    let stats = rendering::run(memory, &config.facts, binned.as_ref(), &segments, stats);
    let mut stats = stats.map_err(Hung::rendering)?;
    if let Some(profile) = profile {
        profile::end(profile, &mut stats);
    }
    Ok(stats)
}
