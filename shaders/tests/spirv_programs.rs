//! Control flow, memory, images and specialisation of translated shaders against values computed here.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use std::collections::BTreeMap;

use support::{World, floats, ints, outcomes, texel, user, words};
use vc4_shaders::ir::{BuiltinInput, Inst, Op, Output, Stage};
use vc4_shaders::program::Descriptor;
use vc4_shaders::spirv::{StageSource, translate};

mod flow {
    //! The functions of `flow.frag` in Rust.

    pub fn early(x: i32) -> i32 {
        if x < 3 {
            return x * 2;
        }
        for i in 0..10 {
            if i == x {
                return 100 + i;
            }
            if i * i > 40 + x {
                break;
            }
        }
        -x
    }

    pub fn nested(x: i32) -> i32 {
        let mut sum = 0;
        for i in 0..5 {
            if x & 1 != 0 && i == 2 {
                continue;
            }
            for j in 0..4 {
                if j == x & 3 {
                    continue;
                }
                if i * j == x {
                    return sum + 1000;
                }
                if i + j > x {
                    break;
                }
                sum += i * 7 + j;
            }
            if sum > 60 {
                break;
            }
            sum += 1;
        }
        sum
    }

    pub fn choose(x: i32) -> i32 {
        match x {
            0 => 5,
            1 => 11 * 3 + 1 + 50,
            2 => 11 * 3,
            3 => 3 + 1 + 50,
            4 => 1 + 50,
            9 => -1 + 9,
            x => 1 + x,
        }
    }

    pub fn outputs(n: i32) -> Vec<i64> {
        let mut w = n;
        loop {
            w = w * 2 + 1;
            if w > 1000 || w >= 100 {
                break;
            }
        }
        let mut k = 0;
        loop {
            k += 1;
            if k >= n {
                break;
            }
            if k & 1 != 0 {
                k += 1;
            }
        }
        let (mut t, mut global) = (0, 7i32);
        for i in 0..6 {
            match i {
                1 => continue,
                4 => t += 100,
                i => t += i + if n == i { 1000 } else { 0 },
            }
            global = global * 3 + 1 - if n & 4 == 0 { 2 } else { 0 };
            t += 10;
        }
        let mut v = [3, 1, 4, 1, 5];
        v[n as usize % 5] += n;
        let s = v.iter().fold(0, |s, v| s * 10 + v);
        let end = if n > 12 { (1, 2) } else { (3, 0) };
        let words = [early(n), nested(n), choose(n), choose(n - 3), n + 3, (n + 3) * 2, w, k];
        let more = [t, global, 0, 0, s, v[(n as usize + 2) % 5], end.0, end.1];
        words.into_iter().chain(more).map(i64::from).collect()
    }
}

#[test]
fn control_flow() {
    let mut world = World::default();
    world.inputs.insert((0, 0), ints(|lane| lane as i32));
    for (what, outcome) in outcomes("flow.frag", &world, &[]) {
        assert_eq!(outcome.discarded, 1 << 11 | 1 << 14, "{what}");
        for lane in (0..16usize).filter(|lane| ![11, 14].contains(lane)) {
            for (at, want) in flow::outputs(lane as i32).into_iter().enumerate() {
                let output = user(at as u32 / 4, (at % 4) as u8);
                assert_eq!(
                    outcome.output(output)[lane] as i32,
                    want as i32,
                    "{what}, element {lane}, {output:?}"
                );
            }
        }
    }
}

#[test]
fn specialization() {
    let mut world = World::default();
    world.inputs.insert((0, 0), ints(|lane| lane as i32));
    const NONE: &[(u32, u32)] = &[];
    let cases = [
        (NONE, 3, 0.5, false, 0x0f0f),
        (&[(0, 6), (1, 0x4000_0000), (5, 1), (7, 0x1234)], 6, 2.0, true, 0x1234),
        // The last entry for a constant counts, entries without constant do not matter.
        (&[(0, 6), (0, 1), (99, 7)], 1, 0.5, false, 0x0f0f),
    ];
    for (entries, count, scale, flip, bits) in cases {
        for (what, outcome) in outcomes("special.frag", &world, entries) {
            let twice = count * 2 + 1;
            for lane in 0..16 {
                let item = |i: i32| (i * i) as f32 * scale;
                let sum: f32 = (0..twice).map(|i| item((i + lane) % twice) * i as f32).sum();
                let more = [
                    (bits & 0xff) as f32,
                    (bits >> 4) as f32,
                    f32::from(u8::from(count > 4)),
                    (-count / 2) as f32,
                ];
                let flip = if flip { -1.0 } else { 1.0 };
                let want = [sum, item(twice - 1), twice as f32, flip].into_iter().chain(more);
                for (at, want) in want.enumerate() {
                    let got = outcome.floats(user(at as u32 / 4, (at % 4) as u8))[lane as usize];
                    assert_eq!(got, want, "{what}, {entries:?}, element {lane}, number {at}");
                }
            }
        }
    }
}

