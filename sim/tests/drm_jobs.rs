//! Submissions, waits, monitors and syncobjs with the kernel's answers (kernel-abi.md §4, §7, §13.3).

mod drm_support;

use drm_support::*;
use vc4_kernel_abi::uapi::SubmitCl;
use vc4_kernel_abi::{BoHandle, Seqno, Submit, SubmitFlags, Surface};
use vc4_sim::Mode;
use vc4_sim::drm::{Errno, Exported, Fence, Node, Process};

/// Clears a 64x64 target.
fn clear(world: &World) -> SubmitCl {
    let target = world.bo(64 * 64 * 4);
    world.frame(&Submit {
        bos: vec![BoHandle(target)],
        width: 64,
        height: 64,
        color_write: Some(Surface { bo_index: 0, offset: 0, bits: 0x44, flags: 0 }),
        clear_color: [0x1234_5678; 2],
        flags: SubmitFlags::USE_CLEAR_COLOR,
        ..Submit::default()
    })
}

fn submit(world: &World, frame: SubmitCl) -> Result<u64, Errno> {
    let (answer, frame) = world.call(SUBMIT_CL, frame);
    answer.map(|()| frame.seqno)
}

fn wait(world: &World, seqno: u64, timeout_ns: u64) -> Result<(), Errno> {
    world.call(WAIT_SEQNO, [seqno, timeout_ns]).0
}

#[test]
fn jobs_are_numbered_and_can_be_waited_for() {
    let world = World::new();
    let frame = clear(&world);
    assert_eq!(submit(&world, frame), Ok(1));
    assert_eq!(submit(&world, frame), Ok(2));
    assert_eq!(wait(&world, 2, u64::MAX), Ok(()));
    assert_eq!(wait(&world, 0, 0), Ok(()));
    assert_eq!(wait(&world, 3, 0), Err(Errno::ETIME));
    assert_eq!(wait(&world, 3, 2_000_000), Err(Errno::ETIME));
    let wait_bo = |handle: u32, pad: u32| world.call(WAIT_BO, [handle, pad, u32::MAX, u32::MAX]).0;
    assert_eq!(wait_bo(1, 0), Ok(()));
    assert_eq!(wait_bo(1, 1), Err(Errno::EINVAL));
    assert_eq!(wait_bo(NONE, 0), Err(Errno::EINVAL));
}

