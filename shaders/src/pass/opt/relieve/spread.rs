//! Values that are made in each block that uses them, so that they live in none between.

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::alive::Alive;
use super::remake::{Copies, FEW, Known, Remake, Site, in_registers, is_movable, takes_room};
use crate::ir::{Block, Inst, InstData, Op, Shader, Value, for_each_condition};
use crate::pass::analysis::live::{Lives, Path};
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
    let mut lives = Lives::along(shader, &path);
    let mut places = Places::of(shader, &blocks);
    for _ in 0..ROUNDS {
        let Some((count, block)) = lives.registers(shader).max() else { return };
        if count <= most {
            return;
        }
        let alive = lives.behind(block).filter(|&value| takes_room(shader, value)).collect();
        let chosen = places.choose(shader, alive, most);
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
            places.spread(shader, *value, remake, &makers, &mut lives);
        }
        places.settle();
        debug_assert!(lives.registers(shader).eq(Lives::along(shader, &path).registers(shader)));
    }
}

/// Where values are made and used.
#[derive(Default)]
struct Places {
    home: SecondaryMap<Inst, Option<Block>>,
    /// What each instruction needs in registers.
    room: SecondaryMap<Inst, SmallVec<[Value; 4]>>,
    /// The users of values that are not of their blocks.
    users: FxHashMap<Value, Users>,
    /// How many instructions used a value when a round began, and what changed since.
    uses: SecondaryMap<Value, u32>,
    changes: Vec<(Value, i32)>,
    /// Which block comes when in the shader, and values that users were added to since a round began.
    order: SecondaryMap<Block, usize>,
    added: Vec<Value>,
    /// What phis and control flow look at: it has to be where they want it.
    fixed: EntitySet<Value>,
}

#[derive(Default)]
struct Users {
    insts: SmallVec<[Inst; 4]>,
    /// Their blocks, each once: those that a round began with in the order of the shader.
    blocks: SmallVec<[Block; 4]>,
}

impl Places {
    /// In a shader.
    fn of(shader: &Shader, blocks: &[Block]) -> Places {
        let mut places = Places {
            home: shader.per_inst(),
            room: shader.per_inst(),
            uses: shader.use_counts(),
            ..Places::default()
        };
        for (at, &block) in blocks.iter().enumerate() {
            places.order[block] = at;
            shader.blocks[block].insts.iter().for_each(|&inst| places.stands(shader, inst, block));
        }
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                if shader.insts[inst].op == Op::Phi {
                    places.fixed.extend(shader.insts[inst].args.iter().copied());
                    continue;
                }
                let others = |&&arg: &&Value| places.home[shader.values[arg].inst] != Some(block);
                for &arg in shader.insts[inst].args.iter().filter(others) {
                    let users = places.users.entry(arg).or_default();
                    users.insts.push(inst);
                    if users.blocks.last() != Some(&block) {
                        users.blocks.push(block);
                    }
                }
            }
        }
        for_each_condition(&shader.body, &mut |condition| {
            places.fixed.insert(condition);
        });
        places
    }

    /// Notes where an instruction stands.
    fn stands(&mut self, shader: &Shader, inst: Inst, block: Block) {
        self.home[inst] = Some(block);
        self.room[inst] = in_registers(shader, inst);
    }

    /// Where in the order of the shader the block of an instruction comes.
    fn place(&self, inst: Inst) -> usize {
        self.home[inst].map_or(usize::MAX, |home| self.order[home])
    }

    /// Ends a round.
    fn settle(&mut self) {
        for (value, change) in self.changes.drain(..) {
            self.uses[value] = self.uses[value].wrapping_add_signed(change);
        }
        for value in self.added.drain(..) {
            if let Some(users) = self.users.get_mut(&value) {
                users.blocks.sort_unstable_by_key(|&block| self.order[block]);
            }
        }
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
            (1 + remake.between.len()) * self.users.get(&value).map_or(1, |users| users.blocks.len())
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
        lives: &mut Lives<'_>,
    ) {
        let Users { mut insts, blocks } = self.users.remove(&value).unwrap_or_default();
        insts.sort_by_key(|&inst| self.place(inst));
        for block in blocks {
            let mut copies = Copies::of(makers);
            let copy = copy(&mut copies, &remake.between, shader, value);
            let copies = copies.insts;
            copies.iter().for_each(|&inst| self.stands(shader, inst, block));
            for &inst in &copies {
                for &arg in &shader.insts[inst].args {
                    self.changes.push((arg, 1));
                    if self.home[shader.values[arg].inst] != Some(block) {
                        let users = self.users.entry(arg).or_default();
                        users.insts.push(inst);
                        if !users.blocks.contains(&block) {
                            users.blocks.push(block);
                        }
                        self.added.push(arg);
                        lives.use_in(arg, block);
                    }
                }
            }
            let first = insts.partition_point(|&inst| self.place(inst) < self.order[block]);
            let end = insts.partition_point(|&inst| self.place(inst) <= self.order[block]);
            let here = &insts[first..end];
            for &user in here {
                for arg in shader.insts[user].args.iter_mut().filter(|arg| **arg == value) {
                    *arg = copy;
                    self.changes.extend([(value, -1), (copy, 1)]);
                }
                self.room[user] = in_registers(shader, user);
            }
            let all = &mut shader.blocks[block].insts;
            let first = all.iter().position(|inst| here.contains(inst)).unwrap_or(all.len());
            all.splice(first..first, copies);
        }
        lives.keep_at_home(value);
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
