//! The display (kernel-abi.md §13.5): one connector with one encoder and one CRTC, a primary and a cursor plane, as
//! the atomic core of the kernel shows them. What is on the screen is a [`Scene`]; every way of changing it makes a
//! new one and goes through [`commit`].

mod atomic;
mod commit;
mod compose;
mod framebuffer;
mod legacy;
mod mode;
mod property;
mod query;
mod vblank;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};

use super::uapi::ModeInfo;
use super::{Answer, Errno, File, Process, lock};
pub use compose::{Frame, Screen};
use framebuffer::Framebuffer;
use vblank::{Clock, Pending};

/// Numbers of the objects that are always there; properties are below, framebuffers and blobs above.
const PRIMARY: u32 = 40;
const CURSOR: u32 = 41;
const CRTC: u32 = 42;
const ENCODER: u32 = 43;
const CONNECTOR: u32 = 44;
const FIRST_FREE: u32 = 50;
/// Limits of framebuffers and modes (kernel-abi.md §13.2).
const MAX_EDGE: u32 = 2048;
/// Entries of the gamma table.
const GAMMA_SIZE: u32 = 256;

/// Bytes with a number.
struct Blob {
    data: Vec<u8>,
    /// The file that made it, which may destroy it.
    owner: Option<u64>,
}

/// What a plane shows, and where.
#[derive(Clone, Default)]
struct Plane {
    /// [`CRTC`] or 0.
    crtc: u32,
    fb: Option<Arc<Framebuffer>>,
    /// Pixels of the screen.
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    /// Part of the framebuffer, in 16.16 pixels: x, y, width, height.
    source: [u32; 4],
}

/// All that the screen shows.
#[derive(Clone, Default)]
struct Scene {
    /// The mode, with the blob that it came in.
    mode: Option<(u32, ModeInfo)>,
    active: bool,
    /// Whether the connector is on the CRTC.
    connected: bool,
    /// Primary and cursor.
    planes: [Plane; 2],
}

struct State {
    scene: Scene,
    fbs: BTreeMap<u32, Arc<Framebuffer>>,
    blobs: BTreeMap<u32, Arc<Blob>>,
    /// The file that may change the screen.
    master: Option<u64>,
    /// Whether that file has called SET_VERSION.
    unique: bool,
    clock: Clock,
    pending: Vec<Pending>,
    /// Whether a commit has not reached the screen yet.
    flipping: bool,
    gamma: [Vec<u16>; 3],
    thread: bool,
}

/// The display of a device.
pub struct Display {
    modes: Vec<ModeInfo>,
    state: Mutex<State>,
    /// Something became pending, or reached the screen.
    changed: Condvar,
    screens: OnceLock<Vec<Box<dyn Screen>>>,
}

/// What a file has of the display.
pub(super) struct Seat {
    /// Its number among the device's files.
    number: u64,
    caps: Mutex<Caps>,
}

#[derive(Clone, Copy, Default)]
struct Caps {
    universal_planes: bool,
    atomic: bool,
    was_master: bool,
}

/// Client capabilities of SET_CLIENT_CAP, by number.
const STEREO_3D: u64 = 1;
const UNIVERSAL_PLANES: u64 = 2;
const ATOMIC: u64 = 3;
const ASPECT_RATIO: u64 = 4;
const WRITEBACK_CONNECTORS: u64 = 5;

