//! The display of a device: its scene, what is pending, and who sits before it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};

use nix::errno::Errno;
use vc4_kernel_abi::Seqno;

use super::clock::Clock;
use super::compose::{Screen, compose};
use super::framebuffer::Framebuffer;
use super::mode;
use super::objects::{FIRST_FREE, GAMMA_SIZE};
use super::scene::{Plane, Scene};
use crate::drm::uapi::ModeInfo;
use crate::lock::lock;

/// Bytes with a number.
pub struct Blob {
    pub data: Vec<u8>,
    /// The file that made it, which may destroy it.
    pub owner: Option<u64>,
    /// Whether it was destroyed, so that it is there only as long as the CRTC has it.
    pub destroyed: bool,
}

/// Hands bytes to the reader of a file; whether there was room.
pub type Events = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Who is told, and what of.
pub struct Told {
    pub file: u64,
    pub events: Option<Weak<Events>>,
    pub kind: u32,
    pub user_data: u64,
}

/// What is to happen at a blank.
pub struct Pending {
    pub due: u64,
    /// Not before this job is done.
    pub after: Seqno,
    /// What the screen shows from then on.
    pub scene: Option<Scene>,
    /// Whether what it shows has changed.
    pub redraw: bool,
    pub told: Option<Told>,
}

impl Pending {
    /// Takes the file out; whether anything is left.
    pub fn without_file(&mut self, file: u64) -> bool {
        self.told.take_if(|told| told.file == file);
        self.told.is_some() || self.scene.is_some() || self.redraw
    }
}

/// What changes of a display.
pub struct State {
    /// What is committed last.
    pub scene: Scene,
    /// What the screen shows, until what is pending reaches it.
    pub shown: Scene,
    /// Where the calls for cursors have moved it.
    pub cursor: (i32, i32),
    pub fbs: BTreeMap<u32, Arc<Framebuffer>>,
    pub blobs: BTreeMap<u32, Arc<Blob>>,
    /// The file that may change the screen.
    pub master: Option<u64>,
    /// Magics of files by the master that may authenticate them; without a file once that is done.
    pub magics: BTreeMap<(u64, u32), Option<Arc<AtomicBool>>>,
    /// Whether that file has called SET_VERSION.
    pub unique: bool,
    pub clock: Clock,
    pub pending: Vec<Pending>,
    /// Whether a commit has not reached the screen yet.
    pub flipping: bool,
    /// Whether one that has reached it changes the mode, and not all have been told.
    pub setting_mode: bool,
    pub gamma: [Vec<u16>; 3],
    pub thread: bool,
}

/// The display of a device.
pub struct Display {
    pub(in crate::drm) modes: Vec<ModeInfo>,
    pub(in crate::drm) state: Mutex<State>,
    /// Something became pending, or reached the screen.
    pub(in crate::drm) changed: Condvar,
    pub(in crate::drm) screens: OnceLock<Vec<Box<dyn Screen>>>,
    plugged: AtomicBool,
}

/// What a file has of the display.
pub struct Seat {
    /// Its number among the device's files.
    pub number: u64,
    pub caps: Mutex<Caps>,
    /// Whether a master has let the file in.
    pub authenticated: Arc<AtomicBool>,
}

/// What a client has said that it knows.
#[derive(Clone, Copy, Default)]
pub struct Caps {
    pub universal_planes: bool,
    pub atomic: bool,
    pub was_master: bool,
    /// The file whose first mastership this one belongs to: 0 before there was any.
    pub master: u64,
    /// The file's magic, 0 without one.
    pub magic: u32,
}

impl Display {
    /// A display whose preferred mode has this size, in pixels.
    pub fn new(preferred: Option<(u16, u16)>) -> Arc<Display> {
        let identity: Vec<u16> = (0..GAMMA_SIZE as u16).map(|level| level << 8 | level).collect();
        let state = State {
            scene: Scene::default(),
            shown: Scene::default(),
            cursor: (0, 0),
            fbs: BTreeMap::new(),
            blobs: BTreeMap::new(),
            master: None,
            magics: BTreeMap::new(),
            unique: false,
            clock: Clock::start(),
            pending: Vec::new(),
            flipping: false,
            setting_mode: false,
            gamma: [identity.clone(), identity.clone(), identity],
            thread: false,
        };
        Arc::new(Display {
            modes: mode::all(preferred),
            state: Mutex::new(state),
            changed: Condvar::new(),
            screens: OnceLock::new(),
            plugged: AtomicBool::new(true),
        })
    }

    /// Plugs the screen in or out. What is shown goes on being sent, as a CRTC does not know who looks.
    pub fn plug(&self, plugged: bool) {
        self.plugged.store(plugged, Relaxed);
    }

    /// Whether a screen is there.
    pub(in crate::drm) fn is_plugged(&self) -> bool {
        self.plugged.load(Relaxed)
    }

