//! A window that shows images as they are: pixmaps of the X server in the memory of the swapchain's images (DRI3), which it copies to
//! the window or scans out itself (Present).
//!
//! The server tells by events when a picture was shown and when an image is its application's again. No fences travel with them: the
//! presenter hands over complete pictures, and servers tell that a pixmap is idle in the same breath as they would set a fence.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use vc4_kernel_abi::uapi::{MODIFIER_INVALID, MODIFIER_LINEAR, MODIFIER_T_TILED};
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::errors::{ReplyError, ReplyOrIdError};
use x11rb::protocol::dri3;
use x11rb::protocol::present;
use x11rb::protocol::xproto::ConnectionExt;

use super::connection::{Connection, lost, presented_depth, side};
use super::events::{Event, Events};
use crate::foundation::error::Error;
use crate::presentation::backend::{Backend, Native, News, Storage};
use crate::presentation::bell::{Bell, poll};
use crate::presentation::frame::Frame;
use crate::presentation::shared_image::SharedImage;
use crate::presentation::timing::{self, Sight};

/// Bits of a pixel.
const PIXEL_BITS: u8 = 32;

/// The layouts that the driver has, best first.
const LAYOUTS: [u64; 2] = [MODIFIER_T_TILED, MODIFIER_LINEAR];

/// How long a picture waits for the one before it. A server shows no windows of a screen that sleeps; their programs go on slowly
/// instead of standing still.
const UNSEEN: Duration = Duration::from_secs(1);

/// How often to look for events of images that the server has: where the application's own thread waits for events, it takes ours off
/// the connection, and nothing wakes the presenter.
const LOOK: Duration = Duration::from_millis(3);
/// Presents whose end is waited for: a server that says nothing of them must not make the list grow.
const MOST_ASKED: usize = 64;

/// Times of events that are farther away than this are by another clock.
const CLOCKS_APART_NS: u64 = 10_000_000_000;

/// As above, while the server shows nothing.
const RARELY: Duration = Duration::from_millis(50);

/// A window that is still to get the images of its swapchain.
pub(in crate::presentation) struct Planned {
    connection: Arc<Connection>,
    window: u32,
    extent: vk::Extent2D,
    depth: u8,
    events: Events,
    layouts: Layouts,
    mode: vk::PresentModeKHR,
}

/// How a server learns how pixels lie.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layouts {
    /// It is told one of those that it listed.
    Told(Vec<u64>),
    /// It lists none, but draws with this driver's kernel, which knows what the BOs' owner said.
    Known,
}

impl Layouts {
    fn modifiers(&self) -> &[u64] {
        match self {
            Layouts::Told(modifiers) => modifiers,
            Layouts::Known => &LAYOUTS,
        }
    }
}

/// Whether the server has the versions that are needed: images with modifiers, and events about what happens to them.
fn has_extensions(connection: &Connection) -> Result<bool, ReplyError> {
    let xcb = &connection.xcb;
    let names = [dri3::X11_EXTENSION_NAME, present::X11_EXTENSION_NAME];
    for name in names {
        if xcb.extension_information(name)?.is_none() {
            return Ok(false);
        }
    }
    let dri3 = dri3::query_version(xcb, 1, 2)?;
    let present = present::query_version(xcb, 1, 2)?;
    let dri3 = dri3.reply()?;
    present.reply()?;
    Ok((dri3.major_version, dri3.minor_version) >= (1, 2))
}

/// The layouts, of those that the driver has, that are good for a window, best first: what can be scanned out before what is copied.
fn listed(connection: &Connection, window: u32, depth: u8) -> Result<Vec<u64>, ReplyError> {
    let reply = dri3::get_supported_modifiers(&connection.xcb, window, depth, PIXEL_BITS)?.reply()?;
    let lists = [&reply.window_modifiers, &reply.screen_modifiers];
    let known =
        |list: &Vec<u64>| LAYOUTS.into_iter().filter(|layout| list.contains(layout)).collect::<Vec<_>>();
    Ok(lists.into_iter().map(known).find(|layouts| !layouts.is_empty()).unwrap_or_default())
}

