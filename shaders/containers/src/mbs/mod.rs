//! Mali-200/300/400/450 ("Utgard") shader binary, **MBS**.
//!
//! Little endian throughout. Every element is a chunk: four ASCII bytes, a u32 payload size that leaves the eight
//! header bytes out, the payload.
//!
//! ```text
//! MBS1
//!  +- CFRA  u32 core version, then FSTA FDIS FBUU SUNI SVAR DBIN   (fragment program, pixel processor, PP)
//!  +- CVER  u32 core version, then FINS SUNI SATT SVAR DBIN        (vertex program, geometry processor, GP)
//! ```
//!
//! | chunk | payload bytes | content |
//! |-------|------|---------|
//! | `STRI` | n | text, NUL, zero padding to a multiple of 4 |
//! | `FSTA` | 8 | u32 stack size, u32 stack start |
//! | `FDIS` | 4 | u32, 1 when the program can discard |
//! | `FBUU` | 8 | u8 flags: reads, writes colour; reads, writes depth; reads, writes stencil; two unknown |
//! | `FINS` | 12 | u32 unknown, u32 GP instructions, u32 index past the last instruction that reads an attribute |
//! | `SUNI` | 8+ | u32 count, u32 space in floats, `count` × `VUNI` |
//! | `SVAR` | 4+ | u32 count, `count` × `VVAR` |
//! | `SATT` | 4+ | u32 count, `count` × `VATT` |
//! | `DBIN` | 4n | code words |
//!
//! A symbol (`VUNI`, `VVAR`, `VATT`) is a `STRI`, a record, and for uniforms the sub-chunks `VIDX` and `VINI`:
//!
//! | at | size | `VUNI`, `VVAR` | `VATT` |
//! |----|------|-----------|------|
//! | 0 | u8 | unknown | same |
//! | 1 | u8 | [type](SymbolType) | same |
//! | 2 | u16 | component count | same |
//! | 4 | u16 | component size, floats | same |
//! | 6 | u16 | entries, 0 = no array | same |
//! | 8 | u16 | stride, floats | same |
//! | 10 | u8 | destination stride, 16 or 24 | same |
//! | 11 | u8 | precision, 1 low to 4 "super" | same |
//! | 12 | u32 | invariant flag | u16 unknown, u16 offset |
//! | 16 | u16 | offset in floats, 0xFFFF = unused | – |
//! | 18 | u16 | index of the parent struct, 0xFFFF = none | – |
//!
//! An older public description has no `space` word and 20-byte records for attributes; both forms are read,
//! remembered and written back (containers.md §1.1, §1.2). The meaning of symbol byte 0, of `VIDX`, of FINS word 0
//! and of the last two `FBUU` flags is unknown; their values are kept.
//!
//! Reading, changing and writing a file:
//!
//! ```
//! use shader_containers::mbs::{Code, Mbs, Program, ProgramChunk, Stage};
//! let clear = [0x0002_1025u32, 0xe4c, 0x03c0_07cf, 0x03c0_03c0, 0x3c0];
//! let program = Program::new(Stage::Fragment, 5).with(ProgramChunk::Code(Box::new(Code::from_words(&clear))));
//! let file = Mbs::new(vec![program]).write();
//!
//! let mbs = Mbs::read(&file)?;
//! assert_eq!(mbs.programs().next().unwrap().code(), Some(&file[file.len() - 20..]));
//! assert_eq!(mbs.write(), file);
//! # Ok::<(), shader_containers::Finding>(())
//! ```

mod build;
mod check;
mod codes;
mod layout;
mod model;
mod read;
mod walk;
mod write;

pub use build::{BuildError, FragmentBuilder, VertexBuilder};
pub use codes::CODES;
pub use layout::{Area, Decl, Layout, LayoutError, Measure, Placed, Rules, Shape, lay_out, measure};
pub use model::{
    BufferUse, Code, DiscardUse, Index, InstructionCount, Mbs, Part, Program, ProgramChunk, Stack, Stage,
    SubChunk, Symbol, SymbolKind, SymbolType, Table, TableEntry, Tail, Text, Unknown, core_version_name,
};
pub use walk::{PpInstruction, PpWalk, Unit, pp_walk};

use crate::Finding;

/// Everything wrong or odd in a file, in the order the checks run.
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    match Mbs::parse(bytes) {
        Ok(mbs) => mbs.check(),
        Err(finding) => vec![finding],
    }
}
