//! Full precision only where it can be seen.
//!
//! A colour of eight bits per component may be either of the two numbers next to the exact one (Vulkan 1.0, conversion
//! to normalized fixed point). So what only such colours depend on may take the SFU's estimates as long as their errors make
//! less than half a step together.
//!
//! `sight` finds backwards what colours see of values, and what something else sees; `error` follows errors forwards, from
//! estimates to colours. If all estimates together are too much, those are left out first that cost most for what they save, by
//! `influence`.

mod error;
mod estimate;
mod influence;
mod sight;
mod switch;

use crate::ir::{Inst, Op, Shader};
use error::Path;
pub use estimate::{BUDGET, EXP2, LOG2, RECIP, RSQRT, SINE};
use estimate::{COMPONENTS, estimate};
use influence::Influences;
use sight::Sights;

/// Marks the operations that powers are made of, whoever sees their estimates.
pub fn estimate_powers(shader: &mut Shader) {
    for inst in shader.insts_in_order() {
        let data = &mut shader.insts[inst];
        data.relaxed |= matches!(data.op, Op::FExp2 | Op::FLog2);
    }
}

/// Marks operations whose estimate is good enough.
pub fn run(shader: &mut Shader) {
    let order = shader.insts_in_order();
    let has_colors = order.iter().any(|&inst| shader.insts[inst].op.is(Op::PackUnorm8x4));
    if !has_colors || !order.iter().any(|&inst| estimate(shader.insts[inst].op).is_some()) {
        return;
    }
    let sights = Sights::of(shader, &order);
    let estimates: Vec<Inst> =
        order.iter().copied().filter(|&inst| may_be_estimate(shader, &sights, inst)).collect();
    let path = Path::of(shader, &order, &sights, &estimates);
    let mut chosen = vec![true; estimates.len()];
    if !path.is_within(&chosen, 0..COMPONENTS) {
        let influences = Influences::of(shader, &order, &sights);
        for component in 0..COMPONENTS {
            leave_out(shader, &path, &influences, &estimates, component, &mut chosen);
        }
        // What influences do not tell of.
        if !path.is_within(&chosen, 0..COMPONENTS) {
            return;
        }
    }
    for (&inst, _) in estimates.iter().zip(chosen).filter(|&(_, chosen)| chosen) {
        shader.insts[inst].relaxed = true;
    }
}

/// Whether an instruction has an estimate, which only colours see.
fn may_be_estimate(shader: &Shader, sights: &Sights, inst: Inst) -> bool {
    let data = &shader.insts[inst];
    estimate(data.op).is_some()
        && !data.relaxed
        && data.results.iter().all(|&result| sights.is_of_colors(result))
}

/// Leaves out what costs a component most for what it saves, until the rest is within its budget.
fn leave_out(
    shader: &Shader,
    path: &Path,
    influences: &Influences,
    estimates: &[Inst],
    component: usize,
    chosen: &mut [bool],
) {
    if path.is_within(chosen, component..component + 1) {
        return;
    }
    let price = |n: usize| {
        let data = &shader.insts[estimates[n]];
        let estimate = estimate(data.op)?;
        let price = influences.error(data.results[0], estimate, component) / estimate.saves as f32;
        (price > 0.0).then_some((price, n))
    };
    let mut by_price: Vec<(f32, usize)> =
        (0..estimates.len()).filter(|&n| chosen[n]).filter_map(price).collect();
    by_price.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // More of them never make less of an error.
    let (mut fits, mut exceeds) = (0, by_price.len());
    while fits < exceeds {
        let middle = (fits + exceeds).div_ceil(2);
        by_price.iter().enumerate().for_each(|(rank, &(_, n))| chosen[n] = rank < middle);
        match path.is_within(chosen, component..component + 1) {
            true => fits = middle,
            false => exceeds = middle - 1,
        }
    }
    by_price.iter().enumerate().for_each(|(rank, &(_, n))| chosen[n] = rank < fits);
}

#[cfg(test)]
mod tests;
