//! The process that makes a call, and what its descriptors stand for.

use std::sync::Arc;

use nix::errno::Errno;

use super::fence::Syncobj;
use super::node::Answer;
use super::object::DmaBuf;
use super::sync_file::SyncFile;

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

/// What an open file remembers of the process that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener {
    /// Its number.
    pub pid: u32,
    /// Whether it could do what needs CAP_SYS_ADMIN.
    pub is_admin: bool,
}

impl Opener {
    /// This process.
    pub fn own() -> Opener {
        Opener { pid: std::process::id(), is_admin: nix::unistd::geteuid().is_root() }
    }
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

    /// Its number.
    fn pid(&self) -> u32;

    /// Whether it may do what needs CAP_SYS_ADMIN.
    fn is_admin(&self) -> bool;

    /// CLOCK_MONOTONIC in nanoseconds.
    fn monotonic_ns(&self) -> u64;

    /// Whether nobody is there any more to hear an answer, so that a wait is in vain.
    fn is_gone(&self) -> bool {
        false
    }
}

/// `length` bytes at `address` of a process. Memory is taken as it turns out to be there.
pub(super) fn read_bytes(process: &dyn Process, address: u64, length: u32) -> Result<Vec<u8>, Errno> {
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
