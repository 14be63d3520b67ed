//! Messages between a process that uses the device and the process that has it (mesa-under-qemu.md §5), over a
//! SEQPACKET socket. A client has as many connections as it has calls under way; on each, one call at a time:
//!
//! | client says | meaning | server answers |
//! | --- | --- | --- |
//! | [`Kind::Hello`] | first: magic and version, and the [`Secret`] or zeros | `Done` |
//! | [`Kind::Open`] | open node `words[0]`, or the kernel's log | `Done` with a descriptor |
//! | [`Kind::Identify`] | what is inode `words[0..2]`? | `Done`, `words[0]` a [`Identity`] |
//! | [`Kind::Ioctl`] | inode, `words[2]` request, `words[3]` argument's address, its bytes | `Done`, the bytes to copy back |
//! | [`Kind::Map`] | inode, `words[2]` offset, `words[3]` length, `value` for writing | `Done` with the file to map |
//! | [`Kind::Reap`] | a descriptor was closed | `Done` |
//!
//! During an ioctl the server asks for what lies in the client: [`Kind::Read`], [`Kind::Write`], [`Kind::Install`],
//! [`Kind::Fetch`], each answered by [`Kind::Answer`]. Numbers are little endian.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use super::host::Kind as Thing;
use super::node::Node;

/// First word of a greeting.
pub const MAGIC: u64 = u64::from_le_bytes(*b"vc4-sim\0");
/// Second word of a greeting: it changes with every change of this file's meaning.
pub const VERSION: u64 = 3;
/// What [`Kind::Open`] opens beside the nodes: the kernel's log.
pub const LOG: u64 = 2;
/// What those know who may come whatever user they run as.
pub type Secret = [u64; 2];
/// Bytes of the largest payload; longer memory goes in parts.
pub const CHUNK: usize = 64 << 10;

const HEADER: usize = 40;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Client: `words` are [`MAGIC`], [`VERSION`] and a [`Secret`].
    Hello = 1,
    /// Client: open a node.
    Open,
    /// Client: what is this inode?
    Identify,
    /// Client: an ioctl.
    Ioctl,
    /// Client: mmap.
    Map,
    /// Client: descriptors were closed.
    Reap,
    /// Client: what the server asked for; `value` is an errno or 0.
    Answer,
    /// Server: the call's result; `value` is an errno or 0.
    Done,
    /// Server: `words[1]` bytes at `words[0]`, please.
    Read,
    /// Server: the payload goes to `words[0]`.
    Write,
    /// Server: a descriptor for the client, closed on exec if `value` is 1. The answer's `words[0]` is its number.
    Install,
    /// Server: the client's descriptor number `value`, please. The answer carries it.
    Fetch,
}

/// All of them, by their numbers from 1 on.
pub const KINDS: [Kind; 12] = [
    Kind::Hello,
    Kind::Open,
    Kind::Identify,
    Kind::Ioctl,
    Kind::Map,
    Kind::Reap,
    Kind::Answer,
    Kind::Done,
    Kind::Read,
    Kind::Write,
    Kind::Install,
    Kind::Fetch,
];

/// Numbers for what an inode may be.
pub struct Identity;

impl Identity {
    /// For `words[0]` of the answer.
    pub fn encode(kind: Option<Thing>) -> u64 {
        match kind {
            None => 0,
            Some(Thing::Node(Node::Primary)) => 1,
            Some(Thing::Node(Node::Render)) => 2,
            Some(Thing::Sync) => 3,
            Some(Thing::Log) => 4,
        }
    }

    /// From `words[0]` of the answer.
    pub fn decode(word: u64) -> Option<Thing> {
        match word {
            1 => Some(Thing::Node(Node::Primary)),
            2 => Some(Thing::Node(Node::Render)),
            3 => Some(Thing::Sync),
            4 => Some(Thing::Log),
            _ => None,
        }
    }
}

/// A message.
#[derive(Debug)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// A small number.
    pub value: i32,
    /// Numbers.
    pub words: [u64; 4],
    /// At most [`CHUNK`] bytes.
    pub data: Vec<u8>,
    /// A descriptor that travels along.
    pub fd: Option<OwnedFd>,
}

impl Message {
    /// A message with nothing but its kind.
    pub fn new(kind: Kind) -> Message {
        Message { kind, value: 0, words: [0; 4], data: Vec::new(), fd: None }
    }

    /// A result of this kind.
    pub fn result(kind: Kind, result: Result<(), Errno>) -> Message {
        Message { value: result.map_or_else(|errno| errno as i32, |()| 0), ..Message::new(kind) }
    }

