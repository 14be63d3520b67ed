//! The device for other processes: one thread per connection, which answers calls of [`super::wire`].

use std::cell::RefCell;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::PeerCredentials;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, UnixAddr, accept4, bind, connect, getsockopt, listen, socket,
};
use nix::sys::stat::{FchmodatFlags, Mode, fchmodat};

use super::device::Device;
use super::host::Host;
use super::kms::Display;
use super::node::{Answer, Node};
use super::process::{Exported, Opener, Process};
use super::time::monotonic_ns;
use super::wire::{CHUNK, Identity, Kind, LOG, MAGIC, Message, Secret, VERSION, receive, send};
use crate::config::Config;
use crate::kernel::backing::{Backing, Descriptors, Inode, Kept, OwnProcess};

/// Milliseconds after which closed descriptors are looked for even when nobody told of any.
const REAP_MS: u16 = 1000;

/// A socket that clients connect to.
pub struct Listener {
    socket: Kept,
    /// What each thread does first.
    on_thread: fn(),
    /// What lets those in who run as another user.
    secret: Option<Secret>,
}

impl Listener {
    /// Listens at `address`.
    ///
    /// # Errors
    /// Those of bind, e.g. `EADDRINUSE`.
    pub fn new(
        address: &UnixAddr,
        descriptors: &Arc<dyn Descriptors>,
        on_thread: fn(),
    ) -> Result<Listener, Errno> {
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        bind(socket.as_raw_fd(), address)?;
        listen(&socket, Backlog::MAXCONN)?;
        Ok(Listener { socket: Kept::new(socket, descriptors), on_thread, secret: None })
    }

    /// Lets those in, too, who run as another user and know this secret.
    pub fn with_secret(self, secret: Secret) -> Listener {
        Listener { secret: Some(secret), ..self }
    }

    /// Serves `host` to whoever connects and runs as the same user or as root, until accepting fails.
    ///
    /// # Errors
    /// Why accepting failed.
    pub fn serve(&self, host: &Arc<Host>) -> Errno {
        (self.on_thread)();
        loop {
            let mut set = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
            match poll(&mut set, PollTimeout::from(REAP_MS)) {
                Ok(0) => {
                    host.reap();
                    continue;
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(errno) => return errno,
            }
            match accept(self.socket.as_fd()) {
                Ok(connection) => self.start(host.clone(), connection),
                Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EAGAIN) => {}
                Err(Errno::EMFILE | Errno::ENFILE) => {
                    std::thread::sleep(std::time::Duration::from_millis(50))
                }
                Err(errno) => return errno,
            }
        }
    }

    fn start(&self, host: Arc<Host>, connection: OwnedFd) {
        let (on_thread, secret) = (self.on_thread, self.secret);
        let spawned = std::thread::Builder::new().name("vc4-serve".into()).spawn(move || {
            on_thread();
            let result =
                Connection::new(&host, connection, secret).and_then(|mut connection| connection.run());
            if let Err(errno) = result {
                log::debug!(target: "vc4::serve", "connection ended: {errno}");
            }
            host.reap();
        });
        if let Err(error) = spawned {
            log::error!(target: "vc4::serve", "no thread for a client: {error}");
        }
    }
}

