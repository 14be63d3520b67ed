//! The device, whoever has it open: the simulator, its BOs as objects, the display.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

use nix::errno::Errno;
use vc4_kernel_abi::GpuError;
use vc4_kernel_abi::validate::Mode;

use super::fence::{Fence, Syncobj};
use super::kms::Display;
use super::object::{DmaBuf, Object};
use crate::config::Config;
use crate::device::{Notice, Simulator};
use crate::kernel::backing::{Backing, BoFile, Inode};
use crate::kernel::{Bo, ListRange};
use crate::lock::lock;

/// Where mmap offsets of objects begin: the core puts them behind the 32-bit file range.
const FIRST_MMAP_OFFSET: u64 = 1 << 32;

/// The device.
pub struct Device {
    pub(super) simulator: Simulator,
    /// Makes files of BOs, if it is there.
    pub(super) backing: Option<Arc<Backing>>,
    pub(super) strict: bool,
    pub(super) display: Arc<Display>,
    /// Bytes of mmap offsets given out.
    pub(super) mmap_bytes: AtomicU64,
    /// All objects by their mmap offset.
    pub(super) objects: Mutex<BTreeMap<u64, Weak<Object>>>,
    /// Objects with a global name (GEM_FLINK).
    pub(super) names: Mutex<BTreeMap<u32, Weak<Object>>>,
    /// Shared with running jobs, which must not keep the device.
    pub(super) hang: Arc<Mutex<Option<Hang>>>,
}

/// What is kept of a job that hung. The simulator stops at a packet or program, not at a register: of the
/// registers, only those that follow from the lists are filled.
pub struct Hang {
    /// Its BOs.
    pub objects: Vec<Arc<Object>>,
    /// Its binning list.
    pub bin: Option<ListRange>,
    /// Its rendering list.
    pub render: ListRange,
}

/// The errno of what the simulator's kernel half answers.
pub(super) fn errno(error: &GpuError) -> Errno {
    match error {
        GpuError::OutOfMemory(_) => Errno::ENOMEM,
        GpuError::NoDevice(_) => Errno::ENODEV,
        GpuError::Refused(why) => {
            log::info!(target: "vc4::kernel", "{why}");
            Errno::EINVAL
        }
        GpuError::Hang(_) | GpuError::Os { .. } => {
            log::error!(target: "vc4::kernel", "{error}");
            Errno::ENOMEM
        }
    }
}

impl Device {
    /// The device around a machine built with `config`. Its BOs are not files: they cannot be shown to others.
    pub fn new(simulator: Simulator, config: Config) -> Arc<Device> {
        Device::build(simulator, None, config, Display::new(None))
    }

    /// A device whose BOs are files, with this display.
    ///
    /// # Errors
    /// `ENOMEM` when the range is too small.
    pub fn on_files(
        backing: &Arc<Backing>,
        config: Config,
        display: Arc<Display>,
    ) -> Result<Arc<Device>, Errno> {
        let simulator = Simulator::on_words(config, backing.words(), Some(backing.discard()));
        Ok(Device::build(simulator.ok_or(Errno::ENOMEM)?, Some(backing.clone()), config, display))
    }

    fn build(
        simulator: Simulator,
        backing: Option<Arc<Backing>>,
        config: Config,
        display: Arc<Display>,
    ) -> Arc<Device> {
        Arc::new(Device {
            simulator,
            backing,
            strict: config.mode == Mode::Strict,
            display,
            mmap_bytes: AtomicU64::new(0),
            objects: Mutex::default(),
            names: Mutex::default(),
            hang: Arc::default(),
        })
    }

    /// The display.
    pub fn display(&self) -> &Arc<Display> {
        &self.display
    }

    /// Runs `notice` once the fence has signalled, at once if it has.
    pub fn when_signalled(&self, fence: Fence, notice: Notice) {
        match fence {
            Fence::Signalled => notice(),
            Fence::Job(seqno) => self.simulator.when_finished(seqno, notice),
        }
    }

    /// Puts a fence into a syncobj and lets those look who wait for one.
    pub(super) fn set_fence(&self, syncobj: &Syncobj, fence: Option<Fence>) {
        syncobj.set(fence);
        self.simulator.wake();
    }

    /// Waits until all queued jobs are done.
    pub fn idle(&self) {
        let last = self.simulator.last_queued();
        self.simulator.wait_until(None, |finished| finished.has(last));
    }
}

impl Device {
    /// Makes a BO, after purging what may be purged if need be.
    pub(super) fn make(&self, new: impl Fn() -> Result<Arc<Bo>, GpuError>) -> Result<Arc<Object>, Errno> {
        let bo = match new() {
            Err(GpuError::OutOfMemory(_)) if self.purge() => new(),
            other => other,
        };
        self.add(bo.map_err(|error| errno(&error))?, Backing::create)
    }

    /// The object of a BO, whose file `file` makes.
    fn add(
        &self,
        bo: Arc<Bo>,
        file: impl FnOnce(&Arc<Backing>, u32, u32) -> Result<BoFile, Errno>,
    ) -> Result<Arc<Object>, Errno> {
        if let Some(backing) = &self.backing {
            let file = file(backing, bo.pages.address(), bo.pages.bytes())?;
            // The BO is new: nothing is attached to it.
            let _ = bo.file.set(file);
        }
        // Never used twice: a purged object keeps its own.
        let offset = self.mmap_bytes.fetch_add(bo.pages.bytes().into(), Relaxed);
        let object = Arc::new(Object::new(bo, FIRST_MMAP_OFFSET + offset));
        let mut objects = lock(&self.objects);
        objects.retain(|_, object| object.strong_count() > 0);
        objects.insert(object.mmap_offset(), Arc::downgrade(&object));
        Ok(object)
    }

    /// The BO of this device behind a dma-buf.
    pub(super) fn dma_buf(&self, inode: Inode) -> Option<DmaBuf> {
        let is_it = |object: &Arc<Object>| {
            object.bo().is_some_and(|bo| bo.file().is_some_and(|file| file.inode() == inode))
        };
        let known =
            lock(&self.objects).values().filter_map(|object| object.upgrade()).find(|object| is_it(object));
        known.map(DmaBuf::new)
    }

    /// The BO behind a dma-buf of `size` bytes: that of this device, or one on the file of another device's, of
    /// which `copy` gives a descriptor.
    pub(super) fn import(
        &self,
        inode: Inode,
        size: u32,
        copy: impl FnOnce() -> Result<OwnedFd, Errno>,
    ) -> Result<DmaBuf, Errno> {
        if let Some(known) = self.dma_buf(inode) {
            return Ok(known);
        }
        let bo = self.simulator.new_bo(size).map_err(|error| errno(&error))?;
        let object = self.add(bo, |backing, address, bytes| backing.adopt(copy()?, address, bytes))?;
        let mut state = object.state();
        (state.exported, state.imported) = (true, true);
        drop(state);
        Ok(DmaBuf::new(object))
    }

    fn purge(&self) -> bool {
        let objects: Vec<_> = lock(&self.objects).values().filter_map(|object| object.upgrade()).collect();
        let finished = self.simulator.finished();
        // All of them: no `any`, which would stop at the first.
        objects.iter().filter(|object| object.purge(&finished)).count() > 0
    }
}