/// A buffer whose word at byte offset o holds o + bias as a float.
fn counting(words: u32, bias: f32) -> Vec<u32> {
    (0..words).map(|at| ((4 * at) as f32 + bias).to_bits()).collect()
}

#[test]
fn memory() {
    let block = Descriptor { set: 1, binding: 2, element: 0 };
    let two = Descriptor { set: 0, binding: 4, element: 1 };
    let mut bytes = counting(100, 0.0);
    bytes[96] = 42;
    let mut world = World { push: counting(32, 0.5), ..World::default() };
    world.ubos = BTreeMap::from([(block, bytes), (two, counting(16, 1000.0))]);
    world.builtins = vec![
        (BuiltinInput::VertexIndex, ints(|lane| lane as i32)),
        (BuiltinInput::InstanceIndex, ints(|_| 5)),
    ];
    for location in 0..3 {
        for component in 0..4 {
            world.inputs.insert((location, component), floats(|lane| (lane + usize::from(component)) as f32));
        }
    }
    for (what, outcome) in outcomes("memory.vert", &world, &[]) {
        for lane in 0..16 {
            let i = lane % 3;
            let odd = i & 1;
            let check = |output: Output, want: f32| {
                assert_eq!(outcome.floats(output)[lane], want, "{what}, element {lane}, {output:?}");
            };
            let attribute = |c: usize| (lane + c) as f32;
            for row in 0..4usize {
                let sum = (0..4).map(|column| (16 * column + 4 * row) as f32 * attribute(column)).sum();
                check(Output::Position(row as u8), sum);
            }
            // Row-major mat3x4: element (row, column) lies at 64 + 16 row + 4 column.
            check(Output::PointSize, (64 + 16 * 2 + 4) as f32 + 5.0);
            for c in 0..4 {
                check(user(0, c), (128 + 16 * i + 4 * usize::from(c)) as f32);
            }
            check(user(1, 0), (176 + 16 * (i + 1)) as f32);
            check(user(1, 1), (176 + 16 * (i + 1) + 4) as f32);
            check(user(1, 2), (256 + 32 * odd + 16) as f32);
            check(user(1, 3), (256 + 32 * odd + 16 + 4) as f32);
            check(user(2, 0), (320 + 32 * odd + 4) as f32);
            check(user(2, 1), (320 + 32 * odd + 16 + 4) as f32);
            check(user(2, 2), (320 + 32 + 4 * odd) as f32);
            check(user(2, 3), (64 + 16 * 3 + 4 * i) as f32);
            let push = |offset: usize| offset as f32 + 0.5;
            let one = push(0) + push(16 + 16 * i + 4 * i) + push(16 + 32 + 12) + (1000 + 16 * i + 4) as f32;
            check(user(4, 1), one);
            for column in 0..2 {
                for row in 0..2usize {
                    let want = push(96 + 4 * row) * attribute(0) + push(104 + 4 * row) * attribute(1);
                    check(user(5 + column, row as u8), want);
                }
            }
            let y = |at: usize| if at == odd { 77 } else { [128 + 4, 128 + 32 + 4][at] };
            assert_eq!(outcome.output(user(8, 0))[lane], 42, "{what}");
            assert_eq!(outcome.output(user(8, 1))[lane], y(0) + y(1), "{what}");
        }
    }
}

