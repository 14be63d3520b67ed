//! What a fork does to us.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, MutexGuard};

use libc::{c_int, c_void};

use crate::backend::{ACTIVE, BACKEND, Backend, READING};
use crate::client::Client;
use crate::inside::{Inside, lock};
use crate::{descriptors, family, registered, streams};

/// In the order in which they are taken elsewhere: who changes the registered buffers asks the device.
type Guards = (
    (registered::Guard, MutexGuard<'static, ()>),
    MutexGuard<'static, Option<Backend>>,
    descriptors::Guard,
    streams::Guard,
    Option<family::Door>,
);

thread_local! {
    static FORKING: RefCell<Option<Guards>> = const { RefCell::new(None) };
}

/// Takes part in every fork from now on.
pub fn register() {
    type Handler = extern "C" fn();
    unsafe extern "C" {
        /// What pthread_atfork calls, which itself lies in the static part of the C library: Debian's is for ARMv7.
        fn __register_atfork(before: Handler, parent: Handler, child: Handler, library: *mut c_void)
        -> c_int;
    }
    // SAFETY: the handlers are functions without arguments that stay as long as the process, so no library goes with them.
    unsafe {
        __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, std::ptr::null_mut());
    }
}

/// Holds our locks across the fork, so that the child finds them whole, and opens a door for it to a device here.
extern "C" fn before_fork() {
    let inside = Inside::enter();
    let host = match &*lock(&BACKEND) {
        Some(Backend::Local(host)) => Some(host.clone()),
        _ => None,
    };
    let door = host.as_ref().and_then(family::door);
    let waiting = (registered::guard(), lock(&READING));
    let guards = (waiting, lock(&BACKEND), descriptors::guard(), streams::guard(), door);
    let _ = FORKING.try_with(|forking| *forking.borrow_mut() = Some(guards));
    drop(inside);
}

extern "C" fn after_fork_in_parent() {
    let _inside = Inside::enter();
    let Ok(Some((registered, backend, internal, streams, door))) =
        FORKING.try_with(|forking| forking.borrow_mut().take())
    else {
        return;
    };
    let host = match &*backend {
        Some(Backend::Local(host)) => Some(host.clone()),
        _ => None,
    };
    drop((registered, backend, internal, streams));
    if let (Some(host), Some(door)) = (host, door) {
        family::serve(door, host);
    }
}

/// The child has none of the simulator's threads, and their locks may be held for ever: everything that leads there
/// is forgotten, not dropped. Descriptors that it inherited go on standing for the same open files, as they do with a
/// real device, by way of the process that has it.
extern "C" fn after_fork_in_child() {
    let _inside = Inside::enter();
    let Ok(Some((mut registered, mut backend, mut internal, streams, door))) =
        FORKING.try_with(|forking| forking.borrow_mut().take())
    else {
        return;
    };
    internal.close_all();
    // Not before the set is let go, which a kept descriptor's end asks.
    let stand_ins = registered.0.take();
    let successor = match backend.take() {
        Some(Backend::Local(host)) => {
            std::mem::forget(host);
            door.as_ref().map(|door| Client::of_family(door.address(), door.secret()))
        }
        Some(Backend::Remote(client)) => {
            let successor = client.for_child();
            std::mem::forget(client);
            Some(successor)
        }
        None => None,
    };
    // Its descriptor was closed with the others.
    std::mem::forget(door);
    ACTIVE.store(successor.is_some(), Relaxed);
    *backend = successor.map(|client| Backend::Remote(Arc::new(client)));
    drop((registered, backend, internal, streams));
    drop(stand_ins);
}
