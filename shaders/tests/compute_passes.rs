//! What passes must leave alone in compute shaders: the order of accesses to memory, how often they happen, and rounding.

use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{
    Atomic, Block, Builder, BuiltinInput, ImageDim, Invocation, Memory, Node, Op, Shader, Stage, Texel, Type,
    Value,
};
use vc4_shaders::pass;
use vc4_shaders::program::Descriptor;

const BUFFER: Memory = Memory::Buffer(Descriptor { set: 0, binding: 0, element: 0 });
const LOAD: Op = Op::Load { memory: BUFFER, offset: 0 };
const STORE: Op = Op::Store { memory: BUFFER, offset: 0 };

fn index(b: &mut Builder) -> Value {
    b.emit(Op::LoadBuiltin(BuiltinInput::Invocation(Invocation::LocalIndex)), &[])[0]
}

/// The operations of an optimised shader that act on memory, in order.
fn accesses(shader: &Shader) -> Vec<Op> {
    let ops = shader.insts_in_order().into_iter().map(|inst| shader.insts[inst].op);
    ops.filter(|op| op.has_effect() || op.reads_memory()).collect()
}

fn optimized(mut shader: Shader) -> Shader {
    verify(&shader).unwrap();
    pass::optimize(&mut shader);
    verify(&shader).unwrap();
    shader
}

/// A shader of one block.
fn straight(build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup.size = [8, 1, 1];
    let block = shader.entry().unwrap();
    build(&mut Builder::new(&mut shader, block));
    optimized(shader)
}

/// A shader whose one `If` asks for the invocation's index; `build` fills its arms and what follows.
fn with_if(build: impl FnOnce(&mut Shader, [Block; 3], Value)) -> Shader {
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup.size = [8, 1, 1];
    let entry = shader.entry().unwrap();
    let blocks = [(); 3].map(|()| shader.blocks.push(Default::default()));
    let mut b = Builder::new(&mut shader, entry);
    let (n, two) = (index(&mut b), b.word(2));
    let cond = b.ult(n, two);
    let [then, otherwise] = [blocks[0], blocks[1]].map(|block| vec![Node::Block(block)]);
    shader.body.push(Node::If { cond, then, otherwise });
    shader.body.push(Node::Block(blocks[2]));
    build(&mut shader, blocks, n);
    optimized(shader)
}

fn has_if(shader: &Shader) -> bool {
    shader.body.iter().any(|node| matches!(node, Node::If { .. }))
}

#[test]
fn loads_are_not_joined_over_stores() {
    let shader = straight(|b| {
        let n = index(b);
        let first = b.emit(LOAD, &[n])[0];
        b.emit(STORE, &[n, n]);
        let second = b.emit(LOAD, &[n])[0];
        b.emit(Op::Barrier, &[]);
        let third = b.emit(LOAD, &[n])[0];
        let sum = b.iadd(first, second);
        let sum = b.iadd(sum, third);
        b.emit(STORE, &[n, sum]);
    });
    assert_eq!(accesses(&shader), [LOAD, STORE, LOAD, Op::Barrier, LOAD, STORE]);
}

#[test]
fn what_is_unused_goes_unless_it_changes_memory() {
    let add = Op::Atomic { memory: Memory::Shared, offset: 4, action: Atomic::Add };
    let texel = Texel::plain(Descriptor { set: 0, binding: 1, element: 0 }, ImageDim::D2);
    let exchange = Op::ImageAtomic(texel, Atomic::Exchange);
    let shader = straight(|b| {
        let n = index(b);
        b.emit(LOAD, &[n]);
        b.emit(Op::ImageRead(texel), &[n, n]);
        b.emit(add, &[n, n]);
        b.emit(add, &[n, n]);
        b.emit(exchange, &[n, n, n]);
        b.emit(Op::Fence, &[]);
        b.emit(STORE, &[n, n]);
        b.emit(STORE, &[n, n]);
        b.emit(Op::ImageWrite(texel), &[n, n, n, n, n, n]);
    });
    let kept = [add, add, exchange, Op::Fence, STORE, STORE, Op::ImageWrite(texel)];
    assert_eq!(accesses(&shader), kept);
}

