//! Matrices that are multiplied by each other and then by a vector: the vector comes first.
//!
//! `(A * B) * v` takes a product of matrices for every vertex, `A * (B * v)` two of a matrix and a vector. In scalars, a row of the
//! former is a sum of products `m[j] * v[j]` whose `m[j]` are sums themselves, `a[k] * b[k][j]`, of the same `a[k]` for every j: the
//! row is also the sum of the `a[k]` times `b[k][j] * v[j]` summed over j, which all rows share. Chains of more matrices take a
//! run for each.

use std::convert::Infallible;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use crate::ir::{Block, Builder, Inst, Op, Shader, Value};
use crate::pass::analysis::uses::Uses;
use crate::pass::rewrite::{Action, rewrite};

/// Terms of a sum that are looked at; rows of matrices have sixteen at most.
const MAX_TERMS: usize = 24;

/// A product, or with one factor a value as it is.
type Term = SmallVec<[Value; 2]>;
/// A sum of them.
type Terms = SmallVec<[Term; 4]>;
/// A sum of products that rows share: one of each matrix, one of the vector.
type Inner = Vec<Term>;

/// A sum of which the factors `outer` can be taken out.
struct Row {
    /// Its last addition.
    root: Inst,
    block: Block,
    /// The `a[k]`, each with what it multiplies.
    parts: Vec<(Value, Inner)>,
    /// What stays as it is.
    rest: Vec<Term>,
    /// The `m[j]`, which go.
    sums: Vec<Value>,
}

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let insts = shader.insts_in_order();
    // Few shaders multiply what they have added up of products.
    if !insts.iter().any(|&inst| is_product_of_sum(shader, inst)) {
        return false;
    }
    let uses = Uses::of(shader, &insts);
    let mut rows = rows(shader, &uses);
    keep_what_pays(&uses, &mut rows);
    if rows.is_empty() {
        return false;
    }
    let by_root: FxHashMap<Inst, &Row> = rows.iter().map(|row| (row.root, row)).collect();
    let mut made: FxHashMap<(Block, &Inner), Value> = FxHashMap::default();
    let outcome: Result<(), Infallible> = rewrite(shader, |b, data| {
        let inst = data.results.first().map(|&result| b.shader.values[result].inst);
        let Some(row) = inst.and_then(|inst| by_root.get(&inst)) else { return Ok(Action::Keep) };
        let mut total: Option<Value> = None;
        for (factor, inner) in &row.parts {
            let sum = match made.get(&(row.block, inner)) {
                Some(&sum) => sum,
                None => {
                    let products: SmallVec<[Value; 4]> = inner.iter().map(|term| product(b, term)).collect();
                    let sum = products.into_iter().reduce(|sum, product| b.fadd(sum, product));
                    let Some(sum) = sum else { return Ok(Action::Keep) };
                    made.insert((row.block, inner), sum);
                    sum
                }
            };
            let product = b.fmul(*factor, sum);
            total = Some(total.map_or(product, |total| b.fadd(total, product)));
        }
        for term in &row.rest {
            let product = product(b, term);
            total = Some(total.map_or(product, |total| b.fadd(total, product)));
        }
        Ok(total.map_or(Action::Keep, Action::with))
    });
    match outcome {
        Ok(()) => true,
        Err(never) => match never {},
    }
}

fn product(b: &mut Builder, term: &[Value]) -> Value {
    match *term {
        [x, y] => b.fmul(x, y),
        _ => term[0],
    }
}

/// Whether a value is made by an operation that need not be rounded as it is written.
fn is(shader: &Shader, value: Value, op: Op) -> bool {
    let data = &shader.insts[shader.values[value].inst];
    data.op.is(op) && !data.exact
}

/// Whether an instruction multiplies a sum of at least one product.
fn is_product_of_sum(shader: &Shader, inst: Inst) -> bool {
    let args = |value: Value| shader.insts[shader.values[value].inst].args.iter().copied();
    let is_sum =
        |value: Value| is(shader, value, Op::FAdd) && args(value).any(|term| is(shader, term, Op::FMul));
    shader.insts[inst].op.is(Op::FMul) && shader.insts[inst].args.iter().any(|&factor| is_sum(factor))
}

