//! The simulated device: BOs, the job queue, and [`Gpu`] over both.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;
use vc4_kernel_abi::validate::{self, Mode, Place, Rule, Violation};
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};

use crate::capture::{Recorder, Submission};
use crate::drm::{Errno, file_of};
use crate::error::JobError;
use crate::kernel::backing::{Backing, Inode, bo_file_size};
use crate::kernel::{self, Binner, Bo, Job, Slot};
use crate::memory::{Allocation, Discard, Memory};
use crate::qpu::{Finding, INSTRUCTION_LIMIT, Stats};
use crate::rendering::tlb::ClearValues;
use crate::stats::{Counters, Perfmon};
use crate::{binning, profile, rendering};

/// How a simulator is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes of bus memory; host memory is only used for pages that are touched. 16 MiB of it are the
    /// binner's.
    pub memory_bytes: u32,
    /// Threads that render tiles; `None` takes one per processor. Pictures do not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// How closely the kernel's validator is followed.
    pub mode: Mode,
    /// Whether programs and lists are watched for broken rules of the hardware (qpu.md §5, v3d.md §12), each logged
    /// once.
    pub check_programs: bool,
    /// Whether such a finding ends the job as a hang does; only with `check_programs`.
    pub findings_are_errors: bool,
    /// Whether every job counts caches and stalls, not only those with a performance monitor; costs time.
    pub count_caches: bool,
    /// Instructions after which a program instance counts as hung; a draw of more vertices does as well.
    pub instruction_limit: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            memory_bytes: if cfg!(target_pointer_width = "64") { 512 << 20 } else { 128 << 20 },
            threads: None,
            mode: Mode::Strict,
            check_programs: cfg!(debug_assertions),
            findings_are_errors: false,
            count_caches: false,
            instruction_limit: INSTRUCTION_LIMIT,
        }
    }
}

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

/// Findings that are kept.
const MAX_FINDINGS: usize = 1000;

/// A VideoCore IV and its kernel driver.
pub struct Simulator {
    shared: Arc<Shared>,
    binner: Option<Arc<Binner>>,
    /// Memory that BOs can come from.
    bo_bytes: u64,
    mode: Mode,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Makes files of BOs that are shared, if it is there; held while one of them becomes a file.
    backing: Option<Mutex<Arc<Backing>>>,
}

/// Is told on the job thread how a job went, before anybody else can see that it is done.
pub(crate) type Watch = Box<dyn FnOnce(Result<&Stats, &str>) + Send>;
/// [`kernel::place`] or [`kernel::prepare`].
type Placing = fn(&Arc<Memory>, &Arc<Binner>, &Submit, Vec<Arc<Bo>>, Mode) -> Result<Job, GpuError>;
/// Runs on the job thread once a job is done.
pub(crate) type Notice = Box<dyn FnOnce() + Send>;

struct Shared {
    memory: Arc<Memory>,
    config: Config,
    recorder: OnceLock<Recorder>,
    state: Mutex<State>,
    /// A job was queued or finished, or the end has come.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bos: BTreeMap<BoHandle, Arc<Bo>>,
    last_handle: u32,
    perfmons: BTreeMap<PerfmonId, Arc<Perfmon>>,
    last_perfmon: u32,
    queue: VecDeque<(Seqno, Job, Watch)>,
    last_seqno: u64,
    finished: u64,
    /// What to do when the job with this number is done.
    notices: BTreeMap<u64, Vec<Notice>>,
    /// First job that did not run to its end, and why.
    hang: Option<(u64, String)>,
    totals: Totals,
    /// Broken rules, each place once.
    findings: Vec<Finding>,
    stop: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent between statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Simulator {
    /// A machine with zeroed memory and no BOs.
    pub fn new(config: Config) -> Simulator {
        Simulator::with_memory(config, Memory::new(config.memory_bytes))
    }

    /// A machine whose bus memory are these zeroed words instead of [`Config::memory_bytes`] of its own, so that
    /// BOs can be mapped by other means than [`Gpu::map_bo`]. `None` when they are fewer than two pages.
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
        Ok(Arc::new(Bo { attachment: OnceLock::new(), pages, shader }))
    }

