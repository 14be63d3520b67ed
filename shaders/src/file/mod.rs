//! Compiled programs as bytes: what `vc4 compile` writes, `vc4 inspect` opens and a pipeline cache holds.
//!
//! Little endian, every part a multiple of four bytes. Everything that is not listed must be zero, so that a file is
//! the only one with its contents: `write(read(file)) == file`.
//!
//! | bytes | header |
//! | --- | --- |
//! | 0–3 | `VC4P` |
//! | 4–7 | version of the layout, [`VERSION`] |
//! | 8–11 | size of the file |
//! | 12–15 | number of programs, 0–3 |
//! | 16–47 | SHA-256 of all bytes from 48 on |
//!
//! | words | interface, at byte 48 |
//! | --- | --- |
//! | 0, 1 | attribute bytes of the vertex and of the coordinate program |
//! | 2 | scalar varyings |
//! | 3 | flat ones of them, one bit each |
//! | 4 | bit 0 point size, 1 computes depth, 2 discards, 3 reads the tile's colour, 4 wants an invocation per sample |
//! | 5, 6 | number of attribute arrays, of textures |
//!
//! Then three words per attribute array: source (0 location, 1 vertex index, 2 none, 3 to 5 location and 6 to 8 vertex index of a corner; bit 8: the vertex program loads it,
//! bit 9: the coordinate program does; bit 10: it shares the record's array with the one before; bits 23:16 and 31:24 the VPM byte offsets there), location, bytes per vertex.
//! Then seven words per texture that the stages look at: bit 0 it has a sampler; set, binding and element of the image; those
//! of the sampler.
//!
//! Then the programs that there are, in the order vertex, coordinate, fragment:
//!
//! | words | program |
//! | --- | --- |
//! | 0 | bits 7:0 stage: 0 vertex, 1 coordinate, 2 fragment; bit 8 switches threads |
//! | 1, 2, 3, 4 | number of instructions, uniforms, TMU requests, steps |
//! | 2 each | instructions |
//! | 1–5 each | uniforms: bits 7:0 the kind, bits 15:8 a detail of it, then the words of the kind (`slot.rs`) |
//! | 4 each | TMU requests: 0 sampled image or 1 uniform buffer, descriptor set, binding, element |
//! | 2–7 each | steps that the CPU computes: a uniform, or bits 7:0 255, bits 31:8 the operation (its place in [`crate::ir::computed::OPERATIONS`]), then numbers of earlier steps |

mod fault;
mod layout;
mod read;
mod slot;
mod write;

pub use fault::{Fault, FileError};
pub use layout::{MAGIC, VERSION, sealed};
pub use read::{Contents, Place, read, read_intact, read_with_places};
pub use write::write;
