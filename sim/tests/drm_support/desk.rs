//! A process that owns the display, and the numbers of the display's calls.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytemuck::cast;
use vc4_sim::Mode;
use vc4_sim::drm::kms::{Frame, Screen};
use vc4_sim::drm::{Errno, Node};

use super::{CREATE_DUMB, MAP_DUMB, SET_CLIENT_CAP, World, words};

pub const SET_VERSION: u32 = 0xc010_6407;
pub const SET_MASTER: u32 = 0x641e;
pub const DROP_MASTER: u32 = 0x641f;
pub const AUTH_MAGIC: u32 = 0x4004_6411;
pub const GET_MAGIC: u32 = 0x8004_6402;
pub const GET_CLIENT: u32 = 0xc028_6405;
pub const WAIT_VBLANK: u32 = 0xc018_643a;
pub const GET_SEQUENCE: u32 = 0xc018_643b;
pub const QUEUE_SEQUENCE: u32 = 0xc018_643c;
pub const RESOURCES: u32 = 0xc040_64a0;
pub const GETCRTC: u32 = 0xc068_64a1;
pub const SETCRTC: u32 = 0xc068_64a2;
pub const CURSOR: u32 = 0xc01c_64a3;
pub const GETGAMMA: u32 = 0xc020_64a4;
pub const SETGAMMA: u32 = 0xc020_64a5;
pub const GETENCODER: u32 = 0xc014_64a6;
pub const GETCONNECTOR: u32 = 0xc050_64a7;
pub const GETPROPERTY: u32 = 0xc040_64aa;
pub const GETBLOB: u32 = 0xc010_64ac;
pub const GETFB: u32 = 0xc01c_64ad;
pub const ADDFB: u32 = 0xc01c_64ae;
pub const RMFB: u32 = 0xc004_64af;
pub const PAGE_FLIP: u32 = 0xc018_64b0;
pub const DIRTYFB: u32 = 0xc018_64b1;
pub const PLANES: u32 = 0xc010_64b5;
pub const GETPLANE: u32 = 0xc020_64b6;
pub const SETPLANE: u32 = 0xc030_64b7;
pub const ADDFB2: u32 = 0xc068_64b8;
pub const OBJ_PROPERTIES: u32 = 0xc020_64b9;
pub const OBJ_SET: u32 = 0xc018_64ba;
pub const ATOMIC: u32 = 0xc038_64bc;
pub const CREATE_BLOB: u32 = 0xc010_64bd;
pub const DESTROY_BLOB: u32 = 0xc004_64be;
pub const GETFB2: u32 = 0xc068_64ce;

/// Frames in the order of their appearance.
#[derive(Clone, Default)]
pub struct Seen(pub Arc<Mutex<Vec<Frame>>>);

impl Screen for Seen {
    fn show(&self, frame: &Frame) {
        self.0.lock().unwrap().push(frame.clone());
    }
}

impl Seen {
    /// The last frame once there are `count` of them.
    pub fn after(&self, count: usize) -> Frame {
        self.last_of(|frames| frames.len() >= count)
    }

    /// The last frame once it is like that.
    pub fn when(&self, is: impl Fn(&Frame) -> bool) -> Frame {
        self.last_of(|frames| frames.last().is_some_and(&is))
    }

