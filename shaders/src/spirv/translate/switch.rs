//! OpSwitch: a row of `If`s, one per target.

use rustc_hash::FxHashSet;

use super::env::Entity;
use super::flow::{Flow, Next, Target};
use super::translator::Translator;
use crate::ir::{Type, Value};
use crate::spirv::binary::{Id, Inst, Operand};
use crate::spirv::error::Result;
use crate::spirv::module::function::{Block as SpvBlock, Merge, successors};

/// A target block with what leads to it.
struct Case {
    block: Id,
    literals: Vec<u32>,
    is_default: bool,
    /// The label for falling into it, unless it is a label already.
    label: Option<usize>,
}

impl<'m> Translator<'m> {
    /// Each target is an `If` on its literals, or on falling through from a target before it. The literals are
    /// disjoint, so the targets may stand one after the other.
    pub(super) fn switch(&mut self, block: &'m SpvBlock) -> Result<Next> {
        let end = &block.end;
        let Some(Merge::Selection(merge)) = block.merge else {
            return Err(end.invalid("a switch needs a selection merge"));
        };
        let selector = self.scalar(end.id_at(0)?, Type::Word, end)?;
        let mut cases = self.cases(end, merge)?;
        let first = self.labels.len();
        for case in cases.iter_mut().rev() {
            if case.block != merge && self.find_label(case.block)?.is_none() {
                case.label = Some(self.push_label(Target::Block(case.block), false));
            }
        }
        // The innermost label: leaving for it is falling out of the target's region.
        let merge_label = self.push_label(Target::Block(merge), false);
        let matched: Vec<Option<Value>> =
            cases.iter().map(|case| self.matches(selector, &case.literals)).collect();
        let mut total = Flow::closed();
        for (at, case) in cases.iter().enumerate() {
            let mut cond = if case.is_default {
                let others = matched.iter().enumerate().filter(|&(other, _)| other != at);
                let others: Vec<Value> = others.filter_map(|(_, &matched)| matched).collect();
                let any = self.any(&others);
                self.builder().bnot(any)
            } else {
                self.any(matched[at].as_slice())
            };
            let fell = match case.label {
                Some(label) => self.read_slot(self.labels[label].flag, end)?,
                None => self.constant(Type::Bool, 0),
            };
            cond = self.builder().bor(cond, fell);
            // A target that is never taken still defines what the code behind the switch names, be it reached or not.
            let flow = self.case((cond, fell), block.label, case, end)?;
            total = total.union(&flow.resolved(merge_label));
        }
        self.labels.truncate(first);
        let total = total.below(first);
        // Control that skips every target goes on as well, even if the selector never lets it.
        let total = if total.is_open() { total } else { Flow::live() };
        Ok(Next::After(total, merge))
    }

    fn case(&mut self, (cond, fell): (Value, Value), from: Id, case: &Case, end: &Inst) -> Result<Flow> {
        let to = case.block;
        let taken = self.arm(|t| {
            t.edge_or_fall(fell, from, to, end)?;
            match case.label {
                Some(_) => t.sequence_at(to, end),
                None => t.sequence(to, end),
            }
        })?;
        let flow = taken.flow.clone();
        let skipped = self.arm(|_| Ok(Flow::live()))?;
        self.close_if(cond, taken, skipped, end)?;
        Ok(flow)
    }

    /// Phis of a target have one value for the switch and one for falling, which earlier targets have left.
    fn edge_or_fall(&mut self, fell: Value, from: Id, to: Id, end: &Inst) -> Result<()> {
        let frame = self.frame()?;
        let (copy, block) = (frame.copy, frame.function.block(to));
        let phis = block.map_or(&[][..], |block| &block.phis);
        let fallen: Vec<Option<Entity>> =
            phis.iter().map(|phi| self.env.id((copy, phi.id)).cloned()).collect();
        self.edge(from, to, end)?;
        for (phi, fallen) in phis.iter().zip(fallen) {
            let Some(Entity::Data(fallen)) = fallen else {
                continue;
            };
            let matched = self.data(phi.id, phi)?.values;
            let both = fallen.iter().zip(matched.iter());
            let values: Vec<Value> =
                both.map(|(&fallen, &matched)| self.builder().select(fell, fallen, matched)).collect();
            self.define_data(phi, values)?;
        }
        Ok(())
    }

    fn matches(&mut self, selector: Value, literals: &[u32]) -> Option<Value> {
        let mut hits = Vec::with_capacity(literals.len());
        for &literal in literals {
            let literal = self.constant(Type::Word, literal);
            hits.push(self.builder().ieq(selector, literal));
        }
        if hits.is_empty() { None } else { Some(self.any(&hits)) }
    }

    fn any(&mut self, truths: &[Value]) -> Value {
        let mut any = self.constant(Type::Bool, 0);
        for &truth in truths {
            any = self.builder().bor(any, truth);
        }
        any
    }

    /// The targets, each once, so that none falls into an earlier one.
    fn cases(&mut self, end: &Inst, merge: Id) -> Result<Vec<Case>> {
        let new = |block: Id| Case { block, literals: Vec::new(), is_default: false, label: None };
        let mut cases: Vec<Case> = Vec::new();
        let default = end.id_at(1)?;
        for pair in end.operands[2..].chunks(2) {
            let &[Operand::LiteralBit32(literal), Operand::IdRef(block)] = pair else {
                return Err(
                    end.unsupported("a switch on another type than 32-bit integers", "32-bit integers")
                );
            };
            self.pay(end, 1 + cases.len() / 8)?;
            match cases.iter_mut().find(|case| case.block == block) {
                Some(case) => case.literals.push(literal),
                None => cases.push(Case { literals: vec![literal], ..new(block) }),
            }
        }
        match cases.iter_mut().find(|case| case.block == default) {
            Some(case) => case.is_default = true,
            None => cases.push(Case { is_default: true, ..new(default) }),
        }
        self.in_falling_order(cases, end, merge)
    }

    fn in_falling_order(&mut self, cases: Vec<Case>, end: &Inst, merge: Id) -> Result<Vec<Case>> {
        let blocks: Vec<Id> = cases.iter().map(|case| case.block).collect();
        let mut falls: Vec<Vec<usize>> = Vec::with_capacity(cases.len());
        for &block in &blocks {
            falls.push(self.falls_into(block, &blocks, end, merge)?);
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
            self.pay(end, rest.len() / 8)?;
            ordered.extend(rest[at].take());
        }
        Ok(ordered)
    }

    /// Targets that control gets to from one of them before it reaches the merge block or leaves the switch.
    fn falls_into(&mut self, from: Id, blocks: &[Id], end: &Inst, merge: Id) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![from];
        while let Some(label) = work.pop() {
            if label == merge || !seen.insert(label) || (label != from && self.find_label(label)?.is_some()) {
                continue;
            }
            self.pay(end, 1)?;
            if let Some(at) = blocks.iter().position(|&block| block == label && label != from) {
                found.push(at);
                continue;
            }
            if let Some(block) = self.frame()?.function.block(label) {
                work.extend(successors(&block.end));
            }
        }
        Ok(found)
    }
}
