//! The device as the kernel shows it to a process: open files that take ioctls, by number and bytes, with the
//! kernel's results and errno (kernel-abi.md §2–§5, §13). What a process is (memory, descriptors) stays behind
//! [`Process`], so that the caller may be this process or another one.
//!
//! The display is a virtual one ([`kms`]).

mod dumb;
mod handles;
mod hang;
pub mod host;
mod job;
pub mod kms;
mod label;
mod object;
mod perfmon;
mod prime;
mod request;
#[cfg(feature = "screen")]
pub mod screen;
pub mod serve;
mod sync_file;
mod syncobj;
mod uapi;
mod version;
pub mod wire;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

pub use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use crate::config::Config;
use crate::device::{Notice, Simulator};
use crate::kernel;
pub use crate::kernel::backing;
use crate::stats::Perfmon;
use backing::{Backing, BoFile};
use handles::Handles;
pub use object::Object;
pub use sync_file::{DmaBuf, SyncFile};
pub use syncobj::{Fence, Syncobj};

/// Major number of all DRM nodes.
pub const DRM_MAJOR: u32 = 226;
/// Device-tree name of the GPU. UNVERIFIED: what does OF_FULLNAME of a Raspberry Pi's vc4 device say?
pub const OF_FULLNAME: &str = "/soc/gpu";
/// Device-tree compatible of the DRM device (kernel-abi.md §1).
pub const OF_COMPATIBLE: &str = "brcm,bcm2835-vc4";

/// How long to wait before looking whether the waiting process is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What a handler answers.
pub type Answer = Result<(), Errno>;

/// The two nodes of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// `card0`.
    Primary,
    /// `renderD128`.
    Render,
}

/// Something that a file descriptor can stand for.
#[derive(Clone)]
pub enum Exported {
    /// A dma-buf.
    DmaBuf(DmaBuf),
    /// A syncobj.
    Syncobj(Arc<Syncobj>),
    /// A sync_file.
    SyncFile(SyncFile),
}

/// The process that makes a call.
pub trait Process {
    /// Copies from the process's memory.
    ///
    /// # Errors
    /// `EFAULT` when not all of it can be read.
    fn read(&self, address: u64, out: &mut [u8]) -> Answer;

    /// Copies to the process's memory.
    ///
    /// # Errors
    /// `EFAULT` when not all of it can be written.
    fn write(&self, address: u64, data: &[u8]) -> Answer;

    /// A new file descriptor for `object`.
    ///
    /// # Errors
    /// `EMFILE` or what else keeps the process from having one.
    fn install(&self, object: Exported, close_on_exec: bool) -> Result<i32, Errno>;

    /// What a file descriptor stands for.
    ///
    /// # Errors
    /// `EBADF` when it is not open, `EINVAL` when it is something else.
    fn exported(&self, fd: i32) -> Result<Exported, Errno>;

    /// Whether it may do what needs CAP_SYS_ADMIN.
    fn is_admin(&self) -> bool;

    /// CLOCK_MONOTONIC in nanoseconds.
    fn monotonic_ns(&self) -> u64;

    /// Whether nobody is there any more to hear an answer, so that a wait is in vain.
    fn is_gone(&self) -> bool {
        false
    }
}

/// The device.
pub struct Device {
    simulator: Simulator,
    /// Makes files of BOs, if it is there.
    backing: Option<Arc<Backing>>,
    strict: bool,
    display: Arc<kms::Display>,
    /// Bytes of mmap offsets given out.
    mmap_bytes: AtomicU64,
    /// All objects by their mmap offset.
    objects: Mutex<BTreeMap<u64, Weak<Object>>>,
    /// Objects with a global name (GEM_FLINK).
    names: Mutex<BTreeMap<u32, Weak<Object>>>,
    /// Shared with running jobs, which must not keep the device.
    hang: Arc<Mutex<Option<hang::Hang>>>,
    last_magic: AtomicU32,
}

/// An open file of the device.
pub struct File {
    device: Arc<Device>,
    node: Node,
    bos: Mutex<Handles<Arc<Object>>>,
    syncobjs: Mutex<Handles<Arc<Syncobj>>>,
    perfmons: Mutex<Handles<Arc<Perfmon>>>,
    seat: kms::Seat,
    /// Where events of the display go.
    events: OnceLock<Arc<Events>>,
}

/// Hands bytes to the reader of a file; whether there was room.
type Events = dyn Fn(&[u8]) -> bool + Send + Sync;

/// What a mapping of the device file shows.
#[derive(Clone)]
pub struct Window {
    bo: Arc<kernel::Bo>,
}

