//! Against a compositor of the tests' own, which looks at every request.

use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ash::vk;
use vc4_compositor::Image;
use wayland_client::protocol::{wl_compositor as app_compositor, wl_surface as app_surface};
use wayland_client::{EventQueue, Proxy as _};
use wayland_protocols::wp::presentation_time::server::wp_presentation_feedback::WpPresentationFeedback;
use wayland_server::protocol::wl_buffer::{self, WlBuffer};
use wayland_server::protocol::wl_callback::WlCallback;
use wayland_server::protocol::wl_compositor::{self, WlCompositor};
use wayland_server::protocol::wl_shm::{self, WlShm};
use wayland_server::protocol::wl_shm_pool::{self, WlShmPool};
use wayland_server::protocol::wl_surface::{self, WlSurface};
use wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource as _, WEnum};

use self::dmabuf::Dmabuf;
use super::super::tests::{acquire, acquire_in, fill, info, present, swapchain};
use super::super::{Surface, Tags, wayland_presents};
use crate::foundation::error::Error;
use crate::testing::device;

/// A picture as the compositor got it.
#[derive(Clone, Debug, PartialEq)]
struct Picture {
    format: wl_shm::Format,
    width: i32,
    height: i32,
    bytes: Vec<u8>,
    /// Of a buffer that is an image.
    modifier: Option<u64>,
}

/// What tests see of the compositor, and how they tell it to behave.
#[derive(Default)]
struct Seen {
    pictures: Vec<Picture>,
    /// Withholds frame callbacks.
    holds_frames: bool,
    /// Never gives buffers back.
    holds_buffers: bool,
    callbacks: Vec<WlCallback>,
    /// What is withheld.
    held: Vec<WlBuffer>,
    dmabuf: Dmabuf,
    /// The clock of pictures' times; without one none are told.
    clock: Option<u32>,
    /// Pictures whose times are wanted and were not told.
    feedback: Vec<WpPresentationFeedback>,
}

/// A range of a pool.
struct Buffer {
    memory: Arc<std::fs::File>,
    offset: i32,
    width: i32,
    height: i32,
    stride: i32,
    format: wl_shm::Format,
}

impl Buffer {
    fn picture(&self) -> Picture {
        let mut bytes = vec![0; (self.stride * self.height) as usize];
        self.memory.read_exact_at(&mut bytes, self.offset as u64).unwrap();
        assert_eq!(self.stride, 4 * self.width, "rows without gaps");
        let (format, width, height) = (self.format, self.width, self.height);
        Picture { format, width, height, bytes, modifier: None }
    }
}

struct Compositor {
    seen: Arc<Mutex<Seen>>,
    attached: Option<WlBuffer>,
    callbacks: Vec<WlCallback>,
}

impl Compositor {
    fn commit(&mut self) {
        let mut seen = self.seen.lock().unwrap();
        if let Some(buffer) = self.attached.take() {
            let picture = match buffer.data::<Image>() {
                Some(image) => dmabuf::picture(image),
                None => buffer.data::<Buffer>().unwrap().picture(),
            };
            seen.pictures.push(picture);
            match seen.holds_buffers {
                true => seen.held.push(buffer),
                false => buffer.release(),
            }
        }
        seen.callbacks.append(&mut self.callbacks);
        if !seen.holds_frames {
            seen.callbacks.drain(..).for_each(|callback| callback.done(0));
        }
    }
}

macro_rules! global {
    ($interface:ident) => {
        impl GlobalDispatch<$interface, ()> for Compositor {
            fn bind(
                _: &mut Self,
                _: &DisplayHandle,
                _: &Client,
                resource: New<$interface>,
                _: &(),
                init: &mut DataInit<'_, Self>,
            ) {
                init.init(resource, ());
            }
        }
    };
}

global!(WlCompositor);
global!(WlShm);

macro_rules! requests {
    ($interface:ident, $data:ty, |$state:ident, $request:ident, $of:ident, $init:ident| $body:block) => {
        impl Dispatch<$interface, $data> for Compositor {
            fn request(
                $state: &mut Self,
                _: &Client,
                _: &$interface,
                $request: <$interface as wayland_server::Resource>::Request,
                $of: &$data,
                _: &DisplayHandle,
                $init: &mut DataInit<'_, Self>,
            ) $body
        }
    };
}

// Below the macro, which it uses, too.
mod dmabuf;
mod times;

requests!(WlCompositor, (), |_state, request, _data, init| {
    if let wl_compositor::Request::CreateSurface { id } = request {
        init.init(id, ());
    }
});

