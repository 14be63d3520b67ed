//! What a draw gives to all elements alike is computed by the CPU, where that saves anything.

use vc4_shaders::binding::{Descriptor, UniformSlot};
use vc4_shaders::compile::{PipelineState, compile_shaders};
use vc4_shaders::ir::computed::{self, Step};
use vc4_shaders::ir::{Builder, Interpolation, Op, Output, Shader, Stage, Value};
use vc4_shaders::program::{Pipeline, Program};

const BUFFER: Descriptor = Descriptor { set: 0, binding: 0, element: 0 };

fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(stage);
    let block = shader.entry().unwrap();
    build(&mut Builder::new(&mut shader, block));
    shader
}

fn ubo(b: &mut Builder, word: u32) -> Value {
    b.op(Op::LoadUbo { buffer: BUFFER, offset: 4 * word }, &[])
}

fn input(b: &mut Builder, component: u8) -> Value {
    b.op(Op::LoadInput { location: 0, component, interpolation: Interpolation::Smooth }, &[])
}

fn dot(b: &mut Builder, row: &[Value], column: &[Value]) -> Value {
    let products: Vec<Value> = row.iter().zip(column).map(|(x, y)| b.fmul(*x, *y)).collect();
    products.into_iter().reduce(|sum, product| b.fadd(sum, product)).unwrap()
}

fn state() -> PipelineState {
    let attribute = vc4_shaders::compile::VertexAttribute::floats(0, 4);
    let color = vc4::state::blend::ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false);
    PipelineState { attributes: vec![attribute], color: Some(color), ..PipelineState::default() }
}

/// A vertex stage that hands its attribute to a fragment stage, whose colour `build` makes of it.
fn fragment(build: impl FnOnce(&mut Builder, Value) -> Value) -> Program {
    let vertex = shader(Stage::Vertex, |b| {
        for component in 0..4 {
            let value = input(b, component);
            b.store_output(Output::Position(component), value);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = shader(Stage::Fragment, |b| {
        let own = input(b, 0);
        let color = build(b, own);
        (0..4).for_each(|component| b.store_output(Output::User { location: 0, component }, color));
    });
    compile_shaders(vertex, Some(fragment), &state()).unwrap().fragment
}

/// (A * B) * p, with both matrices from a uniform buffer.
fn transformed(state: &PipelineState) -> Pipeline {
    let vertex = shader(Stage::Vertex, |b| {
        let place: Vec<Value> = (0..4).map(|component| input(b, component)).collect();
        for row in 0..4 {
            let left: Vec<Value> = (0..4).map(|n| ubo(b, 4 * n + row)).collect();
            let product: Vec<Value> = (0..4)
                .map(|column| {
                    let right: Vec<Value> = (0..4).map(|n| ubo(b, 16 + 4 * column + n)).collect();
                    dot(b, &left, &right)
                })
                .collect();
            let sum = dot(b, &product, &place);
            b.store_output(Output::Position(row as u8), sum);
        }
    });
    compile_shaders(vertex, None, state).unwrap()
}

#[test]
fn matrices_are_multiplied_once() {
    let plain = transformed(&PipelineState { computes: false, ..state() });
    let pipeline = transformed(&state());
    assert!(plain.vertex.computed.is_empty() && plain.coordinate.computed.is_empty());
    for (program, plain) in [(&pipeline.vertex, &plain.vertex), (&pipeline.coordinate, &plain.coordinate)] {
        let [length, before] = [program.code.len(), plain.code.len()];
        assert!(length + 10 < before, "{length} instructions, {before} if nothing is computed");
        let words = computed::words(&program.computed, |slot| match slot {
            UniformSlot::Ubo { buffer: BUFFER, offset } => ((offset / 4) as f32 + 0.5).to_bits(),
            other => panic!("{other}"),
        });
        let results = program.uniforms.iter().filter_map(|slot| match slot {
            UniformSlot::Computed(number) => Some(f32::from_bits(words[*number as usize])),
            _ => None,
        });
        let element = |at: u32| at as f32 + 0.5;
        let product = |row: u32, column: u32| -> f32 {
            (0..4).map(|n| element(4 * n + row) * element(16 + 4 * column + n)).sum()
        };
        let mut expected: Vec<f32> = (0..16).map(|at| product(at / 4, at % 4)).collect();
        let mut found: Vec<f32> = results.collect();
        expected.sort_by(f32::total_cmp);
        expected.dedup();
        found.sort_by(f32::total_cmp);
        // A program may read a word more than once.
        found.dedup();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_division_takes_the_reciprocal() {
    let divided = fragment(|b, own| {
        let divisor = ubo(b, 0);
        b.op(Op::FDiv, &[own, divisor])
    });
    let [Step::Word(one), Step::Word(divisor), Step::Op { op: Op::FDiv, args }] = &divided.computed[..]
    else {
        panic!("{:?}", divided.computed);
    };
    assert_eq!(*one, UniformSlot::Const(1f32.to_bits()));
    assert_eq!(*divisor, UniformSlot::Ubo { buffer: BUFFER, offset: 0 });
    assert_eq!(args[..], [0, 1]);
    let multiplied = fragment(|b, own| {
        let factor = ubo(b, 0);
        b.fmul(own, factor)
    });
    assert_eq!(divided.code, multiplied.code);
}

#[test]
fn cheap_words_that_many_read_stay() {
    // Twice a word, read in eight places, would be eight words of the stream instead of one.
    let program = fragment(|b, own| {
        let word = ubo(b, 0);
        let double = b.fadd(word, word);
        let mut sum = own;
        for _ in 0..8 {
            let next = b.op(Op::FMax, &[sum, double]);
            sum = b.fmul(next, own);
        }
        sum
    });
    assert!(program.computed.is_empty(), "{:?}", program.computed);
}

#[test]
fn conditions_come_as_words() {
    let program = fragment(|b, own| {
        let (x, y, z) = (ubo(b, 0), ubo(b, 1), ubo(b, 2));
        let sum = dot(b, &[x, y, z], &[y, z, x]);
        let root = b.op(Op::FSqrt, &[sum]);
        let condition = b.op(Op::FLt, &[root, x]);
        let square = b.fmul(own, own);
        b.select(condition, own, square)
    });
    let last = program.computed.last().unwrap();
    assert!(matches!(last, Step::Op { op: Op::FLt, .. }), "{last:?}");
    let number = program.computed.len() as u32 - 1;
    assert!(program.uniforms.contains(&UniformSlot::Computed(number)));
}

#[test]
fn a_draw_never_pays_for_thousands() {
    let program = fragment(|b, own| {
        let mut sum = ubo(b, 0);
        for at in 1..2200 {
            let next = ubo(b, at);
            let product = b.fmul(sum, next);
            sum = b.fadd(product, next);
        }
        b.fmul(own, sum)
    });
    assert!(program.computed.is_empty());
}
