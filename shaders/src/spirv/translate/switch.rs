//! The targets of an OpSwitch: their order, what leads to each, and falling from one into the next.

use rustc_hash::FxHashSet;

use super::env::Entity;
use super::translator::Translator;
use super::{join, label};
use crate::ir::{Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::Result;
use crate::spirv::module::function::successors;

/// A target block with what leads to it.
pub struct Case {
    /// The target.
    pub block: Id,
    /// Values that lead to it.
    pub literals: Vec<u32>,
    /// All others do, too.
    pub is_default: bool,
    /// The label for falling into it, unless it is a label already.
    pub label: Option<usize>,
}

/// Phis of a target have one value for the switch and one for falling, which earlier targets have left.
pub fn edge_or_fall(t: &mut Translator<'_>, fell: Value, from: Id, to: Id, end: &Inst) -> Result<()> {
    let frame = t.frame()?;
    let (copy, block) = (frame.copy, frame.function.block(to));
    let phis = block.map_or(&[][..], |block| &block.phis);
    let fallen: Vec<Option<Entity>> = phis.iter().map(|phi| t.env.id((copy, phi.id)).cloned()).collect();
    join::edge(t, from, to, end)?;
    for (phi, fallen) in phis.iter().zip(fallen) {
        let Some(Entity::Data(fallen)) = fallen else {
            continue;
        };
        let matched = t.data(phi.id, phi)?.values;
        let both = fallen.iter().zip(matched.iter());
        let values: Vec<Value> =
            both.map(|(&fallen, &matched)| t.builder().select(fell, fallen, matched)).collect();
        t.define_data(phi, values)?;
    }
    Ok(())
}

/// Whether the selector is one of these; `None` if there are none.
pub fn matches(t: &mut Translator<'_>, selector: Value, literals: &[u32]) -> Option<Value> {
    let mut hits = Vec::with_capacity(literals.len());
    for &literal in literals {
        let literal = t.constant(Type::Word, literal);
        hits.push(t.builder().ieq(selector, literal));
    }
    if hits.is_empty() { None } else { Some(any(t, &hits)) }
}

/// Whether one of them holds.
pub fn any(t: &mut Translator<'_>, truths: &[Value]) -> Value {
    let mut any = t.constant(Type::Bool, 0);
    for &truth in truths {
        any = t.builder().bor(any, truth);
    }
    any
}

/// The targets, each once, so that none falls into an earlier one.
pub fn cases(t: &mut Translator<'_>, end: &Inst, merge: Id) -> Result<Vec<Case>> {
    let new = |block: Id| Case { block, literals: Vec::new(), is_default: false, label: None };
    let mut cases: Vec<Case> = Vec::new();
    let default = end.id_at(1)?;
    for pair in end.operands[2..].chunks(2) {
        let &[Operand::LiteralBit32(literal), Operand::IdRef(block)] = pair else {
            return Err(end.unsupported("a switch on another type than 32-bit integers", "32-bit integers"));
        };
        t.pay(end, 1 + cases.len() / 8)?;
        match cases.iter_mut().find(|case| case.block == block) {
            Some(case) => case.literals.push(literal),
            None => cases.push(Case { literals: vec![literal], ..new(block) }),
        }
    }
    match cases.iter_mut().find(|case| case.block == default) {
        Some(case) => case.is_default = true,
        None => cases.push(Case { is_default: true, ..new(default) }),
    }
    in_falling_order(t, cases, end, merge)
}

fn in_falling_order(t: &mut Translator<'_>, cases: Vec<Case>, end: &Inst, merge: Id) -> Result<Vec<Case>> {
    let blocks: Vec<Id> = cases.iter().map(|case| case.block).collect();
    let mut falls: Vec<Vec<usize>> = Vec::with_capacity(cases.len());
    for &block in &blocks {
        falls.push(falls_into(t, block, &blocks, end, merge)?);
    }
    let mut rest: Vec<Option<Case>> = cases.into_iter().map(Some).collect();
    let mut ordered = Vec::with_capacity(rest.len());
    // Repeatedly the first target that no remaining one falls into: the written order where it is free.
    while ordered.len() < rest.len() {
        let is_free = |at: usize| {
            rest[at].is_some()
                && !(0..rest.len())
                    .any(|other| other != at && rest[other].is_some() && falls[other].contains(&at))
        };
        let Some(at) = (0..rest.len()).find(|&at| is_free(at)) else {
            return Err(end.invalid("the targets fall into each other in a circle"));
        };
        t.pay(end, rest.len() / 8)?;
        ordered.extend(rest[at].take());
    }
    Ok(ordered)
}

/// Targets that control gets to from one of them before it reaches the merge block or leaves the switch.
fn falls_into(t: &mut Translator<'_>, from: Id, blocks: &[Id], end: &Inst, merge: Id) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work = vec![from];
    while let Some(label) = work.pop() {
        if label == merge || !seen.insert(label) || (label != from && label::find(t, label)?.is_some()) {
            continue;
        }
        t.pay(end, 1)?;
        if let Some(at) = blocks.iter().position(|&block| block == label && label != from) {
            found.push(at);
            continue;
        }
        if let Some(block) = t.frame()?.function.block(label) {
            work.extend(successors(&block.end));
        }
    }
    Ok(found)
}
