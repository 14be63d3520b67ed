//! Blending, logic operations and the write mask on every encoding.

use vc4::hw::LANES;
use vc4::image::Format;
use vc4::state::blend::{Blend, BlendEquation, ColorOutput, LogicOp};
use vc4::state::{ColorKind, Encoding, StateWords};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::{Op, Output, Shader};

use crate::machine::{Compiled, Pixels, Random, compile, fragment, input, tile};
use crate::reference::{self, Inputs, Layout, Numbers};

const fn bytes(order: [u32; 4]) -> [Option<(u32, u32)>; 4] {
    [Some((8 * order[0], 8)), Some((8 * order[1], 8)), Some((8 * order[2], 8)), Some((8 * order[3], 8))]
}

const RGBA: [Option<(u32, u32)>; 4] = bytes([0, 1, 2, 3]);
const BGRA: [Option<(u32, u32)>; 4] = bytes([2, 1, 0, 3]);
const BITS_10: [Option<(u32, u32)>; 4] = [Some((0, 10)), Some((10, 10)), Some((20, 10)), Some((30, 2))];
const HALVES: [Option<(u32, u32)>; 4] = [Some((0, 16)), Some((16, 16)), None, None];

/// A target as the driver describes it and as the specification does.
pub struct Target {
    pub name: &'static str,
    pub output: ColorOutput,
    pub layout: Layout,
}

fn target(
    name: &'static str,
    output: ColorOutput,
    numbers: Numbers,
    fields: [Option<(u32, u32)>; 4],
) -> Target {
    Target { name, output, layout: Layout { numbers, fields } }
}

fn encoded(encoding: Option<Encoding>) -> ColorOutput {
    ColorOutput::encoded(encoding.expect("the encoding exists"), false)
}

fn plain(format: Format) -> ColorOutput {
    ColorOutput::plain(format.info(), false)
}

fn srgb(format: Format) -> ColorOutput {
    let plain = plain(format);
    ColorOutput { encoding: plain.encoding.srgb().expect("bytes have sRGB"), ..plain }
}

/// Every target that colours can be blended on.
pub fn targets() -> Vec<Target> {
    use Numbers::{Half, Snorm, Srgb, Unorm};
    let opaque = |mut fields: [Option<(u32, u32)>; 4]| {
        fields[3] = None;
        fields
    };
    let only = |count: usize, fields: [Option<(u32, u32)>; 4]| {
        std::array::from_fn(|n| fields[n].filter(|_| n < count))
    };
    let swapped = {
        let mut fields = BITS_10;
        fields.swap(0, 2);
        fields
    };
    // The high bits of each byte are what memory keeps.
    let rgb565 = [Some((3, 5)), Some((10, 6)), Some((19, 5)), None];
    let precise = ColorOutput { precise: true, ..plain(Format::R8G8B8A8) };
    vec![
        target("rgba8 unorm", plain(Format::R8G8B8A8), Unorm, RGBA),
        target("rgba8 unorm in floats", precise, Unorm, RGBA),
        target("bgra8 unorm", plain(Format::B8G8R8A8), Unorm, BGRA),
        target("bgrx8 unorm", plain(Format::B8G8R8X8), Unorm, opaque(BGRA)),
        target("r8 unorm", encoded(Encoding::bytes(ColorKind::Unorm, 1)), Unorm, only(1, RGBA)),
        target("rg8 unorm", encoded(Encoding::bytes(ColorKind::Unorm, 2)), Unorm, only(2, RGBA)),
        target("rgba8 srgb", srgb(Format::R8G8B8A8), Srgb, RGBA),
        target("bgra8 srgb", srgb(Format::B8G8R8A8), Srgb, BGRA),
        target("rgb565", plain(Format::R5G6B5), Unorm, rgb565),
        target(
            "a2b10g10r10 unorm",
            encoded(Encoding::bits_10_10_10_2(ColorKind::Unorm, false)),
            Unorm,
            BITS_10,
        ),
        target(
            "a2r10g10b10 unorm",
            encoded(Encoding::bits_10_10_10_2(ColorKind::Unorm, true)),
            Unorm,
            swapped,
        ),
        target("rgba8 snorm", encoded(Encoding::bytes(ColorKind::Snorm, 4)), Snorm, RGBA),
        target("rg16 unorm", encoded(Encoding::halves(ColorKind::Unorm, 2)), Unorm, HALVES),
        target("rg16 snorm", encoded(Encoding::halves(ColorKind::Snorm, 2)), Snorm, HALVES),
        target("rg16 float", encoded(Encoding::halves(ColorKind::Float, 2)), Half, HALVES),
        target("r16 float", encoded(Encoding::halves(ColorKind::Float, 1)), Half, only(1, HALVES)),
    ]
}

