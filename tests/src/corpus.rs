//! What the compiler makes of the shared shader corpus, beside what Mesa's compiler made of it: counts, the cost
//! model's slots and times. `cargo xtask bench compiler` prints it, the compiler suite holds the counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use vc4::qpu::{Cost, Inst};
use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::{PipelineState, VertexAttribute, compile_shaders};
use vc4_shaders::ir::{Op, Shader, Stage};
use vc4_shaders::program::Pipeline;
use vc4_shaders::spirv::{StageSource, translate};

use crate::shared;

/// The programs of a pipeline as the baseline names them.
pub const PROGRAMS: [&str; 3] = ["VS", "CS", "FS"];

/// What a program costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: u32,
    /// Words of the uniform stream.
    pub uniforms: u32,
    /// Slots that the cost model estimates (qpu.md §7).
    pub slots: u32,
    /// Threads, 1 or 2.
    pub threads: u32,
}

impl Counts {
    /// Of code, whoever compiled it.
    pub fn of(code: &[u64], uniforms: u32) -> Counts {
        let insts: Vec<Inst> = code.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
        let cost = Cost::of(&insts);
        let threads = if cost.threaded { 2 } else { 1 };
        Counts { instructions: code.len() as u32, uniforms, slots: cost.slots(), threads }
    }

    /// Of a pipeline's programs, in the order of [`PROGRAMS`].
    pub fn of_pipeline(pipeline: &Pipeline) -> [Counts; 3] {
        [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment]
            .map(|program| Counts::of(&program.code, program.uniforms.len() as u32))
    }

    /// These and others.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            instructions: self.instructions + other.instructions,
            uniforms: self.uniforms + other.uniforms,
            slots: self.slots + other.slots,
            threads: self.threads + other.threads,
        }
    }
}

/// What Mesa's compiler made of the corpus.
pub struct Baseline {
    /// Lines that say how and where it was measured.
    pub origin: Vec<String>,
    /// By shader and program. Slots are the cost model's for Mesa's words, not Mesa's own estimate.
    pub programs: BTreeMap<(String, String), Counts>,
    /// Microseconds that a shader took to link and to draw first, by name.
    pub compile_us: BTreeMap<String, f64>,
}

impl Baseline {
    /// Reads it from the shared inputs.
    ///
    /// # Panics
    /// If they are not there or not as their README says.
    pub fn read() -> Baseline {
        let corpus = shared::path("shader-corpus");
        let text = |file: &str| {
            std::fs::read_to_string(corpus.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        };
        let rows = |text: &str| -> Vec<Vec<String>> {
            let rows = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("shader\t"));
            rows.map(|line| line.split('\t').map(str::to_string).collect()).collect()
        };
        let (table, words) = (text("mesa-vc4-baseline.tsv"), text("mesa-vc4-programs.tsv"));
        let origin = table.lines().filter(|line| line.starts_with('#')).map(str::to_string).collect();
        let code: BTreeMap<(String, String), Vec<u64>> = rows(&words)
            .into_iter()
            .map(|row| {
                let words = row[2].split_whitespace();
                let words = words.map(|word| u64::from_str_radix(word, 16).expect("hexadecimal words"));
                ((row[0].clone(), row[1].clone()), words.collect())
            })
            .collect();
        let (mut programs, mut compile_us) = (BTreeMap::new(), BTreeMap::new());
        for row in rows(&table) {
            let key = (row[0].clone(), row[1].clone());
            let number = |column: usize| -> u32 { row[column].parse().expect("a count") };
            let counts = Counts::of(&code[&key], number(3));
            programs.insert(key, Counts { instructions: number(2), threads: number(4), ..counts });
            if let Some(time) = row.last().and_then(|time| time.parse().ok()) {
                compile_us.insert(row[0].clone(), time);
            }
        }
        Baseline { origin, programs, compile_us }
    }

