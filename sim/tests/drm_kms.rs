//! The display's calls with the kernel's answers (kernel-abi.md §13.5).

mod drm_support;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytemuck::cast;
use drm_support::*;
use vc4_sim::Mode;
use vc4_sim::drm::kms::{Frame, Screen};
use vc4_sim::drm::{Errno, Node};

const SET_VERSION: u32 = 0xc010_6407;
const SET_MASTER: u32 = 0x641e;
const DROP_MASTER: u32 = 0x641f;
const AUTH_MAGIC: u32 = 0x4004_6411;
const GET_MAGIC: u32 = 0x8004_6402;
const WAIT_VBLANK: u32 = 0xc018_643a;
const GET_SEQUENCE: u32 = 0xc018_643b;
const QUEUE_SEQUENCE: u32 = 0xc018_643c;
const RESOURCES: u32 = 0xc040_64a0;
const GETCRTC: u32 = 0xc068_64a1;
const SETCRTC: u32 = 0xc068_64a2;
const CURSOR: u32 = 0xc01c_64a3;
const GETGAMMA: u32 = 0xc020_64a4;
const SETGAMMA: u32 = 0xc020_64a5;
const GETENCODER: u32 = 0xc014_64a6;
const GETCONNECTOR: u32 = 0xc050_64a7;
const GETPROPERTY: u32 = 0xc040_64aa;
const GETBLOB: u32 = 0xc010_64ac;
const GETFB: u32 = 0xc01c_64ad;
const ADDFB: u32 = 0xc01c_64ae;
const RMFB: u32 = 0xc004_64af;
const PAGE_FLIP: u32 = 0xc018_64b0;
const DIRTYFB: u32 = 0xc018_64b1;
const PLANES: u32 = 0xc010_64b5;
const GETPLANE: u32 = 0xc020_64b6;
const SETPLANE: u32 = 0xc030_64b7;
const ADDFB2: u32 = 0xc068_64b8;
const OBJ_PROPERTIES: u32 = 0xc020_64b9;
const OBJ_SET: u32 = 0xc018_64ba;
const ATOMIC: u32 = 0xc038_64bc;
const CREATE_BLOB: u32 = 0xc010_64bd;
const DESTROY_BLOB: u32 = 0xc004_64be;
const GETFB2: u32 = 0xc068_64ce;

/// Frames in the order of their appearance.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Frame>>>);

impl Screen for Seen {
    fn show(&self, frame: &Frame) {
        self.0.lock().unwrap().push(frame.clone());
    }
}