#[expect(unsafe_code, reason = "a descriptor arrives as a number")]
fn accept(socket: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    use std::os::fd::FromRawFd;
    // SAFETY: a new descriptor that nobody else knows.
    accept4(socket.as_raw_fd(), SockFlag::SOCK_CLOEXEC).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A device for whoever connects to a path.
pub struct Server {
    listener: Listener,
    host: Arc<Host>,
}

impl Server {
    /// Makes the device and the socket; one that a server before left there is replaced.
    ///
    /// # Errors
    /// `ENOMEM`; `EADDRINUSE` when somebody serves there, or when what is there is no socket; those of bind.
    pub fn new(path: &Path, config: Config, display: Arc<Display>) -> Result<Server, Errno> {
        let own: Arc<dyn Descriptors> = Arc::new(OwnProcess);
        let address = UnixAddr::new(path)?;
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        if connect(socket.as_raw_fd(), &address) == Err(Errno::ECONNREFUSED) {
            // Nobody is behind it. If it cannot go, binding tells why.
            let _ = std::fs::remove_file(path);
        }
        let backing = Backing::new(config.memory_bytes, own.clone())?;
        let host = Host::new(Device::on_files(&backing, config, display)?, &backing);
        let listener = Listener::new(&address, &own, || {})?;
        // Who runs as somebody else is sent away after the greeting, too.
        fchmodat(AT_FDCWD, path, Mode::S_IRUSR | Mode::S_IWUSR, FchmodatFlags::FollowSymlink)?;
        Ok(Server { listener, host })
    }

    /// The device, with what clients hold of it.
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Serves until that fails; why.
    pub fn run(&self) -> Errno {
        self.listener.serve(&self.host)
    }
}

struct Connection<'a> {
    host: &'a Host,
    socket: Kept,
    peer: Opener,
    /// What the greeting must have besides.
    secret: Option<Secret>,
}

impl<'a> Connection<'a> {
    fn new(host: &'a Host, socket: OwnedFd, secret: Option<Secret>) -> Result<Connection<'a>, Errno> {
        let peer = getsockopt(&socket, PeerCredentials)?;
        let same_user = peer.uid() == nix::unistd::geteuid().as_raw() || peer.uid() == 0;
        if !same_user && secret.is_none() {
            return Err(Errno::EACCES);
        }
        let secret = secret.filter(|_| !same_user);
        let socket = Kept::new(socket, host.keeper());
        let peer = Opener { pid: peer.pid() as u32, is_admin: peer.uid() == 0 };
        Ok(Connection { host, socket, peer, secret })
    }

    fn run(&mut self) -> Answer {
        let hello = receive(self.socket.as_fd())?;
        let known = self.secret.is_none_or(|secret| hello.words[2..] == secret);
        let welcome = hello.kind == Kind::Hello && hello.words[..2] == [MAGIC, VERSION] && known;
        let answer = if welcome { Ok(()) } else { Err(Errno::EPROTO) };
        send(self.socket.as_fd(), &Message::result(Kind::Done, answer), None)?;
        answer?;
        loop {
            let message = match receive(self.socket.as_fd()) {
                Err(Errno::EPIPE) => return Ok(()),
                other => other?,
            };
            // A panic is a defect of ours that must not reach other clients.
            let reply = catch_unwind(AssertUnwindSafe(|| self.answer(message)));
            let reply = reply.unwrap_or_else(|_| Ok(Message::result(Kind::Done, Err(Errno::EIO))))?;
            send(self.socket.as_fd(), &reply, None)?;
        }
    }

    /// `Err` when the client does not keep to the protocol.
    fn answer(&self, message: Message) -> Result<Message, Errno> {
        let inode = Inode { device: message.words[0], number: message.words[1] };
        let with = |result: Result<OwnedFd, Errno>| match result {
            Ok(fd) => Message { fd: Some(fd), ..Message::new(Kind::Done) },
            Err(errno) => Message::result(Kind::Done, Err(errno)),
        };
        Ok(match message.kind {
            Kind::Open => match message.words[0] {
                0 => with(self.host.open_for(Node::Primary, self.peer)),
                1 => with(self.host.open_for(Node::Render, self.peer)),
                LOG => with(self.host.open_log()),
                _ => return Err(Errno::EPROTO),
            },
            Kind::Identify => {
                let mut reply = Message::new(Kind::Done);
                reply.words[0] = Identity::encode(self.host.kind(inode));
                reply
            }
            Kind::Ioctl => {
                let [_, _, request, address] = message.words;
                let process = Remote {
                    connection: self,
                    address,
                    argument: RefCell::new(message.data),
                    broken: RefCell::new(None),
                };
                let result = self.host.ioctl(inode, request as u32, address, &process);
                if let Some(errno) = process.broken.into_inner() {
                    return Err(errno);
                }
                Message { data: process.argument.into_inner(), ..Message::result(Kind::Done, result) }
            }
            Kind::Map => {
                let window = self.host.window(inode, message.words[2], message.words[3], message.value != 0);
                with(window.and_then(|window| window.file().ok_or(Errno::ENODEV)?.duplicate()))
            }
            Kind::Reap => {
                self.host.reap();
                Message::new(Kind::Done)
            }
            _ => return Err(Errno::EPROTO),
        })
    }
}

/// The process at the other end during an ioctl.
struct Remote<'a> {
    connection: &'a Connection<'a>,
    /// Where the argument stands.
    address: u64,
    /// Its bytes, as they came and then as they are to go back.
    argument: RefCell<Vec<u8>>,
    /// Why the connection is of no use any more.
    broken: RefCell<Option<Errno>>,
}

