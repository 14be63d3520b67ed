//! What our descriptors stand for, and where the device is: in this process, in the one that forked it, or in the
//! server that `VC4SIM_SERVER` names.

use std::cell::{Cell, RefCell};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use libc::c_int;
use vc4_sim::drm::backing::{Backing, Inode, bo_file_size};
use vc4_sim::drm::host::{Host, Kind};
use vc4_sim::drm::{Answer, Device, DmaBuf, Errno, Node, screen};
use vc4_sim::{Config, Mode};

use crate::client::Client;
use crate::descriptors::{self, Keeper};
use crate::family;
use crate::process::Caller;
use crate::real;

/// What a descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// An open node.
    Node(Inode, Node),
    /// A sync_file or syncobj.
    Sync(Inode),
    /// A dma-buf of that many bytes.
    DmaBuf(u32),
}

/// Where the device is.
#[derive(Clone)]
enum Backend {
    Local(Arc<Host>),
    Remote(Arc<Client>),
}

static BACKEND: Mutex<Option<Backend>> = Mutex::new(None);
/// Whether a descriptor can be ours at all, so that processes without a device pay for nothing.
static ACTIVE: AtomicBool = AtomicBool::new(false);

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

type Guards = (
    MutexGuard<'static, Option<Backend>>,
    descriptors::Guard,
    crate::hooks::StreamsGuard,
    Option<family::Door>,
);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static FORKING: RefCell<Option<Guards>> = const { RefCell::new(None) };
}

/// While it lives, hooks of this thread pass everything on: what our own code calls is never ours, and a
/// signal handler or allocator must not wait for a lock that its own thread holds.
pub struct Inside(());

impl Inside {
    /// `None` when this thread is inside already.
    pub fn enter() -> Option<Inside> {
        // At a thread's end its variables are gone, and so is its business with us.
        let entered = INSIDE.try_with(|inside| !inside.replace(true)).unwrap_or(false);
        entered.then(|| Inside(()))
    }

    /// For a thread of our own: for ever.
    pub fn stay() {
        std::mem::forget(Inside::enter());
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

/// What a real fstat says.
pub fn real_fstat(fd: RawFd) -> Option<libc::stat64> {
    let mut out = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `out` has room for the result; all bits zero is a value of the struct.
    unsafe { (real::fstat(fd, out.as_mut_ptr()) == 0).then(|| out.assume_init()) }
}

/// A descriptor of the caller's.
pub fn borrow(fd: RawFd) -> Option<BorrowedFd<'static>> {
    // SAFETY: open now; if another thread closes it meanwhile, calls on it fail or meet its successor, as they
    // would in the kernel.
    (fd >= 0 && real_fstat(fd).is_some()).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Whether descriptors may have come from elsewhere, before this process opened anything.
fn has_server() -> bool {
    std::env::var_os("VC4SIM_SERVER").is_some_and(|path| !path.is_empty())
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
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFREG if stat.st_nlink == 0 => Some(Thing::DmaBuf(bo_file_size(borrow(fd)?)?)),
        libc::S_IFSOCK => {
            let inode = Inode { device: stat.st_dev, number: stat.st_ino };
            let kind = match current()? {
                Backend::Local(host) => host.kind(inode),
                Backend::Remote(client) => client.kind(inode, fd),
            };
            kind.map(|kind| match kind {
                Kind::Node(node) => Thing::Node(inode, node),
                Kind::Sync => Thing::Sync(inode),
            })
        }
        _ => None,
    }
}

/// Whether a socket may be ours: all of ours are of this type.
pub fn is_packet_socket(fd: RawFd) -> bool {
    let option = |name| {
        let mut value: c_int = 0;
        let mut length = size_of::<c_int>() as libc::socklen_t;
        // SAFETY: room for the value and its length.
        let result =
            unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
        (result == 0).then_some(value)
    };
    option(libc::SO_DOMAIN) == Some(libc::AF_UNIX) && option(libc::SO_TYPE) == Some(libc::SOCK_SEQPACKET)
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
    let backend = match std::env::var_os("VC4SIM_SERVER").filter(|path| !path.is_empty()) {
        Some(path) => Backend::Remote(Arc::new(Client::of_server(&path)?)),
        None => Backend::Local(local_host()?),
    };
    *place = Some(backend.clone());
    ACTIVE.store(true, Relaxed);
    Ok(backend)
}

fn local_host() -> Result<Arc<Host>, Errno> {
    let config = config();
    let backing = Backing::new(config.memory_bytes, Arc::new(Keeper))?;
    let device = Device::on_files(&backing, config, screen::from_environment())?;
    Ok(Host::new(device, &backing))
}

fn config() -> Config {
    let strict = std::env::var_os("VC4SIM_STRICT").is_some_and(|value| value == "1");
    let threads = std::env::var("VC4SIM_THREADS").ok().and_then(|text| text.parse().ok());
    let mode = if strict { Mode::Strict } else { Mode::Faithful };
    let check_programs = strict || Config::default().check_programs;
    Config { mode, threads, check_programs, findings_are_errors: strict, ..Config::default() }
}

/// Gives a new descriptor the wanted behaviour on exec.
pub fn hand_out(fd: OwnedFd, close_on_exec: bool) -> RawFd {
    let fd = fd.into_raw_fd();
    if !close_on_exec {
        // SAFETY: a plain call on a descriptor that we just made.
        unsafe { libc::fcntl(fd, libc::F_SETFD, 0) };
    }
    fd
}

/// Opens a node.
///
/// # Errors
/// What kept us from having memory, a server or a descriptor.
pub fn open(node: Node, flags: c_int) -> Result<RawFd, Errno> {
    let fd = match backend()? {
        Backend::Local(host) => host.open(node)?,
        Backend::Remote(client) => client.open(node)?,
    };
    let fd = hand_out(fd, flags & libc::O_CLOEXEC != 0);
    if flags & libc::O_NONBLOCK != 0 {
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK) };
    }
    Ok(fd)
}

