//! Orders of a shader's instructions in which few values are alive at a time, for programs that fit in no other.
//!
//! Behind selection lookups are sent in the order of the shader, so a shader that makes many values and uses them in another
//! order keeps all of them. Here blocks are put together from their ends (`order`): what uses a result stands there
//! already, so that lookups go to where their results are wanted. Where values are still too many, those that take little
//! to make are made again for the uses that stand already. Which order is best depends on the shader: several are made, and the
//! shortest whose code fits is taken.
//!
//! `remake` says what making a value again takes, `alive` what is alive; `conditions` and `spread` prepare a shader, `order` puts
//! a block together.

mod alive;
mod conditions;
mod order;
mod remake;
mod spread;

use crate::ir::Shader;
use crate::pass::analysis::live::Live;
use order::Order;
use remake::takes_room;
use spread::Effort;

pub use order::Preference;

/// Values alive in an order of the IR up to which code may fit: some of them are read where they come from.
const MOST: usize = 72;

/// What is tried, and what is tried where none of that fits: it makes the longest programs.
pub const PREFERENCES: [&[Preference]; 2] = [
    &[
        Preference { many: 40, most: MOST, whatever_it_takes: false },
        Preference { many: 52, most: MOST, whatever_it_takes: false },
    ],
    &[Preference { many: 40, most: MOST, whatever_it_takes: true }],
];

/// The orders of a shader in which no more values are alive than are of use: one in which instructions come as in the
/// shader if they free no register, and one in which those come first that take fewest.
pub fn run(mut shader: Shader, preference: Preference) -> Vec<Shader> {
    // What is alive across a block leaves room for what it computes.
    let most = 3 * preference.many / 4;
    if preference.whatever_it_takes {
        // With comparisons where they are looked at, it is what they compare that is made again.
        conditions::split(&mut shader);
        spread::run(&mut shader, most, &[Effort::TOGETHER, Effort::MUCH]);
    } else {
        spread::run(&mut shader, most, &[Effort::LITTLE]);
        conditions::split(&mut shader);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::Descriptor;
    use crate::ir::{Builder, Node, Op, Stage, Type, Value};

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
        let mut orders = run(shader, PREFERENCES[0][0]);
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
        assert!(
            most_alive(&shader) <= PREFERENCES[0][0].many + 4,
            "{} values are alive",
            most_alive(&shader)
        );
    }

    #[test]
    fn products_of_few_factors_are_made_in_the_arm_that_wants_them() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let mut b = Builder::new(&mut shader, entry);
        let input = b.op(Op::Varying(0), &[]);
        // What comes from other elements is made once: all factors, and more products of them than there are registers.
        let mut factor = |n: u32| {
            let scale = b.float(n as f32);
            let scaled = b.op(Op::FMul, &[input, scale]);
            b.op(Op::Rotate(1), &[scaled])
        };
        let factors: Vec<Value> = (2..20).map(&mut factor).collect();
        let (rows, columns) = factors.split_at(6);
        let pairs = rows.iter().flat_map(|&row| columns.iter().map(move |&column| [row, column]));
        let products: Vec<Value> = pairs.map(|pair| b.op(Op::FMul, &pair)).collect();
        let zero = b.float(0.0);
        let cond = b.op(Op::FLt, &[input, zero]);
        let sums = [then, otherwise].map(|arm| {
            let mut b = Builder::new(&mut shader, arm);
            let first = b.float(if arm == then { 0.0 } else { 1.0 });
            (arm, backwards(&mut b, &products, first))
        });
        let arms = [then, otherwise].map(|arm| vec![Node::Block(arm)]);
        let [then, otherwise] = arms;
        shader.body.extend([Node::If { cond, then, otherwise }, Node::Block(join)]);
        let mut b = Builder::new(&mut shader, join);
        let sum = b.phi(Type::Word, &sums);
        b.emit(Op::TlbColorWrite, &[sum]);

        let [plain, spread] = PREFERENCES.map(|preferences| run(shader.clone(), preferences[0]));
        assert!(plain.is_empty(), "none of the products frees a register by itself");
        assert!(!spread.is_empty(), "together they do");
        for order in spread {
            let live = Live::of(&order);
            let alive = live.behind(entry).filter(|&value| takes_room(&order, value)).count();
            assert!(alive <= factors.len() + 2, "{alive} values are alive in front of the arms");
        }
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
