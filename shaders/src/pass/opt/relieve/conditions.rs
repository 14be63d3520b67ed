//! Comparisons: flags are set where they are looked at.

use cranelift_entity::SecondaryMap;

use super::remake::is_movable;
use crate::ir::{Block, Inst, InstData, Node, Op, Region, Shader, Type, Value};

/// Gives each user of a comparison one of its own, in its block, and each if one at the end of the block in front of it. Flags
/// are set where they are looked at, so that until then it is what is compared that takes registers.
pub fn split(shader: &mut Shader) {
    let counts = shader.use_counts();
    let mut home: SecondaryMap<Value, Option<Block>> = shader.per_value();
    for block in shader.blocks_in_order() {
        let mut insts: Vec<Inst> = Vec::new();
        for inst in std::mem::take(&mut shader.blocks[block].insts) {
            shader.insts[inst].results.iter().for_each(|&value| home[value] = Some(block));
            for at in 0..shader.insts[inst].args.len() {
                let value = shader.insts[inst].args[at];
                if shader.values[value].ty == Type::Bool
                    && !shader.insts[inst].op.is(Op::Phi)
                    && (counts[value] > 1 || home[value] != Some(block))
                {
                    shader.insts[inst].args[at] =
                        own(shader, &counts, value, |word| home[word] == Some(block), &mut insts);
                }
            }
            insts.push(inst);
        }
        shader.blocks[block].insts = insts;
    }
    let mut body = std::mem::take(&mut shader.body);
    split_ifs(shader, &counts, &home, &mut body);
    shader.body = body;
}

/// Gives each if of a region its own comparison.
fn split_ifs(
    shader: &mut Shader,
    counts: &SecondaryMap<Value, u32>,
    home: &SecondaryMap<Value, Option<Block>>,
    region: &mut Region,
) {
    let mut before = None;
    for node in region {
        match node {
            Node::Block(block) => before = Some(*block),
            Node::If { cond, then, otherwise } => {
                if let Some(block) = before.filter(|_| counts[*cond] > 1 || home[*cond] != before) {
                    let mut insts = std::mem::take(&mut shader.blocks[block].insts);
                    *cond = own(shader, counts, *cond, |word| home[word] == before, &mut insts);
                    shader.blocks[block].insts = insts;
                }
                split_ifs(shader, counts, home, then);
                split_ifs(shader, counts, home, otherwise);
            }
            Node::Loop(body) => split_ifs(shader, counts, home, body),
            _ => {}
        }
    }
}

/// A copy of a comparison, and of the one operation whose result it looks at if that sets the flags itself and is of this block.
fn own(
    shader: &mut Shader,
    counts: &SecondaryMap<Value, u32>,
    value: Value,
    is_here: impl Fn(Value) -> bool,
    insts: &mut Vec<Inst>,
) -> Value {
    let data = shader.insts[shader.values[value].inst].clone();
    if !is_movable(&data) || data.results.len() != 1 {
        return value;
    }
    let mut args = data.args.clone();
    for arg in &mut args {
        if is_here(*arg) && sets_flags(shader, &data, *arg, counts[*arg]) {
            let inst = shader.repeat_inst(shader.values[*arg].inst);
            insts.push(inst);
            *arg = shader.insts[inst].results[0];
        }
    }
    let inst = shader.copy_inst(&data, args);
    insts.push(inst);
    shader.insts[inst].results[0]
}

/// Whether an operand of a comparison is computed by the operation that sets the flags for it, as selection has it for the add
/// unit's operations. An order that reckons otherwise is right, too, but keeps more alive.
pub fn sets_flags(shader: &Shader, comparison: &InstData, word: Value, uses: u32) -> bool {
    let is_test = matches!(comparison.op, Op::IEq | Op::INe)
        && comparison.args.iter().any(|&arg| shader.const_of(arg) == Some(0));
    is_test && uses == 1 && matches!(shader.op(word), Op::And | Op::Or | Op::Xor | Op::IAdd | Op::ISub)
}
