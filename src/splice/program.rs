//! Programs before and after splicing.

use crate::qpu::{Cost, Inst, Stage};
use crate::state::StateUniform;

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
