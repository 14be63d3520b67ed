//! Vertex and coordinate programs: attributes of all formats, and the position.

use vc4::facts::NearPlane;
use vc4::qpu::{Inst, Stage};
use vc4::splice::{Source, Spliced, VertexInput, VertexState, coordinate, vertex};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4::state::{StateWords, Viewport};
use vc4_tests::hash::hash;

use super::machine::{LANES, Machine, Word, insts, run_spliced};

const END: &str = "sig_end ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;";

pub const VIEWPORT: Viewport =
    Viewport { x: 10.0, y: 20.0, width: 300.0, height: 200.0, min_depth: 0.25, max_depth: 0.75 };

pub fn state_words() -> StateWords {
    StateWords { viewport: VIEWPORT, ..StateWords::default() }
}

/// A text with the end of a vertex program.
pub fn program(text: &str) -> Vec<Inst> {
    insts(&format!("{text}\n{END}"))
}

pub fn splice(insts: &[Inst], uniforms: &[Word], state: &VertexState<'_>, stage: Stage) -> Spliced<Word> {
    let source = Source { stage, insts, uniforms };
    let spliced = if stage == Stage::Vertex { vertex(&source, state) } else { coordinate(&source, state) };
    spliced.unwrap_or_else(|error| panic!("{error}"))
}

/// Every format that Vulkan 1.0 has for vertices, by its parts.
pub fn formats() -> Vec<VertexFormat> {
    use Numeric::{Float, Sint, Snorm, Sscaled, Uint, Unorm, Uscaled};
    let mut all = Vec::new();
    let mut add = |packing, numerics: &[Numeric], swaps: bool| {
        for &numeric in numerics {
            for swap_rb in [false, true] {
                if swaps || !swap_rb {
                    all.push(VertexFormat { packing, numeric, swap_rb });
                }
            }
        }
    };
    let integers = [Unorm, Snorm, Uscaled, Sscaled, Uint, Sint];
    for count in 1..=4 {
        add(Packing::Bytes(count), &integers, count >= 3);
        add(Packing::Halves(count), &[Unorm, Snorm, Uscaled, Sscaled, Uint, Sint, Float], false);
        add(Packing::Words(count), &[Uint, Sint, Float], false);
    }
    add(Packing::Bits10_10_10_2, &integers, true);
    add(Packing::Floats11_11_10, &[Float], false);
    all
}

/// A component after the specification: number, and whether it is an integer.
pub fn component(format: &VertexFormat, words: &[u32], component: usize) -> f64 {
    let component = if format.swap_rb && component != 1 && component < 3 { 2 - component } else { component };
    let (count, width) = match format.packing {
        Packing::Bytes(count) => (count.into(), 8),
        Packing::Halves(count) => (count.into(), 16),
        Packing::Words(count) => (count.into(), 32),
        Packing::Bits10_10_10_2 => (4, if component == 3 { 2 } else { 10 }),
        Packing::Floats11_11_10 => (3, if component == 2 { 10 } else { 11 }),
        other => unreachable!("attributes are not packed as {other:?}"),
    };
    if component >= count {
        return if component == 3 { 1.0 } else { 0.0 };
    }
    let bit = component
        * match format.packing {
            Packing::Bits10_10_10_2 => 10,
            Packing::Floats11_11_10 => 11,
            _ => width,
        };
    let raw = u64::from(words[bit / 32]) >> (bit % 32) & ((1 << width) - 1);
    let signed = (raw << (64 - width)) as i64 >> (64 - width);
    let short = |mantissa: usize| {
        let fraction = (raw & ((1 << mantissa) - 1)) as f64 / (1u64 << mantissa) as f64;
        let magnitude = match raw >> mantissa & 31 {
            0 => 0.0,
            31 => f64::INFINITY,
            e => (1.0 + fraction) * 2f64.powi(e as i32 - 15),
        };
        if raw >> (mantissa + 5) != 0 { -magnitude } else { magnitude }
    };
    match format.numeric {
        Numeric::Unorm => raw as f64 / ((1u64 << width) - 1) as f64,
        Numeric::Snorm => (signed as f64 / ((1u64 << (width - 1)) - 1) as f64).max(-1.0),
        Numeric::Uscaled | Numeric::Uint => raw as f64,
        Numeric::Sscaled | Numeric::Sint => signed as f64,
        Numeric::Float if width == 16 => short(10),
        Numeric::Float if width < 16 => short(width - 5),
        Numeric::Float => f64::from(f32::from_bits(raw as u32)),
    }
}

/// Whether a word is that number, in a format's kind.
pub fn is_number(format: &VertexFormat, word: u32, want: f64) -> bool {
    if format.numeric.is_integer() {
        return want
            == if format.numeric == Numeric::Uint { f64::from(word) } else { f64::from(word as i32) };
    }
    let got = f64::from(f32::from_bits(word));
    // Arithmetic takes denormals for 0.
    let small = f64::from(f32::MIN_POSITIVE);
    got == want
        || got.abs() < small && want.abs() < small
        || (got - want).abs() <= want.abs() * 2f64.powi(-21)
}

