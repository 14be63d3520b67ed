//! What a process may do with the descriptors of a node: duplicate and map them, export buffers, wait for jobs.

mod node;
mod preload;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use node::raw::*;
use node::{BOTH, Bare, map, open};
use preload::preloaded;
use support::*;
use vc4::cl::packets::Tiling;
use vc4_kernel_abi::uapi::{GetHangStateBo, Param};
use vc4_kernel_abi::{Gpu, ioctl};

#[test]
fn duplicates_are_the_same_file() {
    preloaded("duplicates_are_the_same_file", || {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 4096).unwrap();
        let copy = file.try_clone().unwrap();
        drop(file);
        assert_eq!(ioctl::get_tiling(copy.as_fd(), bo), Ok(0));
        // Another open has handles of its own.
        assert_eq!(ioctl::get_tiling(open("renderD128").as_fd(), bo), Err(Errno::ENOENT));
        // The number may be used by others afterwards.
        let null = File::open("/dev/null").unwrap();
        // SAFETY: closes our descriptor on the way, which is still owned under its number.
        assert_eq!(unsafe { libc::dup2(null.as_raw_fd(), copy.as_raw_fd()) }, copy.as_raw_fd());
        assert_eq!(ioctl::get_param(copy.as_fd(), Param::Ident0), Err(Errno::ENOTTY));
    });
}

#[test]
fn descriptors_lead_back_to_their_node() {
    preloaded("descriptors_lead_back_to_their_node", || {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 4096).unwrap();
        let node = Path::new("/dev/dri/renderD128");
        for dir in ["/proc/self/fd".into(), format!("/proc/{}/fd", std::process::id()), "/dev/fd".into()] {
            let path = format!("{dir}/{}", file.as_raw_fd());
            assert_eq!(std::fs::read_link(&path).unwrap(), node, "{path}");
            assert_eq!(std::fs::canonicalize(&path).unwrap(), node);
            assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
            assert!(std::fs::metadata(&path).unwrap().file_type().is_char_device());
            // The node is opened anew.
            let again = File::options().read(true).write(true).open(&path).unwrap();
            assert_eq!(ioctl::get_tiling(again.as_fd(), bo), Err(Errno::ENOENT));
            assert_eq!(ioctl::create_bo(again.as_fd(), 4096), Ok(1));
        }
        // Others lead where they do.
        let null = File::open("/dev/null").unwrap();
        let target = std::fs::read_link(format!("/proc/self/fd/{}", null.as_raw_fd()));
        assert_eq!(target.unwrap(), Path::new("/dev/null"));
        assert!(std::fs::read_link("/proc/self/fd/1999").is_err());
        assert!(std::fs::read_link("/proc/self/exe").is_ok());
    });
}

/// As for igt-gpu-tools, which tells devices apart by that.
#[test]
fn a_node_is_one_file_by_path_and_by_descriptor() {
    preloaded("a_node_is_one_file_by_path_and_by_descriptor", || {
        let identity = |data: std::fs::Metadata| (data.dev(), data.ino(), data.rdev());
        let of_path = |name: &str| identity(std::fs::metadata(format!("/dev/dri/{name}")).unwrap());
        let of_open = |name: &str| identity(open(name).metadata().unwrap());
        assert_eq!((of_open("card0"), of_open("renderD128")), (of_path("card0"), of_path("renderD128")));
        assert_eq!(of_path("card0").0, of_path("renderD128").0);
        assert_ne!(of_path("card0").1, of_path("renderD128").1);
        // The same by the older call.
        let file = open("card0");
        // SAFETY: room for the result; all bits zero is a value of the struct.
        let status = unsafe {
            let mut status = std::mem::zeroed::<libc::stat>();
            assert_eq!(libc::fstat(file.as_raw_fd(), &mut status), 0);
            status
        };
        let (device, inode, number) = of_path("card0");
        assert_eq!(
            (status.st_dev, u128::from(status.st_ino), status.st_rdev),
            (device, inode.into(), number)
        );
        // To set permissions is no error for who may, though they stay as they are.
        let set = std::fs::set_permissions("/dev/dri/card0", std::fs::Permissions::from_mode(0o600));
        // SAFETY: a plain call.
        assert_eq!(set.is_ok(), unsafe { libc::geteuid() } == 0);
    });
}