/// The sums that may be rows.
fn rows(shader: &Shader, uses: &Uses) -> Vec<Row> {
    let mut rows = Vec::new();
    for block in shader.blocks_in_order() {
        let here: FxHashSet<Inst> = shader.blocks[block].insts.iter().copied().collect();
        let finder = Finder { shader, uses, here: &here };
        let sums = shader.blocks[block].insts.iter().copied();
        rows.extend(sums.filter_map(|inst| finder.row(inst, block)));
    }
    rows
}

struct Finder<'a> {
    shader: &'a Shader,
    uses: &'a Uses,
    /// The block's instructions.
    here: &'a FxHashSet<Inst>,
}

impl Finder<'_> {
    fn is_here(&self, value: Value) -> bool {
        self.here.contains(&self.shader.values[value].inst)
    }

    /// A sum that is part of no other.
    fn is_root(&self, value: Value) -> bool {
        let is_sum = |inst: &Inst| {
            let data = &self.shader.insts[*inst];
            data.op.is(Op::FAdd) && !data.exact && self.here.contains(inst)
        };
        is(self.shader, value, Op::FAdd)
            && !(self.uses.is_single(value) && self.uses.of_value(value).iter().all(is_sum))
    }

    /// Takes a sum apart; `None` if it has too many terms.
    fn terms(&self, value: Value) -> Option<Terms> {
        let mut terms = Terms::new();
        let mut open: SmallVec<[Value; 4]> = smallvec![value];
        while let Some(next) = open.pop() {
            let is_sum = is(self.shader, next, Op::FAdd) && self.is_here(next);
            if is_sum && (next == value || self.uses.is_single(next)) {
                let args = &self.shader.insts[self.shader.values[next].inst].args;
                open.extend([args[1], args[0]]);
            } else {
                let is_product =
                    is(self.shader, next, Op::FMul) && self.is_here(next) && self.uses.is_single(next);
                terms.push(match is_product {
                    true => self.shader.insts[self.shader.values[next].inst].args.iter().copied().collect(),
                    false => SmallVec::from_slice(&[next]),
                });
            }
            if terms.len() + open.len() > MAX_TERMS {
                return None;
            }
        }
        Some(terms)
    }

    /// The products that a factor is the sum of, if it is one.
    fn products(&self, value: Value) -> Option<Terms> {
        if !is(self.shader, value, Op::FAdd) || !self.is_here(value) {
            return None;
        }
        let terms = self.terms(value)?;
        terms.iter().all(|term| term.len() == 2).then_some(terms)
    }

    fn row(&self, root: Inst, block: Block) -> Option<Row> {
        let value = self.shader.result(root)?;
        if !self.is_root(value) {
            return None;
        }
        let terms = self.terms(value)?;
        // Most sums have no such factors.
        if !terms.iter().any(|term| self.factored(term).is_some()) {
            return None;
        }
        let mut factors: Vec<Option<Factored>> = terms.iter().map(|term| self.factored(term)).collect();
        // Factors of factors are sums, too, but of a matrix that all rows of another one need.
        let mut counts: Vec<usize> = factors.iter().flatten().map(|factored| factored.uses).collect();
        counts.sort_unstable();
        counts.dedup();
        while let Some(most) = counts.pop() {
            if let Some(row) = taken_out((root, block), &terms, &factors) {
                return Some(row);
            }
            let is_common = |factored: &Factored| factored.uses < most;
            factors.iter_mut().for_each(|factored| *factored = factored.take().filter(is_common));
        }
        None
    }

    /// A product of a sum of products and something else.
    fn factored(&self, term: &[Value]) -> Option<Factored> {
        let &[x, y] = term else { return None };
        let (sum, rest) = [(x, y), (y, x)].into_iter().find(|(sum, _)| self.products(*sum).is_some())?;
        Some(Factored { sum, products: self.products(sum)?, rest, uses: self.uses.of_value(sum).len() })
    }
}

/// A product of a sum of products and something else.
struct Factored {
    sum: Value,
    products: Terms,
    rest: Value,
    /// How many products the sum is in.
    uses: usize,
}

