//! Loops with a constant trip count become straight code.
//!
//! The count is found by running the loop on what is constant in it: a loop counter is, whatever its shape. Exits that
//! depend on other values stay possible: an iteration then runs under the predicate that no element has left
//! before, and values that leave the loop are chosen as elements leave.

use rustc_hash::FxHashMap;

use crate::ir::eval::eval;
use crate::ir::{Block, Inst, Node, Op, Region, Replacements, Shader, Value, has_loop};
use crate::pass::analysis::outside::Outside;
use crate::pass::rewrite::predicate::{Edge, Linear, Map, Stored, is_straight_op};

/// Iterations that a loop may have.
const MAX_TRIPS: usize = 128;

/// Instructions that an unrolled loop may have once the loop counter's constants are folded into them.
const MAX_INSTRUCTIONS: usize = 100;

/// Instructions that the copies may have before that.
const MAX_COPIES: usize = 6000;

/// A loop may have more of both where its counter chooses elements of arrays, because each iteration is a choice among all of them:
/// if no more than one in so many copies is left.
const LEFT_OF_CHOICES: usize = 4;

/// The same of loops that store to arrays, a choice for each word, and stay short: one in so many.
const LEFT_OF_ARRAYS: usize = 2;

/// Words that such a loop stores or keeps: one in so many.
const STORES: usize = 4;

/// Instructions that such a loop may have.
const MAX_OF_ARRAYS: usize = 400;

/// Instructions of a shader that such loops may make longer: others have enough to keep in registers.
const MAX_WITH_ARRAYS: usize = 1500;

/// Copies that such loops may have in a run of the pass, together with those before them; others wait until these are folded.
const MAX_COPIES_OF_CHOICES: usize = 65_536;

/// Instructions that are looked at in a run of the pass, to count iterations.
const MAX_STEPS: usize = 1 << 19;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    if !has_loop(&shader.body) {
        return false;
    }
    let size = shader.insts_in_order().len();
    let outside = Outside::of(shader);
    let mut body = std::mem::take(&mut shader.body);
    let mut unroll = Unroll {
        shader,
        outside,
        map: Replacements::default(),
        count: 0,
        left: MAX_COPIES_OF_CHOICES,
        has_room: size <= MAX_WITH_ARRAYS,
        steps: MAX_STEPS,
    };
    unroll.region(&mut body, false);
    let Unroll { map, count, .. } = unroll;
    shader.body = body;
    shader.apply(&map);
    count > 0
}

struct Unroll<'a> {
    shader: &'a mut Shader,
    /// Who uses what in the shader as it was: no copies use what a loop makes that was not unrolled before.
    outside: Outside,
    map: Replacements,
    count: usize,
    /// Copies that a loop of choices may still have.
    left: usize,
    /// Loops that store to arrays may become longer.
    has_room: bool,
    /// Instructions that may still be looked at.
    steps: usize,
}

