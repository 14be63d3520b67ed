//! Long arms of selects become ifs, and what a shader computes stays the same.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use proptest::prelude::*;
use support::{ints, user};
use vc4_shaders::ir::interp::{Environment, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, Interpolation, Node, Op, Region, Shader, Stage, Type, Value};
use vc4_shaders::pass;
use vc4_shaders::pass::opt::branch::share::Share;

/// Inputs differ by element, push constants do not.
struct World {
    push: u32,
}

impl Environment for World {
    fn input(&mut self, location: u32, _component: u8) -> [u32; 16] {
        ints(|lane| (lane * 7 + location as usize * 5) as i32 % 16)
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.push >> (offset / 4) & 1
    }
}

fn input(b: &mut Builder, location: u32) -> Value {
    b.op(Op::LoadInput { location, component: 0, interpolation: Interpolation::Flat }, &[])
}

/// Bit n of what is pushed is set.
fn pushed(b: &mut Builder, n: u32) -> Value {
    let (word, zero) = (b.op(Op::LoadPush(4 * n), &[]), b.word(0));
    b.op(Op::INe, &[word, zero])
}

/// Input 0 is less than `limit`.
fn less(b: &mut Builder, limit: u32) -> Value {
    let (value, limit) = (input(b, 0), b.word(limit));
    b.op(Op::SLt, &[value, limit])
}

/// `length` operations on a value that depend on each other.
fn chain(b: &mut Builder, mut value: Value, length: u32, salt: u32) -> Value {
    for n in 0..length {
        let word = b.word(salt.wrapping_mul(0x9e37_79b9).wrapping_add(n.wrapping_mul(0x85eb_ca6b)) | 1);
        let op = [Op::IAdd, Op::Xor][n as usize % 2];
        value = b.op(op, &[value, word]);
    }
    value
}

fn shader(build: impl FnOnce(&mut Builder) -> Vec<Value>) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let block = shader.entry().unwrap();
    let b = &mut Builder::new(&mut shader, block);
    for (n, value) in (0..).zip(build(b)) {
        b.store_output(user(n / 4, (n % 4) as u8), value);
    }
    shader
}

fn ifs(region: &Region) -> usize {
    let inner = region.iter().map(|node| match node {
        Node::If { then, otherwise, .. } => 1 + ifs(then) + ifs(otherwise),
        Node::Loop(body) => ifs(body),
        _ => 0,
    });
    inner.sum()
}

/// How many ifs the pass makes, having checked that it leaves the meaning as it is.
fn branches(before: &Shader) -> usize {
    assert_eq!(verify(before), Ok(()));
    let Some(after) = pass::branch(before) else { return 0 };
    assert_eq!(verify(&after), Ok(()), "{after}");
    for push in [0, 1, 2, 3, 4, 5, 6, 7, 0x55, 0xaa, !0] {
        let outcomes = [before, &after].map(|shader| run(shader, &mut World { push }).unwrap().outputs);
        assert_eq!(outcomes[0], outcomes[1], "{push:#x} pushed\n{before}\n{after}");
    }
    let made = ifs(&after.body);
    assert!(made > 0, "what is changed has a branch\n{after}");
    made
}

/// One arm of this length; the other one is an input.
fn one_arm(condition: impl Fn(&mut Builder) -> Value, length: u32) -> Shader {
    shader(|b| {
        let (x, y, condition) = (input(b, 1), input(b, 2), condition(b));
        let long = chain(b, x, length, 1);
        vec![b.select(condition, long, y)]
    })
}

#[test]
fn long_arms_are_jumped_over() {
    assert_eq!(branches(&one_arm(|b| pushed(b, 0), 60)), 1);
    assert_eq!(branches(&one_arm(|b| pushed(b, 0), 10)), 0);
    // Some element is likely to take an arm where each decides for itself.
    assert_eq!(branches(&one_arm(|b| less(b, 3), 60)), 0);
    assert_eq!(branches(&one_arm(|b| less(b, 3), 150)), 1);
    // None, one and all of them.
    assert_eq!(branches(&one_arm(|b| less(b, 0), 150)), 1);
    assert_eq!(branches(&one_arm(|b| less(b, 1), 150)), 1);
    assert_eq!(branches(&one_arm(|b| less(b, 16), 150)), 1);
}

