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
mod record;
mod registers;
mod section;
#[cfg(test)]
mod tests;
mod vertex;
mod weave;

pub use error::SpliceError;

use crate::qpu::{Cost, Inst, Stage};
use crate::state::depth_stencil::DepthStencilPlan;
use crate::state::{ColorOutput, Multisample, StateUniform, VertexFormat, VertexStage};

/// A program as its author wrote it.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a, U> {
    /// What it runs for.
    pub stage: Stage,
    /// Its instructions up to the second one behind the end signal.
    pub insts: &'a [Inst],
    /// What each word of its uniform stream is, in program order ([`crate::qpu::uniform_reads`]). One more than it reads
    /// is the word behind the last, which the kernel wants for loops that only set the address.
    pub uniforms: &'a [U],
}

/// What a word of the spliced program's uniform stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot<U> {
    /// A word that the program itself takes.
    Own(U),
    /// A word of pipeline state.
    State(StateUniform),
    /// A constant.
    Const(u32),
    /// The address of the stream itself, for the kernel to fill.
    StreamAddress,
}

/// Where an instruction of a spliced program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// This instruction of the source, perhaps with another destination, operand or signal.
    Own(usize),
    /// A patch, by its name.
    Patch(&'static str),
}

/// A program with pipeline state in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spliced<U> {
    /// The program.
    pub insts: Vec<Inst>,
    /// Its uniform stream.
    pub slots: Vec<Slot<U>>,
    /// Where each instruction comes from.
    pub origins: Vec<Origin>,
    /// It switches threads.
    pub threaded: bool,
}

impl<U> Spliced<U> {
    /// The program as words.
    pub fn words(&self) -> Vec<u64> {
        self.insts.iter().map(Inst::encode).collect()
    }

    /// How many instructions are not the author's.
    pub fn added(&self) -> usize {
        self.origins.iter().filter(|origin| matches!(origin, Origin::Patch(_))).count()
    }

    /// What the program costs.
    pub fn cost(&self) -> Cost {
        Cost::of(&self.insts)
    }
}

/// Place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// Accumulator 0–3.
    Acc(u8),
    /// File A, 0–31.
    A(u8),
    /// File B, 0–31.
    B(u8),
}

/// How a fragment program gives its colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceColor {
    /// The word that it writes has red in bits 7:0, green, blue, and alpha in bits 31:24: the tile buffer's own order.
    #[default]
    Rgba8,
    /// The word has blue in bits 7:0 and red in bits 23:16, as programs for BGRA targets without a splicer have it.
    Bgra8,
    /// Red, green, blue and alpha are floats (integers for integer targets) in these registers where the program writes
    /// to the tile buffer; what it writes does not matter.
    Registers([Reg; 4]),
}

/// State that becomes part of a fragment program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FragmentState {
    /// The colour target; `None` drops the colour.
    pub color: Option<ColorOutput>,
    /// Depth and stencil.
    pub depth_stencil: DepthStencilPlan,
    /// Coverage. `four_samples` must agree with [`ColorOutput::multisample`].
    pub multisample: Multisample,
    /// How the program gives its colour.
    pub source: SourceColor,
    /// Where the second colour stands at the colour write, for blending with two sources.
    pub second: Option<[Reg; 4]>,
}

impl FragmentState {
    /// A target without blending, tests and multisampling.
    pub fn plain(color: ColorOutput) -> Self {
        FragmentState {
            color: Some(color),
            depth_stencil: DepthStencilPlan::OFF,
            multisample: Multisample::default(),
            source: SourceColor::default(),
            second: None,
        }
    }
}

/// An attribute that a vertex program reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexInput {
    /// Format in the vertex buffer.
    pub format: VertexFormat,
    /// How many components the program reads, 0–4. With 0 the attribute's words are only taken off the queue.
    pub components: u8,
}

impl VertexInput {
    /// An attribute of which the program reads the components that the format has.
    pub fn whole(format: VertexFormat) -> Self {
        VertexInput { format, components: format.components() as u8 }
    }
}

/// State that becomes part of a vertex or coordinate program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexState<'a> {
    /// The attributes in the order of their words in the VPM.
    pub inputs: &'a [VertexInput],
    /// Points are drawn: the program writes a point size behind the position.
    pub points: bool,
}

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
