//! The optimisation passes in their order.

use super::{algebraic, blocks, counters, cse, dce, dead_loops, flatten, fold, phi, unroll};
use crate::ir::Shader;

/// Rounds after which nothing changes any more in all but contrived shaders.
const MAX_ROUNDS: usize = 24;

/// A pass: returns whether it changed anything.
pub type Pass = fn(&mut Shader) -> bool;

/// A pass among those that need each other's results.
pub struct Step {
    /// Its name.
    pub name: &'static str,
    /// The pass.
    pub pass: Pass,
    /// How many passes behind it, in the round and the next one, may find work in what it changed.
    wakes: usize,
}

const fn step(name: &'static str, pass: Pass, wakes: usize) -> Step {
    Step { name, pass, wakes }
}

/// The passes of a round.
const ALL: usize = 10;

/// Passes that need each other's results until nothing changes. Copies of loop bodies are best made when the body is
/// tidy, so control flow comes last in a round.
pub const PASSES: [Step; ALL] = [
    step("opt_phi", phi::run, ALL),
    step("opt_fold", fold::run, ALL),
    step("opt_algebraic", algebraic::run, ALL),
    step("opt_counters", counters::run, ALL),
    // One sweep finds all there are.
    step("opt_cse", cse::run, ALL - 1),
    // What is gone was of no use to others, but control flow counts what is left.
    step("opt_dce", dce::run, 4),
    step("opt_blocks", blocks::run, ALL),
    // Behind what cuts off ways that are never taken: a loop without any is kept.
    step("opt_dead_loops", dead_loops::run, ALL),
    step("opt_flatten", flatten::run, ALL),
    step("opt_unroll", unroll::run, ALL),
];

/// Runs all passes until none changes the shader. `after` is called behind each.
pub fn run(shader: &mut Shader, mut after: impl FnMut(&Shader, &'static str)) {
    // Passes that have nothing to do since the last one that did something.
    let mut idle = 0;
    for step in PASSES.iter().cycle().take(MAX_ROUNDS * ALL) {
        let changed = (step.pass)(shader);
        idle = if changed { (idle + 1).min(ALL - step.wakes) } else { idle + 1 };
        after(shader, step.name);
        if idle == ALL {
            return;
        }
    }
}
