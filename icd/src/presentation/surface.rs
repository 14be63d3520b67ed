//! VkSurfaceKHR: where pictures can go.
//!
//! The driver creates its surfaces itself (version 3 of the loader's interface). The loader would make
//! them for drivers that do not, one structure per platform behind the same handle type; own objects
//! need no telling apart, also serve programs that go without a loader, and the tests.

use std::ffi::{c_ulong, c_void};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use ash::vk;
use drm::buffer::DrmFourcc;

use super::backend::{Backend, Native};
use super::choice::Choice;
use super::display::{Place, Planned, Session};
use super::foreign::{self, Foreign};
use super::headless;
use super::pool::Pool;
use super::wayland::{self, Manner};
use super::x11::{self, Connection, Target};
use crate::foundation::error::Error;
use crate::foundation::format;
use crate::foundation::handle::Object;
use crate::foundation::limits::MAX_ROW_PX;
use crate::objects::device::Device;
use crate::objects::display::{DisplayMode, Plane};

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

/// A format of surfaces.
pub(super) struct SurfaceFormat {
    /// As the API calls it.
    pub format: vk::Format,
    /// Whether red and blue change places on their way into a window; `None` where pixels are not copied.
    pub exchange: Option<bool>,
    /// As DRM calls it without alpha …
    pub opaque: DrmFourcc,
    /// … and with it.
    pub blended: DrmFourcc,
}

/// Declares the table of formats.
macro_rules! formats {
    ($($format:ident $exchange:expr, $opaque:ident $blended:ident;)*) => {
        &[$(SurfaceFormat {
            format: vk::Format::$format,
            exchange: $exchange,
            opaque: DrmFourcc::$opaque,
            blended: DrmFourcc::$blended,
        },)*]
    };
}

/// Formats of surfaces, best first. Those that the format table does not render are not offered.
const FORMATS: &[SurfaceFormat] = formats! {
    B8G8R8A8_UNORM Some(false), Xrgb8888 Argb8888;
    B8G8R8A8_SRGB Some(false), Xrgb8888 Argb8888;
    R8G8B8A8_UNORM Some(true), Xbgr8888 Abgr8888;
    R8G8B8A8_SRGB Some(true), Xbgr8888 Abgr8888;
    // Half the memory that a screen reads all the time.
    R5G6B5_UNORM_PACK16 None, Rgb565 Rgb565;
};

/// The present modes of none.
const MODES: &[vk::PresentModeKHR] = &[vk::PresentModeKHR::FIFO, vk::PresentModeKHR::IMMEDIATE];

/// The present modes of X11.
const X11_MODES: &[vk::PresentModeKHR] = WAYLAND_MODES;

/// The present modes of Wayland; the last where the compositor lets pictures tear.
const WAYLAND_MODES: &[vk::PresentModeKHR] =
    &[vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX, vk::PresentModeKHR::IMMEDIATE];

/// The present modes of displays; the last where these let pictures tear.
const DISPLAY_MODES: &[vk::PresentModeKHR] = WAYLAND_MODES;

/// Whether the format table renders it.
fn is_rendered(format: vk::Format) -> bool {
    let renders = vk::FormatFeatureFlags::COLOR_ATTACHMENT;
    format::properties(format).optimal_tiling_features.contains(renders)
}

enum Window {
    Xcb(Foreign, u32),
    Xlib(Foreign, u32),
    /// A display and its surface.
    Wayland(Foreign, Foreign),
    Headless,
    Display(Screen),
}

/// A plane of a display.
struct Screen {
    mode: Arc<DisplayMode>,
    plane: Plane,
    /// Of the pictures, which fill the screen.
    extent: vk::Extent2D,
    /// The display is the driver's from the first swapchain on until this is gone.
    session: Mutex<Option<Arc<Session>>>,
}

impl Screen {
    fn session(&self) -> Result<Arc<Session>, Error> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*session {
            return Ok(session.clone());
        }
        let begun = Session::begin(&self.mode.kms, self.mode.connector, self.plane.crtc)?;
        Ok(session.insert(begun).clone())
    }

    fn planned(&self, format: DrmFourcc, mode: vk::PresentModeKHR) -> Result<Planned, Error> {
        if !self.mode.kms.is_connected(self.mode.connector) {
            let why = "nothing is plugged in where the display was";
            log::warn!(target: "vc4::wsi", "{why}");
            return Err(Error::Result(vk::Result::ERROR_SURFACE_LOST_KHR, why.into()));
        }
        let formats = self.plane.formats.iter();
        let modifiers = formats.filter(|(code, _)| *code == format as u32).map(|(_, modifier)| *modifier);
        let (connector, plane) = (self.mode.connector, self.plane.handle);
        Ok(Planned {
            session: self.session()?,
            place: Place { connector, plane, mode: self.mode.mode },
            modifiers: modifiers.collect(),
            mode,
        })
    }
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
    /// How its pictures' values may be meant.
    spaces: &'static [vk::ColorSpaceKHR],
}

