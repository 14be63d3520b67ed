//! A block's instructions, put together from the end.

mod plan;
mod together;

pub use plan::{Places, Plan};

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::alive::Alive;
use super::remake::{Between, FEW, Known, Remake, Site, operands, takes_room};
use crate::ir::{Block, Inst, Shader, Value};
use crate::pass::analysis::live::Live;
use crate::work;

/// Instructions between a value that is made again and what is alive anyway.
const MOST_BETWEEN: usize = 8;
/// Values that come alive for others that are made again of them.
const MOST_MISSING: usize = 2;
/// Instructions that are placed before it is looked again for what could be made again, if there was nothing.
const PATIENCE: u32 = 8;
/// Places in the order of the shader that a value must be unused for, if making it again is to be worth it.
const LEAST_REST: usize = 16;
/// Instructions of each kind that a step looks at, the last ones: a bound on its work.
const WINDOW: usize = 64;
/// How many more values have to be alive until all of them are looked at again, if there was nothing.
const SLACK: usize = 4;
/// What an order prefers.
#[derive(Clone, Copy, Debug)]
pub struct Preference {
    /// Values alive from which on values are made again: the files hold 64, and making one again takes some meanwhile.
    pub many: usize,
    /// Values alive in an order that is of no use any more.
    pub most: usize,
    /// Values alive from which on all of them are looked at together, if they are.
    pub tight: Option<usize>,
    /// Of instructions that free no register the one that takes fewest comes next; without, the last of the shader's order.
    pub by_growth: bool,
}

/// Instructions whose users all stand, by where they are in the order of the shader.
#[derive(Default)]
struct Ready {
    /// Those between which and their user nothing may come.
    sticking: BTreeSet<usize>,
    /// Those that have no better place than beside their users.
    sinking: BTreeSet<usize>,
    others: BTreeSet<usize>,
}

impl Ready {
    fn remove(&mut self, at: usize) {
        for ready in [&mut self.sticking, &mut self.sinking, &mut self.others] {
            ready.remove(&at);
        }
    }

    /// The last ones of each kind but the first.
    fn latest(&self) -> impl Iterator<Item = usize> + '_ {
        let sinking = self.sinking.iter().rev().take(WINDOW);
        sinking.chain(self.others.iter().rev().take(WINDOW)).copied()
    }

    /// The last one in the order of the shader.
    fn last(&self) -> Option<usize> {
        [&self.sticking, &self.sinking, &self.others].into_iter().filter_map(BTreeSet::last).max().copied()
    }
}

/// A block under way, from its end.
pub struct Order<'a> {
    shader: &'a mut Shader,
    plan: &'a Plan,
    places: &'a Places,
    preference: Preference,
    /// Users, and later effects, that each instruction still waits for.
    waiting: Vec<u32>,
    ready: Ready,
    /// Values alive at the place that was come to, and what making values again takes there.
    live: &'a mut Alive,
    known: &'a mut Known,
    /// Users of each value that stand already.
    users: FxHashMap<Value, SmallVec<[Inst; 4]>>,
    /// What stands, from the end.
    done: Vec<Inst>,
    /// Which instructions stand, and how many users of each value there are up to the last one that does not.
    stands: Vec<bool>,
    rest: FxHashMap<Value, usize>,
}

/// What orders of several blocks take one after the other: it is as large as the shader.
#[derive(Default)]
pub struct Room {
    live: Alive,
    known: Known,
}

impl<'a> Order<'a> {
    /// Of a block of the shader.
    pub fn new(
        shader: &'a mut Shader,
        live: &Live,
        block: Block,
        (plan, places): (&'a Plan, &'a Places),
        room: &'a mut Room,
        preference: Preference,
    ) -> Self {
        room.live.clear();
        room.known.clear();
        let mut order = Order {
            shader,
            plan,
            places,
            preference,
            waiting: plan.waiting.clone(),
            ready: Ready::default(),
            live: &mut room.live,
            known: &mut room.known,
            users: FxHashMap::default(),
            done: Vec::new(),
            stands: vec![false; plan.insts.len()],
            rest: FxHashMap::default(),
        };
        live.behind(block).for_each(|value| order.revive(value));
        for at in 0..order.waiting.len() {
            if order.waiting[at] == 0 {
                order.make_ready(at);
            }
        }
        order
    }

