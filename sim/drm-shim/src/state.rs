//! What our descriptors stand for, and the one device behind them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use libc::c_int;
use vc4_sim::drm::{Device, Exported, File, Node, Window};
use vc4_sim::{Config, Mode, Simulator};

use crate::real;
use crate::storage::{Storage, out_of_the_way};

/// Device and inode number of a descriptor's end of its socket pair.
type Inode = (libc::dev_t, libc::ino64_t);

/// What a descriptor stands for.
#[derive(Clone)]
pub enum Thing {
    /// An open node.
    Node(Arc<File>),
    /// Something that was handed out.
    Exported(Exported),
    /// A node or export of the process that forked this one.
    Inherited,
}

struct Entry {
    thing: Thing,
    /// The other end of the pair; it hangs up when the last descriptor of our end is gone.
    peer: RawFd,
}

struct State {
    entries: BTreeMap<Inode, Entry>,
    device: Option<(Arc<Device>, RawFd)>,
}

/// Mapped BOs: address to length and memory.
type Mappings = BTreeMap<usize, (usize, Window)>;

static STATE: Mutex<State> = Mutex::new(State { entries: BTreeMap::new(), device: None });
static MAPPINGS: Mutex<Mappings> = Mutex::new(BTreeMap::new());
/// Entries there are, so that processes without a device pay for nothing.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);
static MAPPED: AtomicUsize = AtomicUsize::new(0);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    static FORKING: RefCell<Option<(MutexGuard<'static, State>, MutexGuard<'static, Mappings>)>> =
        const { RefCell::new(None) };
}

/// While it lives, hooks of this thread pass everything on: what our own code calls is never ours, and a
/// signal handler or allocator must not wait for a lock that its own thread holds.
pub struct Inside(());

impl Inside {
    /// `None` when this thread is inside already.
    pub fn enter() -> Option<Inside> {
        // At a thread's end its variables are gone, and so is its business with us.
        let entered = INSIDE.try_with(|inside| !inside.replace(true)).unwrap_or(false);
        entered.then_some(Inside(()))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}

fn last_errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// What a real fstat says.
pub fn real_fstat(fd: RawFd) -> Option<libc::stat64> {
    let mut out = std::mem::MaybeUninit::<libc::stat64>::zeroed();
    // SAFETY: `out` has room for the result; all bits zero is a value of the struct.
    unsafe { (real::fstat(fd, out.as_mut_ptr()) == 0).then(|| out.assume_init()) }
}

fn inode_of(fd: RawFd) -> Option<Inode> {
    let stat = real_fstat(fd)?;
    (stat.st_mode & libc::S_IFMT == libc::S_IFSOCK).then_some((stat.st_dev, stat.st_ino))
}

/// What a descriptor stands for, if it is ours.
pub fn find(fd: RawFd) -> Option<Thing> {
    if ENTRIES.load(Relaxed) == 0 || fd < 0 {
        return None;
    }
    let inode = inode_of(fd)?;
    lock(&STATE).entries.get(&inode).map(|entry| entry.thing.clone())
}

/// Whether a descriptor is one that only this library knows.
pub fn is_internal(fd: RawFd) -> bool {
    if ENTRIES.load(Relaxed) == 0 {
        return false;
    }
    let state = lock(&STATE);
    state.device.as_ref().is_some_and(|device| device.1 == fd)
        || state.entries.values().any(|entry| entry.peer == fd)
}

/// A new descriptor for `thing`.
///
/// # Errors
/// The errno of socketpair.
pub fn install(thing: Thing, close_on_exec: bool) -> Result<RawFd, c_int> {
    reap();
    let kind = libc::SOCK_SEQPACKET | if close_on_exec { libc::SOCK_CLOEXEC } else { 0 };
    let mut ends = [-1; 2];
    // SAFETY: room for two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) } != 0 {
        return Err(last_errno());
    }
    let [fd, peer] = ends;
    let peer = out_of_the_way(peer);
    let Some(inode) = inode_of(fd) else {
        let errno = last_errno();
        close_real(fd);
        close_real(peer);
        return Err(errno);
    };
    // SAFETY: a plain call; the peer is never handed to another program.
    unsafe { libc::fcntl(peer, libc::F_SETFD, libc::FD_CLOEXEC) };
    let mut state = lock(&STATE);
    state.entries.insert(inode, Entry { thing: thing.clone(), peer });
    ENTRIES.store(state.entries.len(), Relaxed);
    drop(state);
    match thing {
        Thing::Exported(Exported::DmaBuf(_)) => make_readable(inode),
        Thing::Exported(Exported::SyncFile(file)) => {
            file.when_signalled(Box::new(move || make_readable(inode)));
        }
        _ => {}
    }
    Ok(fd)
}

