//! Values that are made in each block that uses them, so that they live in none between.

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::alive::Alive;
use super::remake::{Copies, FEW, Known, Remake, Site, in_registers, is_movable, takes_room};
use crate::ir::{Block, Inst, InstData, Op, Shader, Value, for_each_condition};
use crate::pass::analysis::live::{Live, Path};
use crate::work;

/// Instructions between a value that is made again and what is alive anyway: many, as blocks become little longer.
const MOST_BETWEEN: usize = 48;
/// Values that come alive for others that are made again of them.
const MOST_MISSING: usize = 3;
/// Rounds, each of which looks at the block behind which most is alive.
const ROUNDS: usize = 32;

/// Runs the pass where more than `most` values are alive behind a block.
pub fn run(shader: &mut Shader, most: usize) {
    let blocks = shader.blocks_in_order();
    if blocks.len() == 1 {
        return;
    }
    let path = Path::of(shader);
    let mut places = Places::default();
    for _ in 0..ROUNDS {
        let live = Live::along(shader, &path);
        let alive = |block: Block| live.behind(block).filter(|&value| takes_room(shader, value)).count();
        let Some((count, block)) = blocks.iter().map(|&block| (alive(block), block)).max() else { return };
        if count <= most {
            return;
        }
        places.look(shader, &blocks);
        let chosen = places.choose(shader, live.behind(block).collect(), most);
        if chosen.is_empty() {
            return;
        }
        // Values are copied as they are now, though what they use is replaced where they stand.
        let mut makers: FxHashMap<Value, InstData> = FxHashMap::default();
        for (value, remake) in &chosen {
            for &made in remake.between.iter().chain([value]) {
                makers.entry(made).or_insert_with(|| shader.insts[shader.values[made].inst].clone());
            }
        }
        for (value, remake) in &chosen {
            places.spread(shader, *value, remake, &makers);
        }
    }
}

/// Where values are made and used.
#[derive(Default)]
struct Places {
    home: SecondaryMap<Inst, Option<Block>>,
    /// What each instruction needs in registers.
    room: SecondaryMap<Inst, SmallVec<[Value; 4]>>,
    /// The blocks whose instructions use a value, its own left out.
    users: FxHashMap<Value, Vec<Block>>,
    /// How many instructions use a value.
    uses: SecondaryMap<Value, u32>,
    /// What phis and control flow look at: it has to be where they want it.
    fixed: EntitySet<Value>,
}