    /// Puts everything in its place; `None` if more values than are of use come alive.
    pub fn run(mut self) -> Option<Vec<Inst>> {
        let mut pause = 0_u32;
        let mut tight = self.preference.tight;
        while let Some(at) = self.best() {
            pause = pause.saturating_sub(1);
            let is_short = self.plan.is_cheap[at] || self.growth(at) < 0;
            if pause == 0 && self.live.values().len() > self.preference.many && !is_short {
                if let Some((value, between)) = self.again() {
                    self.make_again(value);
                    // Users stand in front of what they use.
                    between.into_iter().for_each(|value| self.make_again(value));
                    continue;
                }
                pause = PATIENCE;
            }
            self.put(at);
            let alive = self.live.values().len();
            if tight.is_some_and(|tight| alive > tight) {
                tight = if self.again_together() { self.preference.tight } else { Some(alive + SLACK) };
            }
            if self.live.values().len() > self.preference.most {
                return None;
            }
        }
        let mut insts = self.plan.front.clone();
        insts.extend(self.done.into_iter().rev());
        Some(insts)
    }

    /// Where the instruction that makes a value stands in the order of the shader, if the block has it.
    fn place_of(&self, value: Value) -> Option<usize> {
        self.places.of(self.plan, self.shader.values[value].inst)
    }

    fn make_ready(&mut self, at: usize) {
        let ready = match (self.plan.sticks[at], self.plan.sinks[at]) {
            (true, _) => &mut self.ready.sticking,
            (_, true) => &mut self.ready.sinking,
            _ => &mut self.ready.others,
        };
        ready.insert(at);
    }

    /// Which of those that are ready comes next: what frees registers in the end, small trees first, then what is preferred; of
    /// equals the last.
    fn best(&self) -> Option<usize> {
        if let Some(&at) = self.ready.sticking.last() {
            return Some(at);
        }
        let by = |&at: &usize| {
            let frees = self.frees(at);
            let growth = if frees || self.preference.by_growth { self.growth(at) } else { 0 };
            (!frees, !self.plan.is_cheap[at], growth, Reverse(at))
        };
        work::count(self.ready.sinking.len().min(WINDOW) + self.ready.others.len().min(WINDOW));
        self.ready.latest().min_by_key(by)
    }

    /// Whether a register is free as soon as the instruction, and the few that make its operands, stand.
    fn frees(&self, at: usize) -> bool {
        self.plan.sinks[at] || self.growth(at) < 0
    }

    /// Values alive in front of an instruction that are not behind it, less the others.
    fn growth(&self, at: usize) -> i32 {
        let more = self.plan.room[at].iter().filter(|arg| !self.live.contains(**arg)).count();
        let results = &self.shader.insts[self.plan.insts[at]].results;
        more as i32 - results.iter().filter(|value| self.live.contains(**value)).count() as i32
    }

    fn revive(&mut self, value: Value) {
        if takes_room(self.shader, value) && !self.live.contains(value) {
            self.live.insert(value);
            self.known.changes(value);
        }
    }

    fn kill(&mut self, value: Value) {
        self.live.remove(value);
        self.known.changes(value);
    }

