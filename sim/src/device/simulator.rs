//! The simulated device: BOs, and jobs on their way to the queue.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use vc4_kernel_abi::validate::{self, Mode, Place, Rule, Violation};
use vc4_kernel_abi::{BoHandle, GpuError, PerfmonId, Seqno, Submit};

use super::cached::Cached;
use super::finished::Finished;
use super::order::Order;
use super::queue::{Notice, Shared, Totals, Watch, work};
use super::reset::LogReader;
use crate::capture::{Recorder, Submission};
use crate::config::Config;
use crate::kernel::backing::Backing;
use crate::kernel::{self, Binner, Bo, Job};
use crate::lock::lock;
use crate::memory::{Allocation, Discard, Memory};
use crate::stats::{Finding, Perfmon};

/// A VideoCore IV and its kernel driver.
pub struct Simulator {
    pub(super) shared: Arc<Shared>,
    binner: Option<Arc<Binner>>,
    /// Memory that BOs can come from.
    pub(super) bo_bytes: u64,
    mode: Mode,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Those of the BOs that the CPU caches.
    pub(super) cached: Mutex<BTreeMap<BoHandle, Arc<Cached>>>,
    /// Makes files of BOs that are shared, if it is there; held while one of them becomes a file.
    pub(super) backing: Option<Mutex<Arc<Backing>>>,
}

/// [`kernel::place`] or [`kernel::prepare`].
type Placing = fn(&Arc<Memory>, &Arc<Binner>, &Submit, Vec<Arc<Bo>>, Mode) -> Result<Job, GpuError>;

impl Simulator {
    /// A machine with zeroed memory and no BOs.
    pub fn new(config: Config) -> Simulator {
        Simulator::with_memory(config, Memory::new(config.memory_bytes))
    }

    /// A machine whose bus memory are these zeroed words instead of [`Config::memory_bytes`] of its own, so that
    /// BOs can be mapped by other means than [`map_bo`](vc4_kernel_abi::Gpu::map_bo). `None` when they are fewer than two pages.
    pub fn on_words(
        config: Config,
        words: &'static [AtomicU32],
        discard: Option<Discard>,
    ) -> Option<Simulator> {
        Some(Simulator::with_memory(config, Memory::lent(words, discard)?))
    }

    /// A machine whose BOs can be shared with others, in this process and beyond.
    ///
    /// # Errors
    /// When the system has no room for its memory.
    pub fn sharing(config: Config) -> Result<Simulator, GpuError> {
        let no_memory = |errno: Errno| GpuError::Os { call: "mmap", source: errno.into() };
        let backing = Backing::returning(config.memory_bytes).map_err(no_memory)?;
        let memory = Memory::lent(backing.words(), Some(backing.discard()));
        let memory = memory.ok_or(GpuError::OutOfMemory("bus memory"))?;
        let mut simulator = Simulator::with_memory(config, memory);
        simulator.backing = Some(Mutex::new(backing));
        Ok(simulator)
    }

    fn with_memory(config: Config, memory: Memory) -> Simulator {
        let memory = Arc::new(memory);
        let binner = Binner::new(&memory);
        let bo_bytes = u64::from(memory.available());
        let recorder = Recorder::from_environment(config).map_or_else(OnceLock::new, OnceLock::from);
        let shared = Shared { memory, config, recorder, state: Mutex::default(), changed: Condvar::new() };
        Simulator {
            shared: Arc::new(shared),
            binner,
            bo_bytes,
            mode: config.mode,
            thread: Mutex::default(),
            cached: Mutex::default(),
            backing: None,
        }
    }

    /// Records all submissions from now on to a file of this name, or `path.1`, … if it exists
    /// ([`crate::capture`]). `false` when a recorder is at work already.
    pub fn record(&self, path: impl Into<std::path::PathBuf>) -> bool {
        self.shared.recorder.set(Recorder::new(path, self.shared.config)).is_ok()
    }

    /// Work done so far.
    pub fn totals(&self) -> Totals {
        self.shared.state().totals
    }

