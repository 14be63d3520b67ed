//! Runs the workgroups of a dispatch: on this thread, and on others once it turns out to be worth their start.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use vc4_shaders::ir::Workgroup;
use vc4_shaders::ir::eval::eval;

use crate::batch::{WIDTH, Words};
use crate::code::{Code, Runner};
use crate::dispatch::{Dispatch, Halt};
use crate::generate::Needs;
use crate::layout::{Bound, Context, STOPPED, Texels};
use crate::math::FUNCTIONS;

/// What is run.
pub struct Program<'a> {
    /// The code.
    pub code: &'a Code,
    /// What it needs.
    pub needs: &'a Needs,
    /// Its workgroup.
    pub workgroup: &'a Workgroup,
    /// Local IDs by batch.
    pub places: &'a [[u32; 12]],
    /// Its buffers.
    pub bounds: &'a [Bound],
    /// Its images, by operation.
    pub texels: &'a [Texels],
    /// Its push constants.
    pub push: &'a [u32],
    /// The dispatch.
    pub dispatch: &'a Dispatch<'a>,
    /// Nanoseconds that a workgroup took in the dispatch before.
    pub pace: &'a AtomicU64,
}

// SAFETY: the ranges may be used by any thread while a dispatch runs, as its caller vouches; all else is shared data.
unsafe impl Sync for Program<'_> {}

/// How far a dispatch is.
struct Progress {
    /// The next workgroup that nobody took.
    next: AtomicU64,
    count: u64,
    stop: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

/// Time that a dispatch may take before others help: several starts of a thread.
const ALONE: Duration = Duration::from_micros(100);

/// Time that workgroups which are taken together should take: many looks at the clock.
const TURN: Duration = Duration::from_micros(50);

impl Progress {
    fn halt(&self, halt: Halt) {
        self.stop.store(true, Ordering::Relaxed);
        self.halt.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(halt);
    }

    /// Takes up to `wanted` workgroups: the first and how many.
    fn take(&self, wanted: u64) -> Option<(u64, u64)> {
        if self.stop.load(Ordering::Relaxed) || self.next.load(Ordering::Relaxed) >= self.count {
            return None;
        }
        let first = self.next.fetch_add(wanted, Ordering::Relaxed);
        (first < self.count).then(|| (first, wanted.min(self.count - first)))
    }
}

/// Runs all workgroups.
///
/// # Safety
/// The entry is code for the rest of the program, and its ranges are memory.
pub unsafe fn run(program: &Program<'_>) -> Result<(), Halt> {
    let groups = program.dispatch.groups.map(u128::from);
    // Nobody lives to see the end of more than 2^62.
    let count = groups.iter().product::<u128>().min(1 << 62) as u64;
    if count == 0 {
        return Ok(());
    }
    let progress =
        Progress { next: AtomicU64::new(0), count, stop: AtomicBool::new(false), halt: Mutex::new(None) };
    let host = Host { program, progress: &progress };
    // SAFETY: as for this function.
    unsafe { work(&host, true) };
    match progress.halt.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(halt) => Err(halt),
        None => Ok(()),
    }
}

/// Takes workgroups until none is left, with help from others if there are many and `helped` says so.
///
/// # Safety
/// See [`run`].
unsafe fn work(host: &Host<'_>, helped: bool) {
    let Some(mut worker) = Worker::new(host) else {
        return host.progress.halt(Halt::Host("memory of a workgroup".into()));
    };
    let time = helped.then(|| {
        let pace = host.program.pace.load(Ordering::Relaxed);
        let all = Duration::from_nanos(pace.saturating_mul(host.progress.count));
        if host.progress.count > 1 && all > 2 * ALONE { Duration::ZERO } else { ALONE }
    });
    // SAFETY: see above.
    let left = unsafe { worker.turns(time) };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get()) as u64;
    if left == 0 {
        return;
    }
    std::thread::scope(|scope| {
        for _ in 1..cores.min(left) {
            let helper = std::thread::Builder::new().name("vc4-compute".into());
            // SAFETY: see above. Whoever cannot be had does not help.
            let _ = helper.spawn_scoped(scope, || unsafe { work(host, false) });
        }
        // SAFETY: see above.
        unsafe { worker.turns(None) };
    });
}

/// What calls out of machine code get.
struct Host<'a> {
    program: &'a Program<'a>,
    progress: &'a Progress,
}

