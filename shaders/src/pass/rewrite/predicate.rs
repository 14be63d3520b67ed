//! Turns a region without loops into straight code: every branch's both sides run, selects choose.
//!
//! [`crate::pass::opt::flatten`] uses it on ifs, moving their instructions; [`crate::pass::opt::unroll`] on loop bodies, copying them
//! once per iteration. A jump out of the region leaves an edge with a *predicate*: the boolean that tells
//! in which elements control took it. Predicates are relative to the start of the region they are made in.

use rustc_hash::FxHashMap;

use crate::ir::{Block, Builder, Inst, Node, Op, Output, Region, Shader, Value};

/// A way that control takes, from a block; `None` means always.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    /// The block it comes from, as phis name it.
    pub from: Block,
    /// In which elements it is taken.
    pub pred: Option<Value>,
}

/// What stores of outputs become: the value stored last, for a select under a predicate.
pub type Stored = FxHashMap<Output, Value>;

/// What stands for values of the original code, with the order in which it was said.
#[derive(Debug, Default)]
pub struct Map {
    now: FxHashMap<Value, Value>,
    /// Everything ever said, oldest first.
    pub said: Vec<(Value, Value)>,
    /// Blocks that became part of others, which phis do not know yet.
    pub joined: FxHashMap<Block, Block>,
}

/// Region to straight code.
pub struct Linear<'a> {
    /// The shader.
    pub shader: &'a mut Shader,
    /// Where the code goes.
    pub out: Block,
    /// Breaks met so far.
    pub breaks: Vec<Edge>,
    /// Continues met so far.
    pub continues: Vec<Edge>,
    /// Instructions are copied, not moved.
    copy: bool,
    map: &'a mut Map,
    /// Conditions around the current place, outermost first.
    around: Vec<Value>,
    /// Values of outputs so far.
    stored: &'a mut Stored,
}

/// Whether an operation may run where control did not lead, or under a predicate. What changes memory may not, and what
/// orders such changes or asks who is there stays where it is; a load may, because it faults nowhere and keeps its place among them.
pub const fn is_straight_op(op: Op) -> bool {
    !matches!(
        op,
        Op::Store { .. }
            | Op::Atomic { .. }
            | Op::ImageWrite(_)
            | Op::ImageAtomic(..)
            | Op::Fence
            | Op::Barrier
            | Op::Ballot
            | Op::Shuffle
            | Op::VpmWrite(_)
            | Op::TlbColorWrite
            | Op::TlbColorWriteSample
            | Op::TlbZWrite
            | Op::TlbStencilWrite
            | Op::TlbColorRead
            | Op::Coverage
            | Op::CoverageWrite
    )
}

