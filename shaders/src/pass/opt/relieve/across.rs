//! What is alive across blocks: of few values that are kept others are made again in each block that uses them.

use std::cmp::Reverse;

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cut;
use super::remake::{Copies, is_movable, takes_room};
use crate::ir::{Block, Inst, InstData, Shader, Value, for_each_condition};
use crate::pass::analysis::live::{Live, Lives, Path};
use crate::pass::opt::dce;

/// Instructions that all rounds together may look at, each of which makes again what is alive behind one block.
const MOST_LOOKS: usize = 1 << 19;
/// Instructions of a shader that is of no use any more.
pub const LONGEST: usize = 65_536;

/// Whether no more than `limit` values have to be kept behind blocks, whatever is made again where: of those that cannot be made
/// again behind any block, of all behind the block behind which most are alive. To look for what those of all blocks can be made
/// of would take longer than what is saved where nothing fits.
pub fn fits(shader: &Shader, limit: usize) -> bool {
    let blocks = shader.blocks_in_order();
    let live = Live::of(shader);
    let crowded = || blocks.iter().copied().filter(|&block| live.registers(block) > limit);
    let Some(worst) = crowded().max_by_key(|&block| (live.registers(block), block)) else { return true };
    let places = Places::of(shader, &blocks);
    let alive = |block: Block| live.behind(block).filter(|&value| takes_room(shader, value));
    let has_room = |block: Block| {
        let is_fixed = places.is_fixed(shader, block);
        alive(block).filter(|&value| is_fixed(value)).count() <= limit
    };
    crowded().all(has_room) && places.fit(shader, worst, &alive(worst).collect::<Vec<_>>(), limit)
}

/// Makes values again until no more than `most` are alive behind a block, or as few as can be. Whether these are no more than
/// `limit` (what cannot be made again, and is used behind a block, has to be kept in whatever order), and neither the shader nor
/// the work became too long.
pub fn run(shader: &mut Shader, [most, limit]: [usize; 2]) -> bool {
    let blocks = shader.blocks_in_order();
    let (mut with_code, mut path) = (with_code(shader, &blocks), Path::of(shader));
    // With how many values alive nothing is to be done about a block.
    let mut least: SecondaryMap<Block, usize> = SecondaryMap::with_default(most);
    let mut looks = 0;
    loop {
        let length = blocks.iter().map(|&block| shader.blocks[block].insts.len()).sum::<usize>();
        looks += length;
        if length > LONGEST || looks > MOST_LOOKS {
            return false;
        }
        let lives = Lives::along(shader, &path);
        let counts = lives.registers(shader);
        let mut counts: Vec<(usize, Block)> = counts.filter(|&(count, block)| count > least[block]).collect();
        if counts.is_empty() {
            return true;
        }
        counts.sort_unstable_by_key(|&count| Reverse(count));
        let places = Places::of(shader, &blocks);
        let mut found = None;
        for (count, block) in counts {
            let alive: Vec<Value> = lives.behind(block).filter(|&value| takes_room(shader, value)).collect();
            let Some(kept) = places.kept(shader, block, &alive, most, limit) else { return false };
            if kept.len() < count {
                found = Some((alive, kept));
                break;
            }
            least[block] = count;
        }
        let Some((alive, kept)) = found else { return true };
        places.make_again(shader, &blocks, &alive, &kept);
        dce::run(shader);
        // Which arm of an if comes first depends on which of them has code.
        let code = self::with_code(shader, &blocks);
        if code != with_code {
            (with_code, path) = (code, path.again(shader));
        }
    }
}

/// Which blocks have code.
fn with_code(shader: &Shader, blocks: &[Block]) -> Vec<bool> {
    let is_code = |&inst: &Inst| !shader.insts[inst].op.is_leaf();
    blocks.iter().map(|&block| shader.blocks[block].insts.iter().any(is_code)).collect()
}

/// Where values are made and used.
struct Places {
    /// Where the instruction that makes a value stands: its block, and how many instructions come before it.
    home: SecondaryMap<Value, Option<(Block, u32)>>,
    /// What is looked at where a block ends: by phis behind it, and by an if.
    handed: SecondaryMap<Block, Vec<Value>>,
    /// What control flow looks at.
    conditions: EntitySet<Value>,
}

impl Places {
    fn of(shader: &Shader, blocks: &[Block]) -> Places {
        let mut places = Places {
            home: SecondaryMap::with_capacity(shader.values.len()),
            handed: SecondaryMap::new(),
            conditions: EntitySet::new(),
        };
        let mut place = 0;
        for &block in blocks {
            for &inst in &shader.blocks[block].insts {
                place += 1;
                let data = &shader.insts[inst];
                for &result in &data.results {
                    places.home[result] = Some((block, place));
                }
                for (&from, &arg) in data.phi_blocks.iter().zip(&data.args) {
                    places.handed[from].push(arg);
                }
            }
        }
        for_each_condition(&shader.body, &mut |condition| {
            places.conditions.insert(condition);
        });
        places
    }

