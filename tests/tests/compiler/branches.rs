//! Arms that are jumped over: which ones are, and how many instructions are executed where no element takes them.

use vc4::qpu::Inst;
use vc4_shaders::ir::{Builder, ImageDim, Lod, Op, Output, Sample, Shader, Stage, Value};
use vc4_shaders::program::{Pipeline, Program};
use vc4_tests::runner::{Buffers, Runner};

use crate::case::*;
use crate::committed::control_stages;
use crate::world::World;

/// Instructions that an arm of the shaders of `control` has at least: ten steps of a product, a sum and a fraction.
const LONG: u64 = 40;

#[test]
fn arms_of_committed_shaders() {
    for name in ["uniform_arms", "divergent_arms"] {
        let pipeline = run_committed(name);
        assert!(skipped(&pipeline.fragment).len() >= 5, "{name}: {:?}", skipped(&pipeline.fragment));
    }
}

/// Values that move to accumulators are where they were behind arms and loops.
#[test]
fn values_that_move_around_arms() {
    run_committed("crowded_arms");
}

/// Arms look up again what they share, where that is more than the register files hold, and results of arms wait for no arm that
/// has others in it.
#[test]
fn arms_that_want_more_texels_than_the_files_hold() {
    let pipeline = run_committed("network_arms");
    assert!(pipeline.fragment.samples.len() > 72, "{} lookups", pipeline.fragment.samples.len());
}

/// A program of two threads jumps over arms, too.
#[test]
fn lookups_in_arms() {
    let pipeline = run_committed("fetching_arms");
    assert!(pipeline.fragment.threaded);
    assert!(skipped(&pipeline.fragment).len() >= 3, "{:?}", skipped(&pipeline.fragment));
}

/// Runs a shader of `control` with more inputs than others, so that all its ways are taken.
fn run_committed(name: &str) -> Pipeline {
    let [vertex, fragment] = control_stages(name);
    let case = Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false };
    let pipeline = case.run();
    for seed in 4..48 {
        case.check_fragment(&pipeline, &World { seed, ..World::default() });
    }
    pipeline
}

/// How many instructions each branch of a program without loops jumps over.
fn skipped(program: &Program) -> Vec<u64> {
    let inst = |&word: &u64| Inst::decode(word).expect("compiled code decodes");
    let branches = program.code.iter().map(inst).filter_map(|inst| match inst {
        Inst::Branch(branch) => Some(branch.offset),
        _ => None,
    });
    branches.map(|offset| u64::try_from(offset / 8).expect("branches go forward")).collect()
}

/// A committed fragment shader with what it reads.
struct Counted {
    pipeline: Pipeline,
    /// The component of each varying, in hardware order.
    order: Vec<u8>,
}

impl Counted {
    fn new(name: &str) -> Counted {
        let [vertex, fragment] = control_stages(name);
        let case = Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false };
        let order = varyings(&linked(&vertex, &fragment), &case.state);
        let order = order.iter().map(|varying| varying.component).collect();
        Counted { pipeline: case.compile(), order }
    }

    /// Instructions executed with these uniforms and these values in each element.
    fn run(&self, uniforms: [f32; 4], value: impl Fn(usize) -> [f32; 4]) -> u64 {
        let buffers = Buffers { uniform: uniforms.map(f32::to_bits).to_vec(), push: Vec::new() };
        let runner = Runner::new(&self.pipeline, &buffers).expect("the programs are valid");
        let rows: Vec<[u32; LANES]> = self
            .order
            .iter()
            .map(|&component| std::array::from_fn(|lane| value(lane)[usize::from(component)].to_bits()))
            .collect();
        runner.fragment_instructions(&rows).expect("the program runs")
    }
}

