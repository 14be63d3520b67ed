//! The programs of jobs.

use vc4::qpu::assemble;

pub const NOP: &str = "sig_none ; nop = nop() ; nop = nop() ;\n";
pub const END: &str = "sig_end ; nop = nop() ; nop = nop() ;\n";
pub const DONE: &str = "sig_unlock_score ; nop = nop() ; nop = nop() ;\n";
/// s and t of a place in a texture, or any two varyings, in r1 and r2.
const TWO_VARYINGS: &str = "sig_none ; r3 = or.always(a, a, ra15) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n\
    sig_none ; r1 = fadd.always(r1, r5) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r2 = fmul.always(a, r3) ;\n\
    sig_none ; r2 = fadd.always(r2, r5) ; nop = nop() ;\n";

pub fn words(text: &str) -> Vec<u64> {
    assemble(text).unwrap_or_else(|error| panic!("{text}\n{error}")).words
}

/// Writes go to row 0 of the VPM on.
const OUTPUT: &str = "sig_load_imm ; vw_setup = load32.always.ws(0x1a00) ; nop = load32() ;\n";

/// Reads of so many attribute words, at most 16, begin at row 0.
fn input(count: usize) -> String {
    let setup = 0x1a00 | (count & 15) << 20;
    format!("sig_load_imm ; vr_setup = load32.always({setup:#x}) ; nop = load32() ;\n{NOP}{NOP}")
}

/// Copies attribute words to the output: vertex and coordinate programs.
pub fn pass_through(count: usize) -> Vec<u64> {
    vertex(count, 0)
}

/// The same, with zeros behind.
pub fn vertex(count: usize, zeros: usize) -> Vec<u64> {
    words(&format!(
        "{OUTPUT}{}{}{}{END}{NOP}{NOP}",
        input(count),
        COPY.repeat(count),
        "sig_small_imm ; vpm = or.always(b, b, nop, 0) ; nop = nop() ;\n".repeat(zeros)
    ))
}

const COPY: &str = "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;\n\
    sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;\n";

/// A coordinate program that reads its first words so often before it copies all seven.
pub fn rereading(rounds: usize, words_each: usize) -> Vec<u64> {
    let read = "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;\n".repeat(words_each);
    let round = format!("{}{read}", input(words_each));
    words(&format!("{OUTPUT}{}{}{}{END}{NOP}{NOP}", round.repeat(rounds), input(7), COPY.repeat(7)))
}

/// A fragment program that takes uniforms in rounds of two: the first is an address, to which the stream moves, or else a word
/// like others. The address leads to where the stream would stand anyway: nothing else passes the kernel (kernel-abi.md §6.4), which
/// puts it there.
pub fn moving_uniforms(rounds: usize, moves: bool) -> Vec<u64> {
    let to = if moves { "uniforms_addr" } else { "r1" };
    let round = |n: usize| {
        let behind = 8 * n + 4;
        format!(
            "sig_load_imm ; r0 = load32.always({behind:#x}) ; nop = load32() ;\n\
             sig_none ; {to} = add.always(r0, a, uni) ; nop = nop() ;\n{NOP}{NOP}\
             sig_none ; r1 = or.always(a, a, uni) ; nop = nop() ;\n"
        )
    };
    fragment(&(0..rounds).map(round).collect::<String>())
}

/// Writes Z, then r0 as colour.
pub fn fragment(body: &str) -> Vec<u64> {
    words(&format!(
        "{body}sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}"
    ))
}

/// The colour is a uniform.
pub fn uniform_color() -> Vec<u64> {
    fragment(&format!("sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n{NOP}"))
}

/// White, without a test of depth: one access of the tile buffer.
pub fn white() -> Vec<u64> {
    words(&format!(
        "sig_load_imm ; r0 = load32.always(0xffffffff) ; nop = load32() ;\n{NOP}\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}"
    ))
}

/// Accesses of [`rewriting`].
pub const REWRITING: usize = 8;

/// Reads the four samples of a multisampled pixel and writes them again. The first access is in no program's first two instructions
/// (qpu.md §4.7).
pub fn rewriting() -> Vec<u64> {
    let write =
        |sample: &str| format!("sig_none ; tlb_color_ms = or.always({sample}, {sample}) ; nop = nop() ;\n");
    let keep = |sample: &str| format!("sig_color_load ; {sample} = or.always(r4, r4) ; nop = nop() ;\n");
    words(&format!(
        "{NOP}{NOP}sig_color_load ; nop = nop() ; nop = nop() ;\n{}\
         sig_none ; r3 = or.always(r4, r4) ; nop = nop() ;\n{}{END}{NOP}{DONE}",
        ["r0", "r1", "r2"].map(keep).concat(),
        ["r0", "r1", "r2", "r3"].map(write).concat(),
    ))
}

