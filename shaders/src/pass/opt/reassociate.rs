//! Components that are multiplied by the same two factors one after the other: the factors are multiplied first, once.
//!
//! `color * intensity * shadow` takes one operation less for each component but the first.

use std::convert::Infallible;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::ir::{Block, Inst, Op, Shader, Value};
use crate::pass::analysis::uses::Uses;
use crate::pass::rewrite::{Action, rewrite};

/// Two factors, the smaller value first, in a block.
type Pair = (Block, [Value; 2]);

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let products = alike(shader);
    if products.is_empty() {
        return false;
    }
    // What several products share is made in front of the first.
    let mut made: FxHashMap<Pair, Value> = FxHashMap::default();
    let outcome: Result<(), Infallible> = rewrite(shader, |b, data| {
        let inst = data.results.first().map(|&result| b.shader.values[result].inst);
        let Some(&(rest, pair)) = inst.and_then(|inst| products.get(&inst)) else { return Ok(Action::Keep) };
        let [x, y] = pair.1;
        let both = *made.entry(pair).or_insert_with(|| b.fmul(x, y));
        Ok(Action::with(b.fmul(rest, both)))
    });
    match outcome {
        Ok(()) => true,
        Err(never) => match never {},
    }
}

/// Products with a pair of factors that others have too, and what else each multiplies.
fn alike(shader: &Shader) -> FxHashMap<Inst, (Value, Pair)> {
    let mut chains: Vec<(Inst, Block)> = Vec::new();
    for block in shader.blocks_in_order() {
        let insts = shader.blocks[block].insts.iter().copied();
        chains.extend(insts.filter(|&inst| is_chain(shader, inst)).map(|inst| (inst, block)));
    }
    let mut products = FxHashMap::default();
    if chains.len() < 2 {
        return products;
    }
    let uses = Uses::of(shader, &shader.insts_in_order());
    let mut pairs: Vec<Pair> = Vec::new();
    let mut members: FxHashMap<Pair, SmallVec<[Chain; 4]>> = FxHashMap::default();
    for (inst, block) in chains {
        let [x, y] = factors(shader, inst);
        for (inner, last) in [(x, y), (y, x)] {
            if !is_product(shader, inner) || !uses.is_single(inner) {
                continue;
            }
            let inner = shader.values[inner].inst;
            let [a, b] = factors(shader, inner);
            for (rest, first) in [(a, b), (b, a)] {
                if [first, last].iter().all(|&factor| shader.const_of(factor).is_none()) {
                    let pair = (block, [first.min(last), first.max(last)]);
                    let list = members.entry(pair).or_default();
                    if list.is_empty() {
                        pairs.push(pair);
                    }
                    list.push(Chain { outer: inst, inner, rest });
                }
            }
        }
    }
    // A product that becomes part of one pair can neither belong to another nor go away with one.
    let mut taken: FxHashSet<Inst> = FxHashSet::default();
    for pair in pairs {
        let mut also = FxHashSet::default();
        let mut list = members.remove(&pair).unwrap_or_default();
        list.retain(|chain| {
            let both = [chain.outer, chain.inner];
            let free = both.iter().all(|inst| !taken.contains(inst) && !also.contains(inst));
            also.extend(both.into_iter().filter(|_| free));
            free
        });
        if list.len() > 1 {
            taken.extend(also);
            products.extend(list.into_iter().map(|chain| (chain.outer, (chain.rest, pair))));
        }
    }
    products
}

/// A product of a product.
struct Chain {
    outer: Inst,
    inner: Inst,
    /// The factor of the inner product that stays.
    rest: Value,
}

/// The factors of a product.
fn factors(shader: &Shader, inst: Inst) -> [Value; 2] {
    [shader.insts[inst].args[0], shader.insts[inst].args[1]]
}

/// Whether a value is a product that need not be rounded as it is written.
fn is_product(shader: &Shader, value: Value) -> bool {
    let data = &shader.insts[shader.values[value].inst];
    data.op.is(Op::FMul) && !data.exact
}

/// Whether an instruction is such a product of such a product.
fn is_chain(shader: &Shader, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    data.op.is(Op::FMul) && !data.exact && data.args.iter().any(|&arg| is_product(shader, arg))
}
