//! Random programs beside an interpreter of single invocations.

use super::support::programs::{INPUT, Uses, program};
use proptest::prelude::*;

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
