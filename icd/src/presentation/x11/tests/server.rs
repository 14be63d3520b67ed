//! An X server of the tests' own with one window, which takes images as they are and does what the tests say.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use vc4::image::Tiling;
use vc4::image::tiling::Level;
use vc4_kernel_abi::uapi::MODIFIER_T_TILED;
use x11rb::protocol::present::{self, CompleteKind, CompleteMode, ConfigureNotifyEvent, PixmapRequest};
use x11rb::protocol::xproto::{self, BackingStore, ImageOrder, MapState, VisualClass, WindowClass};
use x11rb::protocol::{Request, dri3};
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;
use x11rb::x11_utils::{BigRequests, ExtInfoProvider, ExtensionInformation, Serialize, parse_request_header};
use x11rb::xcb_ffi::XCBConnection;

use crate::presentation::foreign::symbol;

/// The window.
pub const WINDOW: u32 = 77;
const ROOT: u32 = 1;
/// Visuals of depth 24 and 32.
const VISUALS: [u32; 2] = [33, 34];
/// Bytes of an event, and of the shortest reply.
const LEAST_BYTES: usize = 32;
/// Codes of errors.
const BAD_WINDOW: u8 = 3;
const BAD_ALLOC: u8 = 11;
/// Events that extensions name by numbers of their own.
const GENERIC_EVENT: u8 = 35;

/// The extensions and their numbers.
const EXTENSIONS: [(&str, u8); 2] = [(dri3::X11_EXTENSION_NAME, 140), (present::X11_EXTENSION_NAME, 141)];

struct Extensions;

impl ExtInfoProvider for Extensions {
    fn get_from_major_opcode(&self, opcode: u8) -> Option<(&str, ExtensionInformation)> {
        let (name, major_opcode) = EXTENSIONS.into_iter().find(|(_, number)| *number == opcode)?;
        Some((name, ExtensionInformation { major_opcode, first_event: 0, first_error: 0 }))
    }

    fn get_from_event_code(&self, _: u8) -> Option<(&str, ExtensionInformation)> {
        None
    }

    fn get_from_error_code(&self, _: u8) -> Option<(&str, ExtensionInformation)> {
        None
    }
}

/// Somebody's image.
struct Pixmap {
    memory: std::fs::File,
    request: dri3::PixmapFromBuffersRequest,
}

impl Pixmap {
    /// The rows, blue first, as the server that looks at `layout` takes them.
    fn picture(&self, layout: u64) -> Vec<u8> {
        let (width, height) = (u32::from(self.request.width), u32::from(self.request.height));
        let tiling = if layout == MODIFIER_T_TILED { Tiling::T } else { Tiling::Raster };
        let level = Level::new(tiling, 4, self.request.stride0 / 4, height).unwrap();
        let mut bytes = vec![0; (width * height * 4) as usize];
        for (at, pixel) in bytes.chunks_exact_mut(4).enumerate() {
            let (x, y) = (at as u32 % width, at as u32 / width);
            let offset = self.request.offset0 + level.offset_of(x, y);
            self.memory.read_exact_at(pixel, offset.into()).unwrap();
        }
        bytes
    }
}

/// A picture that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// The pixmap; `None` of one that was put.
    pub pixmap: Option<u32>,
    /// What the server was told of its layout.
    pub modifier: u64,
    /// Rows without gaps, blue first.
    pub bytes: Vec<u8>,
    /// Of the present.
    pub serial: u32,
    /// Of the present.
    pub options: u32,
    /// Of the present.
    pub target: u64,
}

/// What tests see of the server, and how they tell it to behave.
pub struct Seen {
    stream: Arc<DefaultStream>,
    sequence: u16,
    /// The window's size.
    pub size: (u16, u16),
    /// 0 for depth 24, 1 for 32.
    pub visual: usize,
    /// Of DRI3; 0 for none.
    pub minor_version: u32,
    /// Good for the window, and for copies.
    pub modifiers: [Vec<u64>; 2],
    /// No images are taken.
    pub refuses: bool,
    /// Presents are not done of themselves.
    pub holds: bool,
    /// The window is gone.
    pub gone: bool,
    /// When presents are done, in microseconds.
    pub at_us: u64,
    pixmaps: HashMap<u32, Pixmap>,
    /// Who wants events.
    pub listeners: Vec<u32>,
    /// What was shown.
    pub pictures: Vec<Picture>,
    refresh: u64,
}