impl Unroll<'_> {
    /// Unrolls innermost loops of a region. A loop around one that was unrolled waits for the next run, because its
    /// instructions still name what is being replaced. A loop that is too long by itself may choose by a counter around it:
    /// `in_nest` if the loops around store to arrays and are short with all that is in them.
    fn region(&mut self, region: &mut Region, in_nest: bool) {
        let mut nodes: Region = Vec::with_capacity(region.len());
        let mut rest = std::mem::take(region).into_iter().peekable();
        while let Some(mut node) = rest.next() {
            match &mut node {
                Node::If { then, otherwise, .. } => {
                    self.region(then, in_nest);
                    self.region(otherwise, in_nest);
                }
                Node::Loop(body) => {
                    let inner = self.count;
                    let (Some(&Node::Block(before)), Some(&Node::Block(after))) = (nodes.last(), rest.peek())
                    else {
                        self.region(body, false);
                        nodes.push(node);
                        continue;
                    };
                    let in_nest = in_nest || self.is_short_nest(body, before);
                    self.region(body, in_nest);
                    if self.count == inner && self.unroll(body, before, after, in_nest) {
                        self.count += 1;
                        continue;
                    }
                }
                _ => {}
            }
            nodes.push(node);
        }
        *region = nodes;
    }

    /// Replaces a loop by its iterations at the end of `before`, if that is possible.
    fn unroll(&mut self, body: &Region, before: Block, after: Block, in_nest: bool) -> bool {
        let Some(size) = straight_size(self.shader, body) else {
            return false;
        };
        let Some(trips) = self.count_trips(body, before, size, in_nest) else {
            return false;
        };
        self.left = self.left.saturating_sub(trips * size);
        let placed = self.shader.blocks[before].insts.len();
        let values = self.leaving_values(body, after);
        let phis = phis(self.shader, after);
        let (mut stored, mut names) = (Stored::default(), Map::default());
        let mut linear = Linear::copying(self.shader, before, &mut stored, &mut names);
        let mut exits = Exits { phis: &phis, values: &values, chosen: vec![None; phis.len() + values.len()] };
        let mut edges = vec![Edge { from: before, pred: None }];
        let mut active: Option<Value> = None;
        for _ in 0..trips {
            linear.only_where(active);
            let (mut next, _) = linear.region(body, std::mem::take(&mut edges));
            next.append(&mut linear.continues);
            let breaks = std::mem::take(&mut linear.breaks);
            exits.take(&mut linear, &breaks, active);
            edges = next;
            if edges.is_empty() {
                break;
            }
            if !breaks.is_empty() {
                let stays = linear.or(&edges);
                active = linear.and(active, stays);
            }
        }
        let chosen = exits.chosen;
        if !edges.is_empty() {
            // The count was wrong for what folding made of the copies; what was emitted goes again.
            self.shader.blocks[before].insts.truncate(placed);
            return false;
        }
        let results = phis.iter().map(|&phi| self.shader.insts[phi].results[0]);
        for (from, to) in results.chain(values.iter().copied()).zip(chosen) {
            if let Some(to) = to {
                self.map.insert(from, to);
            }
        }
        self.shader.blocks[after].insts.drain(..phis.len());
        true
    }

    /// Runs a loop of so many instructions on constants. Returns the number of iterations after which no element can be left in it;
    /// `None` if it cannot be told, or if these or what is no constant in them are too many.
    fn count_trips(&mut self, body: &Region, before: Block, size: usize, in_nest: bool) -> Option<usize> {
        let mut run = ConstantRun::new(self.shader, self.steps);
        let (left, has_room) = (self.left, self.has_room);
        let trips = run.repeat(body, vec![before], &|trip, run| {
            let copies = trip * size;
            let stores = has_room && (in_nest || stores_to_arrays(copies, run));
            fits(copies, run.size, left) || stores && copies <= left
        });
        self.steps = run.steps;
        trips.map(|(trips, _)| trips)
    }

    /// Whether a loop around others may be unrolled together with all of them.
    fn is_short_nest(&mut self, body: &Region, before: Block) -> bool {
        if !self.has_room || !has_loop(body) {
            return false;
        }
        let mut run = ConstantRun::new(self.shader, self.steps);
        let trips = run.repeat(body, vec![before], &|_, run| run.copies <= MAX_COPIES);
        self.steps = run.steps;
        trips.is_some() && run.copies <= self.left && stores_to_arrays(run.copies, &run)
    }

    /// Values defined in a loop and used outside other than by the phis behind it.
    fn leaving_values(&self, body: &Region, after: Block) -> Vec<Value> {
        self.outside.uses(self.shader, body, &phis(self.shader, after))
    }
}

/// Values that leave the loop, chosen iteration by iteration.
struct Exits<'a> {
    /// Phis behind the loop.
    phis: &'a [Inst],
    /// Values used behind the loop without phi.
    values: &'a [Value],
    /// What each is for the elements that have left.
    chosen: Vec<Option<Value>>,
}