    fn last_of(&self, is: impl Fn(&[Frame]) -> bool) -> Frame {
        let start = Instant::now();
        loop {
            let seen = self.0.lock().unwrap();
            if is(&seen) {
                return seen.last().unwrap().clone();
            }
            drop(seen);
            assert!(start.elapsed() < Duration::from_secs(5), "the frame never came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

pub struct Desk {
    pub world: World,
    pub seen: Seen,
    pub crtc: u32,
    pub connector: u32,
    pub encoder: u32,
    /// Modes as they came, the preferred one first.
    pub modes: Vec<[u32; 17]>,
}

impl Desk {
    pub fn new() -> Desk {
        let world = World::with(Mode::Faithful, Node::Primary, 64 << 20);
        let seen = Seen::default();
        assert!(world.device.display().show_on(vec![Box::new(seen.clone())]));
        let [fbs, crtcs, connectors, encoders] = [0; 4].map(|_: i32| world.put(&[0u32; 4]));
        let mut arg = [0u32; 16];
        for (to, at) in arg.chunks_mut(2).zip([fbs, crtcs, connectors, encoders]) {
            to.copy_from_slice(&words(at));
        }
        arg[8..12].fill(4);
        let out = world.ok(RESOURCES, arg);
        assert_eq!(out[8..], [0, 1, 1, 1, 0, 2048, 0, 2048]);
        let [crtc, connector, encoder] = [crtcs, connectors, encoders].map(|at| world.get::<u32>(at));
        let room = world.put(&[0u8; 68 * 8]);
        let mut arg = [0u32; 20];
        arg[2..4].copy_from_slice(&words(room));
        (arg[8], arg[12]) = (8, connector);
        let out = world.ok(GETCONNECTOR, arg);
        // HDMI-A, plugged in.
        assert_eq!((out[8], out[13], out[15]), (3, 11, 1));
        let modes = (0..out[8]).map(|number| world.get(room + u64::from(number) * 68)).collect();
        Desk { world, seen, crtc, connector, encoder, modes }
    }

    /// A dumb buffer of the mode's size, filled; its handle.
    pub fn buffer(&self, width: u32, height: u32, bpp: u32) -> [u32; 2] {
        let out = self.world.ok(CREATE_DUMB, [height, width, bpp, 0, 0, 0, 0, 0]);
        [out[4], out[5]]
    }

    pub fn fill(&self, handle: u32, value: u32) {
        let out = self.world.ok(MAP_DUMB, [handle, 0, 0, 0]);
        let offset = u64::from(out[2]) | u64::from(out[3]) << 32;
        let window = self.world.file.window(offset, 4096, true).unwrap();
        window.fill(value);
    }

    pub fn fb(&self, width: u32, height: u32, color: u32) -> u32 {
        let [handle, pitch] = self.buffer(width, height, 32);
        self.fill(handle, color);
        self.world.ok(ADDFB, [0, width, height, pitch, 32, 24, handle])[0]
    }

    pub fn size(&self, number: usize) -> (u32, u32) {
        // Bytes 4 and 14.
        (self.modes[number][1] & 0xffff, self.modes[number][3] >> 16)
    }

    pub fn crtc_arg(&self, fb: u32, mode: Option<usize>) -> [u32; 26] {
        let connectors = self.world.put(&[self.connector]);
        let mut arg = [0u32; 26];
        arg[..2].copy_from_slice(&words(connectors));
        (arg[2], arg[3], arg[4]) = (mode.is_some().into(), self.crtc, fb);
        if let Some(mode) = mode {
            arg[8] = 1;
            arg[9..].copy_from_slice(&self.modes[mode]);
        }
        arg
    }

    /// Shows a framebuffer in the smallest mode.
    pub fn show(&self, fb: u32) {
        self.world.ok(SETCRTC, self.crtc_arg(fb, Some(2)));
    }
}

/// Changes a value in passing.
pub trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> Tap for T {}

/// Numbers of an object's properties by name, with their values.
pub fn properties(desk: &Desk, object: u32) -> Vec<(String, u32, u64)> {
    let world = &desk.world;
    let (ids, values) = (world.put(&[0u32; 32]), world.put(&[0u64; 32]));
    let mut arg = [0u32; 8];
    arg[..2].copy_from_slice(&words(ids));
    arg[2..4].copy_from_slice(&words(values));
    (arg[4], arg[5]) = (32, object);
    let (answer, out) = world.call(OBJ_PROPERTIES, arg);
    let count = if answer.is_ok() { out[4] } else { 0 };
    (0..u64::from(count))
        .map(|number| {
            let id = world.get::<u32>(ids + number * 4);
            let out: [u32; 16] = world.ok(GETPROPERTY, [0u32; 16].tap(|arg| arg[4] = id));
            let name: Vec<u8> = cast::<[u32; 8], [u8; 32]>(out[6..14].try_into().unwrap()).to_vec();
            let name = String::from_utf8(name.split(|&byte| byte == 0).next().unwrap().to_vec()).unwrap();
            (name, id, world.get(values + number * 8))
        })
        .collect()
}

/// A desk whose file commits atomically; its primary and cursor plane.
pub fn atomic_desk() -> (Desk, u32, u32) {
    let desk = Desk::new();
    let planes = desk.world.put(&[0u32; 4]);
    let [low, high] = words(planes);
    assert_eq!(desk.world.ok(PLANES, [low, high, 4, 0])[2], 0);
    assert_eq!(desk.world.errno(ATOMIC, [0u64; 7]), Errno::EINVAL);
    desk.world.ok(SET_CLIENT_CAP, [3u64, 1]);
    assert_eq!(desk.world.errno(SET_CLIENT_CAP, [3u64, 3]), Errno::EINVAL);
    assert_eq!(desk.world.errno(SET_CLIENT_CAP, [9u64, 1]), Errno::EINVAL);
    assert_eq!(desk.world.ok(PLANES, [low, high, 4, 0])[2], 2);
    let (primary, cursor) = (desk.world.get(planes), desk.world.get(planes + 4));
    (desk, primary, cursor)
}
