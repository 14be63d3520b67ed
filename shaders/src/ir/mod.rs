//! The intermediate form: scalar SSA over 32-bit words and booleans, structured control flow.
//!
//! A [`Shader`] is a tree of regions whose leaves are basic blocks. Values are defined once and
//! dominate their uses. Control flow is never a graph: an `If` has two regions, a `Loop` one; a region
//! may end in `Break`, `Continue`, `Return` or `Discard`. A region is never empty: its first node is a `Block`, and a
//! `Block` follows every `If` and `Loop` (an empty one where control cannot get). Phis stand at the start of the block that
//! follows an `If` or `Loop` and at the start of a loop body's first block; each argument names the block it comes from.
//! Only blocks that control can leave count as predecessors ([`cfg::Cfg`] computes them).
//!
//! Operations come in four groups. *Generic* ones have SPIR-V's meaning. *Interface* ones name what the
//! application sees (inputs, outputs, buffers, images). *Compute* ones are memory that changes, and what orders invocations.
//! *Machine* ones name what the QPU sees. Lowering passes turn the first two into the last; the QPU's back end takes machine
//! operations and the generic operations that have a QPU instruction of the same meaning. The CPU's back end takes all but
//! machine operations.
//!
//! From the bottom: `entity` and `interface` hold names, `op` the operations, `shader` what is made of them. On these stand
//! the [`builder`], the analyses [`mod@cfg`], [`uniform`] and [`arms`], [`eval`] (operations as arithmetic) with the interpreter [`interp`],
//! text and the verifier, and `sweep`, which takes out of a shader what is of no use any more. Of the rest of the crate only `binding` is imported.

pub mod arms;
pub mod builder;
pub mod cfg;
pub mod computed;
mod entity;
pub mod eval;
mod image;
mod interface;
pub mod interp;
mod line;
mod memory;
mod op;
mod print;
mod shader;
mod sweep;
pub mod uniform;
pub mod verify;

pub use builder::Builder;
pub use entity::{Block, Inst, Type, Value};
pub use image::{Fetch, ImageDim, ImageFormat, Lod, MAX_TAPS, Sample, Texel, TmuR};
pub use interface::{
    BuiltinInput, CLIP_DISTANCES, CULL_DISTANCES, Interpolation, Invocation, MAX_DISTANCES, Output, SUBGROUP,
    Stage,
};
pub use line::{LineId, SourceLine};
pub use memory::{Atomic, Memory, Workgroup};
pub use op::{Op, Signature};
pub use shader::{
    BlockData, InstData, Node, Region, Replacements, Shader, ValueData, collect_blocks, for_each_condition,
    has_loop,
};
