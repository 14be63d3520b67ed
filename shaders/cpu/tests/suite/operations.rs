//! Every operation, as scalars and as vectors, beside what folding makes of it.

use super::support::{buffer, compute, run};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use vc4_shaders::ir::eval::eval;
use vc4_shaders::ir::{Builder, BuiltinInput, Invocation, Memory, Op, Shader, Signature, Type, Value};
use vc4_shaders_cpu::Kernel;

const COUNT: u32 = 8;

fn load(b: &mut Builder<'_>, binding: u32, place: Value) -> Value {
    b.emit(Op::Load { memory: Memory::Buffer(buffer(binding)), offset: 0 }, &[place])[0]
}

fn store(b: &mut Builder<'_>, binding: u32, place: Value, value: Value) {
    b.emit(Op::Store { memory: Memory::Buffer(buffer(binding)), offset: 0 }, &[place, value]);
}

/// Applies an operation to words of buffers 0, 1, ... and stores its result, by element and for the first words alone.
fn shader_of(op: Op, args: usize) -> Shader {
    let mut shader = compute([COUNT, 1, 1], 0, 0);
    let entry = shader.entry().unwrap();
    let b = &mut Builder::new(&mut shader, entry);
    let index = b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalIndex)), &[])[0];
    let two = b.word(2);
    let own = b.shl(index, two);
    let zero = b.word(0);
    for (places, to) in [([own, own], 4), ([zero, zero], 5), ([own, zero], 6)] {
        let Signature::Fixed { args: types, .. } = op.signature() else {
            panic!("{op} has a signature");
        };
        let mut values = Vec::new();
        for at in 0..args {
            let word = load(b, at as u32, places[at.min(1)]);
            values.push(match types[at] {
                Type::Word => word,
                Type::Bool => {
                    let one = b.word(1);
                    let bit = b.and(word, one);
                    b.ine(bit, zero)
                }
            });
        }
        let mut result = b.emit(op, &values)[0];
        if b.shader.values[result].ty == Type::Bool {
            let one = b.word(1);
            result = b.select(result, one, zero);
        }
        store(b, to, own, result);
    }
    shader
}

const UNARY: [Op; 26] = [
    Op::FNeg,
    Op::FAbs,
    Op::FSign,
    Op::FFloor,
    Op::FCeil,
    Op::FTrunc,
    Op::FRoundEven,
    Op::FRsqrt,
    Op::FInverseLength,
    Op::FSqrt,
    Op::FExp2,
    Op::FLog2,
    Op::FSin,
    Op::FCos,
    Op::Not,
    Op::Clz,
    Op::BNot,
    Op::FToS,
    Op::FToU,
    Op::SToF,
    Op::UToF,
    Op::UnpackInt(vc4::qpu::Unpack::Half1),
    Op::UnpackInt(vc4::qpu::Unpack::Byte2),
    Op::UnpackFloat(vc4::qpu::Unpack::Half0),
    Op::UnpackFloat(vc4::qpu::Unpack::Byte3),
    Op::UnpackFloat(vc4::qpu::Unpack::Half1),
];

const BINARY: [Op; 38] = [
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FMin,
    Op::FMax,
    Op::IAdd,
    Op::ISub,
    Op::IMul,
    Op::UDiv,
    Op::SDiv,
    Op::UMod,
    Op::SMod,
    Op::SRem,
    Op::Shl,
    Op::Shr,
    Op::Asr,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::SMin,
    Op::SMax,
    Op::UMin,
    Op::UMax,
    Op::FEq,
    Op::FNe,
    Op::FLt,
    Op::FLe,
    Op::IEq,
    Op::INe,
    Op::SLt,
    Op::SLe,
    Op::ULt,
    Op::ULe,
    Op::BAnd,
    Op::BOr,
    Op::BXor,
    Op::PackHalves,
];

const EDGES: [u32; 36] = [
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    255,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0xffff_fffe,
    0x3f80_0000, // 1
    0xbf80_0000, // -1
    0x3f00_0000, // 0.5
    0x3fc0_0000, // 1.5
    0x4020_0000, // 2.5
    0xc020_0000, // -2.5
    0x7f80_0000, // infinity
    0xff80_0000,
    0x7fc0_0000, // NaN
    0x7f7f_ffff, // largest
    0x0080_0000, // smallest normal
    0x0000_0001, // smallest
    0x4f00_0000, // 2^31
    0xcf00_0000,
    0x4f80_0000, // 2^32
    0x4eff_ffff,
    0x4b00_0001,
    0x4a80_0001,
    0x3eff_ffff,
    0x4049_0fdb, // pi
    0xc2f6_e979, // -123.456
    0x0001_0002,
    0x1234_5678,
];

