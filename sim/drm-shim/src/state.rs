//! What our descriptors stand for, and what is asked of them.

use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Once, OnceLock};

use libc::c_int;
use vc4_kernel_abi::environment;
use vc4_sim::drm::backing::{Backing, Descriptors, Inode, Kept, bo_file_size};
use vc4_sim::drm::host::{Host, Kind};
use vc4_sim::drm::{Answer, Device, DmaBuf, Errno, Node, screen};
use vc4_sim::{Config, Hangs, Mode};

use crate::backend::{ACTIVE, BACKEND, Backend};
use crate::client::Client;
use crate::descriptors::Keeper;
use crate::faults::{self, Call};
use crate::fd::{borrow, hand_out, real_fstat};
use crate::inside::lock;
use crate::process::Caller;
use crate::{fork, heap, real};

/// DMA_BUF_IOCTL_EXPORT_SYNC_FILE and its flags (`linux/dma-buf.h`).
const DMA_BUF_IOCTL_EXPORT_SYNC_FILE: u32 = 0xc008_6202;
const DMA_BUF_SYNC_READ: u32 = 1;
const DMA_BUF_SYNC_WRITE: u32 = 2;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// An open node.
    Node(Inode, Node),
    /// A sync_file or syncobj.
    Sync(Inode),
    /// The kernel's log.
    Log,
    /// A dma-buf of that many bytes.
    DmaBuf(Inode, u32),
    /// The heap of contiguous memory.
    Heap,
}

/// Whether descriptors may have come from elsewhere, before this process opened anything.
fn has_server() -> bool {
    environment::variable("VC4SIM_SERVER").is_some()
}

fn current() -> Option<Backend> {
    if !ACTIVE.load(Relaxed) {
        if !has_server() {
            return None;
        }
        return backend().ok();
    }
    lock(&BACKEND).clone()
}

/// What a descriptor stands for, if it is ours.
pub fn find(fd: RawFd) -> Option<Thing> {
    if fd < 0 {
        return None;
    }
    let stat = real_fstat(fd)?;
    let inode = Inode { device: stat.st_dev, number: stat.st_ino };
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG if stat.st_nlink == 0 => {
            if heap::is_one(fd) {
                return Some(Thing::Heap);
            }
            Some(Thing::DmaBuf(inode, bo_file_size(borrow(fd)?)?))
        }
        libc::S_IFSOCK => {
            let kind = match current()? {
                Backend::Local(host) => host.kind(inode),
                Backend::Remote(client) => client.kind(inode, fd),
            };
            kind.map(|kind| match kind {
                Kind::Node(node) => Thing::Node(inode, node),
                Kind::Sync => Thing::Sync(inode),
                Kind::Log => Thing::Log,
            })
        }
        _ => None,
    }
}

/// The device, found or made when it is first needed.
fn backend() -> Result<Backend, Errno> {
    static ONCE: Once = Once::new();
    ONCE.call_once(start);
    let mut place = lock(&BACKEND);
    match &*place {
        // A device whose process has gone is replaced by one of our own.
        Some(Backend::Remote(client)) if client.is_family() && !client.answers() => {}
        Some(backend) => return Ok(backend.clone()),
        None => {}
    }
    let backend = match environment::variable("VC4SIM_SERVER") {
        Some(path) => Backend::Remote(Arc::new(Client::of_server(&path)?)),
        None => Backend::Local(local_host()?),
    };
    *place = Some(backend.clone());
    ACTIVE.store(true, Relaxed);
    Ok(backend)
}

fn local_host() -> Result<Arc<Host>, Errno> {
    let config = config().with_facts_of_environment().map_err(|what| {
        // Whoever opens the device sees only the error.
        eprintln!("vc4 shim: {what}");
        Errno::EINVAL
    })?;
    let backing = Backing::new(config.memory_bytes, Arc::new(Keeper))?;
    let device = Device::on_files(&backing, config, screen::from_environment())?;
    Ok(Host::new(device, &backing))
}

fn config() -> Config {
    let strict = environment::variable("VC4SIM_STRICT").is_some_and(|value| value == "1");
    let threads = environment::word("VC4SIM_THREADS").and_then(|text| text.parse().ok());
    let mode = if strict { Mode::Strict } else { Mode::Faithful };
    let check_programs = strict || Config::default().check_programs;
    Config {
        mode,
        threads,
        check_programs,
        findings_are_errors: strict,
        hangs: Hangs::Reset,
        ..Config::default()
    }
}

/// Opens a node.
///
/// # Errors
/// What kept us from having memory, a server or a descriptor.
pub fn open(node: Node, flags: c_int) -> Result<RawFd, Errno> {
    if let Some(errno) = faults::of(Call::Open) {
        return Err(errno);
    }
    let fd = match backend()? {
        Backend::Local(host) => host.open(node)?,
        Backend::Remote(client) => client.open(node)?,
    };
    Ok(handed_out(fd, flags))
}

