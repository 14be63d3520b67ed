//! Orders of a shader's instructions in which few values are alive at a time, for programs that fit in no other.
//!
//! Behind selection lookups are sent in the order of the shader, so a shader that makes many values and uses them in another
//! order keeps all of them. Here blocks are put together from their ends (`order`): what uses a result stands there
//! already, so that lookups go to where their results are wanted. Where values are still too many, those that take little
//! to make are made again for the uses that stand already. Which order is best depends on the shader: several are made, and the
//! shortest whose code fits is taken.
//!
//! `cut` finds the fewest values that others can be made of: what has to be kept, and what says at once that nothing fits.
//! `spread`, `conditions` and `across` prepare a shader, so that little is alive where blocks end; `order` puts a block together, with what
//! `remake` says that making a value again takes, and `alive` what is alive.

mod across;
mod alive;
mod conditions;
mod cut;
mod order;
mod remake;
mod spread;

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::ir::{Block, Shader};
use crate::pass::analysis::live::Live;
use crate::pass::opt::unpack;
use across::LONGEST;
use order::{Order, Places, Plan, Preference, Room};

/// Values alive in an order of the IR up to which code may fit: some of them are read where they come from.
const MOST: usize = 72;
/// Values alive across a block up to which it may: what it computes has to have a place, too.
const MOST_ACROSS: usize = 64;
/// How hard it is tried.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Instructions of a shader with which it is not begun.
    pub longest: usize,
    /// Values alive across a block up to which none are made again one by one, those first that take little.
    pub spread: Option<usize>,
    /// Those up to which none are made again whatever that takes, and those with which no order is looked for.
    pub across: [usize; 2],
    /// Values alive in a block from which on they are made again: the files hold 64, and making one again takes some meanwhile.
    pub many: usize,
    /// Those from which on all of them are looked at, and made again together where none frees a register by itself.
    pub tight: Option<usize>,
    /// Those in an order that is of no use any more.
    pub most: usize,
    /// Whether it is of use only where more values were alive than there are places for: they are made again sooner.
    pub is_for_too_many: bool,
    /// Whether nothing else is tried where that does not fit.
    pub is_last: bool,
}

/// What is tried, and what is tried where none of that fits: the last one makes the longest programs.
pub const EFFORTS: [Effort; 3] = [
    FIRST,
    Effort { many: 40, is_for_too_many: true, ..FIRST },
    Effort {
        // What is made again makes it three or four times as long.
        longest: LONGEST / 4,
        spread: None,
        across: [30, MOST_ACROSS],
        many: 40,
        tight: Some(52),
        most: MOST,
        is_for_too_many: false,
        is_last: true,
    },
];

const FIRST: Effort = Effort {
    longest: LONGEST,
    spread: Some(30),
    across: [MOST_ACROSS, MOST_ACROSS],
    many: 52,
    tight: None,
    most: MOST,
    is_for_too_many: false,
    is_last: false,
};

/// A shader whose values live in fewer blocks, as an effort begins with it; `None` if the effort takes no shader so long, or more
/// values have to be kept than there are places for in whatever order.
pub fn spread(shader: &Shader, effort: Effort) -> Option<Shader> {
    if shader.insts_in_order().len() > effort.longest {
        return None;
    }
    let Some(most) = effort.spread else { return Some(shader.clone()) };
    // Only looked at: what is spread has its comparisons where they were.
    let mut split = shader.clone();
    conditions::split(&mut split);
    if !across::fits(&split, effort.across[1]) {
        return None;
    }
    let mut spread = shader.clone();
    spread::run(&mut spread, most);
    Some(spread)
}

/// The orders of a shader that was [`spread`] in which no more values are alive than are of use, made one by one: one in which
/// instructions come as in the shader if they free no register, and one in which those come first that take fewest. `None` if
/// more values have to be kept than there are places for in whatever order, or the shader becomes too long. With `words`, words
/// are kept rather than parts of them: `None` if those are few.
pub fn run(shader: &Shader, effort: Effort, words: bool) -> Option<impl Iterator<Item = Shader>> {
    let mut shader = if words { unpack::run(shader)? } else { shader.clone() };
    // Comparisons go to where they are looked at, so that it is what they compare that is kept.
    conditions::split(&mut shader);
    let mut blocks = across::run(&mut shader, effort.across).then(|| Blocks::of(shader))?;
    Some([false, true].into_iter().filter_map(move |by_growth| {
        let Effort { many, most, tight, .. } = effort;
        blocks.order(Preference { many, most, tight, by_growth })
    }))
}

/// A shader whose blocks are put in other orders.
struct Blocks {
    shader: Shader,
    live: Live,
    /// The blocks in the order in which they are tried: one in which no order was found comes first the next time.
    blocks: Vec<Block>,
    plans: FxHashMap<Block, Plan>,
    places: Places,
}

impl Blocks {
    /// Of a shader. Orders that are of no use end in the longest block, or in one behind which much is alive: these come first.
    fn of(shader: Shader) -> Blocks {
        let live = Live::of(&shader);
        let mut blocks = shader.blocks_in_order().into_vec();
        let length = |block: Block| shader.blocks[block].insts.len();
        let longest = blocks.iter().map(|&block| length(block)).max();
        blocks.sort_by_cached_key(|&block| (Some(length(block)) != longest, Reverse(live.registers(block))));
        Blocks { shader, live, blocks, plans: FxHashMap::default(), places: Places::default() }
    }

