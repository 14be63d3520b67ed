//! The optimisation passes in their order.

use super::{opt_algebraic, opt_blocks, opt_cse, opt_dce, opt_flatten, opt_fold, opt_phi, opt_unroll};
use crate::ir::Shader;

/// Rounds after which nothing changes any more in all but contrived shaders.
const MAX_ROUNDS: usize = 24;

/// A pass: returns whether it changed anything.
pub type Pass = fn(&mut Shader) -> bool;

/// Passes that need each other's results until nothing changes. Copies of loop bodies are best made when the body is
/// tidy, so control flow comes last in a round.
pub const PASSES: [(&str, Pass); 8] = [
    ("opt_phi", opt_phi::run),
    ("opt_fold", opt_fold::run),
    ("opt_algebraic", opt_algebraic::run),
    ("opt_cse", opt_cse::run),
    ("opt_dce", opt_dce::run),
    ("opt_blocks", opt_blocks::run),
    ("opt_flatten", opt_flatten::run),
    ("opt_unroll", opt_unroll::run),
];

/// Runs all passes until none changes the shader. `after` is called behind each.
pub fn run(shader: &mut Shader, mut after: impl FnMut(&Shader, &'static str)) {
    // Passes that changed nothing since one did.
    let mut idle = 0;
    for (name, pass) in PASSES.into_iter().cycle().take(MAX_ROUNDS * PASSES.len()) {
        idle = if pass(shader) { 0 } else { idle + 1 };
        after(shader, name);
        if idle == PASSES.len() {
            return;
        }
    }
}
