//! Shader containers of neighbouring GPUs: Mali-200/400 **MBS** ([`mbs`]), Nintendo 3DS **SHBIN** ([`shbin`], with
//! the PICA200 instruction set in [`pica`]) and Apple **metallib** ([`metallib`]).
//!
//! Each is read into a model that keeps every byte, known fields typed and unknown ones preserved, so that
//! writing what was read gives the same file. Models can be built from nothing and written too.
//!
//! The three readers share one manner of speaking:
//!
//! * `parse(bytes)` refuses with the first [`Finding`] when the structure cannot be followed;
//! * `check()` on a parsed model lists everything that is wrong or odd in it;
//! * `read(bytes)` is both: it refuses a file in which `check` finds an error, and lets warnings pass.
//!
//! ```
//! use shader_containers::{Format, check};
//! let file = b"MBS1\x00\0\0\0";
//! assert_eq!(Format::detect(file), Some(Format::Mbs));
//! let findings = check(file).expect("recognised by its first bytes");
//! assert_eq!(findings[0].to_string(), "0x8: M05: neither CFRA nor CVER inside");
//! ```
//!
//! From the bottom: `finding` and `reader` are what all readers speak; [`pica`] is code alone; [`mbs`], [`shbin`] and
//! [`metallib`] are a format each and do not know each other; `format` tells them apart.
#![forbid(unsafe_code)]

mod finding;
mod format;
pub mod mbs;
pub mod metallib;
pub mod pica;
mod reader;
pub mod shbin;

pub(crate) use finding::Findings;
pub use finding::{At, Finding, Severity};
pub use format::{Format, check};
pub use reader::Reader;
