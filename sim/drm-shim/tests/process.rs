//! What a process may do with its descriptors, mappings and children.

mod preload;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Mutex;

use nix::errno::Errno;
use preload::{command, preloaded};
use support::*;
use vc4::cl::packets::Tiling;
use vc4_kernel_abi::ioctl::{self, Lists};
use vc4_kernel_abi::uapi::{GetHangStateBo, MAX_PERF_COUNTERS, Param, SubmitCl};
use vc4_kernel_abi::validate::frame::to_uapi;
use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, PerfmonId, Seqno, Submit};

mod raw {
    #![allow(missing_docs, reason = "the macro leaves no place for them")]
    nix::ioctl_readwrite!(handle_to_fd, b'd', 0x2d, [u32; 3]);
    nix::ioctl_readwrite!(fd_to_handle, b'd', 0x2e, [u32; 3]);
    nix::ioctl_readwrite!(gem_flink, b'd', 0x0a, [u32; 2]);
    nix::ioctl_readwrite!(gem_open, b'd', 0x0b, [u32; 4]);
    nix::ioctl_write_ptr!(gem_close, b'd', 0x09, [u32; 2]);
    nix::ioctl_readwrite!(syncobj_create, b'd', 0xbf, [u32; 2]);
    nix::ioctl_readwrite!(syncobj_handle_to_fd, b'd', 0xc1, [u32; 4]);
}
use raw::*;

fn open(node: &str) -> File {
    File::options().read(true).write(true).open(format!("/dev/dri/{node}")).unwrap()
}

fn map(fd: RawFd, offset: u64, length: usize, protection: libc::c_int) -> Result<*mut u8, Errno> {
    // SAFETY: a new mapping where there is room.
    let at = unsafe {
        libc::mmap64(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, fd, offset as libc::off64_t)
    };
    if at == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(at.cast()) }
}

const BOTH: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// A node by its bare calls, with the fields of a submission that [`Submit`] lacks.
struct Bare {
    file: File,
    extra: Mutex<SubmitCl>,
}

impl Bare {
    fn new(node: &str) -> Bare {
        Bare { file: open(node), extra: Mutex::default() }
    }
}

impl Gpu for Bare {
    fn description(&self) -> String {
        "bare calls".into()
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(Ident::REFERENCE)
    }

    fn memory_size(&self) -> u64 {
        0
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        Ok(BoHandle(ioctl::create_bo(self.file.as_fd(), size).unwrap()))
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        Ok(BoHandle(ioctl::create_shader_bo(self.file.as_fd(), code).unwrap()))
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        let offset = ioctl::mmap_bo(self.file.as_fd(), bo.0).unwrap();
        // The whole BO: mmap refuses more than there is.
        let all = (1..)
            .map(|pages| pages << 12)
            .map_while(|length| map(self.file.as_raw_fd(), offset, length, BOTH).ok().map(|at| (at, length)));
        let (at, length) = all.last().unwrap();
        // SAFETY: never unmapped.
        Ok(unsafe { Mapping::new(std::ptr::NonNull::new(at).unwrap(), length) })
    }

    fn close_bo(&self, _: BoHandle) {}

    fn shares_bos(&self) -> bool {
        false
    }

    fn export_bo(&self, _: BoHandle) -> Result<OwnedFd, GpuError> {
        unreachable!("tests of sharing make the calls themselves")
    }

    fn import_bo(&self, _: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        unreachable!("tests of sharing make the calls themselves")
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let handles: Vec<u32> = job.bos.iter().map(|bo| bo.0).collect();
        let lists = Lists {
            bin_cl: &job.bin_cl,
            shader_rec: &job.shader_rec,
            uniforms: &job.uniforms,
            bo_handles: &handles,
        };
        let extra = *self.extra.lock().unwrap();
        let frame = SubmitCl { perfmonid: extra.perfmonid, out_sync: extra.out_sync, ..to_uapi(job) };
        let seqno = ioctl::submit_cl(self.file.as_fd(), &frame, lists).unwrap();
        ioctl::wait_seqno(self.file.as_fd(), seqno, u64::MAX).unwrap();
        Ok(Seqno(seqno))
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        Ok(PerfmonId(ioctl::perfmon_create(self.file.as_fd(), events).unwrap()))
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        Ok(ioctl::perfmon_get_values(self.file.as_fd(), perfmon.0).unwrap())
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        ioctl::perfmon_destroy(self.file.as_fd(), perfmon.0).unwrap();
    }

    fn wait_seqno(&self, _: Seqno, _: Option<std::time::Duration>) -> Result<bool, GpuError> {
        Ok(true)
    }
}

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

