//! Functions as blocks with their merge instructions.

use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

use crate::spirv::binary::{Id, Inst};
use crate::spirv::error::Result;

/// How control comes together again after a block's branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// After an if or switch.
    Selection(Id),
    /// The block is a loop's header.
    Loop {
        /// Where control goes on after the loop.
        merge: Id,
        /// Where an iteration ends.
        next: Id,
    },
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its id.
    pub label: Id,
    /// Phis.
    pub phis: Vec<Inst>,
    /// Instructions between phis and merge or branch.
    pub body: Vec<Inst>,
    /// Merge instruction.
    pub merge: Option<Merge>,
    /// Branch, return, kill.
    pub end: Inst,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its id.
    pub id: Id,
    /// Its definition.
    pub inst: Inst,
    /// Parameters in order.
    pub parameters: Vec<Id>,
    /// Blocks in order; the first is the entry.
    pub blocks: Vec<Block>,
    index: FxHashMap<Id, usize>,
    /// Ids used outside the block that defines them.
    pub crossing: FxHashSet<Id>,
    /// What the pointers made in the function are based on.
    bases: FxHashMap<Id, Id>,
}

impl Function {
    /// The block with a label.
    pub fn block(&self, label: Id) -> Option<&Block> {
        self.index.get(&label).map(|&index| &self.blocks[index])
    }

    /// The variable or parameter that a pointer leads back to.
    pub fn root(&self, mut id: Id) -> Id {
        // Each step needs an instruction, so a circle of them ends here too.
        for _ in 0..=self.bases.len() {
            match self.bases.get(&id) {
                Some(&base) => id = base,
                None => break,
            }
        }
        id
    }

    /// Blocks reachable from `start` without passing `stop`.
    pub fn reach(&self, start: Id, stop: Id) -> Vec<&Block> {
        let mut seen = FxHashSet::default();
        let mut work = vec![start];
        let mut found = Vec::new();
        while let Some(label) = work.pop() {
            if label == stop || !seen.insert(label) {
                continue;
            }
            if let Some(block) = self.block(label) {
                found.push(block);
                work.extend(successors(&block.end));
            }
        }
        found
    }
}

/// Labels that a block's last instruction names.
pub fn successors(end: &Inst) -> Vec<Id> {
    let skip = match end.op {
        Op::Branch => 0,
        Op::BranchConditional | Op::Switch => 1,
        _ => return Vec::new(),
    };
    end.ids().skip(skip).collect()
}

fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
    )
}

/// Collects instructions into functions.
#[derive(Default)]
pub struct FunctionReader {
    function: Option<Function>,
    label: Option<Id>,
    phis: Vec<Inst>,
    body: Vec<Inst>,
    merge: Option<Merge>,
}

impl FunctionReader {
    /// Whether the next instruction is part of a function.
    pub fn takes(&self, op: Op) -> bool {
        self.function.is_some() || op == Op::Function
    }

    /// Takes an instruction of a function; returns the function at its end.
    pub fn read(&mut self, inst: Inst) -> Result<Option<Function>> {
        let Some(function) = &mut self.function else {
            self.function = Some(Function {
                id: inst.id,
                inst,
                parameters: Vec::new(),
                blocks: Vec::new(),
                index: FxHashMap::default(),
                crossing: FxHashSet::default(),
                bases: FxHashMap::default(),
            });
            return Ok(None);
        };
        match (inst.op, self.label) {
            (Op::Line | Op::NoLine, _) => {}
            (Op::FunctionParameter, None) => function.parameters.push(inst.id),
            (Op::Label, None) => self.label = Some(inst.id),
            (Op::FunctionEnd, None) => {
                let mut function = self.function.take();
                if let Some(function) = &mut function {
                    function.crossing = crossing(function);
                }
                return Ok(function);
            }
            (Op::FunctionEnd | Op::Label | Op::Function | Op::FunctionParameter, _) | (_, None) => {
                return Err(inst.invalid("stands outside its place in a function"));
            }
            (Op::SelectionMerge, Some(_)) => self.merge = Some(Merge::Selection(inst.id_at(0)?)),
            (Op::LoopMerge, Some(_)) => {
                self.merge = Some(Merge::Loop { merge: inst.id_at(0)?, next: inst.id_at(1)? });
            }
            (Op::Phi, Some(_)) => self.phis.push(inst),
            (op, Some(label)) if ends_block(op) => {
                if function.index.insert(label, function.blocks.len()).is_some() {
                    return Err(inst.invalid(format!("block %{label} is defined twice")));
                }
                function.blocks.push(Block {
                    label,
                    phis: std::mem::take(&mut self.phis),
                    body: std::mem::take(&mut self.body),
                    merge: self.merge.take(),
                    end: inst,
                });
                self.label = None;
            }
            (op, Some(_)) => {
                if matches!(op, Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject) {
                    function.bases.insert(inst.id, inst.id_at(0)?);
                }
                self.body.push(inst);
            }
        }
        Ok(None)
    }
}

fn crossing(function: &Function) -> FxHashSet<Id> {
    let mut home = FxHashMap::default();
    for block in &function.blocks {
        for inst in block.phis.iter().chain(&block.body) {
            home.insert(inst.id, block.label);
        }
    }
    let mut crossing = FxHashSet::default();
    for block in &function.blocks {
        for phi in &block.phis {
            // A phi's value is made on the edges that lead to its block.
            crossing.insert(phi.id);
            crossing.extend(phi.ids());
        }
        let insts = block.body.iter().chain([&block.end]);
        for id in insts.flat_map(|inst| inst.ids()) {
            if home.get(&id).is_some_and(|&label| label != block.label) {
                crossing.insert(id);
            }
        }
    }
    crossing
}
