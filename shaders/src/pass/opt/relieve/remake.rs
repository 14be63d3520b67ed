//! What it takes to make a value where it is not alive.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{Inst, InstData, Op, Shader, Value};
use crate::work;

/// A value with so few users is made again rather than kept for one that is.
pub const FEW: usize = 2;

/// Operands that are looked at for each instruction that may stand between: a bound on the work where much is tried in vain.
const LOOKS: usize = 6;

/// Values that are made for another one only, users first.
pub type Between = SmallVec<[Value; 8]>;

/// Values that are not alive where they are wanted, in order.
pub type Missing = SmallVec<[Value; 4]>;

/// What making a value again takes.
#[derive(Clone, Default)]
pub struct Remake {
    /// Values that are not alive and are made again, too.
    pub between: Between,
    /// Values that would have to live for it.
    pub missing: Missing,
    /// Operands that were looked at, with what was not taken: whether they are alive decides all the rest.
    seen: Vec<Value>,
    /// How many of them were not alive.
    looks: usize,
}

/// A place in a shader.
pub struct Site<O, L, R, U> {
    /// The operands of the instruction that makes a value, those in registers, each once ([`in_registers`]).
    pub operands: O,
    /// Whether a value is alive there.
    pub is_live: L,
    /// Whether the instruction that makes a value may stand there, too.
    pub may_repeat: R,
    /// Users of a value.
    pub users: U,
    /// A value with so few of them is made again rather than kept for one that is.
    pub few: usize,
    /// Instructions that may stand between a value and what is alive anyway.
    pub most_between: usize,
    /// Values that may come alive for a value.
    pub most_missing: usize,
}

impl<'a, O, L, R, U> Site<O, L, R, U>
where
    O: Fn(Value) -> &'a [Value],
    L: Fn(Value) -> bool,
    R: Fn(Value) -> bool,
    U: Fn(Value) -> usize,
{
    /// Adds what the operands of a value take; whether that is little enough.
    fn makes(&self, value: Value, remake: &mut Remake) -> bool {
        for &arg in (self.operands)(value) {
            remake.seen.push(arg);
            if (self.is_live)(arg) || remake.between.contains(&arg) || remake.missing.contains(&arg) {
                continue;
            }
            work::count(1);
            remake.looks += 1;
            if remake.looks > self.most_between * LOOKS {
                return false;
            }
            let (between, missing) = (remake.between.len(), remake.missing.len());
            if between < self.most_between && (self.may_repeat)(arg) {
                remake.between.push(arg);
                if self.makes(arg, remake)
                    && (remake.missing.len() == missing || (self.users)(arg) <= self.few)
                {
                    continue;
                }
                remake.between.truncate(between);
                remake.missing.truncate(missing);
            }
            if missing == self.most_missing {
                return false;
            }
            remake.missing.push(arg);
        }
        true
    }
}

/// What making values again takes, as far as it was asked for: as a place moves, little of what is alive changes.
#[derive(Default)]
pub struct Known {
    answers: FxHashMap<Value, Answer>,
    /// Changes of what is alive so far, and the last one of each value.
    now: u32,
    changed: SecondaryMap<Value, u32>,
}

struct Answer {
    remake: Remake,
    /// Whether that is worth it.
    may: bool,
    /// When it was found.
    at: u32,
}

impl Known {
    /// A value came alive, or is so no more.
    pub fn changes(&mut self, value: Value) {
        self.now += 1;
        self.changed[value] = self.now;
    }

    /// Forgets all answers: the place is in another block.
    pub fn clear(&mut self) {
        self.answers.clear();
    }

    /// Finds out what making a value at a place takes, if it may be other than it was.
    pub fn ask<'a, O, L, R, U>(&mut self, site: &Site<O, L, R, U>, value: Value)
    where
        O: Fn(Value) -> &'a [Value],
        L: Fn(Value) -> bool,
        R: Fn(Value) -> bool,
        U: Fn(Value) -> usize,
    {
        let is_still =
            |answer: &Answer| answer.remake.seen.iter().all(|&seen| self.changed[seen] <= answer.at);
        if self.answers.get(&value).is_some_and(is_still) {
            return;
        }
        let mut remake = Remake::default();
        let may = site.makes(value, &mut remake);
        remake.missing.sort_unstable();
        self.answers.insert(value, Answer { remake, may, at: self.now });
    }

    /// What making a value takes where it was asked for; `None` if it takes more instructions, or more registers, than it is
    /// worth.
    pub fn remake(&self, value: Value) -> Option<&Remake> {
        self.answers.get(&value).filter(|answer| answer.may).map(|answer| &answer.remake)
    }
}

/// The operands of an instruction, each once.
pub fn operands(shader: &Shader, inst: Inst) -> SmallVec<[Value; 4]> {
    let mut operands = shader.insts[inst].args.clone();
    operands.sort_unstable();
    operands.dedup();
    operands
}

/// Those of them that are in registers.
pub fn in_registers(shader: &Shader, inst: Inst) -> SmallVec<[Value; 4]> {
    let mut operands = operands(shader, inst);
    operands.retain(|&mut arg| takes_room(shader, arg));
    operands
}

/// Whether a value is in a register.
pub fn takes_room(shader: &Shader, value: Value) -> bool {
    shader.op(value).takes_register()
}

/// Whether an instruction does the same wherever it stands, as often as it stands.
pub fn is_movable(data: &InstData) -> bool {
    !data.op.is(Op::Phi) && data.op.is_pure() && !data.op.crosses_elements() && !data.args.is_empty()
}

/// Copies, in one block, of instructions that make values again.
pub struct Copies<'a> {
    /// The instructions as they were before what they use was replaced where they stand.
    makers: &'a FxHashMap<Value, InstData>,
    made: FxHashMap<Value, Value>,
    /// The copies that stand nowhere yet, in order.
    pub insts: Vec<Inst>,
}

impl<'a> Copies<'a> {
    /// None yet.
    pub fn of(makers: &'a FxHashMap<Value, InstData>) -> Self {
        Copies { makers, made: FxHashMap::default(), insts: Vec::new() }
    }

    /// The instruction that makes a value, if it is to be copied and was not.
    pub fn missing(&self, value: Value) -> Option<&'a InstData> {
        self.makers.get(&value).filter(|_| !self.made.contains_key(&value))
    }

    /// The copy of a value, or the value where there is none.
    pub fn of_value(&self, value: Value) -> Value {
        self.made.get(&value).copied().unwrap_or(value)
    }

    /// Copies the instruction that makes a value, on copies of its operands as far as there are any.
    pub fn make(&mut self, shader: &mut Shader, value: Value) {
        let data = &self.makers[&value];
        let args = data.args.iter().map(|&arg| self.of_value(arg)).collect();
        let inst = shader.copy_inst(data, args);
        self.insts.push(inst);
        self.made.insert(value, shader.insts[inst].results[0]);
    }
}