requests!(WlShm, (), |_state, request, _data, init| {
    if let wl_shm::Request::CreatePool { id, fd, size } = request {
        let file = std::fs::File::from(fd);
        assert!(file.metadata().unwrap().len() >= size as u64, "the pool has its memory");
        init.init(id, Arc::new(file));
    }
});

requests!(WlShmPool, Arc<std::fs::File>, |_state, request, memory, init| {
    if let wl_shm_pool::Request::CreateBuffer { id, offset, width, height, stride, format } = request {
        let WEnum::Value(format) = format else { panic!("unknown format {format:?}") };
        let memory = memory.clone();
        init.init(id, Buffer { memory, offset, width, height, stride, format });
    }
});

requests!(WlBuffer, Buffer, |_state, request, _data, _init| {
    assert!(matches!(request, wl_buffer::Request::Destroy));
});

requests!(WlCallback, (), |_state, _request, _data, _init| {});

requests!(WlSurface, (), |state, request, _data, init| {
    match request {
        wl_surface::Request::Attach { buffer, .. } => state.attached = buffer,
        wl_surface::Request::Frame { callback } => state.callbacks.push(init.init(callback, ())),
        wl_surface::Request::Commit => state.commit(),
        _ => {}
    }
});

/// The application's end: its own queue must stay empty.
struct Application;

wayland_client::delegate_noop!(Application: ignore app_compositor::WlCompositor);
wayland_client::delegate_noop!(Application: ignore app_surface::WlSurface);

impl
    wayland_client::Dispatch<
        wayland_client::protocol::wl_registry::WlRegistry,
        wayland_client::globals::GlobalListContents,
    > for Application
{
    fn event(
        _: &mut Self,
        _: &wayland_client::protocol::wl_registry::WlRegistry,
        _: wayland_client::protocol::wl_registry::Event,
        _: &wayland_client::globals::GlobalListContents,
        _: &wayland_client::Connection,
        _: &wayland_client::QueueHandle<Self>,
    ) {
    }
}

/// A compositor, an application and its surface.
struct Stage {
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    display: wayland_client::Connection,
    queue: EventQueue<Application>,
    surface: app_surface::WlSurface,
}

impl Stage {
    fn new() -> Stage {
        Stage::with(Dmabuf::default())
    }

    /// One whose compositor takes images.
    fn with(dmabuf: Dmabuf) -> Stage {
        Stage::of(Seen { dmabuf, ..Seen::default() })
    }

    /// One whose compositor behaves so.
    fn of(seen: Seen) -> Stage {
        let (server, client) = UnixStream::pair().unwrap();
        let seen = Arc::new(Mutex::new(seen));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = serve(server, seen.clone(), stop.clone(), true);
        let display = wayland_client::Connection::from_socket(client).unwrap();
        let (globals, queue) = wayland_client::globals::registry_queue_init::<Application>(&display).unwrap();
        let compositor: app_compositor::WlCompositor = globals.bind(&queue.handle(), 4..=4, ()).unwrap();
        let surface = compositor.create_surface(&queue.handle(), ());
        Stage { seen, stop, thread: Some(thread), display, queue, surface }
    }

    fn surface(&self) -> Surface {
        let display = self.display.backend().display_ptr().cast();
        // SAFETY: the application's display and surface outlive the tests' surfaces.
        unsafe { Surface::wayland(display, self.surface.id().as_ptr().cast()) }.unwrap()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// The pictures, when there are `count`.
    fn pictures(&self, count: usize) -> Vec<Picture> {
        let end = Instant::now() + Duration::from_secs(10);
        while self.seen().pictures.len() < count {
            assert!(Instant::now() < end, "{} of {count} pictures", self.seen().pictures.len());
            std::thread::sleep(Duration::from_millis(1));
        }
        self.seen().pictures.clone()
    }

    /// The compositor ends.
    fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Events that the application did not ask for would be here.
        if self.thread.is_some() {
            assert_eq!(self.queue.roundtrip(&mut Application).unwrap(), 0);
        }
        self.end();
    }
}

fn serve(stream: UnixStream, seen: Arc<Mutex<Seen>>, stop: Arc<AtomicBool>, shares: bool) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut display = wayland_server::Display::<Compositor>::new().unwrap();
        let mut handle = display.handle();
        handle.create_global::<Compositor, WlCompositor, ()>(4, ());
        if shares {
            handle.create_global::<Compositor, WlShm, ()>(1, ());
        }
        if seen.lock().unwrap().clock.is_some() {
            times::offer(&handle);
        }
        let version = seen.lock().unwrap().dmabuf.version;
        if version > 0 {
            dmabuf::offer(&handle, version);
        }
        handle.insert_client(stream, Arc::new(())).unwrap();
        let mut compositor = Compositor { seen, attached: None, callbacks: Vec::new() };
        while !stop.load(Ordering::Relaxed) {
            display.dispatch_clients(&mut compositor).unwrap();
            display.flush_clients().unwrap();
            std::thread::sleep(Duration::from_micros(200));
        }
    })
}