    fn put(&mut self, at: usize) {
        self.ready.remove(at);
        self.stands[at] = true;
        let inst = self.plan.insts[at];
        let results = self.shader.insts[inst].results.clone();
        let is_used =
            results.iter().any(|value| self.users.contains_key(value) || self.plan.escaping.contains(*value));
        results.into_iter().for_each(|value| self.kill(value));
        let stands = is_used || self.shader.insts[inst].op.has_effect();
        for arg in operands(self.shader, inst) {
            if let Some(maker) = self.place_of(arg) {
                self.release(maker);
            }
            let all = self.plan.users(arg);
            let rest = self.rest.entry(arg).or_insert(all.len());
            while *rest > 0 && self.stands[all[*rest - 1]] {
                *rest -= 1;
            }
            if stands {
                self.uses(inst, arg);
            }
        }
        if let Some(before) = self.plan.before[at] {
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
            self.make_ready(at);
        }
    }

    /// The live value to make again here, with what has to be made for it. Best is one whose operands are alive anyway, or that
    /// shares those which are not with more others than they are: it costs few instructions and no register. Of such the one comes
    /// that is not wanted again for longest. Without any, whatever takes few instructions may come: those of its operands that stay
    /// alive for the instruction which made it are wanted even later, so they follow.
    fn again(&mut self) -> Option<(Value, Between)> {
        if self.done.len() >= self.plan.longest {
            return None;
        }
        work::count(self.live.values().len());
        let (plan, places, shader) = (self.plan, self.places, &*self.shader);
        let place_of = |value: Value| places.of(plan, shader.values[value].inst);
        let site = Site {
            operands: |value| place_of(value).map_or(&[][..], |at| &plan.room[at]),
            is_live: |value| self.live.contains(value),
            may_repeat: |value| self.plan.repeatable.contains(value),
            few: FEW,
            users: |value| self.plan.users(value).len(),
            most_between: MOST_BETWEEN,
            most_missing: MOST_MISSING,
        };
        let waits = |value: Value| place_of(value).is_some_and(|at| self.waiting[at] > 0);
        let may = |&value: &Value| self.plan.repeatable.contains(value) && waits(value);
        let values: SmallVec<[Value; 64]> = self.live.values().iter().rev().copied().filter(may).collect();
        values.iter().for_each(|&value| self.known.ask(&site, value));
        let candidates: SmallVec<[(Value, Option<&Remake>); 64]> =
            values.iter().map(|&value| (value, self.known.remake(value))).collect();
        let mut shared: FxHashMap<&[Value], usize> = FxHashMap::default();
        for remake in candidates.iter().filter_map(|(_, remake)| *remake) {
            *shared.entry(&remake.missing).or_default() += 1;
        }
        let now = self.ready.last().unwrap_or(0);
        let rests = |value: Value| self.next_user(value).is_none_or(|user| user + LEAST_REST < now);
        let frees = |remake: &Remake| shared[&remake.missing[..]] > remake.missing.len();
        let best = candidates
            .iter()
            .filter_map(|&(value, remake)| Some((value, remake.filter(|remake| frees(remake))?)))
            .filter(|&(value, _)| rests(value))
            .min_by_key(|&(value, _)| self.next_user(value));
        if let Some((value, remake)) = best {
            return Some((value, remake.between.clone()));
        }
        let is_cheap = |value: Value| self.place_of(value).is_some_and(|at| self.plan.is_cheap[at]);
        let cheap = candidates.iter().map(|&(value, _)| value).filter(|&value| is_cheap(value));
        cheap.min_by_key(|&value| self.next_user(value)).map(|value| (value, SmallVec::new()))
    }

    /// The last user of a value that does not stand yet.
    fn next_user(&self, value: Value) -> Option<usize> {
        let all = self.plan.users(value);
        let rest = self.rest.get(&value).copied().unwrap_or(all.len());
        all[..rest].last().copied()
    }

    fn make_again(&mut self, value: Value) {
        let copy = self.shader.repeat_inst(self.shader.values[value].inst);
        let result = self.shader.insts[copy].results[0];
        for user in self.users.remove(&value).unwrap_or_default() {
            for arg in self.shader.insts[user].args.iter_mut().filter(|arg| **arg == value) {
                *arg = result;
            }
        }
        self.kill(value);
        for arg in operands(self.shader, copy) {
            self.uses(copy, arg);
        }
        self.done.push(copy);
    }
}
