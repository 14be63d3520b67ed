//! What descriptors stand for. Each node and each sync object is one end of a socket pair, an object of the real
//! kernel's: dup, poll, inheritance and passing to other processes work by themselves, its inode tells which one
//! it is in any process, and the other end, which stays here, hangs up when the last descriptor of it is closed. A
//! dma-buf is the BO's file itself.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use nix::sys::stat::{SFlag, fstat};

use super::device::Device;
use super::fence::Syncobj;
use super::file::File;
use super::node::{Answer, Node};
use super::object::{DmaBuf, Window};
use super::process::{Exported, Opener, Process};
use super::sync_file::SyncFile;
use crate::kernel::backing::{Backing, Descriptors, Inode, Kept, bo_file_size};
use crate::lock::lock;

/// What a descriptor stands for, as far as it is no dma-buf.
#[derive(Clone)]
enum Thing {
    Node(Arc<File>),
    SyncFile(SyncFile),
    Syncobj(Arc<Syncobj>),
    /// The kernel's log.
    Log,
}

/// The same, without the thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An open node.
    Node(Node),
    /// A sync_file or syncobj.
    Sync,
    /// The kernel's log.
    Log,
}

struct Entry {
    thing: Thing,
    peer: Arc<Kept>,
}

/// A device and the descriptors that were given out for it.
pub struct Host {
    device: Arc<Device>,
    descriptors: Arc<dyn Descriptors>,
    entries: Mutex<BTreeMap<Inode, Entry>>,
    /// Of those that are closed, how many still have BOs.
    leaving: AtomicUsize,
}

/// Puts bytes where the holder of the other end reads them; whether there was room.
fn tell(peer: &Kept, bytes: &[u8]) -> bool {
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    send(peer.as_fd().as_raw_fd(), bytes, flags) == Ok(bytes.len())
}

/// Takes out what the holder of the other end has written.
fn empty(peer: &Kept) {
    let mut byte = [0];
    while recv(peer.as_fd().as_raw_fd(), &mut byte, MsgFlags::MSG_DONTWAIT).is_ok_and(|length| length > 0) {}
}

/// Whether all descriptors of the other end are closed.
fn hung_up(peer: &Kept) -> bool {
    let mut set = [PollFd::new(peer.as_fd(), PollFlags::empty())];
    let gone = PollFlags::POLLHUP | PollFlags::POLLNVAL;
    poll(&mut set, PollTimeout::ZERO) == Ok(1)
        && set[0].revents().is_some_and(|events| events.intersects(gone))
}

impl Host {
    /// For a device whose BOs are files of `backing`.
    pub fn new(device: Arc<Device>, backing: &Backing) -> Arc<Host> {
        let descriptors = backing.descriptors().clone();
        Arc::new(Host { device, descriptors, entries: Mutex::default(), leaving: AtomicUsize::new(0) })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Where its own descriptors are.
    pub(super) fn keeper(&self) -> &Arc<dyn Descriptors> {
        &self.descriptors
    }

    /// Opens a node, for this process. The descriptor is closed on exec.
    ///
    /// # Errors
    /// `EMFILE` and what else socketpair says.
    pub fn open(&self, node: Node) -> Result<OwnedFd, Errno> {
        self.open_for(node, Opener::own())
    }

    /// Opens a node.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub fn open_for(&self, node: Node, opener: Opener) -> Result<OwnedFd, Errno> {
        self.pair(Thing::Node(Arc::new(self.device.open_for(node, opener))))
    }

