//! Whether a machine's QPUs behave otherwise than machine code and the fast ways of the interpreter have it.

use vc4::facts::Facts;

/// Whether some answer about the QPUs is another one than is assumed.
pub(super) fn is_other_machine(facts: &Facts) -> bool {
    let of_qpus = |facts: &Facts| {
        let Facts { branch_element, mul_flags, pack_a, unmapped_reads, rev_flag, fmul_rounding, .. } = *facts;
        let Facts { mul24_carry, infinite_sums, small_sums, ftoi_range, f16_rounding, .. } = *facts;
        let Facts { unorm8_halves, exp2_nan, recip_one, saturating_packs, .. } = *facts;
        let around = (branch_element, mul_flags, pack_a, unmapped_reads, rev_flag);
        let packs = (f16_rounding, unorm8_halves, saturating_packs);
        let functions = (exp2_nan, recip_one);
        (around, packs, functions, fmul_rounding, mul24_carry, infinite_sums, small_sums, ftoi_range)
    };
    of_qpus(facts) != of_qpus(&Facts::default())
}
