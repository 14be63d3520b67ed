//! VkSurfaceKHR: where pictures can go.
//!
//! The driver creates its surfaces itself (version 3 of the loader's interface). The loader would make
//! them for drivers that do not, one structure per platform behind the same handle type; own objects
//! need no telling apart, also serve programs that go without a loader, and the tests.

use std::ffi::{c_ulong, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use ash::vk;

use super::canvas::Canvas;
use super::foreign::{self, Foreign};
use super::pool::Pool;
use super::wayland::{self, Manner};
use super::x11::{Connection, Target};
use crate::foundation::error::Error;
use crate::foundation::format;
use crate::foundation::handle::Object;
use crate::foundation::limits::MAX_IMAGE_PX;

/// Fewest images: one being shown, one being drawn.
pub(super) const MIN_IMAGES: u32 = 2;
/// Most images. More would only queue pictures up.
pub(super) const MAX_IMAGES: u32 = 8;

/// What swapchain images may be used for.
pub(super) const USAGE: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::COLOR_ATTACHMENT.as_raw()
        | vk::ImageUsageFlags::TRANSFER_SRC.as_raw()
        | vk::ImageUsageFlags::TRANSFER_DST.as_raw()
        | vk::ImageUsageFlags::SAMPLED.as_raw()
        | vk::ImageUsageFlags::INPUT_ATTACHMENT.as_raw(),
);

/// How alpha may be treated by windows of X11, whose visual decides, and by none.
const ALPHA: vk::CompositeAlphaFlagsKHR = vk::CompositeAlphaFlagsKHR::from_raw(
    vk::CompositeAlphaFlagsKHR::OPAQUE.as_raw() | vk::CompositeAlphaFlagsKHR::INHERIT.as_raw(),
);

/// How alpha may be treated by surfaces of Wayland.
const WAYLAND_ALPHA: vk::CompositeAlphaFlagsKHR = vk::CompositeAlphaFlagsKHR::from_raw(
    vk::CompositeAlphaFlagsKHR::OPAQUE.as_raw() | vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED.as_raw(),
);

/// Formats of surfaces, best first, each with whether red and blue change places on their way into a
/// window. Those that the format table does not render are not offered.
const FORMATS: [(vk::Format, bool); 4] = [
    (vk::Format::B8G8R8A8_UNORM, false),
    (vk::Format::B8G8R8A8_SRGB, false),
    (vk::Format::R8G8B8A8_UNORM, true),
    (vk::Format::R8G8B8A8_SRGB, true),
];

/// The present modes of X11 and of none.
const MODES: &[vk::PresentModeKHR] = &[vk::PresentModeKHR::FIFO, vk::PresentModeKHR::IMMEDIATE];

/// The present modes of Wayland; the last where the compositor lets pictures tear.
const WAYLAND_MODES: &[vk::PresentModeKHR] =
    &[vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE];

/// Whether pixels of a format go into a window with red and blue exchanged; `None` for formats that no
/// surface offers.
pub(super) fn exchanges(format: vk::Format) -> Option<bool> {
    let renders = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
    let row = FORMATS.iter().find(|(offered, _)| *offered == format)?;
    format::properties(format).optimal_tiling_features.contains(renders).then_some(row.1)
}

enum Window {
    Xcb(Foreign, u32),
    Xlib(Foreign, u32),
    /// A display and its surface.
    Wayland(Foreign, Foreign),
    Headless,
}

/// A surface.
pub struct Surface {
    window: Window,
    /// Made at first use: several drivers get a surface each, most of which are never used, and one that
    /// cannot present must not keep the others from being asked.
    connection: OnceLock<Result<Arc<Connection>, String>>,
    /// As above.
    display: OnceLock<Result<Arc<wayland::Connection>, String>>,
    /// The swapchain that presents here.
    occupant: Mutex<Weak<Pool>>,
}

impl Object for Surface {
    type Handle = vk::SurfaceKHR;
}

fn wrap(pointer: *mut c_void, what: &str) -> Result<Foreign, Error> {
    Foreign::new(pointer).ok_or_else(|| Error::InvalidUse(format!("a surface on a null {what}")))
}

impl Surface {
    fn new(window: Window) -> Surface {
        let (connection, display) = (OnceLock::new(), OnceLock::new());
        Surface { window, connection, display, occupant: Mutex::default() }
    }