/// Answers an ioctl.
///
/// # Errors
/// The kernel's errno.
pub fn ioctl(thing: Thing, request: u32, arg: u64) -> Answer {
    let inode = match thing {
        Thing::Node(inode, _) | Thing::Sync(inode) => inode,
        Thing::DmaBuf(_) => return DmaBuf::ioctl(request, arg, &Caller(None)),
    };
    match current().ok_or(Errno::ENODEV)? {
        Backend::Local(host) => host.ioctl(inode, request, arg, &Caller(Some(&host))),
        Backend::Remote(client) => client.ioctl(inode, request, arg),
    }
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
    if let Ok(filter) = std::env::var("VC4SIM_LOG") {
        // A second logger is no reason to fail.
        let _ = env_logger::Builder::new().parse_filters(&filter).try_init();
    }
    // SAFETY: the handlers are functions without arguments that stay as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child)) };
}

/// Holds our locks across the fork, so that the child finds them whole, and opens a door for it to a device here.
extern "C" fn before_fork() {
    let inside = Inside::enter();
    let host = match &*lock(&BACKEND) {
        Some(Backend::Local(host)) => Some(host.clone()),
        _ => None,
    };
    let door = host.as_ref().and_then(family::door);
    let guards = (lock(&BACKEND), descriptors::guard(), crate::hooks::streams_guard(), door);
    let _ = FORKING.try_with(|forking| *forking.borrow_mut() = Some(guards));
    drop(inside);
}

extern "C" fn after_fork_in_parent() {
    let _inside = Inside::enter();
    let Ok(Some((backend, internal, streams, door))) =
        FORKING.try_with(|forking| forking.borrow_mut().take())
    else {
        return;
    };
    let host = match &*backend {
        Some(Backend::Local(host)) => Some(host.clone()),
        _ => None,
    };
    drop((backend, internal, streams));
    if let (Some(host), Some(door)) = (host, door) {
        family::serve(door, host);
    }
}

/// The child has none of the simulator's threads, and their locks may be held for ever: everything that leads there
/// is forgotten, not dropped. Descriptors that it inherited go on standing for the same open files, as they do with a
/// real device, by way of the process that has it.
extern "C" fn after_fork_in_child() {
    let _inside = Inside::enter();
    let Ok(Some((mut backend, mut internal, streams, door))) =
        FORKING.try_with(|forking| forking.borrow_mut().take())
    else {
        return;
    };
    internal.close_all();
    let successor = match backend.take() {
        Some(Backend::Local(host)) => {
            std::mem::forget(host);
            door.as_ref().map(|door| Client::of_family(door.address()))
        }
        Some(Backend::Remote(client)) => {
            let successor = client.for_child();
            std::mem::forget(client);
            Some(successor)
        }
        None => None,
    };
    // Its descriptor was closed with the others.
    std::mem::forget(door);
    ACTIVE.store(successor.is_some(), Relaxed);
    *backend = successor.map(|client| Backend::Remote(Arc::new(client)));
    drop((backend, internal, streams));
}
