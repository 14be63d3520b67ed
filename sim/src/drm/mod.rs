//! The device as the kernel shows it to a process: open files that take ioctls, by number and bytes, with the
//! kernel's results and errno (kernel-abi.md §2–§5, §13). What a process is (memory, descriptors) stays behind
//! [`Process`], so that the caller may be this process or another one.
//!
//! There is no display: mode setting answers `EOPNOTSUPP`, as a device does whose display part did not come up.

mod dumb;
mod handles;
mod hang;
mod job;
mod label;
mod object;
mod perfmon;
mod prime;
mod request;
mod sync_file;
mod syncobj;
mod uapi;
mod version;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use nix::errno::Errno;

use crate::device::{Config, Notice, Simulator};
use crate::kernel;
use handles::Handles;
pub use object::Object;
use perfmon::Perfmon;
pub use sync_file::{DmaBuf, SyncFile};
pub use syncobj::{Fence, Syncobj};

/// Major number of all DRM nodes.
pub const DRM_MAJOR: u32 = 226;
/// Device-tree name of the GPU. UNVERIFIED: what does OF_FULLNAME of a Raspberry Pi's vc4 device say?
pub const OF_FULLNAME: &str = "/soc/gpu";
/// Device-tree compatible of the DRM device (kernel-abi.md §1).
pub const OF_COMPATIBLE: &str = "brcm,bcm2835-vc4";

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
}

/// The device.
pub struct Device {
    simulator: Simulator,
    strict: bool,
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
}

/// What a mapping of the device file shows; the memory stays while this lives.
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
}

/// A lock whose data are consistent between statements, so that a panic elsewhere does not spoil them.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// The device around a machine built with `config`.
    pub fn new(simulator: Simulator, config: Config) -> Arc<Device> {
        Arc::new(Device {
            simulator,
            strict: config.mode == crate::Mode::Strict,
            objects: Mutex::default(),
            names: Mutex::default(),
            hang: Arc::default(),
            last_magic: AtomicU32::new(0),
        })
    }

    /// Opens a node.
    pub fn open(self: &Arc<Device>, node: Node) -> File {
        File {
            device: self.clone(),
            node,
            bos: Mutex::default(),
            syncobjs: Mutex::default(),
            perfmons: Mutex::default(),
        }
    }

    /// Runs `notice` once the fence has signalled, at once if it has.
    pub fn when_signalled(&self, fence: Fence, notice: Notice) {
        match fence {
            Fence::Signalled => notice(),
            Fence::Job(seqno) => self.simulator.when_finished(seqno, notice),
        }
    }

    /// Waits until all queued jobs are done.
    pub fn idle(&self) {
        let last = self.simulator.last_queued();
        self.simulator.wait_until(None, |finished| finished >= last);
    }
}

impl File {
    /// Which node it is.
    pub fn node(&self) -> Node {
        self.node
    }
}