impl Seen {
    /// The last frame once there are `count` of them.
    fn after(&self, count: usize) -> Frame {
        let start = Instant::now();
        loop {
            let seen = self.0.lock().unwrap();
            if seen.len() >= count {
                return seen.last().unwrap().clone();
            }
            drop(seen);
            assert!(start.elapsed() < Duration::from_secs(5), "frame {count} never came");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

struct Desk {
    world: World,
    seen: Seen,
    crtc: u32,
    connector: u32,
    encoder: u32,
    /// Modes as they came, the preferred one first.
    modes: Vec<[u32; 17]>,
}

impl Desk {
    fn new() -> Desk {
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
    fn buffer(&self, width: u32, height: u32, bpp: u32) -> [u32; 2] {
        let out = self.world.ok(CREATE_DUMB, [height, width, bpp, 0, 0, 0, 0, 0]);
        [out[4], out[5]]
    }

    fn fill(&self, handle: u32, value: u32) {
        let out = self.world.ok(MAP_DUMB, [handle, 0, 0, 0]);
        let offset = u64::from(out[2]) | u64::from(out[3]) << 32;
        let window = self.world.file.window(offset, 4096, true).unwrap();
        window.fill(value);
    }

    fn fb(&self, width: u32, height: u32, color: u32) -> u32 {
        let [handle, pitch] = self.buffer(width, height, 32);
        self.fill(handle, color);
        self.world.ok(ADDFB, [0, width, height, pitch, 32, 24, handle])[0]
    }

    fn size(&self, number: usize) -> (u32, u32) {
        // Bytes 4 and 14.
        (self.modes[number][1] & 0xffff, self.modes[number][3] >> 16)
    }

    fn crtc_arg(&self, fb: u32, mode: Option<usize>) -> [u32; 26] {
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
    fn show(&self, fb: u32) {
        self.world.ok(SETCRTC, self.crtc_arg(fb, Some(2)));
    }
}

#[test]
fn a_mode_is_set_and_a_picture_seen() {
    let desk = Desk::new();
    assert_eq!([0, 1, 2].map(|mode| desk.size(mode)), [(1920, 1080), (1280, 720), (640, 480)]);
    let fb = desk.fb(640, 480, 0x0012_3456);
    desk.show(fb);
    let frame = desk.seen.after(1);
    assert_eq!((frame.width, frame.height), (640, 480));
    assert!(frame.pixels.iter().all(|&pixel| pixel == 0x12_3456));
    let mut arg = [0u32; 26];
    arg[3] = desk.crtc;
    let out = desk.world.ok(GETCRTC, arg);
    assert_eq!((out[4], out[7], out[8]), (fb, 256, 1));
    assert_eq!(out[9..], desk.modes[2]);
    assert_eq!(desk.world.ok(GETENCODER, [desk.encoder, 0, 0, 0, 0]), [desk.encoder, 2, desk.crtc, 1, 1]);
    // Off again.
    desk.world.ok(SETCRTC, desk.crtc_arg(0, None));
    assert_eq!(desk.world.ok(GETENCODER, [desk.encoder, 0, 0, 0, 0])[2], 0);
    assert_eq!(desk.world.errno(GETENCODER, [desk.crtc, 0, 0, 0, 0]), Errno::ENOENT);
}

/// Changes a value in passing.
trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> Tap for T {}

#[test]
fn setcrtc_says_what_is_wrong() {
    let desk = Desk::new();
    let fb = desk.fb(640, 480, 0);
    let good = desk.crtc_arg(fb, Some(2));
    let errno = |change: &dyn Fn(&mut [u32; 26])| desk.world.errno(SETCRTC, good.tap(|arg| change(arg)));
    assert_eq!(errno(&|arg| arg[3] = 1), Errno::ENOENT);
    assert_eq!(errno(&|arg| arg[4] = 9999), Errno::ENOENT);
    assert_eq!(errno(&|arg| arg[4] = u32::MAX), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[2] = 0), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[8] = 0), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[5] = 1), Errno::ENOSPC);
    assert_eq!(errno(&|arg| arg[5] = 1 << 31), Errno::ERANGE);
    assert_eq!(errno(&|arg| arg[9] = 0), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[..2].copy_from_slice(&[BAD as u32, 0])), Errno::EFAULT);
    let other = desk.world.put(&[desk.crtc]);
    assert_eq!(errno(&|arg| arg[..2].copy_from_slice(&words(other))), Errno::ENOENT);
    desk.world.ok(SETCRTC, good);
}

#[test]
fn only_the_master_changes_the_screen() {
    let desk = Desk::new();
    let fb = desk.fb(640, 480, 0);
    let other = desk.world.device.open(Node::Primary);
    let mode = desk.crtc_arg(fb, Some(2));
    for (request, size) in [(SETCRTC, 26), (PAGE_FLIP, 6), (ATOMIC, 14), (SETPLANE, 12), (CURSOR, 7)] {
        let arg = [0u32; 26].tap(|arg| arg[..size].copy_from_slice(&mode[..size]));
        assert_eq!(desk.world.call_on(&other, request, arg).0, Err(Errno::EACCES), "{request:#x}");
    }
    let magic = desk.world.call_on(&other, GET_MAGIC, [0u32]).1[0];
    assert_eq!(desk.world.call_on(&other, AUTH_MAGIC, [magic]).0, Err(Errno::EACCES));
    desk.world.ok(AUTH_MAGIC, [magic]);
    assert_eq!(desk.world.errno(AUTH_MAGIC, [magic + 9]), Errno::EINVAL);
    desk.world.ok(SET_MASTER, [0u32]);
    assert_eq!(desk.world.call_on(&other, SET_MASTER, [0u32]).0, Err(Errno::EBUSY));
    assert_eq!(desk.world.call_on(&other, DROP_MASTER, [0u32]).0, Err(Errno::EINVAL));
    desk.world.ok(SET_VERSION, [1i32, 4, -1, -1]);
    assert_eq!(desk.world.errno(SET_VERSION, [2i32, 0, -1, -1]), Errno::EINVAL);
    desk.world.ok(DROP_MASTER, [0u32]);
    assert_eq!(desk.world.call_on(&other, SET_MASTER, [0u32]).0, Ok(()));
    assert_eq!(desk.world.errno(SETCRTC, mode), Errno::EACCES);
    // It is free again when its file is closed.
    drop(other);
    desk.world.ok(SET_MASTER, [0u32]);
    desk.world.ok(SETCRTC, mode);
}

#[test]
fn framebuffers_are_checked() {
    let desk = Desk::new();
    let world = &desk.world;
    let [handle, pitch] = desk.buffer(64, 64, 32);
    let good = [0, 64, 64, pitch, 32, 24, handle];
    let first = world.ok(ADDFB, good)[0];
    assert_eq!(world.ok(ADDFB, good)[0], first + 1);
    let errno = |change: &dyn Fn(&mut [u32; 7])| world.errno(ADDFB, good.tap(|arg| change(arg)));
    assert_eq!(errno(&|arg| arg[1] = 0), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[1] = 2049), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[2] = 65), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[3] = pitch - 1), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[5] = 30), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[6] = 0), Errno::EINVAL);
    assert_eq!(errno(&|arg| arg[6] = NONE), Errno::ENOENT);
    let fourcc = |name: &[u8; 4]| u32::from_le_bytes(*name);
    let full = [0u32; 26].tap(|arg| {
        (arg[1], arg[2], arg[3], arg[4]) = (64, 64, fourcc(b"XR24"), 2);
        (arg[5], arg[9]) = (handle, pitch);
    });
    let tiled = |arg: &mut [u32; 26]| arg[18..20].copy_from_slice(&words(0x0700_0000_0000_0001));
    let id = world.ok(ADDFB2, full.tap(tiled))[0];
    let out = world.ok(GETFB2, [0u32; 26].tap(|arg| arg[0] = id));
    assert_eq!((out[1], out[3], out[5], out[9], out[18]), (64, fourcc(b"XR24"), handle, pitch, 1));
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[18] = 2)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[3] = fourcc(b"NV12"))), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[4] = 4)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[13] = 4)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[10] = 4)), Errno::EINVAL);
    assert_eq!(world.ok(GETFB, [first, 0, 0, 0, 0, 0, 0])[1..], [64, 64, pitch, 32, 24, handle]);
    world.ok(DIRTYFB, [first, 0, 0, 0, 0, 0]);
    assert_eq!(world.errno(DIRTYFB, [first, 0, 0, 1, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(DIRTYFB, [9999u32, 0, 0, 0, 0, 0]), Errno::ENOENT);
    let other = world.device.open(Node::Primary);
    assert_eq!(world.call_on(&other, RMFB, [first]).0, Err(Errno::ENOENT));
    world.ok(RMFB, [first]);
    assert_eq!(world.errno(RMFB, [first]), Errno::ENOENT);
}

#[test]
fn flips_come_with_the_blank() {
    let desk = Desk::new();
    let (red, blue) = (desk.fb(640, 480, 0xff_0000), desk.fb(640, 480, 0xff));
    let flip = |fb: u32, flags: u32| desk.world.call(PAGE_FLIP, [desk.crtc, fb, flags, 0, 7, 0]).0;
    assert_eq!(flip(red, 0), Err(Errno::EBUSY));
    desk.show(red);
    desk.seen.after(1);
    assert_eq!(flip(blue, 4), Err(Errno::EINVAL));
    assert_eq!(flip(9999, 0), Err(Errno::ENOENT));
    assert_eq!(flip(desk.fb(64, 64, 0), 0), Err(Errno::ENOSPC));
    let started = Instant::now();
    for number in 0..4 {
        let (fb, color) = if number % 2 == 0 { (blue, 0xff) } else { (red, 0xff_0000) };
        assert_eq!(flip(fb, 1), Ok(()));
        // The one before is not visible yet.
        assert_eq!(flip(red, 0), Err(Errno::EBUSY));
        assert_eq!(desk.seen.after(2 + number).pixels[0], color);
    }
    // Four blanks of a sixtieth of a second.
    let elapsed = started.elapsed().as_millis();
    assert!((45..2000).contains(&elapsed), "{elapsed} ms");
    // A picture that goes takes the screen along.
    desk.world.ok(RMFB, [red]);
    assert_eq!(desk.world.ok(GETENCODER, [desk.encoder, 0, 0, 0, 0])[2], 0);
}

#[test]
fn blanks_are_counted() {
    let desk = Desk::new();
    assert_eq!(desk.world.errno(WAIT_VBLANK, [1u32, 1, 0, 0, 0, 0]), Errno::EINVAL);
    desk.show(desk.fb(640, 480, 0));
    let wait = |kind: u32, sequence: u32| desk.world.call(WAIT_VBLANK, [kind, sequence, 0, 0, 0, 0]);
    let first = wait(1, 0).1[1];
    assert_eq!(wait(1, 2).1[1], first + 2);
    assert!(wait(0, first + 3).1[1] >= first + 3);
    // Long gone.
    assert!(wait(0, first).0.is_ok());
    assert_eq!(wait(2, 0).0, Err(Errno::EINVAL));
    assert_eq!(wait(1 | 1 << 29, 0).0, Err(Errno::EINVAL));
    let out = desk.world.ok(GET_SEQUENCE, [desk.crtc, 0, 0, 0, 0, 0]);
    assert!(out[1] == 1 && out[2] >= first + 3);
    assert_eq!(desk.world.errno(GET_SEQUENCE, [0u32; 6]), Errno::ENOENT);
    assert!(desk.world.ok(QUEUE_SEQUENCE, [desk.crtc, 1, 2, 0, 0, 0])[2] > first);
    assert_eq!(desk.world.errno(QUEUE_SEQUENCE, [desk.crtc, 8, 2, 0, 0, 0]), Errno::EINVAL);
}

/// Numbers of an object's properties by name, with their values.
fn properties(desk: &Desk, object: u32) -> Vec<(String, u32, u64)> {
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

/// An atomic commit of properties by name.
fn atomic(desk: &Desk, flags: u32, changes: &[(u32, &str, u64)]) -> Result<(), Errno> {
    let id = |object: u32, name: &str| {
        properties(desk, object).into_iter().find(|known| known.0 == name).map_or(999, |known| known.1)
    };
    let objects: Vec<u32> = changes.iter().map(|change| change.0).collect();
    let ids: Vec<u32> = changes.iter().map(|&(object, name, _)| id(object, name)).collect();
    let values: Vec<u64> = changes.iter().map(|change| change.2).collect();
    let world = &desk.world;
    let arg = [
        u64::from(flags) | (changes.len() as u64) << 32,
        world.put(&objects),
        world.put(&vec![1u32; changes.len()]),
        world.put(&ids),
        world.put(&values),
        0,
        77,
    ];
    world.call(ATOMIC, arg).0
}

const TEST: u32 = 0x100;
const NONBLOCK: u32 = 0x200;
const MODESET: u32 = 0x400;

/// A desk whose file commits atomically; its primary and cursor plane.
fn atomic_desk() -> (Desk, u32, u32) {
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

fn plane_on(
    desk: &Desk,
    plane: u32,
    fb: u32,
    at: (i64, i64),
    size: (u64, u64),
) -> Vec<(u32, &'static str, u64)> {
    vec![
        (plane, "FB_ID", fb.into()),
        (plane, "CRTC_ID", desk.crtc.into()),
        (plane, "CRTC_X", at.0 as u64),
        (plane, "CRTC_Y", at.1 as u64),
        (plane, "CRTC_W", size.0),
        (plane, "CRTC_H", size.1),
        (plane, "SRC_X", 0),
        (plane, "SRC_Y", 0),
        (plane, "SRC_W", size.0 << 16),
        (plane, "SRC_H", size.1 << 16),
    ]
}

#[test]
fn atomic_commits() {
    let (desk, primary, cursor) = atomic_desk();
    let world = &desk.world;
    let [low, high] = words(world.put(&desk.modes[2]));
    let mode = world.ok(CREATE_BLOB, [low, high, 68, 0])[3];
    let fb = desk.fb(640, 480, 0x40_4040);
    let mut on = plane_on(&desk, primary, fb, (0, 0), (640, 480));
    on.extend([
        (desk.connector, "CRTC_ID", u64::from(desk.crtc)),
        (desk.crtc, "MODE_ID", mode.into()),
        (desk.crtc, "ACTIVE", 1),
    ]);
    let commit = |flags: u32, changes: &[(u32, &str, u64)]| atomic(&desk, flags, changes);
    assert_eq!(commit(0, &on), Err(Errno::EINVAL), "a mode needs leave");
    assert_eq!(commit(TEST | MODESET, &on), Ok(()));
    assert_eq!(properties(&desk, desk.crtc)[0].2, 0, "a test changes nothing");
    assert_eq!(commit(MODESET, &on), Ok(()));
    assert_eq!(desk.seen.after(1).pixels[5], 0x40_4040);
    // A cursor that looks in from the left.
    let [handle, pitch] = desk.buffer(64, 64, 32);
    desk.fill(handle, 0xff00_ff00);
    let format = u32::from_le_bytes(*b"AR24");
    let picture = world.ok(
        ADDFB2,
        [0u32; 26].tap(|arg| {
            (arg[1], arg[2], arg[3], arg[5], arg[9]) = (64, 64, format, handle, pitch);
        }),
    )[0];
    assert_eq!(commit(NONBLOCK | 1, &plane_on(&desk, cursor, picture, (-32, 10), (64, 64))), Ok(()));
    let frame = desk.seen.after(2);
    let at = |x: usize, y: usize| frame.pixels[y * 640 + x];
    assert_eq!(
        [at(0, 9), at(0, 10), at(31, 73), at(32, 73), at(0, 74)],
        [0x40_4040, 0xff00, 0xff00, 0x40_4040, 0x40_4040]
    );
    let errno = |change: (u32, &str, u64)| commit(TEST, &[change]);
    assert_eq!(errno((desk.encoder, "ACTIVE", 0)), Err(Errno::ENOENT));
    assert_eq!(errno((999, "ACTIVE", 0)), Err(Errno::ENOENT));
    assert_eq!(errno((primary, "no such", 0)), Err(Errno::ENOENT));
    assert_eq!(errno((primary, "FB_ID", 999)), Err(Errno::EINVAL));
    assert_eq!(errno((primary, "type", 0)), Err(Errno::EINVAL));
    assert_eq!(errno((primary, "CRTC_ID", 0)), Err(Errno::EINVAL), "a picture without a CRTC");
    assert_eq!(errno((primary, "SRC_W", 641 << 16)), Err(Errno::ENOSPC));
    assert_eq!(errno((desk.crtc, "ACTIVE", 2)), Err(Errno::EINVAL));
    assert_eq!(errno((desk.crtc, "MODE_ID", picture.into())), Err(Errno::EINVAL));
    assert_eq!(errno((primary, "IN_FENCE_FD", 77)), Err(Errno::EINVAL));
    assert_eq!(commit(TEST | 1, &[]), Err(Errno::EINVAL));
    assert_eq!(commit(2, &[]), Err(Errno::EINVAL));
    // A fence that is passed on, and one that comes back.
    let syncobj = world.ok(SYNCOBJ_CREATE, [0u32, 1])[0];
    let fence = world.ok(SYNCOBJ_HANDLE_TO_FD, [syncobj, 1, 0, 0])[2];
    let place = world.put(&[-1i32; 2]);
    let fenced = [(primary, "IN_FENCE_FD", fence.into()), (desk.crtc, "OUT_FENCE_PTR", place)];
    assert_eq!(commit(NONBLOCK, &fenced), Ok(()));
    assert!(world.get::<i32>(place) > fence as i32);
    // Blobs go with whoever made them.
    assert_eq!(world.call_on(&world.device.open(Node::Primary), DESTROY_BLOB, [mode]).0, Err(Errno::EPERM));
    world.ok(DESTROY_BLOB, [mode]);
    assert_eq!(world.errno(DESTROY_BLOB, [mode]), Errno::ENOENT);
    assert_eq!(world.errno(CREATE_BLOB, [low, high, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(CREATE_BLOB, [BAD as u32, 0, 8, 0]), Errno::EFAULT);
    // A bad address.
    assert_eq!(world.errno(ATOMIC, [1 << 32, BAD, BAD, BAD, BAD, 0, 0]), Errno::EFAULT);
}

#[test]
fn planes_and_their_formats() {
    let (desk, primary, _) = atomic_desk();
    let world = &desk.world;
    let formats = world.put(&[0u32; 16]);
    let [low, high] = words(formats);
    let out = world.ok(GETPLANE, [primary, 0, 0, 0, 0, 16, low, high]);
    assert_eq!(out[..6], [primary, 0, 0, 1, 0, 10]);
    assert_eq!(world.get::<u32>(formats).to_le_bytes(), *b"XR24");
    assert_eq!(world.errno(GETPLANE, [1u32, 0, 0, 0, 0, 0, 0, 0]), Errno::ENOENT);
    // The list of modifiers says the same, and T for all that have a utile.
    let blob = properties(&desk, primary).into_iter().find(|known| known.0 == "IN_FORMATS").unwrap().2;
    let length = world.ok(GETBLOB, [blob as u32, 0, 0, 0])[1];
    let at = world.put(&vec![0u8; length as usize]);
    let [low, high] = words(at);
    world.ok(GETBLOB, [blob as u32, length, low, high]);
    let header: [u32; 6] = world.get(at);
    assert_eq!((header[0], header[2], header[4]), (1, 10, 2));
    let tiled: [u64; 3] = world.get(at + u64::from(header[5]) + 24);
    assert_eq!(tiled, [0xff, 0, 0x0700_0000_0000_0001]);
    assert_eq!(world.errno(GETBLOB, [999u32, 0, 0, 0]), Errno::ENOENT);
    assert_eq!(world.errno(GETPROPERTY, [0u32; 16].tap(|arg| arg[4] = 999)), Errno::ENOENT);
}

#[test]
fn older_calls_for_planes_cursors_and_gamma() {
    let (desk, primary, _) = atomic_desk();
    let world = &desk.world;
    let fb = desk.fb(640, 480, 0);
    desk.show(fb);
    let plane = [primary, desk.crtc, fb, 0, 0, 0, 640, 480, 0, 0, 480 << 16, 640 << 16];
    world.ok(SETPLANE, plane);
    assert_eq!(world.errno(SETPLANE, plane.tap(|arg| arg[0] = 1)), Errno::ENOENT);
    assert_eq!(world.errno(SETPLANE, plane.tap(|arg| arg[1] = 1)), Errno::ENOENT);
    assert_eq!(world.errno(SETPLANE, plane.tap(|arg| arg[2] = 999)), Errno::ENOENT);
    assert_eq!(world.errno(SETPLANE, plane.tap(|arg| arg[11] = 641 << 16)), Errno::ENOSPC);
    assert_eq!(world.errno(SETPLANE, plane.tap(|arg| arg[6] = 1 << 31)), Errno::ERANGE);
    let [handle, _] = desk.buffer(64, 64, 32);
    desk.fill(handle, 0xffff_ffff);
    let before = desk.seen.0.lock().unwrap().len();
    world.ok(CURSOR, [3, desk.crtc, 100, 100, 64, 64, handle]);
    let frame = desk.seen.after(before + 1);
    assert_eq!((frame.pixels[100 * 640 + 99], frame.pixels[100 * 640 + 100]), (0, 0xff_ffff));
    world.ok(CURSOR, [1, desk.crtc, 0, 0, 0, 0, 0]);
    assert_eq!(desk.seen.after(before + 2).pixels[100 * 640 + 100], 0);
    assert_eq!(world.errno(CURSOR, [0, desk.crtc, 0, 0, 0, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(CURSOR, [1, 1, 0, 0, 0, 0, 0]), Errno::ENOENT);
    assert_eq!(world.errno(CURSOR, [1, desk.crtc, 0, 0, 64, 64, NONE]), Errno::ENOENT);
    let tables = [0; 3].map(|_: i32| words(world.put(&[0u16; 256])));
    let gamma = [[desk.crtc, 256], tables[0], tables[1], tables[2]].concat();
    let gamma: [u32; 8] = gamma.try_into().unwrap();
    world.ok(GETGAMMA, gamma);
    let at = |table: [u32; 2]| u64::from(table[0]) | u64::from(table[1]) << 32;
    assert_eq!(world.get::<u16>(at(tables[1]) + 2 * 255), 0xffff);
    world.ok(SETGAMMA, gamma);
    assert_eq!(world.errno(GETGAMMA, gamma.tap(|arg| arg[1] = 255)), Errno::EINVAL);
    assert_eq!(world.errno(GETGAMMA, gamma.tap(|arg| arg[0] = 1)), Errno::ENOENT);
    // The screen sleeps and wakes.
    let dpms = properties(&desk, desk.connector).into_iter().find(|known| known.0 == "DPMS").unwrap().1;
    let set = |value: u32| world.call(OBJ_SET, [value, 0, dpms, desk.connector, 0xc0c0_c0c0, 0]).0;
    assert_eq!(set(3), Ok(()));
    assert_eq!(properties(&desk, desk.crtc)[0].2, 0);
    assert_eq!((set(9), set(0)), (Err(Errno::EINVAL), Ok(())));
    assert_eq!(properties(&desk, desk.crtc)[0].2, 1);
}
