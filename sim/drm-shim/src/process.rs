//! This process as the simulated kernel's caller.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use vc4_sim::drm::host::Host;
use vc4_sim::drm::{Answer, Errno, Exported, Process};

use crate::fd::{borrow, hand_out};

/// This process, with the device that it has.
pub struct Caller<'a>(pub Option<&'a Host>);

/// Whether process_vm_readv and its like are missing (user-mode emulators) or forbidden.
static NO_CROSS_MEMORY: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy)]
enum Direction {
    FromCaller,
    ToCaller,
}

/// Copies through the kernel, which tells bad addresses instead of raising a signal.
fn copy(address: u64, ours: *mut u8, length: usize, direction: Direction) -> Answer {
    let theirs = usize::try_from(address).map_err(|_| Errno::EFAULT)? as *mut u8;
    if theirs.is_null() {
        return Err(Errno::EFAULT);
    }
    if NO_CROSS_MEMORY.load(Relaxed) {
        let (from, to) = match direction {
            Direction::FromCaller => (theirs.cast_const(), ours),
            Direction::ToCaller => (ours.cast_const(), theirs),
        };
        // SAFETY: `ours` has `length` bytes; without the kernel's help the caller's word counts for his address.
        unsafe { std::ptr::copy(from, to, length) };
        return Ok(());
    }
    let local = libc::iovec { iov_base: ours.cast(), iov_len: length };
    let remote = libc::iovec { iov_base: theirs.cast(), iov_len: length };
    // SAFETY: `local` is ours for `length` bytes; the kernel checks `remote`.
    let copied = unsafe {
        let pid = libc::getpid();
        match direction {
            Direction::FromCaller => libc::process_vm_readv(pid, &local, 1, &remote, 1, 0),
            Direction::ToCaller => libc::process_vm_writev(pid, &local, 1, &remote, 1, 0),
        }
    };
    match usize::try_from(copied) {
        Ok(copied) if copied == length => Ok(()),
        Ok(_) => Err(Errno::EFAULT),
        Err(_) => match Errno::last() {
            Errno::ENOSYS | Errno::EPERM => {
                NO_CROSS_MEMORY.store(true, Relaxed);
                copy(address, ours, length, direction)
            }
            _ => Err(Errno::EFAULT),
        },
    }
}

/// Copies from an address of this process.
///
/// # Errors
/// `EFAULT`.
pub fn copy_from(address: u64, out: &mut [u8]) -> Answer {
    if out.is_empty() {
        return Ok(());
    }
    copy(address, out.as_mut_ptr(), out.len(), Direction::FromCaller)
}

/// Copies to an address of this process.
///
/// # Errors
/// `EFAULT`.
pub fn copy_to(address: u64, data: &[u8]) -> Answer {
    if data.is_empty() {
        return Ok(());
    }
    copy(address, data.as_ptr().cast_mut(), data.len(), Direction::ToCaller)
}

impl Process for Caller<'_> {
    fn read(&self, address: u64, out: &mut [u8]) -> Answer {
        copy_from(address, out)
    }

    fn write(&self, address: u64, data: &[u8]) -> Answer {
        copy_to(address, data)
    }

    fn install(&self, object: Exported, close_on_exec: bool) -> Result<RawFd, Errno> {
        Ok(hand_out(self.0.ok_or(Errno::ENODEV)?.install(object)?, close_on_exec))
    }

    fn exported(&self, fd: RawFd) -> Result<Exported, Errno> {
        self.0.ok_or(Errno::ENODEV)?.exported(borrow(fd).ok_or(Errno::EBADF)?)
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn is_admin(&self) -> bool {
        // SAFETY: a plain call.
        unsafe { libc::geteuid() == 0 }
    }

    fn monotonic_ns(&self) -> u64 {
        vc4_sim::drm::monotonic_ns()
    }
}
