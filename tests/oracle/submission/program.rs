//! The programs of valid submissions.

/// A fragment program with what it needs.
#[derive(Clone, Copy)]
pub struct Fragment {
    pub code: &'static str,
    pub varyings: u8,
    pub threaded: bool,
    /// Texture handles before the uniforms.
    pub textures: usize,
    pub uniforms: &'static [Uniform],
}

#[derive(Clone, Copy)]
pub enum Uniform {
    Word(u32),
    /// p0 and p1 of a 2D texture.
    P0,
    P1,
    Anything,
}

pub const END: &str = "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;\n\
    sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n\
    sig_end ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n\
    sig_unlock_score ; nop = nop() ; nop = nop() ;\n";

pub const TWO_VARYINGS: &str = "sig_none ; r3 = or.always(a, a, ra15) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r1 = fmul.always(a, r3) ;\n\
    sig_none ; r1 = fadd.always(r1, r5) ; nop = nop() ;\n\
    sig_none ; nop = nop(r0, r0, vary) ; r2 = fmul.always(a, r3) ;\n\
    sig_none ; r2 = fadd.always(r2, r5) ; nop = nop() ;\n";

use Uniform::{Anything, P0, P1, Word};

pub const FRAGMENTS: &[Fragment] = &[
    Fragment {
        code: "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Anything],
    },
    Fragment {
        code: "sig_none ; tlb_stencil_setup = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_color_load ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = v8adds.always(r0, r4) ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Word(3 << 30 | 3 << 28 | 1 << 25 | 3 << 22 | 1 << 19 | 7 << 16 | 0xff), Anything],
    },
    Fragment {
        code: "V sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: false,
        textures: 1,
        uniforms: &[P0, P1],
    },
    Fragment {
        code: "V sig_none ; tmu1_r = or.always(r1, r1) ; nop = nop() ;\n\
               sig_none ; tmu1_b = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu1_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu1_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu1 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: false,
        textures: 1,
        uniforms: &[P0, P1, Anything, Anything],
    },
    Fragment {
        code: "sig_small_imm ; r0 = max.always(a, b, x_pix, 0) ; nop = nop() ;\n\
               sig_none ; r0 = min.always(r0, a, uni) ; nop = nop() ;\n\
               sig_none ; tmu0_s = add.always(r0, a, uni) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 1,
        uniforms: &[Word(4000), Word(64)],
    },
    Fragment {
        code: "sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\n\
               top: sig_small_imm ; r0 = sub.sf.always(r0, b, nop, 1) ; nop = nop() ;\n\
               sig_branch ; nop = branch.rel(top, any_zc) ; nop = branch() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\nsig_none ; nop = nop() ; nop = nop() ;\n\
               sig_none ; nop = nop() ; nop = nop() ;\n",
        varyings: 0,
        threaded: false,
        textures: 0,
        uniforms: &[Word(5)],
    },
    Fragment {
        code: "V sig_last_thread_switch ; nop = nop() ; nop = nop() ;\n\
               sig_none ; tmu0_t = or.always(r2, r2) ; nop = nop() ;\n\
               sig_none ; tmu0_s = or.always(r1, r1) ; nop = nop() ;\n\
               sig_load_tmu0 ; nop = nop() ; nop = nop() ;\n\
               sig_none ; r0 = or.always(r4, r4) ; nop = nop() ;\n",
        varyings: 2,
        threaded: true,
        textures: 1,
        uniforms: &[P0, P1],
    },
];

pub fn assemble(text: &str) -> Vec<u64> {
    vc4::qpu::assemble(text).unwrap_or_else(|error| panic!("{text}\n{error}")).words
}

/// Copies so many attribute words to the output.
pub fn pass_through(words: usize) -> Vec<u64> {
    let nop = "sig_none ; nop = nop() ; nop = nop() ;\n";
    let mut text = format!(
        "sig_load_imm ; vw_setup = load32.always.ws(0x1a00) ; nop = load32() ;\n\
         sig_load_imm ; vr_setup = load32.always({:#x}) ; nop = load32() ;\n{nop}{nop}",
        0x1a00 | (words & 15) << 20
    );
    for _ in 0..words {
        text += "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;\n";
        text += "sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;\n";
    }
    assemble(&format!("{text}sig_end ; nop = nop() ; nop = nop() ;\n{nop}{nop}"))
}
