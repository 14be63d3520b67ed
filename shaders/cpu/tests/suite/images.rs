//! Images in rows, which machine code reads and writes by itself, against the same by calls.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::support::{buffer, compute, kernel};
use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Builder, BuiltinInput, ImageDim, Invocation, Memory, Node, Op, Shader, Texel, Type};
use vc4_shaders_cpu::{Dispatch, Images, Range, RowTexel, Rows, Words};

/// Texels of a row, rows, and words from row to row.
const WIDTH: u32 = 5;
const HEIGHT: u32 = 3;
const PITCH: u32 = 8;

const INVOCATIONS: u32 = 22;
const SOURCE: Descriptor = Descriptor { set: 1, binding: 0, element: 0 };
const TARGET: Descriptor = Descriptor { set: 1, binding: 1, element: 0 };

/// The images as words, and how they are told of.
struct Pictures {
    words: [Vec<AtomicU32>; 2],
    texel: RowTexel,
    in_rows: bool,
    targets: Vec<bool>,
}

impl Pictures {
    fn new(ops: &[Op], texel: RowTexel, in_rows: bool) -> Pictures {
        let is_target = |op: &Op| matches!(op, Op::ImageWrite(_));
        let word = |seed: u32| {
            (0..PITCH * HEIGHT).map(move |n| AtomicU32::new((n + seed).wrapping_mul(0x9e37_79b9)))
        };
        let words = [word(1).collect(), word(77).collect()];
        Pictures { words, texel, in_rows, targets: ops.iter().map(is_target).collect() }
    }

    fn words(&self, index: usize) -> &[AtomicU32] {
        &self.words[usize::from(self.targets[index])]
    }
}

impl Images for Pictures {
    fn rows(&self, index: usize) -> Option<Rows> {
        let address = self.words(index).as_ptr().cast_mut().cast();
        let rows = Rows { address, width: WIDTH, height: HEIGHT, stride: 4 * PITCH, texel: self.texel };
        self.in_rows.then_some(rows)
    }

    fn access(&self, index: usize, arguments: &[Words], active: u8, results: &mut [Words]) {
        assert!(!self.in_rows, "images in rows need no calls");
        for element in (0..4).filter(|element| active >> element & 1 != 0) {
            let (x, y) = (arguments[0][element], arguments[1][element]);
            let inside = x < WIDTH && y < HEIGHT;
            let word = inside.then(|| &self.words(index)[(y * PITCH + x) as usize]);
            if self.targets[index] {
                let color = [2, 3, 4, 5].map(|at| arguments[at][element]);
                word.into_iter().for_each(|word| word.store(self.pack(color), Ordering::Relaxed));
                continue;
            }
            let color = word.map_or([0; 4], |word| self.unpack(word.load(Ordering::Relaxed)));
            results.iter_mut().zip(color).for_each(|(result, component)| result[element] = component);
        }
    }
}

impl Pictures {
    fn unpack(&self, word: u32) -> [u32; 4] {
        match self.texel {
            RowTexel::Word(one) => [word, 0, 0, one],
            RowTexel::Bytes => word.to_le_bytes().map(|byte| (f32::from(byte) / 255.0).to_bits()),
        }
    }

    fn pack(&self, color: [u32; 4]) -> u32 {
        let byte = |word: u32| (f32::from_bits(word).clamp(0.0, 1.0) * 255.0).round() as u8;
        match self.texel {
            RowTexel::Word(_) => color[0],
            RowTexel::Bytes => u32::from_le_bytes(color.map(byte)),
        }
    }
}

