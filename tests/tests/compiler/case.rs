//! One pipeline, compiled, checked and run against the interpreter.

use std::collections::BTreeSet;

use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4_kernel_abi::validate::{self, Mode};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::interp;
use vc4_shaders::ir::{Builder, Interpolation, Op, Output, Shader, Stage, Value};
use vc4_shaders::pass::{self, lower};
use vc4_shaders::program::{Descriptor, Pipeline, Program};

use crate::world::{Effects, Fragments, World};

pub const LANES: usize = vc4::hw::LANES;

/// A shader of one block.
pub fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(stage);
    let block = shader.entry().expect("a new shader has a block");
    build(&mut Builder::new(&mut shader, block));
    shader
}

/// RGBA8, depth test, sixteen float vec4 attributes.
pub fn state() -> PipelineState {
    PipelineState {
        attributes: (0..16).map(|location| VertexAttribute::floats(location, 4)).collect(),
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
        ..Default::default()
    }
}

/// A fragment shader as the compiler links it with a vertex shader.
pub fn linked(vertex: &Shader, fragment: &Shader) -> Shader {
    let (mut vertex, mut fragment) = (vertex.clone(), fragment.clone());
    pass::optimize(&mut vertex);
    lower::distances::fragment(&mut fragment, &vertex, &PipelineState::default());
    pass::link(&vertex, &mut fragment);
    fragment
}

/// The varyings of a linked fragment shader in hardware order, found as the compiler finds them.
pub fn varyings(fragment: &Shader, state: &PipelineState) -> Vec<lower::inputs::Varying> {
    let mut fragment = fragment.clone();
    pass::optimize(&mut fragment);
    pass::factor(&mut fragment);
    pass::lower_control(&mut fragment);
    lower::outputs::fragment(&mut fragment, state).expect("it compiled before");
    pass::optimize(&mut fragment);
    lower::inputs::fragment(&mut fragment, state).expect("it compiled before").varyings
}

pub fn check_kernel(name: &str, program: &Program) {
    let info = validate::shader::validate(&program.code, Mode::Strict)
        .unwrap_or_else(|violation| panic!("{name}: the kernel refuses the program: {violation:?}"));
    assert_eq!(info.uniforms_size as usize, 4 * program.uniforms.len(), "{name}: stream length");
    assert_eq!(info.samples.len(), program.samples.len(), "{name}: requests");
    assert_eq!(info.threaded, program.threaded, "{name}: threads");
}

pub fn check_effects(name: &str, effects: &Effects) {
    assert_eq!(effects.findings, [], "{name}: broken rules");
}

/// Values agree to a few units of single precision.
pub fn assert_close(what: &str, actual: u32, expected: u32, tolerance: f32) {
    let (a, e) = (f32::from_bits(actual), f32::from_bits(expected));
    let close =
        actual == expected || (a - e).abs() <= tolerance * e.abs().max(1.0) || (a.is_nan() && e.is_nan());
    assert!(close, "{what}: QPU {a} ({actual:#010x}), IR {e} ({expected:#010x})");
}

/// Tolerance of vertex results, relative to the larger of the value and one: sums truncate.
pub const VERTEX_TOLERANCE: f32 = 3e-6;

pub struct Case<'a> {
    pub name: &'a str,
    pub vertex: &'a Shader,
    pub fragment: &'a Shader,
    pub state: PipelineState,
    /// Outputs are words to be compared exactly.
    pub exact: bool,
}

