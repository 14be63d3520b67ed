//! Fragment programs under many states.

use vc4::cl::packets::CompareFunc;
use vc4::image::Format;
use vc4::qpu::{Inst, Stage};
use vc4::splice::{FragmentState, Reg, Source, SourceColor, fragment};
use vc4::state::blend::{Blend, BlendEquation, BlendFactor, BlendOp, ColorOutput};
use vc4::state::depth_stencil::StencilWords;
use vc4::state::{DepthStencil, DepthStencilPlan, LogicOp, Multisample, StateWords, StencilFaceState};
use vc4_tests::blend::{FACTORS, OPS};
use vc4_tests::hash::hash;

use super::machine::{LANES, Machine, P1, Word, insts, run_raw, run_spliced};
use super::reference::{blended, fractions};

/// A program with its stream.
pub struct Case {
    pub name: &'static str,
    pub insts: Vec<Inst>,
    pub uniforms: Vec<Word>,
    pub varyings: usize,
}

pub const END: &str = "sig_end ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;
    sig_unlock_score ; nop = nop() ; nop = nop() ;";
const NOP: &str = "sig_none ; nop = nop() ; nop = nop() ;";

fn case(name: &'static str, text: &str, uniforms: &[Word], varyings: usize) -> Case {
    Case { name, insts: insts(&format!("{text}\n{END}")), uniforms: uniforms.to_vec(), varyings }
}

/// A colour per element out of the pixel's place: r0.
const PER_ELEMENT: &str = "
    sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;
    sig_none ; r1 = or.always(a, a, elem) ; nop = nop() ;
    sig_none ; nop = nop() ; r1 = mul24.always(r1, a, uni) ;
    sig_none ; r0 = xor.always(r0, r1) ; nop = nop() ;";
const PER_ELEMENT_WORDS: [Word; 2] = [Word::Value(0x80c0_40f0), Word::Value(0x0011_0b05)];

/// Straight code, texture lookups, branches, a loop, two threads, discards, colours in odd places.
pub fn cases() -> Vec<Case> {
    let mut all = vec![
        case(
            "colour of a uniform",
            "sig_none ; tlb_color_all = or.always(a, a, uni) ; nop = nop() ;",
            &[Word::Value(0x8040_c0ff)],
            0,
        ),
        case(
            "constant",
            &format!(
                "{NOP}{NOP} sig_load_imm ; tlb_color_all = load32.always(0x7f3fe010) ; nop = load32() ;"
            ),
            &[],
            0,
        ),
        case(
            "per element",
            &format!("{PER_ELEMENT} sig_none ; nop = nop() ; tlb_color_all = v8min.always(r0, r0) ;"),
            &PER_ELEMENT_WORDS,
            0,
        ),
        case(
            "beside other work",
            &format!(
                "{PER_ELEMENT} sig_none ; rx2 = add.always.ws(r0, r1) ; tlb_color_all = v8adds.always(r0, r1) ;"
            ),
            &PER_ELEMENT_WORDS,
            0,
        ),
        discard(),
        branches(),
        looped(),
    ];
    all.extend([textured(), threaded(), varying()]);
    all
}

fn discard() -> Case {
    let text = format!(
        "{PER_ELEMENT}
        sig_small_imm ; nop = and.sf.always(r1, b, nop, 4) ; nop = nop() ;
        sig_none ; tlb_color_all = or.zs(r0, r0) ; nop = nop() ;"
    );
    case("discard", &text, &PER_ELEMENT_WORDS, 0)
}

/// A colour on each side of a branch, one of them in the delay slots of another.
fn branches() -> Case {
    let text = format!(
        "{PER_ELEMENT}
        sig_none ; nop = or.sf.always(a, a, uni) ; nop = nop() ;
        sig_branch ; nop = branch.rel(other, all_zs) ; nop = branch() ;
        {NOP}{NOP}{NOP}
        sig_branch ; nop = branch.rel(done, always) ; nop = branch() ;
        sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;
        {NOP}{NOP}
        other:
        sig_none ; r2 = not.always(r0, r0) ; nop = nop() ;
        sig_none ; tlb_color_all = or.always(r2, r2) ; nop = nop() ;
        done:
        {NOP}"
    );
    let mut uniforms = PER_ELEMENT_WORDS.to_vec();
    uniforms.push(Word::Value(0));
    case("branches", &text, &uniforms, 0)
}

