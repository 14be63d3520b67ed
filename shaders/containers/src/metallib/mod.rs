//! Apple Metal library, **metallib** (`MTLB`).
//!
//! Little endian. A header of 88 bytes, a list of functions, since patch 3 a header extension, then sections: public
//! metadata, private metadata, modules (LLVM bitcode in a wrapper), and those the extension names.
//!
//! | at | size | content |
//! |----|------|---------|
//! | 0 | 4 | `MTLB` |
//! | 4 | u16 | container major (1) in the low 15 bits; bit 15: made for macOS |
//! | 6 | u16 | container minor, 2 |
//! | 8 | u16 | container patch, 2–9 |
//! | 10 | u8 | [library type](LibraryType) in the low 7 bits; bit 7: stub |
//! | 11 | u8 | [platform](Platform) in the low 7 bits; bit 7: 64-bit. 0 before patch 6 |
//! | 12 | u16, u8, u8 | OS major, minor, update; 0 before patch 6 |
//! | 16 | u64 | file size |
//! | 24, 40, 56, 72 | u64, u64 | offset and size of function list, public and private metadata, modules |
//!
//! The size of the function list leaves its u32 count out. A **tag** is four characters, a u16 size (u32 for `RBUF`,
//! `RBUZ`, `SBUF` and `SARC`) and its content; `ENDT` has no size and ends a list of tags. A **group** is a u32 size,
//! tags, `ENDT`; the size [counts itself or not](SizeForm), depending on the writer.
//!
//! | function tag | size | content |
//! |-----|------|---------|
//! | `NAME` | n | name, NUL |
//! | `TYPE` | 1 | [function type](function_type_name) |
//! | `HASH` | 32 | SHA-256 of the module |
//! | `MDSZ` | 8 | module size; absent in AIR 1.8 libraries |
//! | `OFFT` | 24 | u64 offsets into public metadata, private metadata, modules |
//! | `VERS` | 8 | u16 AIR major, minor, language major, minor |
//! | `SOFF` | 8 | offset of the source archive's `SARC` in the source section |
//! | `RFLT` | 8 | offset of the reflection group in `RLST` |
//! | `LAYR` | 1 | [data type](data_type_name) of the layer index |
//! | `TESS` | 1 | bits 0–1 patch kind (1 triangle, 2 quad), bits 2–7 control points |
//!
//! | extension tag | content |
//! |-----|---------|
//! | `HSRC`, `HSRD` | u64 offset, u64 size of the embedded sources ([`Sources`]) |
//! | `HDYN` | of the dynamic header: `NAME` and `DYNL` tags |
//! | `VLST`, `ILST`, `RLST`, `SLST` | of the exported variables, imported symbols, reflection, scripts |
//! | `UUID` | 16 bytes |
//!
//! A module is u32 0x0B17C0DE, u32 version, u32 offset (20), u32 size, u32 CPU type, bitcode, zeros to a multiple of
//! 16. Nothing of it is copied: a [`Library`] borrows the file, which may be a memory map.
//!
//! Unknown (containers.md §3.11): how the UUID is derived, what the digest of some Core Image libraries covers, the
//! extra bytes of `ARGR`, the schema of `AIRR` buffers, `RBUZ`, `SLST`, and the groups of `VLST` and `ILST`.
//!
//! ```
//! use shader_containers::metallib::{FunctionSpec, Library, LibraryBuilder, Platform};
//! let file = LibraryBuilder::new(Platform::MacOs, (14, 0, 0))
//!     .function(FunctionSpec::new("main0", 2, (2, 6), (3, 1), b"BC\xC0\xDE...."))
//!     .build()?;
//! let library = Library::read(&file)?;
//! assert_eq!(library.functions[0].name, b"main0");
//! assert_eq!(library.module(&library.functions[0])?.bitcode, b"BC\xC0\xDE....");
//! assert_eq!(library.write(), file);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod assemble;
mod build;
mod check;
mod codes;
mod extension;
mod function;
mod group;
mod header;
mod library;
mod metadata;
mod module;
mod sources;
mod types;
mod write;

pub use archive::{ArchiveError, SourceFile, Unpacked};
pub use build::{BuildError, FunctionSpec, LibraryBuilder, Target};
pub use codes::CODES;
pub use extension::{Extension, ExtensionTag, Place};
pub use function::{Function, Offsets, Version, function_type_name};
pub use group::{Group, RawTag, SizeForm};
pub use header::{Header, LibraryType, Platform, Section};
pub use library::{Library, embedded};
pub use metadata::{Argument, Constant, MetadataTag, VertexAttribute};
pub use module::Module;
pub use sources::{SourceArchive, Sources};
pub use types::data_type_name;

use crate::Finding;

/// Everything wrong or odd in a file, digests included, in the order the checks run.
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    match Library::parse(bytes) {
        Ok(library) => library.check(),
        Err(finding) => vec![finding],
    }
}
