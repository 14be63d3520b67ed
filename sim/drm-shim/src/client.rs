//! The device in another process ([`vc4_sim::drm::wire`]). Each call takes a connection for itself, so that
//! one that waits keeps nobody from calling.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, Once};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
use vc4_sim::drm::backing::{Descriptors, Inode, Kept};
use vc4_sim::drm::host::Kind as Thing;
use vc4_sim::drm::wire::{CHUNK, Identity, Kind, LOG, MAGIC, Message, Secret, VERSION, receive, send};
use vc4_sim::drm::{Answer, Errno, Node};

use crate::descriptors::Keeper;
use crate::fd::{borrow, hand_out, is_packet_socket};
use crate::inside::lock;
use crate::process::{copy_from, copy_to};

/// Connections that are kept for later calls.
const IDLE_CONNECTIONS: usize = 8;

/// A device in another process.
pub struct Client {
    address: UnixAddr,
    /// If it is the process that forked this one: what lets us in.
    family: Option<Secret>,
    idle: Mutex<Vec<Kept>>,
    /// Inodes that the device has told about.
    known: Mutex<BTreeMap<Inode, Thing>>,
}

/// Bits of a request code: the argument's bytes are handed in, or come back.
const WRITES: u32 = 1 << 30;
const READS: u32 = 1 << 31;

/// How many bytes of argument a request hands in.
fn argument_size(request: u32) -> usize {
    let is_known = matches!((request >> 8) as u8, b'd' | b'>' | b'b');
    if request & WRITES != 0 && is_known { (request >> 16) as usize & 0x3fff } else { 0 }
}

impl Client {
    fn new(address: UnixAddr, family: Option<Secret>) -> Client {
        Client { address, family, idle: Mutex::default(), known: Mutex::default() }
    }