/// Takes the factors out that the sums among the factors of terms have in common.
fn taken_out((root, block): (Inst, Block), terms: &[Term], factors: &[Option<Factored>]) -> Option<Row> {
    let factored: Vec<&Factored> = factors.iter().flatten().collect();
    let first = &factored.first()?.products;
    if factored.len() < 2 || factored.iter().any(|other| other.products.len() != first.len()) {
        return None;
    }
    let mut rest: Vec<Term> = terms
        .iter()
        .zip(factors)
        .filter(|(_, factored)| factored.is_none())
        .map(|(term, _)| term.clone())
        .collect();
    let mut left: Vec<Terms> = factored.iter().map(|factored| factored.products.clone()).collect();
    let mut parts: Vec<(Value, Inner)> = Vec::new();
    for term in first {
        let is_common =
            |factor: &Value| left.iter().all(|terms| terms.iter().any(|term| term.contains(factor)));
        let factor = term.iter().copied().find(is_common)?;
        let mut inner = Inner::new();
        for (terms, factored) in left.iter_mut().zip(&factored) {
            let at = terms.iter().position(|term| term.contains(&factor))?;
            inner.push(SmallVec::from_slice(&[other(&terms.remove(at), factor), factored.rest]));
        }
        // What is multiplied by 1 stands there as it is.
        if let Some(at) = rest.iter().position(|term| term.len() == 2 && term.contains(&factor)) {
            inner.push(SmallVec::from_slice(&[other(&rest.remove(at), factor)]));
        }
        parts.push((factor, inner));
    }
    let sums = factored.iter().map(|factored| factored.sum).collect();
    Some(Row { root, block, parts, rest, sums })
}

/// The factor of a product that is not this one.
fn other(term: &[Value], factor: Value) -> Value {
    if term[0] == factor { term[1] } else { term[0] }
}

/// Rows from which on all are judged together: each is compared with each for the sake of families.
const MANY_ROWS: usize = 512;

/// Drops rows whose sums others need, and all together if they would take as many operations as before.
fn keep_what_pays(uses: &Uses, rows: &mut Vec<Row>) {
    // A row that goes may take away another one's reason.
    loop {
        let mut takers: FxHashMap<Value, usize> = FxHashMap::default();
        rows.iter().flat_map(|row| &row.sums).for_each(|sum| *takers.entry(*sum).or_default() += 1);
        let before = rows.len();
        rows.retain(|row| row.sums.iter().all(|sum| takers[sum] == uses.of_value(*sum).len()));
        if rows.len() == before {
            break;
        }
    }
    if rows.len() > MANY_ROWS {
        if !pays(rows) {
            rows.clear();
        }
        return;
    }
    let mut families: Vec<Vec<Row>> = Vec::new();
    for row in rows.drain(..) {
        let is_kin = |other: &Row| {
            other.block == row.block
                && (other.sums.iter().any(|sum| row.sums.contains(sum))
                    || other.parts.iter().any(|(_, inner)| row.parts.iter().any(|(_, own)| own == inner)))
        };
        let (kin, strangers): (Vec<_>, Vec<_>) =
            families.drain(..).partition(|family: &Vec<Row>| family.iter().any(is_kin));
        families = strangers;
        families.push(kin.into_iter().flatten().chain([row]).collect());
    }
    rows.extend(families.into_iter().filter(|family| pays(family)).flatten());
}

/// Whether rows that share something take fewer operations than before.
fn pays(rows: &[Row]) -> bool {
    let sum = |terms: &[Term]| terms.iter().map(SmallVec::len).sum::<usize>() - 1;
    let sums: FxHashMap<Value, usize> =
        rows.iter().flat_map(|row| row.sums.iter().map(|sum| (*sum, 2 * row.parts.len() - 1))).collect();
    let inners: FxHashSet<&Inner> =
        rows.iter().flat_map(|row| row.parts.iter().map(|(_, inner)| inner)).collect();
    let direct =
        |row: &Row| row.parts.iter().flat_map(|(_, inner)| inner).filter(|term| term.len() == 1).count();
    let before: usize = sums.values().sum::<usize>()
        + rows.iter().map(|row| 2 * (row.sums.len() + direct(row))).sum::<usize>();
    let after: usize = inners.iter().map(|inner| sum(inner)).sum::<usize>()
        + rows.iter().map(|row| 2 * row.parts.len()).sum::<usize>();
    after < before
}
