//! Kernels that are pictures: which are, what is known of them, and that their fragment stage leaves what the kernel leaves, as
//! the interpreter runs both.

#[path = "support/picture.rs"]
mod picture;

use picture::{Guard, IMAGE, Kernel, OTHER, TARGET, World, gid, kernel, random};
use vc4_shaders::ir::interp::{run, run_dispatch};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Atomic, Builder, Invocation, Memory, Op, Output, Shader};
use vc4_shaders::picture::{HostWord, NotAPicture, Order, Target, find};

fn storage(buffer: vc4_shaders::program::Descriptor) -> Memory {
    Memory::Buffer(buffer)
}

/// The reason why a kernel of one block is no picture.
fn reason(build: impl FnOnce(&mut Builder)) -> Option<NotAPicture> {
    find(&kernel([8, 8, 1], build)).err()
}

/// Writes a word to the pixel that two places name.
fn write(b: &mut Builder, x: vc4_shaders::ir::Value, y: vc4_shaders::ir::Value) {
    let word = b.word(7);
    b.emit(Op::ImageWrite(IMAGE), &[x, y, word, word, word, word]);
}

#[test]
fn only_writes_at_the_invocation_s_own_place_are_pictures() {
    assert_eq!(
        reason(|b| {
            let [x, y] = [gid(b, 0), gid(b, 1)];
            write(b, x, y)
        }),
        None
    );
    assert_eq!(reason(|_| {}), Some(NotAPicture::WritesNothing));
    assert_eq!(
        reason(|b| {
            let [x, y] = [gid(b, 0), gid(b, 1)];
            write(b, y, x)
        }),
        Some(NotAPicture::Place)
    );
    let moved = reason(|b| {
        let [x, y, one] = [gid(b, 0), gid(b, 1), b.word(1)];
        let right = b.iadd(x, one);
        write(b, right, y);
    });
    assert_eq!(moved, Some(NotAPicture::Place));
    let twice = reason(|b| {
        let [x, y, word] = [gid(b, 0), gid(b, 1), b.word(1)];
        write(b, x, y);
        b.emit(
            Op::ImageWrite(vc4_shaders::ir::Texel { image: OTHER, ..IMAGE }),
            &[x, y, word, word, word, word],
        );
    });
    assert_eq!(twice, Some(NotAPicture::Targets));
    // The place in the workgroup, not among all.
    let local = reason(|b| {
        let x = b
            .emit(Op::LoadBuiltin(vc4_shaders::ir::BuiltinInput::Invocation(Invocation::LocalId(0))), &[])[0];
        let y = gid(b, 1);
        write(b, x, y);
    });
    assert_eq!(local, Some(NotAPicture::Place));
}

#[test]
fn what_invocations_share_is_no_picture() {
    let with = |op: Op, args: fn(&mut Builder) -> Vec<vc4_shaders::ir::Value>| {
        reason(|b| {
            let args = args(b);
            b.emit(op, &args);
            let [x, y] = [gid(b, 0), gid(b, 1)];
            write(b, x, y);
        })
    };
    let none: fn(&mut Builder) -> Vec<_> = |_| Vec::new();
    let two: fn(&mut Builder) -> Vec<_> = |b| vec![b.word(0), b.word(1)];
    assert_eq!(with(Op::Barrier, none), Some(NotAPicture::Shares));
    assert_eq!(with(Op::Store { memory: Memory::Shared, offset: 0 }, two), Some(NotAPicture::Shares));
    assert_eq!(with(Op::Store { memory: Memory::Scratch, offset: 0 }, two), Some(NotAPicture::Scratch));
    let add = Op::Atomic { memory: storage(OTHER), offset: 0, action: Atomic::Add };
    assert_eq!(with(add, two), Some(NotAPicture::Atomics));
    assert_eq!(with(Op::Fence, none), None);
}

#[test]
fn what_is_written_must_not_be_read() {
    let reads = |image| {
        reason(move |b| {
            let [x, y] = [gid(b, 0), gid(b, 1)];
            let texel = b.emit(Op::ImageRead(vc4_shaders::ir::Texel { image, ..IMAGE }), &[y, x]);
            b.emit(Op::ImageWrite(IMAGE), &[x, y, texel[0], texel[1], texel[2], texel[3]]);
        })
    };
    assert_eq!(reads(IMAGE.image), Some(NotAPicture::ReadsTarget));
    assert_eq!(reads(OTHER), None);
}

/// A store of a word to a buffer at the byte that `address` makes.
fn stored(
    size: [u32; 3],
    address: impl FnOnce(&mut Builder) -> vc4_shaders::ir::Value,
) -> Result<Target, NotAPicture> {
    let shader = kernel(size, |b| {
        let (at, word) = (address(b), b.word(7));
        b.emit(Op::Store { memory: storage(TARGET), offset: 16 }, &[at, word]);
    });
    find(&shader).map(|picture| picture.target)
}