    /// The device of the server at this path.
    ///
    /// # Errors
    /// `ENODEV` when nobody answers there; the reason is printed once.
    pub fn of_server(path: &OsStr) -> Result<Client, Errno> {
        let client = UnixAddr::new(path).map(|address| Client::new(address, None));
        let greeted = client.and_then(|client| {
            let connection = client.connect()?;
            client.keep(connection);
            Ok(client)
        });
        greeted.map_err(|errno| {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| {
                eprintln!(
                    "vc4 shim: no simulator answers at VC4SIM_SERVER={}: {errno}; start `vc4 sim serve` there",
                    std::path::Path::new(path).display()
                );
            });
            Errno::ENODEV
        })
    }

    /// The device of the process that forked this one.
    pub fn of_family(address: UnixAddr, secret: Secret) -> Client {
        Client::new(address, Some(secret))
    }

    /// The same device for a child of fork.
    pub fn for_child(&self) -> Client {
        Client::new(self.address, self.family)
    }

    /// Whether it is the process that forked this one.
    pub fn is_family(&self) -> bool {
        self.family.is_some()
    }

    /// Whether the device is still there.
    pub fn answers(&self) -> bool {
        self.call(&Message::new(Kind::Reap)).is_ok()
    }

    fn connect(&self) -> Result<Kept, Errno> {
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        connect(socket.as_raw_fd(), &self.address)?;
        let keeper: Arc<dyn Descriptors> = Arc::new(Keeper);
        let socket = Kept::new(socket, &keeper);
        let mut hello = Message::new(Kind::Hello);
        let [first, second] = self.family.unwrap_or_default();
        hello.words = [MAGIC, VERSION, first, second];
        send(socket.as_fd(), &hello, None)?;
        receive(socket.as_fd())?.check()?;
        Ok(socket)
    }

    fn keep(&self, connection: Kept) {
        let mut idle = lock(&self.idle);
        if idle.len() < IDLE_CONNECTIONS {
            idle.push(connection);
        }
    }

    /// Makes a call: the whole answer, be it an error or not. `answer` tells the server what it asks for meanwhile.
    fn exchange(
        &self,
        request: &Message,
        answer: impl Fn(Message) -> Result<Message, Errno>,
    ) -> Result<Message, Errno> {
        let lost = |errno| {
            log::error!(target: "vc4::shim", "the simulator does not answer: {errno}");
            Errno::ENODEV
        };
        let idle = lock(&self.idle).pop();
        let connection = idle.map_or_else(|| self.connect(), Ok).map_err(lost)?;
        send(connection.as_fd(), request, None).map_err(lost)?;
        loop {
            let message = receive(connection.as_fd()).map_err(lost)?;
            if message.kind == Kind::Done {
                self.keep(connection);
                return Ok(message);
            }
            let reply = answer(message).unwrap_or_else(|errno| Message::result(Kind::Answer, Err(errno)));
            send(connection.as_fd(), &reply, None).map_err(lost)?;
        }
    }

    /// Makes a call about which the server asks nothing.
    fn call(&self, request: &Message) -> Result<Message, Errno> {
        self.exchange(request, |_| Err(Errno::EPROTO))?.check()
    }

    /// Opens a node.
    ///
    /// # Errors
    /// `EMFILE`, `ENODEV`.
    pub fn open(&self, node: Node) -> Result<OwnedFd, Errno> {
        let mut request = Message::new(Kind::Open);
        request.words[0] = (node == Node::Render).into();
        let fd = self.call(&request)?.fd.ok_or(Errno::EMFILE)?;
        lock(&self.known).insert(Inode::of(&fd)?, Thing::Node(node));
        Ok(fd)
    }

    /// Opens the kernel's log.
    ///
    /// # Errors
    /// `EMFILE`, `ENODEV`.
    pub fn open_log(&self) -> Result<OwnedFd, Errno> {
        let mut request = Message::new(Kind::Open);
        request.words[0] = LOG;
        self.call(&request)?.fd.ok_or(Errno::EMFILE)
    }

    /// What the descriptor `fd` with this inode is.
    pub fn kind(&self, inode: Inode, fd: RawFd) -> Option<Thing> {
        if let Some(&thing) = lock(&self.known).get(&inode) {
            return Some(thing);
        }
        if !is_packet_socket(fd) {
            return None;
        }
        let mut request = Message::new(Kind::Identify);
        (request.words[0], request.words[1]) = (inode.device, inode.number);
        let thing = Identity::decode(self.call(&request).ok()?.words[0])?;
        lock(&self.known).insert(inode, thing);
        Some(thing)
    }

    /// Answers an ioctl.
    ///
    /// # Errors
    /// The kernel's errno.
    pub fn ioctl(&self, inode: Inode, request: u32, arg: u64) -> Answer {
        let mut bytes = vec![0; argument_size(request)];
        if !bytes.is_empty() {
            copy_from(arg, &mut bytes)?;
        }
        let words = [inode.device, inode.number, request.into(), arg];
        let message = Message { words, data: bytes, ..Message::new(Kind::Ioctl) };
        let done = self.exchange(&message, tell)?;
        if done.data.is_empty() || request & READS == 0 {
            return done.check().map(drop);
        }
        copy_to(arg, &done.data)?;
        done.check().map(drop)
    }

    /// The file to map for a part of a node, from its start on.
    ///
    /// # Errors
    /// The errno of mmap.
    pub fn map(&self, inode: Inode, offset: u64, length: u64, write: bool) -> Result<OwnedFd, Errno> {
        let words = [inode.device, inode.number, offset, length];
        self.call(&Message { words, value: write.into(), ..Message::new(Kind::Map) })?.fd.ok_or(Errno::EMFILE)
    }

    /// Tells the device that descriptors were closed.
    pub fn reap(&self) {
        // If it does not answer, it knows by itself.
        let _ = self.call(&Message::new(Kind::Reap));
    }
}

/// What the server wants to know of this process, or done in it.
fn tell(question: Message) -> Result<Message, Errno> {
    let mut answer = Message::new(Kind::Answer);
    match question.kind {
        Kind::Read => {
            let length = usize::try_from(question.words[1]).ok().filter(|&length| length <= CHUNK);
            answer.data = vec![0; length.ok_or(Errno::EPROTO)?];
            copy_from(question.words[0], &mut answer.data)?;
        }
        Kind::Write => copy_to(question.words[0], &question.data)?,
        Kind::Install => {
            let fd = hand_out(question.fd.ok_or(Errno::EMFILE)?, question.value != 0);
            answer.words[0] = fd as u64;
        }
        Kind::Fetch => {
            let fd = borrow(question.value).ok_or(Errno::EBADF)?;
            answer.fd = Some(fd.try_clone_to_owned().map_err(|_| Errno::EMFILE)?);
        }
        _ => return Err(Errno::EPROTO),
    }
    Ok(answer)
}