#[test]
fn both_arms_share_an_if() {
    for length in [60, 150] {
        let shader = shader(|b| {
            let (x, y, condition) = (input(b, 1), input(b, 2), pushed(b, 0));
            let (long, other) = (chain(b, x, length, 1), chain(b, y, length, 2));
            vec![b.select(condition, long, other)]
        });
        assert_eq!(branches(&shader), 1);
    }
}

#[test]
fn what_both_sides_need_is_run_anyway() {
    let shader = |uses: usize| {
        shader(|b| {
            let (x, condition) = (input(b, 1), pushed(b, 0));
            let long = chain(b, x, 60, 1);
            let other = chain(b, if uses == 2 { long } else { x }, 4, 2);
            vec![b.select(condition, long, other)]
        })
    };
    assert_eq!(branches(&shader(1)), 1);
    assert_eq!(branches(&shader(2)), 0);
}

#[test]
fn selects_of_one_condition_share_an_if() {
    let shader = shader(|b| {
        let (x, condition) = (input(b, 1), pushed(b, 0));
        let operands = b.shader.args(condition).to_vec();
        let opposite = b.op(Op::IEq, &operands);
        let long = chain(b, x, 40, 1);
        let more = chain(b, long, 5, 2);
        let first = b.select(condition, long, x);
        let second = b.select(opposite, x, more);
        vec![first, second]
    });
    assert_eq!(branches(&shader), 1);
}

#[test]
fn selects_that_depend_on_each_other_do_not() {
    let shader = shader(|b| {
        let (x, y, condition) = (input(b, 1), input(b, 2), pushed(b, 0));
        let long = chain(b, x, 40, 1);
        let first = b.select(condition, long, y);
        // Needed in any case, so that it stands between the two.
        let between = b.op(Op::IAdd, &[first, y]);
        let long = chain(b, between, 40, 2);
        let second = b.select(condition, long, between);
        vec![second, between]
    });
    assert_eq!(branches(&shader), 2);
}

#[test]
fn arms_hold_arms() {
    let shader = shader(|b| {
        let x = input(b, 1);
        let mut value = x;
        for n in 0..6 {
            let (long, condition) = (chain(b, x, 50, n), pushed(b, n));
            value = b.select(condition, long, value);
        }
        vec![value]
    });
    assert_eq!(branches(&shader), 6);
}

#[test]
fn derivatives_in_arms_see_their_neighbours() {
    let shader = shader(|b| {
        let (x, uniform, varying) = (input(b, 1), pushed(b, 0), less(b, 6));
        let float = b.op(Op::SToF, &[x]);
        let three = b.float(3.0);
        // Elements on the other side of its edge matter to the derivative.
        let product = b.op(Op::FMul, &[float, three]);
        let either = b.select(varying, float, product);
        let derivative = b.op(Op::Ddx, &[either]);
        let long = chain(b, derivative, 60, 1);
        vec![b.select(uniform, long, x)]
    });
    assert_eq!(branches(&shader), 1);
}

/// Masks of the bits of `combined`, which say what a mask is combined with and how, behind a value that decides alone.
fn masks(combined: &[u8]) -> Shader {
    shader(|b| {
        let (ones, zero) = (b.word(u32::MAX), b.word(0));
        let mask = |b: &mut Builder, n: u32| {
            let condition = if n % 2 == 0 { less(b, n / 2 % 17) } else { pushed(b, n / 2 % 5) };
            let inst = b.shader.make_inst(
                Op::Select,
                [condition, ones, zero].into_iter().collect(),
                &[Type::Word],
                false,
            );
            let block = b.block;
            b.shader.blocks[block].insts.push(inst);
            b.shader.insts[inst].results[0]
        };
        let mut word = input(b, 1);
        let mut kept = Vec::new();
        for &byte in combined {
            let other = mask(b, u32::from(byte / 8));
            let op = if byte & 1 == 0 { Op::And } else { Op::Or };
            let operands = if byte & 2 == 0 { [word, other] } else { [other, word] };
            word = b.op(op, &operands);
            if byte & 4 == 0 {
                // A second use, which the mask has to stay for.
                kept.push(other);
            }
        }
        kept.truncate(3);
        kept.push(word);
        kept
    })
}

