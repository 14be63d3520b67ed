//! Who needs what: a block's instructions, divided by the sides of the selects that need them.
//!
//! A select makes a **choice**, whose two **arms** hold what only one of its operands needs; arms hold choices in turn.
//! Each arm is a row of pieces with choices between them, counted from its end: piece 0 comes last, choice k stands
//! between pieces k and k - 1. The walk goes backwards through the block, so it has seen all users of an instruction
//! when it comes to it, and everything needed by several of them goes to the innermost arm around them all.
//! Selects of one condition share a choice where their operands allow it.

use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap, entity_impl};
use rustc_hash::FxHashMap;

use super::scope::Scope;
use super::weight::{LONG_ARM, stays_in_front, weight};
use crate::ir::uniform::Uniform;
use crate::ir::{Block, Inst, Op, Shader, Type, Value};
use crate::work;

/// Arms within arms, at most; a bound on the steps of each use and on recursion.
const MAX_DEPTH: u32 = 64;

/// An [`Arm`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArmId(u32);
entity_impl!(ArmId, "arm");

/// A [`Choice`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChoiceId(u32);
entity_impl!(ChoiceId, "choice");

/// What is run on one side of a choice, or the whole block.
#[derive(Default)]
pub struct Arm {
    /// The choice that it belongs to.
    parent: Option<ChoiceId>,
    depth: u32,
    /// Choice k is entry k - 1.
    pub choices: Vec<ChoiceId>,
    /// Instructions of each piece, the last one first.
    pub pieces: Vec<Vec<Inst>>,
    weight: u32,
    /// Of the weight, what is no choosing: neither selects nor what they look at.
    work: u32,
}

impl Arm {
    /// The piece that is as far from the end as anything so far.
    fn first_piece(&self) -> u32 {
        self.choices.len() as u32
    }
}

/// Selects of one condition.
pub struct Choice {
    /// The condition, or that of the first select of those that look at it or at its opposite.
    pub cond: Value,
    /// Where the condition holds, and where it does not.
    pub arms: [ArmId; 2],
    /// The selects, and whether their condition is the opposite one.
    pub selects: Vec<(Inst, bool)>,
    /// Which arms are jumped over; without any, selects stay selects.
    pub skips: [bool; 2],
    around: Place,
}

/// A piece of an arm.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    arm: ArmId,
    piece: u32,
}

/// What a condition compares, the same for opposite conditions.
type Test = (Op, Value, Value);

/// A block's instructions, each in the arm that needs it.
pub struct Demand {
    /// All arms; what is inside comes behind what is around it.
    pub arms: PrimaryMap<ArmId, Arm>,
    /// All choices, in the same order.
    pub choices: PrimaryMap<ChoiceId, Choice>,
    /// What stands in front of everything: phis and what has no code.
    pub front: Vec<Inst>,
    /// The block itself.
    pub root: ArmId,
}

impl Demand {
    /// Of a block.
    pub fn of(shader: &Shader, block: Block, scope: &Scope) -> Demand {
        let mut arms = PrimaryMap::new();
        let root = arms.push(Arm { pieces: vec![Vec::new()], ..Arm::default() });
        let demand = Demand { arms, choices: PrimaryMap::new(), front: Vec::new(), root };
        let mut walk =
            Walk { shader, block, scope, demand, places: SecondaryMap::new(), latest: FxHashMap::default() };
        for &inst in shader.blocks[block].insts.iter().rev() {
            walk.inst(inst);
        }
        let mut demand = walk.demand;
        demand.front.reverse();
        demand.weigh(shader);
        demand
    }

    fn weigh(&mut self, shader: &Shader) {
        // Inner arms were made after those around them.
        for arm in self.arms.keys().rev() {
            let (mut total, mut work) = (0, 0);
            for &inst in self.arms[arm].pieces.iter().flatten() {
                total += weight(shader, inst);
                work += if chooses(shader, inst) { 0 } else { weight(shader, inst) };
            }
            for &choice in &self.arms[arm].choices {
                let choice = &self.choices[choice];
                for arm in choice.arms {
                    total += self.arms[arm].weight;
                    work += self.arms[arm].work;
                }
                total += 2 * choice.selects.len() as u32;
            }
            (self.arms[arm].weight, self.arms[arm].work) = (total, work);
        }
    }

    /// Whether there is anything long enough to be jumped over, if all elements agree.
    pub fn may_skip(&self) -> bool {
        self.arms.iter().any(|(arm, data)| arm != self.root && data.weight >= LONG_ARM.uniform)
    }

    /// Chooses what to jump over. Returns whether there is anything. Some element always has words of `running` that are not zero,
    /// so that nobody jumps over what is for those.
    pub fn choose(&mut self, shader: &Shader, uniform: &Uniform, running: &EntitySet<Value>) -> bool {
        let mut any = false;
        for choice in self.choices.values_mut() {
            let weights = choice.arms.map(|arm| self.arms[arm].weight);
            choice.skips = if uniform.contains(choice.cond) {
                // Most ways through a row of selects come to its end, whatever the first ones jump over.
                let is_long = |arm: ArmId| {
                    let arm = &self.arms[arm];
                    arm.weight >= LONG_ARM.uniform && arm.work >= LONG_ARM.beside
                };
                let long = choice.arms.into_iter().any(is_long);
                weights.map(|weight| long && weight >= LONG_ARM.beside)
            } else {
                weights.map(|weight| weight >= LONG_ARM.divergent)
            };
            if let Some(always) = taken(shader, choice.cond, running) {
                choice.skips[always] = false;
            }
            any |= choice.skips != [false; 2];
        }
        any
    }
}

