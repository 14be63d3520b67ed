//! Running the SPIR-V files of `tests/spirv` through translation, optimisation and the interpreter.

use std::collections::BTreeMap;

use vc4_shaders::ir::interp::{Environment, Outcome, SampleRequest, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{BuiltinInput, Fetch, Output, Shader, Stage};
use vc4_shaders::pass;
use vc4_shaders::program::Descriptor;
use vc4_shaders::spirv::{StageSource, translate};

/// One word per element.
pub type Lanes = [u32; 16];

/// Everything that a shader may see.
#[derive(Clone, Default)]
pub struct World {
    pub inputs: BTreeMap<(u32, u8), Lanes>,
    pub builtins: Vec<(BuiltinInput, Lanes)>,
    pub ubos: BTreeMap<Descriptor, Vec<u32>>,
    pub push: Vec<u32>,
}

/// Sixteen floats as words.
pub fn floats(f: impl Fn(usize) -> f32) -> Lanes {
    std::array::from_fn(|lane| f(lane).to_bits())
}

/// Sixteen integers as words.
pub fn ints(f: impl Fn(usize) -> i32) -> Lanes {
    std::array::from_fn(|lane| f(lane) as u32)
}

/// The made-up texel of a sample: depends on everything that the operation is given.
pub fn texel(binding: u32, element: u32, lod: Option<f32>, coordinates: &[f32], component: usize) -> f32 {
    let mut sum = binding as f32 + 10.0 * element as f32 + lod.unwrap_or(0.5) * 3.0;
    for (at, coordinate) in coordinates.iter().enumerate() {
        sum += coordinate * (at as f32 + 1.0);
    }
    sum * (component as f32 + 1.0)
}

impl Environment for World {
    fn input(&mut self, location: u32, component: u8) -> Lanes {
        *self.inputs.get(&(location, component)).unwrap_or_else(|| panic!("no input {location}.{component}"))
    }

    fn builtin(&mut self, builtin: BuiltinInput) -> Lanes {
        let found = self.builtins.iter().find(|(known, _)| *known == builtin);
        found.unwrap_or_else(|| panic!("no built-in {builtin:?}")).1
    }

    fn ubo(&mut self, buffer: Descriptor, offset: u32) -> u32 {
        assert_eq!(offset % 4, 0);
        self.ubos[&buffer][offset as usize / 4]
    }

    fn push(&mut self, offset: u32) -> u32 {
        self.push[offset as usize / 4]
    }

    fn sample(&mut self, request: &SampleRequest) -> [Lanes; 4] {
        let Descriptor { set, binding, element } = request.sample.texture.image;
        assert_eq!((set, request.sample.texture.sampler), (2, Some(request.sample.texture.image)));
        assert_eq!(request.rest.len(), request.sample.lod_arguments());
        std::array::from_fn(|component| {
            floats(|lane| {
                let at: Vec<f32> = request.coordinates.iter().map(|c| f32::from_bits(c[lane])).collect();
                let lod = request.rest.first().map(|lod| f32::from_bits(lod[lane]));
                texel(binding, element, lod, &at, component)
            })
        })
    }

    fn fetch(&mut self, fetch: Fetch, arguments: &[Lanes], _active: u16) -> [Lanes; 4] {
        let image = fetch.image;
        assert_eq!(arguments.len(), fetch.coordinates() + 1);
        std::array::from_fn(|component| {
            floats(|lane| {
                let at: Vec<f32> = arguments.iter().map(|c| c[lane] as i32 as f32).collect();
                texel(image.binding, image.element, None, &at, component)
            })
        })
    }
}

/// The words of a file in `tests/spirv`.
pub fn words(name: &str) -> Vec<u32> {
    let path = format!("{}/tests/spirv/{name}.spv", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Translates a file of `tests/spirv`; its stage follows from its name.
pub fn shader(name: &str, specialization: &[(u32, u32)]) -> Shader {
    let stage = if name.contains(".vert") { Stage::Vertex } else { Stage::Fragment };
    let words = words(name);
    let source = StageSource { words: &words, entry: "main", specialization };
    let shader = translate(&source, stage).unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Err(error) = verify(&shader) {
        panic!("{name}: {error}\n{shader}");
    }
    shader
}

/// The outcomes of a file, as translated and after optimisation; also of its form that spirv-opt made, if there is one.
pub fn outcomes(name: &str, world: &World, specialization: &[(u32, u32)]) -> Vec<(String, Outcome)> {
    let mut names = vec![name.to_string()];
    let other = format!("{name}.opt");
    if std::path::Path::new(&format!("{}/tests/spirv/{other}.spv", env!("CARGO_MANIFEST_DIR"))).exists() {
        names.push(other);
    }
    let mut all = Vec::new();
    for name in names {
        let mut shader = shader(&name, specialization);
        all.push((format!("{name}, translated"), run(&shader, &mut world.clone()).unwrap()));
        pass::optimize(&mut shader);
        all.push((format!("{name}, optimised"), run(&shader, &mut world.clone()).unwrap()));
    }
    all
}

/// A component of a user output.
pub fn user(location: u32, component: u8) -> Output {
    Output::User { location, component }
}

/// Compares float outputs, four to a location, with expected values per element.
pub fn expect_floats(name: &str, world: &World, tolerance: f64, expected: impl Fn(usize) -> Vec<f64>) {
    for (what, outcome) in outcomes(name, world, &[]) {
        for lane in 0..16 {
            for (at, want) in expected(lane).into_iter().enumerate() {
                let output = user(at as u32 / 4, (at % 4) as u8);
                let got = f64::from(outcome.floats(output)[lane]);
                let fine =
                    (got - want).abs() <= tolerance * want.abs().max(1.0) || got.is_nan() && want.is_nan();
                assert!(fine, "{what}, element {lane}, {output:?}: {got} instead of {want}");
            }
        }
    }
}

/// Compares integer outputs, four to a location from `first` on, with expected values per element.
pub fn expect_ints(name: &str, world: &World, expected: impl Fn(usize) -> Vec<i64>) {
    for (what, outcome) in outcomes(name, world, &[]) {
        for lane in 0..16 {
            for (at, want) in expected(lane).into_iter().enumerate() {
                let output = user(at as u32 / 4, (at % 4) as u8);
                let got = outcome.output(output)[lane];
                assert_eq!(got, want as u32, "{what}, element {lane}, {output:?}: {} expected", want as i32);
            }
        }
    }
}