/// Three rounds that add a uniform each; the stream is set back by the kernel's pattern.
fn looped() -> Case {
    let text = format!(
        "{PER_ELEMENT}
        sig_small_imm ; rx1 = or.always(b, b, nop, 3) ; nop = nop() ;
        {NOP}
        again:
        sig_load_imm ; r2 = load32.always(12) ; nop = load32() ;
        sig_none ; uniforms_addr = add.always(r2, a, uni) ; nop = nop() ;
        {NOP}{NOP}
        sig_none ; r0 = add.always(r0, a, uni) ; nop = nop() ;
        sig_small_imm ; rx1 = sub.sf.always(a, b, ra1, 1) ; nop = nop() ;
        sig_branch ; nop = branch.rel(again, any_zc) ; nop = branch() ;
        {NOP}{NOP}{NOP}
        sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;"
    );
    let mut uniforms = PER_ELEMENT_WORDS.to_vec();
    // The word behind the last is for the way back to the loop's beginning.
    uniforms.extend([Word::Stream, Word::Value(0x0102_0304), Word::Stream]);
    case("loop", &text, &uniforms, 0)
}

fn varying() -> Case {
    let text = "
        sig_none ; nop = nop() ; r0 = fmul.always(a, b, pay_zw, vary) ;
        sig_none ; r0 = fadd.always(r0, r5) ; r1 = fmul.always(a, b, pay_zw, vary) ;
        sig_none ; r1 = fadd.always(r1, r5) ; nop = nop() ;
        sig_none ; nop = nop.pm() ; r2.8888 = v8min.always(r0, r0) ;
        sig_none ; nop = nop.pm() ; r2.8d = v8min.always(r1, r1) ;
        sig_none ; tlb_color_all = or.always(r2, r2) ; nop = nop() ;";
    case("varyings", text, &[], 2)
}

fn textured() -> Case {
    let text = format!(
        "{PER_ELEMENT}
        sig_small_imm ; tmu0_t = or.always(b, b, nop, 0x3f000000) ; nop = nop() ;
        sig_small_imm ; tmu0_s = or.always(b, b, nop, 0x3f000000) ; nop = nop() ;
        sig_load_tmu0 ; nop = nop() ; nop = nop() ;
        sig_none ; nop = nop() ; tlb_color_all = v8muld.always(r4, r0) ;"
    );
    let mut uniforms = PER_ELEMENT_WORDS.to_vec();
    uniforms.extend([Word::Image, P1]);
    case("texture", &text, &uniforms, 0)
}

fn threaded() -> Case {
    let text = format!(
        "{PER_ELEMENT}
        sig_last_thread_switch ; rx3 = or.always(r0, r0) ; nop = nop() ;
        sig_small_imm ; tmu0_t = or.always(b, b, nop, 0x3f000000) ; nop = nop() ;
        sig_small_imm ; tmu0_s = or.always(b, b, nop, 0x3f000000) ; nop = nop() ;
        sig_load_tmu0 ; nop = nop() ; nop = nop() ;
        sig_none ; nop = nop() ; tlb_color_all = v8muld.always(r4, a, ra3) ;"
    );
    let mut uniforms = PER_ELEMENT_WORDS.to_vec();
    uniforms.extend([Word::Image, P1]);
    case("two threads", &text, &uniforms, 0)
}

pub fn machine(case: &Case, seed: u32) -> Machine {
    let lane = |n: usize| -> (Lanes16, Lanes16) {
        (std::array::from_fn(|lane| (lane as f32 / 32.0).to_bits()), [(n as f32 / 4.0).to_bits(); LANES])
    };
    Machine { varyings: (0..case.varyings).map(lane).collect(), ..Machine::new(seed) }
}

type Lanes16 = [u32; LANES];

pub const CONSTANTS: [f32; 4] = [0.25, 0.5, 0.75, 0.625];

pub fn state_words() -> StateWords {
    StateWords { blend_constants: CONSTANTS, sample_mask: 0b0111, ..StateWords::default() }
}

pub fn blend(n: u32) -> Blend {
    let pick = |k: u32, len: usize| hash(&[n, k]) as usize % len;
    let equation = |k| BlendEquation {
        src: FACTORS[pick(k, 15)],
        dst: FACTORS[pick(k + 1, 15)],
        op: OPS[pick(k + 2, 7).min(4)],
    };
    Blend { color: equation(0), alpha: equation(3) }
}

fn over() -> Blend {
    let equation =
        BlendEquation { src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha, op: BlendOp::Add };
    Blend { color: equation, alpha: equation }
}