impl Case<'_> {
    pub fn compile(&self) -> Pipeline {
        compile_shaders(self.vertex.clone(), Some(self.fragment.clone()), &self.state)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    pub fn run(&self) -> Pipeline {
        let pipeline = self.compile();
        let name = self.name;
        for program in [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment] {
            check_kernel(name, program);
        }
        for seed in 0..4 {
            let world = World { seed, integers: self.exact, points: self.state.points };
            self.check_vertex(&pipeline, &world);
            self.check_fragment(&pipeline, &world);
        }
        pipeline
    }

    pub fn check_vertex(&self, pipeline: &Pipeline, world: &World) {
        let name = self.name;
        let outcome = interp::run(self.vertex, &mut world.clone()).expect("the shader is interpretable");
        let vertex = world.run_vertex(pipeline, false).expect("the program runs");
        let coordinate = world.run_vertex(pipeline, true).expect("the program runs");
        check_effects(name, &vertex);
        check_effects(name, &coordinate);
        let header = 3 + usize::from(self.state.points);
        assert_eq!(vertex.rows[..header], coordinate.rows[4..], "{name}: the two programs disagree");
        let fragment = linked(self.vertex, self.fragment);
        let varyings = varyings(&fragment, &self.state);
        assert_eq!(vertex.rows.len(), header + varyings.len(), "{name}");
        let w = outcome.output(Output::Position(3));
        for (lane, (&found, &wanted)) in coordinate.rows[3].iter().zip(w.iter()).enumerate() {
            assert_close(&format!("{name}: Wc, element {lane}"), found, wanted, VERTEX_TOLERANCE);
        }
        for (row, varying) in vertex.rows[header..].iter().zip(&varyings) {
            let (location, component) = (varying.location, varying.component);
            let expected = outcome.output(Output::User { location, component });
            for lane in 0..LANES {
                let what =
                    format!("{name}, seed {}: varying {location}.{component}, element {lane}", world.seed);
                if self.exact {
                    assert_eq!(row[lane], expected[lane], "{what}");
                } else {
                    assert_close(&what, row[lane], expected[lane], VERTEX_TOLERANCE);
                }
            }
        }
    }

    /// R, G, B, A of a colour word.
    pub fn written(&self, word: u32) -> [u8; 4] {
        let mut bytes = word.to_le_bytes();
        if self.state.color.is_some_and(|color| color.format.name == "b8g8r8a8") {
            bytes.swap(0, 2);
        }
        bytes
    }

    pub fn check_fragment(&self, pipeline: &Pipeline, world: &World) {
        let name = self.name;
        let fragment = linked(self.vertex, self.fragment);
        let varyings = varyings(&fragment, &self.state);
        let flat: BTreeSet<(u32, u8)> = varyings
            .iter()
            .filter(|v| v.interpolation == Interpolation::Flat)
            .map(|v| (v.location, v.component))
            .collect();
        let mut environment = Fragments { world: world.clone(), flat };
        let outcome = interp::run(&fragment, &mut environment).expect("the shader is interpretable");
        let effects = world.run_fragment(pipeline, &varyings).expect("the program runs");
        check_effects(name, &effects);
        let clipped = outcome.floats(lower::distances::CLIPPED).map(|distance| distance < 0.0);
        let clipped = (0..LANES).fold(0, |mask, lane| mask | u16::from(clipped[lane]) << lane);
        let kept = !(outcome.discarded | clipped);
        let (mask, color) = effects.color.expect("every fragment program writes a colour");
        assert_eq!(mask, kept, "{name}: discarded elements");
        assert_eq!(effects.z.map(|z| z.0), Some(kept), "{name}: depth of discarded elements");
        let expected = [0, 1, 2, 3].map(|component| outcome.floats(Output::User { location: 0, component }));
        for lane in (0..LANES).filter(|lane| kept >> lane & 1 != 0) {
            for (byte, component) in self.written(color[lane]).iter().zip(expected) {
                // The machine has no NaN; shaders that make one from these inputs have no defined result.
                if component[lane].is_nan() {
                    continue;
                }
                let wanted = (component[lane].clamp(0.0, 1.0) * 255.0).round();
                let what = format!("{name}, seed {}: colour of element {lane}", world.seed);
                assert!(
                    (f32::from(*byte) - wanted).abs() <= 1.0,
                    "{what}: QPU {byte}, IR {wanted} ({})",
                    component[lane]
                );
            }
        }
    }
}

pub fn descriptor(binding: u32) -> Descriptor {
    Descriptor { set: 0, binding, element: 0 }
}

pub fn input(b: &mut Builder, location: u32, component: u8) -> Value {
    b.op(Op::LoadInput { location, component, interpolation: Interpolation::Smooth }, &[])
}

/// A vertex shader that writes the position from attribute 0 and makes w positive.
pub fn position(b: &mut Builder) {
    for n in 0..3 {
        let value = input(b, 0, n);
        b.store_output(Output::Position(n), value);
    }
    let (w, two) = (input(b, 0, 3), b.float(2.0));
    let w = b.op(Op::FAdd, &[w, two]);
    b.store_output(Output::Position(3), w);
}

/// A fragment shader that hands varying 0 through.
pub fn plain_fragment() -> Shader {
    shader(Stage::Fragment, |b| {
        for n in 0..4 {
            let value = input(b, 0, n);
            b.store_output(Output::User { location: 0, component: n }, value);
        }
    })
}

/// Runs a word function of four attribute words in the vertex stage and compares the words exactly.
pub fn check_words(name: &str, build: impl FnOnce(&mut Builder, [Value; 4]) -> [Value; 4]) {
    check_words_in(name, state(), build);
}

/// The same in a state.
pub fn check_words_in(
    name: &str,
    state: PipelineState,
    build: impl FnOnce(&mut Builder, [Value; 4]) -> [Value; 4],
) {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let words = [0, 1, 2, 3].map(|n| input(b, 1, n));
        for (component, value) in (0..).zip(build(b, words)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = plain_fragment();
    let case = Case { name, vertex: &vertex, fragment: &fragment, state, exact: true };
    let pipeline = case.compile();
    for seed in 0..64 {
        case.check_vertex(&pipeline, &World { seed, integers: true, points: false });
    }
}

/// Runs a float function of four attribute floats in the vertex stage.
pub fn check_floats(name: &str, build: impl FnOnce(&mut Builder, [Value; 4]) -> [Value; 4]) {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let words = [0, 1, 2, 3].map(|n| input(b, 1, n));
        for (component, value) in (0..).zip(build(b, words)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = plain_fragment();
    Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}