impl Seen {
    fn send(&self, bytes: &[u8], fds: &mut Vec<RawFdContainer>) {
        let mut sent = 0;
        // Who closed the connection wants no answer.
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest, fds) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::thread::yield_now(),
                Err(_) => return,
            }
        }
    }

    /// Sends a reply or event, with the bytes that have no meaning in it.
    fn reply(&self, reply: impl AsRef<[u8]>) {
        let mut bytes = reply.as_ref().to_vec();
        bytes.resize(bytes.len().max(LEAST_BYTES), 0);
        self.send(&bytes, &mut Vec::new());
    }

    fn fail(&self, code: u8, request: (u8, u8)) {
        let mut error = [0; LEAST_BYTES];
        error[1] = code;
        error[2..4].copy_from_slice(&self.sequence.to_ne_bytes());
        (error[8], error[10]) = (request.1, request.0);
        self.reply(error);
    }

    /// A core event, which every application gets.
    pub fn expose(&self) {
        let (sequence, window, width, height) = (self.sequence, WINDOW, self.size.0, self.size.1);
        let response_type = xproto::EXPOSE_EVENT;
        let event =
            xproto::ExposeEvent { response_type, sequence, window, x: 0, y: 0, width, height, count: 0 };
        self.reply(event.serialize());
    }

    /// A present is done.
    pub fn complete(&mut self, serial: u32, mode: CompleteMode) {
        self.refresh += 1;
        for &event in &self.listeners {
            let complete = present::CompleteNotifyEvent {
                response_type: GENERIC_EVENT,
                extension: EXTENSIONS[1].1,
                sequence: self.sequence,
                length: 2,
                event_type: present::COMPLETE_NOTIFY_EVENT,
                kind: CompleteKind::PIXMAP,
                mode,
                event,
                window: WINDOW,
                serial,
                ust: self.at_us,
                msc: self.refresh,
            };
            self.reply(complete.serialize());
        }
    }

    /// The refresh in which the last present was done.
    pub fn refresh(&self) -> u64 {
        self.refresh
    }

    /// A pixmap is its application's again.
    pub fn idle(&self, pixmap: u32) {
        for &event in &self.listeners {
            let idle = present::IdleNotifyEvent {
                response_type: GENERIC_EVENT,
                extension: EXTENSIONS[1].1,
                sequence: self.sequence,
                length: 0,
                event_type: present::IDLE_NOTIFY_EVENT,
                event,
                window: WINDOW,
                serial: 0,
                pixmap,
                idle_fence: 0,
            };
            self.reply(idle.serialize());
        }
    }

    /// Tells the window's size, or that it is gone.
    pub fn configure(&self, pixmap_flags: u32) {
        for &event in &self.listeners {
            let configure = ConfigureNotifyEvent {
                response_type: GENERIC_EVENT,
                extension: EXTENSIONS[1].1,
                sequence: self.sequence,
                length: 2,
                event_type: present::CONFIGURE_NOTIFY_EVENT,
                event,
                window: WINDOW,
                x: 0,
                y: 0,
                width: self.size.0,
                height: self.size.1,
                off_x: 0,
                off_y: 0,
                pixmap_width: self.size.0,
                pixmap_height: self.size.1,
                pixmap_flags,
            };
            self.reply(configure.serialize());
        }
    }

    fn show(&mut self, request: &PixmapRequest<'_>) {
        let pixmap = &self.pixmaps[&request.pixmap];
        // Who is not told asks the kernel, which tests do not have.
        let bytes = pixmap.picture(pixmap.request.modifier);
        self.pictures.push(Picture {
            pixmap: Some(request.pixmap),
            modifier: pixmap.request.modifier,
            bytes,
            serial: request.serial,
            options: request.options,
            target: request.target_msc,
        });
        if !self.holds {
            self.complete(request.serial, CompleteMode::COPY);
            self.idle(request.pixmap);
        }
    }

    fn serve(&mut self, request: Request<'_>, numbers: (u8, u8)) {
        let sequence = self.sequence;
        let of_window = |window: u32| window == WINDOW && !self.gone;
        match request {
            Request::QueryExtension(query) => {
                let known = EXTENSIONS.iter().find(|(name, _)| name.as_bytes() == &*query.name);
                let known = known.filter(|_| self.minor_version > 0);
                let (present, major_opcode) = (known.is_some(), known.map_or(0, |(_, number)| *number));
                let (length, first_event, first_error) = (0, 0, 0);
                self.reply(
                    xproto::QueryExtensionReply {
                        sequence,
                        length,
                        present,
                        major_opcode,
                        first_event,
                        first_error,
                    }
                    .serialize(),
                );
            }
            Request::GetInputFocus(_) => {
                let (length, revert_to, focus) = (0, xproto::InputFocus::NONE, 0u32);
                self.reply(xproto::GetInputFocusReply { revert_to, sequence, length, focus }.serialize());
            }
            Request::GetGeometry(query) if of_window(query.drawable) => self.reply(
                xproto::GetGeometryReply {
                    depth: [24, 32][self.visual],
                    sequence,
                    length: 0,
                    root: ROOT,
                    x: 0,
                    y: 0,
                    width: self.size.0,
                    height: self.size.1,
                    border_width: 0,
                }
                .serialize(),
            ),
            Request::GetWindowAttributes(query) if of_window(query.window) => self.reply(
                xproto::GetWindowAttributesReply {
                    backing_store: BackingStore::NOT_USEFUL,
                    sequence,
                    length: 3,
                    visual: VISUALS[self.visual],
                    class: WindowClass::INPUT_OUTPUT,
                    bit_gravity: xproto::Gravity::BIT_FORGET,
                    win_gravity: xproto::Gravity::NORTH_WEST,
                    backing_planes: 0,
                    backing_pixel: 0,
                    save_under: false,
                    map_is_installed: true,
                    map_state: MapState::VIEWABLE,
                    override_redirect: false,
                    colormap: 0,
                    all_event_masks: xproto::EventMask::NO_EVENT,
                    your_event_mask: xproto::EventMask::NO_EVENT,
                    do_not_propagate_mask: xproto::EventMask::NO_EVENT,
                }
                .serialize(),
            ),
            Request::Dri3QueryVersion(_) => {
                let (length, major_version, minor_version) = (0, 1, self.minor_version);
                self.reply(
                    dri3::QueryVersionReply { sequence, length, major_version, minor_version }.serialize(),
                );
            }
            Request::PresentQueryVersion(_) => {
                let (length, major_version, minor_version) = (0, 1, 2);
                self.reply(
                    present::QueryVersionReply { sequence, length, major_version, minor_version }.serialize(),
                );
            }
            Request::Dri3Open(_) => {
                let device = std::fs::File::open("/dev/null").unwrap();
                let device_fd = RawFdContainer::from(device);
                let copy = device_fd.try_clone().unwrap();
                let reply = dri3::OpenReply { nfd: 1, sequence, length: 0, device_fd };
                self.send(&reply.serialize(), &mut vec![copy]);
            }
            Request::Dri3GetSupportedModifiers(query) if of_window(query.window) => {
                assert_eq!((query.depth, query.bpp), ([24, 32][self.visual], 32));
                let [window_modifiers, screen_modifiers] = self.modifiers.clone();
                let length = 2 * (window_modifiers.len() + screen_modifiers.len()) as u32;
                self.reply(
                    dri3::GetSupportedModifiersReply { sequence, length, window_modifiers, screen_modifiers }
                        .serialize(),
                );
            }
            Request::Dri3PixmapFromBuffers(_) if self.refuses => self.fail(BAD_ALLOC, numbers),
            Request::Dri3PixmapFromBuffers(mut request) if of_window(request.window) => {
                assert_eq!((request.depth, request.bpp), ([24, 32][self.visual], 32));
                let [buffer] = <[RawFdContainer; 1]>::try_from(std::mem::take(&mut request.buffers)).unwrap();
                let memory = std::fs::File::from(buffer);
                let known = self.pixmaps.insert(request.pixmap, Pixmap { memory, request });
                assert!(known.is_none(), "a pixmap's number is its own");
            }
            Request::PresentSelectInput(request) if of_window(request.window) => {
                self.listeners.retain(|&listener| listener != request.eid);
                if request.event_mask != present::EventMask::NO_EVENT {
                    self.listeners.push(request.eid);
                }
            }
            Request::PresentPixmap(request) if of_window(request.window) => self.show(&request),
            Request::FreePixmap(request) => {
                assert!(self.pixmaps.remove(&request.pixmap).is_some(), "a pixmap is freed once");
            }
            Request::PutImage(request) if of_window(request.drawable) => self.pictures.push(Picture {
                pixmap: None,
                modifier: 0,
                bytes: request.data.to_vec(),
                serial: 0,
                options: 0,
                target: 0,
            }),
            Request::CreateGC(_) | Request::FreeGC(_) => {}
            _ if self.gone => self.fail(BAD_WINDOW, numbers),
            other => panic!("{other:?}"),
        }
    }
}

