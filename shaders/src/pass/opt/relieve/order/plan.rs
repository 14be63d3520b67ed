//! What is known of a block before its instructions are put together in another order: it is the same for all orders.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ir::{Block, Inst, Op, Shader, Type, Value};
use crate::pass::analysis::live::Live;
use crate::pass::opt::relieve::conditions::sets_flags;
use crate::pass::opt::relieve::remake::{in_registers, is_movable, operands};
use crate::work;

/// Instructions that making a value again may take: three lookups, their places, and an interpolation between them.
const MOST_AGAIN: usize = 32;
/// Instructions that make a value, from which on it has no better place beside its uses than elsewhere.
const MOST_SUNK: usize = 512;
/// A block may become this many times as long.
const MOST_GROWTH: usize = 3;

/// A block whose instructions are to be put in another order.
pub struct Plan {
    /// Values that are used behind the block, or by control flow at its end.
    pub escaping: EntitySet<Value>,
    /// What stays at the front: phis, inputs, and what needs no register.
    pub front: Vec<Inst>,
    /// The other instructions, in the order of the shader.
    pub insts: Vec<Inst>,
    block: Block,
    /// Users, and later effects, that each waits for.
    pub waiting: Vec<u32>,
    /// What each waits for that acts on something outside, or sees such actions: the one before.
    pub before: Vec<Option<usize>>,
    /// The operands of each that are in registers.
    pub room: Vec<SmallVec<[Value; 4]>>,
    /// Values that an instruction of the block makes that may stand twice.
    pub repeatable: EntitySet<Value>,
    /// The places of each value's users in the order of the shader.
    users: FxHashMap<Value, Vec<usize>>,
    /// Those that [`MOST_AGAIN`] instructions make, with all that they need.
    pub is_cheap: Vec<bool>,
    /// Those that are made of little else than inputs: their uses are the best place for them.
    pub sinks: Vec<bool>,
    /// Comparisons, and what sets the flags for them: no instruction may come between these and their user.
    pub sticks: Vec<bool>,
    /// Instructions that the block may have in the end.
    pub longest: usize,
}

/// Where instructions are in the plans of their blocks. It is as large as the shader, whose blocks may be many and short.
#[derive(Default)]
pub struct Places(SecondaryMap<Inst, (PackedOption<Block>, u32)>);

impl Places {
    /// Where an instruction is in the order of the shader, if that is in this plan.
    pub fn of(&self, plan: &Plan, inst: Inst) -> Option<usize> {
        self.within(plan.block, inst)
    }

    fn within(&self, block: Block, inst: Inst) -> Option<usize> {
        let (home, at) = self.0[inst];
        (home.expand() == Some(block)).then_some(at as usize)
    }
}

