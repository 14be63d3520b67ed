//! Generated code against the IR interpreter: every shader is interpreted as it came from the front end, and its
//! programs run on the simulated QPU. The kernel's validator and the machine's rules look at every program, too.

#[path = "compiler/world.rs"]
mod world;

use std::collections::BTreeSet;

use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_kernel_abi::validate::{self, Mode};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::interp;
use vc4_shaders::ir::{
    Builder, BuiltinInput, ImageDim, Interpolation, Lod, Op, Output, Shader, Stage, Value,
};
use vc4_shaders::pass::{self, lower_inputs, lower_outputs};
use vc4_shaders::program::{Descriptor, Pipeline, Program};
use world::{Effects, Fragments, World};

const LANES: usize = vc4::hw::LANES;

/// A shader of one block.
fn shader(stage: Stage, build: impl FnOnce(&mut Builder)) -> Shader {
    let mut shader = Shader::new(stage);
    let block = shader.entry().expect("a new shader has a block");
    build(&mut Builder::new(&mut shader, block));
    shader
}

/// RGBA8, depth test, sixteen float vec4 attributes.
fn state() -> PipelineState {
    let format = VertexFormat { packing: Packing::Words(4), numeric: Numeric::Float, swap_rb: false };
    PipelineState {
        attributes: (0..16)
            .map(|location| VertexAttribute { location, format, per_instance: false })
            .collect(),
        color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
        depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
        ..Default::default()
    }
}

/// The varyings of a fragment shader in hardware order, found as the compiler finds them.
fn varyings(fragment: &Shader, state: &PipelineState) -> Vec<lower_inputs::Varying> {
    let mut fragment = fragment.clone();
    pass::optimize(&mut fragment);
    pass::lower_control(&mut fragment);
    lower_outputs::fragment(&mut fragment, state).expect("it compiled before");
    pass::optimize(&mut fragment);
    lower_inputs::fragment(&mut fragment, state).expect("it compiled before").varyings
}

fn check_kernel(name: &str, program: &Program) {
    let info = validate::shader::validate(&program.code, Mode::Strict)
        .unwrap_or_else(|violation| panic!("{name}: the kernel refuses the program: {violation:?}"));
    assert_eq!(info.uniforms_size as usize, 4 * program.uniforms.len(), "{name}: stream length");
    assert_eq!(info.samples.len(), program.samples.len(), "{name}: requests");
    assert_eq!(info.threaded, program.threaded, "{name}: threads");
}

fn check_effects(name: &str, effects: &Effects) {
    assert_eq!(effects.findings, [], "{name}: broken rules");
}

/// Values agree to a few units of single precision.
fn assert_close(what: &str, actual: u32, expected: u32, tolerance: f32) {
    let (a, e) = (f32::from_bits(actual), f32::from_bits(expected));
    let close =
        actual == expected || (a - e).abs() <= tolerance * e.abs().max(1.0) || (a.is_nan() && e.is_nan());
    assert!(close, "{what}: QPU {a} ({actual:#010x}), IR {e} ({expected:#010x})");
}

/// Tolerance of vertex results, relative to the larger of the value and one: sums truncate.
const VERTEX_TOLERANCE: f32 = 3e-6;

struct Case<'a> {
    name: &'a str,
    vertex: &'a Shader,
    fragment: &'a Shader,
    state: PipelineState,
    /// Outputs are words to be compared exactly.
    exact: bool,
}