    /// A window on an XCB connection.
    ///
    /// # Safety
    /// `connection` is null or an `xcb_connection_t` that outlives the surface and its swapchains.
    pub unsafe fn xcb(connection: *mut c_void, window: u32) -> Result<Surface, Error> {
        Ok(Surface::new(Window::Xcb(wrap(connection, "connection")?, window)))
    }

    /// A window on an Xlib display.
    ///
    /// # Safety
    /// `display` is null or a `Display` that outlives the surface and its swapchains.
    pub unsafe fn xlib(display: *mut c_void, window: c_ulong) -> Result<Surface, Error> {
        // Xlib spends a long on the protocol's 32 bits.
        Ok(Surface::new(Window::Xlib(wrap(display, "display")?, window as u32)))
    }

    /// A surface of a Wayland display.
    ///
    /// # Safety
    /// `display` is null or a `wl_display` and `surface` null or one of its `wl_surface`s; both outlive the surface and its
    /// swapchains.
    pub unsafe fn wayland(display: *mut c_void, surface: *mut c_void) -> Result<Surface, Error> {
        Ok(Surface::new(Window::Wayland(wrap(display, "display")?, wrap(surface, "wl_surface")?)))
    }

    /// No window at all.
    pub fn headless() -> Surface {
        Surface::new(Window::Headless)
    }

    /// The window and its connection; `None` if there is no window.
    fn x11(&self) -> Result<Option<(&Arc<Connection>, u32)>, Error> {
        let (window, foreign, xlib) = match self.window {
            Window::Headless | Window::Wayland(..) => return Ok(None),
            Window::Xcb(foreign, window) => (window, foreign, false),
            Window::Xlib(foreign, window) => (window, foreign, true),
        };
        // SAFETY: the pointers outlive the surface by the contracts of its constructors.
        let connect = || unsafe { if xlib { connect_xlib(foreign) } else { Connection::borrow(foreign) } };
        let connection = self.connection.get_or_init(|| {
            let connection = connect().map(Arc::new);
            connection.inspect_err(|error| log::error!(target: "vc4::wsi", "no presentation to X11: {error}"))
        });
        let lost = |error: &String| Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, error.clone());
        connection.as_ref().map(|connection| Some((connection, window))).map_err(lost)
    }

    /// The surface and its display; `None` if it is none of Wayland's.
    fn wayland_surface(&self) -> Result<Option<(&Arc<wayland::Connection>, Foreign)>, Error> {
        let Window::Wayland(display, surface) = self.window else { return Ok(None) };
        let connection = self.display.get_or_init(|| {
            // SAFETY: the display outlives the surface by the contract of its constructor.
            let connection = unsafe { wayland::Connection::borrow(display) }.map(Arc::new);
            connection
                .inspect_err(|error| log::error!(target: "vc4::wsi", "no presentation to Wayland: {error}"))
        });
        let lost = |error: &String| Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, error.clone());
        connection.as_ref().map(|connection| Some((connection, surface))).map_err(lost)
    }

    /// vkGetPhysicalDeviceSurfaceSupportKHR.
    pub fn is_supported(&self) -> Result<bool, Error> {
        if let Window::Wayland(..) = self.window {
            return Ok(self.wayland_surface().is_ok());
        }
        match self.x11()? {
            None => Ok(true),
            Some((connection, window)) => Ok(connection.window(window)?.depth.is_some()),
        }
    }

    /// vkGetPhysicalDeviceSurfaceCapabilitiesKHR.
    pub fn capabilities(&self) -> Result<vk::SurfaceCapabilitiesKHR, Error> {
        let any = |px| vk::Extent2D { width: px, height: px };
        // A window decides; without one the swapchain does, which all ones say.
        let (current, min, max) = match self.x11()? {
            None => (any(u32::MAX), any(1), any(MAX_IMAGE_PX)),
            Some((connection, window)) => {
                let extent = connection.window(window)?.extent;
                (extent, extent, extent)
            }
        };
        Ok(vk::SurfaceCapabilitiesKHR {
            min_image_count: MIN_IMAGES,
            max_image_count: MAX_IMAGES,
            current_extent: current,
            min_image_extent: min,
            max_image_extent: max,
            max_image_array_layers: 1,
            supported_transforms: vk::SurfaceTransformFlagsKHR::IDENTITY,
            current_transform: vk::SurfaceTransformFlagsKHR::IDENTITY,
            supported_composite_alpha: self.alpha(),
            supported_usage_flags: USAGE,
        })
    }

    /// vkGetPhysicalDeviceSurfaceFormatsKHR.
    pub fn formats(&self) -> Vec<vk::SurfaceFormatKHR> {
        let offered = FORMATS.iter().filter(|(format, _)| exchanges(*format).is_some());
        let color_space = vk::ColorSpaceKHR::SRGB_NONLINEAR;
        offered.map(|&(format, _)| vk::SurfaceFormatKHR { format, color_space }).collect()
    }

    /// vkGetPhysicalDeviceSurfacePresentModesKHR.
    pub fn present_modes(&self) -> &'static [vk::PresentModeKHR] {
        match self.wayland_surface() {
            Ok(Some((connection, _))) if connection.tears() => WAYLAND_MODES,
            _ if matches!(self.window, Window::Wayland(..)) => &WAYLAND_MODES[..2],
            _ => MODES,
        }
    }

    /// How alpha may be treated.
    pub(super) fn alpha(&self) -> vk::CompositeAlphaFlagsKHR {
        match self.window {
            Window::Wayland(..) => WAYLAND_ALPHA,
            _ => ALPHA,
        }
    }

    /// What a swapchain shows its pictures on, and the size that they should have.
    pub(super) fn canvas(
        &self,
        info: &vk::SwapchainCreateInfoKHR<'_>,
    ) -> Result<(Canvas, vk::Extent2D), Error> {
        let extent = info.image_extent;
        if let Some((connection, surface)) = self.wayland_surface()? {
            let alpha = info.composite_alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
            let manner = Manner { alpha, mode: info.present_mode };
            // SAFETY: the surface outlives its swapchains by the contract of the constructor.
            let target = unsafe { wayland::Target::new(connection, surface, extent, manner)? };
            return Ok((Canvas::Wayland(Box::new(target)), extent));
        }
        match self.x11()? {
            None => Ok((Canvas::headless(extent), extent)),
            Some((connection, window)) => {
                let (target, wanted) = Target::new(connection, window, extent, true)?;
                Ok((Canvas::X11(target), wanted))
            }
        }
    }

    /// Makes `swapchain` the one that presents here.
    pub(super) fn occupy(&self, swapchain: &Arc<Pool>) -> Result<(), Error> {
        let mut occupant = self.occupant.lock().unwrap_or_else(PoisonError::into_inner);
        if occupant.upgrade().is_some_and(|current| !current.is_retired()) {
            let why = "the surface has a swapchain; pass it as oldSwapchain".into();
            return Err(Error::Result(vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR, why));
        }
        *occupant = Arc::downgrade(swapchain);
        Ok(())
    }
}

