//! The queue thread: does work in order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use vc4_kernel_abi::uapi::BINNER_SLOTS;
use vc4_kernel_abi::{BoHandle, Seqno};

use super::changes::Changes;
use super::draw::{self, Budget, Iota, Job, JobBuilder, Jobs, Kept, Ledger, Shadows, Site};
use super::queries::Queries;
use super::retire::{self, Progress, Retire};
use super::work::Work;
use crate::foundation::debug::{Debug, flags, is_strict, slow, tells_slow};
use crate::foundation::error::Error;
use crate::foundation::threads::{Receiver, SyncSender};
use crate::objects::device::Device;
use crate::objects::query::{Asked, QueryChange, QueryCommand};
use crate::objects::semaphore::Signal;
use crate::pipeline::Rectangles;
#[cfg(feature = "compute")]
use crate::pipeline::RelayKernel;
#[cfg(feature = "compute")]
use crate::segments::DrawList;
use crate::segments::{CpuCommand, RenderSegment, Rest, Segment, Segments, Touch};

/// Slots of binner memory that jobs in flight may come to hold together. The rest is for those that need more than was
/// guessed: a job that finds no free slot hangs (kernel-abi.md §11).
const BINNER_SLOTS_IN_FLIGHT: u32 = BINNER_SLOTS / 2;
/// Kept jobs may take this part of the device's memory.
const KEPT_PART: u64 = 16;
/// BOs that are remembered before a wait makes all of them forgettable.
const MAX_USERS: usize = 4096;

/// The thread's state.
pub(super) struct Executor {
    device: Arc<Device>,
    /// Numbers that draws fetch as vertex indices.
    iota: Arc<Iota>,
    retire: SyncSender<Retire>,
    /// Shared with the retire thread.
    progress: Arc<Progress>,
    /// The last job submitted.
    last: Option<Seqno>,
    /// The last job known to be complete.
    complete: Option<Seqno>,
    /// The last job that changes what the CPU reads when it puts others together.
    changing_buffers: Option<Seqno>,
    /// The last job that uses a BO; of those that may still run.
    users: FxHashMap<BoHandle, Seqno>,
    /// Jobs that may still run, oldest first, with the slots of binner memory that they may hold.
    binning: VecDeque<(Seqno, u32)>,
    /// Queries that are under way.
    queries: Queries,
    /// Pipelines of the driver's own.
    rectangles: Rectangles,
    /// An empty job, for its memory.
    memory: JobBuilder,
    /// When memory was changed.
    changes: Changes,
    /// Indices that were looked at.
    shadows: Shadows,
    /// Memory of kept jobs.
    budget: Budget,
}

impl Executor {
    /// An executor that tells `retire` what it submits.
    pub fn new(device: Arc<Device>, progress: Arc<Progress>, retire: SyncSender<Retire>) -> Executor {
        Executor {
            iota: Arc::new(Iota::new(device.clone())),
            rectangles: Rectangles::new(device.clone()),
            device,
            retire,
            progress,
            last: None,
            complete: None,
            changing_buffers: None,
            users: FxHashMap::default(),
            binning: VecDeque::new(),
            queries: Queries::default(),
            memory: JobBuilder::default(),
            changes: Changes::default(),
            shadows: Shadows::default(),
            budget: Budget::default(),
        }
    }

    /// Runs until the queue ends. A loss of the device drops what is left.
    pub fn run(mut self, works: &Receiver<Work>) {
        for work in works {
            if !self.device.is_lost() {
                let done = catch_unwind(AssertUnwindSafe(|| self.work(work)));
                match done.unwrap_or_else(|panic| Err(Error::Panic(message(&*panic)))) {
                    Ok(()) | Err(Error::DeviceLost) => {}
                    Err(error) => self.device.lose(&error),
                }
            }
            self.tell(Retire::Work);
        }
    }

    /// The retire thread outlives this one, so telling it cannot fail.
    fn tell(&self, retire: Retire) {
        let _ = self.retire.send(retire);
    }

    fn work(&mut self, work: Work) -> Result<(), Error> {
        match work {
            Work::Commands { waits, segments, signals, label } => {
                self.wait_for(&waits)?;
                for segments in &segments {
                    self.segments(segments, label.as_deref())?;
                }
                // Whoever waits for these is behind in this queue, or gets the last job to wait for.
                for signal in signals {
                    match signal {
                        Signal::Flag(_) => signal.give(),
                        // The host sees the value once the GPU is there, and so do others.
                        Signal::Value(ref timeline, value) => {
                            signal.give();
                            self.tell(Retire::Value(timeline.clone(), value));
                        }
                        Signal::Shared(shared) => self.tell(Retire::Shared(shared)),
                    }
                }
                Ok(())
            }
            Work::Call { waits, run } => {
                self.wait_for(&waits)?;
                run(self.last);
                Ok(())
            }
            Work::Fence(fence) => {
                self.tell(Retire::Fence(fence));
                Ok(())
            }
        }
    }

    fn wait_for(&self, signals: &[Signal]) -> Result<(), Error> {
        signals.iter().try_for_each(|signal| signal.wait(&self.device))
    }

