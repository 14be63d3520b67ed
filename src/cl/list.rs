//! Whole control lists: a builder that takes only the packets its list may hold, and a reader.
//!
//! Lists are byte packed without alignment (v3d.md §4). Addresses stay what the caller puts there: under Linux
//! they are offsets into BOs, which the kernel relocates.

use std::marker::PhantomData;

use super::packets::{AllowedIn, AnyPacket, Binner, Lists, ReadError, Renderer};

/// A list under construction; `K` is [`Binner`] or [`Renderer`].
///
/// ```
/// use vc4::cl::{Binner, List, packets::*};
/// let mut list = List::<Binner>::new();
/// list.push(StartTileBinning {}).push(LineWidth { width: 2.0 });
/// assert_eq!(list.bytes(), [6, 99, 0, 0, 0, 0x40]);
/// ```
///
/// A packet of the other kind does not compile:
///
/// ```compile_fail
/// use vc4::cl::{Binner, List, packets::*};
/// List::<Binner>::new().push(TileCoordinates::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<K> {
    bytes: Vec<u8>,
    kind: PhantomData<K>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        List { bytes: Vec::new(), kind: PhantomData }
    }
}

impl<K> List<K> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a packet.
    pub fn push<P: AllowedIn<K>>(&mut self, packet: P) -> &mut Self {
        packet.write(&mut self.bytes);
        self
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes all packets out and keeps the memory for the next list.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The finished bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A packet of a list that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Byte offset of its opcode.
    pub offset: usize,
    /// The packet.
    pub packet: AnyPacket,
}

/// Why a list cannot be read, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("control list byte {offset:#x}: {error}")]
pub struct ListError {
    /// Byte offset of the packet.
    pub offset: usize,
    /// What is wrong with it.
    pub error: ReadError,
}

/// Walks the packets of a list. After an error it yields nothing more.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
    refused: Option<Lists>,
}

impl<'a> Reader<'a> {
    /// Reads packets of either kind.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, offset: 0, refused: None }
    }

    /// Reads a binning list; a packet of rendering lists alone is an error.
    pub fn binner(bytes: &'a [u8]) -> Self {
        Reader { refused: Some(Lists::Renderer), ..Self::new(bytes) }
    }

    /// Reads a rendering list; a packet of binning lists alone is an error.
    pub fn renderer(bytes: &'a [u8]) -> Self {
        Reader { refused: Some(Lists::Binner), ..Self::new(bytes) }
    }

    /// Byte offset of the next packet.
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Item, ListError>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let offset = self.offset;
        let read = AnyPacket::read(rest).and_then(|packet| match packet.lists() {
            lists if Some(lists) == self.refused => Err(ReadError::WrongList { name: packet.name() }),
            Lists::Neither if self.refused.is_some() => Err(ReadError::WrongList { name: packet.name() }),
            _ => Ok(packet),
        });
        Some(match read {
            Ok(packet) => {
                self.offset += packet.size();
                Ok(Item { offset, packet })
            }
            Err(error) => {
                self.offset = self.bytes.len();
                Err(ListError { offset, error })
            }
        })
    }
}

/// Reads a whole binning list.
pub fn read_binner(bytes: &[u8]) -> Result<Vec<Item>, ListError> {
    Reader::binner(bytes).collect()
}

/// Reads a whole rendering list.
pub fn read_renderer(bytes: &[u8]) -> Result<Vec<Item>, ListError> {
    Reader::renderer(bytes).collect()
}

impl List<Binner> {
    /// The packets, read back.
    pub fn items(&self) -> Reader<'_> {
        Reader::binner(&self.bytes)
    }
}

impl List<Renderer> {
    /// The packets, read back.
    pub fn items(&self) -> Reader<'_> {
        Reader::renderer(&self.bytes)
    }
}