/// The bits of short floats that may be set: infinities need the others.
pub fn finite(format: &VertexFormat) -> u32 {
    match (format.packing, format.numeric) {
        (Packing::Halves(_), Numeric::Float) => 0xbfff_bfff,
        (Packing::Floats11_11_10, _) => !(1 << 10 | 1 << 21 | 1 << 31),
        _ => u32::MAX,
    }
}

/// Attribute words; small floats where they are floats.
fn attribute_words(format: &VertexFormat, seed: u32) -> Vec<[u32; LANES]> {
    let word = |row: usize, lane: usize| {
        let name = hash(&[seed, row as u32, lane as u32]);
        match (format.packing, format.numeric) {
            (Packing::Words(_), Numeric::Float) => ((name % 4096) as f32 / 64.0 - 32.0).to_bits(),
            _ => name & finite(format),
        }
    };
    (0..format.words()).map(|row| std::array::from_fn(|lane| word(row, lane))).collect()
}

const POSITION: &str = "
    sig_small_imm ; vpm = or.always(b, b, nop, 0x3f000000) ; nop = nop() ;
    sig_small_imm ; vpm = or.always(b, b, nop, 0) ; nop = nop() ;
    sig_small_imm ; nop = nop() ; vpm = v8min.always(b, b, nop, 0x3e800000) ;
    sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop() ;";

#[test]
fn every_format_is_read() {
    let pass = "sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop() ;";
    for (n, format) in (0u32..).zip(formats()) {
        for components in 1..=4u8 {
            let text = format!("{POSITION}{}", pass.repeat(components.into()));
            let inputs = [VertexInput { format, components }];
            let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
            let spliced = splice(&program(&text), &[], &state, Stage::Vertex);
            let attributes = attribute_words(&format, n);
            let machine = Machine { attributes: attributes.clone(), ..Machine::new(n) };
            let done = run_spliced(Stage::Vertex, &spliced, &state_words(), &machine);
            assert_eq!(done.rows.len(), 3 + usize::from(components));
            for lane in 0..LANES {
                let words: Vec<u32> = attributes.iter().map(|row| row[lane]).collect();
                for c in 0..usize::from(components) {
                    let (got, want) = (done.rows[3 + c][lane], component(&format, &words, c));
                    assert!(is_number(&format, got, want), "{format:?} component {c}: {got:#x}, not {want}");
                }
            }
        }
    }
}

/// Screen position and depth of clip coordinates, and clip coordinates of the raster.
fn header(clip: [f64; 4]) -> ([f64; 4], [f64; 2], f64, f64) {
    let [x, y, z, w] = clip;
    let v = VIEWPORT;
    let px = f64::from(v.x) + (x / w + 1.0) / 2.0 * f64::from(v.width);
    let py = f64::from(v.y) + (y / w + 1.0) / 2.0 * f64::from(v.height);
    let depth = f64::from(v.min_depth) + z / w * f64::from(v.max_depth - v.min_depth);
    ([(px - 1024.0) / 1024.0 * w, (py - 1024.0) / 1024.0 * w, 2.0 * z - w, w], [px, py], depth, 1.0 / w)
}

pub fn check_header(rows: &[[u32; LANES]], stage: Stage, lane: usize, clip: [f64; 4]) {
    let (raster, pixel, depth, inverse) = header(clip);
    let float = |row: usize| f64::from(f32::from_bits(rows[row][lane]));
    let close = |got: f64, want: f64| (got - want).abs() <= want.abs().max(1.0) * 1e-5;
    let from = if stage == Stage::Coordinate { 4 } else { 0 };
    if stage == Stage::Coordinate {
        for (row, want) in raster.into_iter().enumerate() {
            assert!(close(float(row), want), "row {row}: {} not {want}", float(row));
        }
    }
    for (axis, want) in pixel.into_iter().enumerate() {
        let sixteenths = (rows[from][lane] >> (16 * axis)) as u16 as i16;
        let got = f64::from(sixteenths) / 16.0 + 1024.0;
        assert!((got - want).abs() <= 1.0 / 16.0, "axis {axis}: {got} not {want}");
    }
    assert!(close(float(from + 1), depth) && close(float(from + 2), inverse));
}