impl Case<'_> {
    fn compile(&self) -> Pipeline {
        compile_shaders(self.vertex.clone(), Some(self.fragment.clone()), &self.state)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn run(&self) -> Pipeline {
        let pipeline = self.compile();
        let name = self.name;
        for program in [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment] {
            check_kernel(name, program);
        }
        for seed in 0..4 {
            let world = World { seed, integers: self.exact };
            self.check_vertex(&pipeline, &world);
            self.check_fragment(&pipeline, &world);
        }
        pipeline
    }

    fn check_vertex(&self, pipeline: &Pipeline, world: &World) {
        let name = self.name;
        let outcome = interp::run(self.vertex, &mut world.clone()).expect("the shader is interpretable");
        let vertex = world.run_vertex(pipeline, false).expect("the program runs");
        let coordinate = world.run_vertex(pipeline, true).expect("the program runs");
        check_effects(name, &vertex);
        check_effects(name, &coordinate);
        let header = 3 + usize::from(self.state.points);
        assert_eq!(vertex.rows[..header], coordinate.rows[4..], "{name}: the two programs disagree");
        let varyings = varyings(self.fragment, &self.state);
        assert_eq!(vertex.rows.len(), header + varyings.len(), "{name}");
        let w = outcome.output(Output::Position(3));
        for lane in 0..LANES {
            assert_close(
                &format!("{name}: Wc, element {lane}"),
                coordinate.rows[3][lane],
                w[lane],
                VERTEX_TOLERANCE,
            );
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

    fn check_fragment(&self, pipeline: &Pipeline, world: &World) {
        let name = self.name;
        let varyings = varyings(self.fragment, &self.state);
        let flat: BTreeSet<u32> =
            varyings.iter().filter(|v| v.interpolation == Interpolation::Flat).map(|v| v.location).collect();
        let mut environment = Fragments { world: world.clone(), flat };
        let outcome = interp::run(self.fragment, &mut environment).expect("the shader is interpretable");
        let effects = world.run_fragment(pipeline, &varyings).expect("the program runs");
        check_effects(name, &effects);
        let kept = !outcome.discarded;
        let (mask, color) = effects.color.expect("every fragment program writes a colour");
        assert_eq!(mask, kept, "{name}: discarded elements");
        assert_eq!(effects.z.map(|z| z.0), Some(kept), "{name}: depth of discarded elements");
        let expected = [0, 1, 2, 3].map(|component| outcome.floats(Output::User { location: 0, component }));
        for lane in (0..LANES).filter(|lane| kept >> lane & 1 != 0) {
            for (byte, component) in color[lane].to_le_bytes().iter().zip(expected) {
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

fn descriptor(binding: u32) -> Descriptor {
    Descriptor { set: 0, binding, element: 0 }
}

fn input(b: &mut Builder, location: u32, component: u8) -> Value {
    b.op(Op::LoadInput { location, component, interpolation: Interpolation::Smooth }, &[])
}

/// A vertex shader that writes the position from attribute 0 and makes w positive.
fn position(b: &mut Builder) {
    for n in 0..3 {
        let value = input(b, 0, n);
        b.store_output(Output::Position(n), value);
    }
    let (w, two) = (input(b, 0, 3), b.float(2.0));
    let w = b.op(Op::FAdd, &[w, two]);
    b.store_output(Output::Position(3), w);
}

/// A fragment shader that hands varying 0 through.
fn plain_fragment() -> Shader {
    shader(Stage::Fragment, |b| {
        for n in 0..4 {
            let value = input(b, 0, n);
            b.store_output(Output::User { location: 0, component: n }, value);
        }
    })
}

/// Runs a word function of four attribute words in the vertex stage and compares the words exactly.
fn check_words(name: &str, build: impl FnOnce(&mut Builder, [Value; 4]) -> [Value; 4]) {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let words = [0, 1, 2, 3].map(|n| input(b, 1, n));
        for (component, value) in (0..).zip(build(b, words)) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = plain_fragment();
    let case = Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: true };
    let pipeline = case.compile();
    for seed in 0..64 {
        case.check_vertex(&pipeline, &World { seed, integers: true });
    }
}

/// Runs a float function of four attribute floats in the vertex stage.
fn check_floats(name: &str, build: impl FnOnce(&mut Builder, [Value; 4]) -> [Value; 4]) {
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

#[test]
fn pass_through() {
    check_floats("pass_through", |_, words| words);
}

#[test]
fn integer_arithmetic() {
    check_words("products", |b, [x, y, z, w]| {
        let wide = b.op(Op::IMul, &[x, y]);
        let other = b.op(Op::IMul, &[z, w]);
        let constant = b.word(1_000_003);
        let scaled = b.op(Op::IMul, &[x, constant]);
        let mask = b.word(0xffff);
        let (low, lower) = (b.op(Op::And, &[x, mask]), b.op(Op::And, &[y, mask]));
        [wide, other, scaled, b.op(Op::IMul, &[low, lower])]
    });
    check_words("unsigned division", |b, [x, y, z, w]| {
        let one = b.word(1);
        let (y, w) = (b.op(Op::Or, &[y, one]), b.op(Op::Or, &[w, one]));
        [b.op(Op::UDiv, &[x, y]), b.op(Op::UMod, &[x, y]), b.op(Op::UDiv, &[z, w]), b.op(Op::UMod, &[w, y])]
    });
    check_words("signed division", |b, [x, y, z, w]| {
        let one = b.word(1);
        let (y, w) = (b.op(Op::Or, &[y, one]), b.op(Op::Or, &[w, one]));
        [b.op(Op::SDiv, &[x, y]), b.op(Op::SRem, &[x, y]), b.op(Op::SMod, &[z, w]), b.op(Op::SDiv, &[z, y])]
    });
    check_words("logic and shifts", |b, [x, y, z, w]| {
        let shifted = b.op(Op::Shl, &[x, y]);
        let asr = b.op(Op::Asr, &[z, w]);
        let mixed = b.op(Op::Xor, &[shifted, asr]);
        let clz = b.op(Op::Clz, &[mixed]);
        let not = b.op(Op::Not, &[mixed]);
        [mixed, clz, b.op(Op::Shr, &[not, clz]), b.op(Op::ISub, &[x, not])]
    });
}

#[test]
fn comparisons() {
    check_words("word comparisons", |b, [x, y, z, w]| {
        let ops = [Op::IEq, Op::INe, Op::SLt, Op::SLe, Op::ULt, Op::ULe];
        let mut sum = b.word(0);
        for (n, op) in (0..).zip(ops) {
            for (m, pair) in (0..).zip([[x, y], [z, w], [x, x], [w, x]]) {
                let truth = b.op(op, &pair);
                let (yes, no) = (b.word(1 << (4 * n + m)), b.word(0));
                let bit = b.select(truth, yes, no);
                sum = b.op(Op::Or, &[sum, bit]);
            }
        }
        let smaller = b.op(Op::UMin, &[x, y]);
        let larger = b.op(Op::UMax, &[z, w]);
        [sum, smaller, larger, b.op(Op::SMax, &[y, z])]
    });
    check_words("truth values", |b, [x, y, z, w]| {
        let less = b.op(Op::SLt, &[x, y]);
        let below = b.op(Op::ULt, &[z, w]);
        let both = b.op(Op::BAnd, &[less, below]);
        let either = b.op(Op::BOr, &[less, below]);
        let one_of = b.op(Op::BXor, &[both, below]);
        let neither = b.op(Op::BNot, &[either]);
        let choice = b.select(one_of, less, neither);
        [b.select(both, x, y), b.select(either, z, w), b.select(neither, x, w), b.select(choice, y, z)]
    });
}

#[test]
fn float_operations() {
    check_floats("division and roots", |b, [x, y, z, w]| {
        let two = b.float(2.5);
        let (away, square) = (b.op(Op::FAdd, &[y, two]), b.op(Op::FMul, &[z, z]));
        let quotient = b.op(Op::FDiv, &[x, away]);
        let root = b.op(Op::FSqrt, &[square]);
        let positive = b.op(Op::FAdd, &[square, two]);
        let rsqrt = b.op(Op::FRsqrt, &[positive]);
        [quotient, root, rsqrt, b.op(Op::FDiv, &[w, two])]
    });
    check_floats("exponentials", |b, [x, y, z, _]| {
        let three = b.float(3.0);
        let large = b.op(Op::FMul, &[x, three]);
        let exp = b.op(Op::FExp2, &[large]);
        let positive = b.op(Op::FAdd, &[y, three]);
        let log = b.op(Op::FLog2, &[positive]);
        let product = b.op(Op::FMul, &[log, z]);
        [exp, log, b.op(Op::FExp2, &[product]), b.op(Op::FLog2, &[exp])]
    });
    check_floats("rounding", |b, [x, y, z, w]| {
        let seven = b.float(7.5);
        let [x, y, z, w] = [x, y, z, w].map(|v| b.op(Op::FMul, &[v, seven]));
        [b.op(Op::FFloor, &[x]), b.op(Op::FCeil, &[y]), b.op(Op::FTrunc, &[z]), b.op(Op::FRoundEven, &[w])]
    });
    check_floats("signs", |b, [x, y, z, w]| {
        let magnitude = b.op(Op::FAbs, &[x]);
        let negative = b.op(Op::FNeg, &[y]);
        [b.op(Op::FSign, &[z]), magnitude, negative, b.op(Op::FMax, &[w, negative])]
    });
    check_floats("float comparisons", |b, [x, y, z, w]| {
        [Op::FLt, Op::FLe, Op::FEq, Op::FNe].map(|op| {
            let truth = b.op(op, &[x, y]);
            b.select(truth, z, w)
        })
    });
}

#[test]
fn trigonometry_is_within_the_allowed_error() {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let four = b.float(4.0);
        for (component, op) in [(0, Op::FSin), (1, Op::FCos)] {
            let angle = input(b, 1, component);
            let angle = b.op(Op::FMul, &[angle, four]);
            let value = b.op(op, &[angle]);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let fragment = plain_fragment();
    let case =
        Case { name: "trigonometry", vertex: &vertex, fragment: &fragment, state: state(), exact: false };
    let pipeline = case.compile();
    for seed in 0..16 {
        let world = World { seed, integers: false };
        let outcome = interp::run(&vertex, &mut world.clone()).expect("interpretable");
        let rows = world.run_vertex(&pipeline, false).expect("runs").rows;
        for component in 0..2 {
            let expected = outcome.floats(Output::User { location: 0, component });
            for lane in 0..LANES {
                let actual = f32::from_bits(rows[3 + usize::from(component)][lane]);
                // vulkan-on-vc4.md §9: 2^-11 in [-π, π].
                assert!((actual - expected[lane]).abs() < 1.0 / 2048.0, "{actual} for {}", expected[lane]);
            }
        }
    }
}

/// Positions pulled from a uniform buffer by vertex index, a textured, shaded fragment.
fn cube() -> (Shader, Shader) {
    let ubo = descriptor(0);
    let vertex = shader(Stage::Vertex, |b| {
        let index = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
        let four = b.word(4);
        let offset = b.op(Op::Shl, &[index, four]);
        let position: Vec<Value> = (0..4)
            .map(|n| {
                let base = b.word(64 + 4 * n);
                let at = b.op(Op::IAdd, &[offset, base]);
                b.op(Op::LoadUboDynamic(ubo), &[at])
            })
            .collect();
        for row in 0..4u32 {
            let mut sum = b.float(if row == 3 { 5.0 } else { 0.0 });
            for (column, &p) in (0..).zip(&position) {
                let m = b.op(Op::LoadUbo { buffer: ubo, offset: 16 * column + 4 * row }, &[]);
                let product = b.op(Op::FMul, &[m, p]);
                sum = b.op(Op::FAdd, &[sum, product]);
            }
            b.store_output(Output::Position(row as u8), sum);
        }
        for (n, &p) in (0..).zip(&position) {
            b.store_output(Output::User { location: 0, component: n }, p);
        }
    });
    let fragment = shader(Stage::Fragment, |b| {
        let uv: Vec<Value> = (0..2).map(|c| input(b, 0, c)).collect();
        let (dx, dy) = (b.op(Op::Ddx, &[uv[0]]), b.op(Op::Ddy, &[uv[1]]));
        let difference = b.op(Op::FSub, &[dx, dy]);
        let sixteen = b.float(16.0);
        let shade = b.op(Op::FMul, &[difference, sixteen]);
        let texel = b.emit(Op::Sample { image: descriptor(1), dim: ImageDim::D2, lod: Lod::Auto }, &uv);
        for (n, &c) in (0..).zip(&texel) {
            let c = if n < 3 { b.op(Op::FMul, &[c, shade]) } else { c };
            b.store_output(Output::User { location: 0, component: n }, c);
        }
    });
    (vertex, fragment)
}

#[test]
fn cube_shaders() {
    let (vertex, fragment) = cube();
    Case { name: "cube", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

#[test]
fn discard_and_builtins() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let value = input(b, 3, 1);
        let zero = b.float(0.0);
        let gone = b.op(Op::FLt, &[value, zero]);
        b.discard_if(gone);
        let front = b.op(Op::LoadBuiltin(BuiltinInput::FrontFacing), &[]);
        let x = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(0)), &[]);
        let scale = b.float(1.0 / 512.0);
        let x = b.op(Op::FMul, &[x, scale]);
        let y = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(1)), &[]);
        let y = b.op(Op::FMul, &[y, scale]);
        let z = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(2)), &[]);
        let w = b.op(Op::LoadBuiltin(BuiltinInput::FragCoord(3)), &[]);
        let quarter = b.float(0.25);
        let w = b.op(Op::FMul, &[w, quarter]);
        let red = b.select(front, x, y);
        for (component, value) in (0..).zip([red, z, w, value]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    Case { name: "discard", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

#[test]
fn images() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let coordinates: Vec<Value> = (0..3).map(|c| input(b, 0, c)).collect();
        let mut sum: Vec<Value> = (0..4).map(|_| b.float(0.0)).collect();
        let weight = b.float(0.125);
        let lod = b.float(0.0);
        for n in 0..6 {
            let binding = if n % 3 == 2 { 101 + 2 * n } else { 10 + n };
            let dim = if n % 3 == 2 { ImageDim::Cube } else { ImageDim::D2 };
            let mode = [Lod::Auto, Lod::Bias, Lod::Explicit][n as usize % 3];
            let mut args = coordinates[..dim.coordinates()].to_vec();
            if mode != Lod::Auto {
                args.push(lod);
            }
            let texel = b.emit(Op::Sample { image: descriptor(binding), dim, lod: mode }, &args);
            for (sum, &c) in sum.iter_mut().zip(&texel) {
                let part = b.op(Op::FMul, &[c, weight]);
                *sum = b.op(Op::FAdd, &[*sum, part]);
            }
        }
        let (one, level) = (b.word(1), b.word(0));
        let texel = b.emit(Op::Fetch { image: descriptor(10), dim: ImageDim::D2 }, &[one, one, level]);
        for (n, (&sum, &c)) in (0..).zip(sum.iter().zip(&texel)) {
            let value = b.op(Op::FMax, &[sum, c]);
            b.store_output(Output::User { location: 0, component: n }, value);
        }
    });
    Case { name: "images", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

/// A SPIR-V stage of a committed or freshly compiled module.
fn translate(path: impl AsRef<std::path::Path>, stage: Stage) -> Result<Shader, String> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let source = vc4_shaders::spirv::StageSource { words: &words, entry: "main", specialization: &[] };
    vc4_shaders::spirv::translate(&source, stage).map_err(|error| format!("{}: {error}", path.display()))
}

/// Directories of committed pipelines, each a `.vert.spv` beside a `.frag.spv`.
fn committed_pipelines() -> Vec<(String, Shader, Shader)> {
    let shaders = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = Vec::new();
    for directory in [shaders.clone(), shaders.join("corpus")] {
        let entries = std::fs::read_dir(&directory).expect("the shaders are committed");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
        paths.sort();
        for path in paths {
            let Some(name) = path.to_string_lossy().strip_suffix(".vert.spv").map(str::to_string) else {
                continue;
            };
            let vertex = translate(&path, Stage::Vertex).expect("committed shaders are valid");
            let fragment =
                translate(&format!("{name}.frag.spv"), Stage::Fragment).expect("so is the other stage");
            let name = name.rsplit('/').next().expect("a path has a name").to_string();
            found.push((name, vertex, fragment));
        }
    }
    found
}

/// Loops and branches that no pass can unroll: the shaders of `control` with one vertex stage.
#[test]
fn control_flow() {
    let shaders = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders/control");
    let vertex =
        translate(shaders.join("plain.vert.spv"), Stage::Vertex).expect("committed shaders are valid");
    for name in ["uniform_loop", "divergent_loop", "nested_loop"] {
        let path = shaders.join(format!("{name}.frag.spv"));
        let fragment = translate(path, Stage::Fragment).expect("committed shaders are valid");
        check_lowered_control(name, &fragment);
        Case { name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
    }
}

/// Lowering control flow changes nothing that the interpreter can see.
fn check_lowered_control(name: &str, fragment: &Shader) {
    let mut lowered = fragment.clone();
    pass::optimize(&mut lowered);
    pass::lower_control(&mut lowered);
    assert!(lowered.body.len() > 1, "{name}: the loop is gone");
    for seed in 0..16 {
        let world = || Fragments { world: World { seed, integers: false }, flat: BTreeSet::new() };
        let before = interp::run(fragment, &mut world()).expect("interpretable");
        let after = interp::run(&lowered, &mut world()).expect("interpretable");
        assert_eq!(before.discarded, after.discarded, "{name}, seed {seed}: discarded elements");
        for (output, lanes) in &before.outputs {
            for lane in (0..LANES).filter(|lane| before.discarded >> lane & 1 == 0) {
                assert_eq!(
                    lanes[lane],
                    after.output(*output)[lane],
                    "{name}, seed {seed}: {output:?}, element {lane}"
                );
            }
        }
    }
}

#[test]
fn committed_shaders() {
    for (name, vertex, fragment) in committed_pipelines() {
        Case { name: &name, vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
    }
}

/// Instruction and uniform counts of every shader of the shared corpus beside those of the baseline, as a table:
/// `cargo test -p vc4-tests --test compiler -- --ignored --nocapture measure_corpus`.
#[test]
#[ignore = "reads the shared corpus and needs glslangValidator"]
fn measure_corpus() {
    let corpus = vc4_tests::shared::path("shader-corpus");
    let baseline =
        std::fs::read_to_string(corpus.join("mesa-vc4-baseline.tsv")).expect("the baseline is there");
    let count_of = |name: &str, stage: &str| -> Option<[u32; 2]> {
        let row = baseline.lines().find(|line| line.starts_with(&format!("{name}\t{stage}\t")))?;
        let mut fields = row.split('\t').skip(2);
        Some([fields.next()?.parse().ok()?, fields.next()?.parse().ok()?])
    };
    let mut names: Vec<String> = baseline
        .lines()
        .filter_map(|line| line.split_once("\tFS\t").map(|(name, _)| name.to_string()))
        .collect();
    names.sort();
    let directory = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (mut total, mut total_baseline, mut failures) = (0, 0, Vec::new());
    for name in &names {
        let stage = |extension: &str, stage| {
            let out = directory.join(format!("{name}.{extension}.spv"));
            let source = corpus.join(name).join(format!("vk.{extension}"));
            let run = std::process::Command::new("glslangValidator")
                .arg("-V")
                .arg("-o")
                .arg(&out)
                .arg(source)
                .output();
            assert!(run.expect("glslangValidator is installed").status.success());
            translate(&out, stage)
        };
        let compiled = stage("vert", Stage::Vertex).and_then(|vertex| {
            let fragment = stage("frag", Stage::Fragment)?;
            let state = PipelineState { points: name == "point_sprite", ..state() };
            let start = std::time::Instant::now();
            let pipeline =
                compile_shaders(vertex, Some(fragment), &state).map_err(|error| error.to_string())?;
            Ok((pipeline, start.elapsed()))
        });
        let (pipeline, time) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let mut line = format!("{name:20}");
        for (stage, program) in
            [("VS", &pipeline.vertex), ("CS", &pipeline.coordinate), ("FS", &pipeline.fragment)]
        {
            check_kernel(name, program);
            let [instructions, uniforms] = count_of(name, stage).expect("the baseline has every program");
            let ours = program.code.len() as u32;
            total += ours;
            total_baseline += instructions;
            line += &format!(
                " | {stage} {ours:4} / {instructions:4}, uniforms {:3} / {uniforms:3}",
                program.uniforms.len()
            );
        }
        println!("{line} | {} us", time.as_micros());
    }
    println!("total {total} / {total_baseline}");
    for failure in failures {
        println!("FAILED {failure}");
    }
}
