//! Constants of a module, specialised and flattened to words.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use spirv::Op;

use super::decoration::Decorations;
use crate::ir::{Builder, Shader, Stage};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::Result;
use crate::spirv::expression::emit::{Emit, Typed};
use crate::spirv::expression::expression;
use crate::spirv::types::{MAX_SCALARS, Ty, Types};

/// A constant: its type and the words of its scalars, booleans as 0 and 1.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Type.
    pub ty: Ty,
    /// Words in declaration order.
    pub words: Rc<[u32]>,
}

/// The constants read so far.
#[derive(Debug, Default)]
pub struct Constants {
    by_id: FxHashMap<Id, Constant>,
}

impl Constants {
    /// The constant with an id.
    pub fn get(&self, id: Id) -> Option<&Constant> {
        self.by_id.get(&id)
    }

    fn find(&self, id: Id, user: &Inst) -> Result<&Constant> {
        self.get(id).ok_or_else(|| user.invalid(format!("%{id} is not a constant")))
    }

    /// The one word of a scalar constant.
    pub fn word(&self, id: Id) -> Option<u32> {
        match self.get(id)?.words[..] {
            [word] => Some(word),
            _ => None,
        }
    }

    /// Reads a constant instruction; other instructions are ignored.
    pub fn read(
        &mut self,
        inst: &Inst,
        types: &Types,
        decorations: &Decorations,
        specialization: &[(u32, u32)],
    ) -> Result<()> {
        if !is_constant(inst.op) {
            return Ok(());
        }
        let ty = types.find(inst.ty, inst)?;
        let width = types.scalars(ty);
        if width > MAX_SCALARS {
            return Err(inst.too_large("number of scalars of a constant", MAX_SCALARS as usize));
        }
        let special = || {
            let id = decorations.of(inst.id).spec_id?;
            specialization.iter().rev().find(|&&(constant, _)| constant == id).map(|&(_, word)| word)
        };
        let words: Vec<u32> = match inst.op {
            Op::ConstantTrue => vec![1],
            Op::ConstantFalse => vec![0],
            Op::SpecConstantTrue => vec![special().map_or(1, |word| u32::from(word != 0))],
            Op::SpecConstantFalse => vec![special().map_or(0, |word| u32::from(word != 0))],
            Op::Constant => vec![inst.literal_at(0)?],
            Op::SpecConstant => vec![special().unwrap_or(inst.literal_at(0)?)],
            Op::ConstantNull | Op::Undef => vec![0; width as usize],
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite(inst, width as usize)?,
            _ => self.operation(inst, ty, types)?,
        };
        if words.len() != width as usize {
            return Err(inst.invalid("the constant does not fit its type"));
        }
        if self.by_id.insert(inst.id, Constant { ty, words: words.into() }).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        Ok(())
    }

    fn composite(&self, inst: &Inst, width: usize) -> Result<Vec<u32>> {
        let mut words = Vec::with_capacity(width);
        for part in inst.ids() {
            words.extend_from_slice(&self.find(part, inst)?.words);
            if words.len() > width {
                break;
            }
        }
        Ok(words)
    }

    /// `OpSpecConstantOp`: the operation is translated into a shader of its own, where it folds away.
    fn operation(&self, inst: &Inst, ty: Ty, types: &Types) -> Result<Vec<u32>> {
        let Some(&Operand::LiteralSpecConstantOpInteger(op)) = inst.operands.first() else {
            return Err(inst.invalid("the operation is missing"));
        };
        let mut scratch = Shader::new(Stage::Vertex);
        let Some(block) = scratch.entry() else {
            return Err(inst.invalid("no block"));
        };
        let mut b = Builder::new(&mut scratch, block);
        let mut args = Vec::new();
        for id in inst.ids() {
            let constant = self.find(id, inst)?;
            let scalars = types.flatten(constant.ty);
            let values = constant.words.iter().zip(scalars).map(|(&word, ty)| b.constant(word, ty)).collect();
            args.push(Typed { ty: constant.ty, values });
        }
        let mut e = Emit { b, types, inst, result: ty };
        let values = expression(&mut e, op, &args, &inst.literals())?;
        let words: Option<Vec<u32>> = values.iter().map(|&value| scratch.const_of(value)).collect();
        words.ok_or_else(|| inst.invalid(format!("Op{op:?} has no constant value")))
    }
}

/// Whether an instruction defines a constant.
pub const fn is_constant(op: Op) -> bool {
    matches!(
        op,
        Op::ConstantTrue
            | Op::ConstantFalse
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::Constant
            | Op::SpecConstant
            | Op::ConstantNull
            | Op::Undef
            | Op::ConstantComposite
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
    )
}
