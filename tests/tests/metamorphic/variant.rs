//! The forms that a program is compiled in: all must mean what the plain one does.

use crate::random::Random;
use crate::transform::{TRANSFORMS, Transform};

/// How a program is changed before it is compiled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    Plain,
    /// spirv-opt with these flags.
    Optimised(&'static [&'static str]),
    /// spirv-opt with passes that follow from the number, in an order that no flag has.
    Passes(u64),
    Changed(Transform),
    /// As a compute shader, behind spirv-opt where there are flags.
    Kernel(&'static [&'static str]),
}

/// Passes of spirv-opt that keep a module's meaning. Some do not before others have run: --loop-invariant-code-motion moves
/// loads across stores.
const PASSES: &[&str] = &[
    "--inline-entry-points-exhaustive",
    "--merge-return",
    "--ssa-rewrite",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--scalar-replacement=100",
    "--convert-local-access-chains",
    "--private-to-local",
    "--eliminate-dead-branches",
    "--eliminate-dead-code-aggressive",
    "--merge-blocks",
    "--if-conversion",
    "--loop-unroll",
    "--loop-unroll-partial=2",
    "--simplify-instructions",
    "--redundancy-elimination",
    "--local-redundancy-elimination",
    "--copy-propagate-arrays",
    "--reduce-load-size",
    "--combine-access-chains",
    "--vector-dce",
    "--ccp",
    "--cfg-cleanup",
    "--strength-reduction",
    "--wrap-opkill",
    "--unify-const",
];

/// Up to six passes.
pub fn passes(number: u64) -> Vec<&'static str> {
    let mut random = Random(number);
    (0..2 + random.below(5)).map(|_| PASSES[random.below(PASSES.len())]).collect()
}

/// Variants of the program of a seed; the longer run has `all`. The plain one comes before those that spirv-opt makes of its
/// module: starting glslangValidator costs more than all the rest.
pub fn variants(seed: u64, all: bool) -> Vec<Variant> {
    let mut variants = vec![
        Variant::Plain,
        Variant::Optimised(&["-O"]),
        Variant::Optimised(&["-Os"]),
        Variant::Changed(TRANSFORMS[(seed % TRANSFORMS.len() as u64) as usize]),
        Variant::Kernel(&[]),
    ];
    if all {
        variants.push(Variant::Kernel(&["-O"]));
        variants.extend([Variant::Passes(2 * seed), Variant::Passes(2 * seed + 1)]);
    }
    variants
}
