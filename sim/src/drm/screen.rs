//! Where frames of the display go: picture files, and a window.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt, CreateGCAux, CreateWindowAux, EventMask, Gcontext, ImageFormat, PropMode,
    Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use vc4_kernel_abi::environment;

use super::kms::{Display, Frame, Screen};

/// Bytes of a request around its image.
const REQUEST_OVERHEAD: usize = 64;

/// The display that the environment asks for: `VC4SIM_DISPLAY=WxH` is its preferred size, with `none` nothing
/// is plugged in, `VC4SIM_SCANOUT=DIR` saves
/// each frame there, `VC4SIM_WINDOW=x11` shows them in a window.
pub fn from_environment() -> std::sync::Arc<Display> {
    let asked = environment::word("VC4SIM_DISPLAY").unwrap_or_default();
    let size =
        asked.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let display = Display::new(size);
    display.plug(asked != "none");
    let mut screens: Vec<Box<dyn Screen>> = Vec::new();
    if let Some(directory) = environment::variable("VC4SIM_SCANOUT") {
        screens.push(Box::new(Pictures::new(directory.into())));
    }
    match environment::word("VC4SIM_WINDOW").as_deref() {
        Some("x11") => screens.push(Box::new(InWindow(Mutex::default()))),
        None => {}
        Some(other) => log::error!(target: "vc4::kms", "VC4SIM_WINDOW={other} is unknown; it can be x11"),
    }
    display.show_on(screens);
    display
}

/// Saves frames as `frame-000001.png` and so on.
pub struct Pictures {
    directory: PathBuf,
    count: Mutex<u32>,
}

impl Pictures {
    /// Saves them in this directory, which is made if it is not there.
    pub fn new(directory: PathBuf) -> Pictures {
        if let Err(error) = std::fs::create_dir_all(&directory) {
            log::error!(target: "vc4::kms", "{}: {error}", directory.display());
        }
        Pictures { directory, count: Mutex::new(0) }
    }
}

/// The bytes of a picture file.
fn encode(frame: &Frame) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, frame.width, frame.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let data: Vec<u8> =
        frame.pixels.iter().flat_map(|pixel| [16, 8, 0].map(|shift| (pixel >> shift) as u8)).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&data)?;
    writer.finish()?;
    Ok(bytes)
}

impl Screen for Pictures {
    fn show(&self, frame: &Frame) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let path = self.directory.join(format!("frame-{:06}.png", *count));
        let partial = path.with_extension("part");
        // Whoever waits for the file finds all of it.
        let saved = encode(frame).map_err(|error| error.to_string()).and_then(|bytes| {
            let written = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, &path));
            written.map_err(|error| error.to_string())
        });
        if let Err(error) = saved {
            log::error!(target: "vc4::kms", "{}: {error}", path.display());
        }
    }
}

struct Open {
    connection: RustConnection,
    window: Window,
    context: Gcontext,
    depth: u8,
    size: (u32, u32),
}

/// Shows frames in a window of the X server that `DISPLAY` names.
struct InWindow(Mutex<Option<Result<Open, ()>>>);

impl Open {
    fn new(width: u32, height: u32) -> Result<Open, Box<dyn std::error::Error>> {
        let (connection, number) = x11rb::connect(None)?;
        let screen = &connection.setup().roots[number];
        let (root, depth, visual) = (screen.root, screen.root_depth, screen.root_visual);
        if depth < 24 {
            return Err(format!("the screen has {depth} bits a pixel, 24 are needed").into());
        }
        let (window, context) = (connection.generate_id()?, connection.generate_id()?);
        let (w, h) = (width as u16, height as u16);
        let look = CreateWindowAux::new().event_mask(EventMask::NO_EVENT);
        let class = WindowClass::INPUT_OUTPUT;
        connection.create_window(depth, window, root, 0, 0, w, h, 0, class, visual, &look)?;
        let title = b"VideoCore IV display";
        connection.change_property8(PropMode::REPLACE, window, AtomEnum::WM_NAME, AtomEnum::STRING, title)?;
        connection.create_gc(context, window, &CreateGCAux::new())?;
        connection.map_window(window)?;
        connection.flush()?;
        Ok(Open { connection, window, context, depth, size: (width, height) })
    }

    fn put(&self, frame: &Frame) -> Result<(), Box<dyn std::error::Error>> {
        let row = frame.width as usize * 4;
        let room = self.connection.maximum_request_bytes().saturating_sub(REQUEST_OVERHEAD);
        let rows = (room / row).max(1);
        let little =
            self.connection.setup().image_byte_order == x11rb::protocol::xproto::ImageOrder::LSB_FIRST;
        let bytes = |pixel: &u32| if little { pixel.to_le_bytes() } else { pixel.to_be_bytes() };
        for (number, part) in frame.pixels.chunks(rows * frame.width as usize).enumerate() {
            let data: Vec<u8> = part.iter().flat_map(bytes).collect();
            let height = (part.len() / frame.width as usize) as u16;
            let y = (number * rows) as i16;
            self.connection.put_image(
                ImageFormat::Z_PIXMAP,
                self.window,
                self.context,
                frame.width as u16,
                height,
                0,
                y,
                0,
                self.depth,
                &data,
            )?;
        }
        self.connection.flush()?;
        while self.connection.poll_for_event()?.is_some() {}
        Ok(())
    }
}

impl Screen for InWindow {
    fn show(&self, frame: &Frame) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let size = (frame.width, frame.height);
        if place.as_ref().is_some_and(|open| open.as_ref().is_ok_and(|open| open.size != size)) {
            // Another mode: another window.
            *place = None;
        }
        let failed = |error: Box<dyn std::error::Error>| {
            log::error!(target: "vc4::kms", "no window shows the display: {error}");
        };
        let open = place.get_or_insert_with(|| Open::new(frame.width, frame.height).map_err(failed));
        if let Ok(window) = open {
            if let Err(error) = window.put(frame) {
                // The user has closed it, or the server is gone.
                failed(error);
                *open = Err(());
            }
        }
    }
}
