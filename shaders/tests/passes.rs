//! Every optimisation pass keeps what a shader computes, and together they remove what they are for.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use proptest::prelude::*;
use support::{floats, ints, shader, user};
use vc4_shaders::ir::interp::{Environment, Outcome, SampleRequest, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, BuiltinInput, Interpolation, Node, Op, Output, Shader, Stage, Type, Value};
use vc4_shaders::pass;
use vc4_shaders::pass::opt::all::{PASSES, Step};
use vc4_shaders::pass::opt::relieve::{self, Effort};
use vc4_shaders::program::Descriptor;

/// Numbers that depend on what is asked for: small integers or floats around zero.
#[derive(Clone, Copy)]
struct Hashed {
    integers: bool,
}

impl Hashed {
    fn word(self, a: u32, b: u32) -> u32 {
        let mut x = a.wrapping_mul(0x9e37_79b9) ^ b.wrapping_mul(0x85eb_ca6b);
        x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
        x ^= x >> 12;
        if self.integers { x % 23 } else { ((x % 4096) as f32 / 512.0 - 4.0).to_bits() }
    }
}

impl Environment for Hashed {
    fn input(&mut self, location: u32, component: u8) -> [u32; 16] {
        std::array::from_fn(|lane| self.word(location * 4 + u32::from(component), lane as u32))
    }

    fn builtin(&mut self, builtin: BuiltinInput) -> [u32; 16] {
        match builtin {
            BuiltinInput::FrontFacing => ints(|lane| lane as i32 & 1),
            BuiltinInput::VertexIndex | BuiltinInput::InstanceIndex => ints(|lane| lane as i32),
            _ => floats(|lane| lane as f32 + 0.5),
        }
    }

    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        self.word(1000 + buffer.binding, offset)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.word(2000, offset)
    }

    fn sample(&mut self, request: &SampleRequest) -> [[u32; 16]; 4] {
        std::array::from_fn(|component| {
            floats(|lane| {
                let sum: f32 = request.coordinates.iter().map(|c| f32::from_bits(c[lane])).sum();
                sum * (component as f32 + 1.0)
            })
        })
    }
}

fn same(a: &Outcome, b: &Outcome, integers: bool, what: &str) {
    assert_eq!(a.discarded, b.discarded, "{what}");
    for (&output, words) in &a.outputs {
        for lane in (0..16).filter(|lane| a.discarded >> lane & 1 == 0) {
            let (x, y) = (words[lane], b.output(output)[lane]);
            let (f, g) = (f32::from_bits(x), f32::from_bits(y));
            let near = (f - g).abs() <= 1e-4 * f.abs().max(1e-3) || f.is_nan() && g.is_nan() || f == g;
            assert!(x == y || !integers && near, "{what}, element {lane}, {output:?}: {f} {g} ({x} {y})");
        }
    }
}

const FILES: [(&str, bool); 15] = [
    ("common.frag", false),
    ("vectors.frag", false),
    ("vectors.frag.opt", false),
    ("integers.frag", true),
    ("flow.frag", true),
    ("flow.frag.opt", true),
    ("memory.vert", false),
    ("memory.vert.opt", false),
    ("texture.frag", false),
    ("filled.frag", false),
    ("chosen.frag", false),
    ("powers.frag", false),
    ("special.frag", true),
    ("special.frag.opt", true),
    ("pack.frag", false),
];

#[test]
fn each_pass_alone_keeps_the_meaning() {
    for (file, integers) in FILES {
        let before = shader(file, &[]);
        let mut world = Hashed { integers };
        let expected = run(&before, &mut world).unwrap();
        for Step { name, pass, .. } in PASSES {
            let mut after = before.clone();
            pass(&mut after);
            assert_eq!(verify(&after), Ok(()), "{file}, {name}");
            same(&expected, &run(&after, &mut world).unwrap(), integers, &format!("{file}, {name}"));
        }
    }
}

/// Orders that keep ever fewer values alive, so that most are made again.
fn relieved(shader: &Shader) -> Vec<Shader> {
    let efforts = [1, 4, 12, 40].into_iter().flat_map(|many| {
        let across = 3 * many / 4;
        let one_by_one = Effort {
            longest: usize::MAX,
            spread: Some(across),
            across: [usize::MAX; 2],
            many,
            tight: None,
            most: usize::MAX,
            is_for_too_many: false,
            is_last: false,
        };
        let together = Effort { across: [across, usize::MAX], tight: Some(many), ..one_by_one };
        [one_by_one, together, Effort { spread: None, ..together }]
    });
    let orders = |effort| {
        let spread = relieve::spread(shader, effort)?;
        relieve::run(&spread, effort, false).map(Iterator::collect)
    };
    efforts.filter_map(orders).flat_map(|orders: Vec<Shader>| orders).collect()
}