/// Hands input 0 through, and input 1 as the second colour if asked.
pub fn pass_through(second: bool) -> Shader {
    fragment(|b| {
        for component in 0..4 {
            let value = input(b, 0, component);
            b.store_output(Output::User { location: 0, component }, value);
            if second {
                let value = input(b, 1, component);
                b.store_output(Output::SecondColor(component), value);
            }
        }
    })
}

pub fn program(output: ColorOutput) -> Compiled {
    let state = PipelineState { color: Some(output), ..PipelineState::default() };
    compile(pass_through(output.reads_second_source()), &state)
}

/// A component of a source colour: edges, steps of bytes and halves between them, anything.
pub fn component(random: &mut Random) -> f32 {
    const EDGES: [f32; 10] = [0.0, 1.0, -0.5, 1.5, 0.5, 1e-10, 0.999_999_9, 0.003_130_8, -3.0, 1.0 / 255.0];
    match random.below(8) {
        0 | 1 => random.pick(&EDGES),
        2 => random.below(256) as f32 / 255.0,
        3 => (random.below(255) as f32 + 0.5) / 255.0,
        4 => random.unit() * 2.0 - 0.5,
        _ => random.unit(),
    }
}

/// A word that may stand in the tile.
pub fn stored(random: &mut Random, target: &Target) -> u32 {
    let word = u32::from_le_bytes(std::array::from_fn(|_| match random.below(6) {
        0 => 0,
        1 => 255,
        2 => random.pick(&[1, 127, 128, 254]),
        _ => random.word() as u8,
    }));
    if target.output.encoding.stores_565 {
        let [r, g, b, a] = word.to_le_bytes();
        let five = |v: u8| v & 0xf8 | v >> 5;
        return u32::from_le_bytes([five(r), g & 0xfc | g >> 6, five(b), a]);
    }
    if target.layout.numbers == Numbers::Half {
        // No infinities, which make NaN of differences, and no huge numbers.
        return word & 0xbfff_bfff;
    }
    word
}

pub fn colors(random: &mut Random, count: usize) -> Vec<Inputs> {
    let constants = std::array::from_fn(|_| component(random));
    let color = |random: &mut Random| std::array::from_fn(|_| component(random));
    (0..count).map(|_| Inputs { src: color(random), src1: color(random), constants, dst: 0 }).collect()
}

/// Runs one batch and returns the sixteen words.
fn run(program: &Compiled, batch: &[Inputs]) -> Vec<u32> {
    let mut tile = tile(false);
    for (lane, inputs) in batch.iter().enumerate() {
        tile.color_mut()[lane] = inputs.dst;
    }
    let words = StateWords { blend_constants: batch[0].constants, ..Default::default() };
    let pixels = Pixels { words, ..Pixels::default() };
    program.run(&mut tile, &pixels, |location, component| {
        std::array::from_fn(|lane| {
            let inputs = &batch[lane];
            let color = if location == 0 { inputs.src } else { inputs.src1 };
            color[usize::from(component)].to_bits()
        })
    });
    tile.color()[..LANES].to_vec()
}

/// Checks one pixel; returns its largest distance in steps of the format.
pub fn check(target: &Target, output: &ColorOutput, inputs: &Inputs, word: u32) -> f64 {
    let exact = reference::blended(&target.layout, output.blend, inputs);
    let allowed = match (target.output.encoding.stores_565, target.layout.numbers) {
        // Bytes are rounded once more.
        (true, _) => 0.95,
        _ => reference::allowed(&target.layout, output),
    };
    let mut worst = 0f64;
    for (component, exact) in exact.into_iter().enumerate() {
        if target.layout.fields[component].is_none() {
            continue;
        }
        if !output.write[component] {
            let kept = target.layout.field(inputs.dst, component);
            assert_eq!(target.layout.field(word, component), kept, "{}: masked {component}", target.name);
            continue;
        }
        let distance = target.layout.distance(word, component, exact);
        worst = worst.max(distance);
        assert!(
            distance < allowed,
            "{}: component {component} is {distance} off: {word:#010x} for {:?}\n{inputs:?}\n{:?}",
            target.name,
            exact,
            output.blend
        );
    }
    worst
}

