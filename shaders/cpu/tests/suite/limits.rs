//! What must not end badly: memory outside, loops without end, odd sizes, images that fail; and what threads do together.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::support::{NoImages, buffer, compute, kernel};
use vc4_shaders::binding::Texture;
use vc4_shaders::ir::{
    Atomic, Builder, BuiltinInput, ImageDim, Invocation, Lod, Memory, Node, Op, Sample, Shader, Stage, Texel,
    Type, Value,
};
use vc4_shaders_cpu::{CpuError, Dispatch, Halt, Images, Kernel, Range, Words};

const BUFFER: Memory = Memory::Buffer(buffer(0));

fn builder(shader: &mut Shader) -> Builder<'_> {
    let entry = shader.entry().unwrap();
    Builder::new(shader, entry)
}

fn builtin(b: &mut Builder<'_>, place: Invocation) -> Value {
    b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(place)), &[])[0]
}

/// The word's place for an invocation among all, of workgroups along x.
fn own_place(b: &mut Builder<'_>) -> Value {
    let (group, local) = (builtin(b, Invocation::WorkgroupId(0)), builtin(b, Invocation::LocalId(0)));
    let size = b.shader.workgroup.size[0];
    let (size, two) = (b.word(size), b.word(2));
    let first = b.imul(group, size);
    let index = b.iadd(first, local);
    b.shl(index, two)
}

fn run_with(
    kernel: &Kernel,
    groups: [u32; 3],
    ranges: &[Range],
    images: &dyn Images,
    time: Duration,
) -> Result<(), Halt> {
    let deadline = Some(Instant::now() + time);
    let base = [0; 3];
    let dispatch = Dispatch { base, groups, count: groups, push: &[], buffers: ranges, images, deadline };
    // SAFETY: the ranges are those of vectors that live on.
    unsafe { kernel.run(&dispatch) }
}

/// Pipelines are used by any thread.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Kernel>();
};

const LONG: Duration = Duration::from_secs(60);