#[test]
fn a_finished_job_makes_its_sync_file_readable() {
    preloaded("a_finished_job_makes_its_sync_file_readable", || {
        let gpu = Bare::new("renderD128");
        let fd = gpu.file.as_raw_fd();
        let mut syncobj = [0, 0];
        // SAFETY: a struct of the right size.
        unsafe { syncobj_create(fd, &mut syncobj).unwrap() };
        gpu.extra.lock().unwrap().out_sync = syncobj[0];
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        gpu.submit(&target.clear_job(1)).unwrap();
        let mut arg = [syncobj[0], 1, 0, 0];
        // SAFETY: structs of the right size; one element, a second at most.
        unsafe {
            syncobj_handle_to_fd(fd, &mut arg).unwrap();
            let mut poll = libc::pollfd { fd: arg[2] as RawFd, events: libc::POLLIN, revents: 0 };
            assert_eq!(libc::poll(&mut poll, 1, 1000), 1);
            assert_eq!(poll.revents, libc::POLLIN);
        }
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
        gpu.submit(&target.draw_job(&gpu, 0, &[Draw::color(triangle, 0xffff_ffff)])).unwrap();
        let values = ioctl::perfmon_get_values(gpu.file.as_fd(), monitor).unwrap();
        assert!(values[0] > 0 && values[1] > 0, "{values:?}");
        assert_eq!((values[0] + values[1], values[3]), (values[2], 0), "{values:?}");
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

/// Runs `body` in a child of fork; what it answered, or the signal that ended it.
fn in_child(body: impl FnOnce() -> bool) -> Result<bool, i32> {
    // SAFETY: the child only makes calls that the library prepares for it, and leaves without cleaning up.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let good = body();
        // SAFETY: ends the child.
        unsafe { libc::_exit(if good { 0 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: our child, room for the status.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    if libc::WIFSIGNALED(status) { Err(libc::WTERMSIG(status)) } else { Ok(libc::WEXITSTATUS(status) == 0) }
}

#[test]
fn a_child_shares_what_it_inherits() {
    preloaded("a_child_shares_what_it_inherits", || {
        let gpu = Bare::new("renderD128");
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        gpu.submit(&target.clear_job(1)).unwrap();
        let mapped = gpu.map_bo(target.color).unwrap();
        let good = in_child(|| {
            // The same open file: the parent's handles, and its mapping, are good here.
            gpu.submit(&target.clear_job(2)).unwrap();
            let made = ioctl::create_bo(gpu.file.as_fd(), 4096).unwrap();
            let own = Bare::new("renderD128");
            let drawn = mapped.read_u32(0) == 2 && target.pixels(&gpu).words.iter().all(|&word| word == 2);
            drawn && made > 2 && ioctl::get_tiling(own.file.as_fd(), target.color.0) == Err(Errno::ENOENT)
        });
        assert_eq!(good, Ok(true));
        assert_eq!(mapped.read_u32(0), 2);
        // What the child made stays, since the file is still open.
        assert_eq!(ioctl::create_bo(gpu.file.as_fd(), 4096), Ok(target.zs.0 + 2));
        gpu.submit(&target.clear_job(3)).unwrap();
        target.pixels(&gpu).check(|_, _| 3);
    });
}

#[test]
fn children_of_children_and_threads_do_not_block() {
    preloaded("children_of_children_and_threads_do_not_block", || {
        let gpu = Bare::new("renderD128");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let bo = ioctl::create_bo(gpu.file.as_fd(), 4096).unwrap();
                        // SAFETY: a struct of the right size.
                        unsafe { gem_close(gpu.file.as_raw_fd(), &[bo, 0]).unwrap() };
                    }
                });
            }
            for _ in 0..5 {
                let good = in_child(|| {
                    let grandchild = in_child(|| ioctl::create_bo(gpu.file.as_fd(), 4096).is_ok());
                    grandchild == Ok(true) && ioctl::create_bo(gpu.file.as_fd(), 4096).is_ok()
                });
                assert_eq!(good, Ok(true));
            }
        });
    });
}

#[test]
fn an_open_node_survives_exec() {
    const FD: &str = "VC4SIM_TEST_FD";
    preloaded("an_open_node_survives_exec", || {
        let with_server = std::env::var_os("VC4SIM_SERVER").is_some();
        if let Ok(fd) = std::env::var(FD) {
            // SAFETY: the parent left it open for us.
            let file = unsafe { File::from_raw_fd(fd.parse().unwrap()) };
            let tiling = ioctl::get_tiling(file.as_fd(), 1);
            // Without a server, nobody knows what it stood for.
            assert_eq!(tiling, if with_server { Ok(0) } else { Err(Errno::ENOTTY) });
            return;
        }
        let file = open("renderD128");
        assert_eq!(ioctl::create_bo(file.as_fd(), 4096), Ok(1));
        // SAFETY: a plain call.
        let copy = unsafe { libc::dup(file.as_raw_fd()) };
        preload::run("an_open_node_survives_exec", &[(FD, &copy.to_string())]);
    });
}