#[test]
fn orders_that_relieve_keep_the_meaning() {
    let mut longer = 0;
    for (file, integers) in FILES {
        let mut before = shader(file, &[]);
        let mut world = Hashed { integers };
        for is_optimized in [false, true] {
            let expected = run(&before, &mut world).unwrap();
            let orders = relieved(&before);
            assert_eq!(orders.len(), 24, "each is of use");
            for after in orders {
                let what = format!("{file}, optimized: {is_optimized}");
                assert_eq!(verify(&after), Ok(()), "{what}\n{after}");
                // The same operations on the same operands: not one bit may differ.
                same(&expected, &run(&after, &mut world).unwrap(), true, &what);
                longer += usize::from(after.insts_in_order().len() > before.insts_in_order().len());
            }
            pass::optimize(&mut before);
        }
    }
    assert!(longer > 50, "only {longer} orders made anything again");
}

#[test]
fn together_they_come_to_rest() {
    for (file, integers) in FILES {
        let before = shader(file, &[]);
        let mut world = Hashed { integers };
        let mut after = before.clone();
        pass::optimize(&mut after);
        for Step { name, pass, .. } in PASSES {
            assert!(!pass(&mut after), "{file}: {name} finds more to do");
        }
        let outcomes = (run(&before, &mut world).unwrap(), run(&after, &mut world).unwrap());
        same(&outcomes.0, &outcomes.1, integers, file);
    }
}

#[test]
fn branches_and_counted_loops_become_one_block() {
    // A loop whose copies would be long stays a loop, if they are not short once its counter is folded into them.
    let straight = |file: &str| !file.starts_with("flow") && !file.starts_with("special");
    for (file, _) in FILES.iter().filter(|(file, _)| straight(file)) {
        let mut after = shader(file, &[]);
        pass::optimize(&mut after);
        assert!(after.single_block().is_some(), "{file}\n{after}");
    }
}

/// How many instructions of an operation there are.
fn count(shader: &Shader, op: Op) -> usize {
    shader.insts_in_order().iter().filter(|&&inst| shader.insts[inst].op == op).count()
}

#[test]
fn conditions_choose_without_products() {
    let before = shader("chosen.frag", &[]);
    let mut after = before.clone();
    pass::optimize(&mut after);
    // The two of terms by different conditions stay, each with its comparison.
    assert_eq!((count(&after, Op::FMul), count(&after, Op::FLt)), (2, 2), "{after}");
    assert!(count(&before, Op::FMul) > 5);
}

#[test]
fn constant_powers_are_products() {
    let mut powers = shader("powers.frag", &[]);
    pass::optimize(&mut powers);
    let [logarithms, roots, inverses] = [Op::FLog2, Op::FSqrt, Op::FRsqrt].map(|op| count(&powers, op));
    assert_eq!((logarithms, roots, inverses), (3, 4, 2), "{powers}");
    assert_eq!(count(&powers, Op::FDiv), 2, "{powers}");
}

fn load(b: &mut Builder, location: u32) -> Value {
    b.op(Op::LoadInput { location, component: 0, interpolation: Interpolation::Flat }, &[])
}

/// Stores input 0; where it is less than 5, stores input 1 instead; where it is greater than 18, discards.
fn stores_and_discards() -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().unwrap();
    let blocks: [_; 6] = std::array::from_fn(|_| shader.blocks.push(Default::default()));
    let mut b = Builder::new(&mut shader, entry);
    let (x, y) = (load(&mut b, 0), load(&mut b, 1));
    let (five, eighteen) = (b.word(5), b.word(18));
    let small = b.slt(x, five);
    let large = b.slt(eighteen, x);
    b.store_output(user(0, 0), x);
    b.block = blocks[0];
    b.store_output(user(0, 0), y);
    let block = |n: usize| Node::Block(blocks[n]);
    shader.body.extend([
        Node::If { cond: small, then: vec![block(0)], otherwise: vec![block(1)] },
        block(2),
        Node::If { cond: large, then: vec![block(3), Node::Discard], otherwise: vec![block(4)] },
        block(5),
    ]);
    shader
}

