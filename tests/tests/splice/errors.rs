//! What cannot be spliced, and what is said about it.

use vc4::cl::packets::CompareFunc;
use vc4::facts::NearPlane;
use vc4::image::Format;
use vc4::qpu::Stage;
use vc4::splice::{
    FragmentState, Source, SourceColor, SpliceError, VertexInput, VertexState, fragment, vertex,
};
use vc4::state::blend::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4::state::{DepthStencil, DepthStencilPlan, Multisample};

use super::fragments::END;
use super::machine::{Word, insts};

const NOP: &str = "sig_none ; nop = nop() ; nop = nop() ;";
const WRITE: &str = "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;";

fn plain() -> FragmentState {
    FragmentState::plain(ColorOutput::plain(Format::R8G8B8A8.info(), false))
}

fn tested() -> FragmentState {
    let state =
        DepthStencil { depth_test: true, depth_write: true, depth_func: CompareFunc::Less, stencil: None };
    FragmentState { depth_stencil: DepthStencilPlan::new(&state, false), ..plain() }
}

fn error(text: &str, state: &FragmentState) -> SpliceError {
    let insts = insts(&format!("{text}{END}"));
    let uniforms: &[Word] = &[];
    fragment(&Source { stage: Stage::Fragment, insts: &insts, uniforms }, state).expect_err(text)
}

fn message(text: &str, state: &FragmentState) -> String {
    error(text, state).to_string()
}