/// # Safety
/// `display` is a live Xlib `Display` that outlives the result.
unsafe fn connect_xlib(display: Foreign) -> Result<Connection, String> {
    // SAFETY: by the contract; the connection lives as long as its display.
    unsafe { Connection::borrow(foreign::xcb_of_xlib(display)?) }
}

/// vkGetPhysicalDeviceXcbPresentationSupportKHR.
///
/// # Safety
/// `connection` is null or a live `xcb_connection_t`.
pub unsafe fn xcb_presents(connection: *mut c_void, visual: u32) -> bool {
    let Some(connection) = Foreign::new(connection) else { return false };
    // SAFETY: by the contract.
    presents(unsafe { Connection::borrow(connection) }, visual)
}

/// vkGetPhysicalDeviceXlibPresentationSupportKHR.
///
/// # Safety
/// `display` is null or a live Xlib `Display`.
pub unsafe fn xlib_presents(display: *mut c_void, visual: u32) -> bool {
    let Some(display) = Foreign::new(display) else { return false };
    // SAFETY: by the contract.
    presents(unsafe { connect_xlib(display) }, visual)
}

/// vkGetPhysicalDeviceWaylandPresentationSupportKHR.
///
/// # Safety
/// `display` is null or a live `wl_display`.
pub unsafe fn wayland_presents(display: *mut c_void) -> bool {
    let Some(display) = Foreign::new(display) else { return false };
    // SAFETY: by the contract.
    let connection = unsafe { wayland::Connection::borrow(display) };
    connection
        .inspect_err(|error| log::error!(target: "vc4::wsi", "no presentation to Wayland: {error}"))
        .is_ok()
}

fn presents(connection: Result<Connection, String>, visual: u32) -> bool {
    match connection {
        Ok(connection) => connection.depth_of(visual).is_some(),
        Err(error) => {
            log::error!(target: "vc4::wsi", "no presentation to X11: {error}");
            false
        }
    }
}