#[test]
fn the_frame_is_checked() {
    let world = World::new();
    let good = clear(&world);
    let errno = |frame: SubmitCl| submit(&world, frame).expect_err("the job must be refused");
    assert_eq!(errno(SubmitCl { flags: 16, ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { pad2: 1, ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { bo_handle_count: 0, ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { bo_handles: BAD, ..good }), Errno::EFAULT);
    assert_eq!(errno(SubmitCl { bo_handles: world.put(&[NONE]), ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { perfmonid: NONE, ..good }), Errno::ENOENT);
    assert_eq!(errno(SubmitCl { in_sync: NONE, ..good }), Errno::ENOENT);
    assert_eq!(errno(SubmitCl { out_sync: NONE, ..good }), Errno::EINVAL);
    let twice = world.put(&[1u32, 1]);
    assert_eq!(errno(SubmitCl { bo_handles: twice, bo_handle_count: 2, ..good }), Errno::EALREADY);
    assert_eq!(submit(&world, good), Ok(1), "a refused job takes no number");
}

#[test]
fn lists_and_surfaces_are_checked() {
    let world = World::new();
    let good = clear(&world);
    let errno = |frame: SubmitCl| submit(&world, frame).expect_err("the job must be refused");
    let list = world.put(&[5u8, 7, 4]);
    // START_TILE_BINNING is missing.
    assert_eq!(errno(SubmitCl { bin_cl: list, bin_cl_size: 3, ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { bin_cl: BAD, bin_cl_size: 3, ..good }), Errno::EFAULT);
    let binning = SubmitCl { bin_cl: list, bin_cl_size: 3, ..good };
    assert_eq!(errno(SubmitCl { shader_rec: BAD, shader_rec_size: 1, ..binning }), Errno::EFAULT);
    assert_eq!(errno(SubmitCl { uniforms: BAD, uniforms_size: 1, ..binning }), Errno::EFAULT);
    assert_eq!(errno(SubmitCl { uniforms_size: u32::MAX, ..binning }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { shader_rec_count: u32::MAX / 8, ..binning }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { width: 65, ..good }), Errno::EINVAL);
    assert_eq!(errno(SubmitCl { min_x_tile: 1, ..good }), Errno::EINVAL);
    let mut absent = good;
    absent.msaa_zs_write.bits = 1;
    assert_eq!(errno(absent), Errno::EINVAL);
    // Without a list nobody looks at what belongs to it.
    assert_eq!(submit(&world, SubmitCl { shader_rec: BAD, shader_rec_size: 1, ..good }), Ok(1));
}

#[test]
fn purgeable_bos_draw_nothing() {
    let world = World::new();
    let frame = clear(&world);
    world.ok(GEM_MADVISE, [1u32, 1, 0, 0]);
    assert_eq!(submit(&world, frame), Err(Errno::EINVAL));
    world.ok(GEM_MADVISE, [1u32, 0, 0, 0]);
    assert_eq!(submit(&world, frame), Ok(1));
    // An export keeps it alive: the kernel lets it pass, a driver should not rely on that.
    for (mode, answer) in [(Mode::Faithful, Ok(1)), (Mode::Strict, Err(Errno::EINVAL))] {
        let world = World::with(mode, Node::Render, 64 << 20);
        let frame = clear(&world);
        world.ok(HANDLE_TO_FD, [1u32, 0, 0]);
        world.ok(GEM_MADVISE, [1u32, 1, 0, 0]);
        assert_eq!(submit(&world, frame), answer);
    }
}

#[test]
fn no_job_hung() {
    let world = World::with(Mode::Faithful, Node::Primary, 64 << 20);
    let frame = clear(&world);
    submit(&world, frame).unwrap();
    assert_eq!(wait(&world, 1, u64::MAX), Ok(()));
    assert_eq!(world.errno(GET_HANG_STATE, [0u32; 32]), Errno::ENOENT);
}

#[test]
fn monitors() {
    let world = World::new();
    let create = |count: u32, events: [u8; 16]| {
        let events: [u32; 4] = bytemuck::cast(events);
        world.call(PERFMON_CREATE, [0, count, events[0], events[1], events[2], events[3]])
    };
    let mut events = [0; 16];
    events[..2].copy_from_slice(&[16, 29]);
    assert_eq!(create(2, events).1[0], 1);
    assert_eq!(create(16, [29; 16]).1[0], 2);
    assert_eq!(create(0, events).0, Err(Errno::EINVAL));
    assert_eq!(create(17, events).0, Err(Errno::EINVAL));
    assert_eq!(create(2, [30; 16]).0, Err(Errno::EINVAL));
    let values = world.put(&[7u64; 3]);
    let get = |id: u32, values: u64| world.call(PERFMON_GET_VALUES, [u64::from(id), values]).0;
    assert_eq!(get(1, values), Ok(()));
    assert_eq!(world.get::<[u64; 3]>(values), [0, 0, 7]);
    assert_eq!(get(NONE, values), Err(Errno::EINVAL));
    assert_eq!(get(1, BAD), Err(Errno::EFAULT));
    let frame = SubmitCl { perfmonid: 1, ..clear(&world) };
    assert_eq!(submit(&world, frame), Ok(1));
    world.ok(PERFMON_DESTROY, 1u32);
    assert_eq!(world.errno(PERFMON_DESTROY, 1u32), Errno::EINVAL);
    assert_eq!(submit(&world, frame), Err(Errno::ENOENT));
}

fn syncobj(world: &World, flags: u32) -> u32 {
    world.ok(SYNCOBJ_CREATE, [0u32, flags])[0]
}

fn wait_syncobjs(world: &World, handles: &[u32], timeout: u64, flags: u32) -> Result<u64, Errno> {
    let array = world.put(handles);
    let packed = handles.len() as u64 | u64::from(flags) << 32;
    let (answer, arg) = world.call(SYNCOBJ_WAIT, [array, timeout, packed, 0]);
    answer.map(|()| arg[3] & 0xffff_ffff)
}

#[test]
fn syncobjs() {
    const FAR: u64 = i64::MAX as u64;
    let world = World::new();
    let (empty, signalled) = (syncobj(&world, 0), syncobj(&world, 1));
    assert_eq!(world.errno(SYNCOBJ_CREATE, [0u32, 2]), Errno::EINVAL);
    assert_eq!(wait_syncobjs(&world, &[signalled], 0, 0), Ok(0));
    assert_eq!(wait_syncobjs(&world, &[empty], 0, 0), Err(Errno::EINVAL));
    assert_eq!(wait_syncobjs(&world, &[empty], 0, 2), Err(Errno::ETIME));
    assert_eq!(wait_syncobjs(&world, &[empty, signalled], FAR, 2), Ok(1));
    assert_eq!(wait_syncobjs(&world, &[empty, signalled], 1_002_000_000, 3), Err(Errno::ETIME));
    assert_eq!(wait_syncobjs(&world, &[], 0, 0), Err(Errno::EINVAL));
    assert_eq!(wait_syncobjs(&world, &[NONE], 0, 0), Err(Errno::ENOENT));
    assert_eq!(wait_syncobjs(&world, &[signalled], 0, 8), Err(Errno::EINVAL));
    // A newer client's longer struct.
    let array = world.put(&[signalled]);
    assert_eq!(world.ok(0xc028_64c3, [array, 0, 1, 0, 5])[4], 5);

    let frame = SubmitCl { in_sync: signalled, out_sync: empty, ..clear(&world) };
    assert_eq!(submit(&world, frame), Ok(1));
    assert_eq!(wait_syncobjs(&world, &[empty], FAR, 0), Ok(0));

    let array = |handles: &[u32], pad: u32| [world.put(handles), handles.len() as u64 | u64::from(pad) << 32];
    world.ok(SYNCOBJ_RESET, array(&[empty], 0));
    assert_eq!(submit(&world, SubmitCl { in_sync: empty, ..frame }), Err(Errno::EINVAL));
    world.ok(SYNCOBJ_SIGNAL, array(&[empty], 0));
    assert_eq!(submit(&world, SubmitCl { in_sync: empty, ..frame }), Ok(2));
    for request in [SYNCOBJ_RESET, SYNCOBJ_SIGNAL] {
        assert_eq!(world.errno(request, array(&[], 0)), Errno::EINVAL);
        assert_eq!(world.errno(request, array(&[empty], 1)), Errno::EINVAL);
        assert_eq!(world.errno(request, array(&[NONE], 0)), Errno::ENOENT);
    }
    assert_eq!(world.errno(SYNCOBJ_DESTROY, [empty, 1]), Errno::EINVAL);
    world.ok(SYNCOBJ_DESTROY, [empty, 0]);
    assert_eq!(world.errno(SYNCOBJ_DESTROY, [empty, 0]), Errno::EINVAL);
    for number in [0xca, 0xcb, 0xcc, 0xcd] {
        assert_eq!(world.errno(0xc020_6400 | number, [0u64; 4]), Errno::EOPNOTSUPP);
    }
}

#[test]
fn a_waiter_sees_a_later_signal() {
    let world = World::new();
    let handle = syncobj(&world, 0);
    let array = world.put(&[handle]);
    let signal = world.put(&[array, 1]);
    let wait = world.put(&[array, i64::MAX as u64, 1 | 2 << 32, 0]);
    std::thread::scope(|scope| {
        // The caller's memory is behind a lock, its files are not: both calls run at once.
        let waiter = scope.spawn(|| world.file.ioctl(SYNCOBJ_WAIT, wait, &world.caller));
        assert_eq!(world.file.ioctl(SYNCOBJ_SIGNAL, signal, &world.caller), Ok(()));
        assert_eq!(waiter.join().unwrap(), Ok(()));
    });
}

#[test]
fn syncobjs_and_sync_files_travel() {
    let world = World::new();
    let (empty, signalled) = (syncobj(&world, 0), syncobj(&world, 1));
    let to_fd = |handle: u32, flags: u32| world.call(SYNCOBJ_HANDLE_TO_FD, [handle, flags, 0, 0]);
    let from_fd = |handle: u32, flags: u32, fd: u32| world.call(SYNCOBJ_FD_TO_HANDLE, [handle, flags, fd, 0]);
    assert_eq!(to_fd(NONE, 0).0, Err(Errno::EINVAL));
    assert_eq!(to_fd(NONE, 1).0, Err(Errno::ENOENT));
    assert_eq!(to_fd(empty, 1).0, Err(Errno::EINVAL));
    assert_eq!(to_fd(empty, 2).0, Err(Errno::EINVAL));
    assert_eq!(world.errno(SYNCOBJ_HANDLE_TO_FD, [empty, 0, 0, 1]), Errno::EINVAL);
    let (object, fence) = (to_fd(empty, 0).1[2], to_fd(signalled, 1).1[2]);
    // The same syncobj under another handle.
    let (answer, alias) = from_fd(0, 0, object);
    assert_eq!(answer, Ok(()));
    assert_eq!(from_fd(alias[0], 1, fence).0, Ok(()));
    assert_eq!(wait_syncobjs(&world, &[empty], 0, 0), Ok(0));
    assert_eq!(from_fd(0, 0, fence).0, Err(Errno::EINVAL));
    assert_eq!(from_fd(empty, 1, object).0, Err(Errno::EINVAL));
    assert_eq!(from_fd(NONE, 1, fence).0, Err(Errno::ENOENT));
    assert_eq!(from_fd(empty, 0, 77).0, Err(Errno::EINVAL));
}

#[test]
fn sync_files_merge_and_tell() {
    let world = World::new();
    let (first, second) = (syncobj(&world, 0), syncobj(&world, 0));
    let frame = clear(&world);
    submit(&world, SubmitCl { out_sync: first, ..frame }).unwrap();
    submit(&world, SubmitCl { out_sync: second, ..frame }).unwrap();
    let fd = |handle: u32| world.ok(SYNCOBJ_HANDLE_TO_FD, [handle, 1, 0, 0])[2] as i32;
    let (first, second) = (fd(first), fd(second));
    let file = |fd: i32| match world.caller.exported(fd) {
        Ok(Exported::SyncFile(file)) => file,
        _ => panic!("{fd} is no sync_file"),
    };
    let mut merge = [0u32; 12];
    merge[0] = u32::from_le_bytes(*b"both");
    merge[8] = second as u32;
    let at = world.put(&merge);
    assert_eq!(file(first).ioctl(0xc030_3e03, at, &world.caller), Ok(()));
    let merged = file(world.get::<[u32; 12]>(at)[9] as i32);
    assert_eq!(merged.fence(), file(second).fence());
    world.device.idle();
    let fence = world.put(&[0u8; 80]);
    let [low, high] = words(fence);
    let mut info = [0u32; 14];
    (info[10], info[12], info[13]) = (1, low, high);
    let at = world.put(&info);
    assert_eq!(merged.ioctl(0xc038_3e04, at, &world.caller), Ok(()));
    let info: [u32; 14] = world.get(at);
    assert_eq!((info[0], info[8], info[10]), (u32::from_le_bytes(*b"both"), 1, 1));
    assert_eq!(world.get::<[u32; 20]>(fence)[16], 1);
    merge[8] = 77;
    assert_eq!(merged.ioctl(0xc030_3e03, world.put(&merge), &world.caller), Err(Errno::ENOENT));
    assert_eq!(merged.ioctl(GET_PARAM, at, &world.caller), Err(Errno::ENOTTY));
}

/// As the kernel's dma-resv has them: whoever reads a buffer waits for who writes it, whoever writes it for all.
#[test]
fn a_dma_buf_has_the_fences_of_its_jobs() {
    let world = World::new();
    let mut frame = clear(&world);
    let read = world.bo(4096);
    let export = |handle: u32| {
        let fd = world.ok(HANDLE_TO_FD, [handle, 0, 0])[2];
        let Ok(Exported::DmaBuf(buffer)) = world.caller.exported(fd as i32) else { panic!() };
        buffer
    };
    let (target, read_only) = (export(read - 1), export(read));
    let call = |buffer, request, arg: [u32; 2]| {
        let at = world.put(&arg);
        let answer = world.device.dma_buf_ioctl(Some(buffer), request, at, &world.caller);
        answer.map(|()| world.get::<[u32; 2]>(at)[1])
    };
    let fence = |buffer, flags: u32| {
        let fd = call(buffer, DMA_BUF_EXPORT_SYNC_FILE, [flags, 0]).unwrap();
        let Ok(Exported::SyncFile(file)) = world.caller.exported(fd as i32) else { panic!() };
        file.fence()
    };
    assert_eq!((fence(&target, 1), fence(&target, 2)), (Fence::Signalled, Fence::Signalled));
    // What is listed beside the target is only read.
    (frame.bo_handles, frame.bo_handle_count) = (world.put(&[read - 1, read]), 2);
    let last = (0..8).map(|_| submit(&world, frame).unwrap()).last().unwrap();
    let job = Fence::Job(Seqno(last));
    assert_eq!([1, 2, 3].map(|flags| fence(&target, flags)), [job; 3]);
    assert_eq!([1, 2, 3].map(|flags| fence(&read_only, flags)), [Fence::Signalled, job, job]);
    // The CPU's access begins when they have signalled.
    assert_eq!(call(&target, DMA_BUF_SYNC, [1, 0]), Ok(0));
    assert_eq!(wait(&world, last, 0), Ok(()));
    // Fences may be added.
    let later = submit(&world, clear(&world)).unwrap();
    let syncobj = world.ok(SYNCOBJ_CREATE, [0u32, 1])[0];
    let signalled = world.ok(SYNCOBJ_HANDLE_TO_FD, [syncobj, 1, 0, 0])[2];
    let other = export(read + 1);
    let file = call(&other, DMA_BUF_EXPORT_SYNC_FILE, [1, 0]).unwrap();
    assert_eq!(call(&read_only, DMA_BUF_IMPORT_SYNC_FILE, [2, signalled]), Ok(signalled));
    assert_eq!(fence(&read_only, 1), Fence::Signalled);
    assert_eq!(call(&read_only, DMA_BUF_IMPORT_SYNC_FILE, [2, file]), Ok(file));
    assert_eq!(fence(&read_only, 1), Fence::Job(Seqno(later)));
    for flags in [0, 4] {
        assert_eq!(call(&target, DMA_BUF_EXPORT_SYNC_FILE, [flags, 0]), Err(Errno::EINVAL));
        assert_eq!(call(&target, DMA_BUF_IMPORT_SYNC_FILE, [flags, file]), Err(Errno::EINVAL));
    }
    assert_eq!(call(&target, DMA_BUF_IMPORT_SYNC_FILE, [1, 999]), Err(Errno::EINVAL));
}