/// Every invocation reads a texel around the image's edges and keeps it in a buffer; those with odd numbers write the components
/// in another order, three of them bent, to a place of the other image.
fn shader() -> Shader {
    let mut shader = compute([INVOCATIONS, 1, 1], 0, 0);
    let entry = shader.entry().unwrap();
    let b = &mut Builder::new(&mut shader, entry);
    let index = b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalIndex)), &[])[0];
    let (seven, one, two) = (b.word(7), b.word(1), b.word(2));
    let column = b.op(Op::UMod, &[index, seven]);
    let x = b.isub(column, one);
    let row = b.op(Op::UDiv, &[index, seven]);
    let y = b.op(Op::ISub, &[row, one]);
    let place = |image| Texel::plain(image, ImageDim::D2);
    let color = b.emit(Op::ImageRead(place(SOURCE)), &[x, y]).to_vec();
    let own = b.shl(index, two);
    for (component, &word) in (0..).zip(&color) {
        let offset = 4 * INVOCATIONS * component;
        b.emit(Op::Store { memory: Memory::Buffer(buffer(0)), offset }, &[own, word]);
    }
    let odd = b.op(Op::And, &[index, one]);
    let zero = b.word(0);
    let odd = b.op(Op::INe, &[odd, zero]);
    let (arm, other, behind) = (
        b.shader.blocks.push(Default::default()),
        b.shader.blocks.push(Default::default()),
        b.shader.blocks.push(Default::default()),
    );
    let then = vec![Node::Block(arm)];
    let otherwise = vec![Node::Block(other)];
    b.shader.body.extend([Node::If { cond: odd, then, otherwise }, Node::Block(behind)]);
    let b = &mut Builder::new(&mut shader, arm);
    let (half, three) = (b.float(0.5), b.float(3.0));
    let [red, green, blue, alpha] = color[..] else { panic!("a texel has four components") };
    let less = b.op(Op::FSub, &[green, half]);
    let more = b.op(Op::FMul, &[blue, three]);
    // 0 / 0 where alpha is 0: what is outside, and what is no number, too.
    let ratio = b.op(Op::FDiv, &[alpha, alpha]);
    b.emit(Op::ImageWrite(place(TARGET)), &[x, y, red, less, more, ratio]);
    assert!(shader.values.values().all(|value| matches!(value.ty, Type::Word | Type::Bool)));
    shader
}

/// The buffer and the target's words after a run.
fn outcome(texel: RowTexel, in_rows: bool) -> (Vec<u32>, Vec<u32>) {
    let shader = shader();
    let kernel = kernel(&shader);
    let pictures = Pictures::new(kernel.images(), texel, in_rows);
    let mut words = vec![0xdead_beef_u32; 4 * INVOCATIONS as usize];
    let ranges = [Range { address: words.as_mut_ptr().cast(), bytes: 4 * words.len() as u32 }];
    let deadline = Some(Instant::now() + Duration::from_secs(60));
    let (base, groups) = ([0; 3], [1; 3]);
    let images = &pictures;
    let dispatch = Dispatch { base, groups, count: groups, push: &[], buffers: &ranges, images, deadline };
    // SAFETY: range and rows are those of vectors that live on.
    unsafe { kernel.run(&dispatch) }.unwrap();
    let target = pictures.words[1].iter().map(|word| word.load(Ordering::Relaxed)).collect();
    (words, target)
}

#[test]
fn rows_are_read_and_written_as_calls_do() {
    for texel in [RowTexel::Bytes, RowTexel::Word(1), RowTexel::Word(1.0_f32.to_bits())] {
        let ((read, written), wanted) = (outcome(texel, true), outcome(texel, false));
        assert_eq!(read, wanted.0, "{texel:?}: what was read");
        assert_eq!(written, wanted.1, "{texel:?}: what was written");
        assert!(read.contains(&0) && !read.contains(&0xdead_beef), "some are outside, all were read");
    }
}

/// What is between the rows and behind the last one stays.
#[test]
fn nothing_beside_the_rows_is_written() {
    let before = Pictures::new(&[], RowTexel::Bytes, true);
    let (_, after) = outcome(RowTexel::Bytes, true);
    let mut changed = 0;
    for (at, (word, old)) in (0..).zip(after.iter().zip(&before.words[1])) {
        let is_same = *word == old.load(Ordering::Relaxed);
        assert!(is_same || at % PITCH < WIDTH, "word {at}");
        changed += u32::from(!is_same);
    }
    assert!((5..=8).contains(&changed), "{changed} texels of odd invocations");
}