    /// Broken rules of the hardware that jobs so far were found to break, each place once; none unless
    /// [`Config::check_programs`] is set.
    pub fn findings(&self) -> Vec<Finding> {
        self.shared.state().findings.clone()
    }

    fn binner(&self) -> Result<&Arc<Binner>, GpuError> {
        self.binner.as_ref().ok_or(GpuError::OutOfMemory("16 MiB of binner memory"))
    }

    /// A BO without a handle.
    pub(crate) fn new_bo(&self, bytes: u32) -> Result<Arc<Bo>, GpuError> {
        if bytes == 0 {
            return Err(GpuError::Refused("a BO needs at least one byte".into()));
        }
        self.allocate(bytes, None)
    }

    /// A shader BO without a handle.
    pub(crate) fn new_shader_bo(&self, code: &[u64]) -> Result<Arc<Bo>, GpuError> {
        let bytes = u32::try_from(code.len() * 8).ok().filter(|&bytes| bytes > 0);
        let bytes = bytes.ok_or_else(|| GpuError::Refused(format!("a shader of {} words", code.len())))?;
        let info = validate::shader::validate(code, self.mode)
            .map_err(|violation| GpuError::Refused(violation.to_string()))?;
        let bo = self.allocate(bytes, Some(info))?;
        let words: Vec<u32> = code.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        let written = self.shared.memory.write_words(bo.pages.address(), &words);
        written.expect("the BO's pages lie in memory");
        Ok(bo)
    }

    fn allocate(&self, bytes: u32, shader: Option<validate::ShaderInfo>) -> Result<Arc<Bo>, GpuError> {
        // The kernel allocates the binner's memory with the first BO (kernel-abi.md §4.3).
        self.binner()?;
        let pages = Allocation::new(&self.shared.memory, bytes).ok_or(GpuError::OutOfMemory("BO"))?;
        Ok(Arc::new(Bo { file: OnceLock::new(), pages, shader, label: Mutex::default() }))
    }

    pub(super) fn add_bo(&self, bo: Arc<Bo>) -> Result<BoHandle, GpuError> {
        let mut state = self.shared.state();
        state.last_handle = state.last_handle.checked_add(1).ok_or(GpuError::OutOfMemory("BO handles"))?;
        let handle = BoHandle(state.last_handle);
        state.bos.insert(handle, bo);
        Ok(handle)
    }

    /// Validates the lists and surfaces of `job` on these BOs and places the kernel's copies.
    pub(crate) fn place(&self, job: &Submit, bos: Vec<Arc<Bo>>) -> Result<Order, GpuError> {
        self.noted(job, bos, kernel::place)
    }

    /// A job with everything that [`submit`](vc4_kernel_abi::Gpu::submit) checks.
    pub(crate) fn prepare(&self, job: &Submit) -> Result<Order, GpuError> {
        let bos = self.job_bos(job)?;
        self.noted(job, bos, kernel::prepare)
    }

    /// Places a job and tells the recorder.
    fn noted(&self, submit: &Submit, bos: Vec<Arc<Bo>>, place: Placing) -> Result<Order, GpuError> {
        let (memory, binner) = (&self.shared.memory, self.binner()?);
        let Some(recorder) = self.shared.recorder.get() else {
            return place(memory, binner, submit, bos, self.mode).map(Order::new);
        };
        let job = place(memory, binner, submit, bos.clone(), self.mode)
            .inspect_err(|error| recorder.refused(memory, submit, &bos, error))?;
        let submission = Submission { submit: submit.clone(), ..Submission::default() };
        Ok(Order { submission: Some(Box::new(submission)), ..Order::new(job) })
    }

    /// Queues a placed job.
    pub(crate) fn enqueue(&self, order: Order, watch: Watch) -> Result<Seqno, GpuError> {
        self.start_thread()?;
        let mut state = self.shared.state();
        state.last_seqno += 1;
        let seqno = Seqno(state.last_seqno);
        state.queue.push_back((seqno, order, watch));
        drop(state);
        self.shared.changed.notify_all();
        Ok(seqno)
    }

