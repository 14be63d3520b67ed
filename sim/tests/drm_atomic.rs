//! The display's atomic calls with the kernel's answers (kernel-abi.md §13.5).

mod drm_support;

use drm_support::desk::*;
use drm_support::*;
use vc4_sim::drm::{Errno, Node};

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
    // An event is a CRTC's: of what is changed, something must be on one.
    assert_eq!(commit(1, &[]), Err(Errno::EINVAL));
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
    // As long as the CRTC has it, it is there under its number, but nobody's any more (drm_mode_destroyblob).
    assert_eq!(world.errno(DESTROY_BLOB, [mode]), Errno::EPERM);
    assert_eq!(world.ok(GETBLOB, [mode, 0, 0, 0])[1], 68);
    let next = world.ok(CREATE_BLOB, [low, high, 68, 0])[3];
    assert_ne!(next, mode);
    assert_eq!(properties(&desk, desk.crtc)[1].2, mode.into());
    assert_eq!(commit(MODESET, &[(desk.crtc, "MODE_ID", next.into())]), Ok(()));
    assert_eq!(world.errno(GETBLOB, [mode, 0, 0, 0]), Errno::ENOENT);
    world.ok(DESTROY_BLOB, [next]);
    assert_eq!(world.errno(CREATE_BLOB, [low, high, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(CREATE_BLOB, [BAD as u32, 0, 8, 0]), Errno::EFAULT);
    // More objects than there are: what is none of them is told first, as igt-gpu-tools' kms_atomic expects.
    let nothing = world.put(&[0u32; 64]);
    let count = u64::from(u32::MAX / 4) << 32;
    assert_eq!(world.errno(ATOMIC, [count, nothing, nothing, nothing, nothing, 0, 0]), Errno::ENOENT);
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

/// As igt-gpu-tools' kms_atomic and kms_vblank expect.
#[test]
fn planes_stay_when_the_crtc_goes() {
    let (desk, primary, cursor) = atomic_desk();
    let fb = desk.fb(640, 480, 0x40_4040);
    desk.show(fb);
    desk.seen.after(1);
    let mode = properties(&desk, desk.crtc)[1].2;
    let [low, high] = words(desk.world.put(&desk.modes[2]));
    let own = desk.world.ok(CREATE_BLOB, [low, high, 68, 0])[3];
    assert_ne!(mode, own.into());
    // A plane that is on no CRTC before nor after has no event.
    assert_eq!(atomic(&desk, 1, &[(cursor, "CRTC_X", 5)]), Err(Errno::EINVAL));
    assert_eq!(atomic(&desk, 1, &[(primary, "CRTC_X", 0)]), Ok(()));
    let off = [(desk.connector, "CRTC_ID", 0), (desk.crtc, "MODE_ID", 0), (desk.crtc, "ACTIVE", 0)];
    assert_eq!(atomic(&desk, MODESET, &off), Ok(()));
    assert_eq!(properties(&desk, primary).iter().find(|known| known.0 == "FB_ID").unwrap().2, fb.into());
    desk.seen.0.lock().unwrap().clear();
    let crtc = desk.crtc.into();
    let on =
        [(desk.connector, "CRTC_ID", crtc), (desk.crtc, "MODE_ID", own.into()), (desk.crtc, "ACTIVE", 1)];
    assert_eq!(atomic(&desk, MODESET | 1, &on), Ok(()));
    assert_eq!(desk.seen.after(1).pixels[5], 0x40_4040);
    // Objects without properties are none here.
    for object in [own, desk.encoder, fb] {
        assert_eq!(atomic(&desk, TEST, &[(object, "ACTIVE", 0)]), Err(Errno::ENOENT));
    }
}

/// As igt-gpu-tools' kms_cursor_legacy expects (nonblocking-modeset-vs-cursor).
#[test]
fn a_cursor_waits_for_the_mode_before_it() {
    let (desk, primary, _) = atomic_desk();
    let [handle, _] = desk.buffer(64, 64, 32);
    let picture = desk.fb(640, 480, 0);
    let [low, high] = words(desk.world.put(&desk.modes[2]));
    let mode = desk.world.ok(CREATE_BLOB, [low, high, 68, 0])[3];
    let crtc = desk.crtc.into();
    let mut on = plane_on(&desk, primary, picture, (0, 0), (640, 480));
    on.extend([
        (desk.connector, "CRTC_ID", crtc),
        (desk.crtc, "MODE_ID", mode.into()),
        (desk.crtc, "ACTIVE", 1),
    ]);
    assert_eq!(atomic(&desk, MODESET | NONBLOCK | 1, &on), Ok(()));
    desk.world.ok(CURSOR, [3, desk.crtc, 10, 100, 64, 64, handle]);
    assert!(!desk.seen.0.lock().unwrap().is_empty(), "the mode was there first");
}