#[test]
fn uniform_arms_are_jumped_over() {
    let shader = Counted::new("uniform_arms");
    let skipped = skipped(&shader.pipeline.fragment);
    let run = |uniforms| shader.run(uniforms, |lane| [0.25, -0.5, 0.125, lane as f32 / 16.0]);
    let none = run([-1.0; 4]);
    let extra = |uniforms| run(uniforms) - none;
    // One arm, which is all that a branch jumps over.
    let first = extra([1.0, -1.0, -1.0, -1.0]);
    assert!(first >= LONG && skipped.contains(&first), "{first} more instructions, {skipped:?} jumped over");
    // An arm inside of one that is not taken is not looked at.
    assert_eq!(extra([-1.0, -1.0, -1.0, 1.0]), 0);
    let outer = extra([-1.0, -1.0, 1.0, -1.0]);
    let inner = extra([-1.0, -1.0, 1.0, 1.0]) - outer;
    assert!(outer >= LONG, "{outer} more instructions");
    assert!(inner >= LONG && skipped.contains(&inner), "{inner} more instructions, {skipped:?} jumped over");
    // Of two arms either is run, never both.
    let [one, other] = [1.0, -1.0].map(|y| run([-1.0, y, -1.0, -1.0]));
    assert!(one.abs_diff(other) < LONG / 2, "{one} or {other} instructions");
    let all = run([1.0; 4]);
    assert_eq!(all - one, first + outer + inner);
    let length = shader.pipeline.fragment.code.len() as u64;
    assert!(all + LONG <= length, "{all} of {length} instructions");
    assert!(none + 4 * LONG <= length, "{none} of {length} instructions");
}

#[test]
fn divergent_arms_are_jumped_over() {
    let shader = Counted::new("divergent_arms");
    let skipped = skipped(&shader.pipeline.fragment);
    // Component n is above the threshold in the elements of mask n.
    let run = |masks: [u32; 4]| {
        let component = |lane: usize, mask: u32| if mask >> lane & 1 != 0 { 0.75 } else { -0.5 };
        shader.run([1.0; 4], |lane| masks.map(|mask| component(lane, mask)))
    };
    let none = run([0; 4]);
    let first = run([0xffff, 0, 0, 0]) - none;
    assert!(
        first >= 2 * LONG && skipped.contains(&first),
        "{first} more instructions, {skipped:?} jumped over"
    );
    // One element costs what all cost, wherever it is.
    for mask in [1, 0x8000, 0x0420, 0x5a5a, 0x7fff] {
        assert_eq!(run([mask, 0, 0, 0]) - none, first, "{mask:#x}");
    }
    let second = run([0, 0xffff, 0, 0]);
    assert!(second.abs_diff(none) < LONG / 2, "{second} or {none} instructions");
    let both = run([0, 0x00ff, 0, 0]);
    assert!(both >= none + 2 * LONG && both >= second + 2 * LONG, "{both} instructions for both arms");
    let third = run([0, 0, 0xffff, 0]) - none;
    assert!(third >= 4 * LONG, "{third} more instructions for two arms");
    assert_eq!(run([0, 0, 2, 0]) - none, third);
}

/// A loop is run by all elements if one enters it, else by none.
#[test]
fn loops_are_jumped_over() {
    let shader = Counted::new("guarded_loop");
    // Eight iterations, in which the elements of `mask` take part.
    let run = |y: f32, mask: u32| {
        shader.run([1.0, y, 0.5, 0.0], |lane| [if mask >> lane & 1 != 0 { 0.75 } else { -0.5 }; 4])
    };
    let none = run(1.0, 0);
    assert_eq!(run(-1.0, 0xffff), none);
    let all = run(1.0, 0xffff);
    assert!(all >= none + 8 * 6, "{all} instructions with the loop, {none} without");
    assert_eq!(run(1.0, 0x0010), all);
}

