//! Control lists and the records they point at (manual: v3d.md §4–§6).
//!
//! [`packets`] is the packet table, [`list`] writes and reads whole lists, [`dump`] shows them as text and
//! reads that text back, and [`records`] holds what lists, shaders and uniforms point at in memory.

pub mod dump;
pub mod field;
pub mod list;
pub mod packets;

pub use field::{Addr, Bits, F187, S12_4};
pub use list::{Item, List, ListError, Reader};
pub use packets::{AnyPacket, Binner, Lists, Packet, ReadError, Renderer};

#[cfg(test)]
mod tests;
