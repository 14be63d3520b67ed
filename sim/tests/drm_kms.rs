//! The display's calls but for the atomic ones, with the kernel's answers (kernel-abi.md §13.5).

mod drm_support;

use std::time::Instant;

use drm_support::desk::*;
use drm_support::*;
use vc4_sim::drm::kms::Frame;
use vc4_sim::drm::{Errno, File, Node, Opener};

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

/// As the kernel's drm_auth.c has it, and igt-gpu-tools' core_auth and core_setmaster_vs_auth expect.
#[test]
fn magics_are_for_one_master_and_one_time() {
    let desk = Desk::new();
    let world = &desk.world;
    let stranger = || world.device.open_for(Node::Primary, Opener { pid: 1, is_admin: false });
    let magic = |file: &File| world.call_on(file, GET_MAGIC, [0u32]).1[0];
    let is_in = |file: &File| world.call_on(file, GET_CLIENT, [0u64; 5]).1[0] >> 32 == 1;
    let (other, third) = (stranger(), stranger());
    assert_eq!([magic(&other), magic(&third), magic(&other)], [1, 2, 1]);
    assert_eq!(world.call_on(&other, AUTH_MAGIC, [1u32]).0, Err(Errno::EACCES));
    assert!(!is_in(&other) && is_in(&world.file));
    world.ok(AUTH_MAGIC, [1u32]);
    assert!(is_in(&other) && !is_in(&third));
    assert_eq!(world.errno(AUTH_MAGIC, [1u32]), Errno::EINVAL, "it was good once");
    assert_eq!(world.errno(AUTH_MAGIC, [9u32]), Errno::EINVAL);
    // Another master knows nothing of them, but gives its own.
    world.ok(DROP_MASTER, [0u32]);
    let later = stranger();
    assert!(is_in(&later));
    assert_eq!(world.call_on(&later, AUTH_MAGIC, [2u32]).0, Err(Errno::EINVAL));
    assert_eq!(magic(&stranger()), 1);
    drop(later);
    world.ok(SET_MASTER, [0u32]);
    world.ok(AUTH_MAGIC, [2u32]);
    assert!(is_in(&third));
    // With its file, a magic goes.
    drop(third);
    assert_eq!(world.errno(AUTH_MAGIC, [2u32]), Errno::EINVAL);
}

/// The kernel's drm_master_check_perm.
#[test]
fn mastership_is_for_the_process_that_opened_the_file() {
    let mut desk = Desk::new();
    desk.world.caller.admin = false;
    let own = std::mem::replace(&mut desk.world.caller.pid, 1);
    assert_eq!(desk.world.errno(DROP_MASTER, [0u32]), Errno::EACCES);
    desk.world.caller.pid = own;
    desk.world.ok(DROP_MASTER, [0u32]);
    desk.world.caller.pid = 1;
    assert_eq!(desk.world.errno(SET_MASTER, [0u32]), Errno::EACCES);
    desk.world.caller.admin = true;
    desk.world.ok(SET_MASTER, [0u32]);
}