#[test]
fn mmap_says_what_is_wrong() {
    preloaded("mmap_says_what_is_wrong", || {
        let file = open("renderD128");
        let fd = file.as_raw_fd();
        let bo = ioctl::create_bo(file.as_fd(), 8192).unwrap();
        let code = ioctl::create_shader_bo(file.as_fd(), &pass_through(7)).unwrap();
        let offset = |bo| ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        assert_eq!(map(fd, 0, 4096, BOTH), Err(Errno::EINVAL));
        assert_eq!(map(fd, offset(bo), 12288, BOTH), Err(Errno::EINVAL));
        assert_eq!(map(open("renderD128").as_raw_fd(), offset(bo), 4096, BOTH), Err(Errno::EACCES));
        assert_eq!(map(fd, offset(code), 4096, BOTH), Err(Errno::EINVAL));
        let words = map(fd, offset(code), 4096, libc::PROT_READ).unwrap().cast::<u64>();
        // SAFETY: a page was mapped.
        assert_eq!(unsafe { words.read() }, pass_through(7)[0]);
    });
}

#[test]
fn a_mapping_keeps_its_memory() {
    preloaded("a_mapping_keeps_its_memory", || {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 8192).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let at = map(file.as_raw_fd(), offset, 8192, BOTH).unwrap();
        // SAFETY: two pages were mapped; the first goes, the second stays.
        unsafe {
            at.add(4096).write(77);
            assert_eq!(libc::munmap(at.cast(), 4096), 0);
            gem_close(file.as_raw_fd(), &[bo, 0]).unwrap();
        }
        drop(file);
        let other = open("renderD128");
        let bos: Vec<u32> = (0..8).map(|_| ioctl::create_bo(other.as_fd(), 4096).unwrap()).collect();
        for bo in bos {
            let offset = ioctl::mmap_bo(other.as_fd(), bo).unwrap();
            let page = map(other.as_raw_fd(), offset, 4096, BOTH).unwrap();
            // SAFETY: pages that are mapped.
            unsafe { page.write(1) };
        }
        // SAFETY: the second page is still mapped.
        assert_eq!(unsafe { at.add(4096).read() }, 77);
    });
}

#[test]
fn a_dma_buf_is_a_file_of_its_own() {
    preloaded("a_dma_buf_is_a_file_of_its_own", || {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 8192).unwrap();
        let mut arg = [bo, libc::O_CLOEXEC as u32 | libc::O_RDWR as u32, 0];
        // SAFETY: structs of the right size; the descriptor that comes back is nobody else's.
        let buffer = unsafe {
            handle_to_fd(file.as_raw_fd(), &mut arg).unwrap();
            OwnedFd::from_raw_fd(arg[2] as RawFd)
        };
        let page = map(buffer.as_raw_fd(), 4096, 4096, BOTH).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let whole = map(file.as_raw_fd(), offset, 8192, BOTH).unwrap();
        drop(file);
        let other = open("renderD128");
        let mut arg = [0, 0, buffer.as_raw_fd() as u32];
        // SAFETY: mapped pages; a struct of the right size; plain calls.
        unsafe {
            page.add(5).write(9);
            assert_eq!(whole.add(4101).read(), 9);
            assert_eq!(libc::lseek(buffer.as_raw_fd(), 0, libc::SEEK_END), 8192);
            fd_to_handle(other.as_raw_fd(), &mut arg).unwrap();
        }
        let offset = ioctl::mmap_bo(other.as_fd(), arg[0]).unwrap();
        let again = map(other.as_raw_fd(), offset, 8192, BOTH).unwrap();
        // SAFETY: mapped pages.
        unsafe {
            assert_eq!(again.add(4101).read(), 9);
            again.add(7).write(3);
            assert_eq!(whole.add(7).read(), 3);
        }
    });
}