impl Window {
    /// Bus address of the first byte: its offset in the words that the simulator was made on.
    pub fn address(&self) -> u32 {
        self.bo.pages.address()
    }

    /// Bytes, whole pages.
    pub fn size(&self) -> u32 {
        self.bo.pages.bytes()
    }

    /// Fills it with a word.
    pub fn fill(&self, word: u32) {
        let words = vec![word; self.size() as usize / 4];
        let written = self.bo.pages.memory().write_words(self.address(), &words);
        written.expect("the BO's pages lie in memory");
    }

    /// The BO's file, whose start is the window; `None` on a device that makes none.
    pub fn file(&self) -> Option<&BoFile> {
        self.bo.file()
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> u64 {
    // This clock is always there.
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    #[allow(clippy::unnecessary_cast, reason = "on 32-bit systems the numbers are shorter")]
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// `length` bytes at `address` of a process. Memory is taken as it turns out to be there.
fn read_bytes(process: &dyn Process, address: u64, length: u32) -> Result<Vec<u8>, Errno> {
    const PART: usize = 1 << 20;
    let mut bytes = Vec::new();
    while bytes.len() < length as usize {
        let start = bytes.len();
        let part = PART.min(length as usize - start);
        bytes.try_reserve(part).map_err(|_| Errno::ENOMEM)?;
        bytes.resize(start + part, 0);
        process.read(address.checked_add(start as u64).ok_or(Errno::EFAULT)?, &mut bytes[start..])?;
    }
    Ok(bytes)
}

/// A lock whose data are consistent between statements, so that a panic elsewhere does not spoil them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// The device around a machine built with `config`. Its BOs are not files: they cannot be shown to others.
    pub fn new(simulator: Simulator, config: Config) -> Arc<Device> {
        Device::build(simulator, None, config, kms::Display::new(None))
    }

    /// A device whose BOs are files, with this display.
    ///
    /// # Errors
    /// `ENOMEM` when the range is too small.
    pub fn on_files(
        backing: &Arc<Backing>,
        config: Config,
        display: Arc<kms::Display>,
    ) -> Result<Arc<Device>, Errno> {
        let simulator = Simulator::on_words(config, backing.words(), Some(backing.discard()));
        Ok(Device::build(simulator.ok_or(Errno::ENOMEM)?, Some(backing.clone()), config, display))
    }

    fn build(
        simulator: Simulator,
        backing: Option<Arc<Backing>>,
        config: Config,
        display: Arc<kms::Display>,
    ) -> Arc<Device> {
        Arc::new(Device {
            simulator,
            backing,
            strict: config.mode == crate::Mode::Strict,
            display,
            mmap_bytes: AtomicU64::new(0),
            objects: Mutex::default(),
            names: Mutex::default(),
            hang: Arc::default(),
            last_magic: AtomicU32::new(0),
        })
    }

    /// The display.
    pub fn display(&self) -> &Arc<kms::Display> {
        &self.display
    }

    /// Opens a node.
    pub fn open(self: &Arc<Device>, node: Node) -> File {
        File {
            seat: self.display.seat(node == Node::Primary),
            device: self.clone(),
            node,
            bos: Mutex::default(),
            syncobjs: Mutex::default(),
            perfmons: Mutex::default(),
            events: OnceLock::new(),
        }
    }

    /// Runs `notice` once the fence has signalled, at once if it has.
    pub fn when_signalled(&self, fence: Fence, notice: Notice) {
        match fence {
            Fence::Signalled => notice(),
            Fence::Job(seqno) => self.simulator.when_finished(seqno, notice),
        }
    }

    /// Waits until `ready`, as [`Simulator::wait_until`], but not for a process that is gone.
    fn wait(
        &self,
        process: &dyn Process,
        timeout: Option<Duration>,
        mut ready: impl FnMut(Seqno) -> bool,
    ) -> Answer {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let part = left.map_or(LOOK_AGAIN, |left| left.min(LOOK_AGAIN));
            if self.simulator.wait_until(Some(part), &mut ready) {
                return Ok(());
            }
            if left.is_some_and(|left| left <= part) {
                return Err(Errno::ETIME);
            }
            if process.is_gone() {
                return Err(Errno::EINTR);
            }
        }
    }

    /// Waits until all queued jobs are done.
    pub fn idle(&self) {
        let last = self.simulator.last_queued();
        self.simulator.wait_until(None, |finished| finished >= last);
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.leave_display();
    }
}

impl File {
    /// Which node it is.
    pub fn node(&self) -> Node {
        self.node
    }

    fn set_events(&self, events: Arc<Events>) {
        // Set once, when the file gets its descriptor.
        let _ = self.events.set(events);
    }
}
