//! The server against clients that do not keep to the protocol: they end alone, others go on.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, UnixAddr, connect, send as send_bytes, socket,
};
use proptest::prelude::*;
use vc4_sim::Config;
use vc4_sim::drm::backing::Inode;
use vc4_sim::drm::host::Host;
use vc4_sim::drm::kms::Display;
use vc4_sim::drm::serve::Server;
use vc4_sim::drm::wire::{Identity, Kind, MAGIC, Message, VERSION, receive, send};
use vc4_sim::drm::{Errno, Node};

struct Place {
    path: PathBuf,
    host: Arc<Host>,
}

impl Place {
    fn new() -> Place {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("vc4-serve-test-{}-{number}", std::process::id()));
        let config = Config { memory_bytes: 64 << 20, ..Config::default() };
        let server = Server::new(&path, config, Display::new(None)).unwrap();
        let host = server.host().clone();
        std::thread::spawn(move || server.run());
        Place { path, host }
    }

    fn socket(&self) -> OwnedFd {
        let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None).unwrap();
        connect(socket.as_raw_fd(), &UnixAddr::new(&self.path).unwrap()).unwrap();
        socket
    }

    /// A connection that was welcomed.
    fn client(&self) -> OwnedFd {
        let socket = self.socket();
        let done = call(&socket, &message(Kind::Hello, [MAGIC, VERSION, 0, 0])).unwrap();
        assert_eq!(done.value, 0);
        socket
    }

    /// A node of this client.
    fn node(&self, client: &OwnedFd) -> (OwnedFd, Inode) {
        let fd = call(client, &message(Kind::Open, [1, 0, 0, 0])).unwrap().fd.unwrap();
        let inode = Inode::of(&fd).unwrap();
        (fd, inode)
    }

    /// Whether somebody who comes anew is served.
    fn serves(&self) -> bool {
        let client = self.client();
        let (_node, inode) = self.node(&client);
        let kind = call(&client, &message(Kind::Identify, [inode.device, inode.number, 0, 0])).unwrap();
        Identity::decode(kind.words[0]) == Some(vc4_sim::drm::host::Kind::Node(Node::Render))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn message(kind: Kind, words: [u64; 4]) -> Message {
    Message { words, ..Message::new(kind) }
}

fn call(client: &OwnedFd, request: &Message) -> Result<Message, Errno> {
    send(client.as_fd(), request, None)?;
    receive(client.as_fd())
}

#[test]
fn a_greeting_must_be_right() {
    let place = Place::new();
    for words in [[0, VERSION, 0, 0], [MAGIC, VERSION + 1, 0, 0]] {
        let socket = place.socket();
        assert_eq!(call(&socket, &message(Kind::Hello, words)).unwrap().value, Errno::EPROTO as i32);
        assert_eq!(receive(socket.as_fd()).err(), Some(Errno::EPIPE));
    }
    let socket = place.socket();
    assert_eq!(call(&socket, &message(Kind::Open, [0; 4])).unwrap().value, Errno::EPROTO as i32);
    assert!(place.serves());
}

#[test]
fn an_ioctl_asks_for_what_it_needs() {
    let place = Place::new();
    let client = place.client();
    let (node, inode) = place.node(&client);
    let ioctl = |request: u64, data: Vec<u8>| {
        send(
            client.as_fd(),
            &Message { data, ..message(Kind::Ioctl, [inode.device, inode.number, request, 0x1000]) },
            None,
        )
        .unwrap();
        receive(client.as_fd()).unwrap()
    };
    // CREATE_BO: all is in the request, and comes back with the answer.
    let words = |words: [u32; 4]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let done = ioctl(0xc010_6443, words([8192, 0, 0, 0]));
    assert_eq!((done.kind, done.value, done.data), (Kind::Done, 0, words([8192, 0, 1, 0])));
    // CREATE_SHADER_BO: the code lies elsewhere, and this client does not tell.
    let asked = ioctl(0xc018_6445, [words([32, 0, 0x2000, 0]), vec![0; 8]].concat());
    assert_eq!((asked.kind, asked.words[0], asked.words[1]), (Kind::Read, 0x2000, 32));
    let done = call(&client, &Message::result(Kind::Answer, Err(Errno::EFAULT))).unwrap();
    assert_eq!((done.kind, done.value), (Kind::Done, Errno::EFAULT as i32));
    // Too short an answer is a bad address as well.
    ioctl(0xc018_6445, [words([32, 0, 0x2000, 0]), vec![0; 8]].concat());
    let done = call(&client, &Message { data: vec![0; 31], ..Message::new(Kind::Answer) }).unwrap();
    assert_eq!((done.kind, done.value), (Kind::Done, Errno::EFAULT as i32));
    // No argument at all.
    let asked = ioctl(0xc010_6447, Vec::new());
    assert_eq!((asked.kind, asked.words[0], asked.words[1]), (Kind::Read, 0x1000, 16));
    // Something else than an answer ends the connection.
    assert!(call(&client, &Message::new(Kind::Reap)).is_err());
    drop(node);
    assert!(place.serves());
}

#[test]
fn nothing_is_left_of_a_client() {
    let place = Place::new();
    let client = place.client();
    let (node, _) = place.node(&client);
    assert_eq!(place.host.descriptors_out(), 1);
    drop(node);
    assert_eq!(call(&client, &Message::new(Kind::Reap)).unwrap().value, 0);
    assert_eq!(place.host.descriptors_out(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_survived(greet: bool, packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..120), 1..6)) {
        let place = Place::new();
        let client = if greet { place.client() } else { place.socket() };
        for packet in packets {
            // The server may have hung up already.
            let _ = send_bytes(client.as_raw_fd(), &packet, MsgFlags::MSG_NOSIGNAL);
        }
        prop_assert!(place.serves());
    }

    #[test]
    fn any_requests_are_survived(
        requests in prop::collection::vec((1u8..8, any::<[u32; 2]>(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..120)), 1..12),
    ) {
        let place = Place::new();
        let client = place.client();
        let (_node, inode) = place.node(&client);
        for (kind, [number, address], ours, data) in requests {
            let kind = [Kind::Hello, Kind::Open, Kind::Identify, Kind::Ioctl, Kind::Map, Kind::Reap, Kind::Answer][kind as usize - 1];
            let [device, node] = if ours { [inode.device, inode.number] } else { [7, 7] };
            // Calls of the device, most of them known, on any argument.
            let request = 0xc000_6400 | (number & 0xff) | (data.len() as u32) << 16;
            let words = match kind {
                Kind::Open => [u64::from(number % 3), 0, 0, 0],
                Kind::Map => [device, node, u64::from(number) << 12, u64::from(address)],
                _ => [device, node, request.into(), address.into()],
            };
            // A wait for what never comes would keep this client, and nobody else.
            let waits = kind == Kind::Ioctl && [0x3a, 0x41, 0x42, 0xc3].contains(&(number & 0xff));
            if waits || send(client.as_fd(), &Message { data, ..message(kind, words) }, None).is_err() {
                continue;
            }
            while let Ok(answer) = receive(client.as_fd()) {
                if answer.kind == Kind::Done {
                    break;
                }
                let _ = send(client.as_fd(), &Message::result(Kind::Answer, Err(Errno::EFAULT)), None);
            }
        }
        drop(client);
        prop_assert!(place.serves());
    }
}