impl Exits<'_> {
    fn take(&mut self, linear: &mut Linear<'_>, breaks: &[Edge], active: Option<Value>) {
        for edge in breaks {
            let pred = linear.and(active, edge.pred);
            for at in 0..self.chosen.len() {
                let value = match self.phis.get(at) {
                    Some(&phi) => linear.phi_arg(phi, edge),
                    // Not yet computed where control breaks: nothing behind the loop may use it on this way.
                    None => {
                        let value = self.values[at - self.phis.len()];
                        Some(linear.get(value)).filter(|&copy| copy != value)
                    }
                };
                let Some(value) = value else {
                    continue;
                };
                self.chosen[at] = Some(match (pred, self.chosen[at]) {
                    (Some(pred), Some(before)) => linear.builder().select(pred, value, before),
                    _ => value,
                });
            }
        }
    }
}

fn phis(shader: &Shader, block: Block) -> Vec<Inst> {
    let insts = shader.blocks[block].insts.iter().copied();
    insts.take_while(|&inst| shader.insts[inst].op.is(Op::Phi)).collect()
}

/// Whether so many copies, of which `folded` are left, may stand for a loop where `left` copies of choices may be made.
fn fits(copies: usize, folded: usize, left: usize) -> bool {
    let few = folded <= MAX_INSTRUCTIONS && copies <= MAX_COPIES;
    few || folded * LEFT_OF_CHOICES <= copies && copies <= left
}

/// Whether a loop does little else than to store to arrays.
fn stores_to_arrays(copies: usize, run: &ConstantRun<'_>) -> bool {
    let short = run.size <= MAX_OF_ARRAYS && run.size * LEFT_OF_ARRAYS <= copies;
    short && run.stored * STORES >= run.copies
}

/// Instructions of a loop body without inner loops and returns; `None` for other bodies.
fn straight_size(shader: &Shader, region: &Region) -> Option<usize> {
    region.iter().try_fold(0, |sum, node| {
        let size = match node {
            &Node::Block(block) => {
                let insts = &shader.blocks[block].insts;
                // A store would need the value stored before the loop; the front end stores at the shader's end.
                let fits = |op: Op| is_straight_op(op) && !matches!(op, Op::StoreOutput(_));
                insts.iter().all(|&inst| fits(shader.insts[inst].op)).then_some(insts.len())
            }
            Node::If { then, otherwise, .. } => {
                Some(straight_size(shader, then)? + straight_size(shader, otherwise)?)
            }
            Node::Loop(_) | Node::Return => None,
            Node::Break | Node::Continue | Node::Discard => Some(0),
        };
        size.map(|size| sum + size)
    })
}

/// Runs loops on what is constant.
struct ConstantRun<'a> {
    shader: &'a Shader,
    known: FxHashMap<Value, u32>,
    /// Where the loop that runs is left, and where its iterations end early.
    breaks: Vec<Block>,
    continues: Vec<Block>,
    /// A condition was constant in this iteration.
    decided: bool,
    /// Instructions so far, without what merges iterations.
    copies: usize,
    /// Those that are neither constant nor a choice by a constant.
    size: usize,
    /// Choices by what is constant, of a new word or one of an iteration before.
    stored: usize,
    /// Instructions that may still be looked at.
    steps: usize,
}

