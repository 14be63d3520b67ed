//! Checks that a shader obeys the rules of the IR (module documentation of [`super`]).

use cranelift_entity::{EntitySet, SecondaryMap};

use super::cfg::Cfg;
use super::entity::{Block, Inst, Type, Value};
use super::op::{Op, Signature};
use super::shader::{Node, Region, Shader};

/// A broken rule and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// An instruction breaks a rule.
    #[error("{block}: {text}: {rule}")]
    Inst {
        /// Block of the instruction.
        block: Block,
        /// The instruction as text.
        text: String,
        /// The rule.
        rule: String,
    },
    /// The region tree breaks a rule.
    #[error("near {block:?}: {rule}")]
    Tree {
        /// The last block before the place, if any.
        block: Option<Block>,
        /// The rule.
        rule: String,
    },
}

/// Checks a whole shader.
pub fn verify(shader: &Shader) -> Result<(), VerifyError> {
    let mut tree = Tree { shader, seen: EntitySet::new(), last: None, conditions: Vec::new() };
    tree.region(&shader.body, 0)?;
    let conditions = tree.conditions;
    let cfg = Cfg::new(shader);
    let mut checker = Checker { shader, cfg: &cfg, place: SecondaryMap::new() };
    checker.place_insts()?;
    for &block in &cfg.order {
        checker.block(block)?;
    }
    for (block, cond) in conditions {
        checker.condition(block, cond)?;
    }
    Ok(())
}

/// In builds with debug assertions, panics with the shader's text if a pass left it invalid.
pub fn after_pass(shader: &Shader, pass: &str) {
    if cfg!(debug_assertions) {
        if let Err(error) = verify(shader) {
            panic!("{pass} broke the shader: {error}\n{shader}");
        }
    }
}

/// Shape of the tree.
struct Tree<'a> {
    shader: &'a Shader,
    seen: EntitySet<Block>,
    last: Option<Block>,
    conditions: Vec<(Block, Value)>,
}

impl Tree<'_> {
    fn fail<T>(&self, rule: impl Into<String>) -> Result<T, VerifyError> {
        Err(VerifyError::Tree { block: self.last, rule: rule.into() })
    }

    fn region(&mut self, region: &Region, loops: u32) -> Result<(), VerifyError> {
        if !matches!(region.first(), Some(Node::Block(_))) {
            return self.fail("a region starts with a block");
        }
        let mut block_due = false;
        for (index, node) in region.iter().enumerate() {
            if block_due && !matches!(node, Node::Block(_)) {
                return self.fail("a block follows an if or loop");
            }
            block_due = matches!(node, Node::If { .. } | Node::Loop(_));
            let leaves = matches!(node, Node::Break | Node::Continue | Node::Return | Node::Discard);
            if leaves && index + 1 != region.len() {
                return self.fail("nothing follows a jump");
            }
            self.node(node, loops)?;
        }
        if block_due { self.fail("a block follows an if or loop") } else { Ok(()) }
    }

    fn node(&mut self, node: &Node, loops: u32) -> Result<(), VerifyError> {
        match node {
            &Node::Block(block) => {
                if !self.shader.blocks.is_valid(block) || !self.seen.insert(block) {
                    return self.fail(format!("{block} stands in the tree once and exists"));
                }
                self.last = Some(block);
                Ok(())
            }
            Node::If { cond, then, otherwise } => {
                if let Some(block) = self.last {
                    self.conditions.push((block, *cond));
                }
                self.region(then, loops)?;
                self.region(otherwise, loops)
            }
            Node::Loop(body) => self.region(body, loops + 1),
            Node::Break | Node::Continue if loops == 0 => self.fail("break and continue stand in a loop"),
            _ => Ok(()),
        }
    }
}

/// Instructions: types, dominance, phis.
struct Checker<'a> {
    shader: &'a Shader,
    cfg: &'a Cfg,
    /// Block and position of a placed instruction, position counted from 1.
    place: SecondaryMap<Inst, (u32, u32)>,
}

