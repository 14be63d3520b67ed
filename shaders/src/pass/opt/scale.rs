//! Unit vectors that only products see: their length is divided out of the sums behind the products, once for each sum
//! instead of once for each component.
//!
//! `dot(normalize(v), w)` takes one multiplication by the inverse length instead of three. Every term of such a sum is
//! rounded as often as before, and no term is larger than the vector's length times the other factor.

use std::collections::BTreeSet;
use std::convert::Infallible;

use cranelift_entity::SecondaryMap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Inst, Op, Shader, Value};
use crate::pass::analysis::uses::Uses;
use crate::pass::rewrite::{Action, rewrite};
use crate::work;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let insts = shader.insts_in_order();
    let is_scale = |&inst: &Inst| shader.insts[inst].op.is(Op::FInverseLength);
    let scales: Vec<Value> =
        insts.iter().copied().filter(is_scale).filter_map(|inst| shader.result(inst)).collect();
    if scales.is_empty() {
        return false;
    }
    work::count(insts.len());
    let (uses, places) = (Uses::of(shader, &insts), places(shader));
    let mut groups: Vec<Group> =
        scales.into_iter().filter_map(|scale| Group::of(shader, &uses, &places, scale)).collect();
    groups.sort_by_key(|group| group.block);
    // A product of two unit vectors is scaled by one of them, and by the other the next time.
    let mut taken: FxHashSet<Value> = FxHashSet::default();
    groups.retain(|group| {
        let values = || group.components.iter().chain(&group.products);
        let is_free = values().all(|value| !taken.contains(value));
        if is_free {
            taken.extend(values());
        }
        is_free
    });
    if groups.is_empty() {
        return false;
    }
    apply(shader, &groups);
    true
}

/// Where an instruction stands: in which block of the shader, and in which place of it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: u32,
    at: u32,
}

fn places(shader: &Shader) -> SecondaryMap<Inst, Place> {
    let mut places = shader.per_inst();
    for (&of, block) in shader.blocks_in_order().iter().zip(0..) {
        shader.blocks[of].insts.iter().zip(0..).for_each(|(&inst, at)| places[inst] = Place { block, at });
    }
    places
}

/// Products of a vector's components, and the sums of such products, that are to be scaled at last.
struct Group {
    scale: Value,
    /// The block of all components and products: what is computed in front of a loop stays there.
    block: u32,
    components: FxHashSet<Value>,
    products: FxHashSet<Value>,
    /// Products and sums that are not part of a larger sum.
    roots: FxHashSet<Value>,
}

impl Group {
    /// Of an inverse length, if to scale last takes fewer operations.
    fn of(shader: &Shader, uses: &Uses, places: &SecondaryMap<Inst, Place>, scale: Value) -> Option<Group> {
        let block = places[*uses.of_value(scale).first()?].block;
        let mut group = Group {
            scale,
            block,
            components: FxHashSet::default(),
            products: FxHashSet::default(),
            roots: FxHashSet::default(),
        };
        let is_here = |inst: Inst| places[inst].block == block;
        for &inst in uses.of_value(scale) {
            let (component, _) = factor(shader, inst, scale).filter(|_| is_here(inst))?;
            group.components.insert(component);
        }
        for &component in &group.components {
            for &inst in uses.of_value(component) {
                let (product, other) = factor(shader, inst, component).filter(|_| is_here(inst))?;
                if other == scale || group.components.contains(&other) {
                    return None;
                }
                group.products.insert(product);
            }
        }
        let cost = group.find_roots(shader, uses, places);
        (cost < group.components.len()).then_some(group)
    }

    /// Finds the sums, and counts the multiplications by the scale: one for each sum, one for all products with
    /// the same other factor.
    fn find_roots(&mut self, shader: &Shader, uses: &Uses, places: &SecondaryMap<Inst, Place>) -> usize {
        let makers = self.products.iter().map(|&product| shader.values[product].inst);
        let mut open: BTreeSet<(Place, Inst)> = makers.map(|inst| (places[inst], inst)).collect();
        while let Some((_, inst)) = open.pop_first() {
            work::count(1);
            let data = &shader.insts[inst];
            let joins = |arg: &Value| self.roots.contains(arg) && uses.is_single(*arg);
            let result = data.results[0];
            if !self.products.contains(&result) {
                if !data.args.iter().all(joins) {
                    continue;
                }
                data.args.iter().for_each(|arg| {
                    self.roots.remove(arg);
                });
            }
            self.roots.insert(result);
            let users = uses.of_value(result).iter().copied();
            let sums = users.filter(|&user| places[user].block == self.block && is_sum(shader, user));
            open.extend(sums.map(|user| (places[user], user)));
        }
        let mut sums = 0;
        let mut factors: Vec<Value> = Vec::new();
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
        if self.components.contains(&args[0]) { args[1] } else { args[0] }
    }
}

/// Scales what groups have at last. No product of one is a component or a product of another.
fn apply(shader: &mut Shader, groups: &[Group]) {
    let mut group_of: FxHashMap<Value, &Group> = FxHashMap::default();
    for group in groups {
        let values = group.components.iter().chain(&group.products).chain(&group.roots);
        group_of.extend(values.map(|&value| (value, group)));
    }
    // Components without the scale, and other factors with it.
    let mut plain: FxHashMap<Value, Value> = FxHashMap::default();
    let mut scaled: FxHashMap<[Value; 2], Value> = FxHashMap::default();
    let outcome: Result<(), Infallible> = rewrite(shader, |b, data| {
        let group = data.results.first().and_then(|&result| Some((result, *group_of.get(&result)?)));
        let Some((result, group)) = group else { return Ok(Action::Keep) };
        let scale = group.scale;
        if group.components.contains(&result) {
            plain.insert(result, if data.args[0] == scale { data.args[1] } else { data.args[0] });
            return Ok(Action::Keep);
        }
        let is_root = group.roots.contains(&result);
        if group.products.contains(&result) {
            let other = group.other_factor(&data.args);
            let component = if data.args[0] == other { data.args[1] } else { data.args[0] };
            let mut times_scale = || *scaled.entry([other, scale]).or_insert_with(|| b.fmul(other, scale));
            let factor = if is_root { times_scale() } else { other };
            return Ok(Action::with(b.fmul(plain[&component], factor)));
        }
        let sum = b.op(data.op, &data.args);
        Ok(Action::with(b.fmul(sum, scale)))
    });
    match outcome {
        Ok(()) => {}
        Err(never) => match never {},
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

/// Whether an instruction is a sum that need not be rounded as it is written.
fn is_sum(shader: &Shader, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    matches!(data.op, Op::FAdd | Op::FSub) && !data.exact
}