struct Walk<'a> {
    shader: &'a Shader,
    block: Block,
    scope: &'a Scope,
    demand: Demand,
    /// Where each instruction has to be at the latest.
    places: SecondaryMap<Inst, Option<Place>>,
    /// The choice of each test and arm that comes first in it so far.
    latest: FxHashMap<(ArmId, Test), ChoiceId>,
}

impl Walk<'_> {
    fn inst(&mut self, inst: Inst) {
        work::count(1);
        let data = &self.shader.insts[inst];
        if stays_in_front(data.op) {
            self.demand.front.push(inst);
            return;
        }
        let end = Place { arm: self.demand.root, piece: 0 };
        let fixed =
            !data.op.is_pure() || data.results.iter().any(|&value| self.scope.elsewhere.contains(value));
        let place = match self.places[inst] {
            Some(place) if fixed => self.join(place, end),
            Some(place) => place,
            None => end,
        };
        let divides = data.op.is(Op::Select) && data.args[1..].iter().any(|&arg| self.moves(arg));
        let arm = &mut self.demand.arms[place.arm];
        if divides && arm.depth < MAX_DEPTH {
            self.select(inst, place);
            return;
        }
        let piece = arm.first_piece();
        arm.pieces[piece as usize].push(inst);
        let place = Place { piece, ..place };
        data.args.iter().for_each(|&arg| self.need(arg, place));
    }

    /// Whether a value is made in this block and may be made somewhere else.
    fn moves(&self, value: Value) -> bool {
        let inst = self.shader.values[value].inst;
        let op = self.shader.insts[inst].op;
        self.scope.block_of[inst].expand() == Some(self.block) && !stays_in_front(op)
    }

    fn select(&mut self, inst: Inst, place: Place) {
        let data = &self.shader.insts[inst];
        let &[cond, yes, no] = &data.args[..] else { unreachable!("the verifier counts operands") };
        let (test, opposite) = test(self.shader, cond);
        let latest = self.latest.get(&(place.arm, test)).copied();
        // Its result is there behind it only.
        let latest = latest.filter(|&choice| self.demand.choices[choice].around.piece > place.piece);
        let choice = latest.unwrap_or_else(|| self.choice(place.arm, cond));
        self.latest.insert((place.arm, test), choice);
        let choice = &mut self.demand.choices[choice];
        let inverted = opposite != choice.is_inverted(self.shader);
        choice.selects.push((inst, inverted));
        let (around, [mut then, mut otherwise]) = (choice.around, choice.arms);
        if inverted {
            (then, otherwise) = (otherwise, then);
        }
        let representative = choice.cond;
        self.need(representative, around);
        self.need(cond, around);
        self.need(yes, Place { arm: then, piece: 0 });
        self.need(no, Place { arm: otherwise, piece: 0 });
    }

    /// A new choice in front of everything that its arm holds so far.
    fn choice(&mut self, arm: ArmId, cond: Value) -> ChoiceId {
        let around = &mut self.demand.arms[arm];
        let piece = around.first_piece() + 1;
        let choice = self.demand.choices.next_key();
        around.choices.push(choice);
        around.pieces.push(Vec::new());
        let depth = around.depth + 1;
        let arms = [(); 2].map(|()| {
            let parent = Some(choice);
            self.demand.arms.push(Arm { parent, depth, pieces: vec![Vec::new()], ..Arm::default() })
        });
        let around = Place { arm, piece };
        self.demand.choices.push(Choice { cond, arms, selects: Vec::new(), skips: [false; 2], around })
    }

    fn need(&mut self, value: Value, place: Place) {
        if self.moves(value) {
            let inst = self.shader.values[value].inst;
            let place = self.places[inst].map_or(place, |other| self.join(place, other));
            self.places[inst] = Some(place);
        }
    }

    /// The last place from which both places can be reached.
    fn join(&self, mut a: Place, mut b: Place) -> Place {
        while a.arm != b.arm {
            work::count(1);
            let outer =
                if self.demand.arms[a.arm].depth >= self.demand.arms[b.arm].depth { &mut a } else { &mut b };
            let parent = self.demand.arms[outer.arm].parent.expect("all arms are in the block's");
            *outer = self.demand.choices[parent].around;
        }
        Place { piece: a.piece.max(b.piece), ..a }
    }
}

impl Choice {
    fn is_inverted(&self, shader: &Shader) -> bool {
        test(shader, self.cond).1
    }
}

/// What a condition compares, and whether it is the opposite of that.
fn test(shader: &Shader, cond: Value) -> (Test, bool) {
    let op = shader.op(cond);
    let (a, b) = match *shader.args(cond) {
        [a, b] => (a, b),
        _ => (cond, cond),
    };
    match op.opposite() {
        Some((known, swap)) if matches!(op, Op::FNe | Op::INe | Op::FLe | Op::SLe | Op::ULe) => {
            ((known, if swap { b } else { a }, if swap { a } else { b }), true)
        }
        _ => ((op, a, b), false),
    }
}

/// The arm that some element always takes, if one is known.
fn taken(shader: &Shader, cond: Value, running: &EntitySet<Value>) -> Option<usize> {
    match *shader.args(cond) {
        [word, zero] if running.contains(word) && shader.const_of(zero) == Some(0) => match shader.op(cond) {
            Op::INe => Some(0),
            Op::IEq => Some(1),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an instruction only finds out which of several values is taken, or takes it.
fn chooses(shader: &Shader, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    data.op.is(Op::Select)
        || data.results.first().is_some_and(|&result| shader.values[result].ty == Type::Bool)
}