/// Runs states `first`, `first + step` … of a target; returns pairs and the largest distance.
fn sweep(target: &Target, first: usize, step: usize, batches: usize) -> (usize, f64) {
    let equations = reference::equations();
    let mut random = Random::new(first as u64 + 1);
    let (mut pairs, mut worst) = (0, 0f64);
    for index in (first..equations.len()).step_by(step) {
        // Coprime to the number of equations: alpha meets every one of them, too.
        let alpha = equations[(index * 7 + 3) % equations.len()];
        let blend = Blend { color: equations[index], alpha };
        let masked = random.below(4) == 0;
        let write = std::array::from_fn(|_| !masked || random.below(2) == 0);
        let output = ColorOutput { blend: Some(blend), write, ..target.output };
        if !output.writes_color() {
            continue;
        }
        let program = program(output);
        for _ in 0..batches {
            let mut batch = colors(&mut random, LANES);
            batch.iter_mut().for_each(|inputs| inputs.dst = stored(&mut random, target));
            for (inputs, word) in batch.iter().zip(run(&program, &batch)) {
                worst = worst.max(check(target, &output, inputs, word));
                pairs += 1;
            }
        }
    }
    (pairs, worst)
}

/// Two of the equations' count, 19 * 19 * 5, have no common divisor with 7.
#[test]
fn alpha_meets_every_equation() {
    let count = reference::equations().len();
    let mut met: Vec<usize> = (0..count).map(|index| (index * 7 + 3) % count).collect();
    met.sort_unstable();
    met.dedup();
    assert_eq!(met.len(), count);
}

#[test]
fn every_equation_on_bytes() {
    let targets = targets();
    let (pairs, worst) = sweep(&targets[0], 0, 1, 8);
    println!("{}: {pairs} pairs, at most {worst:.3} steps", targets[0].name);
    assert!(pairs > 200_000, "{pairs}");
}

/// A part of the equations on the other targets; every one is [`every_equation_on_every_target`]'s.
#[test]
fn equations_on_every_target() {
    for (index, target) in targets().iter().enumerate().skip(1) {
        let (pairs, worst) = sweep(target, index, 61, 4);
        println!("{}: {pairs} pairs, at most {worst:.3} steps", target.name);
    }
}

#[test]
#[ignore = "minutes: every equation on every target"]
fn every_equation_on_every_target() {
    let mut sum = 0;
    for target in targets() {
        let (pairs, worst) = sweep(&target, 0, 1, 12);
        println!("{}: {pairs} pairs, at most {worst:.3} steps", target.name);
        sum += pairs;
    }
    println!("{sum} pairs");
}

/// Without blending a colour is converted, and what the target holds is kept where nothing is written.
#[test]
fn colours_are_converted_and_masked() {
    for target in targets() {
        for mask in 1..16u32 {
            let write = std::array::from_fn(|component| mask >> component & 1 != 0);
            let output = ColorOutput { write, ..target.output };
            if !output.writes_color() {
                continue;
            }
            let program = program(output);
            let mut random = Random::new(u64::from(mask));
            let mut batch = colors(&mut random, LANES);
            batch.iter_mut().for_each(|inputs| inputs.dst = stored(&mut random, &target));
            for (inputs, word) in batch.iter().zip(run(&program, &batch)) {
                check(&target, &output, inputs, word);
            }
        }
    }
}

/// A destination that is kept by its factors comes back bit for bit: what is drawn over it does not make it drift.
#[test]
fn destinations_survive_being_kept() {
    use vc4::state::blend::{BlendFactor, BlendOp};
    let kept = BlendEquation { src: BlendFactor::Zero, dst: BlendFactor::One, op: BlendOp::Add };
    let blend = Some(Blend { color: kept, alpha: kept });
    for target in targets() {
        let output = ColorOutput { blend, ..target.output };
        let program = program(output);
        let mut random = Random::new(5);
        for _ in 0..if target.layout.numbers == Numbers::Srgb { 64 } else { 8 } {
            let mut batch = colors(&mut random, LANES);
            batch.iter_mut().for_each(|inputs| inputs.dst = stored(&mut random, &target));
            for (inputs, word) in batch.iter().zip(run(&program, &batch)) {
                for component in 0..4 {
                    let Some(old) = target.layout.field(inputs.dst, component) else { continue };
                    let (bits, width) = target.layout.fields[component].expect("it is there");
                    // Two words of signed numbers mean -1, and float denormals count as 0.
                    let least = target.layout.numbers == Numbers::Snorm && old == 1 << (width - 1);
                    let tiny = target.layout.numbers == Numbers::Half && old & 0x7c00 == 0;
                    if !least && !tiny {
                        let new = target.layout.field(word, component);
                        assert_eq!(new, Some(old), "{} at bit {bits}", target.name);
                    }
                }
            }
        }
    }
}