/// Lets poll see that a fence has signalled.
fn make_readable(inode: Inode) {
    let _inside = Inside::enter();
    if let Some(entry) = lock(&STATE).entries.get(&inode) {
        // SAFETY: one byte of ours; the descriptor is ours while the lock is held.
        unsafe {
            libc::send(entry.peer, [1u8].as_ptr().cast(), 1, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
        }
    }
}

fn close_real(fd: RawFd) {
    // SAFETY: a descriptor that only we know.
    unsafe { real::close(fd) };
}

/// Whether all descriptors of the other end are closed.
fn hung_up(peer: RawFd) -> bool {
    let mut poll = libc::pollfd { fd: peer, events: 0, revents: 0 };
    // SAFETY: one element, no waiting.
    let ready = unsafe { libc::poll(&mut poll, 1, 0) };
    ready > 0 && poll.revents & (libc::POLLHUP | libc::POLLNVAL) != 0
}

/// Forgets what has no descriptor any more.
pub fn reap() {
    if ENTRIES.load(Relaxed) == 0 {
        return;
    }
    let mut state = lock(&STATE);
    let gone: Vec<Inode> =
        state.entries.iter().filter(|(_, entry)| hung_up(entry.peer)).map(|(&inode, _)| inode).collect();
    let gone: Vec<Entry> = gone.iter().filter_map(|inode| state.entries.remove(inode)).collect();
    ENTRIES.store(state.entries.len(), Relaxed);
    drop(state);
    for entry in gone {
        close_real(entry.peer);
        // Its BOs go here, with no lock held.
        drop(entry.thing);
    }
}

/// The device, made when it is first opened.
fn device() -> Result<Arc<Device>, c_int> {
    static ONCE: Once = Once::new();
    ONCE.call_once(start);
    let mut state = lock(&STATE);
    if let Some((device, _)) = &state.device {
        return Ok(device.clone());
    }
    let config = config();
    let storage = Storage::new(config.memory_bytes)?;
    let simulator =
        Simulator::on_words(config, storage.words, Some(storage.discard())).ok_or(libc::ENOMEM)?;
    let device = Device::new(simulator, config);
    state.device = Some((device.clone(), storage.fd));
    Ok(device)
}

/// Opens a node.
///
/// # Errors
/// What kept us from having memory or a descriptor.
pub fn open(node: Node, close_on_exec: bool) -> Result<RawFd, c_int> {
    install(Thing::Node(Arc::new(device()?.open(node))), close_on_exec)
}

fn config() -> Config {
    let strict = std::env::var_os("VC4SIM_STRICT").is_some_and(|value| value == "1");
    let threads = std::env::var("VC4SIM_THREADS").ok().and_then(|text| text.parse().ok());
    let mode = if strict { Mode::Strict } else { Mode::Faithful };
    Config { mode, threads, ..Config::default() }
}

fn start() {
    if let Ok(filter) = std::env::var("VC4SIM_LOG") {
        // A second logger is no reason to fail.
        let _ = env_logger::Builder::new().parse_filters(&filter).try_init();
    }
    // SAFETY: the handlers are functions without arguments that stay as long as the process.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(after_fork_in_parent), Some(after_fork_in_child)) };
}

/// Holds our locks across the fork, so that the child finds them whole.
extern "C" fn before_fork() {
    let _inside = Inside::enter();
    let guards = (lock(&STATE), lock(&MAPPINGS));
    let _ = FORKING.try_with(|forking| *forking.borrow_mut() = Some(guards));
}

extern "C" fn after_fork_in_parent() {
    let _ = FORKING.try_with(|forking| forking.borrow_mut().take());
}

/// The child has none of the simulator's threads, and their locks may be held for ever: everything that leads there
/// is forgotten, not dropped.
extern "C" fn after_fork_in_child() {
    let _inside = Inside::enter();
    let Ok(Some((mut state, mut mappings))) = FORKING.try_with(|forking| forking.borrow_mut().take()) else {
        return;
    };
    std::mem::forget(std::mem::take(&mut *mappings));
    MAPPED.store(0, Relaxed);
    std::mem::forget(state.device.take());
    for entry in state.entries.values_mut() {
        std::mem::forget(std::mem::replace(&mut entry.thing, Thing::Inherited));
    }
}

/// Maps a part of bus memory and keeps it for as long as it is mapped.
///
/// # Safety
/// That of mmap.
///
/// # Errors
/// The errno of mmap.
pub unsafe fn map(
    address: usize,
    length: usize,
    protection: c_int,
    flags: c_int,
    window: Window,
    offset: u64,
) -> Result<usize, c_int> {
    let memory = lock(&STATE).device.as_ref().map(|device| device.1).ok_or(libc::ENODEV)?;
    let offset = offset + u64::from(window.address());
    let mut mappings = lock(&MAPPINGS);
    // SAFETY: the caller's, except for descriptor and offset: a part of our own file.
    let mapped = unsafe {
        real::mmap(address as *mut _, length, protection, flags, memory, offset.try_into().unwrap_or(-1))
    };
    if mapped == libc::MAP_FAILED {
        return Err(last_errno());
    }
    let gone = cut(&mut mappings, mapped as usize, length);
    mappings.insert(mapped as usize, (length, window));
    MAPPED.store(mappings.len(), Relaxed);
    drop(mappings);
    drop(gone);
    Ok(mapped as usize)
}

/// Calls `change`, which unmaps or replaces that range, and lets go of the BOs that were mapped there if it
/// answers true.
pub fn unmap(address: usize, length: usize, change: impl FnOnce() -> bool) {
    if MAPPED.load(Relaxed) == 0 {
        change();
        return;
    }
    let mut mappings = lock(&MAPPINGS);
    if !change() {
        return;
    }
    let gone = cut(&mut mappings, address, length);
    MAPPED.store(mappings.len(), Relaxed);
    drop(mappings);
    drop(gone);
}

/// Takes a range out of the mappings; what sticks out on either side stays.
fn cut(mappings: &mut Mappings, address: usize, length: usize) -> Vec<Window> {
    let end = address.saturating_add(length.next_multiple_of(4096));
    let hit: Vec<usize> = mappings
        .range(..end)
        .rev()
        .take_while(|&(&start, &(length, _))| start + length > address)
        .map(|(&start, _)| start)
        .collect();
    let mut gone = Vec::new();
    for start in hit {
        let Some((length, window)) = mappings.remove(&start) else { continue };
        if start < address {
            mappings.insert(start, (address - start, window.clone()));
        }
        if start + length > end {
            mappings.insert(end, (start + length - end, window.clone()));
        }
        gone.push(window);
    }
    gone
}