/// What a server says of itself.
fn setup() -> Vec<u8> {
    let visual = |visual_id| xproto::Visualtype {
        visual_id,
        class: VisualClass::TRUE_COLOR,
        bits_per_rgb_value: 8,
        colormap_entries: 256,
        red_mask: 0xff_0000,
        green_mask: 0xff00,
        blue_mask: 0xff,
    };
    let depths = [24, 32].into_iter().zip(VISUALS);
    let screen = xproto::Screen {
        root: ROOT,
        default_colormap: 0,
        white_pixel: 0xff_ffff,
        black_pixel: 0,
        current_input_masks: xproto::EventMask::NO_EVENT,
        width_in_pixels: 640,
        height_in_pixels: 480,
        width_in_millimeters: 160,
        height_in_millimeters: 120,
        min_installed_maps: 1,
        max_installed_maps: 1,
        root_visual: VISUALS[0],
        backing_stores: BackingStore::NOT_USEFUL,
        save_unders: false,
        root_depth: 24,
        allowed_depths: depths
            .map(|(depth, id)| xproto::Depth { depth, visuals: vec![visual(id)] })
            .collect(),
    };
    let format = |depth| xproto::Format { depth, bits_per_pixel: 32, scanline_pad: 32 };
    let mut setup = xproto::Setup {
        status: 1,
        protocol_major_version: 11,
        protocol_minor_version: 0,
        length: 0,
        release_number: 1,
        resource_id_base: 0x20_0000,
        resource_id_mask: 0x1f_ffff,
        motion_buffer_size: 0,
        maximum_request_length: u16::MAX,
        image_byte_order: ImageOrder::LSB_FIRST,
        bitmap_format_bit_order: ImageOrder::LSB_FIRST,
        bitmap_format_scanline_unit: 32,
        bitmap_format_scanline_pad: 32,
        min_keycode: 8,
        max_keycode: 255,
        vendor: Vec::new(),
        pixmap_formats: [24, 32].map(format).to_vec(),
        roots: vec![screen],
    }
    .serialize();
    let words = (setup.len() - 8) as u16 / 4;
    setup[6..8].copy_from_slice(&words.to_ne_bytes());
    setup
}

