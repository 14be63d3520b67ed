//! Events of a swapchain's own, which the application never sees.
//!
//! libxcb puts events of the Present extension that carry a registered number into a queue of their own. Whoever reads from the
//! connection sorts them, also the application's thread that waits for a key.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::transmute;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use x11rb::connection::Connection as _;
use x11rb::errors::{ParseError, ReplyOrIdError};
use x11rb::protocol::present::{self, CompleteKind, CompleteMode};
use x11rb::x11_utils::TryParse;

use super::connection::Connection;
use crate::presentation::foreign::{Foreign, symbol};

/// Bytes of an event before what its length tells.
const EVENT_BYTES: usize = 32;
/// libxcb's number of the event, which it inserts there.
const INSERTED_BYTES: usize = 4;

/// Of an event about the window: it is gone. Servers before 2021 do not say it.
const WINDOW_DESTROYED: u32 = 1;

/// An `xcb_extension_t`: libxcb finds the number by the name, and keeps it here.
#[repr(C)]
struct Extension {
    name: *const c_char,
    number: UnsafeCell<c_int>,
}

// SAFETY: the name is constant, and libxcb changes the number under a lock of its own.
unsafe impl Sync for Extension {}

static PRESENT: Extension = Extension { name: c"Present".as_ptr(), number: UnsafeCell::new(0) };

type Register = unsafe extern "C" fn(*mut c_void, *const Extension, u32, *mut u32) -> *mut c_void;
type Poll = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut u8;
type Unregister = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// What happened to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// It has another size, or its old one.
    Extent(vk::Extent2D),
    /// It is gone.
    Gone,
    /// A present was done, in a refresh with this number that began at this time, in microseconds; if skipped, by another one.
    Complete { serial: u32, refresh: u64, at_us: u64, skipped: bool, suboptimal: bool },
    /// The server has no more use for a pixmap.
    Idle { pixmap: u32 },
}

fn parse(bytes: &[u8]) -> Result<Option<Event>, ParseError> {
    let kind = bytes.get(8..10).map_or(0, |kind| u16::from_ne_bytes([kind[0], kind[1]]));
    Ok(match kind {
        present::CONFIGURE_NOTIFY_EVENT => {
            let (event, _) = present::ConfigureNotifyEvent::try_parse(bytes)?;
            let extent = vk::Extent2D { width: event.width.into(), height: event.height.into() };
            let gone = event.pixmap_flags & WINDOW_DESTROYED != 0;
            Some(if gone { Event::Gone } else { Event::Extent(extent) })
        }
        present::COMPLETE_NOTIFY_EVENT => {
            let (event, _) = present::CompleteNotifyEvent::try_parse(bytes)?;
            let complete = Event::Complete {
                serial: event.serial,
                refresh: event.msc,
                at_us: event.ust,
                skipped: event.mode == CompleteMode::SKIP,
                suboptimal: event.mode == CompleteMode::SUBOPTIMAL_COPY,
            };
            (event.kind == CompleteKind::PIXMAP).then_some(complete)
        }
        present::IDLE_NOTIFY_EVENT => {
            let (event, _) = present::IdleNotifyEvent::try_parse(bytes)?;
            Some(Event::Idle { pixmap: event.pixmap })
        }
        _ => None,
    })
}

/// The events of a window, from its making on.
pub(super) struct Events {
    connection: Arc<Connection>,
    raw: Foreign,
    queue: NonNull<c_void>,
    window: u32,
    id: u32,
    poll: Poll,
    unregister: Unregister,
}

// SAFETY: libxcb's functions may be called from any thread; the queue is asked by its owner only.
unsafe impl Send for Events {}

fn function(name: &CStr) -> Result<NonNull<c_void>, String> {
    symbol(c"libxcb.so.1", name)
}

impl Events {
    /// Asks for the events of a window. `None` where libxcb cannot keep them apart.
    pub fn new(connection: &Arc<Connection>, window: u32) -> Result<Option<Events>, ReplyOrIdError> {
        let functions = || {
            let register = function(c"xcb_register_for_special_xge")?;
            let poll = function(c"xcb_poll_for_special_event")?;
            Ok::<_, String>((register, poll, function(c"xcb_unregister_for_special_event")?))
        };
        let (Ok((register, poll, unregister)), Some(raw)) = (functions(), connection.raw()) else {
            return Ok(None);
        };
        // SAFETY: these are the signatures of the functions.
        let (register, poll, unregister) = unsafe {
            (
                transmute::<*mut c_void, Register>(register.as_ptr()),
                transmute::<*mut c_void, Poll>(poll.as_ptr()),
                transmute::<*mut c_void, Unregister>(unregister.as_ptr()),
            )
        };
        let id = connection.xcb.generate_id()?;
        // SAFETY: the connection is live, the extension lives for ever, and no stamp is asked for.
        let queue = unsafe { register(raw.as_ptr(), &PRESENT, id, std::ptr::null_mut()) };
        let Some(queue) = NonNull::new(queue) else { return Ok(None) };
        let connection = connection.clone();
        let events = Events { connection, raw, queue, window, id, poll, unregister };
        let wanted = present::EventMask::CONFIGURE_NOTIFY
            | present::EventMask::COMPLETE_NOTIFY
            | present::EventMask::IDLE_NOTIFY;
        present::select_input(&events.connection.xcb, id, window, wanted)?.check()?;
        Ok(Some(events))
    }

    /// The next one that has arrived.
    pub fn next(&mut self) -> Option<Event> {
        loop {
            // SAFETY: connection and queue are live.
            let event = unsafe { (self.poll)(self.raw.as_ptr(), self.queue.as_ptr()) };
            let event = NonNull::new(event)?;
            // SAFETY: an event has its fixed bytes, libxcb's number, and as many words as its length says; it was allocated by malloc
            // for whoever takes it.
            let bytes = unsafe {
                let fixed = std::slice::from_raw_parts(event.as_ptr(), EVENT_BYTES);
                let length = u32::from_ne_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]) as usize * 4;
                let rest = event.as_ptr().add(EVENT_BYTES + INSERTED_BYTES);
                let bytes = [fixed, std::slice::from_raw_parts(rest, length)].concat();
                libc::free(event.as_ptr().cast());
                bytes
            };
            match parse(&bytes) {
                Ok(Some(event)) => return Some(event),
                Ok(None) => {}
                Err(error) => log::warn!(target: "vc4::wsi", "an event of Present: {error}"),
            }
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        // Of a window that is gone it is an error, which is nobody's. The answer is waited for: what the server sent before it would
        // be the application's once the queue is gone.
        let stop =
            present::select_input(&self.connection.xcb, self.id, self.window, present::EventMask::NO_EVENT);
        let _ = stop.map(|cookie| cookie.check());
        // SAFETY: connection and queue are live, and the queue is not used again.
        unsafe { (self.unregister)(self.raw.as_ptr(), self.queue.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strange_events_are_none() {
        assert_eq!(parse(&[0; 3]).ok(), None, "cut short");
        let mut event = [0; 64];
        event[8] = 77;
        assert_eq!(parse(&event).unwrap(), None, "of another kind");
        event[8] = present::COMPLETE_NOTIFY_EVENT as u8;
        event[10] = u8::from(CompleteKind::NOTIFY_MSC);
        assert_eq!(parse(&event).unwrap(), None, "nobody asked for the time");
    }
}