    pub(in crate::drm) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// A seat for a file that is opened now.
    pub(in crate::drm) fn seat(&self, primary: bool, is_admin: bool) -> Seat {
        static FILES: AtomicU64 = AtomicU64::new(1);
        let number = FILES.fetch_add(1, Relaxed);
        let mut caps = Caps::default();
        let mut state = self.state();
        let authenticated = Arc::new(AtomicBool::new(is_admin));
        let seat = Seat { number, caps: Mutex::default(), authenticated };
        // Who opens the node first is master.
        match state.master {
            _ if !primary => {}
            None => state.new_master(&seat, &mut caps),
            Some(master) => caps.master = master,
        }
        *lock(&seat.caps) = caps;
        seat
    }

    /// Shows frames on these from now on; they can be set once.
    pub fn show_on(&self, screens: Vec<Box<dyn Screen>>) -> bool {
        self.screens.set(screens).is_ok()
    }

    /// Shows a scene on the screens.
    pub(in crate::drm) fn present(&self, scene: &Scene) {
        let Some(screens) = self.screens.get().filter(|screens| !screens.is_empty()) else { return };
        if let Some(frame) = compose(scene) {
            screens.iter().for_each(|screen| screen.show(&frame));
        }
    }

    /// Takes away what goes with a file: its framebuffers, blobs, magic and mastership.
    pub(in crate::drm) fn leave(&self, seat: &Seat) {
        let (number, caps) = (seat.number, *lock(&seat.caps));
        let mut state = self.state();
        state.magics.remove(&(caps.master, caps.magic));
        if state.master == Some(number) {
            state.master = None;
        }
        let mine: Vec<u32> =
            state.fbs.iter().filter(|(_, fb)| fb.owner == number).map(|(&id, _)| id).collect();
        for id in mine {
            if let Some(fb) = state.fbs.remove(&id) {
                state.forget(&fb);
            }
        }
        let mine: Vec<u32> =
            state.blobs.iter().filter(|(_, blob)| blob.owner == Some(number)).map(|(&id, _)| id).collect();
        mine.into_iter().for_each(|id| state.destroy_blob(id));
        state.pending.retain_mut(|pending| pending.without_file(number));
    }
}

impl State {
    /// Makes a file the master, for the first time: with magics of its own, and let in by itself.
    pub fn new_master(&mut self, seat: &Seat, caps: &mut Caps) {
        (self.master, self.unique) = (Some(seat.number), false);
        (caps.was_master, caps.master) = (true, seat.number);
        seat.authenticated.store(true, Relaxed);
    }

    /// The smallest magic that no file of this master has.
    pub fn free_magic(&self, master: u64) -> u32 {
        (1..).find(|&magic| !self.magics.contains_key(&(master, magic))).unwrap_or(0)
    }

    /// The smallest number that no framebuffer or blob has.
    pub fn free_number(&self) -> u32 {
        (FIRST_FREE..).find(|id| !self.fbs.contains_key(id) && !self.blobs.contains_key(id)).unwrap_or(0)
    }

    pub fn add_blob(&mut self, blob: Blob) -> u32 {
        let id = self.free_number();
        self.blobs.insert(id, Arc::new(blob));
        id
    }

    /// Takes a blob from its owner. The kernel counts references: the CRTC's keeps it under its number.
    pub fn destroy_blob(&mut self, id: u32) {
        if let Some(blob) = self.blobs.remove(&id) {
            let blob = Blob { data: blob.data.clone(), owner: None, destroyed: true };
            self.blobs.insert(id, Arc::new(blob));
        }
        self.drop_blobs();
    }

    /// Forgets destroyed blobs that the CRTC has no longer.
    pub fn drop_blobs(&mut self) {
        let mode = self.scene.mode.map(|(id, _)| id);
        self.blobs.retain(|&id, blob| !blob.destroyed || Some(id) == mode);
    }

    pub fn fb(&self, id: u32) -> Result<Arc<Framebuffer>, Errno> {
        self.fbs.get(&id).cloned().ok_or(Errno::ENOENT)
    }

    /// Puts a scene on the screen at the next blank, or at once.
    pub fn show(&mut self, scene: Scene, at_once: bool, after: Seqno, told: Option<Told>) {
        let due = if at_once { 0 } else { self.clock.sequence() + 1 };
        self.flipping = true;
        self.pending.push(Pending { due, after, scene: Some(scene), redraw: false, told });
    }

    /// Whether a mode is about to change, or who is to be told of it is not yet.
    pub fn sets_mode(&self) -> bool {
        let changes = |scene: &Scene| scene.mode != self.shown.mode || scene.active != self.shown.active;
        self.setting_mode || (self.flipping && changes(&self.scene))
    }

    /// Puts a cursor on the screen at once, and into what is to follow.
    pub fn move_cursor(&mut self, cursor: &Plane) {
        let to_come = self.pending.iter_mut().filter_map(|pending| pending.scene.as_mut());
        for scene in to_come.chain([&mut self.scene, &mut self.shown]) {
            scene.planes[1] = cursor.clone();
        }
        let after = cursor.fb.as_ref().map_or(Seqno(0), |fb| fb.object.state().last_job);
        self.pending.retain(|pending| !pending.redraw);
        self.pending.push(Pending { due: 0, after, scene: None, redraw: true, told: None });
    }

    /// Takes a framebuffer off the screen.
    pub fn forget(&mut self, fb: &Arc<Framebuffer>) {
        self.scene.forget(fb);
        self.shown.forget(fb);
        self.drop_blobs();
    }
}