impl Remote<'_> {
    fn ask(&self, message: &Message) -> Result<Message, Errno> {
        let exchange = || {
            let socket = self.connection.socket.as_fd();
            send(socket, message, None)?;
            let answer = receive(socket)?;
            if answer.kind == Kind::Answer { Ok(answer) } else { Err(Errno::EPROTO) }
        };
        if self.broken.borrow().is_some() {
            return Err(Errno::EFAULT);
        }
        match exchange() {
            Ok(answer) => answer.check(),
            Err(errno) => {
                *self.broken.borrow_mut() = Some(errno);
                Err(Errno::EFAULT)
            }
        }
    }

    /// The part of the argument that these bytes are, if they are.
    fn inside(&self, address: u64, length: usize) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(address.checked_sub(self.address)?).ok()?;
        let end = start.checked_add(length)?;
        (end <= self.argument.borrow().len()).then_some(start..end)
    }
}

impl Process for Remote<'_> {
    fn read(&self, address: u64, out: &mut [u8]) -> Answer {
        if let Some(range) = self.inside(address, out.len()) {
            out.copy_from_slice(&self.argument.borrow()[range]);
            return Ok(());
        }
        let mut at = address;
        for part in out.chunks_mut(CHUNK) {
            let mut question = Message::new(Kind::Read);
            (question.words[0], question.words[1]) = (at, part.len() as u64);
            let answer = self.ask(&question)?;
            if answer.data.len() != part.len() {
                return Err(Errno::EFAULT);
            }
            part.copy_from_slice(&answer.data);
            at = at.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    fn write(&self, address: u64, data: &[u8]) -> Answer {
        if let Some(range) = self.inside(address, data.len()) {
            self.argument.borrow_mut()[range].copy_from_slice(data);
            return Ok(());
        }
        let mut at = address;
        for part in data.chunks(CHUNK) {
            let mut order = Message { data: part.to_vec(), ..Message::new(Kind::Write) };
            order.words[0] = at;
            self.ask(&order)?;
            at = at.wrapping_add(part.len() as u64);
        }
        Ok(())
    }

    fn install(&self, object: Exported, close_on_exec: bool) -> Result<i32, Errno> {
        let fd = self.connection.host.install(object)?;
        let order = Message { value: close_on_exec.into(), fd: Some(fd), ..Message::new(Kind::Install) };
        let number = self.ask(&order)?.words[0];
        i32::try_from(number).map_err(|_| Errno::EPROTO)
    }

    fn exported(&self, fd: i32) -> Result<Exported, Errno> {
        let answer = self.ask(&Message { value: fd, ..Message::new(Kind::Fetch) })?;
        let fd = answer.fd.ok_or(Errno::EBADF)?;
        self.connection.host.exported(fd.as_fd())
    }

    fn pid(&self) -> u32 {
        self.connection.peer.pid
    }

    fn is_admin(&self) -> bool {
        self.connection.peer.is_admin
    }

    fn monotonic_ns(&self) -> u64 {
        monotonic_ns()
    }

    fn is_gone(&self) -> bool {
        let socket = self.connection.socket.as_fd();
        let mut set = [PollFd::new(socket, PollFlags::empty())];
        poll(&mut set, PollTimeout::ZERO) == Ok(1)
    }
}