#[test]
fn stores_and_discards_in_ifs_are_flattened() {
    let before = stores_and_discards();
    assert_eq!(verify(&before), Ok(()));
    let mut after = before.clone();
    pass::optimize(&mut after);
    assert!(after.single_block().is_some(), "{after}");
    let stores = after.insts_in_order().iter().filter(|&&inst| after.insts[inst].op.has_effect()).count();
    assert_eq!(stores, 2, "one store and one discard\n{after}");
    let mut world = Hashed { integers: true };
    let outcome = run(&before, &mut world).unwrap();
    assert!(outcome.discarded != 0 && outcome.discarded != !0);
    same(&outcome, &run(&after, &mut world).unwrap(), true, "flattened");
}

/// Adds input 0 until the sum reaches 5, in a loop left by `exit`, and stores input 1 behind it. `with` says what else an
/// iteration does.
fn summing(exit: Node, with: impl FnOnce(&mut Shader, Value) -> Vec<Node>) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().unwrap();
    let [head, out, on, tail, behind] = std::array::from_fn(|_| shader.blocks.push(Default::default()));
    let mut b = Builder::new(&mut shader, entry);
    let (x, y, zero, five) = (load(&mut b, 0), load(&mut b, 1), b.word(0), b.word(5));
    b.block = head;
    let sum = b.phi(Type::Word, &[(entry, zero)]);
    let next = b.op(Op::IAdd, &[sum, x]);
    let again = b.slt(next, five);
    b.add_phi_arg(sum, tail, next);
    let mut b = Builder::new(&mut shader, behind);
    b.store_output(user(0, 0), y);
    let mut then = vec![Node::Block(on)];
    then.extend(with(&mut shader, next));
    let choice = Node::If { cond: again, then, otherwise: vec![Node::Block(out), exit] };
    let body = vec![Node::Block(head), choice, Node::Block(tail)];
    shader.body.extend([Node::Loop(body), Node::Block(behind)]);
    shader
}

#[test]
fn loops_that_nobody_looks_at_go() {
    let has_loop = |shader: &Shader| shader.body.iter().any(|node| matches!(node, Node::Loop(_)));
    let optimized = |mut shader: Shader| {
        verify(&shader).unwrap();
        pass::optimize(&mut shader);
        shader
    };
    let idle = summing(Node::Break, |_, _| Vec::new());
    assert!(has_loop(&idle) && !has_loop(&optimized(idle)));
    // A store in it, its value in a store behind it, and a way out of the shader keep it.
    let store =
        |shader: &mut Shader, block, value| Builder::new(shader, block).store_output(user(0, 1), value);
    let storing = summing(Node::Break, |shader, sum| {
        let block = shader.blocks.push(Default::default());
        store(shader, block, sum);
        vec![Node::Block(block)]
    });
    assert!(has_loop(&optimized(storing)));
    let mut seen = summing(Node::Break, |_, _| Vec::new());
    let (Some(&Node::Block(behind)), Some(sum)) = (seen.body.last(), last_sum(&seen)) else {
        panic!("a loop")
    };
    store(&mut seen, behind, sum);
    assert!(has_loop(&optimized(seen)));
    assert!(has_loop(&optimized(summing(Node::Discard, |_, _| Vec::new()))));
    // What stands behind a loop without end never runs.
    let mut endless = summing(Node::Break, |_, _| Vec::new());
    let Some(Node::Loop(body)) = endless.body.get_mut(1) else { panic!("a loop") };
    body.retain(|node| !matches!(node, Node::If { .. }));
    assert!(has_loop(&optimized(endless)));
}

/// The sum of [`summing`].
fn last_sum(shader: &Shader) -> Option<Value> {
    let insts = shader.insts_in_order();
    insts.iter().find(|&&inst| shader.insts[inst].op == Op::IAdd).map(|&inst| shader.insts[inst].results[0])
}