impl Planned {
    /// For a window; `None` where its server takes no images. `is_ours` says whether a descriptor is of this driver's kernel driver.
    pub fn new(
        connection: &Arc<Connection>,
        window: u32,
        mode: vk::PresentModeKHR,
        is_ours: impl Fn(BorrowedFd<'_>) -> bool,
    ) -> Result<Option<Planned>, Error> {
        if !connection.is_local() {
            return Ok(None);
        }
        let depth = presented_depth(&connection.window(window)?)?;
        let ask = || {
            if !has_extensions(connection)? {
                return Ok(None);
            }
            let layouts = match listed(connection, window, depth)? {
                listed if !listed.is_empty() => Layouts::Told(listed),
                _ => {
                    let root = connection.xcb.get_geometry(window)?.reply()?.root;
                    let opened = dri3::open(&connection.xcb, root, 0)?.reply()?;
                    match is_ours(opened.device_fd.as_fd()) {
                        true => Layouts::Known,
                        false => return Ok(None),
                    }
                }
            };
            Ok::<_, ReplyOrIdError>(Events::new(connection, window)?.map(|events| (layouts, events)))
        };
        let Some((layouts, events)) = ask().map_err(|error| lost("asking the X server", &error))? else {
            return Ok(None);
        };
        // What changes from now on, the events tell.
        let (connection, extent) = (connection.clone(), connection.window(window)?.extent);
        Ok(Some(Planned { connection, window, extent, depth, events, layouts, mode }))
    }

    /// Whether alpha in an image would be seen through.
    pub fn has_alpha(&self) -> bool {
        self.depth == 32
    }

    /// A pixmap in the memory of an image.
    fn pixmap(&self, image: &SharedImage) -> Result<u32, Error> {
        let modifier = match self.layouts {
            Layouts::Told(_) => image.modifier,
            Layouts::Known => MODIFIER_INVALID,
        };
        let (width, height) = (side(image.extent.width)?, side(image.extent.height)?);
        let make = || {
            let xcb = &self.connection.xcb;
            let pixmap = xcb.generate_id()?;
            let fd = image.fd.try_clone().map_err(x11rb::errors::ConnectionError::from)?;
            let (stride, offset) = (image.stride, image.offset);
            dri3::pixmap_from_buffers(
                xcb,
                pixmap,
                self.window,
                width,
                height,
                stride,
                offset,
                0,
                0,
                0,
                0,
                0,
                0,
                self.depth,
                PIXEL_BITS,
                modifier,
                vec![fd],
            )?
            .check()?;
            Ok::<_, ReplyOrIdError>(pixmap)
        };
        make().map_err(|error| match error {
            ReplyOrIdError::X11Error(error) => {
                log::info!(target: "vc4::wsi", "the X server refuses an image: {:?}", error.error_kind);
                Error::unsupported("an X server that cannot use the images", "let pictures be copied")
            }
            error => lost("sharing an image", &error),
        })
    }
}

impl Native for Planned {
    fn modifiers(&self) -> &[u64] {
        self.layouts.modifiers()
    }

    fn extent(&self) -> Option<vk::Extent2D> {
        Some(self.extent)
    }

    fn take(self: Box<Self>, images: &[SharedImage]) -> Result<Box<dyn Backend>, Error> {
        let mut pixmaps = Pixmaps { connection: self.connection.clone(), all: Vec::new() };
        for image in images {
            pixmaps.all.push(self.pixmap(image)?);
        }
        let layout = images.first().map_or("none", SharedImage::layout);
        let modifier = images.first().map_or(MODIFIER_LINEAR, |image| image.modifier);
        let Planned { connection, window, depth, events, layouts, mode, .. } = *self;
        let (shown, news) = (vec![false; pixmaps.all.len()], VecDeque::new());
        Ok(Box::new(Images {
            connection,
            window,
            depth,
            layout,
            modifier: (layouts != Layouts::Known).then_some(modifier),
            mode,
            pixmaps,
            events,
            shown,
            asked: VecDeque::new(),
            last: None,
            refresh: None,
            heard: Instant::now(),
            gone: false,
            news,
        }))
    }
}

/// The server's names for the images.
struct Pixmaps {
    connection: Arc<Connection>,
    all: Vec<u32>,
}

impl Drop for Pixmaps {
    fn drop(&mut self) {
        // Nobody is left to tell about failures; the server keeps what it still shows.
        for &pixmap in &self.all {
            let _ = self.connection.xcb.free_pixmap(pixmap).map(|cookie| cookie.ignore_error());
        }
        let _ = self.connection.xcb.flush();
    }
}

/// A refresh of a screen.
#[derive(Clone, Copy, Debug)]
struct Refresh {
    number: u64,
    /// When it began, by the server's clock.
    at_us: u64,
}

impl Refresh {
    /// What this one says of a picture, seen from the one before.
    fn sight(self, before: Option<Refresh>) -> Sight {
        let ns = self.at_us.saturating_mul(1000);
        // Servers may count their time from anywhere.
        let ours = timing::now().abs_diff(ns) < CLOCKS_APART_NS;
        let period = before.and_then(|before| {
            let time = self.at_us.checked_sub(before.at_us)?.saturating_mul(1000);
            time.checked_div(self.number.checked_sub(before.number)?)
        });
        Sight { at: ours.then_some(ns), refresh: period }
    }
}

/// A window that shows the images of its swapchain.
struct Images {
    connection: Arc<Connection>,
    window: u32,
    depth: u8,
    layout: &'static str,
    /// How the pixels lie, where the server was told.
    modifier: Option<u64>,
    mode: vk::PresentModeKHR,
    pixmaps: Pixmaps,
    events: Events,
    /// Images that the server has.
    shown: Vec<bool>,
    /// Presents that are not done yet: the server's numbers, and the pictures'.
    asked: VecDeque<(u32, u64)>,
    /// The number of the last present, until that is done, and when it was asked for.
    last: Option<(u32, Instant)>,
    /// The refresh in which the last present was done.
    refresh: Option<Refresh>,
    /// When the server was heard of last.
    heard: Instant,
    /// The window is no more.
    gone: bool,
    news: VecDeque<News>,
}

impl Images {
    /// Takes what the server sent.
    fn hear(&mut self) {
        while let Some(event) = self.events.next() {
            self.heard = Instant::now();
            match event {
                Event::Extent(extent) => self.news.push_back(News::Extent(extent)),
                Event::Gone => self.gone = true,
                Event::Complete { serial, refresh: number, at_us, skipped, suboptimal } => {
                    // Of another swapchain of the window.
                    let Some(place) = self.asked.iter().position(|(asked, _)| *asked == serial) else {
                        continue;
                    };
                    let picture = self.asked.remove(place).map_or(0, |(_, picture)| picture);
                    let refresh = Refresh { number, at_us };
                    let sight = (!skipped).then(|| refresh.sight(self.refresh));
                    self.news.push_back(News::Turn(picture, sight));
                    self.refresh = Some(refresh);
                    self.last.take_if(|(last, _)| *last == serial);
                    if suboptimal && self.better_layout() {
                        self.news.push_back(News::Suboptimal);
                    }
                }
                Event::Idle { pixmap } => {
                    let index = self.pixmaps.all.iter().position(|&known| known == pixmap);
                    if let Some(index) = index.filter(|&index| std::mem::take(&mut self.shown[index])) {
                        self.news.push_back(News::Free(index as u32));
                    }
                }
            }
        }
    }