impl Display {
    /// A display whose preferred mode has this size, in pixels.
    pub fn new(preferred: Option<(u16, u16)>) -> Arc<Display> {
        let identity: Vec<u16> = (0..GAMMA_SIZE as u16).map(|level| level << 8 | level).collect();
        let state = State {
            scene: Scene::default(),
            fbs: BTreeMap::new(),
            blobs: BTreeMap::new(),
            master: None,
            unique: false,
            clock: Clock::start(),
            pending: Vec::new(),
            flipping: false,
            gamma: [identity.clone(), identity.clone(), identity],
            thread: false,
        };
        Arc::new(Display {
            modes: mode::all(preferred),
            state: Mutex::new(state),
            changed: Condvar::new(),
            screens: OnceLock::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn seat(&self, primary: bool) -> Seat {
        static FILES: AtomicU64 = AtomicU64::new(1);
        let number = FILES.fetch_add(1, Relaxed);
        let mut caps = Caps::default();
        let mut state = self.state();
        // Who opens the node first is master.
        if primary && state.master.is_none() {
            (state.master, state.unique) = (Some(number), false);
            caps.was_master = true;
        }
        Seat { number, caps: Mutex::new(caps) }
    }

    /// Shows frames on these from now on; they can be set once.
    pub fn show_on(&self, screens: Vec<Box<dyn Screen>>) -> bool {
        self.screens.set(screens).is_ok()
    }
}

impl State {
    /// The smallest number that no framebuffer or blob has.
    fn free_number(&self) -> u32 {
        (FIRST_FREE..).find(|id| !self.fbs.contains_key(id) && !self.blobs.contains_key(id)).unwrap_or(0)
    }

    fn add_blob(&mut self, blob: Blob) -> u32 {
        let id = self.free_number();
        self.blobs.insert(id, Arc::new(blob));
        id
    }

    fn fb(&self, id: u32) -> Result<Arc<Framebuffer>, Errno> {
        self.fbs.get(&id).cloned().ok_or(Errno::ENOENT)
    }
}

impl File {
    fn display(&self) -> &Arc<Display> {
        &self.device.display
    }

    fn caps(&self) -> Caps {
        *lock(&self.seat.caps)
    }

    pub(super) fn is_master(&self) -> bool {
        self.display().state().master == Some(self.seat.number)
    }

    pub(super) fn has_unique(&self) -> bool {
        self.display().state().unique
    }

    pub(super) fn set_unique(&self) {
        self.display().state().unique = true;
    }

    pub(super) fn set_master(&self, _: &mut super::uapi::Nothing, process: &dyn Process) -> Answer {
        let mut caps = lock(&self.seat.caps);
        let mut state = self.display().state();
        if !caps.was_master && !process.is_admin() {
            return Err(Errno::EACCES);
        }
        match state.master {
            Some(number) if number == self.seat.number => Ok(()),
            Some(_) => Err(Errno::EBUSY),
            None => {
                (state.master, state.unique) = (Some(self.seat.number), false);
                caps.was_master = true;
                Ok(())
            }
        }
    }

    pub(super) fn drop_master(&self, _: &mut super::uapi::Nothing, process: &dyn Process) -> Answer {
        let caps = lock(&self.seat.caps);
        let mut state = self.display().state();
        if !caps.was_master && !process.is_admin() {
            return Err(Errno::EACCES);
        }
        if state.master != Some(self.seat.number) {
            return Err(Errno::EINVAL);
        }
        state.master = None;
        Ok(())
    }

    pub(super) fn set_client_cap(&self, arg: &mut super::uapi::Cap, _: &dyn Process) -> Answer {
        let mut caps = lock(&self.seat.caps);
        match (arg.capability, arg.value) {
            (STEREO_3D | ASPECT_RATIO, 0 | 1) => Ok(()),
            (UNIVERSAL_PLANES, value @ (0 | 1)) => {
                caps.universal_planes = value == 1;
                Ok(())
            }
            // 2 is what clients ask for that know of a fault in the names of one kind of driver.
            (ATOMIC, value @ (0..=2)) => {
                (caps.atomic, caps.universal_planes) = (value > 0, value > 0);
                Ok(())
            }
            (WRITEBACK_CONNECTORS, 0 | 1) if caps.atomic => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Takes away what goes with the file: its framebuffers, blobs and mastership.
    pub(super) fn leave_display(&self) {
        let mut state = self.display().state();
        let number = self.seat.number;
        if state.master == Some(number) {
            state.master = None;
        }
        let mine: Vec<u32> =
            state.fbs.iter().filter(|(_, fb)| fb.owner == number).map(|(&id, _)| id).collect();
        for id in mine {
            if let Some(fb) = state.fbs.remove(&id) {
                state.scene.forget(&fb);
            }
        }
        state.blobs.retain(|_, blob| blob.owner != Some(number));
        state.pending.retain_mut(|pending| pending.without_file(number));
    }
}

impl Scene {
    /// Takes a framebuffer off the screen; without one on the primary plane, the CRTC is switched off.
    fn forget(&mut self, fb: &Arc<Framebuffer>) {
        for (number, plane) in self.planes.iter_mut().enumerate() {
            if plane.fb.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, fb)) {
                *plane = Plane::default();
                if number == 0 {
                    (self.mode, self.active, self.connected) = (None, false, false);
                }
            }
        }
    }
}

/// A list of the kernel's for a caller that gave room for `count` elements: filled if all fit. The number there are
/// is told in any case.
fn give_list<T: bytemuck::Pod>(process: &dyn Process, address: u64, count: &mut u32, list: &[T]) -> Answer {
    let room = std::mem::replace(count, list.len() as u32);
    if room as usize >= list.len() && !list.is_empty() {
        process.write(address, bytemuck::cast_slice(list))?;
    }
    Ok(())
}