/// Operations of the random expressions, with their number of operands.
const OPERATIONS: [(Op, usize); 30] = [
    (Op::IAdd, 2),
    (Op::ISub, 2),
    (Op::IMul, 2),
    (Op::UDiv, 2),
    (Op::SDiv, 2),
    (Op::UMod, 2),
    (Op::SMod, 2),
    (Op::SRem, 2),
    (Op::Shl, 2),
    (Op::Shr, 2),
    (Op::Asr, 2),
    (Op::And, 2),
    (Op::Or, 2),
    (Op::Xor, 2),
    (Op::Not, 1),
    (Op::SMin, 2),
    (Op::SMax, 2),
    (Op::UMin, 2),
    (Op::UMax, 2),
    (Op::Clz, 1),
    (Op::IEq, 2),
    (Op::INe, 2),
    (Op::SLt, 2),
    (Op::SLe, 2),
    (Op::ULt, 2),
    (Op::ULe, 2),
    (Op::BAnd, 2),
    (Op::BOr, 2),
    (Op::BXor, 2),
    (Op::BNot, 1),
];

/// Constants at which laws begin or end to hold.
const CONSTANTS: [u32; 12] = [0, 1, 2, 3, 8, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff8, 77];

/// A shader of integer operations: each step names an operation and earlier values.
fn expression(steps: &[(usize, usize, usize, usize)]) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().unwrap();
    let mut b = Builder::new(&mut shader, entry);
    let mut words: Vec<Value> = CONSTANTS.iter().map(|&word| b.word(word)).collect();
    words.extend((0..4).map(|location| load(&mut b, location)));
    let mut truths = vec![b.truth(true), b.truth(false)];
    for &(op, x, y, z) in steps {
        if op == OPERATIONS.len() {
            let args = [truths[x % truths.len()], words[y % words.len()], words[z % words.len()]];
            // Not through the builder's folding: the passes are to do it.
            let inst = b.shader.make_inst(Op::Select, args.into_iter().collect(), &[Type::Word], false);
            b.shader.blocks[entry].insts.push(inst);
            words.push(b.shader.result(inst).unwrap());
            continue;
        }
        let (op, count) = OPERATIONS[op];
        let takes_truth = matches!(op, Op::BAnd | Op::BOr | Op::BXor | Op::BNot);
        let from = if takes_truth { &truths } else { &words };
        let args = [from[x % from.len()], from[y % from.len()]];
        let value = b.emit(op, &args[..count])[0];
        match b.shader.values[value].ty {
            Type::Word => words.push(value),
            Type::Bool => truths.push(value),
        }
    }
    for (at, &word) in words.iter().rev().take(8).enumerate() {
        b.store_output(user(at as u32 / 4, (at % 4) as u8), word);
    }
    if let Some(&truth) = truths.last() {
        let (one, zero) = (b.word(1), b.word(0));
        let chosen = b.select(truth, one, zero);
        b.store_output(user(2, 0), chosen);
    }
    shader
}

/// Inputs around the places where integer operations change their behaviour.
struct Edges;

impl Environment for Edges {
    fn input(&mut self, location: u32, _component: u8) -> [u32; 16] {
        const WORDS: [u32; 16] = [
            0,
            1,
            2,
            7,
            8,
            31,
            32,
            33,
            0x7fff_fffe,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_fff0,
            0xffff_fffe,
            0xffff_ffff,
            12_345_678,
        ];
        std::array::from_fn(|lane| WORDS[(lane * (2 * location as usize + 1) + location as usize * 5) % 16])
    }
}

proptest! {
    #[test]
    fn integer_expressions_keep_their_value(
        steps in prop::collection::vec((0..=OPERATIONS.len(), any::<usize>(), any::<usize>(), any::<usize>()), 1..60)
    ) {
        let before = expression(&steps);
        prop_assert_eq!(verify(&before), Ok(()));
        let mut after = before.clone();
        pass::optimize(&mut after);
        prop_assert_eq!(verify(&after), Ok(()));
        let (a, b) = (run(&before, &mut Edges).unwrap(), run(&after, &mut Edges).unwrap());
        let outputs = || (0..3).flat_map(|location| (0..4).map(move |component| Output::User { location, component }));
        for output in outputs() {
            prop_assert_eq!(a.output(output), b.output(output), "{:?}\n{}\n{}", output, &before, &after);
        }
        for after in relieved(&before) {
            prop_assert_eq!(verify(&after), Ok(()));
            let c = run(&after, &mut Edges).unwrap();
            for output in outputs() {
                prop_assert_eq!(a.output(output), c.output(output), "{:?}\n{}\n{}", output, &before, &after);
            }
        }
    }
}
