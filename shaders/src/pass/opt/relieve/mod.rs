//! Orders of a shader's instructions in which few values are alive at a time, for programs that fit in no other.
//!
//! Behind selection lookups are sent in the order of the shader, so a shader that makes many values and uses them in another
//! order keeps all of them. Here blocks are put together from their ends ([`order`]): what uses a result stands there
//! already, so that lookups go to where their results are wanted. Where values are still too many, those that take little
//! to make are made again for the uses that stand already. Which order is best depends on the shader: several are made, and the
//! back end gets those that keep fewest values alive.

mod order;
mod remake;
mod spread;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::ir::{Inst, InstData, Op, Shader, Type, Value};
use crate::pass::analysis::live::Live;
use order::Order;

/// What orders prefer.
#[derive(Clone, Copy, Debug)]
pub struct Preference {
    /// Values alive from which on values are made again: the files hold 64, and making one again takes some meanwhile.
    pub many: usize,
    /// Values alive in an order that is of no use any more.
    pub most: usize,
}

/// Values alive in an order of the IR up to which code may fit: some of them are read where they come from.
const MOST: usize = 72;

/// What is tried.
pub const PREFERENCES: [Preference; 2] =
    [Preference { many: 40, most: MOST }, Preference { many: 52, most: MOST }];

/// The orders of a shader in which no more values are alive than are of use: one in which instructions come as in the
/// shader if they free no register, and one in which those come first that take fewest.
pub fn run(mut shader: Shader, preference: Preference) -> Vec<Shader> {
    // What is alive across a block leaves room for what it computes.
    spread::run(&mut shader, 3 * preference.many / 4);
    split_conditions(&mut shader);
    let live = Live::of(&shader);
    let alive = |block| live.behind(block).filter(|&value| takes_room(&shader, value)).count();
    if shader.blocks_in_order().into_iter().any(|block| alive(block) > preference.most) {
        return Vec::new();
    }
    let order = |by_growth| {
        let mut shader = shader.clone();
        for block in shader.blocks_in_order() {
            let insts = std::mem::take(&mut shader.blocks[block].insts);
            let order = Order::new(&mut shader, &live, block, insts, preference, by_growth);
            shader.blocks[block].insts = order.run()?;
        }
        Some(shader)
    };
    [false, true].into_iter().filter_map(order).collect()
}

/// Whether a value is in a register: not one of the stream, and no immediate.
fn takes_room(shader: &Shader, value: Value) -> bool {
    !matches!(shader.op(value), Op::Const(_) | Op::ConstBool(_) | Op::Uniform(_) | Op::Undef)
}

/// Whether an instruction does the same wherever it stands, as often as it stands.
fn is_movable(data: &InstData) -> bool {
    data.op != Op::Phi && data.op.is_pure() && !data.op.crosses_elements() && !data.args.is_empty()
}

/// Gives each user of a comparison one of its own. Flags are set where they are looked at, so that until then it is what is
/// compared that takes registers.
fn split_conditions(shader: &mut Shader) {
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

/// Whether an operand of a comparison is computed by the operation that sets the flags for it.
fn sets_flags(shader: &Shader, comparison: &InstData, word: Value, uses: u32) -> bool {
    let is_test = matches!(comparison.op, Op::IEq | Op::INe)
        && comparison.args.iter().any(|&arg| shader.const_of(arg) == Some(0));
    is_test && uses == 1 && matches!(shader.op(word), Op::And | Op::Or | Op::Xor | Op::IAdd | Op::ISub)
}

/// Another instruction that does what one does, on its own operands.
fn again(shader: &mut Shader, data: &InstData, args: SmallVec<[Value; 4]>) -> Inst {
    let types: SmallVec<[Type; 4]> = data.results.iter().map(|&value| shader.values[value].ty).collect();
    let copy = shader.make_inst(data.op, args, &types, data.relaxed);
    (shader.insts[copy].exact, shader.insts[copy].line) = (data.exact, data.line);
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::Descriptor;
    use crate::ir::{Builder, Stage};

    const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };

    /// A shader that looks up `count` words and then writes what `sum` makes of them.
    fn lookups(count: u32, sum: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Shader {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let place = b.op(Op::Varying(0), &[]);
        let at = b.op(Op::ClampDirect { buffer: BUFFER, last: 4 * count }, &[place]);
        let words: Vec<Value> =
            (0..count).map(|n| b.op(Op::TmuDirect { buffer: BUFFER, offset: 4 * n }, &[at])).collect();
        let result = sum(&mut b, &words);
        b.emit(Op::TlbColorWrite, &[result]);
        let mut orders = run(shader, PREFERENCES[0]);
        orders.pop().expect("an order is of use")
    }

    fn backwards(b: &mut Builder, words: &[Value], first: Value) -> Value {
        words.iter().rev().fold(first, |sum, &word| {
            let half = b.op(Op::FMul, &[sum, words[0]]);
            b.op(Op::FAdd, &[half, word])
        })
    }

    fn count(shader: &Shader, is: impl Fn(Op) -> bool) -> usize {
        shader.insts_in_order().into_iter().filter(|&inst| is(shader.insts[inst].op)).count()
    }

    /// Most values that are used behind a place and made in front of it.
    fn most_alive(shader: &Shader) -> usize {
        let insts = shader.insts_in_order();
        let last = |value: Value| insts.iter().rposition(|&inst| shader.insts[inst].args.contains(&value));
        let lives: Vec<(usize, usize)> = insts
            .iter()
            .enumerate()
            .flat_map(|(at, &inst)| shader.insts[inst].results.iter().map(move |&value| (at, value)))
            .filter_map(|(at, value)| Some((at, last(value)?)))
            .collect();
        let alive = |at: usize| lives.iter().filter(|&&(from, to)| from <= at && at < to).count();
        (0..insts.len()).map(alive).max().unwrap_or(0)
    }

    #[test]
    fn lookups_stand_beside_their_uses() {
        let shader = lookups(64, |b, words| {
            let zero = b.float(0.0);
            backwards(b, words, zero)
        });
        assert_eq!(count(&shader, |op| matches!(op, Op::TmuDirect { .. })), 64, "each once");
        // The place, the factor, the sum and its product, a word, and the constant.
        assert!(most_alive(&shader) <= 6, "{} values are alive", most_alive(&shader));
    }

    #[test]
    fn what_two_sums_want_is_looked_up_again() {
        let shader = lookups(64, |b, words| {
            let zero = b.float(0.0);
            let first = backwards(b, words, zero);
            backwards(b, words, first)
        });
        let made = count(&shader, |op| matches!(op, Op::TmuDirect { .. }));
        assert!(made > 64, "{made} lookups");
        assert!(most_alive(&shader) <= PREFERENCES[0].many + 4, "{} values are alive", most_alive(&shader));
    }

    #[test]
    fn effects_keep_their_order_and_nothing_dead_stays() {
        let shader = lookups(2, |b, words| {
            b.op(Op::FMul, &[words[0], words[1]]);
            b.emit(Op::TlbZWrite, &[words[1]]);
            let old = b.op(Op::TlbColorRead, &[]);
            b.op(Op::FAdd, &[old, words[0]])
        });
        let ops: Vec<Op> = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op).collect();
        let place = |wanted: Op| ops.iter().position(|&op| op == wanted).expect("it has an effect");
        assert!(place(Op::TlbZWrite) < place(Op::TlbColorRead));
        assert!(place(Op::TlbColorRead) < place(Op::TlbColorWrite));
        assert!(!ops.contains(&Op::FMul));
    }
}
