//! Values of a block that are made again together: none of them frees a register alone, but all of them are made of few.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Order;
use crate::ir::Value;
use crate::pass::opt::relieve::cut;
use crate::work;

/// Registers that have to become free, if so much work is to be worth it.
const LEAST_FREED: usize = 4;

/// A set of the values that are kept, a bit each.
type Set = u128;

impl Order<'_> {
    /// Makes what is alive here of as few values as are to be alive in the end. Whether these are fewer.
    pub fn again_together(&mut self) -> bool {
        let alive = self.live.values().to_vec();
        if self.done.len() >= self.plan.longest {
            return false;
        }
        let is_fixed = |value: Value| !self.plan.repeatable.contains(value);
        let most = self.preference.many;
        let limit = self.preference.most.min(Set::BITS as usize);
        let kept = cut::kept(&alive, |value| self.operands_of(value).iter().copied(), is_fixed, most, limit);
        let Some(kept) = kept.filter(|kept| kept.len() + LEAST_FREED <= alive.len()) else { return false };
        let made_of = self.made_of(&alive, &kept);
        let mut wanted: Vec<(usize, Set)> = alive
            .iter()
            .filter(|value| !kept.contains(value))
            .filter_map(|value| Some((self.place_of(*value)?, made_of[value])))
            .collect();
        let mut is_alive = bits(&kept, |value| self.live.contains(value));
        let kept: FxHashSet<Value> = kept.into_iter().collect();
        // Those come first for which few of what is kept comes alive, and users before what they use.
        let next = |wanted: &[(usize, Set)], is_alive: Set| {
            let price = |&(at, of): &(usize, Set)| ((of & !is_alive).count_ones(), Reverse(at));
            work::count(wanted.len());
            (0..wanted.len()).min_by_key(|&n| price(&wanted[n]))
        };
        while let Some(n) = next(&wanted, is_alive) {
            let (at, of) = wanted.swap_remove(n);
            is_alive |= of;
            self.make_from(at, &kept);
        }
        self.live.values().len() < alive.len()
    }

    /// The operands in registers of what makes a value in the block.
    fn operands_of(&self, value: Value) -> &[Value] {
        self.place_of(value).map_or(&[][..], |at| &self.plan.room[at])
    }

    /// Which of the values that are kept each other one is made of that is alive, or on the way to one that is.
    fn made_of(&self, alive: &[Value], kept: &[Value]) -> FxHashMap<Value, Set> {
        let mut made_of: FxHashMap<Value, Set> =
            kept.iter().zip(0..).map(|(&value, n)| (value, 1 << n)).collect();
        let mut between: BTreeSet<(usize, Value)> = BTreeSet::new();
        let mut open: Vec<Value> = alive.to_vec();
        while let Some(value) = open.pop() {
            let Some(at) = self.place_of(value).filter(|_| !made_of.contains_key(&value)) else { continue };
            if between.insert((at, value)) {
                open.extend(self.operands_of(value));
            }
        }
        // What values are made of stands in front of them.
        for (_, value) in between {
            let operands = self.operands_of(value).iter();
            let of = operands.filter_map(|operand| made_of.get(operand)).fold(0, |all, of| all | of);
            made_of.insert(value, of);
        }
        alive.iter().for_each(|&value| {
            made_of.entry(value).or_default();
        });
        made_of
    }

    /// Makes a value here with all that it takes, for itself: what is shared would be alive for as long as all of them are made.
    fn make_from(&mut self, at: usize, kept: &FxHashSet<Value>) {
        let mut open: BTreeSet<usize> = [at].into();
        // Users stand in front of what they use.
        while let Some(at) = open.pop_last() {
            let was_alive = |order: &Self, operand: &Value| order.live.contains(*operand);
            let new: Vec<Value> =
                self.plan.room[at].iter().copied().filter(|operand| !was_alive(self, operand)).collect();
            if self.waiting[at] == 0 {
                self.put(at);
            } else {
                self.make_again(self.shader.insts[self.plan.insts[at]].results[0]);
            }
            for operand in new.into_iter().filter(|operand| !kept.contains(operand)) {
                open.extend(self.place_of(operand));
            }
        }
    }
}

/// A bit for each value for which something holds.
fn bits(values: &[Value], holds: impl Fn(Value) -> bool) -> Set {
    values.iter().zip(0..).filter(|(value, _)| holds(**value)).fold(0, |set, (_, n)| set | 1 << n)
}