    /// The errno that it carries.
    ///
    /// # Errors
    /// That errno.
    pub fn check(self) -> Result<Message, Errno> {
        if self.value == 0 { Ok(self) } else { Err(Errno::from_raw(self.value)) }
    }

    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&(self.kind as u32).to_le_bytes());
        header[4..8].copy_from_slice(&self.value.to_le_bytes());
        for (to, word) in header[8..].chunks_exact_mut(8).zip(self.words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        header
    }

    /// Takes a message apart; `None` when it is none.
    pub fn parse(bytes: &[u8]) -> Option<Message> {
        let (header, data) = bytes.split_at_checked(HEADER)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let kind = word(0) as u32;
        Some(Message {
            kind: KINDS.into_iter().find(|&known| known as u32 == kind)?,
            value: (word(0) >> 32) as i32,
            words: [word(8), word(16), word(24), word(32)],
            data: data.to_vec(),
            fd: None,
        })
    }
}

/// Sends a message with its descriptor, or with `fd`.
///
/// # Errors
/// `EPIPE` when nobody listens any more.
pub fn send(socket: BorrowedFd<'_>, message: &Message, fd: Option<BorrowedFd<'_>>) -> Result<(), Errno> {
    let header = message.header();
    let parts = [IoSlice::new(&header), IoSlice::new(&message.data)];
    let fd = fd.or(message.fd.as_ref().map(|fd| fd.as_fd())).map(|fd| [fd.as_raw_fd()]);
    let rights = fd.as_ref().map(|fd| [ControlMessage::ScmRights(fd)]);
    let rights: &[ControlMessage<'_>] = rights.as_ref().map_or(&[], |rights| rights);
    loop {
        match sendmsg::<()>(socket.as_raw_fd(), &parts, rights, MsgFlags::MSG_NOSIGNAL, None) {
            Err(Errno::EINTR) => {}
            other => return other.map(drop),
        }
    }
}

/// Receives a message.
///
/// # Errors
/// `EPIPE` when the other side is gone, `EPROTO` when what came is no message.
#[expect(unsafe_code, reason = "descriptors arrive as numbers")]
pub fn receive(socket: BorrowedFd<'_>) -> Result<Message, Errno> {
    let mut bytes = vec![0; HEADER + CHUNK];
    let mut space = nix::cmsg_space!([RawFd; 1]);
    let (length, fds) = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags) {
            Err(Errno::EINTR) => {}
            Err(Errno::ECONNRESET) => return Err(Errno::EPIPE),
            Err(errno) => return Err(errno),
            Ok(received) => {
                let mut fds = Vec::new();
                for control in received.cmsgs()? {
                    if let ControlMessageOwned::ScmRights(numbers) = control {
                        // SAFETY: the kernel has just made these descriptors for this message, and nobody else knows
                        // them.
                        fds.extend(numbers.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
                    }
                }
                break (received.bytes, fds);
            }
        }
    };
    if length == 0 {
        return Err(Errno::EPIPE);
    }
    let mut message = Message::parse(&bytes[..length]).ok_or(Errno::EPROTO)?;
    message.fd = fds.into_iter().next();
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
    use proptest::prelude::*;

    #[test]
    fn messages_arrive_with_their_descriptor() {
        let (a, b) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        let null = std::fs::File::open("/dev/null").unwrap();
        let message = Message {
            value: -7,
            words: [1, u64::MAX, 3, 4],
            data: vec![5; CHUNK],
            ..Message::new(Kind::Write)
        };
        send(a.as_fd(), &message, Some(null.as_fd())).unwrap();
        let got = receive(b.as_fd()).unwrap();
        assert_eq!((got.kind, got.value, got.words), (Kind::Write, -7, [1, u64::MAX, 3, 4]));
        assert_eq!(got.data, message.data);
        let (sent, arrived) = (nix::sys::stat::fstat(&null), nix::sys::stat::fstat(got.fd.unwrap()));
        assert_eq!(sent.unwrap().st_rdev, arrived.unwrap().st_rdev);
        drop(a);
        assert_eq!(receive(b.as_fd()).err(), Some(Errno::EPIPE));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(message) = Message::parse(&bytes) {
                prop_assert_eq!([&message.header()[..], &message.data].concat(), bytes);
            }
        }

        #[test]
        fn kinds_are_their_numbers(value: i32, words: [u64; 4], number in 0usize..12) {
            let message = Message { value, words, ..Message::new(KINDS[number]) };
            let again = Message::parse(&message.header()).unwrap();
            prop_assert_eq!((again.kind, again.value, again.words), (message.kind, value, words));
            prop_assert_eq!(message.kind as usize, number + 1);
        }
    }
}
