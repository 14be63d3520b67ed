//! Random programs keep their own results, whatever is spliced into them: values in random registers are written to the VPM
//! behind the position, and must be what the program alone writes.

use vc4::facts::NearPlane;
use vc4::qpu::{Inst, Stage};
use vc4::splice::{Source, SpliceError, VertexInput, VertexState, vertex};
use vc4::state::VertexFormat;
use vc4_tests::hash::hash;

use super::machine::{LANES, Machine, Word, run_raw, run_spliced};
use super::vertices::{component, finite, formats, is_number, program, state_words};

/// Numbers by counting.
struct Random {
    seed: u32,
    count: u32,
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.count += 1;
        hash(&[self.seed, self.count, 77]) as usize % n
    }
}

/// A register by number: 0–3 accumulators, then files A and B.
fn write(reg: usize, op: &str, args: &str) -> String {
    match reg {
        0..=3 => format!("sig_none ; r{reg} = {op}.always({args}) ; nop = nop() ;"),
        4..=35 => format!("sig_none ; rx{} = {op}.always({args}) ; nop = nop() ;", reg - 4),
        _ => format!("sig_none ; rx{} = {op}.always.ws({args}) ; nop = nop() ;", reg - 36),
    }
}

fn read(reg: usize) -> String {
    match reg {
        0..=3 => format!("r{reg}, r{reg}"),
        4..=35 => format!("a, a, ra{}", reg - 4),
        _ => format!("b, b, nop, rb{}", reg - 36),
    }
}

/// Both operands through accumulators, so that files do not meet.
fn combined(to: usize, op: &str, a: usize, b: usize) -> String {
    let nop = "sig_none ; nop = nop() ; nop = nop() ;";
    // r3 is the scratch of this generator.
    format!(
        "{nop}{}{}{nop}",
        write(3, "or", &read(a)),
        match b {
            0..=2 => write(to, op, &format!("r3, r{b}")),
            4..=35 => write(to, op, &format!("r3, a, ra{}", b - 4)),
            _ => write(to, op, &format!("r3, b, nop, rb{}", b - 36)),
        }
    )
}

struct Case {
    insts: Vec<Inst>,
    uniforms: Vec<Word>,
    input: VertexInput,
}

/// A program with `used` registers.
fn case(seed: u32, used: usize) -> Case {
    let mut random = Random { seed, count: 0 };
    let mut regs: Vec<usize> = Vec::new();
    while regs.len() < used {
        let reg = random.below(68);
        if reg != 3 && !regs.contains(&reg) {
            regs.push(reg);
        }
    }
    let mut uniforms = Vec::new();
    let mut text = String::new();
    for &reg in &regs {
        uniforms.push(Word::Value(random.below(1 << 30) as u32));
        text += &write(reg, "or", "a, a, uni");
    }
    let formats = formats();
    let format: VertexFormat = formats[random.below(formats.len())];
    let components = 1 + random.below(4) as u8;
    let any = |random: &mut Random| regs[random.below(regs.len())];
    let work = |random: &mut Random, text: &mut String| {
        for _ in 0..random.below(4) {
            let op = ["add", "xor", "sub", "and", "or"][random.below(5)];
            *text += &combined(any(random), op, any(random), any(random));
        }
    };
    // What is read is kept in the program's own order: position, work, attributes.
    let mut taken = Vec::new();
    for n in 0..4u8 {
        work(&mut random, &mut text);
        if n < components {
            let to = any(&mut random);
            text += &write(to, "or", "a, a, vpm_read");
            taken.push(to);
        }
        let clip = ["0x3f000000", "0", "0x3e800000", "0x3f800000"][usize::from(n)];
        text += &format!("sig_small_imm ; vpm = or.always(b, b, nop, {clip}) ; nop = nop() ;");
    }
    for &reg in &regs {
        text += &format!("sig_none ; vpm = or.always({}) ; nop = nop() ;", read(reg));
    }
    Case { insts: program(&text), uniforms, input: VertexInput { format, components } }
}

#[test]
fn programs_keep_their_results() {
    let mut full = 0;
    for seed in 0..160u32 {
        let used = 2 + (seed as usize * 7) % 58;
        let case = case(seed, used);
        let inputs = [case.input];
        let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
        let source = Source { stage: Stage::Vertex, insts: &case.insts, uniforms: &case.uniforms };
        let spliced = match vertex(&source, &state) {
            Ok(spliced) => spliced,
            Err(SpliceError::NoRegister { .. }) if used > 40 => {
                full += 1;
                continue;
            }
            Err(error) => panic!("seed {seed}, {used} registers: {error}"),
        };
        let format = case.input.format;
        let attributes: Vec<[u32; LANES]> = (0..format.words())
            .map(|row| {
                std::array::from_fn(|lane| hash(&[seed, row as u32, lane as u32, 5]) & finite(&format))
            })
            .collect();
        let machine = Machine { attributes: attributes.clone(), ..Machine::new(seed) };
        let done = run_spliced(Stage::Vertex, &spliced, &state_words(), &machine);
        // The program alone, with the components in the place of the words; each must be right to begin with.
        let mut ideal = machine.clone();
        ideal.attributes = ideal_components(&case, &attributes);
        let raw = run_raw(&case.insts, &case.uniforms, &ideal);
        assert_eq!(done.rows[3..], raw.rows[4..], "seed {seed}: {format:?}");
    }
    assert!(full < 40, "{full} programs found no register");
}

/// What the fetch should deliver: taken from a program that does nothing else, and compared with the specification.
fn ideal_components(case: &Case, attributes: &[[u32; LANES]]) -> Vec<[u32; LANES]> {
    let pass = "sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop() ;";
    let zero = "sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop() ;";
    let text = format!("{}{}", zero.repeat(4), pass.repeat(case.input.components.into()));
    let insts = program(&text);
    let inputs = [case.input];
    let state = VertexState { inputs: &inputs, points: false, near_plane: NearPlane::default() };
    let uniforms: &[Word] = &[];
    let spliced = vertex(&Source { stage: Stage::Vertex, insts: &insts, uniforms }, &state).expect("it fits");
    let machine = Machine { attributes: attributes.to_vec(), ..Machine::new(0) };
    let rows = run_spliced(Stage::Vertex, &spliced, &state_words(), &machine).rows.split_off(3);
    for lane in 0..LANES {
        let words: Vec<u32> = attributes.iter().map(|row| row[lane]).collect();
        for (c, row) in rows.iter().enumerate() {
            let want = component(&case.input.format, &words, c);
            assert!(want.is_nan() || is_number(&case.input.format, row[lane], want));
        }
    }
    rows
}