#[test]
fn masks_made_to_be_combined_are_selects() {
    let logic = |shader: &Shader| {
        let insts = shader.insts_in_order();
        insts.iter().filter(|&&inst| matches!(shader.insts[inst].op, Op::And | Op::Or)).count()
    };
    // Each of its own condition: and, or, and one that is used again.
    for (combined, left) in
        [(&[4 + 8][..], 0), (&[5 + 8], 0), (&[8], 1), (&[4 + 8, 5 + 16, 6 + 24, 7 + 32], 0)]
    {
        let mut shader = masks(combined);
        assert_eq!(logic(&shader), combined.len());
        pass::opt::mask::run(&mut shader);
        assert_eq!(logic(&shader), left, "{combined:?}\n{shader}");
    }
}

/// Turns bytes into an expression with arms of many lengths, some of whose values are used again.
struct Expressions<'a> {
    bytes: std::slice::Iter<'a, u8>,
    made: Vec<Value>,
}

impl Expressions<'_> {
    fn next(&mut self) -> u32 {
        self.bytes.next().copied().map_or(0, u32::from)
    }

    fn value(&mut self, b: &mut Builder, depth: u32) -> Value {
        let choice = if depth == 0 { 0 } else { self.next() % 8 };
        let value = match choice {
            0 => {
                let location = self.next() % 4;
                input(b, location)
            }
            1 => {
                let made = self.next() as usize;
                let reused = self.made.get(made % self.made.len().max(1)).copied();
                reused.unwrap_or_else(|| input(b, 3))
            }
            2 | 3 => {
                let (x, y) = (self.value(b, depth - 1), self.value(b, depth - 1));
                b.op(Op::IAdd, &[x, y])
            }
            4 => {
                let (length, salt) = (self.next() % 50, self.next());
                let x = self.value(b, depth - 1);
                chain(b, x, length, salt)
            }
            _ => {
                let n = self.next();
                let condition = if n % 4 == 0 { less(b, n / 4 % 18) } else { pushed(b, n % 5) };
                let (yes, no) = (self.value(b, depth - 1), self.value(b, depth - 1));
                let (length, salt) = (self.next() % 130, self.next());
                let yes = chain(b, yes, length, salt);
                b.select(condition, yes, no)
            }
        };
        self.made.push(value);
        value
    }
}

proptest! {
    #[test]
    fn combined_masks_keep_their_value(combined in prop::collection::vec(any::<u8>(), 1..24)) {
        let before = masks(&combined);
        let mut after = before.clone();
        pass::opt::mask::run(&mut after);
        prop_assert_eq!(verify(&after), Ok(()));
        for push in [0, 0x0a, 0x15, 0x1f] {
            let outcomes = [&before, &after].map(|shader| run(shader, &mut World { push }).unwrap().outputs);
            prop_assert_eq!(&outcomes[0], &outcomes[1], "{:#x} pushed\n{}\n{}", push, &before, &after);
        }
    }

    #[test]
    fn random_expressions_keep_their_value(bytes in prop::collection::vec(any::<u8>(), 20..200)) {
        let mut before = shader(|b| {
            let mut expressions = Expressions { bytes: bytes.iter(), made: Vec::new() };
            (0..4).map(|_| expressions.value(b, 6)).collect()
        });
        branches(&before);
        // What is equal is one value then, and needed in more places.
        pass::optimize(&mut before);
        branches(&before);
    }
}

/// What a whole draw skips counts for half, what elements decide for all.
#[test]
fn draws_run_a_share_of_their_shaders() {
    let run = |shader: &Shader| Share::of(&pass::branch(shader).expect("it has a long arm")).part_of(1000);
    let uniform = run(&one_arm(|b| pushed(b, 0), 400));
    assert!((500..520).contains(&uniform), "{uniform}");
    assert_eq!(run(&one_arm(|b| less(b, 3), 400)), 1000);
    // An arm in an arm.
    let nested = run(&shader(|b| {
        let (x, y, outer, inner) = (input(b, 1), input(b, 2), pushed(b, 0), pushed(b, 1));
        let long = chain(b, x, 400, 1);
        let other = chain(b, x, 400, 2);
        let chosen = b.select(inner, long, other);
        let chosen = chain(b, chosen, 40, 3);
        vec![b.select(outer, chosen, y)]
    }));
    assert!((250..290).contains(&nested), "{nested}");
}
