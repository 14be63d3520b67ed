//! Against the X server that `DISPLAY` names; `cargo xtask test` starts one.

use std::ffi::{CStr, CString};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use ash::vk;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateWindowAux, ImageFormat, WindowClass};
use x11rb::xcb_ffi::XCBConnection;

use super::put::Memory;
use super::{Connection, Target};
use crate::presentation::foreign::{self, Foreign};
use crate::presentation::tests::{acquire, fill, info, present, swapchain};
use crate::presentation::{Surface, Swapchain, xcb_presents};
use crate::testing::device;

mod images;
mod server;

/// An application: its own connection and a window.
struct Application {
    xcb: XCBConnection,
    screen: usize,
    window: u32,
}

impl Application {
    /// `None` without a display.
    fn new(width: u16, height: u16) -> Option<Application> {
        if std::env::var_os("DISPLAY").is_none() {
            eprintln!("no DISPLAY: not tested");
            return None;
        }
        // A server without clients starts afresh and drops who comes meanwhile: the first connection
        // may take more than one attempt, and stays for the others.
        static FIRST: LazyLock<XCBConnection> = LazyLock::new(|| {
            let answering = |(xcb, _): (XCBConnection, usize)| {
                let answers = xcb.get_input_focus().ok()?.reply().is_ok();
                answers.then_some(xcb)
            };
            let attempt = |_| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                XCBConnection::connect(None).ok().and_then(answering)
            };
            (0..100).find_map(attempt).expect("the display answers")
        });
        LazyLock::force(&FIRST);
        Some(Application::on(None, width, height))
    }

    /// On a display, by its name.
    fn on(display: Option<&CStr>, width: u16, height: u16) -> Application {
        let (xcb, screen) = XCBConnection::connect(display).expect("the display answers");
        // Until the connection ends no other client puts a window on top, which would lose pixels.
        xcb.grab_server().unwrap().check().unwrap();
        let window = xcb.generate_id().unwrap();
        let root = &xcb.setup().roots[screen];
        let class = WindowClass::INPUT_OUTPUT;
        let aux = CreateWindowAux::new().override_redirect(1);
        xcb.create_window(0, window, root.root, 0, 0, width, height, 0, class, 0, &aux).unwrap();
        xcb.map_window(window).unwrap();
        xcb.flush().unwrap();
        Application { xcb, screen, window }
    }

    fn pointer(&self) -> *mut std::ffi::c_void {
        self.xcb.get_raw_xcb_connection()
    }

    fn surface(&self) -> Surface {
        // SAFETY: the connection outlives the tests' surfaces.
        unsafe { Surface::xcb(self.pointer(), self.window) }.unwrap()
    }

    fn connection(&self) -> Arc<Connection> {
        // SAFETY: as above.
        Arc::new(unsafe { Connection::borrow(Foreign::new(self.pointer()).unwrap()) }.unwrap())
    }

    /// The window's pixels as red, green, blue.
    fn picture(&self, width: u16, height: u16) -> Vec<[u8; 3]> {
        let image = self.xcb.get_image(ImageFormat::Z_PIXMAP, self.window, 0, 0, width, height, !0).unwrap();
        image.reply().unwrap().data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect()
    }

    /// Nothing of the driver's may reach the application.
    fn assert_no_events(&self) {
        self.xcb.get_input_focus().unwrap().reply().unwrap();
        assert!(self.xcb.poll_for_event().unwrap().is_none());
    }
}

/// Different everywhere.
fn color(x: u32, y: u32) -> [u8; 3] {
    [x as u8, y as u8, (3 * x + 5 * y) as u8]
}

fn expected(width: u16, height: u16) -> Vec<[u8; 3]> {
    let rows = 0..u32::from(height);
    rows.flat_map(|y| (0..u32::from(width)).map(move |x| color(x, y))).collect()
}

#[test]
fn pixels_arrive_whichever_way_they_travel() {
    let (width, height) = (201, 143);
    let Some(application) = Application::new(width, height) else { return };
    let extent = vk::Extent2D { width: width.into(), height: height.into() };
    for (share, request_bytes) in [(true, None), (false, None), (false, Some(5000)), (false, Some(1))] {
        let (mut target, _) =
            Target::new(&application.connection(), application.window, extent, share).unwrap();
        target.request_bytes = request_bytes.unwrap_or(target.request_bytes);
        let shared = matches!(target.memory, Memory::Shared(..));
        assert!(shared == share, "a local server shares memory");
        target.pixels().fill(0);
        assert_eq!(target.put().unwrap(), extent);
        for (pixel, [r, g, b]) in target.pixels().chunks_exact_mut(4).zip(expected(width, height)) {
            pixel.copy_from_slice(&[b, g, r, 0]);
        }
        assert_eq!(target.put().unwrap(), extent);
        assert!(application.picture(width, height) == expected(width, height), "{share} {request_bytes:?}");
    }
    application.assert_no_events();
}

#[test]
fn a_swapchain_shows_what_its_images_hold() {
    let (width, height) = (70, 50);
    let Some(application) = Application::new(width, height) else { return };
    let (device, surface) = (device(), application.surface());
    for image_format in [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM] {
        let info = vk::SwapchainCreateInfoKHR { image_format, ..info(width.into(), height.into()) };
        let swapchain = swapchain(&device, &surface, &info).unwrap();
        let index = acquire(&swapchain);
        fill(&swapchain, index, |x, y| {
            let [r, g, b] = color(x, y);
            if image_format == vk::Format::R8G8B8A8_UNORM { [r, g, b, 7] } else { [b, g, r, 7] }
        });
        present(&swapchain, index).unwrap();
        swapchain.close();
        assert!(application.picture(width, height) == expected(width, height), "{image_format:?}");
    }
    application.assert_no_events();
}