pub fn splice(case: &Case, state: &FragmentState) -> vc4::splice::Spliced<Word> {
    let source = Source { stage: Stage::Fragment, insts: &case.insts, uniforms: &case.uniforms };
    fragment(&source, state).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// The source colour in R, G, B, A and the masks of both agree with the reference.
fn compare(case: &Case, state: &FragmentState, order: [usize; 4]) {
    let machine = machine(case, hash(&[case.name.len() as u32]));
    let raw = run_raw(&case.insts, &case.uniforms, &machine);
    let done = run_spliced(Stage::Fragment, &splice(case, state), &state_words(), &machine);
    let color = state.color.expect("these have a target");
    assert_eq!((raw.colors.len(), done.colors.len()), (1, 1), "{}", case.name);
    let ((raw_mask, source, _), (mask, word, _)) = (raw.colors[0], done.colors[0]);
    assert_eq!(mask, raw_mask, "{}", case.name);
    for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
        let permuted = |word: u32| {
            let bytes = fractions(word);
            std::array::from_fn(|component| bytes[order[component]])
        };
        let dst = machine.destination(0, lane);
        let want = blended(color.blend, fractions(source[lane]), permuted(dst), CONSTANTS.map(f64::from));
        let got: [f64; 4] = permuted(word[lane]);
        for component in 0..4 {
            let want = if color.write[component] { want[component] } else { permuted(dst)[component] };
            let off = (got[component] - want).abs() * 255.0;
            assert!(
                off < 1.5,
                "{}: {:?} lane {lane} component {component}: {} not {}, source {:#x}, tile {dst:#x}",
                case.name,
                color.blend,
                got[component] * 255.0,
                want * 255.0,
                source[lane]
            );
        }
    }
}

fn rgba8() -> ColorOutput {
    ColorOutput::plain(Format::R8G8B8A8.info(), false)
}

#[test]
fn every_program_blends() {
    for case in cases() {
        compare(&case, &FragmentState::plain(rgba8()), [0, 1, 2, 3]);
        compare(&case, &FragmentState::plain(ColorOutput { blend: Some(over()), ..rgba8() }), [0, 1, 2, 3]);
        for n in 0..24 {
            let output = ColorOutput { blend: Some(blend(n)), precise: n % 3 == 0, ..rgba8() };
            let write = std::array::from_fn(|c| hash(&[n, 9, c as u32]) % 5 != 0);
            if write != [false; 4] {
                compare(&case, &FragmentState::plain(ColorOutput { write, ..output }), [0, 1, 2, 3]);
            }
        }
    }
}

#[test]
fn every_factor_works_for_a_program() {
    let case = &cases()[2];
    // Those of a second source come last: `errors` splices them.
    let first_source = &FACTORS[..15];
    for op in OPS {
        for src in first_source.iter().copied() {
            for dst in first_source.iter().copied() {
                let equation = BlendEquation { src, dst, op };
                let blend = Some(Blend { color: equation, alpha: equation });
                compare(case, &FragmentState::plain(ColorOutput { blend, ..rgba8() }), [0, 1, 2, 3]);
            }
        }
    }
}

#[test]
fn formats_and_orders() {
    let bgra = ColorOutput::plain(Format::B8G8R8A8.info(), false);
    for case in cases() {
        compare(&case, &FragmentState::plain(bgra), [2, 1, 0, 3]);
        compare(&case, &FragmentState::plain(ColorOutput { blend: Some(over()), ..bgra }), [2, 1, 0, 3]);
    }
    // The word that a program for BGRA targets writes passes as it is.
    let case = &cases()[2];
    let state = FragmentState { source: SourceColor::Bgra8, ..FragmentState::plain(bgra) };
    let machine = machine(case, 5);
    let raw = run_raw(&case.insts, &case.uniforms, &machine);
    let done = run_spliced(Stage::Fragment, &splice(case, &state), &state_words(), &machine);
    assert_eq!(raw.colors, done.colors);
}

#[test]
fn logic_operations() {
    for case in cases() {
        let state = FragmentState::plain(ColorOutput { logic_op: Some(LogicOp::Xor), ..rgba8() });
        let machine = machine(&case, 77);
        let raw = run_raw(&case.insts, &case.uniforms, &machine);
        let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
        let (mask, source, _) = raw.colors[0];
        assert_eq!(done.colors[0].0, mask);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            assert_eq!(done.colors[0].1[lane], source[lane] ^ machine.destination(0, lane), "{}", case.name);
        }
    }
}