/// Stores its place to a word of its own, in the way that `place` bends it, between guard words.
fn outside(place: impl Fn(&mut Builder<'_>, Value) -> Value, memory: Memory, offset: u32) {
    let mut shader = compute([8, 1, 1], 64, 64);
    let b = &mut builder(&mut shader);
    let own = own_place(b);
    let bent = place(b, own);
    b.emit(Op::Store { memory, offset }, &[bent, own]);
    let loaded = b.emit(Op::Load { memory, offset }, &[bent])[0];
    let one = b.word(1);
    let old = b.emit(Op::Atomic { memory, offset, action: Atomic::Add }, &[bent, one])[0];
    let both = b.iadd(loaded, old);
    b.emit(Op::Store { memory: Memory::Buffer(buffer(1)), offset: 0 }, &[own, both]);
    let kernel = kernel(&shader);
    for bytes in [0, 3, 4, 16, 30, 32] {
        let mut words = [0xabcd; 24];
        let mut out = [0; 8];
        let ranges = kernel.buffers().iter().map(|descriptor| match descriptor.binding {
            0 => Range { address: words[8..].as_mut_ptr().cast(), bytes },
            _ => Range { address: out.as_mut_ptr().cast(), bytes: 32 },
        });
        let ranges: Vec<Range> = ranges.collect();
        run_with(&kernel, [1; 3], &ranges, &NoImages, LONG).unwrap();
        let inside = 8..8 + bytes as usize / 4;
        for (at, &word) in words.iter().enumerate() {
            assert!(
                inside.contains(&at) || word == 0xabcd,
                "word {at} of {bytes} bytes changed to {word:#x}"
            );
        }
        if memory == BUFFER && bytes < 4 {
            assert_eq!(out, [0; 8], "what is outside is 0");
        }
    }
}

#[test]
fn places_outside_are_lost() {
    for memory in [BUFFER, Memory::Shared, Memory::Scratch] {
        for offset in [0, 4, 28, 32, 0x7fff_fffc, 0xffff_fffc] {
            outside(|_, place| place, memory, offset);
            // Wraps around to the first words.
            outside(
                |b, place| {
                    let far = b.word(0xffff_fff0);
                    b.iadd(place, far)
                },
                memory,
                offset,
            );
            // Far apart.
            outside(
                |b, place| {
                    let four = b.word(27);
                    b.shl(place, four)
                },
                memory,
                offset,
            );
            // One for all.
            outside(|b, _| b.word(28), memory, offset);
            outside(|b, _| b.word(0xffff_fffc), memory, offset);
            // Two words each.
            outside(
                |b, place| {
                    let two = b.word(2);
                    b.imul(place, two)
                },
                memory,
                offset,
            );
            // Backwards.
            outside(
                |b, place| {
                    let end = b.word(28);
                    b.emit(Op::ISub, &[end, place])[0]
                },
                memory,
                offset,
            );
        }
    }
}

#[test]
fn a_buffer_that_is_not_bound_is_empty() {
    let mut shader = compute([4, 1, 1], 0, 0);
    let b = &mut builder(&mut shader);
    let own = own_place(b);
    b.emit(Op::Store { memory: BUFFER, offset: 0 }, &[own, own]);
    let kernel = kernel(&shader);
    run_with(&kernel, [100, 1, 1], &[], &NoImages, LONG).unwrap();
    run_with(&kernel, [100, 1, 1], &[Range { address: std::ptr::null_mut(), bytes: 64 }], &NoImages, LONG)
        .unwrap();
}

/// A loop that ends when a word of the buffer, or element by element an own one, is not 0.
fn spin(own: bool, barrier: bool) -> Shader {
    let mut shader = compute([6, 1, 1], 0, 0);
    let b = &mut builder(&mut shader);
    let place = if own { own_place(b) } else { b.word(0) };
    let header = b.shader.blocks.push(Default::default());
    let [out, on, rest, end] = [(); 4].map(|()| b.shader.blocks.push(Default::default()));
    b.block = header;
    let zero = b.word(0);
    let word = b.emit(Op::Load { memory: BUFFER, offset: 0 }, &[place])[0];
    if barrier {
        b.emit(Op::Barrier, &[]);
    }
    let cond = b.ine(word, zero);
    let exit = Node::If { cond, then: vec![Node::Block(out), Node::Break], otherwise: vec![Node::Block(on)] };
    shader.body.extend([Node::Loop(vec![Node::Block(header), exit, Node::Block(rest)]), Node::Block(end)]);
    shader
}

#[test]
fn a_loop_without_end_runs_into_the_deadline() {
    for (own, barrier) in [(false, false), (true, false), (false, true), (true, true)] {
        let kernel = kernel(&spin(own, barrier));
        let mut words = [0u32; 64];
        let range = Range { address: words.as_mut_ptr().cast(), bytes: 256 };
        let begin = Instant::now();
        let halt = run_with(&kernel, [50, 1, 1], &[range], &NoImages, Duration::from_millis(50));
        assert_eq!(halt, Err(Halt::Deadline), "own {own}, barrier {barrier}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        words.fill(1);
        let range = Range { address: words.as_mut_ptr().cast(), bytes: 256 };
        assert_eq!(run_with(&kernel, [9, 1, 1], &[range], &NoImages, LONG), Ok(()));
    }
}

#[test]
fn more_groups_than_anyone_waits_for() {
    let kernel = kernel(&compute([1, 1, 1], 0, 0));
    assert_eq!(run_with(&kernel, [0, 5, 5], &[], &NoImages, LONG), Ok(()));
    for groups in [[65535; 3], [u32::MAX; 3]] {
        let begin = Instant::now();
        assert_eq!(run_with(&kernel, groups, &[], &NoImages, Duration::from_millis(50)), Err(Halt::Deadline));
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let refused = |size, shared, scratch| Kernel::compile(&compute(size, shared, scratch)).unwrap_err();
    assert_eq!(refused([65536; 3], 0, 0), CpuError::Workgroup([65536; 3]));
    assert_eq!(refused([0, 1, 1], 0, 0), CpuError::Workgroup([0, 1, 1]));
    assert!(matches!(refused([1, 1, 1], u32::MAX, 0), CpuError::Memory(_)));
    assert!(matches!(refused([256, 1, 1], 0, 1 << 30), CpuError::Memory(_)));
    assert_eq!(Kernel::compile(&Shader::new(Stage::Vertex)).unwrap_err(), CpuError::Stage(Stage::Vertex));
    let mut shader = compute([4, 1, 1], 0, 0);
    builder(&mut shader).emit(Op::PixelX, &[]);
    assert!(matches!(Kernel::compile(&shader), Err(CpuError::Operation { .. })));
}

#[test]
fn threads_count_together() {
    const GROUPS: u32 = 20_000;
    let mut shader = compute([7, 1, 1], 4, 0);
    let b = &mut builder(&mut shader);
    let (one, zero) = (b.word(1), b.word(0));
    b.emit(Op::Atomic { memory: BUFFER, offset: 0, action: Atomic::Add }, &[zero, one]);
    let own = own_place(b);
    b.emit(Op::Atomic { memory: BUFFER, offset: 4, action: Atomic::UMax }, &[zero, own]);
    // Every place is taken once.
    b.emit(Op::Atomic { memory: Memory::Buffer(buffer(1)), offset: 0, action: Atomic::Add }, &[own, one]);
    let mut buffers = [vec![0; 2], vec![0; 7 * GROUPS as usize]];
    super::support::run(&shader, [GROUPS, 1, 1], &[], &mut buffers);
    assert_eq!(buffers[0], [7 * GROUPS, 4 * (7 * GROUPS - 1)]);
    assert!(buffers[1].iter().all(|&count| count == 1));
}

/// Remembers what it was asked.
#[derive(Default)]
struct Recorder {
    asked: Mutex<Vec<(usize, Vec<Words>, u8)>>,
}

impl Images for Recorder {
    fn access(&self, index: usize, arguments: &[Words], active: u8, results: &mut [Words]) {
        self.asked.lock().unwrap().push((index, arguments.to_vec(), active));
        for (at, result) in results.iter_mut().enumerate() {
            *result = std::array::from_fn(|element| (100 * index + 10 * at + element) as u32);
        }
    }
}

#[test]
fn images_are_asked_for_the_elements_that_run() {
    let mut shader = compute([6, 1, 1], 0, 0);
    let b = &mut builder(&mut shader);
    let local = builtin(b, Invocation::LocalIndex);
    let x = b.utof(local);
    let level = b.float(2.0);
    let sample = Sample {
        texture: Texture::combined(buffer(3)),
        dim: ImageDim::D1,
        arrayed: false,
        lod: Lod::Explicit,
        offset: false,
        compare: false,
    };
    let texels = b.emit(Op::Sample(sample), &[x, level]);
    let zero = b.word(0);
    let levels = b.emit(Op::ImageSize { image: buffer(3), axis: 0, halves: true }, &[zero])[0];
    let texel = Texel::plain(buffer(4), ImageDim::D1);
    b.emit(Op::ImageWrite(texel), &[local, texels[0], texels[1], texels[2], levels]);
    let kernel = kernel(&shader);
    assert_eq!(kernel.images().len(), 3);
    let recorder = Recorder::default();
    run_with(&kernel, [1; 3], &[], &recorder, LONG).unwrap();
    let asked = recorder.asked.into_inner().unwrap();
    assert_eq!(asked.len(), 6);
    let two = 2f32.to_bits();
    assert_eq!(asked[0], (0, vec![[0f32, 1.0, 2.0, 3.0].map(f32::to_bits), [two; 4]], 15));
    assert_eq!(asked[1].2, 1, "one size for all");
    let texels = |at: u32| std::array::from_fn(|element| 10 * at + element as u32);
    assert_eq!(asked[2], (2, vec![[0, 1, 2, 3], texels(0), texels(1), texels(2), [100; 4]], 15));
    assert_eq!((asked[3].0, asked[3].2), (0, 3));
    assert_eq!((asked[5].0, asked[5].2), (2, 3));
}

#[test]
fn a_panic_in_an_image_operation_is_a_halt() {
    let mut shader = compute([4, 1, 1], 0, 0);
    builder(&mut shader).emit(Op::ImageLevels(buffer(0)), &[]);
    let kernel = kernel(&shader);
    let halt = run_with(&kernel, [3, 1, 1], &[], &NoImages, LONG);
    assert!(matches!(halt, Err(Halt::Host(_))), "{halt:?}");
}

#[test]
fn groups_know_their_place() {
    let mut shader = compute([2, 1, 3], 0, 0);
    let b = &mut builder(&mut shader);
    let places: Vec<Value> = (0..3)
        .flat_map(|axis| {
            [Invocation::WorkgroupId(axis), Invocation::LocalId(axis), Invocation::WorkgroupCount(axis)]
        })
        .chain([Invocation::LocalIndex, Invocation::SubgroupId, Invocation::SubgroupInvocation])
        .map(|place| builtin(b, place))
        .collect();
    // Which of the invocations of one group this is decides what it writes to.
    let local = builtin(b, Invocation::LocalIndex);
    let (bytes, groups) = (b.word(4 * places.len() as u32), b.word(6));
    let [x, y] = [0, 1].map(|axis| builtin(b, Invocation::WorkgroupId(axis)));
    let (five, width) = (b.word(5), b.word(2));
    let (x, ten) = (b.emit(Op::ISub, &[x, five])[0], b.word(10));
    let y = b.emit(Op::ISub, &[y, ten])[0];
    let row = b.imul(y, width);
    let group = b.iadd(row, x);
    let first = b.imul(group, groups);
    let index = b.iadd(first, local);
    let start = b.imul(index, bytes);
    for (at, &value) in places.iter().enumerate() {
        b.emit(Op::Store { memory: BUFFER, offset: 4 * at as u32 }, &[start, value]);
    }
    let kernel = kernel(&shader);
    let mut words = [0u32; 12 * 6 * 4];
    let range = Range { address: words.as_mut_ptr().cast(), bytes: 4 * words.len() as u32 };
    let dispatch = Dispatch {
        base: [5, 10, 20],
        groups: [2, 2, 1],
        count: [2, 2, 1],
        push: &[],
        buffers: &[range],
        images: &NoImages,
        deadline: None,
    };
    // SAFETY: the range is that of an array that lives on.
    unsafe { kernel.run(&dispatch) }.unwrap();
    for (number, words) in words.chunks(12).enumerate() {
        let (group, local) = (number as u32 / 6, number as u32 % 6);
        let expected = [
            [5 + group % 2, local % 2, 2, 10 + group / 2, 0, 2, 20, local / 2, 1].as_slice(),
            &[local, local / 4, local % 4],
        ]
        .concat();
        assert_eq!(words, expected, "invocation {number}");
    }
}

#[test]
fn undefined_values_and_unused_phis() {
    let mut shader = compute([4, 1, 1], 0, 0);
    let b = &mut builder(&mut shader);
    let any = b.undef(Type::Word);
    let truth = b.undef(Type::Bool);
    let own = own_place(b);
    let chosen = b.select(truth, any, own);
    b.emit(Op::Store { memory: BUFFER, offset: 0 }, &[own, chosen]);
    let mut buffers = [vec![0; 4]];
    super::support::run(&shader, [1; 3], &[], &mut buffers);
}

/// Tables of constants are stored by every invocation: a word of one must not cost a basic block.
#[test]
fn long_tables_are_short_code() {
    const WORDS: u32 = 1000;
    let mut shader = compute([6, 1, 1], 0, 4 * WORDS);
    let b = &mut builder(&mut shader);
    for word in 0..WORDS {
        let (place, value) = (b.word(4 * word), b.word(word.wrapping_mul(0x9e37_79b9)));
        b.emit(Op::Store { memory: Memory::Scratch, offset: 0 }, &[place, value]);
    }
    let own = own_place(b);
    let table = b.emit(Op::Load { memory: Memory::Scratch, offset: 0 }, &[own])[0];
    b.emit(Op::Store { memory: BUFFER, offset: 0 }, &[own, table]);
    let kernel = kernel(&shader);
    assert!(kernel.code_bytes() < 100 * WORDS as usize, "{} bytes of code", kernel.code_bytes());
    super::support::compare(&shader, [2, 1, 1], &[], &[vec![0; 12]]);
}