#[test]
fn words_of_buffers_lie_in_a_line_or_in_rows() {
    let line = stored([64, 1, 1], |b| {
        let (x, two) = (gid(b, 0), b.word(2));
        b.shl(x, two)
    });
    let Ok(Target::Buffer { start, order: Order::Line, .. }) = line else { panic!("{line:?}") };
    assert!(start.is(16));
    let rows = stored([8, 8, 1], |b| {
        let [x, y, two] = [gid(b, 0), gid(b, 1), b.word(2)];
        let width = b.op(Op::LoadPush(4), &[]);
        let row = b.imul(y, width);
        let at = b.iadd(row, x);
        b.shl(at, two)
    });
    let Ok(Target::Buffer { order: Order::Rows(width), .. }) = rows else { panic!("{rows:?}") };
    assert_eq!((width.constant, &width.words[..]), (0, &[(HostWord::Push(4), 1)][..]));
    // As many words in a row as there are invocations.
    let all = stored([8, 8, 1], |b| {
        let [x, y, four, eight] = [gid(b, 0), gid(b, 1), b.word(4), b.word(8)];
        let groups = b.emit(
            Op::LoadBuiltin(vc4_shaders::ir::BuiltinInput::Invocation(Invocation::WorkgroupCount(0))),
            &[],
        )[0];
        let width = b.imul(groups, eight);
        let row = b.imul(y, width);
        let at = b.iadd(row, x);
        b.imul(at, four)
    });
    let Ok(Target::Buffer { order: Order::Rows(width), .. }) = all else { panic!("{all:?}") };
    assert_eq!(width.words, [(HostWord::Groups(0), 8)]);
    let pairs = stored([64, 1, 1], |b| {
        let (x, three) = (gid(b, 0), b.word(3));
        b.shl(x, three)
    });
    assert_eq!(pairs, Err(NotAPicture::Place));
    // Backwards.
    let back = stored([64, 1, 1], |b| {
        let (x, two, last) = (gid(b, 0), b.word(2), b.word(400));
        let at = b.shl(x, two);
        b.isub(last, at)
    });
    assert_eq!(back, Err(NotAPicture::Place));
}

/// What the picture leaves of what the kernel leaves: the first difference.
fn difference(kernel: &Shader, world: &World, groups: [u32; 3]) -> Option<String> {
    let picture = find(kernel).unwrap_or_else(|why| panic!("{why}:\n{kernel}"));
    verify(&picture.fragment).unwrap();
    let mut expected = world.clone();
    run_dispatch(kernel, &mut expected, groups).unwrap();
    let limit = |axis: u8| {
        let own = picture.limits.iter().filter(|limit| limit.axis == axis);
        let below = own.map(|limit| limit.below.evaluate(|word| world.host(word, groups)).unwrap());
        below.chain([groups[usize::from(axis)] * picture.workgroup[usize::from(axis)]]).min().unwrap()
    };
    let [width, height] = [limit(0).min(world.width), limit(1).min(world.height)];
    let mut drawn = world.clone();
    for batch in (0..width * height).step_by(16) {
        let places: [[u32; 2]; 16] = std::array::from_fn(|lane| {
            let at = (batch + lane as u32).min(width * height - 1);
            [at % width, at / width]
        });
        let outcome = run(&picture.fragment, &mut drawn.fragments(places, groups)).unwrap();
        let written = outcome.output(Output::SampleMask);
        for (lane, [x, y]) in places.into_iter().enumerate() {
            if written[lane] & 1 == 1 {
                let color = [0, 1, 2, 3]
                    .map(|component| outcome.output(Output::User { location: 0, component })[lane]);
                drawn.target.insert([x, y], color);
            } else {
                assert!(picture.keeps, "every pixel was said to be written:\n{kernel}\n{}", picture.fragment);
            }
        }
    }
    (drawn.target != expected.target).then(|| {
        format!(
            "{groups:?} workgroups:\n{kernel}\n{}\n{:?}\n{:?}",
            picture.fragment, expected.target, drawn.target
        )
    })
}

#[test]
fn random_kernels_are_their_pictures() {
    let mut kept = 0;
    for seed in 0..300 {
        let Kernel { shader, guard } = random(seed);
        let world = World::new(seed, 19, 13);
        let picture = match find(&shader) {
            Ok(picture) => picture,
            // A condition that never holds.
            Err(NotAPicture::WritesNothing) if guard == Guard::Other => continue,
            Err(why) => panic!("{why}:\n{shader}"),
        };
        if guard == Guard::Inside {
            assert!(!picture.limits.is_empty() && !picture.keeps, "the guard is understood:\n{shader}");
        }
        kept += u32::from(picture.keeps);
        for groups in [[1, 1, 1], [3, 2, 1], [4, 4, 1]] {
            assert_eq!(difference(&shader, &world, groups), None);
        }
    }
    assert!((20..200).contains(&kept), "{kept} kernels write some pixels only");
}