fn color(x: u32, y: u32) -> [u8; 4] {
    [x as u8, y as u8, (3 * x + 5 * y) as u8, (x ^ y) as u8]
}

#[test]
fn pictures_arrive_as_they_were_drawn() {
    let stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    assert!(surface.is_supported().unwrap());
    let capabilities = surface.capabilities().unwrap();
    assert_eq!(capabilities.current_extent.width, u32::MAX, "the swapchain decides");
    let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
    let blended = vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
    assert_eq!(capabilities.supported_composite_alpha, opaque | blended);
    let mut count = 0;
    for (composite_alpha, format) in [(opaque, wl_shm::Format::Xrgb8888), (blended, wl_shm::Format::Argb8888)]
    {
        for image_format in [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM] {
            let info = vk::SwapchainCreateInfoKHR { composite_alpha, image_format, ..info(53, 31) };
            let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::MAILBOX, ..info };
            let swapchain = swapchain(&device, &surface, &info).unwrap();
            for number in 0..5 {
                let index = acquire(&swapchain);
                fill(&swapchain, index, |x, y| color(x + number, y));
                present(&swapchain, index).unwrap();
                count += 1;
                let picture = stage.pictures(count as usize).pop().unwrap();
                assert_eq!((picture.format, picture.width, picture.height), (format, 53, 31));
                let exchanged = image_format == vk::Format::R8G8B8A8_UNORM;
                for (at, pixel) in picture.bytes.chunks_exact(4).enumerate() {
                    let mut wanted = color(at as u32 % 53 + number, at as u32 / 53);
                    if exchanged {
                        wanted.swap(0, 2);
                    }
                    assert_eq!(pixel, wanted, "pixel {at}");
                }
            }
            swapchain.close();
        }
    }
}

#[test]
fn fifo_waits_for_the_compositor() {
    let stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    stage.seen().holds_frames = true;
    let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::FIFO, ..info(8, 8) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    for _ in 0..2 {
        let index = acquire(&swapchain);
        present(&swapchain, index).unwrap();
    }
    stage.pictures(1);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(stage.seen().pictures.len(), 1, "the second picture waits for the first one's turn");
    stage.seen().callbacks.drain(..).for_each(|callback| callback.done(0));
    stage.pictures(2);
    // A surface that nobody sees gets no turn, and its program goes on all the same, slowly.
    let begin = Instant::now();
    for _ in 0..2 {
        let index = acquire(&swapchain);
        present(&swapchain, index).unwrap();
    }
    let index = acquire_in(&swapchain, 10_000_000_000);
    assert!(begin.elapsed() >= Duration::from_millis(900), "{:?}", begin.elapsed());
    assert_eq!(stage.seen().pictures.len(), 2);
    // Until somebody looks.
    stage.seen().callbacks.drain(..).for_each(|callback| callback.done(0));
    present(&swapchain, index).unwrap();
    stage.pictures(3);
    // The end waits a little.
    let begin = Instant::now();
    let index = acquire_in(&swapchain, 10_000_000_000);
    present(&swapchain, index).unwrap();
    swapchain.close();
    assert!(begin.elapsed() < Duration::from_millis(1900), "{:?}", begin.elapsed());
    assert_eq!(stage.seen().pictures.len(), 3);
}

/// Qt closes windows so: as soon as no present is on its way.
#[test]
fn a_surface_may_end_before_its_swapchain() {
    for mode in [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX] {
        let stage = Stage::new();
        let (device, surface) = (device(), stage.surface());
        stage.seen().holds_frames = true;
        let swapchain = swapchain(&device, &surface, &info_of(mode)).unwrap();
        let begin = Instant::now();
        for _ in 0..2 {
            let index = acquire(&swapchain);
            let (present, _) = swapchain.present(index, Tags::default()).unwrap();
            let handling = present.handling();
            present.hand_over(None);
            handling.wait();
        }
        stage.surface.destroy();
        stage.display.flush().unwrap();
        // The second picture of two in turn waits for the first one's turn, which does not come.
        let fifo = mode == vk::PresentModeKHR::FIFO;
        assert_eq!(begin.elapsed() >= Duration::from_millis(900), fifo);
        swapchain.close();
        assert!(!device.is_lost());
        let pictures = stage.pictures(if fifo { 1 } else { 2 });
        assert_eq!(pictures.len(), if fifo { 1 } else { 2 }, "all requests were made before");
    }
}