impl Plan {
    /// Of a block of the shader, whose instructions get their places.
    pub fn new(shader: &Shader, live: &Live, block: Block, places: &mut Places) -> Plan {
        let stays = |inst: &Inst| {
            let data = &shader.insts[*inst];
            data.op.is(Op::Phi) || (data.args.is_empty() && data.op.is_pure())
        };
        let all = &shader.blocks[block].insts;
        let longest = MOST_GROWTH * all.len();
        let (front, insts): (Vec<Inst>, Vec<Inst>) = all.iter().partition(|inst| stays(inst));
        places.0.resize(shader.insts.len());
        for (at, &inst) in (0..).zip(&insts) {
            places.0[inst] = (block.into(), at);
        }
        let (mut waiting, mut before) = (vec![0; insts.len()], vec![None; insts.len()]);
        let mut users: FxHashMap<Value, Vec<usize>> = FxHashMap::default();
        let mut last = None;
        let mut room = Vec::with_capacity(insts.len());
        for (at, &inst) in insts.iter().enumerate() {
            for arg in operands(shader, inst) {
                users.entry(arg).or_default().push(at);
                if let Some(maker) = places.within(block, shader.values[arg].inst) {
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
        let mut plan = Plan {
            escaping: EntitySet::new(),
            front,
            insts,
            block,
            waiting,
            before,
            room,
            repeatable: EntitySet::new(),
            users,
            is_cheap: Vec::new(),
            sinks: Vec::new(),
            sticks: Vec::new(),
            longest,
        };
        plan.escaping.extend(live.behind(block));
        plan.repeatable = plan.repeatable(shader);
        for at in 0..plan.insts.len() {
            let is_cheap = || plan.is_cheap(shader, places, plan.insts[at], &mut SmallVec::new());
            let may_be_cheap = plan.may_be_cheap(shader, places, at);
            debug_assert!(may_be_cheap || !is_cheap());
            let is_cheap = may_be_cheap && is_cheap();
            plan.is_cheap.push(is_cheap);
        }
        plan.sinks = plan.sinks(shader, places);
        plan.sticks = plan.insts.iter().map(|&inst| plan.sticks(shader, inst)).collect();
        plan
    }

    /// Where the users of a value are.
    pub fn users(&self, value: Value) -> &[usize] {
        self.users.get(&value).map_or(&[], |users| users)
    }

    /// Whether an instruction only says what the next one does.
    fn sticks(&self, shader: &Shader, inst: Inst) -> bool {
        let [value] = shader.insts[inst].results[..] else { return false };
        let is_condition = |value: Value| shader.values[value].ty == Type::Bool;
        if self.escaping.contains(value) {
            return false;
        }
        match self.users(value) {
            _ if is_condition(value) => true,
            &[user] => {
                let user = &shader.insts[self.insts[user]];
                user.results.iter().all(|&result| is_condition(result)) && sets_flags(shader, user, value, 1)
            }
            _ => false,
        }
    }

    /// Which instructions are at the top of small trees. What several branches of a tree share counts for each of them.
    fn sinks(&self, shader: &Shader, places: &Places) -> Vec<bool> {
        let mut weights: Vec<usize> = Vec::with_capacity(self.insts.len());
        for &inst in &self.insts {
            let data = &shader.insts[inst];
            let mut weight: usize = if data.op.is_pure() { 1 } else { MOST_SUNK };
            for &arg in &data.args {
                let home = places.of(self, shader.values[arg].inst);
                weight = weight.saturating_add(home.map_or(0, |home| weights[home]));
            }
            weights.push(weight);
        }
        weights.into_iter().map(|weight| weight < MOST_SUNK).collect()
    }

    /// Which values of the block may be made again in it.
    fn repeatable(&self, shader: &Shader) -> EntitySet<Value> {
        let made = self.insts.iter().filter_map(|&inst| match shader.insts[inst].results[..] {
            [value] if is_movable(&shader.insts[inst]) => Some(value),
            _ => None,
        });
        let mut repeatable = EntitySet::new();
        repeatable.extend(made.filter(|&value| !self.escaping.contains(value)));
        repeatable
    }

    /// Whether what makes an instruction's operands, which stands in front of it, is cheap in each case.
    fn may_be_cheap(&self, shader: &Shader, places: &Places, at: usize) -> bool {
        let mut args = shader.insts[self.insts[at]].args.iter();
        args.all(|&arg| places.of(self, shader.values[arg].inst).is_none_or(|maker| self.is_cheap[maker]))
    }

    /// Adds an instruction and what makes its operands to `all`; whether they can be made again, and are few.
    fn is_cheap(
        &self,
        shader: &Shader,
        places: &Places,
        inst: Inst,
        all: &mut SmallVec<[Inst; MOST_AGAIN]>,
    ) -> bool {
        if places.of(self, inst).is_none() || all.contains(&inst) {
            return true;
        }
        let data = &shader.insts[inst];
        let escapes = data.results.iter().any(|&value| self.escaping.contains(value));
        if all.len() == MOST_AGAIN || !data.op.is_pure() || data.op.crosses_elements() || escapes {
            return false;
        }
        all.push(inst);
        work::count(1);
        data.args.iter().all(|&arg| self.is_cheap(shader, places, shader.values[arg].inst, all))
    }
}
