//! Threads that start, which may be made to fail.

use libc::{c_int, c_void, pthread_attr_t, pthread_t};

use super::hooks;
use crate::faults::{self, Call};
use crate::inside::Inside;
use crate::real;

hooks! {
    fn pthread_create(
        thread: *mut pthread_t, attributes: *const pthread_attr_t, start: *mut c_void, argument: *mut c_void
    ) -> c_int = create_hook;
}

unsafe fn create_hook(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    start: *mut c_void,
    argument: *mut c_void,
) -> c_int {
    // The simulator's own threads start inside.
    let fault = Inside::enter().and_then(|_inside| faults::of(Call::Thread));
    match fault {
        Some(errno) => errno as c_int,
        // SAFETY: the caller's.
        None => unsafe { real::pthread_create(thread, attributes, start, argument) },
    }
}
