//! The functions that the process calls instead of the C library's. Names and signatures are the C library's;
//! where it has a 64-bit variant of a function, both are the same on machines with 64 bits.

mod descriptor;
mod dir;
mod epoll;
mod open;
mod path;
mod poll;
mod read;
mod status;
mod thread;

use std::ffi::{CStr, c_char};

/// Exports hooks under the C names. Not in unit tests, whose process they would take over.
macro_rules! hooks {
    ($(fn $($name:ident),+ ($($arg:ident: $ty:ty),*) -> $ret:ty = $body:path;)*) => {
        $(hooks!(@each [$($name),+] ($($arg: $ty),*) -> $ret = $body);)*
    };
    (@each [$first:ident $(, $rest:ident)*] $args:tt -> $ret:ty = $body:path) => {
        hooks!(@one $first $args -> $ret = $body);
        $(hooks!(@one $rest $args -> $ret = $body);)*
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) -> $ret:ty = $body:path) => {
        #[doc = concat!("Stands in front of the C library's `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// That of the C function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
            // SAFETY: the caller keeps the contract of the C function, which is that of the body.
            unsafe { $body($($arg),*) }
        }
    };
}
use hooks;

/// The bytes of a path, unless it is null.
///
/// # Safety
/// A string or null.
unsafe fn bytes<'a>(path: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's.
    (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }.to_bytes())
}