/// What is left of calls of older days.
#[test]
fn clients_and_statistics() {
    let desk = Desk::new();
    let world = &desk.world;
    let pid = u64::from(std::process::id());
    assert_eq!(world.ok(GET_CLIENT, [0u64, 7, 7, 7, 7]), [1 << 32, pid, 65534, 0, 0]);
    assert_eq!(world.errno(GET_CLIENT, [1u64, 0, 0, 0, 0]), Errno::EINVAL);
    assert_eq!(world.ok(0xc018_6405, [0u32, 7, 7, 7, 7, 7]), [0, 1, pid as u32, 65534, 0, 0]);
    assert_eq!(world.ok(0x80f8_6406, [7u64; 31]), [0; 31]);
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
    assert_eq!((out[1], out[3], out[9], out[18]), (64, fourcc(b"XR24"), pitch, 1));
    let known = out[5];
    world.ok(GEM_CLOSE, [known, 0]);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[18] = 2)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[3] = fourcc(b"NV12"))), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[4] = 4)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[13] = 4)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, full.tap(|arg| arg[10] = 4)), Errno::EINVAL);
    // Without the flag there is no modifier, and what is not used may be anything else.
    let plain = full.tap(|arg| arg[4] = 0);
    assert_eq!(world.errno(ADDFB2, plain.tap(tiled)), Errno::EINVAL);
    assert_eq!(world.errno(ADDFB2, plain.tap(|arg| arg[20] = 1)), Errno::EINVAL);
    world.ok(ADDFB2, plain.tap(|arg| (arg[6], arg[10], arg[14]) = (NONE, 4, 4)));
    // A handle of its own each time, which the caller closes: as igt-gpu-tools' kms_getfb expects.
    for _ in 0..2 {
        let out = world.ok(GETFB, [first, 0, 0, 0, 0, 0, 0]);
        assert_eq!(out[1..], [64, 64, pitch, 32, 24, known]);
        assert_ne!(known, handle);
        world.ok(GEM_CLOSE, [known, 0]);
    }
    world.ok(MAP_DUMB, [handle, 0, 0, 0]);
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
    // Times of processes with 32 bits are shorter.
    let short: [u32; 6] = desk.world.ok(0xc010_643a, [1, 0, 77, 77, 5, 6]);
    assert!(short[1] > first && short[2] != 77 && short[3] < 1_000_000 && short[4..] == [5, 6], "{short:?}");
    assert_eq!(wait(2, 0).0, Err(Errno::EINVAL));
    assert_eq!(wait(1 | 1 << 29, 0).0, Err(Errno::EINVAL));
    let out = desk.world.ok(GET_SEQUENCE, [desk.crtc, 0, 0, 0, 0, 0]);
    assert!(out[1] == 1 && out[2] >= first + 3);
    assert_eq!(desk.world.errno(GET_SEQUENCE, [0u32; 6]), Errno::ENOENT);
    assert!(desk.world.ok(QUEUE_SEQUENCE, [desk.crtc, 1, 2, 0, 0, 0])[2] > first);
    assert_eq!(desk.world.errno(QUEUE_SEQUENCE, [desk.crtc, 8, 2, 0, 0, 0]), Errno::EINVAL);
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
    // The plane's own frame may come later than the call is over.
    let pixel = |frame: &Frame, column: usize| frame.pixels[100 * 640 + column];
    world.ok(CURSOR, [3, desk.crtc, 100, 100, 64, 64, handle]);
    let frame = desk.seen.when(|frame| pixel(frame, 100) == 0xff_ffff);
    assert_eq!(pixel(&frame, 99), 0);
    world.ok(CURSOR, [1, desk.crtc, 0, 0, 0, 0, 0]);
    desk.seen.when(|frame| pixel(frame, 100) == 0);
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

/// Planes need no mode (the kernel's vc4_plane_atomic_check can update disabled ones).
#[test]
fn a_cursor_may_come_before_the_mode_and_stays_without_it() {
    let (desk, _, cursor) = atomic_desk();
    let [handle, _] = desk.buffer(64, 64, 32);
    desk.fill(handle, 0xffff_ffff);
    let set = |arg: [u32; 7]| desk.world.call(CURSOR, arg).0;
    assert_eq!(set([3, desk.crtc, 10, 100, 64, 64, handle]), Ok(()));
    let fb = desk.fb(640, 480, 0);
    for _ in 0..2 {
        desk.show(fb);
        desk.seen.when(|frame| frame.pixels[100 * 640 + 10] == 0xff_ffff);
        desk.world.ok(SETCRTC, desk.crtc_arg(0, None));
        desk.seen.0.lock().unwrap().clear();
    }
    // Switched off, it is nowhere; where it was counts when it comes again.
    assert_eq!(set([1, desk.crtc, 0, 0, 0, 0, 0]), Ok(()));
    let values = properties(&desk, cursor);
    let value = |name: &str| values.iter().find(|known| known.0 == name).unwrap().2;
    for name in ["FB_ID", "CRTC_ID", "CRTC_X", "CRTC_Y", "CRTC_W", "CRTC_H", "SRC_W", "SRC_H"] {
        assert_eq!(value(name), 0, "{name}");
    }
    assert_eq!(set([1, desk.crtc, 0, 0, 64, 64, handle]), Ok(()));
    let values = properties(&desk, cursor);
    let value = |name: &str| values.iter().find(|known| known.0 == name).unwrap().2;
    assert_eq!((value("CRTC_X"), value("CRTC_Y"), value("CRTC_W")), (10, 100, 64));
}

