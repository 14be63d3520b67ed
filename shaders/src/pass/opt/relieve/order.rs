//! A block's instructions, put together from the end.

mod together;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::alive::Alive;
use super::conditions::sets_flags;
use super::remake::{
    Between, FEW, Known, Remake, Site, again, in_registers, is_movable, operands, takes_room,
};
use crate::ir::{Block, Inst, Op, Shader, Type, Value};
use crate::pass::analysis::live::Live;
use crate::work;

/// Instructions that making a value again may take: three lookups, their places, and an interpolation between them.
const MOST_AGAIN: usize = 32;
/// Instructions that make a value, from which on it has no better place beside its uses than elsewhere.
const MOST_SUNK: usize = 512;
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
/// A block may become this many times as long.
const MOST_GROWTH: usize = 3;

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

/// The users of a value, by where they are in the order of the shader.
#[derive(Default)]
struct Users {
    all: Vec<usize>,
    /// How many there are up to the last one that does not stand.
    rest: usize,
}

impl Users {
    fn push(&mut self, at: usize) {
        self.all.push(at);
        self.rest = self.all.len();
    }
}

/// A block under way, from its end.
pub struct Order<'a> {
    shader: &'a mut Shader,
    preference: Preference,
    /// Values that are used behind the block, or by control flow at its end.
    escaping: EntitySet<Value>,
    /// What stays at the front: phis, inputs, and what needs no register.
    front: Vec<Inst>,
    /// The other instructions, in the order of the shader.
    insts: Vec<Inst>,
    place: FxHashMap<Inst, usize>,
    /// Users, and later effects, that each still waits for.
    waiting: Vec<u32>,
    /// What each waits for that acts on something outside, or sees such actions: the one before.
    before: Vec<Option<usize>>,
    ready: Ready,
    /// The operands of each that are in registers.
    room: Vec<SmallVec<[Value; 4]>>,
    /// Values alive at the place that was come to.
    live: Alive,
    known: Known,
    /// Values that an instruction of the block makes that may stand twice.
    repeatable: EntitySet<Value>,
    /// Users of each value that stand already.
    users: FxHashMap<Value, SmallVec<[Inst; 4]>>,
    /// What stands, from the end.
    done: Vec<Inst>,
    /// The places of each value's users in the order of the shader, and which of them stand.
    wanted: FxHashMap<Value, Users>,
    stands: Vec<bool>,
    /// Those that [`MOST_AGAIN`] instructions make, with all that they need.
    is_cheap: Vec<bool>,
    /// Those that are made of little else than inputs: their uses are the best place for them.
    sinks: Vec<bool>,
    /// Comparisons, and what sets the flags for them: no instruction may come between these and their user.
    sticks: Vec<bool>,
    /// Instructions that the block may have in the end.
    longest: usize,
}

