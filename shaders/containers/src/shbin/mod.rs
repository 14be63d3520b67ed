//! Nintendo 3DS shader binary (PICA200), **SHBIN**: DVLB, DVLP and DVLE.
//!
//! Little endian. A file is a header, one block of code (DVLP) and one block for each program (DVLE).
//!
//! # DVLB
//!
//! | at | size | content |
//! |----|------|---------|
//! | 0x00 | 4 | `DVLB` |
//! | 0x04 | u32 | number of programs, N |
//! | 0x08 | u32 × N | offset of each DVLE from the start of the file |
//! | 0x08 + 4N | | the DVLP |
//!
//! There is no total size. Blocks may interleave and bytes may follow the last one; all is kept.
//!
//! # DVLP
//!
//! Offsets are bytes from the start of the DVLP.
//!
//! | at | size | content |
//! |----|------|---------|
//! | 0x00 | 4 | `DVLP` |
//! | 0x04 | u32 | unknown, 0 |
//! | 0x08, 0x0C | u32 | code: offset, words of 4 bytes |
//! | 0x10, 0x14 | u32 | operand descriptors: offset, entries of 8 bytes |
//! | 0x18 | u32 | file name table: offset; in most files there are no names |
//! | 0x1C | u32 × 3 | unknown, 0; files of nihstro do not have them |
//!
//! A descriptor entry is the [word for the hardware](crate::pica::Descriptor) and a second one, 0 from picasso and
//! nihstro, 0x0F from aemstro; its meaning is unknown.
//!
//! # DVLE
//!
//! Offsets are bytes from the start of the DVLE.
//!
//! | at | size | content |
//! |----|------|---------|
//! | 0x00 | 4 | `DVLE` |
//! | 0x04 | u16 | version: 0x1002 from picasso, 0 from others |
//! | 0x06 | u8 | [type](Stage): 0 vertex, 1 geometry |
//! | 0x07 | u8 | bit 0: merge vertex and geometry output maps |
//! | 0x08, 0x0C | u32 | main and end of main, code words; the end may be 0 |
//! | 0x10, 0x12 | u16 | masks of used inputs and outputs; 0 when not filled |
//! | 0x14 | u8 | [geometry mode](GeometryMode): 0 point, 1 variable, 2 fixed |
//! | 0x15 | u8 | fixed mode: first float uniform of the vertex array |
//! | 0x16 | u8 | variable mode: fully defined vertices |
//! | 0x17 | u8 | fixed mode: vertices |
//! | 0x18, 0x1C | u32 | constants: offset, entries of 0x14 bytes |
//! | 0x20, 0x24 | u32 | labels: offset, entries of 0x10 bytes |
//! | 0x28, 0x2C | u32 | outputs: offset, entries of 8 bytes |
//! | 0x30, 0x34 | u32 | uniforms: offset, entries of 8 bytes |
//! | 0x38, 0x3C | u32 | symbol names: offset, size in bytes |
//!
//! | entry | layout |
//! |-------|--------|
//! | [`Constant`] | u16 kind (0 bool, 1 four u8, 2 four float24), u16 register, 16 bytes of value |
//! | [`LabelEntry`] | u8 id, 3 zero bytes, u32 code word, u32 unknown, u32 name offset |
//! | [`Output`] | u16 [type](OutputKind), u16 register, u32 component mask, bit 0 = x |
//! | [`Uniform`] | u32 name offset, u16 first register, u16 last register |
//!
//! Uniform registers are numbered 0x00–0x0F v0–v15, 0x10–0x6F c0–c95, 0x70–0x73 i0–i3 (0x74–0x77 unused),
//! 0x78–0x87 b0–b15.
//!
//! # Old and new descriptions
//!
//! The oldest public description has an output entry begin with a 4-byte descriptor, then the type, then the
//! register shifted right by one; files of three assemblers have type, register and mask, and are followed. It
//! knows float constants only, and takes the merge flag for a part of the type. What it says differently about
//! instructions is listed in [`pica`](crate::pica).
//!
//! Unknown still: the DVLP words 0x04 and 0x1C–0x24, label word 0x08, the second descriptor word, output type 7,
//! and the unlinked object format `DVOJ`.
//!
//! # Example
//!
//! ```
//! use shader_containers::pica::assemble;
//! use shader_containers::shbin::{Constant, OutputKind, RegisterFile, Shbin, Stage};
//!
//! let program = assemble("main:\n mov o0, v0\n mul o1, c4, v1\n end\n")?;
//! let mut shbin = Shbin::new();
//! let base = shbin.add_code(&program)?;
//! let vertex = shbin.add_program(Stage::Vertex, base, base + 3)?;
//! vertex.add_output(OutputKind::Position, 0, 0xF);
//! vertex.add_output(OutputKind::Color, 1, 0xF);
//! vertex.add_uniform("tint", RegisterFile::Float, 4, 1)?;
//! vertex.constants.entries.push(Constant::float(4, [1.0, 0.5, 0.25, 1.0]));
//! shbin.layout();
//! let file = shbin.write()?;
//!
//! let read = Shbin::read(&file)?;
//! assert_eq!(read, shbin);
//! assert_eq!(read.program().line(1).as_deref(), Some("mul o1, c4, v1 @0"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod build;
mod check;
mod codes;
mod embedded;
mod model;
mod parse;
mod write;

pub use build::BuildError;
pub use codes::CODES;
pub use embedded::embedded;
pub use model::{
    Constant, ConstantValue, Dvle, Dvlp, Geometry, GeometryMode, LabelEntry, Output, OutputKind,
    RegisterFile, Shbin, Stage, Table, Uniform,
};
pub use write::WriteError;

use crate::Finding;

/// Everything wrong or odd in a file; a file whose structure cannot be followed has that one finding.
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    match Shbin::parse(bytes) {
        Ok(shbin) => shbin.check(),
        Err(finding) => vec![finding],
    }
}