/// A loop is run as often as the element that goes round most, and nothing is run to find out that all have gone round.
#[test]
fn loops_run_as_often_as_they_go_round() {
    let shader = Counted::new("counted_loop");
    let instructions = shader.pipeline.fragment.code.len() as u64;
    let run = |uniform: f32, own: f32, more: u32, mask: u32| {
        let w = |lane: usize| if mask >> lane & 1 != 0 { more as f32 + 0.5 } else { 0.0 };
        shader.run([uniform, own, 0.0, 0.0], |lane| [0.25, -0.5, 0.125, w(lane)])
    };
    let none = run(0.0, 0.0, 0, 0);
    let uniform = run(2.0, 0.0, 0, 0) - run(1.0, 0.0, 0, 0);
    let divergent = run(0.0, 2.0, 0, 0) - run(0.0, 1.0, 0, 0);
    assert!(
        none + uniform + divergent <= instructions,
        "{none} of {instructions} instructions without an iteration"
    );
    // One in front of each loop, and one at its end.
    let code = &shader.pipeline.fragment.code;
    let branches = code.iter().filter(|&&word| matches!(Inst::decode(word), Ok(Inst::Branch(_))));
    assert_eq!(branches.count(), 4);
    for count in 1..6 {
        assert_eq!(run(count as f32, 0.0, 0, 0), run(1.0, 0.0, 0, 0) + (count - 1) * uniform);
        // Whoever goes round most.
        for mask in [0xffff, 1, 0x4200] {
            let turns = run(0.0, 0.0, count as u32, mask);
            assert_eq!(turns, run(0.0, 1.0, 0, 0) + (count - 1) * divergent, "{mask:#x}");
        }
    }
    // Entering a loop takes less than going round.
    for (first, turn) in [(run(1.0, 0.0, 0, 0), uniform), (run(0.0, 1.0, 0, 0), divergent)] {
        assert!(
            first - none < 2 * turn,
            "{} instructions for the first iteration, {turn} for others",
            first - none
        );
    }
    // Selects keep what elements had that went round less often; where all agree there are none.
    assert!(uniform < divergent, "{uniform} instructions where all agree, {divergent} where they may not");
}

/// What translators of WGSL add to a loop, lest it never end, takes nothing.
#[test]
fn counters_to_ends_that_nobody_lives_to_see() {
    let [bounded, plain] = ["bounded_loop", "uniform_loop"].map(|name| Counted::new(name).pipeline.fragment);
    assert_eq!(bounded.code, plain.code);
}

/// What an arm does: `length` operations on a value.
fn chain(b: &mut Builder, mut value: Value, [factor, term]: [Value; 2], length: u32) -> Value {
    for n in 0..length {
        value = if n % 2 == 0 { b.op(Op::FMul, &[value, factor]) } else { b.op(Op::FAdd, &[value, term]) };
    }
    value
}

fn condition(b: &mut Builder, uniform: bool) -> Value {
    let zero = b.float(0.0);
    let value =
        if uniform { b.op(Op::LoadUbo { buffer: descriptor(0), offset: 8 }, &[]) } else { input(b, 0, 0) };
    b.op(Op::FLt, &[zero, value])
}

/// A stage that chooses between two results of values of location 1, and writes the result to location 0.
fn choosing(
    stage: Stage,
    uniform: bool,
    arms: impl FnOnce(&mut Builder, [Value; 3]) -> [Value; 2],
) -> Shader {
    shader(stage, |b| {
        if stage == Stage::Vertex {
            position(b);
        }
        let values = [0, 1, 2].map(|n| input(b, 1, n));
        let condition = condition(b, uniform);
        let [yes, no] = arms(b, values);
        let (chosen, scale) = (b.select(condition, yes, no), b.float(0.25));
        let result = b.op(Op::FMul, &[chosen, scale]);
        for (component, value) in (0..).zip([result, values[0], values[1], values[2]]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    })
}

/// Runs a fragment stage that chooses, and returns what its branches jump over.
fn skipped_by(
    name: &str,
    uniform: bool,
    arms: impl FnOnce(&mut Builder, [Value; 3]) -> [Value; 2],
) -> Vec<u64> {
    skipped_in(name, &choosing(Stage::Fragment, uniform, arms))
}

/// Runs a fragment stage that reads locations 0 and 1, and returns what its branches jump over.
fn skipped_in(name: &str, fragment: &Shader) -> Vec<u64> {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        for location in 0..2 {
            for component in 0..4 {
                let value = input(b, 1 + location, component);
                b.store_output(Output::User { location, component }, value);
            }
        }
    });
    let pipeline = Case { name, vertex: &vertex, fragment, state: state(), exact: false }.run();
    skipped(&pipeline.fragment)
}

