//! Parts of words are taken where they are used.
//!
//! An operand of a float operation unpacks a byte or a half for nothing (qpu.md §2.11), but only for one user: of a part with
//! several, selection makes a value. Here each user has a part of its own. That saves an instruction and a register, and
//! takes a read of file A at each use: code is made with and without.

use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::dce;
use crate::ir::{Block, Inst, Op, Shader, Value};

/// A shader in which fewer instructions than one of so many would be parts has little to gain.
const FEW: usize = 32;

/// The shader with a part of its own for each user of one, if all of them can take it for nothing; `None` if such parts are few.
pub fn run(shader: &Shader) -> Option<Shader> {
    let counts = shader.use_counts();
    let mut parted = shader.per_value::<u32>();
    let mut takers: FxHashMap<Inst, Value> = FxHashMap::default();
    for block in shader.blocks_in_order() {
        for (inst, value) in takers_in(shader, block) {
            // One that is used nowhere else is taken for nothing as it is.
            let uses = uses_of(shader, inst, value);
            if uses < counts[value] {
                parted[value] += uses;
                takers.insert(inst, value);
            }
        }
    }
    takers.retain(|_, value| parted[*value] == counts[*value]);
    if takers.is_empty() || FEW * takers.len() < shader.insts_in_order().len() {
        return None;
    }
    let mut kept = shader.clone();
    for block in shader.blocks_in_order() {
        let mut insts: Vec<Inst> = Vec::new();
        for &inst in &shader.blocks[block].insts {
            if let Some(&value) = takers.get(&inst) {
                let own = kept.repeat_inst(shader.values[value].inst);
                insts.push(own);
                let part = kept.insts[own].results[0];
                for arg in kept.insts[inst].args.iter_mut().filter(|arg| **arg == value) {
                    *arg = part;
                }
            }
            insts.push(inst);
        }
        kept.blocks[block].insts = insts;
    }
    dce::run(&mut kept);
    Some(kept)
}

/// The operations of a block that can unpack an operand themselves, each with the first one that is a part of a word.
fn takers_in(shader: &Shader, block: Block) -> Vec<(Inst, Value)> {
    let mut here = EntitySet::<Value>::new();
    let mut takers = Vec::new();
    for &inst in &shader.blocks[block].insts {
        let data = &shader.insts[inst];
        let is_part =
            |value: &Value| matches!(shader.op(*value), Op::UnpackFloat(_)) && here.contains(*value);
        let parts: SmallVec<[Value; 2]> = data.args.iter().copied().filter(is_part).collect();
        if let Some(&part) = parts.first() {
            // The unpack would change a plain use of the word, too.
            let word = shader.insts[shader.values[part].inst].args[0];
            if unpacks(data.op) && !data.args.contains(&word) {
                takers.push((inst, part));
            }
        }
        data.results.iter().for_each(|&value| {
            here.insert(value);
        });
    }
    takers
}

/// Whether selection has an operation unpack an operand to a float.
fn unpacks(op: Op) -> bool {
    match op {
        Op::FAdd | Op::FSub | Op::FMul | Op::FMin | Op::FMax | Op::FToS => true,
        Op::Add(op) => op.reads_float(),
        Op::Mul(op) => op.reads_float(),
        _ => false,
    }
}

fn uses_of(shader: &Shader, inst: Inst, value: Value) -> u32 {
    shader.insts[inst].args.iter().filter(|&&arg| arg == value).count() as u32
}

#[cfg(test)]
mod tests {
    use vc4::qpu::Unpack;

    use super::*;
    use crate::ir::verify::verify;
    use crate::ir::{Builder, Stage};

    /// How many parts of words a shader takes that writes what `make` makes of a part of a word, and of that word.
    fn parts(make: impl FnOnce(&mut Builder, Value, Value) -> Vec<Value>) -> usize {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let word = b.emit(Op::Varying(0), &[])[0];
        let part = b.op(Op::UnpackFloat(Unpack::Byte1), &[word]);
        let made = make(&mut b, part, word);
        made.into_iter().for_each(|value| b.emit(Op::TlbColorWrite, &[value]).clear());
        let shader = run(&shader).unwrap_or(shader);
        verify(&shader).expect("parts stand in front of their users");
        let insts = shader.insts_in_order();
        insts.into_iter().filter(|&inst| matches!(shader.insts[inst].op, Op::UnpackFloat(_))).count()
    }

    #[test]
    fn each_user_has_a_part_of_its_own() {
        let made = parts(|b, part, _| {
            let factors = [0.25, 0.5, 0.75].map(|factor| b.float(factor));
            factors.map(|factor| b.op(Op::FMul, &[part, factor])).to_vec()
        });
        assert_eq!(made, 3);
    }

    #[test]
    fn a_part_that_somebody_needs_as_it_is_is_a_value() {
        let with = |make: fn(&mut Builder, Value, Value) -> Value| {
            parts(|b, part, word| {
                let square = b.op(Op::FMul, &[part, part]);
                vec![square, make(b, part, word)]
            })
        };
        assert_eq!(with(|b, part, _| b.op(Op::FAdd, &[part, part])), 2);
        // Integers unpack another way, and an operand is unpacked with all that read its register.
        assert_eq!(with(|b, part, _| b.op(Op::IAdd, &[part, part])), 1);
        assert_eq!(with(|b, part, word| b.op(Op::FAdd, &[part, word])), 1);
    }

    #[test]
    fn few_parts_are_left_alone() {
        let long = |length: usize| {
            parts(|b, part, _| {
                let sums =
                    [0.25, 0.5].map(|factor| b.float(factor)).map(|factor| b.op(Op::FMul, &[part, factor]));
                let half = b.float(0.5);
                sums.map(|sum| (0..length).fold(sum, |sum, _| b.op(Op::FAdd, &[sum, half]))).to_vec()
            })
        };
        assert_eq!([long(8), long(8 * FEW)], [2, 1]);
    }
}
