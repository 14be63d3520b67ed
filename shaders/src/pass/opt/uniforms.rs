//! Words of the uniform stream that operations read in pairs are read once, into a register.
//!
//! An instruction takes one word of the stream. An operation on two of them needs one in a register; where a word meets
//! several others, as the elements of two matrices do, one register serves all of them.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use vc4::qpu::{AddOp, SmallImm};

use crate::ir::{Builder, Inst, Op, Shader, Value};

/// Others that a word must meet; below, a copy for the one operation costs the same.
const MIN_PAIRS: usize = 2;

/// Words that may be kept at a time: half a register file.
const MAX_KEPT: usize = 16;

/// Keeps `words` in registers, which [`choose`] named.
pub fn run(shader: &mut Shader, words: &[Value]) {
    let Some(block) = shader.single_block() else { return };
    let mut copies: FxHashMap<Value, Value> = FxHashMap::default();
    for inst in std::mem::take(&mut shader.blocks[block].insts) {
        if shader.insts[inst].op != Op::Phi {
            for at in 0..shader.insts[inst].args.len() {
                let word = shader.insts[inst].args[at];
                if words.contains(&word) {
                    let copy = *copies.entry(word).or_insert_with(|| {
                        Builder::new(shader, block).emit(Op::Add(AddOp::Or), &[word, word])[0]
                    });
                    shader.insts[inst].args[at] = copy;
                }
            }
        }
        shader.blocks[block].insts.push(inst);
    }
}

/// The words of straight code that cover most pairs.
pub fn choose(shader: &Shader) -> Vec<Value> {
    let Some(block) = shader.single_block() else { return Vec::new() };
    let insts = &shader.blocks[block].insts;
    let mut pairs: Vec<[Value; 2]> = insts.iter().filter_map(|&inst| pair(shader, inst)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut kept = Vec::new();
    while kept.len() < MAX_KEPT {
        let mut counts: SecondaryMap<Value, usize> = SecondaryMap::new();
        for value in pairs.iter().flatten() {
            counts[*value] += 1;
        }
        // The first of those that meet most, for the same code on every host.
        let most =
            pairs.iter().flatten().copied().max_by_key(|&value| (counts[value], std::cmp::Reverse(value)));
        match most {
            Some(value) if counts[value] >= MIN_PAIRS => {
                pairs.retain(|pair| !pair.contains(&value));
                kept.push(value);
            }
            _ => break,
        }
    }
    kept
}

/// Two different words of the stream that one operation reads.
fn pair(shader: &Shader, inst: Inst) -> Option<[Value; 2]> {
    let data = &shader.insts[inst];
    let &[a, b] = &data.args[..] else { return None };
    let arithmetic = matches!(
        data.op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FMin
            | Op::FMax
            | Op::IAdd
            | Op::ISub
            | Op::And
            | Op::Or
            | Op::Xor
    );
    (arithmetic && a != b && is_stream_word(shader, a) && is_stream_word(shader, b))
        .then(|| [a.min(b), a.max(b)])
}

fn is_stream_word(shader: &Shader, value: Value) -> bool {
    match shader.op(value) {
        Op::Uniform(_) => true,
        Op::Const(word) => SmallImm::from_value(word).is_none(),
        _ => false,
    }
}