/// Nothing on the way of a picture looks at its values, so that they may be meant in any way that the screen knows of.
const SPACES: &[vk::ColorSpaceKHR] =
    &[vk::ColorSpaceKHR::SRGB_NONLINEAR, vk::ColorSpaceKHR::PASS_THROUGH_EXT];

impl Object for Surface {
    type Handle = vk::SurfaceKHR;
}

fn wrap(pointer: *mut c_void, what: &str) -> Result<Foreign, Error> {
    Foreign::new(pointer).ok_or_else(|| Error::InvalidUse(format!("a surface on a null {what}")))
}

impl Surface {
    fn new(window: Window) -> Surface {
        let (connection, display) = (OnceLock::new(), OnceLock::new());
        Surface { window, connection, display, occupant: Mutex::default(), spaces: &SPACES[..1] }
    }

    /// The same for an application that knows of colour spaces beyond sRGB, if it does.
    pub fn of_spaces(self, knows_more: bool) -> Surface {
        Surface { spaces: if knows_more { SPACES } else { &SPACES[..1] }, ..self }
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

    /// A plane of a display in a mode, with pictures of `extent`.
    pub fn display(mode: &Arc<DisplayMode>, plane: u32, extent: vk::Extent2D) -> Result<Surface, Error> {
        let plane = mode.kms.plane(plane)?.clone();
        let most = mode.kms.max_extent;
        if !(1..=most.width).contains(&extent.width) || !(1..=most.height).contains(&extent.height) {
            return Err(Error::InvalidUse(format!(
                "pictures of {} x {} pixels",
                extent.width, extent.height
            )));
        }
        let (mode, session) = (mode.clone(), Mutex::default());
        Ok(Surface::new(Window::Display(Screen { mode, plane, extent, session })))
    }

    /// No window at all.
    pub fn headless() -> Surface {
        Surface::new(Window::Headless)
    }

    /// The window and its connection; `None` if there is no window.
    fn x11(&self) -> Result<Option<(&Arc<Connection>, u32)>, Error> {
        let (window, foreign, xlib) = match self.window {
            Window::Headless | Window::Wayland(..) | Window::Display(_) => return Ok(None),
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
        match &self.window {
            Window::Wayland(..) => return Ok(self.wayland_surface().is_ok()),
            Window::Display(screen) => {
                return Ok(screen.mode.kms.reaches(screen.mode.connector, screen.plane.crtc));
            }
            _ => {}
        }
        match self.x11()? {
            None => Ok(true),
            Some((connection, window)) => Ok(connection.window(window)?.depth.is_some()),
        }
    }

    /// vkGetPhysicalDeviceSurfaceCapabilitiesKHR.
    pub fn capabilities(&self) -> Result<vk::SurfaceCapabilitiesKHR, Error> {
        let any = |px| vk::Extent2D { width: px, height: px };
        // A window or screen decides; without one the swapchain does, which all ones say.
        let decided = match (&self.window, self.x11()?) {
            (Window::Display(screen), _) => Some(screen.extent),
            (_, Some((connection, window))) => Some(connection.window(window)?.extent),
            (_, None) => None,
        };
        let (current, min, max) = match decided {
            Some(extent) => (extent, extent, extent),
            None => (any(u32::MAX), any(1), any(MAX_ROW_PX)),
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

    /// The row of a format that the surface offers.
    pub(super) fn format(&self, format: vk::Format) -> Option<&'static SurfaceFormat> {
        let row = FORMATS.iter().find(|row| row.format == format)?;
        let shown = match &self.window {
            Window::Display(screen) => {
                screen.plane.formats.iter().any(|(code, _)| *code == row.opaque as u32)
            }
            _ => row.exchange.is_some(),
        };
        (shown && is_rendered(format)).then_some(row)
    }

    /// vkGetPhysicalDeviceSurfaceFormatsKHR.
    pub fn formats(&self) -> Vec<vk::SurfaceFormatKHR> {
        let offered = FORMATS.iter().map(|row| row.format).filter(|format| self.format(*format).is_some());
        let all = self.spaces.iter().flat_map(|&color_space| {
            offered.clone().map(move |format| vk::SurfaceFormatKHR { format, color_space })
        });
        all.collect()
    }

    /// How a picture's values may be meant.
    pub(super) fn color_spaces(&self) -> &'static [vk::ColorSpaceKHR] {
        self.spaces
    }

    /// vkGetPhysicalDeviceSurfacePresentModesKHR.
    pub fn present_modes(&self) -> &'static [vk::PresentModeKHR] {
        match self.wayland_surface() {
            Ok(Some((connection, _))) if connection.tears() => WAYLAND_MODES,
            _ if matches!(&self.window, Window::Display(screen) if screen.mode.kms.tears) => DISPLAY_MODES,
            _ if matches!(self.window, Window::Display(_)) => &DISPLAY_MODES[..2],
            _ if matches!(self.window, Window::Wayland(..)) => &WAYLAND_MODES[..2],
            _ if matches!(self.window, Window::Xcb(..) | Window::Xlib(..)) => X11_MODES,
            _ => MODES,
        }
    }

    /// How alpha may be treated.
    pub(super) fn alpha(&self) -> vk::CompositeAlphaFlagsKHR {
        match self.window {
            Window::Wayland(..) => WAYLAND_ALPHA,
            // There is nothing behind the lowest plane.
            Window::Display(_) => vk::CompositeAlphaFlagsKHR::OPAQUE,
            _ => ALPHA,
        }
    }

    /// What shows the images of a swapchain as they are; `None` where that is not possible, or not wanted.
    pub(super) fn native(
        &self,
        device: &Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        format: &SurfaceFormat,
    ) -> Result<Option<Box<dyn Native>>, Error> {
        if let Window::Display(screen) = &self.window {
            return Ok(Some(Box::new(screen.planned(format.opaque, info.present_mode)?)));
        }
        if Choice::get() == Choice::Copy || !device.gpu().shares_bos() {
            return Ok(None);
        }
        if let Some((connection, window)) = self.x11()? {
            let is_ours = |fd: BorrowedFd<'_>| vc4_kernel_abi::is_vc4(fd);
            let planned = x11::Planned::new(connection, window, info.present_mode, is_ours)?;
            let opaque = info.composite_alpha == vk::CompositeAlphaFlagsKHR::OPAQUE;
            // Pixmaps are blue first, and their alpha is what the window's depth makes of it.
            let suits =
                |planned: &x11::Planned| format.exchange == Some(false) && !(opaque && planned.has_alpha());
            return Ok(planned.filter(suits).map(|planned| Box::new(planned) as Box<dyn Native>));
        }
        let Some((connection, surface)) = self.wayland_surface()? else { return Ok(None) };
        let blended = info.composite_alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
        let code = if blended { format.blended } else { format.opaque };
        // SAFETY: the surface outlives its swapchains by the contract of the constructor.
        let planned = unsafe { wayland::Planned::new(connection, surface, code, info.present_mode)? };
        Ok(planned.map(|planned| Box::new(planned) as Box<dyn Native>))
    }

    /// Whether pictures may be copied on their way.
    pub(super) fn copies(&self) -> bool {
        match self.window {
            Window::Display(_) => false,
            Window::Headless => true,
            _ => Choice::get() != Choice::Native,
        }
    }

    /// What copies of pictures are shown on, and the size that they should have.
    pub(super) fn host(
        &self,
        info: &vk::SwapchainCreateInfoKHR<'_>,
    ) -> Result<(Box<dyn Backend>, vk::Extent2D), Error> {
        let extent = info.image_extent;
        if let Some((connection, surface)) = self.wayland_surface()? {
            let alpha = info.composite_alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
            let manner = Manner { alpha, mode: info.present_mode };
            // SAFETY: the surface outlives its swapchains by the contract of the constructor.
            let target = unsafe { wayland::Target::new(connection, surface, extent, manner)? };
            return Ok((Box::new(target), extent));
        }
        match self.x11()? {
            None => Ok((Box::new(headless::Target::new(extent)), extent)),
            Some((connection, window)) => {
                let (target, wanted) = Target::new(connection, window, extent, true)?;
                Ok((Box::new(target), wanted))
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