#[test]
fn who_is_there_is_asked_in_its_place() {
    let votes = |b: &mut Builder<'_>| {
        let yes = b.truth(true);
        b.emit(Op::Ballot, &[yes])[0]
    };
    let seen = |shader: &Shader| {
        let asks = |&inst: &_| shader.insts[inst].op.asks_subgroup();
        shader.insts_in_order().into_iter().filter(asks).count()
    };
    // In front of a branch, in one of its arms and behind it others are there; what nobody looks at goes.
    let shader = with_if(|shader, [then, _, behind], n| {
        let entry = shader.entry().unwrap();
        let mut b = Builder::new(shader, entry);
        let all = votes(&mut b);
        b.emit(STORE, &[n, all]);
        let mut b = Builder::new(shader, then);
        let there = votes(&mut b);
        let value = b.emit(Op::Shuffle, &[n, there])[0];
        b.emit(STORE, &[n, value]);
        let mut b = Builder::new(shader, behind);
        votes(&mut b);
        let there = votes(&mut b);
        b.emit(STORE, &[n, there]);
    });
    assert!(has_if(&shader), "{shader}");
    assert_eq!(seen(&shader), 4, "{shader}");
    // An arm of nothing but a question is no arm that may always run.
    let shader = with_if(|shader, [then, otherwise, behind], n| {
        let there = votes(&mut Builder::new(shader, then));
        let zero = Builder::new(shader, otherwise).word(0);
        let mut b = Builder::new(shader, behind);
        let chosen = b.phi(Type::Word, &[(then, there), (otherwise, zero)]);
        b.emit(STORE, &[n, chosen]);
    });
    assert!(has_if(&shader), "{shader}");
}

#[test]
fn arms_that_change_memory_stay_arms() {
    let add = Op::Atomic { memory: Memory::Shared, offset: 0, action: Atomic::Add };
    for op in [STORE, add, Op::Fence, Op::Barrier] {
        let shader = with_if(|shader, [then, ..], n| {
            let args = [n, n];
            let count = if matches!(op, Op::Fence | Op::Barrier) { 0 } else { 2 };
            Builder::new(shader, then).emit(op, &args[..count]);
        });
        assert!(has_if(&shader), "{op}:\n{shader}");
        assert_eq!(accesses(&shader), [op]);
    }
}

#[test]
fn arms_that_load_keep_their_place_among_stores() {
    let shader = with_if(|shader, [then, otherwise, after], n| {
        let entry = shader.entry().unwrap();
        Builder::new(shader, entry).emit(STORE, &[n, n]);
        let loaded = Builder::new(shader, then).emit(LOAD, &[n])[0];
        let value =
            Builder::new(shader, after).phi(vc4_shaders::ir::Type::Word, &[(then, loaded), (otherwise, n)]);
        Builder::new(shader, after).emit(STORE, &[n, value]);
    });
    assert!(!has_if(&shader), "a short arm is straight code:\n{shader}");
    assert_eq!(accesses(&shader), [STORE, LOAD, STORE]);
}

#[test]
fn long_arms_are_left_to_branches() {
    let shader = with_if(|shader, [then, otherwise, after], n| {
        let mut b = Builder::new(shader, then);
        let mut value = n;
        for _ in 0..8 {
            value = b.emit(LOAD, &[value])[0];
        }
        let value =
            Builder::new(shader, after).phi(vc4_shaders::ir::Type::Word, &[(then, value), (otherwise, n)]);
        Builder::new(shader, after).emit(STORE, &[n, value]);
    });
    assert!(has_if(&shader), "{shader}");
}

