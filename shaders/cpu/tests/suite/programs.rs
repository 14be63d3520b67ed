//! Random programs beside an interpreter of single invocations.

use super::support::programs::{INPUT, Uses, program};
use super::support::{buffer, compute};
use proptest::prelude::*;
use vc4_shaders::ir::{Builder, BuiltinInput, Invocation, Memory, Op};

const SIZES: [[u32; 3]; 8] =
    [[1, 1, 1], [4, 1, 1], [6, 1, 1], [8, 2, 1], [5, 3, 1], [2, 2, 2], [3, 1, 1], [1, 12, 1]];

fn check(seed: u64, size: usize, uses: Uses) {
    let size = SIZES[size];
    let shader = program(seed, size, uses);
    let input = (0..INPUT).map(|at| (at.wrapping_mul(0x9e37_79b9) ^ seed as u32) >> (at % 29)).collect();
    let results = 8 * 3 * size.iter().product::<u32>() as usize;
    super::support::compare(
        &shader,
        [3, 1, 1],
        &[9, seed as u32 % 7],
        &[input, vec![0xdead; results], vec![0; 8]],
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn programs_without_barriers(seed: u64, size in 0..SIZES.len()) {
        check(seed, size, Uses { barriers: false, subgroups: false });
    }

    #[test]
    fn programs_with_barriers(seed: u64, size in 0..SIZES.len()) {
        check(seed, size, Uses { barriers: true, subgroups: false });
    }

    #[test]
    fn programs_of_subgroups(seed: u64, size in 0..SIZES.len(), barriers: bool) {
        check(seed, size, Uses { barriers, subgroups: true });
    }
}

/// Thousands of steps in one block, each of which uses what was there from the start: code of them is made in a moment.
#[test]
fn long_straight_programs() {
    let mut shader = compute([8, 1, 1], 0, 0);
    let entry = shader.entry().unwrap();
    let b = &mut Builder::new(&mut shader, entry);
    let memory = Memory::Buffer(buffer(0));
    let local = b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalId(0))), &[])[0];
    let four = b.word(4);
    let place = b.imul(local, four);
    let mut input = |offset| b.emit(Op::Load { memory, offset }, &[place])[0];
    let inputs = [0, 64, 128, 192].map(&mut input);
    let mut sum = inputs[0];
    for n in 0..4000_u32 {
        let constant = b.word(n.wrapping_mul(0x9e37_79b9));
        let bound = b.op(Op::UMax, &[inputs[1], constant]);
        let low = b.op(Op::UMin, &[sum, inputs[2]]);
        let mixed = b.op(Op::Xor, &[low, bound]);
        sum = b.op([Op::IAdd, Op::ISub, Op::IMul][n as usize % 3], &[mixed, inputs[3]]);
    }
    b.emit(Op::Store { memory, offset: 0 }, &[place, sum]);
    let input = (0..64_u32).map(|at| at.wrapping_mul(0x85eb_ca6b) ^ 0x1234_5678).collect();
    super::support::compare(&shader, [1, 1, 1], &[], &[input]);
}
