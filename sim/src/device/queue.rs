//! The job queue and the thread that empties it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use vc4_kernel_abi::{BoHandle, PerfmonId, Seqno};

use super::finished::Finished;
use super::machine::Machine;
use super::order::Order;
use super::reset::{KernelLog, UNTIL_RESET};
use crate::capture::Recorder;
use crate::config::{Config, Hangs};
use crate::kernel::Bo;
use crate::memory::Memory;
use crate::stats::{Counters, Finding, Perfmon, Stats};

/// Findings that are kept.
const MAX_FINDINGS: usize = 1000;

/// Work done since the simulator was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Jobs finished.
    pub jobs: u64,
    /// Program instances.
    pub instances: u64,
    /// QPU instructions.
    pub instructions: u64,
    /// Texture and direct lookups of 16 elements.
    pub lookups: u64,
    /// Blocks of overflow memory that tile lists took.
    pub spills: u64,
    /// Performance events; those of caches and stalls only of jobs that counted them.
    pub counters: Counters,
}

/// Is told on the job thread how a job went, once for every time that it runs, before anybody else can see that it is done.
pub(crate) type Watch = Box<dyn FnMut(Result<&Stats, &str>) + Send>;
/// Runs on the job thread once a job is done.
pub(crate) type Notice = Box<dyn FnOnce() + Send>;

/// What the simulator and its job thread share.
pub(super) struct Shared {
    pub memory: Arc<Memory>,
    pub config: Config,
    pub recorder: OnceLock<Recorder>,
    pub state: Mutex<State>,
    /// A job was queued or finished, or the end has come.
    pub changed: Condvar,
}

#[derive(Default)]
/// What changes while jobs come and go.
pub(super) struct State {
    pub bos: BTreeMap<BoHandle, Arc<Bo>>,
    pub last_handle: u32,
    pub perfmons: BTreeMap<PerfmonId, Arc<Perfmon>>,
    pub last_perfmon: u32,
    pub queue: VecDeque<(Seqno, Order, Watch)>,
    pub last_seqno: u64,
    pub finished: Finished,
    pub log: KernelLog,
    /// What to do when the job with this number is done.
    pub notices: BTreeMap<u64, Vec<Notice>>,
    /// First job that did not run to its end, and why.
    pub hang: Option<(u64, String)>,
    pub totals: Totals,
    /// Broken rules, each place once.
    pub findings: Vec<Finding>,
    pub stop: bool,
    /// How long jobs were simulated until there were none.
    simulated: Duration,
    /// Since when jobs are simulated, if some are.
    busy: Option<Instant>,
}

impl State {
    /// Takes the next job, if there is one.
    fn take(&mut self) -> Option<(Seqno, Order, Watch)> {
        let next = self.queue.pop_front();
        match next {
            Some(_) => self.busy = self.busy.or_else(|| Some(Instant::now())),
            None => {
                self.simulated = self.simulation_time();
                self.busy = None;
            }
        }
        next
    }

    /// How long jobs were simulated so far.
    pub fn simulation_time(&self) -> Duration {
        self.simulated + self.busy.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Keeps findings as far as there is room.
    fn keep_findings(&mut self, findings: Vec<Finding>) {
        let room = MAX_FINDINGS - self.findings.len();
        self.findings.extend(findings.into_iter().take(room));
    }
}

impl Shared {
    pub fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until the kernel has seen that the lists stand still, and resets the GPU; `false` if the device goes meanwhile.
    fn reset(&self) -> bool {
        let reset = Instant::now() + UNTIL_RESET;
        let mut state = self.state();
        while !state.stop {
            let left = reset.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.log.write_reset();
                return true;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        false
    }
}

/// The job thread: runs jobs in order until the simulator goes.
pub(super) fn work(shared: &Shared) {
    let mut machine = Machine::default();
    loop {
        let mut state = shared.state();
        let (seqno, order, mut watch) = loop {
            if state.stop {
                return;
            }
            match state.take() {
                Some(next) => break next,
                None => state = shared.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            }
        };
        drop(state);
        let recorded = shared.recorder.get().zip(order.submission.as_deref());
        let started = recorded
            .and_then(|(recorder, submission)| recorder.started(&shared.memory, submission, &order.job.bos));
        let (result, findings) = machine.run(&shared.memory, &shared.config, seqno, &order);
        if let (Some((recorder, submission)), Some(started)) = (recorded, started) {
            let result = result.as_ref().map_err(|hung| hung.what.as_str());
            recorder.finished(&shared.memory, submission, &order.job.bos, started, seqno, result);
        }
        let order = match &result {
            Err(hung) if shared.config.hangs == Hangs::Reset => {
                if !shared.reset() {
                    return;
                }
                Some(order).filter(|_| hung.binning)
            }
            // Memory is free again before anybody is told that the job is done.
            _ => {
                drop(order);
                None
            }
        };
        if shared.config.hangs == Hangs::Reset && result.is_ok() {
            // The kernel counts the job before it reads its monitor, but what hung it records before (kernel-abi.md §11).
            shared.state().finished.count_up();
            shared.changed.notify_all();
        }
        watch(result.as_ref().map_err(|hung| hung.what.as_str()));
        let mut state = shared.state();
        state.keep_findings(findings);
        if let (Some(order), Err(hung)) = (order, &result) {
            log::error!(target: "vc4::sim", "job {}, which will be binned again: {}", seqno.0, hung.what);
            state.finished.put_back(seqno);
            state.queue.push_back((seqno, order, watch));
            continue;
        }
        state.finished.add(seqno);
        let notices = state.notices.remove(&seqno.0).unwrap_or_default();
        state.totals.jobs += 1;
        match result {
            Ok(stats) => {
                state.totals.instances += stats.instances;
                state.totals.instructions += stats.instructions;
                state.totals.lookups += stats.lookups;
                state.totals.spills += u64::from(stats.spills);
                state.totals.counters.merge(&stats.counters);
            }
            Err(hung) => {
                log::error!(target: "vc4::sim", "job {}: {}", seqno.0, hung.what);
                state.hang.get_or_insert((seqno.0, hung.what));
            }
        }
        drop(state);
        shared.changed.notify_all();
        for notice in notices {
            notice();
        }
    }
}