    /// The jobs that are done.
    pub(crate) fn finished(&self) -> Finished {
        self.shared.state().finished.clone()
    }

    /// The last job that was queued.
    pub(crate) fn last_queued(&self) -> Seqno {
        Seqno(self.shared.state().last_seqno)
    }

    /// Waits until `ready`, which is given the jobs that are done; `false` when `timeout` passed
    /// first. It is asked again after every job and every [`Simulator::wake`].
    pub(crate) fn wait_until(
        &self,
        timeout: Option<Duration>,
        mut ready: impl FnMut(&Finished) -> bool,
    ) -> bool {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.shared.state();
        while !ready(&state.finished) {
            let changed = &self.shared.changed;
            state = match deadline {
                None => changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    changed.wait_timeout(state, left).unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
            };
        }
        true
    }

    /// Lets every waiter look again.
    pub(crate) fn wake(&self) {
        // Under the lock: nobody is between looking and falling asleep.
        let _state = self.shared.state();
        self.shared.changed.notify_all();
    }

    /// Runs `notice` once the job is done, at once if it is.
    pub(crate) fn when_finished(&self, seqno: Seqno, notice: Notice) {
        let mut state = self.shared.state();
        if !state.finished.has(seqno) {
            state.notices.entry(seqno.0).or_default().push(notice);
            return;
        }
        drop(state);
        notice();
    }

    /// Has the kernel's log read from here on.
    pub(crate) fn read_log(&self, reader: LogReader) {
        self.shared.state().log.readers.push(reader);
    }

    pub(super) fn sharing_backing(&self) -> Result<MutexGuard<'_, Arc<Backing>>, GpuError> {
        let backing = self.backing.as_ref().ok_or_else(|| {
            GpuError::Refused("this simulator's memory is its own: make it with `Simulator::sharing`".into())
        })?;
        Ok(backing.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    pub(super) fn cached(&self, handle: BoHandle) -> Option<Arc<Cached>> {
        lock(&self.cached).get(&handle).cloned()
    }

    pub(super) fn bo(&self, handle: BoHandle) -> Result<Arc<Bo>, GpuError> {
        let found = self.shared.state().bos.get(&handle).cloned();
        found.ok_or_else(|| GpuError::Refused(format!("BO handle {} is unknown", handle.0)))
    }

    /// The BOs of a submission.
    fn job_bos(&self, job: &Submit) -> Result<Vec<Arc<Bo>>, GpuError> {
        let state = self.shared.state();
        let find = |handle: &BoHandle| {
            state.bos.get(handle).cloned().ok_or_else(|| {
                let what = format!("BO handle {} is unknown", handle.0);
                GpuError::Refused(Violation::new(Rule::Sub6, Place::Frame("bo_handles"), what).to_string())
            })
        };
        job.bos.iter().map(find).collect()
    }

    pub(super) fn perfmon(&self, id: PerfmonId) -> Result<Arc<Perfmon>, GpuError> {
        let found = self.shared.state().perfmons.get(&id).cloned();
        found.ok_or_else(|| {
            let what = format!("monitor {} is unknown", id.0);
            GpuError::Refused(Violation::new(Rule::Sub8, Place::Frame("perfmonid"), what).to_string())
        })
    }

    fn start_thread(&self) -> Result<(), GpuError> {
        let mut thread = self.thread.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if thread.is_none() {
            let shared = self.shared.clone();
            let spawned = std::thread::Builder::new().name("vc4-sim".into()).spawn(move || work(&shared));
            *thread = Some(spawned.map_err(|source| GpuError::Os { call: "thread creation", source })?);
        }
        Ok(())
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shared.state().stop = true;
        self.shared.changed.notify_all();
        let thread = self.thread.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(thread) = thread {
            // Its panics are caught per job.
            let _ = thread.join();
        }
    }
}