#[test]
fn short_arms_are_run_by_all() {
    for (uniform, length) in [(true, 2), (true, 12), (false, 12), (false, 60)] {
        let name = format!("{length} operations, uniform: {uniform}");
        let skipped = skipped_by(&name, uniform, |b, [x, y, z]| [chain(b, x, [y, z], length), z]);
        assert!(skipped.is_empty(), "{name}: {skipped:?} jumped over");
    }
}

/// An element of an array by an index that a draw gives is chosen by a row of selects, each the arm of the one before.
#[test]
fn rows_of_selects_are_no_arms() {
    let fragment = shader(Stage::Fragment, |b| {
        let values: Vec<Value> = (0..8).map(|n| input(b, n / 4, (n % 4) as u8)).collect();
        let index = b.op(Op::LoadUbo { buffer: descriptor(0), offset: 8 }, &[]);
        let mut chosen = values[0];
        for (n, &value) in (0..40).rev().zip(values.iter().cycle()) {
            let place = b.word(n);
            let here = b.op(Op::IEq, &[index, place]);
            chosen = b.select(here, value, chosen);
        }
        for component in 0..4 {
            b.store_output(Output::User { location: 0, component }, chosen);
        }
    });
    let skipped = skipped_in("a row of selects", &fragment);
    assert!(skipped.is_empty(), "{skipped:?} jumped over");
}

#[test]
fn long_arms_are_branches() {
    for (uniform, length) in [(true, 48), (true, 200), (false, 128), (false, 200)] {
        let name = format!("{length} operations, uniform: {uniform}");
        let one = skipped_by(&name, uniform, |b, [x, y, z]| [chain(b, x, [y, z], length), z]);
        assert_eq!(one.len(), 1, "{name}: {one:?} jumped over");
        // Products and sums may share instructions.
        assert!(one[0] >= u64::from(length) / 2, "{name}: {one:?} jumped over");
        let other = skipped_by(&name, uniform, |b, [x, y, z]| [z, chain(b, x, [y, z], length)]);
        assert_eq!(other, one, "{name}: on the other side");
        let both = skipped_by(&name, uniform, |b, [x, y, z]| {
            [chain(b, x, [y, z], length), chain(b, y, [z, x], length)]
        });
        assert_eq!(both.len(), 2, "{name}: {both:?} jumped over");
    }
}

/// The coordinates of a lookup depend on flags that no branch reads; they are set in front of its thread switch.
#[test]
fn flags_in_front_of_lookups() {
    for uniform in [true, false] {
        let skipped = skipped_by("a lookup behind flags", uniform, |b, [x, y, z]| {
            let at = chain(b, x, [y, z], 128);
            let zero = b.float(0.0);
            let below = b.op(Op::FLt, &[at, zero]);
            let at = b.select(below, y, at);
            let op = Op::Sample(Sample::plain(descriptor(2), ImageDim::D2, Lod::Auto));
            [b.emit(op, &[at, z])[1], z]
        });
        assert_eq!(skipped.len(), 1, "uniform: {uniform}: {skipped:?} jumped over");
    }
}

#[test]
fn work_of_both_arms_is_not_jumped_over() {
    for uniform in [true, false] {
        let skipped = skipped_by("shared work", uniform, |b, [x, y, z]| {
            let shared = chain(b, x, [y, z], 200);
            [b.op(Op::FMul, &[shared, y]), b.op(Op::FMul, &[shared, z])]
        });
        assert!(skipped.is_empty(), "uniform: {uniform}: {skipped:?} jumped over");
    }
}

