//! Full precision only where it can be seen.
//!
//! A colour of eight bits per component may be either of the two numbers next to the exact one (Vulkan 1.0, conversion
//! to normalized fixed point). So what only such colours depend on may take the SFU's estimates as long as their errors make
//! less than half a step together.
//!
//! `sight` finds backwards what colours see of values, and what something else sees; `error` follows errors forwards, from
//! estimates to colours. If all estimates together are too much, those are left out first that cost most for what they save, by
//! `influence`; of logarithms among them the better estimate of `near_one` is tried.

mod error;
mod estimate;
mod influence;
mod near_one;
mod sight;
mod switch;

use std::cell::OnceCell;
use std::convert::Infallible;

use cranelift_entity::EntitySet;

use crate::ir::{Inst, Op, Shader};
use crate::pass::analysis::range::Range;
use crate::pass::rewrite::{Action, rewrite};
use error::Path;
pub use estimate::{BUDGET, EXP2, LOG2, LOG2_NEAR_ONE, RECIP, RSQRT, SINE};
use estimate::{COMPONENTS, Estimate, Off, better, estimate};
use influence::Influences;
pub use near_one::NEAR;
use sight::Sights;

/// Marks the operations that powers are made of, whoever sees their estimates.
pub fn estimate_powers(shader: &mut Shader) {
    for inst in shader.insts_in_order() {
        let data = &mut shader.insts[inst];
        data.relaxed |= matches!(data.op, Op::FExp2 | Op::FLog2);
    }
}

/// Marks operations whose estimate is good enough; `varyings` are bounds of the first ones.
pub fn run(shader: &mut Shader, varyings: &[Range]) {
    let order = shader.insts_in_order();
    let has_colors = order.iter().any(|&inst| shader.insts[inst].op.is(Op::PackUnorm8x4));
    if !has_colors || !order.iter().any(|&inst| estimate(shader.insts[inst].op).is_some()) {
        return;
    }
    let sights = Sights::of(shader, &order, varyings);
    let estimates: Vec<Inst> =
        order.iter().copied().filter(|&inst| may_be_estimate(shader, &sights, inst)).collect();
    let path = Path::of(shader, &order, &sights, &estimates);
    let influences = OnceCell::new();
    let mut chosen = vec![None; estimates.len()];
    for offered in [estimate, better] {
        let offers: Vec<(usize, Estimate)> = (0..estimates.len())
            .filter(|&n| chosen[n].is_none())
            .filter_map(|n| Some((n, offered(shader.insts[estimates[n]].op)?)))
            .collect();
        offers.iter().for_each(|&(n, offer)| chosen[n] = Some(offer.off));
        for component in 0..COMPONENTS {
            if !path.is_within(&chosen, component..component + 1) {
                let influences = influences.get_or_init(|| Influences::of(shader, &order, &sights));
                let price = |&(n, offer): &(usize, Estimate)| {
                    let value = shader.insts[estimates[n]].results[0];
                    influences.error(value, offer.off, component) / offer.saves as f32
                };
                leave_out(&path, &offers, price, component, &mut chosen);
            }
        }
        // What influences do not tell of.
        if !path.is_within(&chosen, 0..COMPONENTS) {
            offers.iter().for_each(|&(n, _)| chosen[n] = None);
        }
    }
    apply(shader, estimates.into_iter().zip(chosen));
}

/// Whether an instruction has an estimate, which only colours see.
fn may_be_estimate(shader: &Shader, sights: &Sights, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    estimate(data.op).is_some()
        && !data.relaxed
        && data.results.iter().all(|&result| sights.is_of_colors(result))
}

/// Leaves out of what is offered what costs a component most, until the rest is within its budget.
fn leave_out(
    path: &Path,
    offers: &[(usize, Estimate)],
    price: impl Fn(&(usize, Estimate)) -> f32,
    component: usize,
    chosen: &mut [Option<Off>],
) {
    let taken = offers.iter().filter(|&&(n, _)| chosen[n].is_some());
    let mut by_price: Vec<(f32, usize, Off)> =
        taken.map(|offer| (price(offer), offer.0, offer.1.off)).filter(|&(price, ..)| price > 0.0).collect();
    by_price.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut take = |count: usize| {
        for (rank, &(_, n, off)) in by_price.iter().enumerate() {
            chosen[n] = (rank < count).then_some(off);
        }
        path.is_within(chosen, component..component + 1)
    };
    // More of them never make less of an error.
    let (mut fits, mut exceeds) = (0, by_price.len());
    while fits < exceeds {
        let middle = (fits + exceeds).div_ceil(2);
        match take(middle) {
            true => fits = middle,
            false => exceeds = middle - 1,
        }
    }
    take(fits);
}

/// Makes the chosen operations estimates.
fn apply(shader: &mut Shader, chosen: impl Iterator<Item = (Inst, Option<Off>)>) {
    let mut logarithms = EntitySet::new();
    for (inst, off) in chosen {
        let data = &mut shader.insts[inst];
        match (data.op, off) {
            (_, None) => {}
            (Op::FLog2, Some(Off::Relative(_))) => {
                logarithms.insert(data.results[0]);
            }
            (_, Some(_)) => data.relaxed = true,
        }
    }
    if logarithms.is_empty() {
        return;
    }
    let result = rewrite(shader, |b, data| {
        let is_near_one = matches!(data.results[..], [result] if logarithms.contains(result));
        let log2 = is_near_one.then(|| near_one::log2(b, data.args[0]));
        Ok::<_, Infallible>(log2.map_or(Action::Keep, Action::with))
    });
    let Ok(()) = result;
}

#[cfg(test)]
mod tests;