/// What arrived and was not looked at yet.
struct Reader {
    stream: Arc<DefaultStream>,
    bytes: Vec<u8>,
    fds: Vec<RawFdContainer>,
}

impl Reader {
    /// Waits until there are so many bytes; `None` at the end.
    fn wait_for(&mut self, count: usize) -> Option<()> {
        let mut buffer = [0; 4096];
        while self.bytes.len() < count {
            match self.stream.read(&mut buffer, &mut self.fds) {
                Ok(0) => return None,
                Ok(read) => self.bytes.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.stream.poll(PollMode::Readable).ok()?;
                }
                Err(_) => return None,
            }
        }
        Some(())
    }
}

fn run(stream: Arc<DefaultStream>, seen: &Mutex<Seen>) -> Option<()> {
    let mut reader = Reader { stream, bytes: Vec::new(), fds: Vec::new() };
    // The client's words, without a secret behind them.
    reader.wait_for(12)?;
    reader.bytes.drain(..12);
    seen.lock().unwrap().reply(setup());
    loop {
        reader.wait_for(4)?;
        let bytes = 4 * usize::from(u16::from_ne_bytes([reader.bytes[2], reader.bytes[3]]));
        reader.wait_for(bytes)?;
        let request: Vec<u8> = reader.bytes.drain(..bytes).collect();
        let (header, body) = parse_request_header(&request, BigRequests::NotEnabled).unwrap();
        let numbers = (header.major_opcode, header.minor_opcode);
        let request = Request::parse(header, body, &mut reader.fds, &Extensions).unwrap();
        let mut seen = seen.lock().unwrap();
        seen.sequence = seen.sequence.wrapping_add(1);
        seen.serve(request, numbers);
    }
}

