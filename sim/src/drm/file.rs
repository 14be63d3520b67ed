//! Open files of the device: what their handles name.

use std::sync::{Arc, Mutex, OnceLock};

use nix::errno::Errno;

use super::device::Device;
use super::fence::Syncobj;
use super::handles::Handles;
use super::kms::{Events, Seat};
use super::node::Node;
use super::object::{Object, Window};
use super::process::Opener;
use crate::lock::lock;
use crate::stats::Perfmon;

/// An open file of the device.
pub struct File {
    pub(super) device: Arc<Device>,
    pub(super) node: Node,
    pub(super) bos: Mutex<Handles<Arc<Object>>>,
    pub(super) syncobjs: Mutex<Handles<Arc<Syncobj>>>,
    pub(super) perfmons: Mutex<Handles<Arc<Perfmon>>>,
    pub(super) seat: Seat,
    /// The number of the process that opened it.
    pub(super) opener: u32,
    /// Where events of the display go.
    pub(super) events: OnceLock<Arc<Events>>,
}

impl Device {
    /// Opens a node, for this process.
    pub fn open(self: &Arc<Device>, node: Node) -> File {
        self.open_for(node, Opener::own())
    }

    /// Opens a node.
    pub fn open_for(self: &Arc<Device>, node: Node, opener: Opener) -> File {
        File {
            seat: self.display.seat(node == Node::Primary, opener.is_admin),
            opener: opener.pid,
            device: self.clone(),
            node,
            bos: Mutex::default(),
            syncobjs: Mutex::default(),
            perfmons: Mutex::default(),
            events: OnceLock::new(),
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.device.display.leave(&self.seat);
    }
}

impl File {
    /// Which node it is.
    pub fn node(&self) -> Node {
        self.node
    }

    /// Where events of the display go from now on.
    pub(super) fn set_events(&self, events: Arc<Events>) {
        // Set once, when the file gets its descriptor.
        let _ = self.events.set(events);
    }

    /// The object with this handle.
    pub(super) fn object(&self, handle: u32) -> Option<Arc<Object>> {
        lock(&self.bos).get(handle)
    }

    /// A handle for an imported object: the one that the file has already, if it has one (kernel-abi.md §13.4). All
    /// other ways to an object give a handle of their own.
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

    /// The syncobj with this handle.
    pub(super) fn syncobj(&self, handle: u32) -> Option<Arc<Syncobj>> {
        lock(&self.syncobjs).get(handle)
    }
}