/// A loop of four iterations with a body from a builder.
fn with_loop(build: impl FnOnce(&mut Builder, Value, Value)) -> Shader {
    let mut shader = Shader::new(Stage::Compute);
    shader.workgroup.size = [8, 1, 1];
    let entry = shader.entry().unwrap();
    let [header, stay, leave, body, after] = [(); 5].map(|()| shader.blocks.push(Default::default()));
    let mut b = Builder::new(&mut shader, entry);
    let (n, zero, one, four) = (index(&mut b), b.word(0), b.word(1), b.word(4));
    let mut b = Builder::new(&mut shader, header);
    let counter = b.phi(vc4_shaders::ir::Type::Word, &[(entry, zero)]);
    let cond = b.ult(counter, four);
    let mut b = Builder::new(&mut shader, body);
    build(&mut b, n, counter);
    let next = b.iadd(counter, one);
    b.add_phi_arg(counter, body, next);
    let then = vec![Node::Block(stay)];
    let otherwise = vec![Node::Block(leave), Node::Break];
    let region = vec![Node::Block(header), Node::If { cond, then, otherwise }, Node::Block(body)];
    shader.body.extend([Node::Loop(region), Node::Block(after)]);
    optimized(shader)
}

#[test]
fn loops_that_change_memory_stay_loops() {
    let stored = with_loop(|b, n, counter| {
        b.emit(STORE, &[n, counter]);
    });
    assert_eq!(accesses(&stored), [STORE]);
    assert!(stored.body.iter().any(|node| matches!(node, Node::Loop(_))), "{stored}");
    let waits = with_loop(|b, _, _| {
        b.emit(Op::Barrier, &[]);
    });
    assert!(waits.body.iter().any(|node| matches!(node, Node::Loop(_))), "{waits}");
}

#[test]
fn arithmetic_is_rounded_as_written() {
    let float = |b: &mut Builder, n: Value| b.op(Op::UToF, &[n]);
    type Build = fn(&mut Builder, Value) -> Value;
    let cases: [(&str, Build, Op); 6] = [
        (
            "x + 0",
            |b, x| {
                let zero = b.float(0.0);
                b.fadd(x, zero)
            },
            Op::FAdd,
        ),
        (
            "x * 0",
            |b, x| {
                let zero = b.float(0.0);
                b.fmul(x, zero)
            },
            Op::FMul,
        ),
        (
            "x / 3",
            |b, x| {
                let three = b.float(3.0);
                b.op(Op::FDiv, &[x, three])
            },
            Op::FDiv,
        ),
        (
            "sqrt(x)²",
            |b, x| {
                let root = b.fsqrt(x);
                b.fmul(root, root)
            },
            Op::FSqrt,
        ),
        (
            "max(|x|, 1)",
            |b, x| {
                let (x, one) = (b.fabs(x), b.float(1.0));
                b.fmax(x, one)
            },
            Op::FMax,
        ),
        (
            "-(x - 2)",
            |b, x| {
                let two = b.float(2.0);
                let d = b.fsub(x, two);
                b.fneg(d)
            },
            Op::FNeg,
        ),
    ];
    for (what, build, kept) in cases {
        let shader = straight(|b| {
            let n = index(b);
            let loaded = b.emit(LOAD, &[n])[0];
            let x = float(b, loaded);
            let value = build(b, x);
            b.emit(STORE, &[n, value]);
        });
        let ops: Vec<Op> = shader.insts_in_order().iter().map(|&inst| shader.insts[inst].op).collect();
        assert!(ops.contains(&kept), "{what}:\n{shader}");
        let machine = |op: &Op| matches!(op, Op::Add(_) | Op::Mul(_));
        assert!(!ops.iter().any(machine), "{what} became the QPU's:\n{shader}");
    }
    // What is exact is done.
    let half = straight(|b| {
        let n = index(b);
        let loaded = b.emit(LOAD, &[n])[0];
        let four = b.float(4.0);
        let quotient = b.op(Op::FDiv, &[loaded, four]);
        b.emit(STORE, &[n, quotient]);
    });
    let divides = half.insts_in_order().iter().any(|&inst| half.insts[inst].op == Op::FDiv);
    assert!(!divides, "{half}");
}
