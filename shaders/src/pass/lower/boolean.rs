//! Truth values: comparisons stay where a select or a discard looks at them, everything else becomes words
//! that are 0 or all ones. What a branch asks of all elements stays, too.
//!
//! The QPU has one set of flags, and a comparison costs no more than a test of a stored truth value. So each
//! select repeats its comparison, and only logic on truth values needs them as words.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::ir::{Block, Builder, Inst, Op, Replacements, Shader, Type, Value};
use crate::pass::rewrite::{Action, rewrite};

/// The word of a true value.
pub const TRUE: u32 = u32::MAX;

/// Turns boolean logic into words. Afterwards each `Bool` is the result of a comparison, or of [`Op::BAny`] of one.
pub fn run(shader: &mut Shader) {
    let mut words: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    phis(shader, &mut words);
    let Ok(()) = rewrite(shader, |b, data| {
        let args = &data.args;
        let bool_args = || args.iter().all(|&arg| b.shader.values[arg].ty == Type::Bool);
        let word = match data.op {
            Op::ConstBool(truth) => b.word(if truth { TRUE } else { 0 }),
            Op::BAnd | Op::BOr | Op::BXor => {
                let [x, y] = [args[0], args[1]].map(|arg| word_of(b, &mut words, arg));
                let op = match data.op {
                    Op::BAnd => Op::And,
                    Op::BOr => Op::Or,
                    _ => Op::Xor,
                };
                b.op(op, &[x, y])
            }
            Op::BNot => match opposite(b, args[0]) {
                Some(value) => return Ok::<_, std::convert::Infallible>(Action::with(value)),
                None => {
                    let x = word_of(b, &mut words, args[0]);
                    b.op(Op::Not, &[x])
                }
            },
            // The word of a truth value that has one already.
            Op::Select if is_word_of(b.shader, &args[..]) && words[args[0]].is_some() => {
                return Ok(words[args[0]].expand().map_or(Action::Keep, Action::with));
            }
            Op::Select if bool_args() => {
                let [x, y] = [args[1], args[2]].map(|arg| word_of(b, &mut words, arg));
                b.select(args[0], x, y)
            }
            Op::Undef if b.shader.values[data.results[0]].ty == Type::Bool => b.word(0),
            _ => return Ok(Action::Keep),
        };
        let zero = b.word(0);
        // Not folded: a constant condition, too, must be a comparison.
        let truth = b.emit(Op::INe, &[word, zero])[0];
        words[truth] = word.into();
        Ok(Action::with(truth))
    });
}

/// Whether select operands turn a truth value into its word.
fn is_word_of(shader: &Shader, args: &[Value]) -> bool {
    shader.const_of(args[1]) == Some(TRUE) && shader.const_of(args[2]) == Some(0)
}

/// Replaces phis of truth values by phis of words, made at the end of each block that control comes from.
fn phis(shader: &mut Shader, words: &mut SecondaryMap<Value, PackedOption<Value>>) {
    let mut map = Replacements::default();
    for inst in shader.insts_in_order() {
        let data = shader.insts[inst].clone();
        if !data.op.is(Op::Phi) || shader.values[data.results[0]].ty != Type::Bool {
            continue;
        }
        let args: Vec<(Block, Value)> = data
            .phi_blocks
            .iter()
            .zip(&data.args)
            .map(|(&from, &arg)| {
                let mut b = Builder::new(shader, from);
                let (yes, no) = (b.word(TRUE), b.word(0));
                (from, b.select(arg, yes, no))
            })
            .collect();
        let block = block_of(shader, inst);
        let mut b = Builder::new(shader, block);
        let word = b.phi(Type::Word, &args);
        // Behind the phis, in front of everything that may use it.
        let zero = b.word(0);
        let truth = b.emit(Op::INe, &[word, zero])[0];
        let insts = &mut shader.blocks[block].insts;
        let made = insts.split_off(insts.len() - 2);
        insts.retain(|&other| other != inst);
        let at = insts.iter().take_while(|&&other| shader.insts[other].op.is(Op::Phi)).count();
        insts.splice(at..at, made);
        words[truth] = word.into();
        map.insert(data.results[0], truth);
    }
    shader.apply(&map);
}

fn block_of(shader: &Shader, inst: Inst) -> Block {
    let blocks = shader.blocks_in_order();
    blocks
        .into_iter()
        .find(|&block| shader.blocks[block].insts.contains(&inst))
        .expect("it was found in a block")
}

/// The comparison that is true where this one is false. NaNs do not exist on the machine (qpu.md §2.3).
fn opposite(b: &mut Builder, value: Value) -> Option<Value> {
    let args: Vec<Value> = b.shader.args(value).to_vec();
    let (op, swap) = b.shader.op(value).opposite()?;
    let operands = if swap { [args[1], args[0]] } else { [args[0], args[1]] };
    Some(b.emit(op, &operands)[0])
}

/// The word of a truth value.
fn word_of(b: &mut Builder, words: &mut SecondaryMap<Value, PackedOption<Value>>, value: Value) -> Value {
    if let Some(word) = words[value].expand() {
        return word;
    }
    let (yes, no) = (b.word(TRUE), b.word(0));
    // Not remembered: the value may not dominate its next use.
    b.select(value, yes, no)
}
