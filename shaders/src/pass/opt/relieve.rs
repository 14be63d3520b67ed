//! An order of a block's instructions in which few values are alive at a time, for programs that fit in no other.
//!
//! Behind selection lookups are sent in the order of the shader, so a shader that makes many values and uses them in another
//! order keeps all of them. Here blocks are put together from their ends: what uses a result stands there already, and what
//! frees most registers comes next, so that lookups go to where their results are wanted. Where values are still too
//! many, those that take little to make are made again for the uses that stand already.

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::ir::{Block, Inst, Op, Shader, Value, for_each_condition};
use crate::work;

/// Values alive from which on values are made again: the files hold 64, and making one again takes some meanwhile.
const MANY: usize = 40;
/// Instructions that making a value again may take: three lookups, their places, and an interpolation between them.
const MOST_AGAIN: usize = 32;
/// A block may become this many times as long.
const MOST_GROWTH: usize = 3;

/// Reorders every block.
pub fn run(shader: &mut Shader) {
    let escaping = escaping(shader);
    for block in shader.blocks_in_order() {
        let insts = std::mem::take(&mut shader.blocks[block].insts);
        shader.blocks[block].insts = Order::new(shader, &escaping, insts).run();
    }
}

/// Values that are used in other blocks than their own, or by control flow.
fn escaping(shader: &Shader) -> EntitySet<Value> {
    let mut home: SecondaryMap<Inst, Option<Block>> = SecondaryMap::new();
    let blocks = shader.blocks_in_order();
    for &block in &blocks {
        shader.blocks[block].insts.iter().for_each(|&inst| home[inst] = Some(block));
    }
    let mut escaping = EntitySet::new();
    for &block in &blocks {
        for &inst in &shader.blocks[block].insts {
            let data = &shader.insts[inst];
            let is_outside =
                |&value: &Value| data.op == Op::Phi || home[shader.values[value].inst] != Some(block);
            escaping.extend(data.args.iter().copied().filter(is_outside));
        }
    }
    for_each_condition(&shader.body, &mut |condition| {
        escaping.insert(condition);
    });
    escaping
}

/// A block under way, from its end.
struct Order<'a> {
    shader: &'a mut Shader,
    escaping: &'a EntitySet<Value>,
    /// What stays at the front: phis, inputs, and what needs no register.
    front: Vec<Inst>,
    /// The other instructions, in the order of the shader.
    insts: Vec<Inst>,
    place: FxHashMap<Inst, usize>,
    /// Users, and later effects, that each still waits for.
    waiting: Vec<u32>,
    /// What each waits for that acts on something outside, or sees such actions: the one before.
    before: Vec<Option<usize>>,
    ready: Vec<usize>,
    /// Values alive at the place that was come to, the youngest last.
    live: Vec<Value>,
    is_live: FxHashSet<Value>,
    /// Users of each value that stand already.
    users: FxHashMap<Value, SmallVec<[Inst; 4]>>,
    /// What stands, from the end.
    done: Vec<Inst>,
    /// The places of each value's users in the order of the shader, and which of them stand.
    wanted: FxHashMap<Value, Vec<usize>>,
    stands: Vec<bool>,
    /// Those that [`MOST_AGAIN`] instructions make, with all that they need.
    is_cheap: Vec<bool>,
    most: usize,
}

impl<'a> Order<'a> {
    fn new(shader: &'a mut Shader, escaping: &'a EntitySet<Value>, all: Vec<Inst>) -> Self {
        let stays = |inst: &Inst| {
            let data = &shader.insts[*inst];
            data.op == Op::Phi || (data.args.is_empty() && data.op.is_pure())
        };
        let most = MOST_GROWTH * all.len();
        let (front, insts): (Vec<Inst>, Vec<Inst>) = all.into_iter().partition(stays);
        let place: FxHashMap<Inst, usize> = insts.iter().copied().zip(0..).collect();
        let (mut waiting, mut before) = (vec![0; insts.len()], vec![None; insts.len()]);
        let mut wanted: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
        let mut last = None;
        for (at, &inst) in insts.iter().enumerate() {
            for arg in operands(shader, inst) {
                wanted.entry(arg).or_default().push(at);
                if let Some(&maker) = place.get(&shader.values[arg].inst) {
                    waiting[maker] += 1;
                }
            }
            if !shader.insts[inst].op.is_pure() {
                before[at] = last;
                last.into_iter().for_each(|last: usize| waiting[last] += 1);
                last = Some(at);
            }
        }
        let ready = (0..insts.len()).filter(|&at| waiting[at] == 0).collect();
        let stands = vec![false; insts.len()];
        let mut order = Order {
            shader,
            escaping,
            front,
            insts,
            place,
            waiting,
            before,
            ready,
            live: Vec::new(),
            is_live: FxHashSet::default(),
            users: FxHashMap::default(),
            done: Vec::new(),
            wanted,
            stands,
            is_cheap: Vec::new(),
            most,
        };
        order.is_cheap = order.insts.iter().map(|&inst| order.is_cheap(inst, &mut SmallVec::new())).collect();
        for at in 0..order.insts.len() {
            for value in order.shader.insts[order.insts[at]].results.clone() {
                if escaping.contains(value) {
                    order.revive(value);
                }
            }
        }
        order
    }

    fn run(mut self) -> Vec<Inst> {
        while let Some(next) = self.best() {
            if self.live.len() > MANY && !self.frees(self.ready[next]) {
                if let Some(value) = self.again() {
                    self.make_again(value);
                    continue;
                }
            }
            let at = self.ready.swap_remove(next);
            self.put(at);
        }
        let mut insts = self.front;
        insts.extend(self.done.into_iter().rev());
        insts
    }

