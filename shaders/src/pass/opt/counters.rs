//! Counters that have farther to go than a program lives: translators of WGSL add one to every loop, 64 bits that count down to the
//! iteration that ends what would never end. The kernel ends it long before.

use smallvec::SmallVec;

use crate::ir::{Op, Shader, Stage, Value, has_loop};

/// Iterations that no job lives to see: of the shortest loop they take minutes.
const FAR: u32 = 1 << 31;

/// Decides comparisons that such counters do not come to. Returns whether anything changed. Kernels that run on the CPU may take their
/// time.
pub fn run(shader: &mut Shader) -> bool {
    if shader.stage == Stage::Compute || !has_loop(&shader.body) {
        return false;
    }
    let mut changed = false;
    for inst in shader.insts_in_order() {
        let data = &shader.insts[inst];
        let never = match data.op {
            Op::IEq => false,
            Op::INe => true,
            _ => continue,
        };
        let [a, b] = data.args[..] else { continue };
        if [(a, b), (b, a)].into_iter().any(|(counter, end)| is_far(shader, counter, end)) {
            let data = &mut shader.insts[inst];
            data.op = Op::ConstBool(never);
            data.args.clear();
            changed = true;
        }
    }
    changed
}

/// Whether a value is a counter that steps by one, and comes to a constant after more than [`FAR`] iterations.
fn is_far(shader: &Shader, counter: Value, end: Value) -> bool {
    let Some(end) = shader.const_of(end) else { return false };
    let phi = &shader.insts[shader.values[counter].inst];
    if !phi.op.is(Op::Phi) {
        return false;
    }
    let mut starts: SmallVec<[u32; 2]> = SmallVec::new();
    let mut step = None;
    for &arg in phi.args.iter().filter(|&&arg| arg != counter) {
        match (shader.const_of(arg), steps(shader, arg, counter)) {
            (Some(start), _) => starts.push(start),
            (None, Some(by)) if step.is_none_or(|step| step == by) => step = Some(by),
            _ => return false,
        }
    }
    starts
        .iter()
        .all(|&start| step.and_then(|step| iterations(start, end, step)).is_some_and(|count| count >= FAR))
}

/// After how many iterations a counter comes from `start` to `end`, if it steps by one or by minus one.
fn iterations(start: u32, end: u32, step: u32) -> Option<u32> {
    match step {
        1 => Some(end.wrapping_sub(start)),
        u32::MAX => Some(start.wrapping_sub(end)),
        _ => None,
    }
}

/// By how much a value is more than the counter.
fn steps(shader: &Shader, value: Value, counter: Value) -> Option<u32> {
    match (shader.op(value), shader.args(value)) {
        (Op::IAdd, &[a, b]) if a == counter => shader.const_of(b),
        (Op::IAdd, &[a, b]) if b == counter => shader.const_of(a),
        (Op::ISub, &[a, b]) if a == counter => shader.const_of(b).map(u32::wrapping_neg),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_come_to_their_end_step_by_step() {
        for (start, end, step, count) in [
            (0, 12, 1, 12),
            (12, 0, u32::MAX, 12),
            (0, 0, 1, 0),
            (7, 7, u32::MAX, 0),
            (0, u32::MAX, 1, u32::MAX),
            (u32::MAX, 0, u32::MAX, u32::MAX),
            (12, 0, 1, u32::MAX - 11),
        ] {
            assert_eq!(iterations(start, end, step), Some(count), "{start} to {end} by {step:#x}");
        }
        assert_eq!(iterations(0, 12, 2), None);
    }
}
