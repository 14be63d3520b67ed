//! What must hold for whoever connects to the socket of a served device: whatever it says, the server goes on, says nothing to
//! others, and has everything back once it is gone.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, send as send_bytes, setsockopt, socket,
};
use nix::sys::stat::fstat;
use nix::sys::time::{TimeVal, TimeValLike};
use vc4_sim::drm::wire::{CHUNK, KINDS, Kind, MAGIC, Message, VERSION, receive, send};

/// Calls that may wait for long are left alone after this many milliseconds.
const PATIENCE_MS: i64 = 50;
/// Messages of a connection.
const MESSAGES: usize = 60;

/// Choices, from bytes; zeros behind their end.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or_default()
    }

    fn below(&mut self, limit: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % limit
    }

    /// Small, or on the edge of something, or anything.
    fn number(&mut self) -> u64 {
        match self.byte() % 8 {
            0..=4 => u64::from(self.byte() % 6),
            5 => 0u64.wrapping_sub(u64::from(self.byte() % 3)),
            6 => 1 << (self.byte() % 64),
            _ => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
        }
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < length {
            match self.byte() % 4 {
                0 => bytes.extend(self.number().to_le_bytes()),
                _ => bytes.extend((self.number() as u32).to_le_bytes()),
            }
        }
        bytes.truncate(length);
        bytes
    }
}

/// Talks to the server at a path as the bytes say, until either has enough. How many messages were answered, and how many of
/// those well.
pub fn talk(path: &Path, bytes: &[u8]) -> [usize; 2] {
    let mut answers = [0; 2];
    // Ends of connections are none of the server's mistakes.
    let _ = conversation(path, &mut Choices(bytes.iter()), &mut answers);
    answers
}

fn conversation(path: &Path, choices: &mut Choices<'_>, answers: &mut [usize; 2]) -> Result<(), Errno> {
    let server = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
    connect(server.as_raw_fd(), &UnixAddr::new(path)?)?;
    setsockopt(&server, ReceiveTimeout, &TimeVal::milliseconds(PATIENCE_MS))?;
    let mut hello = Message::new(Kind::Hello);
    hello.words[..2].copy_from_slice(&[MAGIC, VERSION]);
    if choices.byte() % 16 == 0 {
        hello = any(choices);
    }
    send(server.as_fd(), &hello, None)?;
    receive(server.as_fd())?;
    let mut files: Vec<OwnedFd> = Vec::new();
    for _ in 0..MESSAGES {
        if choices.byte() == 0 {
            let most = if choices.byte() % 8 == 0 { 2 * CHUNK } else { 100 };
            let length = choices.below(most);
            send_bytes(server.as_raw_fd(), &choices.bytes(length), MsgFlags::MSG_NOSIGNAL)?;
        } else {
            let message = message(choices, &files)?;
            let along = files.first().filter(|_| choices.byte() % 16 == 0).map(AsFd::as_fd);
            send(server.as_fd(), &message, along)?;
        }
        loop {
            let reply = receive(server.as_fd())?;
            if reply.kind == Kind::Done {
                answers[0] += 1;
                answers[1] += usize::from(reply.value == 0);
                files.extend(reply.fd);
                break;
            }
            let answer = answer(choices, &reply);
            let along = match reply.kind {
                Kind::Fetch => files.get(choices.below(4)).map(AsFd::as_fd),
                _ => None,
            };
            send(server.as_fd(), &answer, along)?;
            files.extend(reply.fd.filter(|_| files.len() < 20));
        }
    }
    Ok(())
}

/// Device and inode of one of these files, or of none.
fn inode(choices: &mut Choices<'_>, files: &[OwnedFd]) -> Result<[u64; 2], Errno> {
    match files.get(choices.below(files.len() + 1)) {
        Some(file) => {
            let status = fstat(file)?;
            Ok([status.st_dev, status.st_ino])
        }
        None => Ok([choices.number(), choices.number()]),
    }
}

fn message(choices: &mut Choices<'_>, files: &[OwnedFd]) -> Result<Message, Errno> {
    let kind = match choices.byte() {
        0 => return Ok(any(choices)),
        1..=30 => Kind::Open,
        31..=45 => Kind::Identify,
        46..=60 => Kind::Map,
        61..=65 => Kind::Reap,
        _ => Kind::Ioctl,
    };
    let mut message = Message::new(kind);
    let [device, number] = inode(choices, files)?;
    match kind {
        Kind::Open => message.words[0] = u64::from(choices.byte() % 64 / 21),
        Kind::Map => {
            message.words = [device, number, choices.number(), choices.number()];
            message.value = i32::from(choices.byte() % 2);
        }
        Kind::Ioctl => {
            let size = choices.below(24) * 4;
            let direction = u64::from(choices.byte() % 4);
            // Calls of the driver and the core, and of sync files.
            let ty = if choices.byte() % 16 == 0 { b'>' } else { b'd' };
            let request =
                direction << 30 | (size as u64) << 16 | u64::from(ty) << 8 | u64::from(choices.byte());
            message.words = [device, number, request, 0x1000];
            let given = if choices.byte() % 16 == 0 { choices.below(200) } else { size };
            message.data = choices.bytes(given);
        }
        _ => message.words = [device, number, 0, 0],
    }
    Ok(message)
}

/// A message of any kind with anything in it.
fn any(choices: &mut Choices<'_>) -> Message {
    let mut message = Message::new(KINDS[choices.below(KINDS.len())]);
    message.value = choices.number() as i32;
    message.words = std::array::from_fn(|_| choices.number());
    let length = choices.below(100);
    message.data = choices.bytes(length);
    message
}

/// What a client says when it is asked for memory or descriptors: mostly what the server wants to hear.
fn answer(choices: &mut Choices<'_>, question: &Message) -> Message {
    if choices.byte() % 64 == 0 {
        return any(choices);
    }
    let mut answer = Message::new(Kind::Answer);
    match question.kind {
        Kind::Read => {
            let wanted = usize::try_from(question.words[1]).unwrap_or_default().min(CHUNK);
            let length = if choices.byte() % 16 == 0 { choices.below(100) } else { wanted };
            answer.data = choices.bytes(length);
        }
        Kind::Install => answer.words[0] = choices.number(),
        _ => {}
    }
    answer.value = if choices.byte() % 8 == 0 { i32::from(choices.byte()) } else { 0 };
    answer
}

/// Opens nodes until there are no descriptors left; how many. All are closed at the end.
#[allow(dead_code, reason = "fuzz targets talk only")]
pub fn hoard(path: &Path) -> usize {
    let mut files = Vec::new();
    let take = |files: &mut Vec<OwnedFd>| -> Result<(), Errno> {
        let server = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
        connect(server.as_raw_fd(), &UnixAddr::new(path)?)?;
        setsockopt(&server, ReceiveTimeout, &TimeVal::milliseconds(1000))?;
        let mut hello = Message::new(Kind::Hello);
        hello.words[..2].copy_from_slice(&[MAGIC, VERSION]);
        send(server.as_fd(), &hello, None)?;
        receive(server.as_fd())?.check()?;
        loop {
            let mut open = Message::new(Kind::Open);
            open.words[0] = 1;
            send(server.as_fd(), &open, None)?;
            files.push(receive(server.as_fd())?.check()?.fd.ok_or(Errno::EMFILE)?);
        }
    };
    let _ = take(&mut files);
    files.len()
}