    /// Which of those that are ready comes next: what frees registers in the end, in front of that what takes the fewest;
    /// of equals the last.
    fn best(&self) -> Option<usize> {
        work::count(self.ready.len());
        let by = |&n: &usize| {
            let at = self.ready[n];
            (!self.frees(at), self.growth(self.insts[at]), std::cmp::Reverse(at))
        };
        (0..self.ready.len()).min_by_key(by)
    }

    /// Whether a register is free as soon as the instruction, and the few that make its operands, stand.
    fn frees(&self, at: usize) -> bool {
        self.is_cheap[at] || self.growth(self.insts[at]) < 0
    }

    /// Values alive in front of an instruction that are not behind it, less the others.
    fn growth(&self, inst: Inst) -> i32 {
        let more = operands(self.shader, inst).into_iter().filter(|&arg| self.takes_room(arg));
        let more = more.filter(|&arg| !self.is_live.contains(&arg)).count();
        let results = &self.shader.insts[inst].results;
        more as i32 - results.iter().filter(|value| self.is_live.contains(value)).count() as i32
    }

    /// Whether a value is in a register: not one of the stream, and no immediate.
    fn takes_room(&self, value: Value) -> bool {
        !matches!(self.shader.op(value), Op::Const(_) | Op::ConstBool(_) | Op::Uniform(_) | Op::Undef)
    }

    fn revive(&mut self, value: Value) {
        if self.takes_room(value) && self.is_live.insert(value) {
            self.live.push(value);
        }
    }

    fn end(&mut self, value: Value) {
        if self.is_live.remove(&value) {
            self.live.retain(|&other| other != value);
        }
    }

    fn put(&mut self, at: usize) {
        self.stands[at] = true;
        let inst = self.insts[at];
        let results = self.shader.insts[inst].results.clone();
        let is_used =
            results.iter().any(|value| self.users.contains_key(value) || self.escaping.contains(*value));
        results.into_iter().for_each(|value| self.end(value));
        let stands = is_used || self.shader.insts[inst].op.has_effect();
        for arg in operands(self.shader, inst) {
            if let Some(&maker) = self.place.get(&self.shader.values[arg].inst) {
                self.release(maker);
            }
            if stands {
                self.uses(inst, arg);
            }
        }
        if let Some(before) = self.before[at] {
            self.release(before);
        }
        if stands {
            self.done.push(inst);
        }
    }

    fn uses(&mut self, inst: Inst, value: Value) {
        self.users.entry(value).or_default().push(inst);
        self.revive(value);
    }

    fn release(&mut self, at: usize) {
        self.waiting[at] -= 1;
        if self.waiting[at] == 0 {
            self.ready.push(at);
        }
    }

    /// The live value to make again here: the one that is not wanted again for longest. Those of its operands that stay alive
    /// for the instruction which made it are wanted even later, so they follow.
    fn again(&self) -> Option<Value> {
        if self.done.len() >= self.most {
            return None;
        }
        work::count(self.live.len());
        let may = |value: &&Value| {
            let inst = self.shader.values[**value].inst;
            let data = &self.shader.insts[inst];
            let waits = self.place.get(&inst).is_some_and(|&at| self.is_cheap[at] && self.waiting[at] > 0);
            waits && data.results.len() == 1
        };
        let values = self.live.iter().rev().filter(may).copied();
        values.min_by_key(|&value| self.next_user(value))
    }

    /// Adds an instruction and what makes its operands to `all`; whether they can be made again, and are few.
    fn is_cheap(&self, inst: Inst, all: &mut SmallVec<[Inst; MOST_AGAIN]>) -> bool {
        if !self.place.contains_key(&inst) || all.contains(&inst) {
            return true;
        }
        let data = &self.shader.insts[inst];
        let escapes = data.results.iter().any(|&value| self.escaping.contains(value));
        if all.len() == MOST_AGAIN || !data.op.is_pure() || data.op.crosses_elements() || escapes {
            return false;
        }
        all.push(inst);
        work::count(1);
        data.args.iter().all(|&arg| self.is_cheap(self.shader.values[arg].inst, all))
    }

    /// The last user of a value that does not stand yet.
    fn next_user(&self, value: Value) -> Option<usize> {
        self.wanted.get(&value)?.iter().rev().copied().find(|&at| !self.stands[at])
    }

    fn make_again(&mut self, value: Value) {
        let data = self.shader.insts[self.shader.values[value].inst].clone();
        let ty = self.shader.values[value].ty;
        let copy = self.shader.make_inst(data.op, data.args, &[ty], data.relaxed);
        (self.shader.insts[copy].exact, self.shader.insts[copy].line) = (data.exact, data.line);
        let result = self.shader.insts[copy].results[0];
        for user in self.users.remove(&value).unwrap_or_default() {
            for arg in self.shader.insts[user].args.iter_mut().filter(|arg| **arg == value) {
                *arg = result;
            }
        }
        self.end(value);
        for arg in operands(self.shader, copy) {
            self.uses(copy, arg);
        }
        self.done.push(copy);
    }
}

/// The operands of an instruction, each once.
fn operands(shader: &Shader, inst: Inst) -> SmallVec<[Value; 4]> {
    let mut operands = shader.insts[inst].args.clone();
    operands.sort_unstable();
    operands.dedup();
    operands
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
        run(&mut shader);
        shader
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
        assert!(most_alive(&shader) <= MANY + 4, "{} values are alive", most_alive(&shader));
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
