//! Constant folding: an operation whose operands are all constants becomes a constant.

use smallvec::SmallVec;

use crate::ir::eval::eval;
use crate::ir::{Op, Shader, Type};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut changed = false;
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        if data.args.is_empty() || data.results.len() != 1 || !data.op.is_pure() {
            continue;
        }
        let words: Option<SmallVec<[u32; 4]>> = data.args.iter().map(|&arg| shader.const_of(arg)).collect();
        let Some(word) = words.and_then(|words| eval(data.op, &words)) else {
            continue;
        };
        let op = match shader.values[data.results[0]].ty {
            Type::Word => Op::Const(word),
            Type::Bool => Op::ConstBool(word != 0),
        };
        let data = &mut shader.insts[inst];
        data.op = op;
        data.args.clear();
        changed = true;
    }
    changed
}
