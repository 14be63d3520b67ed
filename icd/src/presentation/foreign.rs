//! What the application hands over from libraries that the driver does not link.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;

/// A pointer of the application: an `xcb_connection_t`, an Xlib `Display`, a `wl_display` or a `wl_surface`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Foreign(NonNull<c_void>);

// SAFETY: only libxcb and libwayland dereference the pointer, and their functions may be called from any thread.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Wraps a pointer; `None` for null.
    pub fn new(pointer: *mut c_void) -> Option<Foreign> {
        NonNull::new(pointer).map(Foreign)
    }

    /// The pointer.
    pub fn as_ptr(self) -> *mut c_void {
        self.0.as_ptr()
    }
}

/// The address of a function in a library that is loaded on demand and never unloaded.
pub(super) fn symbol(library: &CStr, name: &CStr) -> Result<NonNull<c_void>, String> {
    // SAFETY: both strings are terminated; loading an X library runs nothing but its own set-up.
    let address = unsafe {
        let handle = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() { std::ptr::null_mut() } else { libc::dlsym(handle, name.as_ptr()) }
    };
    let missing = || format!("{library:?} with {name:?} cannot be loaded; install the library");
    NonNull::new(address).ok_or_else(missing)
}

/// The XCB connection under an Xlib display.
///
/// # Safety
/// `display` is a live Xlib `Display`.
pub(super) unsafe fn xcb_of_xlib(display: Foreign) -> Result<Foreign, String> {
    let function = symbol(c"libX11-xcb.so.1", c"XGetXCBConnection")?;
    // SAFETY: this is the signature of XGetXCBConnection, the display is live by the contract.
    let connection = unsafe {
        let function: unsafe extern "C" fn(*mut c_void) -> *mut c_void = std::mem::transmute(function);
        function(display.as_ptr())
    };
    Foreign::new(connection).ok_or_else(|| "the Xlib display has no XCB connection".into())
}

/// Whether a connection failed, which makes everything else on it meaningless.
///
/// # Safety
/// `connection` came from libxcb and was not disconnected.
pub(super) unsafe fn xcb_has_error(connection: Foreign) -> Result<bool, String> {
    let function = symbol(c"libxcb.so.1", c"xcb_connection_has_error")?;
    // SAFETY: this is the signature of xcb_connection_has_error, the connection is live by the contract.
    let error = unsafe {
        let function: unsafe extern "C" fn(*mut c_void) -> c_int = std::mem::transmute(function);
        function(connection.as_ptr())
    };
    Ok(error != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named() {
        let error = symbol(c"libno-such-thing.so.1", c"nothing").unwrap_err();
        assert!(error.contains("libno-such-thing.so.1"), "{error}");
    }

    #[test]
    fn null_is_no_connection() {
        assert!(Foreign::new(std::ptr::null_mut()).is_none());
    }
}
