//! Experiments with programs: each computes a word of two uniforms in r1 and r2, and leaves it in r0.

use super::common::{all, cells, draw, picture};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::Draw;
use crate::jobs::programs::{NOP, fragment};

const OPERANDS: &str = "sig_none ; r1 = or.always(a, a, uni) ; nop = nop() ;\n\
    sig_none ; r2 = or.always(a, a, uni) ; nop = nop() ;\n\
    sig_none ; r0 = sub.always(r1, r1) ; nop = nop() ;\n";

/// The words that the program makes of pairs of words.
fn words(bench: &Bench<'_>, body: &str, pairs: &[[u32; 2]]) -> Result<Vec<u32>, Failure> {
    let code = fragment(&format!("{OPERANDS}{body}"));
    let one = |pair: &[u32; 2]| Draw { fragment: code.clone(), uniforms: pair.to_vec(), ..draw(all(0.5)) };
    cells(bench, pairs.iter().map(one).collect())
}

const INF: u32 = 0x7f80_0000;
const NAN: u32 = 0x7fc0_0001;
const ONE: u32 = 0x3f80_0000;
const SIGN: u32 = 1 << 31;

/// qpu.md §2.4.
pub fn fmul_rounding(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; nop = nop() ; r0 = fmul.always(r1, r2) ;\n";
    words(bench, body, &[[0x3f80_0001, 0x3fc0_0001], [0xbf80_0003, 0x3fa0_0001]])
}

/// qpu.md §2.4.
pub fn mul24_carry(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; nop = nop.sf() ; r3 = mul24.always(r1, r2) ;\n\
        sig_small_imm ; r0 = or.cs(b, b, nop, 1) ; nop = nop() ;\n";
    words(bench, body, &[[0x1000, 0x0fff], [0x1000, 0x1000], [0xff_ffff, 0xff_ffff]])
}

/// qpu.md §2.3.
pub fn infinite_sums(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; r0 = fadd.always(r1, r2) ; nop = nop() ;\n";
    words(bench, body, &[[INF, INF | SIGN], [INF | SIGN, INF], [NAN, INF | SIGN], [INF | SIGN, NAN]])
}

/// qpu.md §2.3: differences that are just below the larger number, and their mirror images.
pub fn small_sums(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; r0 = fadd.always(r1, r2) ; nop = nop() ;\n";
    let pairs = [[1.0, -f32::EPSILON / 64.0], [f32::EPSILON / 16.0, -1.0], [6_291_456.0, -1.0 / 4096.0]];
    words(bench, body, &pairs.map(|pair: [f32; 2]| pair.map(f32::to_bits)))
}

/// qpu.md §2.11: sums that overflow, of other operands than were recorded.
pub fn saturating_packs(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let of = |pack: &str| {
        let body = format!(
            "sig_none ; rx0 = or.always(r0, r0) ; nop = nop() ;\n{NOP}\
             sig_none ; rx0.{pack} = add.always(r1, r2) ; nop = nop() ;\n{NOP}\
             sig_none ; r0 = or.always(a, a, ra0) ; nop = nop() ;\n"
        );
        words(
            bench,
            &body,
            &[[0x7fff_ffff, 0x7fff_fffa], [0x8000_0000, 0x8000_0003], [0x7654_3210, 0x1234_5678]],
        )
    };
    Ok([of("16a.sat")?, of("8a.sat")?].concat())
}

/// qpu.md §2.3.
pub fn ftoi_range(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; r0 = ftoi.always(r1, r1) ; nop = nop() ;\n";
    let operands = [2_147_483_648.0f32, -2_147_483_648.0, 3e9, -3e9, f32::INFINITY].map(|x| [x.to_bits(), 0]);
    words(bench, body, &operands)
}

/// qpu.md §2.11.
pub fn f16_rounding(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "sig_none ; rx0 = or.always(r0, r0) ; nop = nop() ;\n{NOP}\
         sig_none ; rx0.16a = fmin.always(r1, r1) ; nop = nop() ;\n{NOP}\
         sig_none ; r0 = or.always(a, a, ra0) ; nop = nop() ;\n"
    );
    words(bench, &body, &[[0x3f80_0001, 0], [0x3f80_1000, 0], [0x3f80_1fff, 0], [0x3f80_3000, 0]])
}