/// How far apart two results may be, in units in the last place; functions are precise, not exact.
fn tolerance(op: Op) -> u32 {
    match op {
        Op::FRsqrt | Op::FInverseLength => 2,
        Op::FExp2 | Op::FLog2 | Op::FSin | Op::FCos => 2,
        _ => 0,
    }
}

fn agree(op: Op, args: &[u32], ours: u32) -> bool {
    let theirs = eval(op, args).unwrap();
    let (a, b) = (f32::from_bits(ours), f32::from_bits(theirs));
    let floats = matches!(op.signature(), Signature::Fixed { .. }) && is_float(op);
    if floats && a.is_nan() && b.is_nan() {
        return true;
    }
    // Either zero is the smaller one.
    if matches!(op, Op::FMin | Op::FMax) && a == 0.0 && b == 0.0 {
        return true;
    }
    // What a signalling NaN makes of a minimum is up to the host that folds.
    let signalling = |word: &u32| f32::from_bits(*word).is_nan() && word & 1 << 22 == 0;
    if matches!(op, Op::FMin | Op::FMax) && args.iter().any(signalling) {
        return a.is_nan() || args.contains(&ours);
    }
    ours.abs_diff(theirs) <= tolerance(op)
}

fn is_float(op: Op) -> bool {
    matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FMin | Op::FMax)
        || matches!(
            op,
            Op::FFloor | Op::FCeil | Op::FTrunc | Op::FRoundEven | Op::FRsqrt | Op::FInverseLength
        )
        || matches!(op, Op::FSqrt | Op::FExp2 | Op::FLog2 | Op::FSin | Op::FCos)
}

fn check(op: Op, kernel: &Kernel, args: &[Vec<u32>]) {
    let mut buffers = vec![vec![0; COUNT as usize]; 7];
    for (buffer, words) in buffers.iter_mut().zip(args) {
        buffer.copy_from_slice(words);
    }
    super::support::run_kernel(kernel, [1; 3], &[], &mut buffers).unwrap();
    // Buffer 4 has the results by element, buffer 5 those of the first words alone, buffer 6 those of a shared second operand.
    let places = (0..COUNT as usize).flat_map(|at| [(4, at, [at; 2]), (5, at, [0; 2]), (6, at, [at, 0])]);
    for (to, at, from) in places {
        let truths = matches!(op, Op::BAnd | Op::BOr | Op::BXor | Op::BNot);
        let given = args.iter().zip(from).map(|(words, from)| words[from]);
        let words: Vec<u32> = given.map(|word| if truths { word & 1 } else { word }).collect();
        let ours = buffers[to][at];
        let want = eval(op, &words).unwrap();
        assert!(agree(op, &words, ours), "{op} of {words:x?} (buffer {to}): {ours:#x}, should be {want:#x}");
    }
}

#[test]
fn edges_of_unary_operations() {
    for op in UNARY {
        let kernel = super::support::kernel(&shader_of(op, 1));
        for words in EDGES.chunks(4) {
            let mut words = words.to_vec();
            words.resize(COUNT as usize, words[0]);
            check(op, &kernel, &[words]);
        }
    }
}

#[test]
fn edges_of_binary_operations() {
    for op in BINARY {
        let kernel = super::support::kernel(&shader_of(op, 2));
        for a in EDGES {
            for b in EDGES.chunks(4) {
                let mut b = b.to_vec();
                b.resize(COUNT as usize, !a);
                check(op, &kernel, &[vec![a; COUNT as usize], b]);
            }
        }
    }
}

#[test]
fn random_words() {
    let kernels = |ops: &[Op], args: usize| -> Vec<(Op, Kernel)> {
        ops.iter().map(|&op| (op, super::support::kernel(&shader_of(op, args)))).collect()
    };
    let (unary, binary) = (kernels(&UNARY, 1), kernels(&BINARY, 2));
    let words = || prop::collection::vec(any::<u32>(), COUNT as usize);
    TestRunner::default()
        .run(&[words(), words()], |words| {
            unary.iter().for_each(|(op, kernel)| check(*op, kernel, &words[..1]));
            binary.iter().for_each(|(op, kernel)| check(*op, kernel, &words));
            Ok(())
        })
        .unwrap();
}

#[test]
fn pack_of_several_operands() {
    let shader = shader_of(Op::PackHalfFloats, 2);
    let mut buffers = vec![vec![0x3f80_0000; 8]; 7];
    run(&shader, [1; 3], &[], &mut buffers);
    assert_eq!(buffers[4], [0x3c00_3c00; 8]);
    let shader = shader_of(Op::PackUnorm8x4, 4);
    let words = [0x3f80_0000, 0, 0x3f00_0000, !0];
    let mut buffers: Vec<Vec<u32>> = words.iter().chain(&[0; 3]).map(|&word| vec![word; 8]).collect();
    run(&shader, [1; 3], &[], &mut buffers);
    assert_eq!(buffers[5], [eval(Op::PackUnorm8x4, &words).unwrap(); 8]);
}