fn has(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn colours_are_written_once() {
    has(&message(&[WRITE, WRITE].concat(), &plain()), &["instruction 1", "more than once"]);
    let sometimes = format!(
        "{NOP}{NOP}sig_branch ; nop = branch.rel(done, all_zs) ; nop = branch() ;
        {NOP}{NOP}{NOP}{WRITE}done:{NOP}"
    );
    has(&message(&sometimes, &plain()), &["instruction 6", "writes the colour never, not once"]);
    let again = format!(
        "{NOP}{NOP}again:{WRITE}sig_branch ; nop = branch.rel(again, all_zs) ; nop = branch() ;{NOP}{NOP}{NOP}"
    );
    has(&message(&again, &plain()), &["instruction 2", "more than once"]);
    let mut samples = plain();
    samples.multisample = Multisample { four_samples: true, ..Multisample::default() };
    has(&message(WRITE, &samples), &["disagree about samples"]);
    samples.color = Some(ColorOutput::plain(Format::R8G8B8A8.info(), true));
    let ms = WRITE.replace("color_all", "color_ms");
    has(&message(&[&ms[..], &ms, &ms].concat(), &samples), &["3 times, not 4 times"]);
    has(&message(&[&ms[..], WRITE, &ms].concat(), &samples), &["tlb_color_all and tlb_color_ms"]);
}

#[test]
fn the_state_reads_and_tests() {
    has(
        &message("sig_color_load ; nop = nop() ; nop = nop() ;", &plain()),
        &["instruction 0", "reads the tile"],
    );
    let overwrites = format!("sig_none ; rx15 = or.always.ws(r0, r0) ; nop = nop() ;{WRITE}");
    has(&message(&overwrites, &tested()), &["instruction 0", "rb15", "tlb_z"]);
    let mut alpha = tested();
    alpha.multisample.alpha_to_coverage = true;
    let own = format!("{NOP}{NOP}sig_none ; tlb_z = or.always(r0, r0) ; nop = nop() ;{WRITE}");
    has(&message(&own, &alpha), &["instruction 2", "alpha to coverage"]);
}

#[test]
fn state_without_code() {
    let second = BlendEquation { src: BlendFactor::Src1Alpha, dst: BlendFactor::Zero, op: BlendOp::Add };
    let mut state = plain();
    if let Some(color) = &mut state.color {
        color.blend = Some(Blend { color: second, alpha: second });
    }
    assert!(matches!(error(WRITE, &state), SpliceError::State(_)));
    let regs = [vc4::splice::Reg::A(40); 4];
    has(&message(WRITE, &FragmentState { source: SourceColor::Registers(regs), ..plain() }), &["ra40"]);
}

/// All registers hold values that are used behind the colour: the message names them.
#[test]
fn full_files_are_named() {
    let mut text = String::new();
    for n in 0..32 {
        text += &format!("sig_load_imm ; rx{n} = load32.always({n}) ; rx{n} = load32.always() ;");
    }
    for n in 0..4 {
        text += &format!("sig_load_imm ; r{n} = load32.always({n}) ; nop = load32() ;");
    }
    text += "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;";
    for n in 0..32 {
        text += &format!("sig_none ; nop = add.sf.always(a, b, ra{n}, rb{n}) ; nop = nop() ;");
    }
    text += "sig_none ; nop = add.sf.always(r0, r1) ; nop = nop() ; sig_none ; nop = add.sf.always(r2, r3) ; nop = nop() ;";
    let full = error(&text, &plain());
    has(&full.to_string(), &["instruction 36", "color", "ra0 ra1", "rb31 r0 r1 r2 r3", "raw mode"]);
    // One free accumulator is enough for a copy, not for blending.
    let copy = text.replace("add.sf.always(r2, r3)", "add.sf.always(r2, r2)");
    let insts = insts(&format!("{copy}{END}"));
    let uniforms: &[Word] = &[];
    let source = Source { stage: Stage::Fragment, insts: &insts, uniforms };
    assert!(fragment(&source, &plain()).is_ok());
    let mut blending = plain();
    let equation =
        BlendEquation { src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha, op: BlendOp::Add };
    if let Some(color) = &mut blending.color {
        color.blend = Some(Blend { color: equation, alpha: equation });
    }
    assert!(matches!(fragment(&source, &blending), Err(SpliceError::NoRegister { instruction: 36, .. })));
}

#[test]
fn programs_that_break_rules() {
    let close = format!(
        "sig_none ; rx1 = or.always(r0, r0) ; nop = nop() ;
        sig_none ; r1 = or.always(a, a, ra1) ; nop = nop() ;{WRITE}"
    );
    has(&message(&close, &plain()), &["instruction 1", "file-latency"]);
    let insts = insts(WRITE);
    let uniforms: &[Word] = &[];
    let source = Source { stage: Stage::Fragment, insts: &insts, uniforms };
    has(&fragment(&source, &plain()).expect_err("no end").to_string(), &["no end signal"]);
    let words = [Word::Value(0); 2];
    let source = Source { uniforms: &words, ..source };
    has(&fragment(&source, &plain()).expect_err("no end").to_string(), &["no end signal"]);
    let insts = super::machine::insts(&format!("{WRITE}{END}"));
    let source = Source { insts: &insts, ..source };
    has(&fragment(&source, &plain()).expect_err("words").to_string(), &["takes 0 uniform words, 2"]);
    let source = Source { stage: Stage::Vertex, ..source };
    has(&fragment(&source, &plain()).expect_err("stage").to_string(), &["Vertex program"]);
}

#[test]
fn branches_are_relative() {
    let absolute =
        format!("{NOP}{NOP}sig_branch ; nop = branch(0, always) ; nop = branch() ;{NOP}{NOP}{NOP}{WRITE}");
    has(&message(&absolute, &plain()), &["instruction 2", "relative branch"]);
}

#[test]
fn vertex_programs_leave_the_vpm_to_the_state() {
    let format = VertexFormat { packing: Packing::Bytes(4), numeric: Numeric::Unorm, swap_rb: false };
    let inputs = [VertexInput { format, components: 1 }];
    let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
    let uniforms: &[Word] = &[];
    let message = |text: &str| {
        let end = END.replace("sig_unlock_score", "sig_none");
        let insts = insts(&format!("{text}{end}"));
        vertex(&Source { stage: Stage::Vertex, insts: &insts, uniforms }, &state).expect_err(text).to_string()
    };
    let read = "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;";
    let write = "sig_none ; vpm = or.always(r0, r0) ; nop = nop() ;";
    let four = write.repeat(4);
    has(
        &message("sig_load_imm ; vr_setup = load32.always(0) ; nop = load32() ;"),
        &["instruction 0", "sets up the VPM"],
    );
    has(&message(&four), &["reads 0 attribute components", "has 1"]);
    has(&message(&[read, write].concat()), &["1 words", "has 4"]);
    let branch =
        format!("{NOP}{NOP}sig_branch ; nop = branch.rel(on, all_zs) ; nop = branch() ;{NOP}{NOP}{NOP}");
    has(
        &message(&format!("{branch}{read}on:{four}")),
        &["instruction 6", "a path leaves out an attribute read"],
    );
    has(&message(&format!("{read}{branch}{write}on:{four}")), &["VPM write"]);
}