/// What stands behind `&&` and `||` is an arm, too, whoever asks.
#[test]
fn conditions_have_arms() {
    for (logic, discards) in [(Op::BAnd, false), (Op::BOr, false), (Op::BAnd, true), (Op::BOr, true)] {
        let name = format!("{logic:?}, discards: {discards}");
        let fragment = shader(Stage::Fragment, |b| {
            let [x, y, z, w] = [0, 1, 2, 3].map(|n| input(b, 1, n));
            let (first, long, limit) = (condition(b, true), chain(b, x, [y, z], 100), b.float(0.0));
            let second = b.op(Op::FLt, &[long, limit]);
            let both = b.op(logic, &[first, second]);
            let chosen = b.select(both, y, z);
            if discards {
                b.discard_if(both);
            }
            for (component, value) in (0..).zip([if discards { x } else { chosen }, y, z, w]) {
                b.store_output(Output::User { location: 0, component }, value);
            }
        });
        let skipped = skipped_in(&name, &fragment);
        assert!(skipped.len() == 1 && skipped[0] >= 50, "{name}: {skipped:?} jumped over");
    }
}

/// A varying is not made in the coordinate program, and neither is the branch around its arm.
#[test]
fn vertex_stages_have_branches() {
    for uniform in [true, false] {
        let vertex = choosing(Stage::Vertex, uniform, |b, [x, y, z]| [chain(b, x, [y, z], 200), z]);
        let (fragment, name) = (plain_fragment(), "vertex arm");
        let pipeline =
            Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
        assert_eq!(skipped(&pipeline.vertex).len(), 1, "uniform: {uniform}");
        assert_eq!(skipped(&pipeline.coordinate), [], "uniform: {uniform}");
    }
}

/// The same numbers on every run.
struct Random(u32);

impl Random {
    /// A number below `count`.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (self.0 >> 8) as usize % count
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// Choices between arms of random lengths, in front of each other and in each other, of words.
struct Choices<'a, 'b> {
    b: &'a mut Builder<'b>,
    random: Random,
    uniforms: Vec<Value>,
    /// All conditions so far. Straight code has no scopes: those that were made in an arm may be asked behind it.
    conditions: Vec<Value>,
    /// Where arms look at images, if they do.
    lookups: Option<[Value; 2]>,
}

impl Choices<'_, '_> {
    fn step(&mut self, x: Value, other: Value) -> Value {
        let distance = 1 + self.random.below(15) as u32;
        let distance = self.b.word(distance);
        let shift = self.random.pick(&[Op::Shl, Op::Shr]);
        let shifted = self.b.op(shift, &[x, distance]);
        let mixed = self.b.op(Op::Xor, &[x, shifted]);
        self.b.op(Op::IAdd, &[mixed, other])
    }

    /// Often one that was there before.
    fn condition(&mut self, known: &[Value]) -> Value {
        if !self.conditions.is_empty() && self.random.below(3) == 0 {
            let condition = self.conditions.clone();
            return self.random.pick(&condition);
        }
        let operand = if self.random.below(2) == 0 { self.uniforms.clone() } else { known.to_vec() };
        let bits = self.b.word(15);
        let operand = self.random.pick(&operand);
        let operand = self.b.op(Op::And, &[operand, bits]);
        let limit = self.random.below(16) as u32;
        let limit = self.b.word(limit);
        let (op, swap) = (self.random.pick(&[Op::ULt, Op::ULe, Op::SLt, Op::SLe]), self.random.below(2));
        let operands = if swap == 0 { [operand, limit] } else { [limit, operand] };
        let condition = self.b.op(op, &operands);
        self.conditions.push(condition);
        condition
    }

    /// What an arm makes of what is known in front of it.
    fn arm(&mut self, known: &[Value], depth: u32) -> Value {
        let mut known = known.to_vec();
        let mut x = self.random.pick(&known);
        for _ in 0..1 + self.random.below(3) {
            let other = self.random.pick(&known);
            for _ in 0..self.random.pick(&[2, 14, 40]) {
                x = self.step(x, other);
            }
            known.push(x);
            if let Some(lookups) = self.lookups.filter(|_| self.random.below(4) == 0) {
                x = self.lookup(x, lookups);
                known.push(x);
            }
            if depth > 0 && self.random.below(4) != 0 {
                x = self.choice(&known, depth - 1);
                known.push(x);
            }
        }
        x
    }