    /// Opens the kernel's log: each message is a record, from now on. The descriptor is closed on exec.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub fn open_log(&self) -> Result<OwnedFd, Errno> {
        self.pair(Thing::Log)
    }

    /// A descriptor for something that was exported. It is closed on exec.
    ///
    /// # Errors
    /// As [`Host::open`].
    pub fn install(&self, object: Exported) -> Result<OwnedFd, Errno> {
        match object {
            Exported::DmaBuf(buffer) => buffer.duplicate(),
            Exported::Syncobj(syncobj) => self.pair(Thing::Syncobj(syncobj)),
            Exported::SyncFile(file) => self.pair(Thing::SyncFile(file)),
        }
    }

    fn pair(&self, thing: Thing) -> Result<OwnedFd, Errno> {
        self.reap();
        let (fd, peer) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let peer = Arc::new(Kept::new(peer, &self.descriptors));
        let inode = Inode::of(&fd)?;
        let weak = Arc::downgrade(&peer);
        let (other, writer) = (weak.clone(), weak.clone());
        let is_open = move || other.strong_count() > 0;
        let tell = move |bytes: &[u8]| weak.upgrade().is_some_and(|peer| tell(&peer, bytes));
        lock(&self.entries).insert(inode, Entry { thing: thing.clone(), peer });
        match thing {
            Thing::Node(file) => file.set_events(Arc::new(tell)),
            // Lets poll see that the fence has signalled. Who waits to write has filled the socket before.
            Thing::SyncFile(file) => file.when_signalled(Box::new(move || {
                tell(&[1]);
                if let Some(peer) = writer.upgrade() {
                    empty(&peer);
                }
            })),
            // A reader that does not read loses records, as with the kernel's.
            Thing::Log => self.device.simulator.read_log(Box::new(move |record| {
                tell(record);
                is_open()
            })),
            Thing::Syncobj(_) => {}
        }
        Ok(fd)
    }

    fn thing(&self, inode: Inode) -> Option<Thing> {
        lock(&self.entries).get(&inode).map(|entry| entry.thing.clone())
    }

    /// What kind of thing a descriptor with this inode is, if it was given out here.
    pub fn kind(&self, inode: Inode) -> Option<Kind> {
        self.thing(inode).map(|thing| match thing {
            Thing::Node(file) => Kind::Node(file.node()),
            Thing::SyncFile(_) | Thing::Syncobj(_) => Kind::Sync,
            Thing::Log => Kind::Log,
        })
    }

    /// What a descriptor stands for that a process hands in.
    ///
    /// # Errors
    /// `EBADF` when it is not open, `EINVAL` when it is nothing of this device's.
    pub fn exported(&self, fd: BorrowedFd<'_>) -> Result<Exported, Errno> {
        let stat = fstat(fd)?;
        let socket = SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFSOCK;
        let inode = Inode::of(fd)?;
        if socket {
            return match self.thing(inode) {
                Some(Thing::SyncFile(file)) => Ok(Exported::SyncFile(file)),
                Some(Thing::Syncobj(syncobj)) => Ok(Exported::Syncobj(syncobj)),
                Some(Thing::Node(_) | Thing::Log) | None => Err(Errno::EINVAL),
            };
        }
        let size = bo_file_size(fd).ok_or(Errno::EINVAL)?;
        let copy = || fd.try_clone_to_owned().map_err(|_| Errno::EMFILE);
        self.device.import(inode, size, copy).map(Exported::DmaBuf)
    }

    /// Answers an ioctl of a descriptor with this inode.
    ///
    /// # Errors
    /// The kernel's errno; `EBADF` when no descriptor has this inode.
    pub fn ioctl(&self, inode: Inode, request: u32, arg: u64, process: &dyn Process) -> Answer {
        match self.thing(inode) {
            Some(Thing::Node(file)) => file.ioctl(request, arg, process),
            Some(Thing::SyncFile(file)) => file.ioctl(request, arg, process),
            Some(Thing::Syncobj(_) | Thing::Log) => Err(Errno::ENOTTY),
            // A dma-buf is a file, of which a heap's may be no BO of this device yet.
            None if DmaBuf::has_ioctl(request) => {
                let buffer = self.device.dma_buf(inode);
                self.device.dma_buf_ioctl(buffer.as_ref(), request, arg, process)
            }
            None => Err(Errno::EBADF),
        }
    }

    /// What mmap of a node with this inode shows.
    ///
    /// # Errors
    /// Those of [`File::window`]; `ENODEV` when it is no node.
    pub fn window(&self, inode: Inode, offset: u64, length: u64, write: bool) -> Result<Window, Errno> {
        match self.thing(inode) {
            Some(Thing::Node(file)) => file.window(offset, length, write),
            _ => Err(Errno::ENODEV),
        }
    }

    /// Forgets what has no descriptor any more.
    pub fn reap(&self) {
        let mut entries = lock(&self.entries);
        let gone: Vec<Inode> =
            entries.iter().filter(|(_, entry)| hung_up(&entry.peer)).map(|(&inode, _)| inode).collect();
        let gone: Vec<Entry> = gone.iter().filter_map(|inode| entries.remove(inode)).collect();
        let leaving = gone.len();
        self.leaving.fetch_add(leaving, SeqCst);
        drop(entries);
        // Their BOs go here, with no lock held.
        drop(gone);
        self.leaving.fetch_sub(leaving, SeqCst);
    }

    /// Descriptors given out that are not all closed, or still have BOs.
    pub fn descriptors_out(&self) -> usize {
        lock(&self.entries).len() + self.leaving.load(SeqCst)
    }
}