#[test]
fn images() {
    let mut world = World::default();
    for component in 0..4u8 {
        let c = f32::from(component);
        world.inputs.insert((0, component), floats(|lane| 0.25 + lane as f32 * 0.5 + c));
    }
    world.inputs.insert((1, 0), ints(|lane| lane as i32));
    world.inputs.insert((2, 0), floats(|lane| (lane & 3) as f32 * 2.0));
    world.inputs.insert((2, 1), floats(|lane| (lane >> 1 & 1) as f32 * 5.0 + 1.0));
    world.builtins = vec![(BuiltinInput::FrontFacing, ints(|lane| i32::from(lane >= 8)))];
    for c in 0..4 {
        world.builtins.push((BuiltinInput::FragCoord(c), floats(|lane| lane as f32 + 0.5 + f32::from(c))));
        world.builtins.push((BuiltinInput::PointCoord(c), floats(|_| f32::from(c) + 0.125)));
    }
    for (what, outcome) in outcomes("texture.frag", &world, &[]) {
        for lane in 0..16 {
            let c: Vec<f32> = (0..4).map(|component| 0.25 + lane as f32 * 0.5 + component as f32).collect();
            let pixel = [lane as f32, lane as f32 + 1.0, lane as f32];
            for component in 0..4 {
                let check = |location: u32, want: f32| {
                    let got = outcome.floats(user(location, component as u8))[lane];
                    assert!(
                        (got - want).abs() < 1e-3,
                        "{what}, element {lane}, {location}.{component}: {got} {want}"
                    );
                };
                check(0, texel(0, 0, None, &c[..2], component));
                check(1, texel(0, 0, Some(c[2]), &c[..2], component));
                check(2, texel(3, 2, Some(c[3]), &[c[1], c[0]], component));
                check(3, texel(0, 0, None, &[c[0] / c[3], c[1] / c[3]], component));
                check(4, texel(1, 0, None, &c[..3], component));
                check(5, texel(3, 1, None, &pixel, component));
            }
            let row = (lane >> 1 & 1) as f32;
            let (left, x) = ((lane & 2) as f32 * 2.0, (lane & 3) as f32 * 2.0);
            let y = row * 5.0 + 1.0;
            let want_dx = ((left + 2.0) * y - left * y).abs();
            let (upper, lower) = ((lane & 1) as f32 * 2.0, ((lane & 1) | 2) as f32 * 2.0);
            let want_dy = (lower * 6.0 - upper).abs();
            let want = [2.0, 5.0, want_dx + want_dy, if lane >= 8 { 1.0 } else { -1.0 }];
            for (component, want) in want.into_iter().enumerate() {
                assert_eq!(
                    outcome.floats(user(6, component as u8))[lane],
                    want,
                    "{what}, {lane}.{component} {x}"
                );
            }
            let want = [lane as f32 + 2.5, lane as f32 + 3.5, 0.125, 1.125];
            for (component, want) in want.into_iter().enumerate() {
                assert_eq!(outcome.floats(user(7, component as u8))[lane], want, "{what}");
            }
            assert_eq!(outcome.floats(Output::FragDepth)[lane], (lane as f32 + 2.5) * 0.5, "{what}");
        }
    }
}

/// Programs of nested loops, switches, early exits and function calls, with the results of an independent evaluation.
#[test]
fn generated_programs() {
    let mut world = World::default();
    world.inputs.insert((0, 0), ints(|lane| lane as i32));
    world.inputs.insert((1, 0), ints(|lane| (lane as i32 * 7) % 5 - 2));
    for number in 1..=6 {
        let path = format!("{}/tests/spirv/random_{number}.expected", env!("CARGO_MANIFEST_DIR"));
        let expected = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        for (what, outcome) in outcomes(&format!("random_{number}.frag"), &world, &[]) {
            for (lane, line) in expected.lines().enumerate() {
                assert_eq!(line == "x", outcome.discarded >> lane & 1 != 0, "{what}, element {lane}");
                for (at, want) in line.split(' ').filter(|_| line != "x").enumerate() {
                    let output = user(at as u32 / 4, (at % 4) as u8);
                    let got = outcome.output(output)[lane] as i32;
                    assert_eq!(got, want.parse::<i32>().unwrap(), "{what}, element {lane}, {output:?}");
                }
            }
        }
    }
}

#[test]
fn indexing() {
    let mut world = World::default();
    for component in 0..4u8 {
        world.inputs.insert((0, component), ints(|lane| lane as i32 * (i32::from(component) + 1)));
    }
    for location in 0..3u8 {
        world.inputs.insert((1 + u32::from(location), 0), floats(|_| f32::from(location) * 0.5));
    }
    for (column, row) in [(0u8, 0u8), (0, 1), (1, 0), (1, 1)] {
        world.inputs.insert((4 + u32::from(column), row), floats(|_| f32::from(10 * column + row)));
    }
    for (what, outcome) in outcomes("indexing.frag", &world, &[]) {
        for lane in 0..16 {
            let (i, j, k) = (lane & 1, 2 * lane % 3, (3 * lane) & 3);
            let mut v = [[0., 1., 2.], [1., 2., 3.]];
            v[i][j] = 50.;
            let picked = (100 * i + 10 + j) as f32 + 1000.;
            let mut m =
                [[1., 2., 3.], [4., 5., 6.]].map(|column: [f32; 3]| column.map(|x| x * (i + 1) as f32));
            m[i][j] = -1.;
            (m[1 - i][1], m[1 - i][0]) = (7., 8.);
            let table = [[1., 2.], [3., 4.]];
            let first = [v[i][j] + v[1 - i][j], picked, m[i][j] + m[1 - i][0], table[i][k & 1]];
            let mut o = [0., 1., 2., 3.];
            o[k] += j as f32 * 0.5 + (10 * i + (k & 1)) as f32;
            o[(k + 1) & 3] *= 2.;
            for n in 0..4 {
                assert_eq!(outcome.floats(user(0, n as u8))[lane], first[n], "{what}, element {lane}, {n}");
                assert_eq!(
                    outcome.floats(user(1 + n as u32, 0))[lane],
                    o[n],
                    "{what}, element {lane}, o[{n}]"
                );
            }
        }
    }
}

