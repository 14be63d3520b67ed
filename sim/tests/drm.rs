//! The kernel's calls with the kernel's answers: identification, BOs, sharing (kernel-abi.md §2–§4, §13).

mod drm_support;

use drm_support::*;
use vc4_sim::Mode;
use vc4_sim::drm::{DmaBuf, Errno, Exported, Node, Process};

const T_TILED: u64 = 0x0700_0000_0000_0001;
/// NOP, PROGRAM END, NOP, NOP.
const SHADER: [u64; 4] =
    [0x1000_09e7_009e_7000, 0x3000_09e7_009e_7000, 0x1000_09e7_009e_7000, 0x1000_09e7_009e_7000];

fn shader(world: &World) -> u32 {
    let [low, high] = words(world.put(&SHADER));
    world.ok(CREATE_SHADER_BO, [32, 0, low, high, 0, 0])[4]
}

#[test]
fn dispatch_is_by_type_and_number() {
    let world = World::new();
    assert_eq!(world.errno(0xc010_6547, [0u32; 4]), Errno::ENOTTY);
    assert_eq!(world.errno(0xc010_649f, [0u32; 4]), Errno::EINVAL);
    assert_eq!(world.errno(0xc010_644f, [0u32; 4]), Errno::EINVAL);
    assert_eq!(world.file.ioctl(GET_PARAM, BAD, &world.caller), Err(Errno::EFAULT));
    // Shorter: the pad is taken as zero and the value does not come back.
    assert_eq!(world.ok(0xc004_6447, [0u32, 7, 0, 0]), [0, 7, 0, 0]);
    // Longer: the surplus is left alone.
    assert_eq!(world.ok(0xc018_6447, [0u32, 0, 0, 0, 5, 6]), [0, 0, 0x0244_3356, 0, 5, 6]);
    // Back even on failure, from what the kernel read.
    assert_eq!(world.call(GET_PARAM, [77u32, 0, 3, 0]), (Err(Errno::EINVAL), [77, 0, 3, 0]));
}