    fn add_bo(&self, bo: Arc<Bo>) -> Result<BoHandle, GpuError> {
        let mut state = self.shared.state();
        state.last_handle = state.last_handle.checked_add(1).ok_or(GpuError::OutOfMemory("BO handles"))?;
        let handle = BoHandle(state.last_handle);
        state.bos.insert(handle, bo);
        Ok(handle)
    }

    /// Validates the lists and surfaces of `job` on these BOs and places the kernel's copies.
    pub(crate) fn place(&self, job: &Submit, bos: Vec<Arc<Bo>>) -> Result<Job, GpuError> {
        self.noted(job, bos, kernel::place)
    }

    /// A job with everything that [`Gpu::submit`] checks.
    pub(crate) fn prepare(&self, job: &Submit) -> Result<Job, GpuError> {
        let bos = self.job_bos(job)?;
        self.noted(job, bos, kernel::prepare)
    }

    /// Places a job and tells the recorder.
    fn noted(&self, submit: &Submit, bos: Vec<Arc<Bo>>, place: Placing) -> Result<Job, GpuError> {
        let (memory, binner) = (&self.shared.memory, self.binner()?);
        let Some(recorder) = self.shared.recorder.get() else {
            return place(memory, binner, submit, bos, self.mode);
        };
        let mut job = place(memory, binner, submit, bos.clone(), self.mode)
            .inspect_err(|error| recorder.refused(memory, submit, &bos, error))?;
        job.submission = Some(Box::new(Submission { submit: submit.clone(), ..Submission::default() }));
        Ok(job)
    }

    /// Queues a placed job.
    pub(crate) fn enqueue(&self, job: Job, watch: Watch) -> Result<Seqno, GpuError> {
        self.start_thread()?;
        let mut state = self.shared.state();
        state.last_seqno += 1;
        let seqno = Seqno(state.last_seqno);
        state.queue.push_back((seqno, job, watch));
        drop(state);
        self.shared.changed.notify_all();
        Ok(seqno)
    }

    /// The last job that is done.
    pub(crate) fn finished(&self) -> Seqno {
        Seqno(self.shared.state().finished)
    }

    /// The last job that was queued.
    pub(crate) fn last_queued(&self) -> Seqno {
        Seqno(self.shared.state().last_seqno)
    }

