//! Control lists and the records they point at (manual: v3d.md §4–§6).
//!
//! [`packets`] is the packet table, [`list`] writes and reads whole lists, [`dump`] shows them as text and
//! reads that text back, [`records`] holds the shader record that lists point at, and [`words`] the 32-bit words
//! that programs and uniform streams hand to the texture unit, the tile buffer and the VPM.

pub mod dump;
pub mod field;
pub mod list;
pub mod packets;
pub mod records;
pub mod words;

pub use field::{Addr, Bits, Count, F187, Pages, S12_4};
pub use list::{Item, List, ListError, Reader};
pub use packets::{AnyPacket, Binner, Lists, Packet, ReadError, Renderer};

#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod tests;