impl<'a> ConstantRun<'a> {
    fn new(shader: &'a Shader, steps: usize) -> ConstantRun<'a> {
        ConstantRun {
            shader,
            known: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            decided: false,
            copies: 0,
            size: 0,
            stored: 0,
            steps,
        }
    }

    /// Runs a loop as long as `fits` tells of iterations so far. Returns how many there are, and where control leaves it.
    fn repeat(
        &mut self,
        body: &Region,
        mut from: Vec<Block>,
        fits: &dyn Fn(usize, &ConstantRun<'_>) -> bool,
    ) -> Option<(usize, Vec<Block>)> {
        let around = (std::mem::take(&mut self.breaks), std::mem::take(&mut self.continues), self.decided);
        for trip in 1..=MAX_TRIPS {
            self.decided = false;
            self.continues.clear();
            let mut out = self.region(body, from)?;
            out.append(&mut self.continues);
            let ends = out.is_empty();
            if !fits(trip, self) || !ends && !self.decided {
                return None;
            }
            if ends {
                let (breaks, continues, decided) = around;
                let left = std::mem::replace(&mut self.breaks, breaks);
                (self.continues, self.decided) = (continues, decided);
                return (!left.is_empty()).then_some((trip, left));
            }
            from = out;
        }
        None
    }

    fn word(&self, value: Value) -> Option<u32> {
        self.shader.const_of(value).or_else(|| self.known.get(&value).copied())
    }

    fn learn(&mut self, value: Value, word: Option<u32>) {
        match word {
            Some(word) => self.known.insert(value, word),
            None => self.known.remove(&value),
        };
    }

    /// Walks a region; `from` are the blocks that control may come from. Returns those it may leave from; `None` if the iterations of
    /// a loop cannot be told.
    fn region(&mut self, region: &Region, mut from: Vec<Block>) -> Option<Vec<Block>> {
        for node in region {
            if from.is_empty() {
                break;
            }
            match node {
                &Node::Block(block) => {
                    let size = self.shader.blocks[block].insts.len();
                    self.steps = self.steps.checked_sub(size)?;
                    self.block(block, &from);
                    from = vec![block];
                }
                Node::If { cond, then, otherwise } => {
                    let truth = self.word(*cond);
                    self.decided |= truth.is_some();
                    let mut out = Vec::new();
                    if truth != Some(0) {
                        out.append(&mut self.region(then, from.clone())?);
                    }
                    if matches!(truth, None | Some(0)) {
                        out.append(&mut self.region(otherwise, from)?);
                    }
                    from = out;
                }
                Node::Loop(body) => {
                    from = self.repeat(body, from, &|_, run| run.copies <= MAX_COPIES)?.1;
                }
                Node::Break => self.breaks.append(&mut from),
                Node::Continue => self.continues.append(&mut from),
                Node::Return | Node::Discard => from.clear(),
            }
        }
        Some(from)
    }

    fn block(&mut self, block: Block, from: &[Block]) {
        let shader = self.shader;
        let insts = &shader.blocks[block].insts;
        let phis: Vec<Inst> = phis(shader, block);
        let words: Vec<Option<u32>> = phis.iter().map(|&phi| self.phi(phi, from)).collect();
        for (&phi, word) in phis.iter().zip(words) {
            self.learn(shader.insts[phi].results[0], word);
        }
        self.copies += insts.len() - phis.len();
        for &inst in &insts[phis.len()..] {
            let data = &shader.insts[inst];
            if let &[result] = &data.results[..] {
                let args: Option<Vec<u32>> = data.args.iter().map(|&arg| self.word(arg)).collect();
                let word = args.filter(|args| !args.is_empty()).and_then(|args| eval(data.op, &args));
                // As an element of an array of arrays is found: both indices are those of the element.
                let never = matches!(data.op, Op::And | Op::BAnd)
                    && data.args.iter().any(|&arg| self.word(arg) == Some(0));
                let word = word.or(never.then_some(0));
                let chosen = data.op.is(Op::Select) && self.word(data.args[0]).is_some();
                self.size += usize::from(word.is_none() && !chosen);
                let stored = chosen && data.args[1..].iter().any(|&arg| shader.op(arg).is(Op::Phi));
                self.stored += usize::from(stored);
                self.learn(result, word);
            }
        }
    }

    /// The word that a phi has on every way that control may come.
    fn phi(&self, phi: Inst, from: &[Block]) -> Option<u32> {
        let data = &self.shader.insts[phi];
        let mut only = None;
        for (&arg, block) in data.args.iter().zip(&data.phi_blocks) {
            if !from.contains(block) {
                continue;
            }
            let word = self.word(arg)?;
            if only.is_some_and(|only| only != word) {
                return None;
            }
            only = Some(word);
        }
        only
    }
}