    /// Waits until `ready`, which is given the number of the last job that is done; `false` when `timeout` passed
    /// first. It is asked again after every job and every [`Simulator::wake`].
    pub(crate) fn wait_until(&self, timeout: Option<Duration>, mut ready: impl FnMut(Seqno) -> bool) -> bool {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.shared.state();
        while !ready(Seqno(state.finished)) {
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
        if state.finished < seqno.0 {
            state.notices.entry(seqno.0).or_default().push(notice);
            return;
        }
        drop(state);
        notice();
    }

    fn sharing_backing(&self) -> Result<MutexGuard<'_, Arc<Backing>>, GpuError> {
        let backing = self.backing.as_ref().ok_or_else(|| {
            GpuError::Refused("this simulator's memory is its own: make it with `Simulator::sharing`".into())
        })?;
        Ok(backing.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    fn bo(&self, handle: BoHandle) -> Result<Arc<Bo>, GpuError> {
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

    fn perfmon(&self, id: PerfmonId) -> Result<Arc<Perfmon>, GpuError> {
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

impl Gpu for Simulator {
    fn description(&self) -> String {
        "simulated VideoCore IV".into()
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident::REFERENCE)
    }

    fn memory_size(&self) -> u64 {
        self.bo_bytes
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        self.add_bo(self.new_bo(size)?)
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        self.add_bo(self.new_shader_bo(code)?)
    }

    #[expect(unsafe_code, reason = "a mapping is memory that the driver's process shares with the GPU")]
    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        let bo = self.bo(bo)?;
        if bo.shader.is_some() {
            return Err(GpuError::Refused("a shader BO is immutable and cannot be mapped".into()));
        }
        let ptr = NonNull::new(self.shared.memory.host_ptr(bo.pages.address()));
        let ptr = ptr.ok_or(GpuError::OutOfMemory("mapping"))?;
        // SAFETY: the BO's pages lie inside of the bus memory's atomic words, which are readable and
        // writable through a shared reference and live as long as this simulator; they stay this BO's
        // until its handle is closed.
        Ok(unsafe { Mapping::new(ptr, bo.pages.bytes() as usize) })
    }

    fn close_bo(&self, bo: BoHandle) {
        let closed = self.shared.state().bos.remove(&bo);
        // Outside of the lock: this may return the pages.
        drop(closed);
    }

    fn shares_bos(&self) -> bool {
        self.backing.is_some()
    }

    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        let bo = self.bo(bo)?;
        if bo.shader.is_some() {
            return Err(GpuError::Refused("a shader BO cannot be shared".into()));
        }
        let backing = self.sharing_backing()?;
        let failed = |errno: Errno| GpuError::Os { call: "BO export", source: errno.into() };
        if file_of(&bo).is_none() {
            let file = backing.create(bo.pages.address(), bo.pages.bytes()).map_err(failed)?;
            // Under the lock nobody else attaches one.
            let _ = bo.attachment.set(Box::new(file));
        }
        let file = file_of(&bo).ok_or_else(|| failed(Errno::EINVAL))?;
        file.seal().and_then(|()| file.duplicate()).map_err(failed)
    }

    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        let failed = |errno: Errno| GpuError::Os { call: "BO import", source: errno.into() };
        let size = bo_file_size(fd).ok_or_else(|| failed(Errno::EINVAL))?;
        let inode = Inode::of(fd).map_err(failed)?;
        let backing = self.sharing_backing()?;
        let is_it = |bo: &Arc<Bo>| file_of(bo).is_some_and(|file| file.inode() == inode);
        let known = self.shared.state().bos.iter().find(|(_, bo)| is_it(bo)).map(|(handle, _)| *handle);
        if let Some(handle) = known {
            return Ok((handle, size.into()));
        }
        let copy = fd.try_clone_to_owned().map_err(|source| GpuError::Os { call: "BO import", source })?;
        let bo = self.new_bo(size)?;
        let file = backing.adopt(copy, bo.pages.address(), bo.pages.bytes()).map_err(failed)?;
        let _ = bo.attachment.set(Box::new(file));
        Ok((self.add_bo(bo)?, size.into()))
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let perfmon = job.perfmon.map(|perfmon| self.perfmon(perfmon)).transpose()?;
        let mut job = self.prepare(job)?;
        job.counted = perfmon.as_ref().is_some_and(|perfmon| perfmon.counts_caches());
        let watch: Watch = Box::new(move |result| {
            if let (Ok(stats), Some(perfmon)) = (result, perfmon) {
                perfmon.add(stats);
            }
        });
        self.enqueue(job, watch)
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        let perfmon =
            Perfmon::new(events).ok_or_else(|| GpuError::Refused(format!("a monitor of {events:?}")))?;
        let mut state = self.shared.state();
        state.last_perfmon += 1;
        let id = PerfmonId(state.last_perfmon);
        state.perfmons.insert(id, Arc::new(perfmon));
        Ok(id)
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        self.perfmon(perfmon).map(|perfmon| perfmon.values())
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.shared.state().perfmons.remove(&perfmon);
    }

    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        if !self.wait_until(timeout, |finished| finished >= seqno) {
            return Ok(false);
        }
        match &self.shared.state().hang {
            Some((hung, what)) if *hung <= seqno.0 => Err(GpuError::Hang(what.clone())),
            _ => Ok(true),
        }
    }
}