impl Checker<'_> {
    fn fail<T>(&self, block: Block, inst: Inst, rule: impl Into<String>) -> Result<T, VerifyError> {
        let text = self.shader.display(inst).to_string();
        Err(VerifyError::Inst { block, text, rule: rule.into() })
    }

    fn place_insts(&mut self) -> Result<(), VerifyError> {
        for &block in &self.cfg.order {
            for (index, &inst) in self.shader.blocks[block].insts.iter().enumerate() {
                if self.place[inst].1 != 0 {
                    return self.fail(block, inst, "an instruction stands in one place");
                }
                self.place[inst] = (block.as_u32(), index as u32 + 1);
            }
        }
        Ok(())
    }

    fn block(&self, block: Block) -> Result<(), VerifyError> {
        let mut phis = true;
        for &inst in &self.shader.blocks[block].insts {
            let data = &self.shader.insts[inst];
            if data.op == Op::Phi {
                if !phis {
                    return self.fail(block, inst, "phis come first in their block");
                }
                self.phi(block, inst)?;
            } else {
                phis = false;
                if !data.phi_blocks.is_empty() {
                    return self.fail(block, inst, "only phis name blocks");
                }
                for &arg in &data.args {
                    self.dominated(block, inst, arg)?;
                }
            }
            self.types(block, inst)?;
        }
        Ok(())
    }

    fn dominated(&self, block: Block, inst: Inst, arg: Value) -> Result<(), VerifyError> {
        if !self.shader.values.is_valid(arg) {
            return self.fail(block, inst, format!("{arg} exists"));
        }
        let (def_block, def_index) = self.place[self.shader.values[arg].inst];
        if def_index == 0 {
            return self.fail(block, inst, format!("{arg} is defined in the body"));
        }
        let def_block = Block::from_u32(def_block);
        let before = if def_block == block {
            def_index < self.place[inst].1
        } else {
            !self.cfg.is_reachable(block) || self.cfg.dominates(def_block, block)
        };
        if before { Ok(()) } else { self.fail(block, inst, format!("{arg} is defined before its use")) }
    }

    fn phi(&self, block: Block, inst: Inst) -> Result<(), VerifyError> {
        let data = &self.shader.insts[inst];
        if data.phi_blocks.len() != data.args.len() {
            return self.fail(block, inst, "a phi names one block per argument");
        }
        let mut named = data.phi_blocks.to_vec();
        let mut preds = self.cfg.preds(block).to_vec();
        named.sort();
        preds.sort();
        if named != preds {
            return self.fail(block, inst, format!("a phi names its predecessors {preds:?}"));
        }
        for (&arg, &from) in data.args.iter().zip(&data.phi_blocks) {
            if !self.shader.values.is_valid(arg) {
                return self.fail(block, inst, format!("{arg} exists"));
            }
            let (def_block, def_index) = self.place[self.shader.values[arg].inst];
            if def_index == 0 || !self.cfg.dominates(Block::from_u32(def_block), from) {
                return self.fail(block, inst, format!("{arg} is defined on the way from {from}"));
            }
        }
        Ok(())
    }

    fn types(&self, block: Block, inst: Inst) -> Result<(), VerifyError> {
        let data = &self.shader.insts[inst];
        for (index, &result) in data.results.iter().enumerate() {
            let value = self.shader.values[result];
            if value.inst != inst || usize::from(value.result) != index {
                return self.fail(block, inst, format!("{result} knows where it is defined"));
            }
        }
        let args: Vec<Type> = data.args.iter().map(|&arg| self.shader.values[arg].ty).collect();
        let results: Vec<Type> = data.results.iter().map(|&result| self.shader.values[result].ty).collect();
        let fits = match data.op.signature() {
            Signature::Fixed { args: wanted, required, results: made } => {
                args.len() >= required && wanted.starts_with(&args) && results[..] == made[..]
            }
            Signature::Select => results.len() == 1 && args[..] == [Type::Bool, results[0], results[0]],
            Signature::Phi => results.len() == 1 && args.iter().all(|&ty| ty == results[0]),
            Signature::Undef => results.len() == 1 && args.is_empty(),
        };
        if fits {
            return Ok(());
        }
        self.fail(block, inst, format!("operands {args:?} and results {results:?} fit the operation"))
    }

    fn condition(&self, block: Block, cond: Value) -> Result<(), VerifyError> {
        let fail = |rule: String| Err(VerifyError::Tree { block: Some(block), rule });
        if !self.shader.values.is_valid(cond) || self.shader.values[cond].ty != Type::Bool {
            return fail(format!("condition {cond} is a boolean"));
        }
        let (def_block, def_index) = self.place[self.shader.values[cond].inst];
        let reachable = self.cfg.is_reachable(block);
        if def_index == 0 || reachable && !self.cfg.dominates(Block::from_u32(def_block), block) {
            return fail(format!("condition {cond} is defined before the if"));
        }
        Ok(())
    }
}