/// Qt 6.4 closes windows so.
#[test]
fn who_presents_to_a_surface_that_is_gone_loses_it() {
    let mut stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &info_of(vk::PresentModeKHR::MAILBOX)).unwrap();
    stage.surface.destroy();
    stage.display.flush().unwrap();
    let error = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        match swapchain.acquire(1_000_000_000) {
            Ok(super::super::Acquired::Image(index)) => present(&swapchain, index).err(),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Some(error),
        }
    });
    assert_eq!(error.map(|error| error.result()), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
    assert!(!device.is_lost());
    assert_eq!(stage.seen().pictures.len(), 0);
    swapchain.close();
    stage.end();
}

#[test]
fn what_the_compositor_reads_is_not_written() {
    let stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    stage.seen().holds_buffers = true;
    let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::MAILBOX, ..info(16, 4) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    for number in 0..3 {
        let index = acquire(&swapchain);
        fill(&swapchain, index, |_, _| [number; 4]);
        present(&swapchain, index).unwrap();
    }
    let begin = Instant::now();
    stage.pictures(3);
    // All buffers are the compositor's: the next picture waits, but not for ever.
    let index = acquire(&swapchain);
    fill(&swapchain, index, |_, _| [9; 4]);
    present(&swapchain, index).unwrap();
    let pictures = stage.pictures(4);
    assert!(begin.elapsed() >= Duration::from_millis(900), "{:?}", begin.elapsed());
    let firsts: Vec<u8> = pictures.iter().map(|picture| picture.bytes[0]).collect();
    assert_eq!(firsts, [0, 1, 2, 9]);
}

#[test]
fn a_compositor_that_ends_loses_the_surface() {
    let mut stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &info_of(vk::PresentModeKHR::FIFO)).unwrap();
    let index = acquire(&swapchain);
    present(&swapchain, index).unwrap();
    stage.pictures(1);
    stage.end();
    let mut failed = None;
    for _ in 0..20 {
        failed = match swapchain.acquire(1_000_000_000) {
            Ok(super::super::Acquired::Image(index)) => present(&swapchain, index).err(),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Some(error),
        };
        if failed.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(failed.map(|error: Error| error.result()), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
    swapchain.close();
}

fn info_of(present_mode: vk::PresentModeKHR) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR { present_mode, ..info(8, 8) }
}

#[test]
fn modes_that_the_compositor_does_not_offer_are_refused() {
    let stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    assert_eq!(surface.present_modes(), [vk::PresentModeKHR::FIFO, vk::PresentModeKHR::MAILBOX]);
    assert!(swapchain(&device, &surface, &info_of(vk::PresentModeKHR::IMMEDIATE)).is_err());
    let inherit = vk::CompositeAlphaFlagsKHR::INHERIT;
    let info = vk::SwapchainCreateInfoKHR { composite_alpha: inherit, ..info_of(vk::PresentModeKHR::FIFO) };
    assert!(swapchain(&device, &surface, &info).is_err());
}

#[test]
fn a_display_without_shared_memory_does_not_present() {
    let (server, client) = UnixStream::pair().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let thread = serve(server, Arc::default(), stop.clone(), false);
    let display = wayland_client::Connection::from_socket(client).unwrap();
    // SAFETY: a live display.
    assert!(!unsafe { wayland_presents(display.backend().display_ptr().cast()) });
    // SAFETY: null is allowed.
    assert!(!unsafe { wayland_presents(std::ptr::null_mut()) });
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

/// Descriptors of this process that are shared memory of pictures.
fn pools() -> usize {
    let links =
        std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| entry.ok()?.path().read_link().ok());
    links.filter(|link| link.to_string_lossy().contains("vc4-present")).count()
}

#[test]
fn swapchains_come_and_go() {
    let stage = Stage::new();
    let (device, surface) = (device(), stage.surface());
    let before = pools();
    for size in 1..200 {
        let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::MAILBOX, ..info(size, 3) };
        let swapchain = swapchain(&device, &surface, &info).unwrap();
        let index = acquire(&swapchain);
        present(&swapchain, index).unwrap();
        swapchain.close();
    }
    let pictures = stage.pictures(199);
    assert!(pictures.iter().zip(1..).all(|(picture, width)| picture.width == width));
    // The display outlives what is on it.
    drop(surface);
    drop(stage);
    // Other tests have some, too.
    assert!(pools() < before + 50, "{} of {before}", pools());
}