/// The job thread: runs jobs in order until the simulator goes.
fn work(shared: &Shared) {
    let mut machine = Machine::default();
    loop {
        let mut state = shared.state();
        let (seqno, job, watch) = loop {
            if state.stop {
                return;
            }
            match state.queue.pop_front() {
                Some(next) => break next,
                None => state = shared.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner()),
            }
        };
        drop(state);
        let recorder = shared.recorder.get();
        let started = recorder.and_then(|recorder| recorder.started(&shared.memory, &job));
        let (result, findings) = machine.run(shared, seqno, &job);
        if let (Some(recorder), Some(started)) = (recorder, started) {
            let result = result.as_ref().map_err(String::as_str);
            recorder.finished(&shared.memory, &job, started, seqno, result);
        }
        // Memory is free again before anybody is told that the job is done.
        drop(job);
        watch(result.as_ref().map_err(String::as_str));
        let mut state = shared.state();
        state.finished = seqno.0;
        let notices = state.notices.remove(&seqno.0).unwrap_or_default();
        state.totals.jobs += 1;
        let room = MAX_FINDINGS - state.findings.len();
        state.findings.extend(findings.into_iter().take(room));
        match result {
            Ok(stats) => {
                state.totals.instances += stats.instances;
                state.totals.instructions += stats.instructions;
                state.totals.lookups += stats.lookups;
                state.totals.spills += u64::from(stats.spills);
                state.totals.counters.merge(&stats.counters);
            }
            Err(what) => {
                log::error!(target: "vc4::sim", "job {}: {what}", seqno.0);
                state.hang.get_or_insert((seqno.0, what));
            }
        }
        drop(state);
        shared.changed.notify_all();
        for notice in notices {
            notice();
        }
    }
}

/// What the hardware keeps from job to job.
#[derive(Default)]
struct Machine {
    pool: Option<rayon::ThreadPool>,
    /// Clear values and tile content left by the last job: undefined to the next (v3d.md §10.4).
    clear: ClearValues,
    /// Broken rules that were logged: rule, program, instruction.
    reported: BTreeSet<(&'static str, u32, u32)>,
}

impl Machine {
    /// Runs a job. Returns the findings that no earlier job had as well.
    fn run(&mut self, shared: &Shared, seqno: Seqno, job: &Job) -> (Result<Stats, String>, Vec<Finding>) {
        let start = Instant::now();
        let pool = match self.pool.take() {
            Some(pool) => pool,
            None => match start_pool(shared.config.threads) {
                Ok(pool) => pool,
                Err(what) => return (Err(what), Vec::new()),
            },
        };
        let clear = &mut self.clear;
        let result = catch_unwind(AssertUnwindSafe(|| pool.install(|| run_job(shared, job, clear))));
        self.pool = Some(pool);
        let stats = match result {
            Ok(Ok(stats)) => stats,
            Ok(Err(error)) => return (Err(error.to_string()), Vec::new()),
            Err(_) => return (Err("the simulator panicked; see the message on stderr".into()), Vec::new()),
        };
        let findings = self.new_findings(seqno, &stats);
        log::debug!(
            target: "vc4::sim",
            "job {}: {} instances, {} instructions, {} lookups, {:?}",
            seqno.0, stats.instances, stats.instructions, stats.lookups, start.elapsed(),
        );
        match stats.findings.first() {
            Some(first) if shared.config.findings_are_errors => {
                (Err(JobError::Finding(Box::new(first.clone())).to_string()), findings)
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
fn run_job(shared: &Shared, job: &Job, clear: &mut ClearValues) -> Result<Stats, JobError> {
    let memory = &*shared.memory;
    let Config { check_programs: check, count_caches, instruction_limit, .. } = shared.config;
    let caches = count_caches || job.counted;
    let mut stats = Stats { check, caches, instruction_limit, ..Stats::default() };
    let mut slots = Vec::new();
    let mut overflow = || {
        slots.push(job.overflow()?);
        Some(Slot::BYTES)
    };
    profile::begin(memory, job, &mut stats);
    let binned = match job.bin {
        Some(list) => Some(binning::bin(memory, list.address, list.length, &mut overflow, &mut stats)?),
        None => None,
    };
    profile::binned(memory, job, binned.as_ref());
    let list = job.render;
    let segments =
        rendering::segments(memory, list.address, list.length, binned.as_ref(), clear, &mut stats)?;
    let mut stats = rendering::run(memory, binned.as_ref(), &segments, stats)?;
    profile::end(job, &mut stats);
    Ok(stats)
}