    /// Whether a value may be made in several blocks.
    fn may_repeat(&self, shader: &Shader, value: Value) -> bool {
        let data = &shader.insts[shader.values[value].inst];
        self.home[value].is_some()
            && data.results.len() == 1
            && is_movable(data)
            && !self.conditions.contains(value)
    }

    /// What is kept behind a block of which all that is alive there can be made: up to `most` values, near to their uses, or as
    /// few as there can be; `None` if even these are more than `limit`.
    fn kept(
        &self,
        shader: &Shader,
        block: Block,
        alive: &[Value],
        most: usize,
        limit: usize,
    ) -> Option<Vec<Value>> {
        cut::kept(alive, |value| operands(shader, value), self.is_fixed(shader, block), most, limit)
    }

    /// Whether there are up to `limit` values that can be kept behind a block of which all that is alive there can be made.
    fn fit(&self, shader: &Shader, block: Block, alive: &[Value], limit: usize) -> bool {
        cut::is_enough(alive, |value| operands(shader, value), self.is_fixed(shader, block), limit)
    }

    /// Which values are not made again behind a block.
    fn is_fixed<'a>(&'a self, shader: &'a Shader, block: Block) -> impl Fn(Value) -> bool + 'a {
        let handed: FxHashSet<Value> = self.handed[block].iter().copied().collect();
        move |value| !self.may_repeat(shader, value) || handed.contains(&value)
    }

    /// Makes what is not kept in each block that uses it.
    fn make_again(&self, shader: &mut Shader, blocks: &[Block], alive: &[Value], kept: &[Value]) {
        let kept: FxHashSet<Value> = kept.iter().copied().collect();
        let wanted: FxHashSet<Value> = alive.iter().copied().filter(|value| !kept.contains(value)).collect();
        // Instructions are copied as they are now, though what they use is replaced where they stand.
        let mut makers: FxHashMap<Value, InstData> = FxHashMap::default();
        let mut open: Vec<Value> = wanted.iter().copied().collect();
        while let Some(value) = open.pop() {
            if !kept.contains(&value) && !makers.contains_key(&value) {
                makers.insert(value, shader.insts[shader.values[value].inst].clone());
                open.extend(operands(shader, value));
            }
        }
        let mut ends: FxHashMap<Block, Vec<(Inst, usize)>> = FxHashMap::default();
        let mut copies: FxHashMap<Block, Copies<'_>> = FxHashMap::default();
        let is_elsewhere = |value: Value, block: Block| {
            wanted.contains(&value) && self.home[value].is_none_or(|(home, _)| home != block)
        };
        for &block in blocks {
            let mut made = Copies::of(&makers);
            for inst in std::mem::take(&mut shader.blocks[block].insts) {
                for at in 0..shader.insts[inst].args.len() {
                    let data = &shader.insts[inst];
                    let arg = data.args[at];
                    if let Some(&from) = data.phi_blocks.get(at) {
                        if is_elsewhere(arg, from) {
                            ends.entry(from).or_default().push((inst, at));
                        }
                    } else if is_elsewhere(arg, block) {
                        let copy = self.copy(&mut made, shader, arg);
                        shader.insts[inst].args[at] = copy;
                    }
                }
                made.insts.push(inst);
            }
            shader.blocks[block].insts = std::mem::take(&mut made.insts);
            copies.insert(block, made);
        }
        for (block, ends) in ends {
            let Some(made) = copies.get_mut(&block) else { continue };
            for (phi, at) in ends {
                let copy = self.copy(made, shader, shader.insts[phi].args[at]);
                shader.insts[phi].args[at] = copy;
            }
            shader.blocks[block].insts.append(&mut made.insts);
        }
    }

    /// A value that is made again in a block, with all that is not kept for it.
    fn copy(&self, copies: &mut Copies<'_>, shader: &mut Shader, value: Value) -> Value {
        let mut missing: Vec<Value> = Vec::new();
        let mut seen: FxHashSet<Value> = FxHashSet::default();
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            let Some(maker) = copies.missing(value) else { continue };
            if seen.insert(value) {
                missing.push(value);
                open.extend(&maker.args);
            }
        }
        missing.sort_unstable_by_key(|&value| self.home[value].map(|(_, place)| place));
        missing.into_iter().for_each(|value| copies.make(shader, value));
        copies.of_value(value)
    }
}

/// What the instruction that makes a value reads in registers.
fn operands(shader: &Shader, value: Value) -> impl Iterator<Item = Value> + '_ {
    let args = &shader.insts[shader.values[value].inst].args;
    args.iter().copied().filter(|&arg| takes_room(shader, arg))
}
