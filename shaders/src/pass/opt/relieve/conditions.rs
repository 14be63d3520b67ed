//! Comparisons: flags are set where they are looked at.

use cranelift_entity::SecondaryMap;

use super::remake::{again, is_movable};
use crate::ir::{Inst, InstData, Op, Shader, Type, Value};

/// Gives each user of a comparison one of its own. Flags are set where they are looked at, so that until then it is what is
/// compared that takes registers.
pub fn split(shader: &mut Shader) {
    let counts = shader.use_counts();
    for block in shader.blocks_in_order() {
        let mut insts: Vec<Inst> = Vec::new();
        for inst in std::mem::take(&mut shader.blocks[block].insts) {
            for at in 0..shader.insts[inst].args.len() {
                let value = shader.insts[inst].args[at];
                if shader.values[value].ty == Type::Bool
                    && shader.insts[inst].op != Op::Phi
                    && counts[value] > 1
                {
                    shader.insts[inst].args[at] = own(shader, &counts, value, &mut insts);
                }
            }
            insts.push(inst);
        }
        shader.blocks[block].insts = insts;
    }
}

/// A copy of a comparison, and of the one operation whose result it looks at if that sets the flags itself.
fn own(shader: &mut Shader, counts: &SecondaryMap<Value, u32>, value: Value, insts: &mut Vec<Inst>) -> Value {
    let data = shader.insts[shader.values[value].inst].clone();
    if !is_movable(&data) || data.results.len() != 1 {
        return value;
    }
    let mut args = data.args.clone();
    for arg in &mut args {
        if sets_flags(shader, &data, *arg, counts[*arg]) {
            let word = shader.insts[shader.values[*arg].inst].clone();
            let inst = again(shader, &word, word.args.clone());
            insts.push(inst);
            *arg = shader.insts[inst].results[0];
        }
    }
    let inst = again(shader, &data, args);
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
