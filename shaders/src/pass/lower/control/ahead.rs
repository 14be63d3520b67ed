//! What the head of a loop gives where it runs ahead.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::facts::{Facts, Leaver};
use super::head::Head;
use crate::ir::{Builder, Inst, Op, Replacements, Value};

/// A head that has run ahead.
pub struct Ahead<'a> {
    head: &'a Head,
    /// What stands for the loop's phis, and for what the head makes.
    values: BTreeMap<Value, Value>,
    /// For each guard the elements that it lets pass.
    passes: Vec<Value>,
}

impl<'a> Ahead<'a> {
    /// Runs a head where `phis` of the loop are `values`; what is made outside of it is what `map` says.
    pub fn run(
        head: &'a Head,
        b: &mut Builder<'_>,
        map: &Replacements,
        phis: &[Inst],
        values: &[Value],
    ) -> Ahead<'a> {
        let results = phis.iter().map(|&inst| b.shader.insts[inst].results[0]);
        let mut ahead =
            Ahead { head, values: results.zip(values.iter().copied()).collect(), passes: Vec::new() };
        let around = b.shader.line;
        for step in &head.steps {
            let args: SmallVec<[Value; 4]> = step.args.iter().map(|&arg| ahead.seen(map, arg)).collect();
            b.shader.line = step.line;
            let mut b =
                Builder { relaxed: step.relaxed, exact: step.exact, ..Builder::new(b.shader, b.block) };
            ahead.values.insert(step.result, b.op(step.op, &args));
        }
        b.shader.line = around;
        for guard in &head.guards {
            let cond = ahead.seen(map, guard.cond);
            ahead.passes.push(if guard.passes { cond } else { b.op(Op::BNot, &[cond]) });
        }
        ahead
    }

    /// What stands for a value.
    fn seen(&self, map: &Replacements, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or_else(|| map.resolve(value))
    }

    /// Of `running`, the elements that all guards let pass.
    pub fn passing(&self, b: &mut Builder<'_>, running: Value) -> Value {
        self.passes.iter().fold(running, |passing, &passes| b.op(Op::BAnd, &[passing, passes]))
    }

    /// What leaves the loop with elements that a guard turns away.
    pub fn turned_away(&self, b: &mut Builder<'_>, map: &Replacements, leaver: Leaver) -> Option<Value> {
        let inst = match leaver {
            Leaver::Value(value) => return Some(self.seen(map, value)),
            Leaver::Phi(inst) => inst,
        };
        let mut chosen = None;
        for (guard, &passes) in self.head.guards.iter().zip(&self.passes).rev() {
            let data = &b.shader.insts[inst];
            let Some(way) = data.phi_blocks.iter().position(|&from| from == guard.exit) else { continue };
            let value = self.seen(map, data.args[way]);
            chosen = Some(match chosen {
                Some(later) => b.select(passes, later, value),
                None => value,
            });
        }
        chosen
    }

    /// What the phis that carry leavers start with, where some elements do not enter the loop: `starts` are those of the header's
    /// phis, which `running` elements begin with.
    pub fn start(
        &self,
        b: &mut Builder<'_>,
        map: &Replacements,
        facts: &Facts,
        running: Value,
        starts: &mut [Value],
    ) {
        let mut own = facts.header.len();
        for (&leaver, &keeper) in facts.leavers.iter().zip(&facts.keepers) {
            let phi = keeper.unwrap_or(own);
            own += usize::from(keeper.is_none());
            let Some(value) = self.turned_away(b, map, leaver) else { continue };
            starts[phi] = match keeper {
                Some(_) => b.select(running, starts[phi], value),
                None => value,
            };
        }
    }
}