/// One text for both programs: position and varyings out of attributes, with a branch between.
#[test]
fn both_programs_of_one_text() {
    let nop = "sig_none ; nop = nop() ; nop = nop() ;";
    let text = format!(
        "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;
        sig_none ; nop = nop() ; rx20 = fmul.always(r0, a, vpm_read) ;
        sig_none ; vpm = or.always(r0, r0) ; r1 = v8min.always(r0, r0) ;
        sig_none ; rx7 = fadd.always(a, r1, vpm_read, rb20) ; vpm = v8min.always(b, b) ;
        sig_none ; nop = or.sf.always(a, a, uni) ; nop = nop() ;
        sig_branch ; nop = branch.rel(skip, all_zc) ; nop = branch() ;
        {nop}{nop}{nop}
        sig_none ; rx7 = or.always(r0, r0) ; nop = nop() ;
        skip:
        sig_load_imm ; r3 = load32.always(8) ; nop = load32() ;
        sig_none ; uniforms_addr = add.always(r3, a, uni) ; nop = nop() ;
        {nop}{nop}
        sig_none ; vpm = or.always(a, a, uni) ; nop = nop() ;
        sig_none ; vpm = or.always(a, a, uni) ; nop = nop() ;
        sig_none ; vpm = fadd.always(a, r1, ra7) ; nop = nop() ;
        sig_none ; vpm = or.always(b, b, nop, rb20) ; nop = nop() ;"
    );
    let insts = program(&text);
    let bytes = VertexFormat { packing: Packing::Bytes(4), numeric: Numeric::Unorm, swap_rb: true };
    let inputs = [VertexInput { format: bytes, components: 3 }];
    let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
    let uniforms = [Word::Value(1), Word::Stream, Word::Value(0.5f32.to_bits()), Word::Value(2f32.to_bits())];
    for stage in [Stage::Vertex, Stage::Coordinate] {
        let spliced = splice(&insts, &uniforms, &state, stage);
        let attributes = attribute_words(&bytes, 3);
        let machine = Machine { attributes: attributes.clone(), ..Machine::new(1) };
        let done = run_spliced(stage, &spliced, &state_words(), &machine);
        assert_eq!(done.rows.len(), if stage == Stage::Vertex { 5 } else { 7 });
        for (lane, &word) in attributes[0].iter().enumerate() {
            let read = |n| component(&bytes, &[word], n);
            let clip = [read(0), read(0) * read(1), 0.5, 2.0];
            check_header(&done.rows, stage, lane, clip);
            if stage == Stage::Vertex {
                let varying = f64::from(f32::from_bits(done.rows[3][lane]));
                assert!((varying - (read(0) + read(0) + read(2))).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn points_have_a_size() {
    let text = format!("{POSITION} sig_small_imm ; vpm = or.always(b, b, nop, 0x40800000) ; nop = nop() ;");
    let state = VertexState { inputs: &[], points: true, near_plane: NearPlane::default() };
    for (stage, rows) in [(Stage::Vertex, 4), (Stage::Coordinate, 8)] {
        let spliced = splice(&program(&text), &[], &state, stage);
        let done = run_spliced(stage, &spliced, &state_words(), &Machine::new(0));
        assert_eq!(done.rows.len(), rows);
        assert_eq!(done.rows[rows - 1], [4f32.to_bits(); LANES]);
    }
}

/// More attributes than one set-up reads, some of them not wanted.
#[test]
fn many_attributes() {
    let read = "sig_none ; r0 = or.always(a, a, vpm_read) ; nop = nop() ;
        sig_none ; rx1 = fadd.always.ws(b, r0, nop, rb1) ; nop = nop() ;
        sig_none ; nop = nop() ; nop = nop() ;";
    let words = VertexFormat { packing: Packing::Words(4), numeric: Numeric::Float, swap_rb: false };
    let halves = VertexFormat { packing: Packing::Halves(4), numeric: Numeric::Float, swap_rb: false };
    let ignored = VertexInput { format: words, components: 0 };
    let part = VertexInput { format: words, components: 2 };
    let inputs = [
        ignored,
        VertexInput::whole(words),
        part,
        VertexInput::whole(halves),
        part,
        VertexInput::whole(words),
        ignored,
    ];
    let count: usize = inputs.iter().map(|input| usize::from(input.components)).sum();
    let zero = "sig_small_imm ; rx1 = or.always.ws(b, b, nop, 0) ; nop = nop() ; sig_none ; nop = nop() ; nop = nop() ;";
    let sum = "sig_none ; vpm = or.always(b, b, nop, rb1) ; nop = nop() ;";
    let text = format!("{zero}{}{POSITION}{sum}", read.repeat(count));
    let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
    let spliced = splice(&program(&text), &[], &state, Stage::Vertex);
    let attributes: Vec<[u32; LANES]> =
        (0u32..).zip(&inputs).flat_map(|(n, input)| attribute_words(&input.format, n)).collect();
    let machine = Machine { attributes: attributes.clone(), ..Machine::new(0) };
    let done = run_spliced(Stage::Vertex, &spliced, &state_words(), &machine);
    for lane in 0..LANES {
        let (mut row, mut want, mut size) = (0, 0.0, 0.0f64);
        for input in &inputs {
            let words: Vec<u32> =
                attributes[row..row + input.format.words()].iter().map(|r| r[lane]).collect();
            for c in 0..usize::from(input.components) {
                let value = component(&input.format, &words, c);
                (want, size) = (want + value, size + value.abs());
            }
            row += input.format.words();
        }
        let got = f64::from(f32::from_bits(done.rows[3][lane]));
        assert!((got - want).abs() < size * 1e-5, "{got} {want}");
    }
}