/// A thread's memory for workgroups.
struct Worker<'a> {
    host: &'a Host<'a>,
    runner: Runner<'a>,
    context: Box<Context>,
    /// What the pointers of the context lead to.
    _shared: Block,
    scratch: Block,
    frames: Block,
    _spare: Box<[Words; 2]>,
    waiting: Vec<u32>,
}

/// Zeroed memory on 16 bytes.
struct Block {
    words: Vec<u128>,
}

impl Block {
    fn new(bytes: u64) -> Option<Block> {
        let count = usize::try_from(bytes.div_ceil(16)).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        Some(Block { words })
    }

    fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }
}

impl<'a> Worker<'a> {
    fn new(host: &'a Host<'a>) -> Option<Worker<'a>> {
        let program = host.program;
        let (needs, workgroup) = (program.needs, program.workgroup);
        let batches = program.places.len() as u64;
        // Without barriers, batches come one after the other.
        let held = if needs.barriers { batches } else { 1 };
        let scratch_bytes = u64::from(workgroup.scratch_bytes).next_multiple_of(4) * WIDTH as u64;
        let mut shared = Block::new(workgroup.shared_bytes.into())?;
        let mut scratch = Block::new(scratch_bytes * held)?;
        let mut frames = Block::new(u64::from(needs.frame_bytes) * held)?;
        let mut spare = Box::new([[0; WIDTH]; 2]);
        let context = Box::new(Context {
            buffers: program.bounds.as_ptr(),
            texels: program.texels.as_ptr(),
            push: program.push.as_ptr(),
            places: program.places.as_ptr(),
            shared: shared.start(),
            scratch: scratch.start(),
            frames: frames.start(),
            zero: &raw const spare[0],
            sink: &raw mut spare[1],
            host: std::ptr::from_ref(host).cast(),
            tick,
            image,
            rare,
            functions: FUNCTIONS.as_ptr(),
            workgroup: [0; 3],
            count: program.dispatch.count,
        });
        let waiting = if needs.barriers { vec![0; program.places.len()] } else { Vec::new() };
        let runner = program.code.runner();
        Some(Worker { host, runner, context, _shared: shared, scratch, frames, _spare: spare, waiting })
    }

    /// Takes workgroups until none is left or `time` is over. Returns how many are left.
    ///
    /// # Safety
    /// See [`run`].
    unsafe fn turns(&mut self, time: Option<Duration>) -> u64 {
        let progress = self.host.progress;
        let begin = Instant::now();
        let (mut wanted, mut now) = (1, begin);
        if time == Some(Duration::ZERO) {
            return progress.count;
        }
        while let Some((first, count)) = progress.take(wanted) {
            for number in first..first + count {
                // SAFETY: see above.
                if !unsafe { self.group(number) } {
                    return 0;
                }
            }
            let before = now;
            now = Instant::now();
            let pace = (now - before).as_nanos() as u64 / count;
            self.host.program.pace.store(pace, Ordering::Relaxed);
            if self.host.program.dispatch.deadline.is_some_and(|deadline| now >= deadline) {
                progress.halt(Halt::Deadline);
                return 0;
            }
            if now - before < TURN {
                wanted = (wanted * 2).min(1 << 20);
            } else if wanted > 1 {
                wanted /= 2;
            }
            if time.is_some_and(|time| now - begin >= time) {
                return progress.count.saturating_sub(progress.next.load(Ordering::Relaxed));
            }
        }
        0
    }

    /// Runs workgroup `number`. Returns whether to go on.
    ///
    /// # Safety
    /// See [`run`].
    unsafe fn group(&mut self, number: u64) -> bool {
        let dispatch = self.host.program.dispatch;
        let [x, y, _] = dispatch.groups.map(u64::from);
        let place = [number % x, number / x % y, number / x / y];
        self.context.workgroup =
            std::array::from_fn(|axis| dispatch.base[axis].wrapping_add(place[axis] as u32));
        if self.host.program.needs.barriers {
            // SAFETY: see above.
            return unsafe { self.rounds() };
        }
        let batches = self.host.program.places.len() as u32;
        // SAFETY: see above.
        unsafe { self.call(0, batches) != STOPPED }
    }

    /// Calls the code. What breaks off stops the dispatch.
    ///
    /// # Safety
    /// See [`run`].
    unsafe fn call(&mut self, first: u32, second: u32) -> u32 {
        // SAFETY: see above.
        unsafe { self.runner.call(&raw const *self.context, first, second) }.unwrap_or_else(|| {
            self.host.progress.halt(Halt::Host("a kernel broke off".into()));
            STOPPED
        })
    }

    /// Runs batches from barrier to barrier until all have ended.
    ///
    /// # Safety
    /// See [`run`].
    unsafe fn rounds(&mut self) -> bool {
        const ENDED: u32 = STOPPED;
        let program = self.host.program;
        let scratch_bytes = program.workgroup.scratch_bytes.next_multiple_of(4) as usize * WIDTH;
        let frame_bytes = program.needs.frame_bytes as usize;
        self.waiting.fill(0);
        let mut round = 0u32;
        loop {
            let mut more = false;
            for batch in 0..self.waiting.len() {
                let resume = self.waiting[batch];
                if resume == ENDED {
                    continue;
                }
                self.context.scratch = self.scratch.start().wrapping_add(batch * scratch_bytes);
                self.context.frames = self.frames.start().wrapping_add(batch * frame_bytes);
                // SAFETY: see above.
                match unsafe { self.call(batch as u32, resume) } {
                    STOPPED => return false,
                    0 => self.waiting[batch] = ENDED,
                    barrier => {
                        self.waiting[batch] = barrier;
                        more = true;
                    }
                }
            }
            if !more {
                return true;
            }
            // A barrier orders what other workgroups see, too.
            fence(Ordering::SeqCst);
            // A loop around a barrier counts its iterations anew in every call.
            round = round.wrapping_add(1);
            if round % 64 == 0 && self.host.is_over() {
                return false;
            }
        }
    }
}

