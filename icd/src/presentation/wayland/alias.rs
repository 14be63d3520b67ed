//! The application's surface under a name of the driver's own.
//!
//! Toolkits destroy surfaces while swapchains still present to them (Qt 6.4 when its windows close). What is asked of the application's
//! own object then reads memory that is gone. libwayland has copies of objects for libraries like this one: the compositor refuses what
//! is asked of one whose object is gone, and the connection ends, but nothing else happens.

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr::NonNull;

use wayland_backend::client::ObjectId;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection as Display, Proxy};

use crate::foundation::error::Error;
use crate::presentation::foreign::{Foreign, symbol};

/// A copy of a surface that lives as long as this.
pub(super) struct Alias {
    /// As requests want it.
    pub surface: WlSurface,
    copy: NonNull<c_void>,
    destroy: unsafe extern "C" fn(*mut c_void),
}

// SAFETY: only libwayland dereferences the copy, and its functions may be called from any thread.
unsafe impl Send for Alias {}

impl Alias {
    /// Of a surface of that display.
    ///
    /// # Safety
    /// `surface` is a live `wl_surface` of the display.
    pub unsafe fn new(display: &Display, surface: Foreign) -> Result<Alias, Error> {
        let function = |name| symbol(c"libwayland-client.so.0", name).map_err(Error::InvalidUse);
        let (create, destroy) =
            (function(c"wl_proxy_create_wrapper")?, function(c"wl_proxy_wrapper_destroy")?);
        // SAFETY: these are the signatures of the functions, and the surface is live by the contract.
        let (copy, destroy) = unsafe {
            let create: unsafe extern "C" fn(*mut c_void) -> *mut c_void = transmute(create.as_ptr());
            let destroy: unsafe extern "C" fn(*mut c_void) = transmute(destroy.as_ptr());
            (create(surface.as_ptr()), destroy)
        };
        let copy = NonNull::new(copy).ok_or(Error::OutOfHostMemory)?;
        // SAFETY: a proxy like any other, of the same interface.
        let id = unsafe { ObjectId::from_ptr(WlSurface::interface(), copy.as_ptr().cast()) };
        let found = id.and_then(|id| WlSurface::from_id(display, id)).map_err(|error| {
            // SAFETY: made above, and nobody has it.
            unsafe { destroy(copy.as_ptr()) };
            Error::InvalidUse(format!("a surface that is no wl_surface: {error}"))
        });
        Ok(Alias { surface: found?, copy, destroy })
    }
}

impl Drop for Alias {
    fn drop(&mut self) {
        // SAFETY: made by its counterpart; `surface` is a name of it that asks for nothing when it is dropped.
        unsafe { (self.destroy)(self.copy.as_ptr()) };
    }
}
