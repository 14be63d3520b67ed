//! Loops with a constant trip count become straight code.
//!
//! The count is found by running the loop on what is constant in it: a loop counter is, whatever its shape. Exits that
//! depend on other values stay possible: an iteration then runs under the predicate that no element has left
//! before, and values that leave the loop are chosen as elements leave.

use cranelift_entity::EntitySet;
use rustc_hash::FxHashMap;

use super::predicate::{Edge, Linear, Map, Stored, is_straight_op};
use crate::ir::eval::eval;
use crate::ir::{Block, Inst, Node, Op, Region, Replacements, Shader, Value, collect_blocks};

/// Iterations that a loop may have.
const MAX_TRIPS: usize = 128;

/// Instructions that an unrolled loop may have.
const MAX_INSTRUCTIONS: usize = 6000;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut body = std::mem::take(&mut shader.body);
    let mut map = Replacements::default();
    let mut count = 0;
    unroll_in(shader, &mut body, &mut map, &mut count);
    shader.body = body;
    shader.apply(&map);
    count > 0
}

/// Unrolls innermost loops of a region. A loop around one that was unrolled waits for the next run, because its
/// instructions still name what is being replaced.
fn unroll_in(shader: &mut Shader, region: &mut Region, map: &mut Replacements, count: &mut usize) {
    let mut nodes: Region = Vec::with_capacity(region.len());
    let mut rest = std::mem::take(region).into_iter().peekable();
    while let Some(mut node) = rest.next() {
        match &mut node {
            Node::If { then, otherwise, .. } => {
                unroll_in(shader, then, map, count);
                unroll_in(shader, otherwise, map, count);
            }
            Node::Loop(body) => {
                let inner = *count;
                unroll_in(shader, body, map, count);
                if let (Some(&Node::Block(before)), Some(&Node::Block(after))) = (nodes.last(), rest.peek()) {
                    if *count == inner && unroll(shader, body, before, after, map) {
                        *count += 1;
                        continue;
                    }
                }
            }
            _ => {}
        }
        nodes.push(node);
    }
    *region = nodes;
}

/// Replaces a loop by its iterations at the end of `before`, if that is possible.
fn unroll(shader: &mut Shader, body: &Region, before: Block, after: Block, map: &mut Replacements) -> bool {
    let Some(size) = straight_size(shader, body) else {
        return false;
    };
    let Some(trips) = count_trips(shader, body, before, MAX_INSTRUCTIONS / size.max(1)) else {
        return false;
    };
    let placed = shader.blocks[before].insts.len();
    let leaving = leaving_values(shader, body, after);
    let exit_phis: Vec<Inst> = phis(shader, after);
    let (mut stored, mut names) = (Stored::default(), Map::default());
    let mut linear = Linear::copying(shader, before, &mut stored, &mut names);
    let mut exits =
        Exits { phis: &exit_phis, values: &leaving, chosen: vec![None; exit_phis.len() + leaving.len()] };
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
        shader.blocks[before].insts.truncate(placed);
        return false;
    }
    let results = exit_phis.iter().map(|&phi| shader.insts[phi].results[0]);
    for (from, to) in results.chain(leaving.iter().copied()).zip(chosen) {
        if let Some(to) = to {
            map.insert(from, to);
        }
    }
    shader.blocks[after].insts.drain(..exit_phis.len());
    true
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
                    None => Some(linear.get(self.values[at - self.phis.len()])),
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
    insts.take_while(|&inst| shader.insts[inst].op == Op::Phi).collect()
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

/// Values defined in a loop and used outside other than by the phis behind it.
fn leaving_values(shader: &Shader, body: &Region, after: Block) -> Vec<Value> {
    let mut blocks = Vec::new();
    collect_blocks(body, &mut blocks);
    let mut inside = EntitySet::<Inst>::new();
    for &block in &blocks {
        for &inst in &shader.blocks[block].insts {
            inside.insert(inst);
        }
    }
    let mut leaving = Vec::new();
    let mut look = |value: Value| {
        if inside.contains(shader.values[value].inst) && !leaving.contains(&value) {
            leaving.push(value);
        }
    };
    let exit_phis = phis(shader, after);
    // The tree is taken apart while the pass runs: look at all blocks except the loop's own.
    for block in shader.blocks.keys().filter(|block| !blocks.contains(block)) {
        for &inst in &shader.blocks[block].insts {
            if !exit_phis.contains(&inst) {
                shader.insts[inst].args.iter().for_each(|&arg| look(arg));
            }
        }
    }
    leaving
}

/// Runs a loop on constants. Returns the number of iterations after which no element can be left in it.
fn count_trips(shader: &Shader, body: &Region, before: Block, most: usize) -> Option<usize> {
    let mut run =
        ConstantRun { shader, known: FxHashMap::default(), breaks: 0, continues: Vec::new(), decided: false };
    let mut from = vec![before];
    for trip in 1..=MAX_TRIPS.min(most) {
        run.decided = false;
        run.continues.clear();
        let mut out = run.region(body, from);
        out.append(&mut run.continues);
        if out.is_empty() {
            return (run.breaks > 0).then_some(trip);
        }
        if !run.decided {
            return None;
        }
        from = out;
    }
    None
}

struct ConstantRun<'a> {
    shader: &'a Shader,
    known: FxHashMap<Value, u32>,
    breaks: usize,
    continues: Vec<Block>,
    /// A condition was constant in this iteration.
    decided: bool,
}

impl ConstantRun<'_> {
    fn word(&self, value: Value) -> Option<u32> {
        self.shader.const_of(value).or_else(|| self.known.get(&value).copied())
    }

    fn learn(&mut self, value: Value, word: Option<u32>) {
        match word {
            Some(word) => self.known.insert(value, word),
            None => self.known.remove(&value),
        };
    }

    /// Walks a region; `from` are the blocks that control may come from. Returns those it may leave from.
    fn region(&mut self, region: &Region, mut from: Vec<Block>) -> Vec<Block> {
        for node in region {
            if from.is_empty() {
                break;
            }
            match node {
                &Node::Block(block) => {
                    self.block(block, &from);
                    from = vec![block];
                }
                Node::If { cond, then, otherwise } => {
                    let truth = self.word(*cond);
                    self.decided |= truth.is_some();
                    let mut out = Vec::new();
                    if truth != Some(0) {
                        out.append(&mut self.region(then, from.clone()));
                    }
                    if matches!(truth, None | Some(0)) {
                        out.append(&mut self.region(otherwise, from));
                    }
                    from = out;
                }
                Node::Break => {
                    self.breaks += 1;
                    from.clear();
                }
                Node::Continue => self.continues.append(&mut from),
                _ => from.clear(),
            }
        }
        from
    }

    fn block(&mut self, block: Block, from: &[Block]) {
        let shader = self.shader;
        let insts = &shader.blocks[block].insts;
        let phis: Vec<Inst> = phis(shader, block);
        let words: Vec<Option<u32>> = phis.iter().map(|&phi| self.phi(phi, from)).collect();
        for (&phi, word) in phis.iter().zip(words) {
            self.learn(shader.insts[phi].results[0], word);
        }
        for &inst in &insts[phis.len()..] {
            let data = &shader.insts[inst];
            if let &[result] = &data.results[..] {
                let args: Option<Vec<u32>> = data.args.iter().map(|&arg| self.word(arg)).collect();
                let word = args.filter(|args| !args.is_empty()).and_then(|args| eval(data.op, &args));
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