    /// Whether the server would rather have another layout of those that the driver has.
    fn better_layout(&self) -> bool {
        let listed = listed(&self.connection, self.window, self.depth).unwrap_or_default();
        self.modifier.is_some() && listed.first().is_some_and(|&best| Some(best) != self.modifier)
    }

    /// An error if the window is gone, which its images would never come back from.
    fn check(&mut self) -> Result<(), Error> {
        if let Some(error) = self.connection.xcb.has_error() {
            return Err(lost("the X server", &error));
        }
        if self.gone {
            return Err(lost("the window", &"it was destroyed"));
        }
        if self.shown.contains(&true) && self.heard.elapsed() >= UNSEEN {
            self.heard = Instant::now();
            self.connection.window(self.window)?;
        }
        Ok(())
    }
}

impl Backend for Images {
    fn storage(&mut self) -> Storage<'_> {
        Storage::Native
    }

    fn path(&self) -> String {
        format!("X11, images shown as they are ({})", self.layout)
    }

    fn has_pace(&self) -> bool {
        true
    }

    fn tells_turns(&self) -> bool {
        true
    }

    fn is_ready(&mut self, hurry: bool) -> bool {
        self.hear();
        let waits = self.mode == vk::PresentModeKHR::FIFO && !hurry;
        let turn = |(_, since): &(u32, Instant)| since.elapsed() >= UNSEEN;
        !waits || self.last.as_ref().is_none_or(turn)
    }

    fn show(&mut self, frame: Frame) -> Result<bool, Error> {
        let (index, serial) = (frame.index as usize, self.connection.next_present());
        let fifo = self.mode == vk::PresentModeKHR::FIFO;
        let mut options = present::Option::SUBOPTIMAL;
        if self.mode == vk::PresentModeKHR::IMMEDIATE {
            options |= present::Option::ASYNC;
        }
        // The refresh behind the last one; a present that comes later is done at once.
        let target = self.refresh.filter(|_| fifo).map_or(0, |refresh| refresh.number + 1);
        let Some(&pixmap) = self.pixmaps.all.get(index) else {
            return Err(Error::InvalidUse(format!("swapchain image {index}")));
        };
        let (none, xcb) = (x11rb::NONE, &self.connection.xcb);
        let asked = present::pixmap(
            xcb,
            self.window,
            pixmap,
            serial,
            none,
            none,
            0,
            0,
            none,
            none,
            none,
            options.into(),
            target,
            0,
            0,
            &[],
        );
        asked
            .map_err(ReplyError::from)
            .and_then(|cookie| cookie.check())
            .map_err(|error| lost("presenting", &error))?;
        self.heard = Instant::now();
        self.shown[index] = true;
        self.last = Some((serial, self.heard));
        if self.asked.len() == MOST_ASKED {
            self.asked.pop_front();
        }
        self.asked.push_back((serial, frame.number));
        Ok(true)
    }

    fn news(&mut self) -> Option<News> {
        self.hear();
        self.news.pop_front()
    }

    fn wait(&mut self, bell: &Bell, limit: Option<Duration>) -> Result<(), Error> {
        self.check()?;
        // What is on the screen stays the server's until there is something else to show.
        let awaited = self.last.is_some() || self.shown.iter().filter(|&&shown| shown).count() > 1;
        let often = if self.heard.elapsed() < UNSEEN { LOOK } else { RARELY };
        let limit = limit.into_iter().chain(awaited.then_some(often)).min();
        poll([self.connection.fd(), bell.fd()], limit);
        Ok(())
    }
}