#[test]
fn parameters() {
    let world = World::new();
    let value = |param: u32| world.ok(GET_PARAM, [param, 0, 0, 0])[2];
    let values: Vec<u32> = (0..=8).map(value).collect();
    assert_eq!(values, [0x0244_3356, 0xc110_2431, 0x121, 1, 1, 1, 1, 1, 1]);
    assert_eq!(world.errno(GET_PARAM, [9u32, 0, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(GET_PARAM, [0u32, 1, 0, 0]), Errno::EINVAL);
}

#[test]
fn version_tells_lengths_and_fills_what_fits() {
    let world = World::new();
    let lengths: [u64; 8] = world.ok(VERSION, [0; 8]);
    assert_eq!(lengths, [0, 0, 3, 0, 8, 0, 21, 0]);
    let (name, date) = (world.put(&[0xffu8; 8]), world.put(&[0xffu8; 4]));
    let filled: [u64; 8] = world.ok(VERSION, [0, 0, 8, name, 4, date, 0, 0]);
    assert_eq!((filled[2], filled[4]), (3, 8));
    assert_eq!(&world.get::<[u8; 4]>(name), b"vc4\xff");
    assert_eq!(&world.get::<[u8; 4]>(date), b"2014");
    assert_eq!(world.errno(VERSION, [0, 0, 8, BAD, 0, 0, 0, 0]), Errno::EFAULT);
}

#[test]
fn processes_with_32_bits_have_shorter_structs() {
    const VERSION_32: u32 = 0xc024_6400;
    const GET_UNIQUE_32: u32 = 0xc008_6401;
    let primary = World::with(Mode::Faithful, Node::Primary, 32 << 20);
    let (name, date) = (primary.put(&[0xffu8; 8]), primary.put(&[0xffu8; 4]));
    let filled = primary.ok(VERSION_32, [9u32, 9, 9, 8, name as u32, 4, date as u32, 0, 0]);
    assert_eq!(filled, [0, 0, 0, 3, name as u32, 8, date as u32, 21, 0]);
    assert_eq!(&primary.get::<[u8; 4]>(name), b"vc4\xff");
    assert_eq!(&primary.get::<[u8; 4]>(date), b"2014");
    primary.ok(0xc010_6407, [1i32, 4, -1, -1]);
    let text = primary.put(&[0u8; 7]);
    assert_eq!(primary.ok(GET_UNIQUE_32, [7u32, text as u32]), [7, text as u32]);
    assert_eq!(&primary.get::<[u8; 7]>(text), b"soc:gpu");
}

#[test]
fn capabilities() {
    let world = World::new();
    let capability = |number: u64| world.call(GET_CAP, [number, 0]);
    for (number, value) in [(1, 1), (3, 24), (5, 3), (6, 1), (8, 64), (0x10, 1), (0x13, 1), (0x14, 0)] {
        assert_eq!(capability(number), (Ok(()), [number, value]));
    }
    assert_eq!(capability(0x99).0, Err(Errno::EINVAL));
}

#[test]
fn what_only_the_primary_node_may() {
    let primary = World::with(Mode::Faithful, Node::Primary, 32 << 20);
    let render = World::new();
    for request in [GET_UNIQUE, GEM_FLINK, CREATE_DUMB, MAP_DUMB, SET_CLIENT_CAP, GET_HANG_STATE, 0xc040_64a0]
    {
        assert_eq!(render.errno(request, [0u32; 32]), Errno::EACCES, "{request:#x}");
    }
    assert_eq!(primary.ok(GET_UNIQUE, [0u64; 2])[0], 0);
    primary.ok(0xc010_6407, [1i32, 4, -1, -1]);
    assert_eq!(primary.ok(GET_UNIQUE, [0u64; 2])[0], 7);
    let text = primary.put(&[0u8; 7]);
    primary.ok(GET_UNIQUE, [7, text]);
    assert_eq!(&primary.get::<[u8; 7]>(text), b"soc:gpu");
    // Leases are not offered.
    assert_eq!(primary.errno(0xc018_64c6, [0u32; 32]), Errno::EOPNOTSUPP);
}

#[test]
fn bos_come_zeroed_in_pages_with_the_smallest_handle() {
    let world = World::new();
    assert_eq!([world.bo(1), world.bo(4097), world.bo(4096)], [1, 2, 3]);
    world.ok(GEM_CLOSE, [2u32, 0]);
    assert_eq!(world.errno(GEM_CLOSE, [2u32, 0]), Errno::EINVAL);
    // Flags and pad are not looked at.
    assert_eq!(world.ok(CREATE_BO, [5000u32, 7, 0, 7])[2], 2);
    assert_eq!(world.errno(CREATE_BO, [0u32; 4]), Errno::EINVAL);
    assert_eq!(world.errno(CREATE_BO, [64u32 << 20, 0, 0, 0]), Errno::ENOMEM);
    assert_eq!(world.errno(CREATE_BO, [u32::MAX, 0, 0, 0]), Errno::ENOMEM);
}

#[test]
fn shader_bos_are_validated() {
    let world = World::new();
    let [low, high] = words(world.put(&SHADER));
    let errno = |arg: [u32; 6]| world.errno(CREATE_SHADER_BO, arg);
    assert_eq!(shader(&world), 1);
    assert_eq!(errno([0, 0, low, high, 0, 0]), Errno::EINVAL);
    assert_eq!(errno([12, 0, low, high, 0, 0]), Errno::EINVAL);
    assert_eq!(errno([32, 1, low, high, 0, 0]), Errno::EINVAL);
    assert_eq!(errno([32, 0, low, high, 0, 1]), Errno::EINVAL);
    assert_eq!(errno([32, 0, BAD as u32, 0, 0, 0]), Errno::EFAULT);
    let [low, high] = words(world.put(&[0u64; 4]));
    assert_eq!(errno([32, 0, low, high, 0, 0]), Errno::EINVAL);
}

#[test]
fn mappings() {
    let world = World::new();
    let (bo, code) = (world.bo(8192), shader(&world));
    let offset = |handle: u32| world.ok(MMAP_BO, [handle, 1, 0, 0]);
    let at = |arg: [u32; 4]| u64::from(arg[2]) | u64::from(arg[3]) << 32;
    let (bo_at, code_at) = (at(offset(bo)), at(offset(code)));
    assert_eq!(world.errno(MMAP_BO, [NONE, 0, 0, 0]), Errno::EINVAL);
    assert!(bo_at % 4096 == 0 && bo_at != code_at);
    let window = |offset, length, write| world.file.window(offset, length, write).map(|window| window.size());
    assert_eq!(window(bo_at, 8192, true), Ok(8192));
    assert_eq!(window(bo_at, 4096, true), Ok(8192));
    assert_eq!(window(bo_at, 12288, true), Err(Errno::EINVAL));
    assert_eq!(window(bo_at + 4096, 4096, true), Err(Errno::EINVAL));
    assert_eq!(window(code_at, 4096, false), Ok(4096));
    assert_eq!(window(code_at, 4096, true), Err(Errno::EINVAL));
    let other = world.device.open(Node::Render);
    assert_eq!(other.window(bo_at, 4096, false).map(|_| ()), Err(Errno::EACCES));
    world.ok(GEM_MADVISE, [bo, 1, 0, 0]);
    assert_eq!(window(bo_at, 4096, false), Err(Errno::EINVAL));
}

#[test]
fn tiling() {
    let world = World::new();
    let bo = world.bo(4096);
    let arg = |handle: u32, flags: u32, modifier: u64| [u64::from(handle) | u64::from(flags) << 32, modifier];
    assert_eq!(world.ok(GET_TILING, arg(bo, 0, 0))[1], 0);
    world.ok(SET_TILING, arg(bo, 0, T_TILED));
    assert_eq!(world.ok(GET_TILING, arg(bo, 0, 0))[1], T_TILED);
    world.ok(SET_TILING, arg(bo, 0, 0));
    assert_eq!(world.ok(GET_TILING, arg(bo, 0, 0))[1], 0);
    assert_eq!(world.errno(SET_TILING, arg(bo, 1, 0)), Errno::EINVAL);
    assert_eq!(world.errno(SET_TILING, arg(bo, 0, 2)), Errno::EINVAL);
    assert_eq!(world.errno(SET_TILING, arg(NONE, 0, 0)), Errno::ENOENT);
    assert_eq!(world.errno(GET_TILING, arg(bo, 1, 0)), Errno::EINVAL);
    assert_eq!(world.errno(GET_TILING, arg(bo, 0, T_TILED)), Errno::EINVAL);
    assert_eq!(world.errno(GET_TILING, arg(0, 0, 0)), Errno::ENOENT);
}

#[test]
fn labels() {
    let world = World::new();
    let bo = world.bo(4096);
    let name = world.put(b"depth\0");
    let arg = |handle: u32, len: u32, name: u64| [u64::from(handle) | u64::from(len) << 32, name];
    world.ok(LABEL_BO, arg(bo, 5, name));
    assert_eq!(world.errno(LABEL_BO, arg(bo, 4, name)), Errno::EINVAL);
    assert_eq!(world.errno(LABEL_BO, arg(bo, 0, name)), Errno::EINVAL);
    assert_eq!(world.errno(LABEL_BO, arg(bo, 5, BAD)), Errno::EFAULT);
    assert_eq!(world.errno(LABEL_BO, arg(NONE, 5, name)), Errno::ENOENT);
}

#[test]
fn unneeded_bos_are_purged_when_memory_runs_out() {
    let world = World::new();
    let advise = |handle: u32, madv: u32| world.ok(GEM_MADVISE, [handle, madv, 9, 0])[2];
    let (lost, kept) = (world.bo(20 << 20), world.bo(20 << 20));
    assert_eq!(advise(lost, 1), 1);
    assert_eq!((advise(kept, 1), advise(kept, 0)), (1, 1));
    world.bo(20 << 20);
    assert_eq!((advise(lost, 0), advise(kept, 0)), (0, 1));
    // Purged for good.
    assert_eq!(advise(lost, 0), 0);
    assert_eq!(world.errno(HANDLE_TO_FD, [lost, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(GEM_MADVISE, [kept, 2, 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(GEM_MADVISE, [kept, 0, 0, 1]), Errno::EINVAL);
    assert_eq!(world.errno(GEM_MADVISE, [NONE, 0, 0, 0]), Errno::ENOENT);
}

#[test]
fn a_shared_bo_is_one_bo() {
    let world = World::new();
    let bo = world.bo(8192);
    let fd = world.ok(HANDLE_TO_FD, [bo, 0o2000002, 0])[2];
    assert_eq!(world.ok(FD_TO_HANDLE, [0u32, 0, fd])[0], bo);
    let other = world.device.open(Node::Render);
    let imported = world.call_on(&other, FD_TO_HANDLE, [0u32, 0, fd]);
    assert_eq!(imported, (Ok(()), [1, 0, fd]));
    // Never purged once exported.
    world.ok(GEM_MADVISE, [bo, 1, 0, 0]);
    assert_eq!(world.errno(CREATE_BO, [63u32 << 20, 0, 0, 0]), Errno::ENOMEM);
    assert_eq!(world.ok(GEM_MADVISE, [bo, 0, 0, 0])[2], 1);
    assert_eq!(world.errno(HANDLE_TO_FD, [NONE, 0, 0]), Errno::ENOENT);
    assert_eq!(world.errno(HANDLE_TO_FD, [bo, 1, 0]), Errno::EINVAL);
    assert_eq!(world.errno(HANDLE_TO_FD, [shader(&world), 0, 0]), Errno::EINVAL);
    assert_eq!(world.errno(FD_TO_HANDLE, [0u32, 0, 77]), Errno::EBADF);
}

#[test]
fn a_dma_buf_has_its_own_calls() {
    let world = World::new();
    let fd = world.ok(HANDLE_TO_FD, [world.bo(8192), 0, 0])[2];
    let Ok(Exported::DmaBuf(buffer)) = world.caller.exported(fd as i32) else { panic!() };
    assert_eq!(buffer.size(), 8192);
    assert!(buffer.window(4096, 4096).is_ok() && buffer.window(4096, 8192).is_err());
    let call = |buffer, request, at| world.device.dma_buf_ioctl(buffer, request, at, &world.caller);
    let unused = |request, at| DmaBuf::ioctl_unused(request, at, &world.caller);
    for (flags, answer) in [(1, Ok(())), (6, Ok(())), (0, Err(Errno::EINVAL)), (8, Err(Errno::EINVAL))] {
        let at = world.put(&[flags as u64]);
        assert_eq!(call(Some(&buffer), DMA_BUF_SYNC, at), answer, "{flags}");
        assert_eq!((call(None, DMA_BUF_SYNC, at), unused(DMA_BUF_SYNC, at)), (answer, answer), "{flags}");
    }
    let at = world.put(&[1u32, 0]);
    assert_eq!(call(Some(&buffer), GET_PARAM, at), Err(Errno::ENOTTY));
    assert_eq!(unused(DMA_BUF_EXPORT_SYNC_FILE, at), Err(Errno::ENOTTY));
}

#[test]
fn global_names() {
    let world = World::with(Mode::Faithful, Node::Primary, 64 << 20);
    let bo = world.bo(8192);
    let name = world.ok(GEM_FLINK, [bo, 0])[1];
    assert_eq!(world.ok(GEM_FLINK, [bo, 0])[1], name);
    let other = world.device.open(Node::Primary);
    assert_eq!(world.call_on(&other, GEM_OPEN, [name, 0, 0, 0]), (Ok(()), [name, 1, 8192, 0]));
    // Each is a handle of its own, that of the file's own BO too: the kernel's drm_gem_open_ioctl.
    assert_eq!(world.ok(GEM_OPEN, [name, 0, 0, 0])[1], bo + 1);
    world.ok(GEM_CLOSE, [bo + 1, 0]);
    assert_eq!(world.ok(GEM_FLINK, [bo, 0])[1], name);
    assert_eq!(world.errno(GEM_FLINK, [NONE, 0]), Errno::ENOENT);
    assert_eq!(world.errno(GEM_OPEN, [NONE, 0, 0, 0]), Errno::ENOENT);
}

#[test]
fn dumb_buffers() {
    let world = World::with(Mode::Faithful, Node::Primary, 64 << 20);
    let create =
        |height: u32, width: u32, bpp: u32| world.call(CREATE_DUMB, [height, width, bpp, 0, 0, 0, 0, 0]);
    let (answer, made) = create(10, 33, 16);
    assert_eq!((answer, &made[4..]), (Ok(()), &[1, 66, 4096, 0][..]));
    assert_eq!(create(10, 0, 16).0, Err(Errno::EINVAL));
    assert_eq!(create(0x1_0000, 0x1_0000, 32).0, Err(Errno::EINVAL));
    assert_eq!(world.ok(MAP_DUMB, [1u32, 0, 0, 0])[2..], world.ok(MMAP_BO, [1u32, 0, 0, 0])[2..]);
    assert_eq!(world.errno(MAP_DUMB, [NONE, 0, 0, 0]), Errno::ENOENT);
    world.ok(DESTROY_DUMB, 1u32);
    assert_eq!(world.errno(DESTROY_DUMB, 1u32), Errno::EINVAL);
}
