//! GEM objects: BOs as files hold them (kernel-abi.md §4.3–§4.10, §12), what mappings show of them, and dma-bufs.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use crate::device::Finished;
use vc4_kernel_abi::uapi::MODIFIER_LINEAR;

use super::fence::{Fence, Fences};
use super::node::Answer;
use crate::kernel::Bo;
use crate::kernel::backing::BoFile;
use crate::lock::lock;

/// A buffer object, whoever holds it.
pub struct Object {
    size: u32,
    address: u32,
    shader: bool,
    mmap_offset: u64,
    state: Mutex<State>,
}

impl State {
    /// How its content lies, as SET_TILING said.
    pub fn modifier(&self) -> u64 {
        self.modifier
    }
}

pub(super) struct State {
    /// `None` once it is purged.
    pub(super) bo: Option<Arc<Bo>>,
    /// Not marked as purgeable.
    pub(super) needed: bool,
    /// Shared with others: never purged (kernel-abi.md §13.4).
    pub(super) exported: bool,
    /// Another device's: its purging is not this one's business.
    pub(super) imported: bool,
    pub(super) modifier: u64,
    /// The last job that refers to it.
    pub last_job: Seqno,
    /// What users of the dma-buf wait for (kernel-abi.md §11).
    pub(super) fences: Fences,
    /// Its global name, 0 without one.
    pub(super) name: u32,
}

impl Object {
    pub(super) fn new(bo: Arc<Bo>, mmap_offset: u64) -> Object {
        Object {
            size: bo.pages.bytes(),
            address: bo.pages.address(),
            shader: bo.shader.is_some(),
            mmap_offset,
            state: Mutex::new(State {
                bo: Some(bo),
                needed: true,
                exported: false,
                imported: false,
                modifier: MODIFIER_LINEAR,
                last_job: Seqno(0),
                fences: Fences::none(),
                name: 0,
            }),
        }
    }

    /// Bytes, whole pages.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Bus address.
    pub fn address(&self) -> u32 {
        self.address
    }

    /// Whether it holds a shader.
    pub(super) fn is_shader(&self) -> bool {
        self.shader
    }

    /// Offset of the device file that maps it.
    pub(super) fn mmap_offset(&self) -> u64 {
        self.mmap_offset
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Its memory for a mapping.
    ///
    /// # Errors
    /// `EINVAL` when it is purgeable or purged, or a shader that is to be written.
    pub fn window(&self, offset: u64, length: u64, write: bool) -> Result<Window, Errno> {
        let fits = offset.checked_add(length).is_some_and(|end| end <= u64::from(self.size));
        let state = self.state();
        match &state.bo {
            Some(bo) if fits && state.needed && !(write && self.shader) => Ok(Window { bo: bo.clone() }),
            _ => Err(Errno::EINVAL),
        }
    }

    /// SUB-7: its memory for a job. `finished` are the jobs that are done.
    pub(super) fn for_job(&self, finished: &Finished, strict: bool) -> Result<Arc<Bo>, Errno> {
        let state = self.state();
        // Quirk: who still uses it keeps it alive for others too.
        let in_use = !strict && (state.exported || !finished.has(state.last_job));
        match &state.bo {
            Some(bo) if state.needed || in_use => Ok(bo.clone()),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Marks it as shared with others.
    pub(super) fn export(&self) -> Answer {
        let mut state = self.state();
        let bo = state.bo.as_ref().filter(|_| !self.shader && state.needed).ok_or(Errno::EINVAL)?;
        if let (Some(file), false) = (bo.file(), state.exported) {
            file.seal()?;
        }
        state.exported = true;
        Ok(())
    }

    /// Its memory, unless it was purged.
    pub(super) fn bo(&self) -> Option<Arc<Bo>> {
        self.state().bo.clone()
    }

    /// Drops the memory if it may be dropped; whether it was.
    pub(super) fn purge(&self, finished: &Finished) -> bool {
        let mut state = self.state();
        let purgeable = !state.needed && !state.exported && finished.has(state.last_job);
        let Some(bo) = state.bo.take_if(|_| purgeable) else { return false };
        if let Some(file) = bo.file() {
            file.purge();
        }
        true
    }
}

/// What a mapping of the device file shows.
#[derive(Clone)]
pub struct Window {
    bo: Arc<Bo>,
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

/// A shared BO as a file.
#[derive(Clone)]
pub struct DmaBuf(Arc<Object>);

impl DmaBuf {
    pub(super) fn new(object: Arc<Object>) -> DmaBuf {
        DmaBuf(object)
    }

    pub(super) fn object(self) -> Arc<Object> {
        self.0
    }

    pub(super) fn fences(&self) -> Fences {
        self.0.state().fences
    }

    /// Has users of the buffer wait for `fence`, too.
    pub(super) fn add_fence(&self, fence: Fence, write: bool) {
        self.0.state().fences.add(fence, write);
    }

    /// Bytes.
    pub fn size(&self) -> u32 {
        self.0.size()
    }

    /// A descriptor of it, closed on exec.
    ///
    /// # Errors
    /// `EMFILE`; `EINVAL` on a device whose BOs are no files.
    pub fn duplicate(&self) -> Result<OwnedFd, Errno> {
        let bo = self.0.bo().ok_or(Errno::EINVAL)?;
        bo.file().ok_or(Errno::EINVAL)?.duplicate()
    }

    /// What mmap of this file shows.
    ///
    /// # Errors
    /// `EINVAL` when that is more than there is.
    pub fn window(&self, offset: u64, length: u64) -> Result<Window, Errno> {
        self.0.window(offset, length, true)
    }
}