impl Host<'_> {
    /// Whether to stop, because another thread does or time is up.
    fn is_over(&self) -> bool {
        if self.program.dispatch.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.progress.halt(Halt::Deadline);
        }
        self.progress.stop.load(Ordering::Relaxed)
    }
}

/// # Safety
/// `host` is the context's, which outlives the call.
unsafe fn is_over(host: *const ()) -> u32 {
    // SAFETY: see above.
    let host = unsafe { &*host.cast::<Host<'_>>() };
    host.is_over().into()
}

#[cfg(target_arch = "x86_64")]
unsafe extern "win64" fn tick(host: *const ()) -> u32 {
    // SAFETY: machine code passes the context's host.
    unsafe { is_over(host) }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe extern "C" fn tick(host: *const ()) -> u32 {
    // SAFETY: machine code passes the context's host.
    unsafe { is_over(host) }
}

unsafe extern "C" fn image(
    host: *const (),
    index: u32,
    arguments: *const Words,
    active: u32,
    results: *mut Words,
) {
    // SAFETY: the context's host, which outlives the call.
    let host = unsafe { &*host.cast::<Host<'_>>() };
    let Some(&(count, made)) = host.program.needs.image_words.get(index as usize) else {
        return;
    };
    // SAFETY: machine code leaves as many arguments as the operation has, and room for as many results.
    let (arguments, results) = unsafe {
        (std::slice::from_raw_parts(arguments, count), std::slice::from_raw_parts_mut(results, made))
    };
    let access = || host.program.dispatch.images.access(index as usize, arguments, active as u8, results);
    // A panic must not unwind through machine code.
    if catch_unwind(AssertUnwindSafe(access)).is_err() {
        host.progress.halt(Halt::Host("an image operation failed".into()));
    }
}

unsafe extern "C" fn rare(
    host: *const (),
    index: u32,
    arguments: *const Words,
    _active: u32,
    results: *mut Words,
) {
    // SAFETY: the context's host, which outlives the call.
    let host = unsafe { &*host.cast::<Host<'_>>() };
    let Some(&(op, count)) = host.program.needs.rare.get(index as usize) else {
        return;
    };
    // SAFETY: machine code leaves as many arguments as the operation has, and room for results.
    let (arguments, result) = unsafe { (std::slice::from_raw_parts(arguments, count), &mut *results) };
    for element in 0..WIDTH {
        let mut words = [0; 4];
        for (word, argument) in words.iter_mut().zip(arguments) {
            *word = argument[element];
        }
        result[element] = eval(op, &words[..count.min(4)]).unwrap_or(0);
    }
}
