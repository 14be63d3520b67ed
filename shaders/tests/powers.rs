//! Powers as exact as Vulkan wants them, and as OpenGL does.

use vc4::state::blend::ColorOutput;
use vc4_shaders::binding::{Descriptor, UniformSlot};
use vc4_shaders::compile::{PipelineState, Precision, VertexAttribute, compile_shaders};
use vc4_shaders::ir::{Builder, Interpolation, Op, Output, Shader, Stage, Value};

fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(stage);
    let block = shader.entry().unwrap();
    build(&mut Builder::new(&mut shader, block));
    shader
}

fn input(b: &mut Builder) -> Value {
    b.op(Op::LoadInput { location: 0, component: 0, interpolation: Interpolation::Smooth }, &[])
}

/// Instructions of a fragment program that raises a varying to a power, and makes a colour of that by a factor that nothing bounds.
fn instructions(precision: Precision) -> usize {
    let vertex = shader(Stage::Vertex, |b| {
        let value = input(b);
        (0..4).for_each(|component| b.store_output(Output::Position(component), value));
        b.store_output(Output::User { location: 0, component: 0 }, value);
    });
    let fragment = shader(Stage::Fragment, |b| {
        let base = input(b);
        let buffer = Descriptor { set: 0, binding: 0, element: 0 };
        let [exponent, factor] = [0, 4].map(|offset| b.op(Op::LoadUbo { buffer, offset }, &[]));
        let logarithm = b.op(Op::FLog2, &[base]);
        let product = b.fmul(logarithm, exponent);
        let power = b.op(Op::FExp2, &[product]);
        let color = b.fmul(power, factor);
        (0..4).for_each(|component| b.store_output(Output::User { location: 0, component }, color));
    });
    let state = PipelineState {
        attributes: vec![VertexAttribute::floats(0, 1)],
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        precision,
        ..PipelineState::default()
    };
    let pipeline = compile_shaders(vertex, Some(fragment), &state).unwrap();
    assert!(pipeline.fragment.uniforms.iter().any(|slot| matches!(slot, UniformSlot::Ubo { .. })));
    pipeline.fragment.code.len()
}

#[test]
fn estimates_take_a_few_instructions() {
    let [exact, estimated] = [Precision::Vulkan, Precision::Gl].map(instructions);
    assert!(estimated + 12 <= exact, "{estimated} instructions of {exact}");
}