impl Places {
    /// Looks at what is made and used now.
    fn look(&mut self, shader: &Shader, blocks: &[Block]) {
        self.users.clear();
        self.uses = shader.use_counts();
        self.fixed.clear();
        self.home.resize(shader.insts.len());
        self.room.resize(shader.insts.len());
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                if self.home[inst].is_none() {
                    self.home[inst] = Some(block);
                    self.room[inst] = in_registers(shader, inst);
                }
            }
        }
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                let data = &shader.insts[inst];
                for &arg in &data.args {
                    if data.op == Op::Phi {
                        self.fixed.insert(arg);
                    } else if self.home[shader.values[arg].inst] != Some(block) {
                        let users = self.users.entry(arg).or_default();
                        if users.last() != Some(&block) {
                            users.push(block);
                        }
                    }
                }
            }
        }
        for_each_condition(&shader.body, &mut |condition| {
            self.fixed.insert(condition);
        });
    }

    /// Which of the values that are alive somewhere are made again where they are used, until `most` are left. Those come first
    /// that take the fewest instructions.
    fn choose(&self, shader: &Shader, alive: Vec<Value>, most: usize) -> Vec<(Value, Remake)> {
        let mut live = Alive::default();
        live.extend(alive.into_iter().filter(|&value| takes_room(shader, value)));
        let mut chosen: Vec<(Value, Remake)> = Vec::new();
        let mut gone: FxHashSet<Value> = FxHashSet::default();
        let mut known = Known::default();
        while live.values().len() > most {
            let candidates = self.candidates(shader, &live, &gone, &mut known);
            let Some((value, remake)) = self.best(&candidates) else { break };
            live.remove(value);
            live.extend(remake.missing.iter().copied());
            for &changed in remake.missing.iter().chain([&value]) {
                known.changes(changed);
            }
            gone.insert(value);
            chosen.push((value, remake));
        }
        chosen
    }

    /// What may be made again of what is alive, and what that takes.
    fn candidates<'a>(
        &self,
        shader: &Shader,
        live: &Alive,
        gone: &FxHashSet<Value>,
        known: &'a mut Known,
    ) -> Vec<(Value, &'a Remake)> {
        let site = Site {
            operands: |value| &self.room[shader.values[value].inst][..],
            is_live: |value| live.contains(value),
            may_repeat: |value| self.may_repeat(shader, value),
            users: |value| self.uses[value] as usize,
            few: FEW,
            most_between: MOST_BETWEEN,
            most_missing: MOST_MISSING,
        };
        let may = |value: &Value| self.may_repeat(shader, *value) && !self.fixed.contains(*value);
        work::count(live.values().len());
        let values: Vec<Value> = live.values().iter().copied().filter(may).collect();
        values.iter().for_each(|&value| known.ask(&site, value));
        let candidates = values.into_iter().filter_map(|value| Some((value, known.remake(value)?)));
        // What was chosen before stays gone.
        candidates
            .filter(|(_, remake)| !remake.missing.iter().any(|missing| gone.contains(missing)))
            .collect()
    }

    /// The value that takes the fewest instructions if it is made again, of those that free a register.
    fn best(&self, candidates: &[(Value, &Remake)]) -> Option<(Value, Remake)> {
        let mut shared: FxHashMap<&[Value], usize> = FxHashMap::default();
        for (_, remake) in candidates {
            *shared.entry(&remake.missing).or_default() += 1;
        }
        let frees = |remake: &Remake| shared[&remake.missing[..]] > remake.missing.len();
        let price = |value: Value, remake: &Remake| {
            (1 + remake.between.len()) * self.users.get(&value).map_or(1, Vec::len)
        };
        let best = candidates.iter().filter(|(_, remake)| frees(remake));
        let best = best.min_by_key(|(value, remake)| (price(*value, remake), *value));
        best.map(|&(value, remake)| (value, remake.clone()))
    }

    /// Whether a value may be made in several blocks.
    fn may_repeat(&self, shader: &Shader, value: Value) -> bool {
        let inst = shader.values[value].inst;
        let data = &shader.insts[inst];
        self.home[inst].is_some() && data.results.len() == 1 && is_movable(data)
    }

    /// Makes a value in each block that uses it.
    fn spread(
        &mut self,
        shader: &mut Shader,
        value: Value,
        remake: &Remake,
        makers: &FxHashMap<Value, InstData>,
    ) {
        for block in self.users.remove(&value).unwrap_or_default() {
            let mut copies = Copies::of(makers);
            let copy = copy(&mut copies, &remake.between, shader, value);
            let copies = copies.insts;
            for &inst in &copies {
                for &arg in &shader.insts[inst].args {
                    let is_other = self.home[shader.values[arg].inst].is_some_and(|home| home != block);
                    let users = self.users.entry(arg).or_default();
                    if is_other && !users.contains(&block) {
                        users.push(block);
                    }
                }
            }
            let insts = std::mem::take(&mut shader.blocks[block].insts);
            let uses =
                |&inst: &Inst| !shader.insts[inst].op.is(Op::Phi) && shader.insts[inst].args.contains(&value);
            let first = insts.iter().position(uses).unwrap_or(insts.len());
            let users: Vec<Inst> = insts.iter().copied().filter(uses).collect();
            for user in users {
                let args = shader.insts[user].args.iter_mut();
                args.filter(|arg| **arg == value).for_each(|arg| *arg = copy);
                self.room[user] = in_registers(shader, user);
            }
            let (before, behind) = insts.split_at(first);
            shader.blocks[block].insts = [before, &copies[..], behind].concat();
        }
    }
}

/// A value that is made again in a block, with the instructions between it and what is alive.
fn copy(copies: &mut Copies<'_>, between: &[Value], shader: &mut Shader, value: Value) -> Value {
    if let Some(data) = copies.missing(value) {
        for &arg in data.args.iter().filter(|arg| between.contains(arg)) {
            copy(copies, between, shader, arg);
        }
        copies.make(shader, value);
    }
    copies.of_value(value)
}