fn tested(stencil: Option<[StencilFaceState; 2]>) -> DepthStencilPlan {
    let state =
        DepthStencil { depth_test: true, depth_write: true, depth_func: CompareFunc::LessOrEqual, stencil };
    DepthStencilPlan::new(&state, false)
}

#[test]
fn depth_and_stencil() {
    let front = StencilFaceState { write_mask: 0x10, reference: 3, ..Default::default() };
    let faces = [front, StencilFaceState { reference: 4, ..front }];
    let plan = tested(Some(faces));
    let words = StateWords { stencil: StencilWords::new(plan.stencil, &faces), ..state_words() };
    for case in cases() {
        for blend in [None, Some(over())] {
            let mut state = FragmentState::plain(ColorOutput { blend, ..rgba8() });
            state.depth_stencil = plan;
            let machine = machine(&case, 3);
            let raw = run_raw(&case.insts, &case.uniforms, &machine);
            let done = run_spliced(Stage::Fragment, &splice(&case, &state), &words, &machine);
            assert_eq!(done.stencil, [words.stencil.front, words.stencil.back, words.stencil.masks]);
            assert_eq!(done.depths, [(raw.colors[0].0, machine.payload().rb15)], "{}", case.name);
            assert_eq!(done.colors[0].0, raw.colors[0].0);
        }
    }
}

#[test]
fn a_depth_of_its_own_stays() {
    let text = format!(
        "{PER_ELEMENT}
        sig_load_imm ; r2 = load32.always(0x1234) ; nop = load32() ;
        sig_small_imm ; nop = and.sf.always(r1, b, nop, 8) ; nop = nop() ;
        sig_none ; tlb_z = or.zs(r2, r2) ; nop = nop() ;
        sig_none ; tlb_color_all = or.zs(r0, r0) ; nop = nop() ;"
    );
    let case = case("depth", &text, &PER_ELEMENT_WORDS, 0);
    let faces = [StencilFaceState::default(); 2];
    let plan = tested(Some(faces));
    let words = StateWords { stencil: StencilWords::new(plan.stencil, &faces), ..state_words() };
    let mut state = FragmentState::plain(ColorOutput { blend: Some(over()), ..rgba8() });
    state.depth_stencil = plan;
    let machine = machine(&case, 3);
    let raw = run_raw(&case.insts, &case.uniforms, &machine);
    let done = run_spliced(Stage::Fragment, &splice(&case, &state), &words, &machine);
    assert_eq!((&done.depths, &done.stencil[..]), (&raw.depths, &[words.stencil.front][..]));
    assert_eq!(done.colors[0].0, raw.colors[0].0);
}

#[test]
fn programs_without_a_colour() {
    let case = case("nothing", NOP, &[], 0);
    let mut state = FragmentState::plain(rgba8());
    let machine = machine(&case, 9);
    let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
    let tile: [u32; LANES] = std::array::from_fn(|lane| machine.destination(0, lane));
    assert_eq!(done.colors, [(0xffff, tile, true)]);
    state.depth_stencil = tested(None);
    let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
    assert_eq!((done.colors.len(), &done.depths[..]), (0, &[(0xffff, machine.payload().rb15)][..]));
    // A colour that no attachment takes.
    for case in cases() {
        let mut state = FragmentState { color: None, ..FragmentState::plain(rgba8()) };
        let machine = self::machine(&case, 9);
        let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
        assert_eq!(done.colors.len(), 1, "something touches the tile");
        state.depth_stencil = tested(None);
        let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
        assert_eq!((done.colors.len(), done.depths.len()), (0, 1));
    }
}

#[test]
fn four_samples() {
    let color = ColorOutput { blend: Some(over()), multisample: true, ..rgba8() };
    let multisample =
        Multisample { four_samples: true, sample_mask: true, alpha_to_coverage: true, alpha_to_one: false };
    for case in cases() {
        let state = FragmentState { multisample, ..FragmentState::plain(color) };
        let machine = machine(&case, 3);
        let raw = run_raw(&case.insts, &case.uniforms, &machine);
        let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
        let (mask, source, _) = raw.colors[0];
        assert_eq!(done.colors.len(), 4);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 != 0) {
            let alpha = fractions(source[lane])[3];
            let samples = (alpha * 4.0 + 0.5).floor() as u32;
            assert_eq!(done.flags[lane], 0b0111 & ((1 << samples) - 1), "{}", case.name);
            for (sample, (written, word, all)) in done.colors.iter().enumerate() {
                assert_eq!((*written, *all), (mask, false));
                let dst = fractions(machine.destination(sample, lane));
                let want = blended(color.blend, fractions(source[lane]), dst, CONSTANTS.map(f64::from));
                for (got, want) in fractions(word[lane]).into_iter().zip(want) {
                    assert!((got - want).abs() < 1.5 / 255.0, "{} sample {sample}", case.name);
                }
            }
        }
    }
}