/// Opens the log of the kernel that drives our device, if this process has opened the device; `None` before.
pub fn open_log(flags: c_int) -> Option<Result<RawFd, Errno>> {
    let backend = lock(&BACKEND).clone()?;
    if environment::variable("VC4SIM_DMESG_RESTRICT").is_some_and(|value| value == "1") {
        return Some(Err(Errno::EPERM));
    }
    let fd = match backend {
        Backend::Local(host) => host.open_log(),
        Backend::Remote(client) => client.open_log(),
    };
    Some(fd.map(|fd| handed_out(fd, flags)))
}

/// The number of a descriptor that a program opened with these flags.
fn handed_out(fd: OwnedFd, flags: c_int) -> RawFd {
    let fd = hand_out(fd, flags & libc::O_CLOEXEC != 0);
    if flags & libc::O_NONBLOCK != 0 {
        // SAFETY: a descriptor that was opened just now.
        unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) };
    }
    fd
}

/// Answers an ioctl.
///
/// # Errors
/// The kernel's errno.
pub fn ioctl(thing: Thing, request: u32, arg: u64) -> Answer {
    let (inode, backend) = match thing {
        Thing::Node(inode, _) | Thing::Sync(inode) => (inode, current().ok_or(Errno::ENODEV)?),
        Thing::Log => return Err(Errno::ENOTTY),
        Thing::Heap => return heap::ioctl(request, arg),
        Thing::DmaBuf(..) if !DmaBuf::has_ioctl(request) => return Err(Errno::ENOTTY),
        Thing::DmaBuf(inode, _) => match current() {
            Some(backend) => (inode, backend),
            None => return DmaBuf::ioctl_unused(request, arg, &Caller(None)),
        },
    };
    match backend {
        Backend::Local(host) => host.ioctl(inode, request, arg, &Caller(Some(&host))),
        Backend::Remote(client) => client.ioctl(inode, request, arg),
    }
}

/// Whether a descriptor can be one of a device's: cheap, since every wait and read of the process asks.
pub fn may_have_ours() -> bool {
    static SERVER: OnceLock<bool> = OnceLock::new();
    ACTIVE.load(Relaxed) || *SERVER.get_or_init(has_server)
}

/// The number of a dma-buf's file, if that is what a descriptor stands for. Cheap, since all that are polled come here.
pub fn dma_buf(fd: RawFd) -> Option<Inode> {
    if fd < 0 {
        return None;
    }
    let stat =
        real_fstat(fd).filter(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFREG && stat.st_nlink == 0)?;
    bo_file_size(borrow(fd)?)?;
    Some(Inode { device: stat.st_dev, number: stat.st_ino })
}

/// A sync_file of what is to happen before a dma-buf may be read, or also written. `None` when nobody knows.
pub fn fence_file(buffer: Inode, write: bool) -> Option<Kept> {
    let usage = if write { DMA_BUF_SYNC_READ | DMA_BUF_SYNC_WRITE } else { DMA_BUF_SYNC_READ };
    let mut arg = [usage, u32::MAX];
    let address = (&raw mut arg) as usize as u64;
    ioctl(Thing::DmaBuf(buffer, 0), DMA_BUF_IOCTL_EXPORT_SYNC_FILE, address).ok()?;
    // SAFETY: a new descriptor that only we know.
    let fd = unsafe { OwnedFd::from_raw_fd(arg[1] as RawFd) };
    let keeper: Arc<dyn Descriptors> = Arc::new(Keeper);
    Some(Kept::new(fd, &keeper))
}

/// Maps a node.
///
/// # Safety
/// That of mmap.
///
/// # Errors
/// The errno of mmap.
pub unsafe fn map(
    inode: Inode,
    address: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    offset: u64,
) -> Result<usize, Errno> {
    let write = protection & libc::PROT_WRITE != 0;
    // SAFETY: the caller's, except for the descriptor: a BO's file.
    let map = |file: BorrowedFd<'_>| unsafe {
        use std::os::fd::AsRawFd;
        real::mmap(address as *mut _, length, protection, flags, file.as_raw_fd(), 0)
    };
    let mapped = match current().ok_or(Errno::ENODEV)? {
        Backend::Local(host) => {
            let window = host.window(inode, offset, length as u64, write)?;
            map(window.file().ok_or(Errno::ENODEV)?.as_fd())
        }
        Backend::Remote(client) => map(client.map(inode, offset, length as u64, write)?.as_fd()),
    };
    if mapped == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(mapped as usize) }
}

/// Tells the device that descriptors were closed.
pub fn reap() {
    if !ACTIVE.load(Relaxed) {
        return;
    }
    let backend = lock(&BACKEND).clone();
    match backend {
        Some(Backend::Local(host)) => host.reap(),
        Some(Backend::Remote(client)) => client.reap(),
        None => {}
    }
}

fn start() {
    if let Some(filter) = environment::word("VC4SIM_LOG") {
        // A second logger is no reason to fail.
        let _ = env_logger::Builder::new().parse_filters(&filter).try_init();
    }
    fork::register();
}