#[test]
fn coverage_and_the_second_colour() {
    let mut world = World::default();
    world.inputs.insert((0, 0), ints(|lane| lane as i32));
    world.builtins = vec![
        (BuiltinInput::SampleMask, ints(|_| 0b1011)),
        (BuiltinInput::HelperInvocation, ints(|lane| i32::from(lane % 4 == 3))),
    ];
    for (what, outcome) in outcomes("coverage.frag", &world, &[]) {
        for lane in 0..16 {
            let helper = if lane % 4 == 3 { 1. } else { 0. };
            assert_eq!(outcome.output(Output::SampleMask)[lane], lane as u32 & 0b1011, "{what}");
            assert_eq!(outcome.floats(user(0, 3))[lane], helper, "{what}");
            let second = [0, 1].map(|n| outcome.floats(Output::SecondColor(n))[lane]);
            assert_eq!(second, [3., 4.], "{what}");
        }
    }
}

/// Float16 by way of the `half` crate's rounding, which knows nothing of ours; denormals become zero.
fn quantized(x: f32) -> f32 {
    let rounded = half::f16::from_f32(x).to_f32();
    if rounded.abs() < 2f32.powi(-14) { 0f32.copysign(x) } else { rounded }
}

#[test]
fn quantizing() {
    let special = [
        0.,
        -0.,
        1.,
        1.0005,
        1.000_488_3,
        1.001_464_8,
        65504.,
        65519.,
        65520.,
        1e10,
        -1e10,
        6.1e-5,
        6.0e-5,
        3.3333,
        f32::INFINITY,
        f32::NAN,
    ];
    let mut world = World::default();
    world.inputs.insert((0, 0), floats(|lane| special[lane]));
    world.inputs.insert((0, 1), floats(|lane| -special[15 - lane] * 1.7));
    for constant in [1.0005f32, 70000., 3.3333] {
        for (what, outcome) in outcomes("quantize.frag", &world, &[(3, constant.to_bits())]) {
            for lane in 0..16 {
                assert_eq!(outcome.floats(user(1, 0))[lane], quantized(constant), "{what}");
                for n in 0..2u8 {
                    let input = f32::from_bits(world.inputs[&(0, n)][lane]);
                    let (got, wanted) = (outcome.floats(user(0, n))[lane], quantized(input));
                    let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
                    assert!(same, "{what}: {input} becomes {got}, not {wanted}");
                }
            }
        }
    }
}

#[test]
fn what_is_invariant_takes_no_estimates() {
    let relaxed = |name: &str| {
        let shader = support::shader(name, &[]);
        let division = |&inst: &Inst| shader.insts[inst].op == Op::FDiv;
        let divisions: Vec<bool> = shader
            .insts_in_order()
            .iter()
            .filter(|inst| division(inst))
            .map(|&inst| shader.insts[inst].relaxed)
            .collect();
        divisions
    };
    assert_eq!(relaxed("estimates.vert"), [true]);
    assert_eq!(relaxed("estimates_invariant.vert"), [false]);
}

/// A module that says how it orders accesses by the memory model of Vulkan 1.2.
fn with_vulkan_memory_model(mut words: Vec<u32>) -> Vec<u32> {
    let capability = [2 << 16 | spirv::Op::Capability as u32, spirv::Capability::VulkanMemoryModel as u32];
    let first = |words: &[u32], op: spirv::Op| {
        let mut at = 5;
        while words[at] & 0xffff != op as u32 {
            at += words[at] as usize >> 16;
        }
        at
    };
    let at = first(&words, spirv::Op::MemoryModel);
    assert_eq!(words[at + 2], spirv::MemoryModel::GLSL450 as u32);
    words[at + 2] = spirv::MemoryModel::Vulkan as u32;
    words.splice(5..5, capability);
    words
}

/// Stages that store nothing have nothing to order, whatever the model.
#[test]
fn the_memory_model_of_vulkan_makes_the_same_program() {
    let modules = [
        (Stage::Vertex, "memory.vert"),
        (Stage::Fragment, "texture.frag"),
        (Stage::Fragment, "indexing.frag"),
        (Stage::Fragment, "flow.frag.opt"),
        (Stage::Compute, "atomics.comp"),
        (Stage::Compute, "images.comp"),
    ];
    for (stage, name) in modules {
        let translated = |words: Vec<u32>| {
            let source = StageSource { words: &words, entry: "main", specialization: &[] };
            let shader = translate(&source, stage).unwrap_or_else(|error| panic!("{name}: {error}"));
            shader.to_string()
        };
        let plain = words(name);
        assert_eq!(translated(with_vulkan_memory_model(plain.clone())), translated(plain), "{name}");
    }
}