#[test]
fn alpha_without_samples_discards() {
    let multisample = Multisample { alpha_to_coverage: true, alpha_to_one: true, ..Multisample::default() };
    for case in cases() {
        let state = FragmentState { multisample, ..FragmentState::plain(rgba8()) };
        let machine = machine(&case, 3);
        let raw = run_raw(&case.insts, &case.uniforms, &machine);
        let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
        let (mask, source, _) = raw.colors[0];
        let opaque = |lane: &usize| source[*lane] >> 24 >= 128;
        let want = (0..LANES).filter(opaque).fold(0, |m, lane| m | 1 << lane) & mask;
        assert_eq!(done.colors[0].0, want, "{}", case.name);
        for lane in (0..LANES).filter(|lane| want >> lane & 1 != 0) {
            assert_eq!(done.colors[0].1[lane], source[lane] | 0xff00_0000);
        }
    }
}

/// Sample by sample with everything in use between the writes: nothing but free registers may change.
#[test]
fn values_live_between_samples() {
    let mut text = String::from(PER_ELEMENT);
    // All of file B, most of file A and r2 hold numbers.
    for n in 0..26 {
        text += &format!("sig_load_imm ; rx{n} = load32.always({}) ; nop = load32() ;", 0x01_0203 * n);
    }
    for n in 0..32 {
        text += &format!("sig_load_imm ; rx{n} = load32.always.ws({}) ; nop = load32() ;", 0x04_0107 * n);
    }
    text += "sig_load_imm ; r2 = load32.always(0x01050709) ; nop = load32() ;";
    for sample in 0..4 {
        for n in (sample..32).step_by(4) {
            if n < 26 {
                text += &format!("sig_none ; r0 = add.always(r0, a, ra{n}) ; nop = nop() ;");
            }
            text += &format!("sig_none ; r0 = xor.always(r0, b, nop, rb{n}) ; nop = nop() ;");
        }
        text += "sig_none ; tlb_color_ms = or.always(r0, r0) ; r2 = v8adds.always(r2, r0) ;
            sig_none ; r0 = add.always(r0, r2) ; nop = nop() ;";
    }
    let case = case("full", &text, &PER_ELEMENT_WORDS, 0);
    let color = ColorOutput { blend: Some(over()), multisample: true, ..rgba8() };
    let multisample = Multisample { four_samples: true, ..Multisample::default() };
    let state = FragmentState { multisample, ..FragmentState::plain(color) };
    let machine = machine(&case, 12);
    let raw = run_raw(&case.insts, &case.uniforms, &machine);
    let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
    assert_eq!((raw.colors.len(), done.colors.len()), (4, 4));
    for lane in 0..LANES {
        for sample in 0..4 {
            let dst = fractions(machine.destination(sample, lane));
            let want =
                blended(color.blend, fractions(raw.colors[sample].1[lane]), dst, CONSTANTS.map(f64::from));
            for (got, want) in fractions(done.colors[sample].1[lane]).into_iter().zip(want) {
                assert!((got - want).abs() < 1.5 / 255.0, "sample {sample}: {got} {want}");
            }
        }
    }
}

#[test]
fn colours_in_registers() {
    let text = "
        sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;
        sig_none ; rx1 = or.always(r0, r0) ; rx2 = v8min.always(r0, r0) ;
        sig_small_imm ; rx3 = or.always(b, b, nop, 0x3f800000) ; nop = nop() ;
        sig_none ; tlb_color_all = or.always(r1, r1) ; nop = nop() ;";
    let case = case("registers", text, &[Word::Value(0.3f32.to_bits())], 0);
    let regs = [Reg::Acc(0), Reg::A(1), Reg::B(2), Reg::A(3)];
    let state = FragmentState { source: SourceColor::Registers(regs), ..FragmentState::plain(rgba8()) };
    let machine = machine(&case, 1);
    let done = run_spliced(Stage::Fragment, &splice(&case, &state), &state_words(), &machine);
    assert_eq!(done.colors[0].1, [0xff4d_4d4d; LANES]);
}