const LOGIC: [LogicOp; 16] = [
    LogicOp::Clear,
    LogicOp::And,
    LogicOp::AndReverse,
    LogicOp::Copy,
    LogicOp::AndInverted,
    LogicOp::NoOp,
    LogicOp::Xor,
    LogicOp::Or,
    LogicOp::Nor,
    LogicOp::Equivalent,
    LogicOp::Invert,
    LogicOp::OrReverse,
    LogicOp::CopyInverted,
    LogicOp::OrInverted,
    LogicOp::Nand,
    LogicOp::Set,
];

/// Logic operations act on the bits that a plain write of the source gives, on fixed-point targets; colours pass on
/// the others.
#[test]
fn every_logic_operation_on_every_target() {
    for target in targets() {
        let source = program(target.output);
        for op in LOGIC {
            let output = ColorOutput { logic_op: Some(op), ..target.output };
            let program = program(output);
            let mut random = Random::new(op as u64);
            let mut batch = colors(&mut random, LANES);
            batch.iter_mut().for_each(|inputs| inputs.dst = stored(&mut random, &target));
            let written = run(&source, &batch);
            for ((inputs, word), s) in batch.iter().zip(run(&program, &batch)).zip(written) {
                let acts = !matches!(target.layout.numbers, Numbers::Srgb | Numbers::Half);
                let wanted = if acts { reference::logic(op, s, inputs.dst) } else { s };
                for component in 0..4 {
                    let fields = [word, wanted].map(|word| target.layout.field(word, component));
                    assert_eq!(fields[0], fields[1], "{}: {op:?}, component {component}", target.name);
                }
            }
        }
    }
}

/// Integers and single floats are not blended but written, masked and combined.
#[test]
fn words_that_do_not_blend_are_exact() {
    let encodings = [
        (Encoding::bytes(ColorKind::Uint, 4), RGBA, Numbers::Uint),
        (Encoding::bytes(ColorKind::Sint, 4), RGBA, Numbers::Sint),
        (Encoding::bytes(ColorKind::Uint, 1), [RGBA[0], None, None, None], Numbers::Uint),
        (Encoding::halves(ColorKind::Uint, 2), HALVES, Numbers::Uint),
        (Encoding::halves(ColorKind::Sint, 1), [HALVES[0], None, None, None], Numbers::Sint),
        (Encoding::bits_10_10_10_2(ColorKind::Uint, false), BITS_10, Numbers::Uint),
        (Encoding::word(ColorKind::Uint), [Some((0, 32)), None, None, None], Numbers::Uint),
        (Encoding::word(ColorKind::Sint), [Some((0, 32)), None, None, None], Numbers::Sint),
        (Encoding::word(ColorKind::Float), [Some((0, 32)), None, None, None], Numbers::Float),
    ];
    for (encoding, fields, numbers) in encodings {
        let layout = Layout { numbers, fields };
        for write in [[true; 4], [true, false, true, false]] {
            let output = ColorOutput { write, ..encoded(encoding) };
            // Integers as two halves in floats, which hold them exactly.
            let shader = fragment(|b| {
                for component in 0..4 {
                    let (low, high) = (input(b, 0, component), input(b, 1, component));
                    let (low, high, sixteen) = (b.op(Op::FToS, &[low]), b.op(Op::FToS, &[high]), b.word(16));
                    let high = b.op(Op::Shl, &[high, sixteen]);
                    let word = b.op(Op::Or, &[low, high]);
                    b.store_output(Output::User { location: 0, component }, word);
                }
            });
            let state = PipelineState { color: Some(output), ..PipelineState::default() };
            let program = compile(shader, &state);
            let mut random = Random::new(9);
            for _ in 0..4 {
                let source: [[u32; LANES]; 4] =
                    std::array::from_fn(|_| std::array::from_fn(|_| random.word()));
                let old: [u32; LANES] = std::array::from_fn(|_| random.word());
                let mut tile = tile(false);
                tile.color_mut()[..LANES].copy_from_slice(&old);
                program.run(&mut tile, &Pixels::default(), |location, component| {
                    source[usize::from(component)].map(|word| {
                        let half = if location == 0 { word & 0xffff } else { word >> 16 };
                        (half as f32).to_bits()
                    })
                });
                for lane in 0..LANES {
                    for component in 0..4 {
                        let Some(found) = layout.field(tile.color()[lane], component) else { continue };
                        let (_, width) = fields[component].expect("it was read");
                        let new = source[component][lane] & (u32::MAX >> (32 - width));
                        let old = layout.field(old[lane], component);
                        let wanted = if write[component] { Some(new) } else { old };
                        assert_eq!(Some(found), wanted, "{encoding:?}");
                    }
                }
            }
        }
    }
}
