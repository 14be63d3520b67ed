//! Unit vectors that only products see: their length is divided out of the sums behind the products, once for each sum
//! instead of once for each component.
//!
//! `dot(normalize(v), w)` takes one multiplication by the inverse length instead of three. Every term of such a sum is
//! rounded as often as before, and no term is larger than the vector's length times the other factor.

use std::convert::Infallible;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::uses::Uses;
use crate::pass::rewrite::{Action, rewrite};

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let insts = shader.insts_in_order();
    let is_scale = |&inst: &Inst| shader.insts[inst].op.is(Op::FInverseLength);
    let scales: Vec<Value> =
        insts.iter().copied().filter(is_scale).filter_map(|inst| shader.result(inst)).collect();
    if scales.is_empty() {
        return false;
    }
    let uses = Uses::of(shader, &insts);
    // What is computed in front of a loop stays there.
    for block in shader.blocks_in_order() {
        let insts = &shader.blocks[block].insts;
        let here: FxHashSet<Inst> = insts.iter().copied().collect();
        let of = |&scale: &Value| {
            Group::of(shader, &uses, insts, scale).filter(|group| group.is_in(shader, &here))
        };
        if let Some(group) = scales.iter().find_map(of) {
            group.apply(shader);
            return true;
        }
    }
    false
}

/// Products of a vector's components, and the sums of such products, that are to be scaled at last.
struct Group {
    scale: Value,
    /// The components, with what they are without the scale.
    components: FxHashMap<Value, Value>,
    /// The products.
    products: FxHashSet<Value>,
    /// Products and sums that are not part of a larger sum.
    roots: FxHashSet<Value>,
}

impl Group {
    /// Of an inverse length, if to scale last takes fewer operations.
    fn of(shader: &Shader, uses: &Uses, insts: &[Inst], scale: Value) -> Option<Group> {
        let mut group = Group {
            scale,
            components: FxHashMap::default(),
            products: FxHashSet::default(),
            roots: FxHashSet::default(),
        };
        for &inst in uses.of_value(scale) {
            let (component, other) = factor(shader, inst, scale)?;
            group.components.insert(component, other);
        }
        for &component in group.components.keys() {
            for &inst in uses.of_value(component) {
                let (product, other) = factor(shader, inst, component)?;
                if other == scale || group.components.contains_key(&other) {
                    return None;
                }
                group.products.insert(product);
            }
        }
        let cost = group.find_roots(shader, uses, insts);
        (cost < group.components.len()).then_some(group)
    }

    /// Whether all its components and products are made by instructions of a set.
    fn is_in(&self, shader: &Shader, insts: &FxHashSet<Inst>) -> bool {
        let made_here = |value: Value| insts.contains(&shader.values[value].inst);
        self.components.keys().copied().all(made_here) && self.products.iter().copied().all(made_here)
    }

    /// Finds the sums, and counts the multiplications by the scale: one for each sum, one for all products with
    /// the same other factor.
    fn find_roots(&mut self, shader: &Shader, uses: &Uses, insts: &[Inst]) -> usize {
        let mut sums = 0;
        let mut factors: Vec<Value> = Vec::new();
        for &inst in insts {
            let data = &shader.insts[inst];
            let Some(&result) = data.results.first() else { continue };
            let joins = |arg: &Value| self.roots.contains(arg) && uses.is_single(*arg);
            match data.op {
                Op::FMul if self.products.contains(&result) => {
                    self.roots.insert(result);
                }
                Op::FAdd | Op::FSub if !data.exact && data.args.iter().all(joins) => {
                    data.args.iter().for_each(|arg| {
                        self.roots.remove(arg);
                    });
                    self.roots.insert(result);
                }
                _ => {}
            }
        }
        for &root in &self.roots {
            if self.products.contains(&root) {
                factors.push(self.other_factor(shader.args(root)));
            } else {
                sums += 1;
            }
        }
        factors.sort_unstable();
        factors.dedup();
        sums + factors.len()
    }

    /// The factor of a product that is no component.
    fn other_factor(&self, args: &[Value]) -> Value {
        if self.components.contains_key(&args[0]) { args[1] } else { args[0] }
    }

    fn apply(self, shader: &mut Shader) {
        let mut scaled: FxHashMap<Value, Value> = FxHashMap::default();
        let outcome: Result<(), Infallible> = rewrite(shader, |b, data| {
            let Some(&result) = data.results.first() else { return Ok(Action::Keep) };
            let is_root = self.roots.contains(&result);
            if self.products.contains(&result) {
                let other = self.other_factor(&data.args);
                let component = if data.args[0] == other { data.args[1] } else { data.args[0] };
                let mut times_scale = || *scaled.entry(other).or_insert_with(|| b.fmul(other, self.scale));
                let factor = if is_root { times_scale() } else { other };
                return Ok(Action::with(b.fmul(self.components[&component], factor)));
            }
            if !is_root {
                return Ok(Action::Keep);
            }
            let sum = b.op(data.op, &data.args);
            Ok(Action::with(b.fmul(sum, self.scale)))
        });
        match outcome {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
}

/// The product that an instruction makes of a value, and the other factor; `None` if it does something else.
fn factor(shader: &Shader, inst: Inst, value: Value) -> Option<(Value, Value)> {
    let data = &shader.insts[inst];
    match (data.op, &data.args[..]) {
        (Op::FMul, &[x, y]) if x != y && !data.exact => {
            Some((data.results[0], if x == value { y } else { x }))
        }
        _ => None,
    }
}
