//! The splicer: pipeline state around programs that somebody wrote by hand.
//!
//! The machine does blending, depth and stencil set-up, vertex conversion and the viewport in programs
//! (vulkan-on-vc4.md §8). The compiler writes those patches of [`crate::state`] into its own code; this module writes the
//! same patches into finished QPU programs, with registers that the program has free where the patch goes. That is the
//! **patched mode** of assembly modules. In **raw mode** a program is only checked
//! ([`crate::qpu::check_program`]) and pipeline state is its own business.
//!
//! # A patched fragment program
//!
//! * On every path it writes its colour once to `tlb_color_all`: the *source colour* as a word with red in bits 7:0
//!   ([`SourceColor::Rgba8`]; [`SourceColor`] has other forms). Instead of that word the tile buffer gets what blending
//!   or logic operation, write mask and format make of it. The write may stand anywhere, also beside an end signal, in
//!   the delay slots of a branch or once on each side of one: the state is spliced in at each of them. On targets of
//!   four samples it may instead write `tlb_color_ms` four times, one source colour per sample.
//! * A condition on the colour write is a discard: depth, stencil and colour of the other elements stay. Clearing
//!   `ms_flags` before the colour write works as well.
//! * It may write `tlb_z`, a 24-bit integer, before the colour: a depth of its own, with a condition of its own. If it
//!   does not and the depth or stencil test is on, the interpolated depth is written; rb15, where that arrives, must
//!   then be left alone up to the colour write.
//! * It may write `tlb_stencil_setup`: then that replaces the pipeline's stencil words.
//! * It does not read the tile's colour. The scoreboard is released by the splicer: a release of the program's own is
//!   dropped, a wait stays. A program with thread switches does all of this behind the last one.
//! * A program may write a depth and no colour, or neither; then no colour changes.
//!
//! # A patched vertex or coordinate program
//!
//! * It writes no `vr_setup` and no `vw_setup`. It reads attributes from `vpm_read` in the order of
//!   [`VertexState::inputs`], component by component, each as often as [`VertexInput::components`] says. Whatever the
//!   format in the buffer, it gets a float (for integer formats an integer); what the format lacks is 0, 0, 0, 1.
//! * It writes x, y, z and w of the position to `vpm`, in clip coordinates with 0 ≤ z ≤ w in view; then the point size
//!   if points are drawn; then the varyings in the order in which the fragment program reads them. The splicer makes
//!   clip and screen coordinates of the position.
//! * Every path passes each of these reads and writes once, in the same order.
//! * Both programs of a pipeline must compute the position by the same operations. They may be the same text: what a
//!   coordinate program writes behind the position is dropped.
//!
//! # Both
//!
//! * Branches are relative. Uniforms behind a label follow the kernel's reset pattern (qpu.md §5.3): `load32` of the
//!   offset, which the splicer corrects, and an addition of the address word.
//! * Flags and r4 are not kept over a patch that needs them; that is an error where the program reads them behind it.
//!   Accumulators and file registers are kept.
//! * Everything else the program does is left as it is, instruction by instruction.
//!
//! The result is checked against all rules of the machine ([`crate::qpu::rules`]).

mod allocate;
mod edit;
mod encode;
mod error;
mod flow;
mod fragment;
mod lower;
mod normal;
mod program;
mod record;
mod registers;
mod section;
mod state;
#[cfg(test)]
mod tests;
mod vertex;
mod weave;

pub use error::SpliceError;
pub use program::{Origin, Slot, Source, Spliced};
pub use registers::Reg;
pub use state::{FragmentState, SourceColor, VertexInput, VertexState};

use crate::state::VertexStage;

/// Puts state into a fragment program.
///
/// # Errors
/// What does not fit, at which instruction, and what to do instead.
pub fn fragment<U: Clone>(source: &Source<'_, U>, state: &FragmentState) -> Result<Spliced<U>, SpliceError> {
    fragment::splice(source, state)
}

/// Puts state into a vertex program.
///
/// # Errors
/// As for [`fragment`].
pub fn vertex<U: Clone>(source: &Source<'_, U>, state: &VertexState<'_>) -> Result<Spliced<U>, SpliceError> {
    vertex::splice(source, state, VertexStage::Vertex)
}

/// Puts state into a coordinate program.
///
/// # Errors
/// As for [`fragment`].
pub fn coordinate<U: Clone>(
    source: &Source<'_, U>,
    state: &VertexState<'_>,
) -> Result<Spliced<U>, SpliceError> {
    vertex::splice(source, state, VertexStage::Coordinate)
}