    fn segments(&mut self, segments: &Segments, label: Option<&str>) -> Result<(), Error> {
        for segment in segments.iter() {
            self.device.check()?;
            match self.segment(segment) {
                // The application's mistake, or something that cannot be known while recording: what comes behind
                // may do without it.
                Err(error) if error.spares_device() => {
                    log::error!(target: "vc4::queue", "left out: {}{segment}: {error}", prefix(label));
                }
                Err(error) => {
                    // What the queue meets for being lost has nothing to do with this.
                    if !matches!(error, Error::DeviceLost) {
                        log::error!(target: "vc4::queue", "stopped at {}{segment}", prefix(label));
                    }
                    return Err(error);
                }
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn segment(&mut self, segment: &Segment) -> Result<(), Error> {
        match segment {
            Segment::Render(render) => self.render(render),
            Segment::Query(command) => self.query(command),
            Segment::Cpu(command) => {
                if self.queries.want_statistics() {
                    // It may look at buffers.
                    self.wait(self.changing_buffers)?;
                    self.queries.add(&command.drawn()?);
                }
                if command.may_be_drawn() && self.drawn(&**command)? {
                    return Ok(());
                }
                let touch = command.touches();
                // The others have said why they are not drawn.
                if !command.may_be_drawn() && matches!(touch, Touch::Memory(_)) && tells_slow() {
                    slow(format_args!("{} is done by the CPU", command.describe()));
                }
                self.begin_command(touch)?;
                command.run(&self.device)
            }
        }
    }

    /// Draws a segment, with the jobs of the time before where they still do.
    fn render(&mut self, render: &RenderSegment) -> Result<(), Error> {
        render.memo.with(|kept: &mut Kept| {
            let began = self.changes.now();
            let is_counted = self.queries.monitor().is_some();
            if let Some(jobs) = kept.jobs(&self.changes, is_counted) {
                let are_old = jobs.are_old(&self.changes, began);
                self.changes.by_pass(&render.target);
                return self.submit_again(render, jobs, are_old);
            }
            self.changes.by_pass(&render.target);
            let ledger = kept.begin();
            if !ledger.is_noting() {
                return self.build(render, &ledger, &mut Executor::submit);
            }
            let mut jobs = Vec::new();
            self.build(render, &ledger, &mut |this, job| {
                this.submit(job)?;
                jobs.push(std::mem::take(job));
                Ok(())
            })?;
            let most = self.device.physical().heap_size() / KEPT_PART;
            kept.keep(ledger, jobs, (began, is_counted), (&self.budget, most));
            Ok(())
        })
    }

    /// Builds the jobs of a segment and gives them to `submit`.
    fn build(
        &mut self,
        render: &RenderSegment,
        ledger: &Ledger,
        submit: &mut dyn FnMut(&mut Executor, &mut Job) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Streams, indices and parameters of draws are read here and now.
        self.wait(self.changing_buffers)?;
        #[cfg(feature = "compute")]
        if render.draws.iter().any(|list| looks_at_images(list)) {
            self.wait(self.last)?;
        }
        let iota = self.iota.clone();
        let mut memory = std::mem::take(&mut self.memory);
        let (changes, shadows) = (std::mem::take(&mut self.changes), std::mem::take(&mut self.shadows));
        let is_counted = self.queries.monitor().is_some();
        let site = Site { iota: &iota, ledger, shadows: &shadows, changes: &changes, is_counted };
        let built = draw::build(site, render, &mut memory, &mut |job| submit(self, job));
        (self.memory, self.changes, self.shadows) = (memory, changes, shadows);
        built
    }

    /// Submits kept jobs, which may have to be brought up to date before.
    fn submit_again(&mut self, render: &RenderSegment, jobs: &mut Jobs, are_old: bool) -> Result<(), Error> {
        if are_old {
            self.wait(self.changing_buffers)?;
            jobs.refresh()?;
        }
        if is_strict() {
            let (device, mut built) = (self.device.clone(), Vec::new());
            let _check = device.physical().traffic().check();
            self.build(render, &Ledger::default(), &mut |_, job| {
                built.push(std::mem::take(job));
                Ok(())
            })?;
            jobs.compare(&built)?;
        }
        jobs.iter_mut().try_for_each(|job| self.submit(job))
    }

    /// The CPU is about to look at memory, and to change it: waits for those that use it.
    fn begin_command(&mut self, touch: Touch) -> Result<(), Error> {
        self.changes.by_command(&touch);
        match touch {
            Touch::Nothing => Ok(()),
            Touch::Everything => self.wait(self.last),
            Touch::Memory(spans) => {
                let last = spans.iter().filter_map(|span| self.users.get(&span.bo)).max().copied();
                self.wait(last)
            }
        }
    }

    /// Has the GPU do what a command of the CPU says, if jobs can do it; whether they do.
    fn drawn(&mut self, command: &dyn CpuCommand) -> Result<bool, Error> {
        // The command looks at buffers.
        self.wait(self.changing_buffers)?;
        let device = self.device.clone();
        let Some(drawing) = command.drawing(&mut self.rectangles)? else { return Ok(false) };
        let ready = match drawing.may_wait {
            true => draw::are_ready(&drawing.renders, &mut self.rectangles.workshop),
            false => Ok(true),
        };
        let checked = ready.and_then(|ready| {
            if ready {
                let (ledger, shadows) = (&Ledger::default(), &self.shadows);
                let site =
                    Site { iota: &self.iota, ledger, shadows, changes: &self.changes, is_counted: false };
                drawing.renders.iter().try_for_each(|render| draw::check(site, render))?;
            }
            Ok(ready)
        });
        match checked {
            Ok(true) => {}
            Ok(false) => {
                if tells_slow() {
                    let what = command.describe();
                    slow(format_args!("{what} runs on the CPU: its programs are being compiled"));
                }
                return Ok(false);
            }
            Err(error) if error.spares_device() => {
                if tells_slow() {
                    slow(format_args!("{} runs on the CPU: {error}", command.describe()));
                }
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        match &drawing.rest {
            None => {}
            Some(Rest::Groups(part)) => {
                self.begin_command(command.touches())?;
                command.run_part(&device, part)?;
            }
            Some(Rest::Command(rest)) => {
                self.begin_command(rest.touches())?;
                rest.run(&device)?;
            }
        }
        // Samples that pass here are nobody's.
        let queries = std::mem::take(&mut self.queries);
        let done = drawing.renders.iter().try_for_each(|render| self.render(render));
        self.queries = queries;
        if drawing.changes_buffers {
            self.changing_buffers = self.last;
        }
        done.map(|()| true)
    }

    fn query(&mut self, command: &QueryCommand) -> Result<(), Error> {
        let (pool, change) = match command {
            QueryCommand::Begin(asked) => {
                if *asked == (Asked::Occlusion { exact: true }) && tells_slow() {
                    slow(format_args!(
                        "a precise query draws once for each sample of a quad: four times or sixteen"
                    ));
                }
                return Ok(self.queries.begin(&self.device, *asked)?);
            }
            QueryCommand::End(pool, query) => {
                (pool, QueryChange::Counted(*query, self.queries.end(&self.device, pool.ty())?))
            }
            QueryCommand::Reset(pool, first, count) => (pool, QueryChange::Reset(*first, *count)),
            QueryCommand::Timestamp(pool, query) => (pool, QueryChange::Timestamp(*query)),
        };
        pool.expect_change();
        self.tell(Retire::Query(pool.clone(), change));
        Ok(())
    }

    fn submit(&mut self, job: &mut Job) -> Result<(), Error> {
        job.count_with(self.queries.monitor());
        self.queries.add(job.drawn());
        job.inspect()?;
        self.make_binner_room(job.binner_slots())?;
        let stored = job.hand_over()?;
        let (gpu, watch) = (&**self.device.gpu(), &self.progress.watch);
        let monitor = watch.begin(gpu, job.submit().perfmon.is_some());
        job.watch_with(monitor);
        let submitted = gpu.submit(job.submit());
        let seqno = submitted.inspect_err(|_| watch.end(gpu, monitor)).map_err(|error| job.explain(error))?;
        self.last = Some(seqno);
        if job.binner_slots() > 0 {
            self.binning.push_back((seqno, job.binner_slots()));
        }
        self.users.extend(job.submit().bos.iter().map(|bo| (*bo, seqno)));
        self.tell(Retire::Job(seqno, monitor, stored));
        if self.users.len() > MAX_USERS {
            self.wait(self.last)?;
        }
        if flags().contains(Debug::SYNC) {
            self.wait(self.last)?;
        }
        Ok(())
    }

    /// Waits for old jobs until `slots` of binner memory more fit beside what the others hold.
    fn make_binner_room(&mut self, slots: u32) -> Result<(), Error> {
        let mut held: u32 = self.binning.iter().map(|(_, slots)| slots).sum();
        while held > 0 && held + slots > BINNER_SLOTS_IN_FLIGHT {
            let Some((seqno, slots)) = self.binning.pop_front() else { break };
            held -= slots;
            self.wait(Some(seqno))?;
        }
        Ok(())
    }

    /// Waits for a job and all before it.
    fn wait(&mut self, seqno: Option<Seqno>) -> Result<(), Error> {
        if let Some(seqno) = seqno.filter(|seqno| self.complete < Some(*seqno)) {
            retire::wait_watched(&self.device, seqno)?;
            self.complete = Some(seqno);
            while self.binning.front().is_some_and(|(oldest, _)| *oldest <= seqno) {
                self.binning.pop_front();
            }
            self.users.retain(|_, user| *user > seqno);
        }
        Ok(())
    }
}

/// Whether the CPU looks at images when it puts draws together, for it shades their vertices.
#[cfg(feature = "compute")]
fn looks_at_images(list: &DrawList) -> bool {
    let mut relays = list.pipelines().iter().filter_map(|pipeline| pipeline.compiled.as_ref()?.relay());
    relays.any(RelayKernel::looks_at_images)
}

/// A label in front of what it is for.
fn prefix(label: Option<&str>) -> String {
    label.map_or(String::new(), |label| format!("{label:?}: "))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
