//! Constructs under way: labels, functions being inlined, loops, arms, and how control leaves them.
//!
//! A construct (if, switch case, loop body, function) is a *label* that control inside it may leave for. The IR knows
//! no such labels, only falling out of a region and breaking the innermost loop. An exit that is neither sets the
//! label's flag and falls out; code that must not run then goes into the arm that did not exit, or, if both
//! an exit and normal control reach it, under an `If` on the flag. Flags are slots like any variable.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::env::Layer;
use crate::ir::{Block, Region};
use crate::spirv::binary::Id;
use crate::spirv::module::function::Function;

/// A function being inlined.
pub struct Frame<'m> {
    /// The function.
    pub function: &'m Function,
    /// Number of this copy; its ids live under it.
    pub copy: u32,
    /// The first label that belongs to it: its return label.
    pub first_label: usize,
    /// Slots of the return value.
    pub result: std::ops::Range<u32>,
    /// Blocks that were translated.
    pub visited: FxHashSet<Id>,
}

/// Where a label is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A block.
    Block(Id),
    /// The end of the function.
    Return,
}

/// A place that control may leave for.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    /// Where it is.
    pub target: Target,
    /// Leaving for it is the IR's `Break`.
    pub breaks_loop: bool,
    /// Slot that is true after an exit that could not be expressed otherwise.
    pub flag: u32,
    /// IR loops around it (around its inside, for a loop's merge).
    pub loop_depth: usize,
}

/// An IR loop being made.
#[derive(Debug)]
pub struct LoopFrame {
    /// Layers of the environment outside.
    pub depth: usize,
    /// Where `Break`s are and what changed until there.
    pub breaks: Vec<(Block, Layer)>,
    /// Whether one of them is for the loop's own merge.
    pub left: bool,
    /// Outer labels that others are for.
    pub pending: Pending,
}

/// Labels by index.
pub type Pending = SmallVec<[usize; 2]>;

/// How control leaves a piece of code.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// It may reach the innermost label.
    pub live: bool,
    /// Labels further out that it may be on the way to, with their flags set.
    pub pending: Pending,
}

impl Flow {
    /// Control goes on.
    pub fn live() -> Flow {
        Flow { live: true, pending: Pending::new() }
    }

    /// Control does not go on.
    pub fn closed() -> Flow {
        Flow::default()
    }

    /// Whether control reaches the end of the IR region.
    pub fn is_open(&self) -> bool {
        self.live || !self.pending.is_empty()
    }

    /// Both ways of leaving.
    pub fn union(mut self, other: &Flow) -> Flow {
        self.live |= other.live;
        self.pending.extend(other.pending.iter().copied());
        self.pending.sort_unstable();
        self.pending.dedup();
        self
    }

    /// Without control on the way to the labels from `first` on.
    pub fn below(mut self, first: usize) -> Flow {
        self.pending.retain(|pending| *pending < first);
        self
    }

    /// The same at the place of a label: control on the way there has arrived.
    pub fn resolved(mut self, label: usize) -> Flow {
        let before = self.pending.len();
        self.pending.retain(|pending| *pending != label);
        self.live |= self.pending.len() != before;
        self
    }
}

/// What follows a block's branch.
pub enum Next {
    /// Another block in the same region.
    Goto(Id),
    /// Nothing more.
    Done(Flow),
    /// A construct ended; its merge block follows for those that reach it.
    After(Flow, Id),
}

/// One side of an `If`.
pub struct Arm {
    /// Its code.
    pub region: Region,
    /// The block that it ends with.
    pub last: Block,
    /// What it changes.
    pub changes: Layer,
    /// How control leaves it.
    pub flow: Flow,
}
