//! What processes may do with each other: children, descriptors that travel, ends of all kinds.

mod node;
mod preload;
#[path = "../../tests/support/mod.rs"]
mod support;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

use nix::errno::Errno;
use node::raw::*;
use node::{BOTH, Bare, map, open};
use preload::{command, preloaded};
use support::*;
use vc4::cl::packets::Tiling;
use vc4_kernel_abi::{Gpu, ioctl};

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

/// What is inherited stays open, as servers rely on that drop their privileges after a fork.
#[test]
fn a_child_may_become_another_user() {
    preload::preloaded_alone("a_child_may_become_another_user", &[], || {
        // SAFETY: a plain call.
        if unsafe { libc::geteuid() } != 0 {
            return;
        }
        let file = open("card0");
        let bo = ioctl::create_bo(file.as_fd(), 4096).unwrap();
        let good = in_child(|| {
            // SAFETY: plain calls, which need privileges.
            let changed = unsafe { libc::setgid(65534) == 0 && libc::setuid(65534) == 0 };
            // Nobody needs to be root for these.
            changed
                && ioctl::get_tiling(file.as_fd(), bo) == Ok(0)
                && ioctl::get_hang_state(file.as_fd(), &mut []).err() == Some(Errno::EACCES)
        });
        assert_eq!(good, Ok(true));
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

/// A standard library that checks itself asks so before it closes a stream.
#[test]
fn streams_of_directories_have_an_open_descriptor() {
    preloaded("streams_of_directories_have_an_open_descriptor", || {
        // SAFETY: a string; the stream is open until it is closed.
        unsafe {
            let stream = libc::opendir(c"/dev/dri".as_ptr());
            let fd = libc::dirfd(stream);
            assert_eq!(libc::fcntl(fd, libc::F_GETFD), libc::FD_CLOEXEC);
            assert_eq!(libc::closedir(stream), 0);
            assert_eq!((libc::fcntl(fd, libc::F_GETFD), Errno::last()), (-1, Errno::EBADF));
        }
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