    fn choice(&mut self, known: &[Value], depth: u32) -> Value {
        let condition = self.condition(known);
        let yes = self.arm(known, depth);
        let no = if self.random.below(2) == 0 { self.arm(known, depth) } else { self.random.pick(known) };
        let (yes, no) = if self.random.below(2) == 0 { (yes, no) } else { (no, yes) };
        let one = self.b.select(condition, yes, no);
        if self.random.below(2) == 0 {
            return one;
        }
        let more = self.random.pick(known);
        let more = self.step(yes, more);
        let other = self.b.select(condition, more, one);
        self.b.op(Op::IAdd, &[one, other])
    }

    /// A word of a texel; the coordinates depend on `x`.
    fn lookup(&mut self, x: Value, at: [Value; 2]) -> Value {
        let bits = self.b.word(63);
        let moved = self.b.op(Op::And, &[x, bits]);
        let moved = self.b.op(Op::SToF, &[moved]);
        let moved = self.b.op(Op::FAdd, &[moved, at[0]]);
        let binding = 2 + self.random.below(2) as u32;
        let op = Op::Sample(Sample::plain(descriptor(binding), ImageDim::D2, Lod::Auto));
        let texel = self.b.emit(op, &[moved, at[1]])[self.random.below(4)];
        // Rounded to the byte that it was, whatever the last digit of a component is.
        let half = self.b.float(0.5 / 255.0);
        let above = self.b.op(Op::FAdd, &[texel, half]);
        let word = scaled_word(self.b, above, 255.0);
        self.step(x, word)
    }
}

fn uniform_words(b: &mut Builder) -> Vec<Value> {
    (0..6).map(|n| b.op(Op::LoadUbo { buffer: descriptor(0), offset: 4 * n }, &[])).collect()
}

fn scaled_word(b: &mut Builder, value: Value, scale: f32) -> Value {
    let scale = b.float(scale);
    let scaled = b.op(Op::FMul, &[value, scale]);
    b.op(Op::FToS, &[scaled])
}

#[test]
fn random_arms_of_vertex_stages() {
    for seed in 0..16 {
        check_words(&format!("random arms {seed}"), |b, words| {
            let uniforms = uniform_words(b);
            let mut choices =
                Choices { b, random: Random(seed), uniforms, conditions: Vec::new(), lookups: None };
            let first = choices.choice(&words, 2);
            let second = choices.choice(&[first, words[0], words[1]], 1);
            [first, second, words[2], words[3]]
        });
    }
}

#[test]
fn random_arms_of_fragment_stages() {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        for component in 0..4 {
            let value = input(b, 1, component);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let mut branches = 0;
    for seed in 0..48 {
        let fragment = shader(Stage::Fragment, |b| {
            let inputs = [0, 1, 2, 3].map(|n| input(b, 0, n));
            // Inputs are multiples of 1/1024, uniforms of 1/64.
            let words = inputs.map(|value| scaled_word(b, value, 1024.0));
            let uniforms = uniform_words(b).into_iter().map(|value| scaled_word(b, value, 64.0)).collect();
            let lookups = (seed % 2 == 0).then_some([inputs[0], inputs[1]]);
            let mut choices = Choices { b, random: Random(seed), uniforms, conditions: Vec::new(), lookups };
            let first = choices.choice(&words, 1);
            let second = choices.choice(&[first, words[0], words[1]], 1);
            let (bits, part) = (b.word(255), b.float(1.0 / 255.0));
            for (component, word) in (0..).zip([first, second, words[2], words[3]]) {
                let low = b.op(Op::And, &[word, bits]);
                let float = b.op(Op::SToF, &[low]);
                let value = b.op(Op::FMul, &[float, part]);
                b.store_output(Output::User { location: 0, component }, value);
            }
        });
        let name = format!("random arms {seed}");
        let case = Case { name: &name, vertex: &vertex, fragment: &fragment, state: state(), exact: false };
        branches += skipped(&case.run().fragment).len();
    }
    assert!(branches > 48, "{branches} branches");
}