/// Two varyings are red and green; blue and alpha come as a uniform.
pub fn varying_color() -> Vec<u64> {
    fragment(&format!(
        "{TWO_VARYINGS}sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
         sig_none ; nop = nop.pm(r0, r0) ; r0.8a = v8min.always(r1, r1) ;\n\
         sig_none ; nop = nop.pm(r0, r0) ; r0.8b = v8min.always(r2, r2) ;\n"
    ))
}

/// A texture at two varyings; its words are the uniforms.
pub fn textured() -> Vec<u64> {
    fragment(&format!(
        "{TWO_VARYINGS}sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
         sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
         sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
         sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n"
    ))
}

/// Adds a uniform to the colour in the tile, byte by byte, up to 255.
pub fn adding() -> Vec<u64> {
    words(&format!(
        "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n{NOP}\
         sig_color_load ; nop = nop() ; nop = nop() ;\n\
         sig_none ; nop = nop() ; r0 = v8adds.always(r0, r4) ;\n\
         sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n{END}{NOP}{DONE}"
    ))
}

/// [`arithmetic_of`] of the pixel's place, and of a number as uniform.
pub fn arithmetic() -> Vec<u64> {
    fragment(
        "sig_none ; r0 = or.always(a, a, x_pix) ; nop = nop() ;\n\
         sig_none ; r1 = or.always(b, b, nop, y_pix) ; nop = nop() ;\n\
         sig_small_imm ; r2 = add.always(r0, b, nop, 3) ; nop = nop() ;\n\
         sig_small_imm ; r3 = add.always(r1, b, nop, 5) ; nop = nop() ;\n\
         sig_none ; nop = nop() ; r2 = mul24.always(r2, r3) ;\n\
         sig_none ; r2 = add.always(r2, a, uni) ; nop = nop() ;\n\
         sig_small_imm ; r3 = shl.always(r0, b, nop, 12) ; nop = nop() ;\n\
         sig_none ; r2 = xor.always(r2, r3) ; nop = nop() ;\n\
         sig_none ; r1 = itof.always(r1, r1) ; nop = nop() ;\n\
         sig_none ; nop = nop() ; r1 = fmul.always(r1, r1) ;\n\
         sig_none ; r1 = ftoi.always(r1, r1) ; nop = nop() ;\n\
         sig_none ; r0 = sub.always(r2, r1) ; nop = nop() ;\n",
    )
}

/// What [`arithmetic`] computes.
pub fn arithmetic_of(x: u32, y: u32, number: u32) -> u32 {
    (((x + 3) * (y + 5)).wrapping_add(number) ^ x << 12).wrapping_sub(y * y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::qpu::{Declared, Inst, Stage, check_declared};
    use vc4_kernel_abi::validate::{Mode, shader};

    #[test]
    fn programs_keep_to_the_rules() {
        let programs = [
            (Stage::Vertex, pass_through(5), 0),
            (Stage::Coordinate, pass_through(7), 0),
            (Stage::Coordinate, rereading(3, 7), 0),
            (Stage::Vertex, vertex(3, 32), 0),
            (Stage::Fragment, uniform_color(), 0),
            (Stage::Fragment, varying_color(), 2),
            (Stage::Fragment, textured(), 2),
            (Stage::Fragment, adding(), 0),
            (Stage::Fragment, arithmetic(), 0),
            (Stage::Fragment, white(), 0),
            (Stage::Fragment, rewriting(), 0),
            (Stage::Fragment, moving_uniforms(3, true), 0),
            (Stage::Fragment, moving_uniforms(3, false), 0),
        ];
        for (stage, words, varyings) in programs {
            let insts: Vec<Inst> = words.iter().map(|word| Inst::decode(*word).expect("decodes")).collect();
            let violations = check_declared(stage, &insts, Declared { varyings: Some(varyings) });
            let text = vc4::qpu::rules::render(&insts, &violations);
            assert!(violations.is_empty(), "{stage:?}\n{text}");
            shader::validate(&words, Mode::Strict).unwrap_or_else(|error| panic!("{stage:?}: {error}"));
        }
    }
}
