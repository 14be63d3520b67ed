//! The assembler: text in the syntax of qpu.md §6.1 to words.
//!
//! Valid text assembles to the same words as the assembler that the syntax comes from. Where that tool
//! silently made something else of the text there is an error here, or, for oddities that existing programs rely
//! on (the compatibility list of §6.1), a warning.
//!
//! Beyond that syntax: `rot1`–`rot15`, `rot_r5`, the `.sat` packs, `tlb_alpha_mask`, `.word` data, and
//!
//! ```text
//! /* block comments */
//! .uniform camera.matrix[0]      # the next word of the uniform stream is this
//! loop:                          # a label
//! sig_none ; r0 = fadd.sf.always(r0, a, uni) ; nop = nop(r0, r0) ;
//! sig_branch ; nop = branch.rel(loop, any_ns) ; nop = branch() ;
//! ```

mod annotate;
mod arguments;
mod assembled;
mod build;
#[cfg(test)]
mod defects;
mod error;
mod labels;
mod lexer;
mod operands;
mod program;
mod statement;
mod suggest;
#[cfg(test)]
mod tests;

pub use assembled::{AsmError, Assembled, Diagnostic, Label, Uniform};
pub use program::assemble;