#[test]
fn the_window_decides_the_extent() {
    let Some(application) = Application::new(70, 50) else { return };
    let surface = application.surface();
    assert!(surface.is_supported().unwrap());
    let extent = vk::Extent2D { width: 70, height: 50 };
    let capabilities = surface.capabilities().unwrap();
    assert_eq!(
        [capabilities.current_extent, capabilities.min_image_extent, capabilities.max_image_extent],
        [extent; 3]
    );
    let late = swapchain(&device(), &surface, &info(70, 51)).unwrap();
    assert_eq!(late.acquire(0).err().unwrap().result(), vk::Result::ERROR_OUT_OF_DATE_KHR);
}

#[test]
fn a_resized_window_outdates_its_swapchain() {
    let Some(application) = Application::new(70, 50) else { return };
    let (device, surface) = (device(), application.surface());
    let old = swapchain(&device, &surface, &info(70, 50)).unwrap();
    let size = x11rb::protocol::xproto::ConfigureWindowAux::new().width(80);
    application.xcb.configure_window(application.window, &size).unwrap().check().unwrap();
    let (first, second) = (acquire(&old), acquire(&old));
    let _ = present(&old, first);
    // The image is free before the server has answered; wait for the second one's answer.
    let answer = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        old.acquire(0).err()
    });
    assert_eq!(answer.unwrap().result(), vk::Result::ERROR_OUT_OF_DATE_KHR);
    assert_eq!(present(&old, second).err().unwrap().result(), vk::Result::ERROR_OUT_OF_DATE_KHR);
    let allocator = crate::foundation::handle::HostAllocator::default();
    let new = Swapchain::new(&device, &surface, &info(80, 50), Some(&old), allocator).unwrap();
    acquire(&new);
    application.assert_no_events();
}

/// The swapchain learns of it a little later; it is closed then.
fn assert_becomes_lost(surface: &Surface, swapchain: &Swapchain) {
    let answer = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        swapchain.acquire(0).err()
    });
    let lost = vk::Result::ERROR_SURFACE_LOST_KHR;
    assert_eq!(answer.unwrap().result(), lost);
    assert_eq!(surface.capabilities().err().unwrap().result(), lost);
    swapchain.close();
}

#[test]
fn a_destroyed_window_is_a_lost_surface_and_no_error_event() {
    let Some(application) = Application::new(70, 50) else { return };
    let (device, surface) = (device(), application.surface());
    let swapchain = swapchain(&device, &surface, &info(70, 50)).unwrap();
    let index = acquire(&swapchain);
    application.xcb.destroy_window(application.window).unwrap().check().unwrap();
    let _ = present(&swapchain, index);
    assert_becomes_lost(&surface, &swapchain);
    assert!(!device.is_lost());
    application.assert_no_events();
}

#[test]
fn a_server_that_dies_loses_the_surface() {
    let mut command = Command::new("Xvfb");
    let server = command.args(["-displayfd", "1", "-screen", "0", "320x240x24"]);
    let Ok(mut server) = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn() else {
        eprintln!("no Xvfb: not tested");
        return;
    };
    let mut number = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
    let application = Application::on(Some(&CString::new(format!(":{}", number.trim())).unwrap()), 70, 50);
    let (device, surface) = (device(), application.surface());
    let swapchain = swapchain(&device, &surface, &info(70, 50)).unwrap();
    let index = acquire(&swapchain);
    server.kill().unwrap();
    server.wait().unwrap();
    let _ = present(&swapchain, index);
    assert_becomes_lost(&surface, &swapchain);
    assert!(!device.is_lost());
}

#[test]
fn only_true_colour_visuals_are_presented_to() {
    let Some(application) = Application::new(1, 1) else { return };
    let root = &application.xcb.setup().roots[application.screen];
    // SAFETY: the connection is live.
    let presents = |visual| unsafe { xcb_presents(application.pointer(), visual) };
    assert!(presents(root.root_visual));
    assert!(!presents(0));
    let depths = root.allowed_depths.iter().filter(|depth| !matches!(depth.depth, 24 | 32));
    assert!(depths.flat_map(|depth| &depth.visuals).all(|visual| !presents(visual.visual_id)));
}

#[test]
fn a_failed_connection_is_refused() {
    let Ok(connect) = foreign::symbol(c"libxcb.so.1", c"xcb_connect") else {
        eprintln!("no libxcb: not tested");
        return;
    };
    // SAFETY: this is the signature of xcb_connect, which answers failures with a connection in error.
    let broken = unsafe {
        type Connect = unsafe extern "C" fn(*const std::ffi::c_char, *mut i32) -> *mut std::ffi::c_void;
        let connect: Connect = std::mem::transmute(connect);
        connect(c"no-such-host.invalid:1".as_ptr(), std::ptr::null_mut())
    };
    // SAFETY: libxcb made the connection.
    let refused = unsafe { Connection::borrow(Foreign::new(broken).unwrap()) }.err().unwrap();
    assert!(refused.contains("broken"), "{refused}");
    // SAFETY: as above.
    let lost = unsafe { Surface::xcb(broken, 1) }.unwrap().capabilities().err().unwrap();
    assert_eq!(lost.result(), vk::Result::ERROR_SURFACE_LOST_KHR);
}