    /// The shader in an order, if that is of use.
    fn order(&mut self, preference: Preference) -> Option<Shader> {
        let mut shader = self.shader.clone();
        let mut room = Room::default();
        let failed = self.blocks.iter().position(|&block| {
            let new = || Plan::new(&self.shader, &self.live, block, &mut self.places);
            let plan = &*self.plans.entry(block).or_insert_with(new);
            let plan = (plan, &self.places);
            let order = Order::new(&mut shader, &self.live, block, plan, &mut room, preference).run();
            let is_found = order.is_some();
            order.into_iter().for_each(|insts| shader.blocks[block].insts = insts);
            !is_found
        });
        match failed {
            Some(failed) => {
                self.blocks[..=failed].rotate_right(1);
                None
            }
            None => Some(shader),
        }
    }
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
        let spread = spread(&shader, EFFORTS[0]).expect("little is alive");
        run(&spread, EFFORTS[0], false).and_then(Iterator::last).expect("an order is of use")
    }

    fn backwards(b: &mut Builder, words: &[Value], first: Value) -> Value {
        words.iter().rev().fold(first, |sum, &word| {
            let half = b.op(Op::FMul, &[sum, words[0]]);
            b.op(Op::FAdd, &[half, word])
        })
    }

    /// A value that is made of another one, and not again: it comes from other elements.
    fn made_once(b: &mut Builder, input: Value, n: usize) -> Value {
        let scale = b.float(n as f32);
        let scaled = b.op(Op::FMul, &[input, scale]);
        b.op(Op::Rotate(1), &[scaled])
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
        assert!(most_alive(&shader) <= EFFORTS[0].many + 4, "{} values are alive", most_alive(&shader));
    }

    #[test]
    fn products_of_few_factors_are_made_in_the_arm_that_wants_them() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let mut b = Builder::new(&mut shader, entry);
        let input = b.op(Op::Varying(0), &[]);
        // More products than there are registers.
        let factors: Vec<Value> = (2..20).map(|n| made_once(&mut b, input, n)).collect();
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

        for effort in EFFORTS {
            let spread = spread(&shader, effort).expect("it can be made of few");
            let orders: Vec<Shader> = run(&spread, effort, false).into_iter().flatten().collect();
            assert!(
                !orders.is_empty(),
                "none of the products frees a register by itself, but together they do"
            );
            for order in orders {
                let live = Live::of(&order);
                let alive = live.registers(entry);
                assert!(alive <= effort.across[0], "{alive} values are alive in front of the arms");
            }
        }
    }

    #[test]
    fn what_has_to_be_kept_in_too_many_registers_is_found_at_once() {
        for (count, fits) in [(MOST_ACROSS - 8, true), (MOST_ACROSS + 8, false)] {
            let mut shader = Shader::new(Stage::Fragment);
            let entry = shader.entry().expect("a new shader has a block");
            let end = shader.blocks.push(Default::default());
            shader.body.push(Node::Block(end));
            let mut b = Builder::new(&mut shader, entry);
            let input = b.op(Op::Varying(0), &[]);
            let words: Vec<Value> = (0..count).map(|n| made_once(&mut b, input, n)).collect();
            // More sums than there are registers, all of which can be made of the words.
            let pairs = words.iter().zip(words.iter().cycle().skip(1)).chain(words.iter().zip(&words));
            let sums: Vec<Value> = pairs.map(|(&one, &other)| b.op(Op::FAdd, &[one, other])).collect();
            let mut b = Builder::new(&mut shader, end);
            let sum = backwards(&mut b, &sums, input);
            b.emit(Op::TlbColorWrite, &[sum]);
            assert_eq!(spread(&shader, EFFORTS[0]).is_some(), fits, "{count} words");
        }
    }

    #[test]
    fn a_block_without_an_order_comes_first_the_next_time() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let mut b = Builder::new(&mut shader, entry);
        let input = b.op(Op::Varying(0), &[]);
        let zero = b.float(0.0);
        let cond = b.op(Op::FLt, &[input, zero]);
        // Each of these is wanted by two sums, one behind the other.
        let mut b = Builder::new(&mut shader, then);
        let words: Vec<Value> = (0..80).map(|n| made_once(&mut b, input, n)).collect();
        let sum = [(); 2].iter().fold(input, |sum, ()| backwards(&mut b, &words, sum));
        let arms = [then, otherwise].map(|arm| vec![Node::Block(arm)]);
        let [then_arm, otherwise_arm] = arms;
        shader.body.extend([Node::If { cond, then: then_arm, otherwise: otherwise_arm }, Node::Block(join)]);
        let mut b = Builder::new(&mut shader, join);
        let sum = b.phi(Type::Word, &[(then, sum), (otherwise, input)]);
        let product = (0..1000).fold(sum, |product, _| b.op(Op::FMul, &[product, sum]));
        b.emit(Op::TlbColorWrite, &[product]);

        let mut blocks = Blocks::of(shader);
        assert_eq!(blocks.blocks[0], join, "it is the longest");
        let preference = Preference { many: 52, most: MOST, tight: None, by_growth: false };
        assert!(blocks.order(preference).is_none(), "80 values are alive between the sums");
        assert_eq!(blocks.blocks[0], then);
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