/// Sends a descriptor through a socket and takes it out again, as it would travel to another process.
fn pass(fd: RawFd, socket: RawFd, end: bool) -> Option<OwnedFd> {
    use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
    let mut byte = [1u8];
    if !end {
        let data = [std::io::IoSlice::new(&byte)];
        let rights = [ControlMessage::ScmRights(&[fd])];
        sendmsg::<()>(socket, &data, &rights, MsgFlags::empty(), None).unwrap();
        return None;
    }
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let mut data = [std::io::IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(socket, &mut data, Some(&mut space), MsgFlags::empty()).unwrap();
    match message.cmsgs().unwrap().next() {
        // SAFETY: a descriptor made for us.
        Some(ControlMessageOwned::ScmRights(fds)) => Some(unsafe { OwnedFd::from_raw_fd(fds[0]) }),
        _ => None,
    }
}

#[test]
fn descriptors_travel_to_other_processes() {
    preloaded("descriptors_travel_to_other_processes", || {
        use std::os::unix::net::UnixStream;
        let (here, there) = UnixStream::pair().unwrap();
        // SAFETY: as in `in_child`.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let node = pass(-1, there.as_raw_fd(), true).unwrap();
            let buffer = pass(-1, there.as_raw_fd(), true).unwrap();
            let with_server = std::env::var_os("VC4SIM_SERVER").is_some();
            let shared = ioctl::get_tiling(node.as_fd(), 1) == Ok(0);
            let other = open("renderD128");
            let mut arg = [0, 0, buffer.as_raw_fd() as u32];
            // SAFETY: a struct of the right size.
            unsafe { fd_to_handle(other.as_raw_fd(), &mut arg).unwrap() };
            let offset = ioctl::mmap_bo(other.as_fd(), arg[0]).unwrap();
            let page = map(other.as_raw_fd(), offset, 8192, BOTH).unwrap();
            // SAFETY: pages that were mapped; ends the child.
            unsafe {
                page.add(5000).write(page.add(4999).read() + 1);
                libc::_exit(if shared == with_server { 0 } else { 1 })
            };
        }
        // The child was there before the device: without a server, it has one of its own.
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 8192).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let page = map(file.as_raw_fd(), offset, 8192, BOTH).unwrap();
        let mut arg = [bo, libc::O_CLOEXEC as u32 | libc::O_RDWR as u32, 0];
        let mut status = 0;
        // SAFETY: pages that were mapped; a struct of the right size; our child, room for the status.
        unsafe {
            page.add(4999).write(41);
            handle_to_fd(file.as_raw_fd(), &mut arg).unwrap();
            pass(file.as_raw_fd(), here.as_raw_fd(), false);
            pass(arg[2] as RawFd, here.as_raw_fd(), false);
            assert_eq!(libc::waitpid(child, &mut status, 0), child);
            assert_eq!((status, page.add(5000).read()), (0, 42));
        }
    });
}

#[test]
fn names_and_buffers_are_shared_by_processes() {
    preloaded("names_and_buffers_are_shared_by_processes", || {
        let file = open("card0");
        let bo = ioctl::create_bo(file.as_fd(), 8192).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let page = map(file.as_raw_fd(), offset, 8192, BOTH).unwrap();
        let mut named = [bo, 0];
        // SAFETY: a page that was mapped; a struct of the right size.
        unsafe {
            page.add(4999).write(41);
            gem_flink(file.as_raw_fd(), &mut named).unwrap();
        }
        let good = in_child(|| {
            let own = open("card0");
            let mut opened = [named[1], 0, 0, 0];
            // SAFETY: a struct of the right size.
            unsafe { gem_open(own.as_raw_fd(), &mut opened).unwrap() };
            let offset = ioctl::mmap_bo(own.as_fd(), opened[1]).unwrap();
            let page = map(own.as_raw_fd(), offset, 8192, BOTH).unwrap();
            // SAFETY: pages that were mapped.
            unsafe { page.add(5000).write(page.add(4999).read() + 1) };
            opened[2] == 8192
        });
        // SAFETY: as above.
        assert_eq!((good, unsafe { page.add(5000).read() }), (Ok(true), 42));
    });
}