/// qpu.md §2.11: 255 times one half is the only exact one.
pub fn unorm8_halves(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; nop = nop.pm() ; r0.8a = v8min.always(r1, r1) ;\n";
    words(bench, body, &[[0.5f32.to_bits(), 0]])
}

/// qpu.md §4.4: of 1 and of -1.
pub fn recip_one(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "sig_none ; sfu_recip = or.always(r1, r1) ; nop = nop() ;\n{NOP}{NOP}\
         sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n"
    );
    words(bench, &body, &[[ONE, 0], [ONE | SIGN, 0]])
}

/// qpu.md §4.4.
pub fn exp2_nan(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "sig_none ; sfu_exp = or.always(r1, r1) ; nop = nop() ;\n{NOP}{NOP}\
         sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n"
    );
    words(bench, &body, &[[NAN, 0], [NAN | SIGN, 0]])
}

/// The elements in which a program over the whole target leaves something above its number in the low byte. Which pixel has which
/// element is nobody's business.
fn elements(bench: &Bench<'_>, code: Vec<u64>) -> Result<Vec<u32>, Failure> {
    let seen = picture(bench, &[Draw { fragment: code, uniforms: vec![0, 0], ..draw(all(0.5)) }])?;
    let marked = seen.words.iter().filter(|word| *word >> 8 != 0);
    Ok(vec![marked.fold(0, |mask, word| mask | 1 << (word & 15))])
}

/// qpu.md §2.7: element numbers turned by one, and which of the elements count as zero.
pub fn mul_flags(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "{OPERANDS}sig_none ; r0 = or.always(a, a, elem) ; nop = nop() ;\n\
         sig_none ; r2 = sub.always(r1, r1) ; nop = nop() ;\n{NOP}\
         sig_small_imm ; nop = nop.sf(r0, r0, nop, rot1) ; r1 = v8min.always(r0, r0) ;\n\
         sig_small_imm ; r2 = or.zs(b, b, nop, 1) ; nop = nop() ;\n\
         sig_small_imm ; r2 = shl.always(r2, b, nop, 8) ; nop = nop() ;\n\
         sig_none ; r0 = or.always(r0, r2) ; nop = nop() ;\n"
    );
    elements(bench, fragment(&body))
}

/// qpu.md §3.2.
pub fn pack_a(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = "sig_none ; r0 = or.always(r2, r2) ; nop = nop() ;\n\
        sig_none ; r0.16a = or.always(r1, r1) ; nop = nop() ;\n";
    words(bench, body, &[[0x1234, 0xffff_ffff]])
}

/// qpu.md §3.1: address 33, which the assembler has no name for, in the place of the element number's.
pub fn unmapped_reads(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    const WITHOUT_NAME: u64 = 33;
    const RADDR_A: u32 = 18;
    let mut code = fragment(
        "sig_none ; r0 = or.always(a, a, elem) ; nop = nop() ;\n\
         sig_small_imm ; r1 = or.always(b, b, nop, 1) ; nop = nop() ;\n\
         sig_small_imm ; r1 = shl.always(r1, b, nop, 8) ; nop = nop() ;\n\
         sig_none ; r0 = or.always(r0, r1) ; nop = nop() ;\n",
    );
    code[0] = code[0] & !(63 << RADDR_A) | WITHOUT_NAME << RADDR_A;
    elements(bench, code)
}

/// qpu.md §3.2: a bit in element 0 alone.
pub fn rev_flag(bench: &Bench<'_>) -> Result<Vec<u32>, Failure> {
    let body = format!(
        "sig_none ; r1 = or.sf.always(a, a, elem) ; nop = nop() ;\n\
         sig_none ; r2 = sub.always(r1, r1) ; nop = nop() ;\n\
         sig_small_imm ; r2 = or.zs(b, b, nop, 1) ; nop = nop() ;\n\
         sig_none ; rev_flags = or.always.ws(r2, r2) ; nop = nop() ;\n{NOP}{NOP}\
         sig_none ; r0 = or.always(b, b, nop, rev_flag) ; nop = nop() ;\n"
    );
    cells(bench, vec![Draw { fragment: fragment(&body), ..draw(all(0.5)) }])
}
