//! Whatever the program, splicing ends with a program that obeys the rules or with an error.

use super::*;
use crate::facts::NearPlane;
use crate::image::Format;
use crate::qpu::{Inst, Stage, assemble, check_program, uniform_reads};
use crate::state::depth_stencil::DepthStencilPlan;
use crate::state::depth_stencil::StencilPlan;
use crate::state::vertex_fetch::{Numeric, Packing};
use crate::state::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput, Multisample, VertexFormat};
use proptest::prelude::*;

const END: &str = "sig_end ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;";

fn insts(text: &str) -> Vec<Inst> {
    assemble(text).expect(text).instructions().expect(text)
}

fn states() -> Vec<FragmentState> {
    let plain = FragmentState::plain(ColorOutput::plain(Format::R8G8B8A8.info(), false));
    let equation = BlendEquation {
        src: BlendFactor::ConstantAlpha,
        dst: BlendFactor::OneMinusSrcAlpha,
        op: BlendOp::Add,
    };
    let mut blended = plain;
    if let Some(color) = &mut blended.color {
        color.blend = Some(Blend { color: equation, alpha: equation });
    }
    blended.depth_stencil = DepthStencilPlan { write_z: true, stencil: StencilPlan::Full };
    let registers = SourceColor::Registers([Reg::Acc(0), Reg::A(3), Reg::B(4), Reg::B(5)]);
    let mut samples = FragmentState { source: registers, ..blended };
    samples.color = samples.color.map(|color| ColorOutput { multisample: true, ..color });
    samples.multisample =
        Multisample { four_samples: true, sample_mask: true, alpha_to_coverage: true, alpha_to_one: true };
    vec![plain, blended, samples, FragmentState { color: None, ..plain }]
}

/// All states of all stages; what comes out obeys the rules and has a slot for each word.
fn splice_all(insts: &[Inst]) {
    let uniforms: Vec<usize> = (0..uniform_reads(insts).len()).collect();
    let at = |stage| Source { stage, insts, uniforms: &uniforms };
    let check = |stage, spliced: Result<Spliced<usize>, SpliceError>| match spliced {
        Ok(spliced) => {
            assert!(check_program(stage, &spliced.insts).is_empty());
            let reads = uniform_reads(&spliced.insts).len();
            assert!(spliced.slots.len() == reads || spliced.slots.len() == reads + 1);
            let own: Vec<usize> = spliced
                .slots
                .iter()
                .filter_map(|s| if let Slot::Own(n) = s { Some(*n) } else { None })
                .collect();
            assert!(own.is_sorted());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    };
    for state in states() {
        check(Stage::Fragment, fragment(&at(Stage::Fragment), &state));
    }
    let format = VertexFormat { packing: Packing::Bytes(4), numeric: Numeric::Snorm, swap_rb: true };
    let inputs = [VertexInput { format, components: 2 }];
    for points in [false, true] {
        let state = VertexState { inputs: &inputs, points, near_plane: NearPlane::default() };
        check(Stage::Vertex, vertex(&at(Stage::Vertex), &state));
        check(Stage::Coordinate, coordinate(&at(Stage::Coordinate), &state));
    }
}

/// Pieces of programs, right ones and wrong ones.
const PIECES: [&str; 18] = [
    "sig_none ; tlb_color_all = or.always(r0, r0) ; r1 = fmul.always(r1, r2) ;",
    "sig_none ; tlb_color_all = or.zs(r0, r0) ; nop = nop() ;",
    "sig_none ; nop = nop() ; tlb_color_ms = v8min.always(a, a, ra7) ;",
    "sig_none ; tlb_z = or.always(b, b, nop, rb15) ; nop = nop() ;",
    "sig_none ; rx3 = or.always(a, a, uni) ; rx4 = v8min.always(r1, r1) ;",
    "sig_none ; r0 = or.always(a, a, vpm_read) ; vpm = v8min.always(r2, r2) ;",
    "sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;",
    "sig_none ; vpm = fadd.always(a, r1, vpm_read) ; nop = nop() ;",
    "sig_none ; nop = nop() ; nop = nop() ;",
    "sig_none ; nop = nop() ; nop = nop() ;",
    "sig_none ; nop = or.sf.always(r0, r1) ; nop = nop() ;",
    "sig_branch ; nop = branch.rel(32, any_zs) ; nop = branch() ;",
    "sig_branch ; nop = branch.rel(-64, all_zc) ; nop = branch() ;",
    "sig_thread_switch ; nop = nop() ; nop = nop() ;",
    "sig_last_thread_switch ; nop = nop() ; nop = nop() ;",
    "sig_none ; tmu0_s = or.always(r0, r0) ; nop = nop() ;",
    "sig_load_tmu0 ; rx15 = or.always.ws(r0, r0) ; nop = nop() ;",
    "sig_unlock_score ; tlb_stencil_setup = or.always(r0, r0) ; nop = nop() ;",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pieces(pieces in prop::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = pieces.iter().map(|&n| PIECES[n]).collect();
        splice_all(&insts(&format!("{text}{END}")));
    }

    #[test]
    fn any_words(words in prop::collection::vec(any::<u64>(), 0..24)) {
        let mut insts: Vec<Inst> = words.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
        insts.extend(self::insts(END));
        splice_all(&insts);
    }
}

#[test]
fn two_sources() {
    let equation =
        BlendEquation { src: BlendFactor::Src1Alpha, dst: BlendFactor::OneMinusSrc1Color, op: BlendOp::Add };
    let mut state = states()[0];
    state.color = state
        .color
        .map(|color| ColorOutput { blend: Some(Blend { color: equation, alpha: equation }), ..color });
    state.second = Some([Reg::A(1), Reg::B(2), Reg::A(3), Reg::B(4)]);
    let program = insts(&format!(
        "sig_small_imm ; rx1 = or.always(b, b, nop, 1) ; rx2 = v8min.always(b, b) ;
        sig_small_imm ; rx3 = or.always(b, b, nop, 1) ; rx4 = v8min.always(b, b) ;
        sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;{END}"
    ));
    let uniforms: &[u32] = &[];
    let spliced =
        fragment(&Source { stage: Stage::Fragment, insts: &program, uniforms }, &state).expect("it fits");
    let reads = |raddr| spliced.insts.iter().any(|inst| crate::qpu::Access::of(inst).names(raddr));
    assert!((1..5).all(|n| reads(crate::qpu::Raddr::reg(n))));
}

#[test]
fn flags_behind_a_patch_are_an_error() {
    let text = format!(
        "sig_none ; nop = or.sf.always(r1, r1) ; nop = nop() ;
        sig_none ; tlb_color_all = or.zs(r0, r0) ; nop = nop() ;
        sig_none ; rx1 = or.zs(r0, r0) ; nop = nop() ;{END}"
    );
    let uniforms: &[u32] = &[];
    let program = insts(&text);
    let source = Source { stage: Stage::Fragment, insts: &program, uniforms };
    assert!(fragment(&source, &states()[0]).is_ok(), "a copy sets no flags");
    let mut srgb = states()[0];
    let encoding = crate::state::Encoding::RGBA8.srgb();
    srgb.color = srgb.color.zip(encoding).map(|(color, encoding)| ColorOutput { encoding, ..color });
    let error = fragment(&source, &srgb).expect_err("sRGB selects by flags").to_string();
    assert!(error.contains("instruction 1: the flags are read behind"), "{error}");
}