#[test]
fn a_client_that_dies_leaves_nothing() {
    const NAME: &str = "a_client_that_dies_leaves_nothing";
    if preload::is_preloaded() {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 400 << 20).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let page = map(file.as_raw_fd(), offset, 4096, BOTH).unwrap();
        // SAFETY: a page that was mapped.
        unsafe { page.write(1) };
        // One waits for a job that never comes, the other to be ended.
        std::thread::scope(|scope| {
            scope.spawn(|| ioctl::wait_seqno(file.as_fd(), 1 << 40, u64::MAX));
            std::thread::sleep(std::time::Duration::from_secs(if std::env::var_os("STAY").is_some() {
                60
            } else {
                0
            }));
            // SAFETY: ends the process, the waiting thread with it.
            unsafe {
                println!("test result: ok. 1 passed");
                libc::_exit(0)
            }
        });
    }
    let server = preload::Server::start();
    let (name, path) = server.variable();
    let within = |seconds: u64, done: &dyn Fn(usize) -> bool| {
        let start = std::time::Instant::now();
        while !done(server.host.descriptors_out()) {
            assert!(start.elapsed().as_secs() < seconds, "{} descriptors", server.host.descriptors_out());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    let mut child = preload::again(NAME, &[(name, path), ("STAY", "1")]).spawn().unwrap();
    within(20, &|out| out == 1);
    child.kill().unwrap();
    child.wait().unwrap();
    within(5, &|out| out == 0);
    // There is room for as much once more.
    preload::run(NAME, &[(name, path)]);
    within(5, &|out| out == 0);
}

#[test]
fn programs_may_close_everything_but_not_ours() {
    preloaded("programs_may_close_everything_but_not_ours", || {
        let gpu = Bare::new("renderD128");
        let target = Target::new(&gpu, 64, 64, Tiling::T);
        gpu.submit(&target.clear_job(1)).unwrap();
        let node = gpu.file.as_raw_fd();
        // SAFETY: closes what is nobody's, or refuses to.
        unsafe {
            for fd in node + 1..2000 {
                libc::close(fd);
            }
            assert_eq!(libc::close_range(node as u32 + 1, u32::MAX, 0), 0);
        }
        gpu.submit(&target.clear_job(2)).unwrap();
        target.pixels(&gpu).check(|_, _| 2);
        let other = open("renderD128");
        // SAFETY: closes the node that was just opened, which is forgotten.
        unsafe { assert_eq!(libc::close_range(other.as_raw_fd() as u32, other.as_raw_fd() as u32, 0), 0) };
        std::mem::forget(other);
    });
}

#[test]
fn a_purged_bo_raises_sigbus() {
    preloaded("a_purged_bo_raises_sigbus", || {
        let file = open("renderD128");
        let bo = ioctl::create_bo(file.as_fd(), 300 << 20).unwrap();
        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
        let page = map(file.as_raw_fd(), offset, 4096, BOTH).unwrap();
        // SAFETY: a page that was mapped.
        let touch = || unsafe { page.read_volatile() == 7 };
        // SAFETY: as above.
        unsafe { page.write(7) };
        assert_eq!(ioctl::gem_madvise(file.as_fd(), bo, false), Ok(true));
        assert_eq!(in_child(touch), Ok(true));
        let other = ioctl::create_bo(file.as_fd(), 300 << 20).unwrap();
        assert_eq!(in_child(touch), Err(libc::SIGBUS));
        assert_eq!(ioctl::gem_madvise(file.as_fd(), bo, true), Ok(false));
        assert_eq!(map(file.as_raw_fd(), offset, 4096, BOTH), Err(Errno::EINVAL));
        assert!(ioctl::mmap_bo(file.as_fd(), other).is_ok());
    });
}

#[test]
fn programs_see_the_device_even_through_a_shell() {
    let script = "ls /dev/dri && cat /sys/dev/char/226:128/device/uevent && test -c /dev/dri/renderD128";
    let output = command("/bin/sh").args(["-c", script]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(
        text.contains("card0\nrenderD128\n") && text.contains("OF_COMPATIBLE_0=brcm,bcm2835-vc4\n"),
        "{text}"
    );
}

#[test]
fn threads_may_open_and_close_at_once() {
    preloaded("threads_may_open_and_close_at_once", || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for round in 1..100 {
                        let file = open("renderD128");
                        let bo = ioctl::create_bo(file.as_fd(), round << 12).unwrap();
                        let offset = ioctl::mmap_bo(file.as_fd(), bo).unwrap();
                        let at = map(file.as_raw_fd(), offset, 4096, BOTH).unwrap();
                        // SAFETY: the page that was just mapped.
                        unsafe {
                            at.write(1);
                            assert_eq!(libc::munmap(at.cast(), 4096), 0);
                        }
                        assert!(Path::new("/dev/dri/card0").exists());
                    }
                });
            }
        });
    });
}