/// A server, and an application on its other end.
pub struct Server {
    seen: Arc<Mutex<Seen>>,
    thread: Option<JoinHandle<()>>,
    /// The application's connection.
    pub xcb: Option<XCBConnection>,
    /// To end it.
    socket: UnixStream,
}

impl Server {
    /// One with a window of that size, whose server lists these layouts for it, and these for copies.
    pub fn new(size: (u16, u16), modifiers: [&[u64]; 2]) -> Server {
        let (server, client) = UnixStream::pair().unwrap();
        let socket = server.try_clone().unwrap();
        let stream = Arc::new(DefaultStream::from_unix_stream(server).unwrap().0);
        let seen = Arc::new(Mutex::new(Seen {
            stream: stream.clone(),
            sequence: 0,
            size,
            visual: 0,
            minor_version: 2,
            modifiers: modifiers.map(<[u64]>::to_vec),
            refuses: false,
            holds: false,
            gone: false,
            at_us: 0,
            pixmaps: HashMap::new(),
            listeners: Vec::new(),
            pictures: Vec::new(),
            refresh: 100,
        }));
        let served = seen.clone();
        let thread = std::thread::spawn(move || {
            // Nothing is behind the end.
            let _ = run(stream, &served);
        });
        Server { seen, thread: Some(thread), xcb: Some(connect(client)), socket }
    }

    /// The application's connection.
    pub fn pointer(&self) -> *mut c_void {
        self.xcb.as_ref().unwrap().get_raw_xcb_connection()
    }

    /// What it has seen.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// The pictures, when there are `count`.
    pub fn pictures(&self, count: usize) -> Vec<Picture> {
        let end = Instant::now() + Duration::from_secs(10);
        while self.seen().pictures.len() < count {
            assert!(Instant::now() < end, "{} of {count} pictures", self.seen().pictures.len());
            std::thread::sleep(Duration::from_millis(1));
        }
        self.seen().pictures.clone()
    }

    /// The server ends.
    pub fn end(&mut self) {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.thread.is_some() && !std::thread::panicking() {
            use x11rb::connection::Connection as _;
            use x11rb::protocol::xproto::ConnectionExt as _;
            let xcb = self.xcb.as_ref().unwrap();
            xcb.get_input_focus().unwrap().reply().unwrap();
            assert!(
                xcb.poll_for_event().unwrap().is_none(),
                "nothing of the driver's reaches the application"
            );
            let seen = self.seen();
            assert!(seen.pixmaps.is_empty() && seen.listeners.is_empty(), "nothing is left behind");
        }
        self.end();
        self.xcb = None;
    }
}

fn connect(client: UnixStream) -> XCBConnection {
    type Connect = unsafe extern "C" fn(c_int, *const c_char) -> *mut c_void;
    x11rb::xcb_ffi::load_libxcb().unwrap();
    let connect = symbol(c"libxcb.so.1", c"xcb_connect_to_fd").unwrap();
    // SAFETY: this is the signature of xcb_connect_to_fd, which takes the descriptor and needs no secret; the connection is the
    // wrapper's.
    unsafe {
        let connect: Connect = std::mem::transmute(connect.as_ptr());
        let connection = connect(client.into_raw_fd(), std::ptr::null());
        XCBConnection::from_raw_xcb_connection(connection, true).unwrap()
    }
}
