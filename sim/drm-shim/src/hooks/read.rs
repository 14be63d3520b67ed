//! Reading events from a node, as the kernel's drm_read does: as many whole ones as there are and fit, and none of which
//! only a part would. Each is a message of the socket that stands for the node.

use libc::{c_int, c_void, size_t, ssize_t};
use vc4_sim::drm::Errno;

use super::hooks;
use crate::backend::READING;
use crate::inside::{Inside, lock};
use crate::process::copy_to;
use crate::real::{self, fail};
use crate::state::{self, Thing};

hooks! {
    fn read(fd: c_int, out: *mut c_void, size: size_t) -> ssize_t = read_hook;
    fn __read_chk(fd: c_int, out: *mut c_void, size: size_t, _room: size_t) -> ssize_t = read_checked;
}

fn is_node(fd: c_int) -> bool {
    if !state::may_have_ours() {
        return false;
    }
    let thing = Inside::enter().and_then(|_inside| state::find(fd));
    matches!(thing, Some(Thing::Node(..)))
}

/// More bytes than an event has.
const MOST: usize = 256;

/// Waits for an event unless the descriptor is not to wait; as recv, the length of the next one.
fn wait_for_event(fd: c_int) -> ssize_t {
    let mut byte = 0u8;
    // SAFETY: room for a byte.
    unsafe { libc::recv(fd, (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_TRUNC) }
}

/// Takes the next event to `out`, where there is room for so much; its length, `None` when there is none or it does
/// not fit.
fn take_event(fd: c_int, out: u64, room: size_t) -> Result<Option<size_t>, Errno> {
    let _inside = Inside::enter();
    let _taking = lock(&READING);
    let mut event = [0u8; MOST];
    let flags = libc::MSG_PEEK | libc::MSG_TRUNC | libc::MSG_DONTWAIT;
    // SAFETY: room for so many bytes.
    let length = unsafe { libc::recv(fd, event.as_mut_ptr().cast(), MOST, flags) };
    let fits = size_t::try_from(length).ok().filter(|&length| length > 0 && length <= room.min(MOST));
    let Some(length) = fits else { return Ok(None) };
    // What cannot be given stays.
    copy_to(out, &event[..length])?;
    // SAFETY: as above.
    unsafe { libc::recv(fd, event.as_mut_ptr().cast(), MOST, libc::MSG_DONTWAIT) };
    Ok(Some(length))
}

fn read_events(fd: c_int, out: *mut c_void, size: size_t) -> ssize_t {
    // What can be no memory is told before waiting (the kernel's access_ok).
    if (out as usize).checked_add(size).is_none() {
        return fail(libc::EFAULT) as ssize_t;
    }
    let mut done = 0;
    while done == 0 {
        // Only who has nothing yet waits. A socket without another end has no events any more.
        let next = wait_for_event(fd);
        if next <= 0 || next as size_t > size {
            return next.min(0);
        }
        // If another thread has taken it meanwhile, there may be nothing.
        loop {
            match take_event(fd, (out as usize + done) as u64, size - done) {
                Ok(Some(length)) => done += length,
                Ok(None) => break,
                Err(errno) if done == 0 => return fail(errno as c_int) as ssize_t,
                Err(_) => break,
            }
        }
    }
    done as ssize_t
}

unsafe fn read_hook(fd: c_int, out: *mut c_void, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { if is_node(fd) { read_events(fd, out, size) } else { real::read(fd, out, size) } }
}

/// The C library ends programs that read more than there is room for.
unsafe fn read_checked(fd: c_int, out: *mut c_void, size: size_t, room: size_t) -> ssize_t {
    if size > room {
        std::process::abort();
    }
    // SAFETY: the caller's.
    unsafe { read_hook(fd, out, size) }
}