/// As igt-gpu-tools' kms_cursor_legacy expects: an application may move the pointer more often than frames come.
#[test]
fn cursors_wait_for_no_blank() {
    let desk = Desk::new();
    let (red, blue) = (desk.fb(640, 480, 0xff_0000), desk.fb(640, 480, 0xff));
    desk.show(red);
    let [handle, _] = desk.buffer(64, 64, 32);
    desk.fill(handle, 0xffff_ffff);
    let started = Instant::now();
    for x in 0..60 {
        desk.world.ok(CURSOR, [3, desk.crtc, x, 100, 64, 64, handle]);
    }
    assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
    let pixel = |frame: &Frame, column: usize| frame.pixels[100 * 640 + column];
    desk.seen.when(|frame| pixel(frame, 58) == 0xff_0000 && pixel(frame, 59) == 0xff_ffff);
    // A flip on its way is neither hurried nor lost.
    assert_eq!(desk.world.call(PAGE_FLIP, [desk.crtc, blue, 1, 0, 7, 0]).0, Ok(()));
    desk.world.ok(CURSOR, [2, desk.crtc, 200, 100, 0, 0, 0]);
    assert_eq!(desk.world.call(PAGE_FLIP, [desk.crtc, red, 1, 0, 7, 0]).0, Err(Errno::EBUSY));
    desk.seen.when(|frame| pixel(frame, 199) == 0xff && pixel(frame, 200) == 0xff_ffff);
}

#[test]
fn a_screen_that_sleeps_flips_nothing() {
    let desk = Desk::new();
    let fb = desk.fb(640, 480, 0);
    desk.show(fb);
    let dpms = properties(&desk, desk.connector).into_iter().find(|known| known.0 == "DPMS").unwrap().1;
    let set = |value: u32| desk.world.ok(OBJ_SET, [value, 0, dpms, desk.connector, 0xc0c0_c0c0, 0]);
    let flip = || desk.world.call(PAGE_FLIP, [desk.crtc, fb, 0, 0, 7, 0]).0;
    set(3);
    assert_eq!(flip(), Err(Errno::EINVAL));
    set(0);
    // What is so already costs no frame.
    let started = Instant::now();
    for _ in 0..60 {
        set(0);
    }
    assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
    assert_eq!(flip(), Ok(()));
}

/// As igt-gpu-tools' kms_properties and kms_prop_blob expect.
#[test]
fn older_property_calls_know_no_missing_property() {
    let (desk, primary, _) = atomic_desk();
    let world = &desk.world;
    let [low, high] = words(world.put(&[7u32]));
    let blob = world.ok(CREATE_BLOB, [low, high, 4, 0])[3];
    let dpms = properties(&desk, desk.connector).into_iter().find(|known| known.0 == "DPMS").unwrap().1;
    let set = |object: u32, property: u32| world.call(OBJ_SET, [0, 0, property, object, 0, 0]).0;
    assert_eq!(set(primary, dpms), Err(Errno::EINVAL));
    assert_eq!(set(desk.connector, 999), Err(Errno::EINVAL));
    assert_eq!(set(blob, dpms), Err(Errno::EINVAL));
    assert_eq!(set(999, dpms), Err(Errno::ENOENT));
    for kind in [0, 0xbbbb_bbbb] {
        let arg = [0u32; 8].tap(|arg| (arg[5], arg[6]) = (blob, kind));
        assert_eq!(world.errno(OBJ_PROPERTIES, arg), Errno::EINVAL);
    }
    let arg = [0u32; 8].tap(|arg| (arg[5], arg[6]) = (blob, 0xcccc_cccc));
    assert_eq!(world.errno(OBJ_PROPERTIES, arg), Errno::ENOENT);
}