/// Has the device's jobs put their fences into a syncobj.
fn with_fences(gpu: &Bare) -> u32 {
    let mut syncobj = [0, 0];
    // SAFETY: a struct of the right size.
    unsafe { syncobj_create(gpu.file.as_raw_fd(), &mut syncobj).unwrap() };
    gpu.extra.lock().unwrap().out_sync = syncobj[0];
    syncobj[0]
}

/// Waits for the fence of the last job.
fn wait_for_fence(gpu: &Bare, syncobj: u32) {
    let mut arg = [syncobj, 1, 0, 0];
    // SAFETY: structs of the right size; one element, ten seconds at most.
    unsafe {
        syncobj_handle_to_fd(gpu.file.as_raw_fd(), &mut arg).unwrap();
        let mut poll = libc::pollfd { fd: arg[2] as RawFd, events: libc::POLLIN, revents: 0 };
        assert_eq!(libc::poll(&mut poll, 1, 10_000), 1);
        assert_eq!(poll.revents, libc::POLLIN);
    }
}

#[test]
fn a_finished_job_makes_its_sync_file_readable() {
    preloaded("a_finished_job_makes_its_sync_file_readable", || {
        let gpu = Bare::new("renderD128");
        let syncobj = with_fences(&gpu);
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        gpu.submit(&target.clear_job(1)).unwrap();
        wait_for_fence(&gpu, syncobj);
    });
}

#[test]
fn monitors_count_what_was_done() {
    preloaded("monitors_count_what_was_done", || {
        let gpu = Bare::new("renderD128");
        let monitor = ioctl::perfmon_create(gpu.file.as_fd(), &[14, 15, 16, 24]).unwrap();
        gpu.extra.lock().unwrap().perfmonid = monitor;
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        let triangle = vec![at(2.0, 2.0, 0.5), at(60.0, 2.0, 0.5), at(2.0, 60.0, 0.5)];
        let syncobj = with_fences(&gpu);
        gpu.submit(&target.draw_job(&gpu, 0, &[Draw::color(triangle, 0xffff_ffff)])).unwrap();
        // The job's number rises before its monitor is read (kernel-abi.md §11).
        wait_for_fence(&gpu, syncobj);
        let values = ioctl::perfmon_get_values(gpu.file.as_fd(), monitor).unwrap();
        assert!(values[0] > 0 && values[1] > 0, "{values:?}");
        // Programs of two accesses wait for the tile buffer, and for nothing else.
        assert!(values[0] + values[1] > values[2] && values[3] == 0, "{values:?}");
    });
}

#[test]
fn a_hang_is_recorded_once_and_lets_waiters_go() {
    preloaded("a_hang_is_recorded_once_and_lets_waiters_go", || {
        let gpu = Bare::new("card0");
        let fd = gpu.file.as_fd();
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        let triangle = vec![at(2.0, 2.0, 0.5), at(60.0, 2.0, 0.5), at(2.0, 60.0, 0.5)];
        let job = target.draw_job(&gpu, 0, &[Draw { fragment: endless(), ..Draw::color(triangle, 0) }]);
        gpu.submit(&job).unwrap();
        // SAFETY: a plain call.
        if unsafe { libc::geteuid() } != 0 {
            assert_eq!(ioctl::get_hang_state(fd, &mut []).err(), Some(Errno::EACCES));
            return;
        }
        let count = ioctl::get_hang_state(fd, &mut []).unwrap().bo_count as usize;
        assert_eq!(count, job.bos.len());
        let mut bos = vec![GetHangStateBo::default(); count];
        let state = ioctl::get_hang_state(fd, &mut bos).unwrap();
        assert!(state.start_bin != 0 && state.ct1ea > state.start_render);
        let handles: Vec<u32> = bos.iter().map(|bo| bo.handle).collect();
        assert_eq!(handles, job.bos.iter().map(|bo| bo.0).collect::<Vec<_>>());
        assert_eq!(ioctl::get_hang_state(fd, &mut bos).err(), Some(Errno::ENOENT));
    });
}
