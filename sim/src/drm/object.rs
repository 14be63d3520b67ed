//! GEM objects: BOs as files hold them (kernel-abi.md §4.3–§4.10, §12).

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};

use vc4_kernel_abi::uapi::{
    CreateBo, CreateShaderBo, GemMadvise, GetTiling, MODIFIER_LINEAR, MODIFIER_T_TILED, MmapBo, SetTiling,
};
use vc4_kernel_abi::{GpuError, Seqno};

use super::uapi::{GemClose, GemFlink, GemOpen};
use super::{Answer, Device, DmaBuf, Errno, File, Process, Window, lock, read_bytes};
use crate::kernel::Bo;
use crate::kernel::backing::{Backing, BoFile, Inode};

/// Where mmap offsets of objects begin: the core puts them behind the 32-bit file range.
const FIRST_MMAP_OFFSET: u64 = 1 << 32;
/// `madv` values of GEM_MADVISE.
const WILL_NEED: u32 = 0;
const DO_NOT_NEED: u32 = 1;

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
    bo: Option<Arc<Bo>>,
    /// Not marked as purgeable.
    needed: bool,
    /// Shared with others: never purged (kernel-abi.md §13.4).
    exported: bool,
    /// Another device's: its purging is not this one's business.
    imported: bool,
    modifier: u64,
    /// The last job that refers to it.
    pub last_job: Seqno,
    /// Its name in the kernel's debug output.
    pub label: Vec<u8>,
    /// Its global name, 0 without one.
    name: u32,
}

impl Object {
    fn new(bo: Arc<Bo>, mmap_offset: u64) -> Object {
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
                label: Vec::new(),
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

    /// SUB-7: its memory for a job. `finished` is the last job that is done.
    pub(super) fn for_job(&self, finished: Seqno, strict: bool) -> Result<Arc<Bo>, Errno> {
        let state = self.state();
        // Quirk: who still uses it keeps it alive for others too.
        let in_use = !strict && (state.exported || state.last_job > finished);
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
    fn purge(&self, finished: Seqno) -> bool {
        let mut state = self.state();
        let purgeable = !state.needed && !state.exported && state.last_job <= finished;
        let Some(bo) = state.bo.take_if(|_| purgeable) else { return false };
        if let Some(file) = bo.file() {
            file.purge();
        }
        true
    }
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

    /// The BO behind a dma-buf of `size` bytes: that of this device, or one on the file of another device's, of
    /// which `copy` gives a descriptor.
    pub(super) fn import(
        &self,
        inode: Inode,
        size: u32,
        copy: impl FnOnce() -> Result<OwnedFd, Errno>,
    ) -> Result<DmaBuf, Errno> {
        let is_it = |object: &Arc<Object>| {
            object.bo().is_some_and(|bo| bo.file().is_some_and(|file| file.inode() == inode))
        };
        let known =
            lock(&self.objects).values().filter_map(|object| object.upgrade()).find(|object| is_it(object));
        if let Some(object) = known {
            return Ok(DmaBuf::new(object));
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
        objects.iter().filter(|object| object.purge(finished)).count() > 0
    }
}

impl File {
    /// The object with this handle.
    pub(super) fn object(&self, handle: u32) -> Option<Arc<Object>> {
        lock(&self.bos).get(handle)
    }

    pub(super) fn hold(&self, object: Arc<Object>) -> Result<u32, Errno> {
        let mut bos = lock(&self.bos);
        match bos.find(|held| Arc::ptr_eq(held, &object)) {
            Some(handle) => Ok(handle),
            None => bos.insert(object),
        }
    }

    /// What mmap of this file shows from `offset` on.
    ///
    /// # Errors
    /// `EINVAL` when the offset is no object's or the object is too small, purgeable, or a shader to be written;
    /// `EACCES` when this file does not hold the object.
    pub fn window(&self, offset: u64, length: u64, write: bool) -> Result<Window, Errno> {
        let found = lock(&self.device.objects).get(&offset).and_then(|object| object.upgrade());
        let object = found.ok_or(Errno::EINVAL)?;
        if lock(&self.bos).find(|held| Arc::ptr_eq(held, &object)).is_none() {
            return Err(Errno::EACCES);
        }
        object.window(0, length, write)
    }

    pub(super) fn create_bo(&self, arg: &mut CreateBo, _: &dyn Process) -> Answer {
        arg.handle = lock(&self.bos).insert(self.device.make(|| self.device.simulator.new_bo(arg.size))?)?;
        Ok(())
    }

    pub(super) fn create_shader_bo(&self, arg: &mut CreateShaderBo, process: &dyn Process) -> Answer {
        if arg.size == 0 || arg.size % 8 != 0 || arg.flags != 0 || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        // The kernel would find the memory first; bytes that are not there need none.
        let bytes = read_bytes(process, arg.data, arg.size)?;
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("chunks of eight bytes")))
            .collect();
        let object = self.device.make(|| self.device.simulator.new_shader_bo(&words))?;
        arg.handle = lock(&self.bos).insert(object)?;
        Ok(())
    }

    pub(super) fn mmap_bo(&self, arg: &mut MmapBo, _: &dyn Process) -> Answer {
        arg.offset = self.object(arg.handle).ok_or(Errno::EINVAL)?.mmap_offset();
        Ok(())
    }

    pub(super) fn gem_close(&self, arg: &mut GemClose, _: &dyn Process) -> Answer {
        let closed = lock(&self.bos).remove(arg.handle);
        closed.map(drop).ok_or(Errno::EINVAL)
    }

    pub(super) fn gem_flink(&self, arg: &mut GemFlink, _: &dyn Process) -> Answer {
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        let mut names = lock(&self.device.names);
        let mut state = object.state();
        if state.name == 0 {
            names.retain(|_, object| object.strong_count() > 0);
            state.name = names.last_key_value().map_or(1, |(last, _)| last + 1);
            names.insert(state.name, Arc::downgrade(&object));
        }
        arg.name = state.name;
        Ok(())
    }

    pub(super) fn gem_open(&self, arg: &mut GemOpen, _: &dyn Process) -> Answer {
        let named = lock(&self.device.names).get(&arg.name).and_then(|object| object.upgrade());
        let object = named.ok_or(Errno::ENOENT)?;
        arg.size = object.size.into();
        arg.handle = self.hold(object)?;
        Ok(())
    }

    pub(super) fn set_tiling(&self, arg: &mut SetTiling, _: &dyn Process) -> Answer {
        if arg.flags != 0 || ![MODIFIER_LINEAR, MODIFIER_T_TILED].contains(&arg.modifier) {
            return Err(Errno::EINVAL);
        }
        self.object(arg.handle).ok_or(Errno::ENOENT)?.state().modifier = arg.modifier;
        Ok(())
    }

    pub(super) fn get_tiling(&self, arg: &mut GetTiling, _: &dyn Process) -> Answer {
        if arg.flags != 0 || arg.modifier != 0 {
            return Err(Errno::EINVAL);
        }
        arg.modifier = self.object(arg.handle).ok_or(Errno::ENOENT)?.state().modifier;
        Ok(())
    }

    pub(super) fn gem_madvise(&self, arg: &mut GemMadvise, _: &dyn Process) -> Answer {
        if ![WILL_NEED, DO_NOT_NEED].contains(&arg.madv) || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        let mut state = object.state();
        if state.imported {
            return Err(Errno::EINVAL);
        }
        arg.retained = state.bo.is_some().into();
        if state.bo.is_some() {
            state.needed = arg.madv == WILL_NEED;
        }
        Ok(())
    }
}