    /// The shaders.
    pub fn names(&self) -> Vec<String> {
        self.compile_us.keys().cloned().collect()
    }
}

/// A pipeline of the corpus as SPIR-V.
pub struct Module {
    /// Vertex and fragment stage.
    pub words: [Vec<u32>; 2],
    /// It draws points.
    pub points: bool,
}

impl Module {
    /// Reads a stage pair `NAME.vert.spv`, `NAME.frag.spv`.
    ///
    /// # Errors
    /// The file that cannot be read.
    pub fn read(directory: &Path, name: &str) -> Result<Module, String> {
        let words = |stage: &str| -> Result<Vec<u32>, String> {
            let path = directory.join(format!("{name}.{stage}.spv"));
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
        };
        Ok(Module { words: [words("vert")?, words("frag")?], points: name == "point_sprite" })
    }

    /// Compiles a shader of the shared corpus to SPIR-V, in a directory for such files.
    ///
    /// # Errors
    /// What glslangValidator says, or that it is not there.
    pub fn from_corpus(directory: &Path, name: &str) -> Result<Module, String> {
        let sources = shared::path("shader-corpus").join(name);
        Module::from_files(directory, name, ["vert", "frag"].map(|stage| sources.join(format!("vk.{stage}"))))
    }

    /// Compiles GLSL, vertex and fragment stage, to SPIR-V.
    ///
    /// # Errors
    /// What glslangValidator says, or that it is not there.
    pub fn from_source(directory: &Path, name: &str, sources: [&str; 2]) -> Result<Module, String> {
        let paths = ["vert", "frag"].map(|stage| directory.join(format!("{name}.{stage}")));
        for (path, source) in paths.iter().zip(sources) {
            std::fs::write(path, source).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Module::from_files(directory, name, paths)
    }

    fn from_files(directory: &Path, name: &str, sources: [PathBuf; 2]) -> Result<Module, String> {
        for (stage, source) in ["vert", "frag"].iter().zip(&sources) {
            let run = Command::new("glslangValidator")
                .arg("-V")
                .arg("-o")
                .arg(directory.join(format!("{name}.{stage}.spv")))
                .arg(source)
                .output()
                .map_err(|error| format!("glslangValidator: {error} (package glslang-tools)"))?;
            if !run.status.success() {
                return Err(format!("{name}: {}", String::from_utf8_lossy(&run.stdout)));
            }
        }
        Module::read(directory, name)
    }

    /// The pipeline in the baseline's state: RGBA8 colour, depth test, no blending, float attributes.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(&self) -> Result<Pipeline, String> {
        let stage = |words: &[u32], stage| {
            let source = StageSource { words, entry: "main", specialization: &[] };
            translate(&source, stage).map_err(|error| error.to_string())
        };
        let vertex = stage(&self.words[0], Stage::Vertex)?;
        let fragment = stage(&self.words[1], Stage::Fragment)?;
        let state = PipelineState {
            attributes: attributes(&vertex),
            points: self.points,
            color: Some(ColorOutput::plain(vc4::image::format::Format::R8G8B8A8.info(), false)),
            depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
            ..PipelineState::default()
        };
        compile_shaders(vertex, Some(fragment), &state).map_err(|error| error.to_string())
    }
}

/// Float attributes of as many components as the shader reads.
fn attributes(vertex: &Shader) -> Vec<VertexAttribute> {
    let mut components: BTreeMap<u32, u8> = BTreeMap::new();
    for inst in vertex.insts_in_order() {
        if let Op::LoadInput { location, component, .. } = vertex.insts[inst].op {
            let count = components.entry(location).or_default();
            *count = (*count).max(component + 1);
        }
    }
    let format =
        |count| VertexFormat { packing: Packing::Words(count), numeric: Numeric::Float, swap_rb: false };
    components
        .into_iter()
        .map(|(location, count)| VertexAttribute { location, format: format(count), per_instance: false })
        .collect()
}