impl<'a> Order<'a> {
    /// Of the block whose instructions are `all`.
    pub fn new(
        shader: &'a mut Shader,
        live: &Live,
        block: Block,
        all: Vec<Inst>,
        preference: Preference,
    ) -> Self {
        let stays = |inst: &Inst| {
            let data = &shader.insts[*inst];
            data.op == Op::Phi || (data.args.is_empty() && data.op.is_pure())
        };
        let longest = MOST_GROWTH * all.len();
        let (front, insts): (Vec<Inst>, Vec<Inst>) = all.into_iter().partition(stays);
        let place: FxHashMap<Inst, usize> = insts.iter().copied().zip(0..).collect();
        let (mut waiting, mut before) = (vec![0; insts.len()], vec![None; insts.len()]);
        let mut wanted: FxHashMap<Value, Users> = FxHashMap::default();
        let mut last = None;
        let mut room = Vec::with_capacity(insts.len());
        for (at, &inst) in insts.iter().enumerate() {
            for arg in operands(shader, inst) {
                wanted.entry(arg).or_default().push(at);
                if let Some(&maker) = place.get(&shader.values[arg].inst) {
                    waiting[maker] += 1;
                }
            }
            room.push(in_registers(shader, inst));
            if !shader.insts[inst].op.is_pure() {
                before[at] = last;
                last.into_iter().for_each(|last: usize| waiting[last] += 1);
                last = Some(at);
            }
        }
        let stands = vec![false; insts.len()];
        let mut order = Order {
            shader,
            preference,
            escaping: EntitySet::new(),
            front,
            insts,
            place,
            waiting,
            before,
            ready: Ready::default(),
            room,
            live: Alive::default(),
            known: Known::default(),
            repeatable: EntitySet::new(),
            users: FxHashMap::default(),
            done: Vec::new(),
            wanted,
            stands,
            is_cheap: Vec::new(),
            sinks: Vec::new(),
            sticks: Vec::new(),
            longest,
        };
        order.escaping.extend(live.behind(block));
        order.repeatable = order.repeatable();
        order.is_cheap = order.insts.iter().map(|&inst| order.is_cheap(inst, &mut SmallVec::new())).collect();
        order.sinks = order.sinks();
        order.sticks = order.insts.iter().map(|&inst| order.sticks(inst)).collect();
        live.behind(block).for_each(|value| order.revive(value));
        for at in 0..order.insts.len() {
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
            let is_short = self.is_cheap[at] || self.growth(at) < 0;
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
        let mut insts = self.front;
        insts.extend(self.done.into_iter().rev());
        Some(insts)
    }

    fn make_ready(&mut self, at: usize) {
        let ready = match (self.sticks[at], self.sinks[at]) {
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
            (!frees, !self.is_cheap[at], growth, Reverse(at))
        };
        work::count(self.ready.sinking.len().min(WINDOW) + self.ready.others.len().min(WINDOW));
        self.ready.latest().min_by_key(by)
    }

    /// Whether a register is free as soon as the instruction, and the few that make its operands, stand.
    fn frees(&self, at: usize) -> bool {
        self.sinks[at] || self.growth(at) < 0
    }

    /// Whether an instruction only says what the next one does.
    fn sticks(&self, inst: Inst) -> bool {
        let [value] = self.shader.insts[inst].results[..] else { return false };
        let is_condition = |value: Value| self.shader.values[value].ty == Type::Bool;
        if self.escaping.contains(value) {
            return false;
        }
        let users = self.wanted.get(&value).map_or(&[][..], |users| &users.all);
        match users {
            _ if is_condition(value) => true,
            &[user] => {
                let user = &self.shader.insts[self.insts[user]];
                user.results.iter().all(|&result| is_condition(result))
                    && sets_flags(self.shader, user, value, 1)
            }
            _ => false,
        }
    }

    /// Which instructions are at the top of small trees. What several branches of a tree share counts for each of them.
    fn sinks(&self) -> Vec<bool> {
        let mut weights: Vec<usize> = Vec::with_capacity(self.insts.len());
        for &inst in &self.insts {
            let data = &self.shader.insts[inst];
            let mut weight: usize = if data.op.is_pure() { 1 } else { MOST_SUNK };
            for &arg in &data.args {
                let home = self.place.get(&self.shader.values[arg].inst);
                weight = weight.saturating_add(home.map_or(0, |&home| weights[home]));
            }
            weights.push(weight);
        }
        weights.into_iter().map(|weight| weight < MOST_SUNK).collect()
    }

    /// Values alive in front of an instruction that are not behind it, less the others.
    fn growth(&self, at: usize) -> i32 {
        let more = self.room[at].iter().filter(|arg| !self.live.contains(**arg)).count();
        let results = &self.shader.insts[self.insts[at]].results;
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
        let inst = self.insts[at];
        let results = self.shader.insts[inst].results.clone();
        let is_used =
            results.iter().any(|value| self.users.contains_key(value) || self.escaping.contains(*value));
        results.into_iter().for_each(|value| self.kill(value));
        let stands = is_used || self.shader.insts[inst].op.has_effect();
        for arg in operands(self.shader, inst) {
            if let Some(&maker) = self.place.get(&self.shader.values[arg].inst) {
                self.release(maker);
            }
            if let Some(users) = self.wanted.get_mut(&arg) {
                while users.rest > 0 && self.stands[users.all[users.rest - 1]] {
                    users.rest -= 1;
                }
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
            self.make_ready(at);
        }
    }

    /// The live value to make again here, with what has to be made for it. Best is one whose operands are alive anyway, or that
    /// shares those which are not with more others than they are: it costs few instructions and no register. Of such the one comes
    /// that is not wanted again for longest. Without any, whatever takes few instructions may come: those of its operands that stay
    /// alive for the instruction which made it are wanted even later, so they follow.
    fn again(&mut self) -> Option<(Value, Between)> {
        if self.done.len() >= self.longest {
            return None;
        }
        work::count(self.live.values().len());
        let site = Site {
            operands: |value| {
                self.place.get(&self.shader.values[value].inst).map_or(&[][..], |&at| &self.room[at])
            },
            is_live: |value| self.live.contains(value),
            may_repeat: |value| self.repeatable.contains(value),
            few: FEW,
            users: |value| self.wanted.get(&value).map_or(0, |users| users.all.len()),
            most_between: MOST_BETWEEN,
            most_missing: MOST_MISSING,
        };
        let waits = |value: Value| {
            self.place.get(&self.shader.values[value].inst).is_some_and(|&at| self.waiting[at] > 0)
        };
        let may = |&value: &Value| self.repeatable.contains(value) && waits(value);
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
        let is_cheap = |value: Value| {
            self.place.get(&self.shader.values[value].inst).is_some_and(|&at| self.is_cheap[at])
        };
        let cheap = candidates.iter().map(|&(value, _)| value).filter(|&value| is_cheap(value));
        cheap.min_by_key(|&value| self.next_user(value)).map(|value| (value, SmallVec::new()))
    }

    /// Which values of the block may be made again in it.
    fn repeatable(&self) -> EntitySet<Value> {
        let made = self.insts.iter().filter_map(|&inst| match self.shader.insts[inst].results[..] {
            [value] if is_movable(&self.shader.insts[inst]) => Some(value),
            _ => None,
        });
        let mut repeatable = EntitySet::new();
        repeatable.extend(made.filter(|&value| !self.escaping.contains(value)));
        repeatable
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
        let users = self.wanted.get(&value)?;
        users.all[..users.rest].last().copied()
    }

    fn make_again(&mut self, value: Value) {
        let data = self.shader.insts[self.shader.values[value].inst].clone();
        let copy = again(self.shader, &data, data.args.clone());
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