impl<'a> Linear<'a> {
    /// Moves instructions to the end of `out`.
    pub fn moving(
        shader: &'a mut Shader,
        out: Block,
        stored: &'a mut Stored,
        map: &'a mut Map,
    ) -> Linear<'a> {
        Linear {
            shader,
            out,
            breaks: Vec::new(),
            continues: Vec::new(),
            copy: false,
            map,
            around: Vec::new(),
            stored,
        }
    }

    /// Copies instructions to the end of `out`.
    pub fn copying(
        shader: &'a mut Shader,
        out: Block,
        stored: &'a mut Stored,
        map: &'a mut Map,
    ) -> Linear<'a> {
        Linear { copy: true, ..Linear::moving(shader, out, stored, map) }
    }

    /// What stands for a value now.
    pub fn get(&self, value: Value) -> Value {
        self.map.now.get(&value).copied().unwrap_or(value)
    }

    /// Makes `to` stand for `from`.
    pub fn set(&mut self, from: Value, to: Value) {
        if from != to {
            self.map.now.insert(from, to);
            self.map.said.push((from, to));
        }
    }

    /// Everything that follows happens only where `cond` holds.
    pub fn only_where(&mut self, cond: Option<Value>) {
        self.around = cond.into_iter().collect();
    }

    /// A builder at the end of the code.
    pub fn builder(&mut self) -> Builder<'_> {
        Builder::new(self.shader, self.out)
    }

    /// Both predicates.
    pub fn and(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder().band(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Either predicate.
    pub fn or(&mut self, edges: &[Edge]) -> Option<Value> {
        let mut any: Option<Value> = None;
        for edge in edges {
            let pred = edge.pred?;
            any = Some(any.map_or(pred, |any| self.builder().bor(any, pred)));
        }
        any
    }

    fn everywhere(&mut self) -> Option<Value> {
        let conditions = self.around.clone();
        conditions.into_iter().fold(None, |all, cond| self.and(all, Some(cond)))
    }

    /// Emits a region that control enters by `edges`. Returns how it leaves at the end, and whether nothing but
    /// discarded elements left on the way.
    pub fn region(&mut self, region: &Region, mut edges: Vec<Edge>) -> (Vec<Edge>, bool) {
        let depth = self.around.len();
        let mut reached: Option<Value> = None;
        let mut complete = true;
        for node in region {
            match node {
                &Node::Block(block) if !edges.is_empty() => {
                    self.block(block, &edges);
                    edges = vec![Edge { from: block, pred: None }];
                }
                Node::If { cond, then, otherwise } if !edges.is_empty() => {
                    let jumps = (self.breaks.len(), self.continues.len());
                    let (out, whole) = self.branch(*cond, then, otherwise, &edges);
                    self.qualify(jumps, reached);
                    edges = out;
                    if !whole {
                        complete = false;
                        let gone_on = self.or(&edges);
                        reached = self.and(reached, gone_on);
                        self.around.extend(gone_on);
                    }
                }
                Node::Break => {
                    self.breaks.extend(edges.drain(..).map(|edge| Edge { pred: reached, ..edge }));
                    complete = false;
                }
                Node::Continue => {
                    self.continues.extend(edges.drain(..).map(|edge| Edge { pred: reached, ..edge }));
                    complete = false;
                }
                Node::Discard if !edges.is_empty() => {
                    let pred = self.everywhere();
                    let mut b = self.builder();
                    let cond = pred.unwrap_or_else(|| b.truth(true));
                    b.discard_if(cond);
                    edges.clear();
                }
                // Loops and returns are the caller's to exclude; the rest is unreachable.
                _ => {}
            }
        }
        self.around.truncate(depth);
        for edge in &mut edges {
            edge.pred = self.and(reached, edge.pred);
        }
        (edges, complete)
    }

    /// Jumps met since `from` happen only where `cond` holds.
    fn qualify(&mut self, from: (usize, usize), cond: Option<Value>) {
        for at in from.0..self.breaks.len() {
            self.breaks[at].pred = self.and(cond, self.breaks[at].pred);
        }
        for at in from.1..self.continues.len() {
            self.continues[at].pred = self.and(cond, self.continues[at].pred);
        }
    }

    /// Emits both arms of an `If` that control enters by `edges`; the result is as for [`Linear::region`].
    pub fn branch(
        &mut self,
        cond: Value,
        then: &Region,
        otherwise: &Region,
        edges: &[Edge],
    ) -> (Vec<Edge>, bool) {
        let cond = self.get(cond);
        if let Some(truth) = self.shader.const_of(cond) {
            return self.region(if truth != 0 { then } else { otherwise }, edges.to_vec());
        }
        let contrary = self.builder().bnot(cond);
        let mut out = Vec::new();
        let mut complete = true;
        for (cond, arm) in [(cond, then), (contrary, otherwise)] {
            let jumps = (self.breaks.len(), self.continues.len());
            self.around.push(cond);
            let (left, whole) = self.region(arm, edges.to_vec());
            self.around.pop();
            self.qualify(jumps, Some(cond));
            complete &= whole;
            for edge in left {
                let pred = self.and(Some(cond), edge.pred);
                out.push(Edge { pred, ..edge });
            }
        }
        if out.len() == 1 && complete {
            // The other arm ended in a discard: its elements may take any value.
            out[0].pred = None;
        }
        (out, complete)
    }

    /// The value that comes along `edges` when each brings its own.
    pub fn choose(&mut self, edges: &[Edge], mut value: impl FnMut(&Self, &Edge) -> Value) -> Option<Value> {
        let (last, before) = edges.split_last()?;
        let mut chosen = value(self, last);
        for edge in before.iter().rev() {
            let mine = value(self, edge);
            chosen = match edge.pred {
                Some(pred) => self.builder().select(pred, mine, chosen),
                None => mine,
            };
        }
        Some(chosen)
    }

    /// What a phi argument is for an edge.
    pub fn phi_arg(&self, phi: Inst, edge: &Edge) -> Option<Value> {
        let data = &self.shader.insts[phi];
        let name = |mut block: Block| {
            while let Some(&into) = self.map.joined.get(&block) {
                block = into;
            }
            block
        };
        let at = data.phi_blocks.iter().position(|&block| name(block) == edge.from)?;
        Some(self.get(data.args[at]))
    }

    /// Emits a block's instructions; its phis become selects between the edges that lead to it.
    pub fn block(&mut self, block: Block, edges: &[Edge]) {
        let insts = self.shader.blocks[block].insts.clone();
        let count = insts.iter().take_while(|&&inst| self.shader.insts[inst].op.is(Op::Phi)).count();
        let mut phis = Vec::with_capacity(count);
        for &inst in &insts[..count] {
            let result = self.shader.insts[inst].results[0];
            let value = self.choose(edges, |linear, edge| linear.phi_arg(inst, edge).unwrap_or(result));
            let ty = self.shader.values[result].ty;
            phis.push((result, value.unwrap_or_else(|| self.builder().undef(ty))));
        }
        for (result, value) in phis {
            self.set(result, value);
        }
        for &inst in &insts[count..] {
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: Inst) {
        let data = self.shader.insts[inst].clone();
        let args: Vec<Value> = data.args.iter().map(|&arg| self.get(arg)).collect();
        match data.op {
            Op::StoreOutput(output) => self.store(output, args[0]),
            Op::DiscardIf => {
                let pred = self.everywhere();
                if let Some(cond) = self.and(pred, Some(args[0])) {
                    self.builder().discard_if(cond);
                }
            }
            _ if !self.copy => self.shader.blocks[self.out].insts.push(inst),
            op => {
                let mut b = Builder::new(self.shader, self.out);
                (b.relaxed, b.exact) = (data.relaxed, data.exact);
                let results = match op {
                    Op::Undef => smallvec::smallvec![b.undef(b.shader.values[data.results[0]].ty)],
                    _ if data.results.len() == 1 => smallvec::smallvec![b.op(op, &args)],
                    _ => b.emit(op, &args),
                };
                for (&old, &new) in data.results.iter().zip(&results) {
                    self.set(old, new);
                }
            }
        }
    }

    /// A store under a predicate keeps what was stored before elsewhere; nothing stored before is any value.
    fn store(&mut self, output: Output, value: Value) {
        let pred = self.everywhere();
        let value = match (pred, self.stored.get(&output).copied()) {
            (Some(pred), Some(before)) => self.builder().select(pred, value, before),
            _ => value,
        };
        self.stored.insert(output, value);
        self.builder().store_output(output, value);
    }
}
