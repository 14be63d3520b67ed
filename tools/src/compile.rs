//! `vc4 compile`

mod kernel;
mod listing;
mod module;
mod passes;
mod state;
mod temps;

use crate::input;
use crate::output::{self, Error, Status};
use module::Module;
use state::Settings;
use std::path::PathBuf;
use vc4::qpu::{Cost, Inst};
use vc4_shaders::compile::{
    CompileError, PipelineState, ProgramKind, Varying, compile_shaders, compile_vertex,
};
use vc4_shaders::file;
use vc4_shaders::ir::{Interpolation, Op, Output, Shader, Stage};
use vc4_shaders::program::{Pipeline, Program};
use vc4_shaders::spirv::{SpirvError, StageSource, translate};

pub use listing::listing;

const EXAMPLES: &str = "\
Examples:
  vc4 compile cube.vert.spv cube.frag.spv                 what the programs cost
  vc4 compile --asm cube.vert.spv cube.frag.spv           the assembly with the meaning of every uniform
  vc4 compile --stats tsv --name cube cube.*.spv          one row per program, for tables
  vc4 compile --ir lower_float cube.frag.spv              the shader as it left a pass (all: every pass)
  vc4 compile --state blend.state -o cube.vc4p cube.*.spv a file for `vc4 inspect`
  vc4 compile --asm blur.comp.spv                         the machine code of a compute stage, which the CPU runs

A vertex stage alone hands out all its outputs; with a fragment stage only those that it reads.
";

/// A form of the statistics.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Stats {
    /// Tab-separated, a header and a row per program
    Tsv,
}

/// A pipeline stage.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum StageName {
    Vertex,
    Fragment,
    Compute,
}

impl StageName {
    fn stage(self) -> Stage {
        match self {
            StageName::Vertex => Stage::Vertex,
            StageName::Fragment => Stage::Fragment,
            StageName::Compute => Stage::Compute,
        }
    }
}

#[derive(clap::Args)]
#[command(after_help = format!("{EXAMPLES}\n{}", state::HELP))]
pub struct Options {
    /// SPIR-V modules: a vertex stage, a fragment stage, both, or a compute stage; `-` is standard input
    #[arg(required = true, num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// Only this stage
    #[arg(long, value_enum)]
    stage: Option<StageName>,
    /// Name of the entry points; without, the first of each stage
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Pipeline state (see below)
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Name in the statistics; without, the first file's
    #[arg(long)]
    name: Option<String>,
    /// Statistics in this form
    #[arg(long, value_enum)]
    stats: Option<Stats>,
    /// Print the programs as assembly, with uniform meanings and slots
    #[arg(long)]
    asm: bool,
    /// Print the shader as it left this pass; `all` for every pass
    #[arg(long, value_name = "PASS")]
    ir: Option<String>,
    /// Write the programs to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A stage's module and entry point.
struct Source<'a> {
    module: &'a Module,
    entry: String,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let modules = options.files.iter().map(|file| Module::read(file)).collect::<Result<Vec<_>, _>>()?;
    let settings = settings(options)?;
    if options.ir.is_some() {
        passes::collect();
    }
    if kernel::is_meant(options, &modules) {
        return kernel::run(options, &modules, &settings);
    }
    let vertex = source(options, &modules, Stage::Vertex)?;
    let fragment = source(options, &modules, Stage::Fragment)?;
    let inputs = vertex.as_ref().map(|source| source.module.inputs()).unwrap_or_default();
    let state = settings.state(&inputs);
    let mut sources = String::new();
    let mut shader = |source: &Option<Source<'_>>, stage| {
        source.as_ref().map(|source| read(source, stage, &settings, &mut sources)).transpose()
    };
    let (vertex, fragment) = (shader(&vertex, Stage::Vertex)?, shader(&fragment, Stage::Fragment)?);
    // A stage that only completes the pipeline is not the user's.
    let lone_fragment = vertex.is_none();
    let compiled = compile(vertex, fragment, &state);
    // What the passes before a failure did is worth seeing too.
    let mut out = match &options.ir {
        Some(pass) if pass == "translate" => sources,
        Some(pass) => {
            passes::collected(pass, |stage| stage != "Vertex" || !lone_fragment).map_err(Error::Input)?
        }
        None => String::new(),
    };
    let pipeline = compiled.map_err(|error| Error::Input(format!("{}: {error}", modules[0].name)));
    if pipeline.is_err() {
        output::print(&out)?;
    }
    let pipeline = pipeline?;
    let name = options.name.clone().unwrap_or_else(|| short_name(&options.files[0]));
    if options.asm {
        out.push_str(&assembly(&pipeline));
    }
    if options.stats.is_some() {
        out.push_str(&table(&name, &pipeline)?);
    } else if !options.asm && options.ir.is_none() && options.output.is_none() {
        out.push_str(&summary(&pipeline)?);
    }
    if let Some(path) = &options.output {
        output::write(Some(path), &file::write(&pipeline))?;
    }
    output::print(&out)?;
    Ok(Status::Success)
}

fn settings(options: &Options) -> Result<Settings, Error> {
    let Some(path) = &options.state else { return Ok(Settings::default()) };
    let input::Input { name, bytes } = input::read(Some(path))?;
    let text = String::from_utf8(bytes).map_err(|_| Error::Input(format!("{name}: this is no text")))?;
    Settings::parse(&text).map_err(|(line, what)| Error::Input(format!("{name}:{line}: {what}")))
}

/// The module and entry point of a stage, if it is wanted and there.
fn source<'a>(options: &Options, modules: &'a [Module], stage: Stage) -> Result<Option<Source<'a>>, Error> {
    if options.stage.is_some_and(|wanted| wanted.stage() != stage) {
        return Ok(None);
    }
    let mut found = Vec::new();
    for module in modules {
        let entry = module
            .entry_points()
            .into_iter()
            .find(|(of, name)| *of == stage && options.entry.as_ref().is_none_or(|wanted| wanted == name));
        found.extend(entry.map(|(_, entry)| Source { module, entry }));
    }
    if found.len() > 1 {
        let message = format!("both files have a {} stage: give one of each", stage.name());
        return Err(Error::Input(message));
    }
    if found.is_empty() && needed(options, modules, stage) {
        // The compiler says what it misses.
        let entry = options.entry.clone().unwrap_or_else(|| "main".into());
        found.push(Source { module: &modules[0], entry });
    }
    Ok(found.pop())
}

/// Whether nothing at all would be compiled without this stage.
fn needed(options: &Options, modules: &[Module], stage: Stage) -> bool {
    let other = |(of, name): (Stage, String)| {
        of != stage && options.entry.as_ref().is_none_or(|wanted| *wanted == name)
    };
    options.stage.is_some() || !modules.iter().flat_map(Module::entry_points).any(other)
}

/// The stage as the passes get it.
fn read(
    source: &Source<'_>,
    stage: Stage,
    settings: &Settings,
    sources: &mut String,
) -> Result<Shader, Error> {
    let words = &source.module.words;
    let from = StageSource { words, entry: &source.entry, specialization: &settings.constants };
    let shader = translate(&from, stage).map_err(|error| refused(source.module, stage, &error))?;
    sources.push_str(&shader.to_string());
    Ok(shader)
}

/// The error with the file, and the source line if the module knows it.
fn refused(module: &Module, stage: Stage, error: &SpirvError) -> Error {
    let mut message = format!("{}: {} stage: {}", module.name, stage.name(), error.cause());
    if let SpirvError::At { place, .. } = error {
        message.push_str(&format!("\n  --> {place}"));
        if let Some(text) = module.source_text(place) {
            message.push_str(&format!("\n{:>5} | {}", place.line, text.trim_end()));
        }
    }
    Error::Input(message)
}

fn compile(
    vertex: Option<Shader>,
    fragment: Option<Shader>,
    state: &PipelineState,
) -> Result<Pipeline, CompileError> {
    match (vertex, fragment) {
        (Some(vertex), None) => {
            let varyings = outputs(&vertex);
            compile_vertex(vertex, state, &varyings)
        }
        (Some(vertex), fragment) => compile_shaders(vertex, fragment, state),
        (None, fragment) => {
            // A vertex stage that does nothing makes the pipeline whole; its programs are nobody's.
            let mut pipeline = compile_shaders(Shader::new(Stage::Vertex), fragment, state)?;
            (pipeline.vertex, pipeline.coordinate) = Default::default();
            pipeline.attributes.clear();
            (pipeline.vertex_attribute_bytes, pipeline.coordinate_attribute_bytes) = (0, 0);
            Ok(pipeline)
        }
    }
}

/// Everything that a vertex stage hands out.
fn outputs(shader: &Shader) -> Vec<Varying> {
    let stored = shader.insts_in_order().into_iter().filter_map(|inst| match shader.insts[inst].op {
        Op::StoreOutput(Output::User { location, component }) => Some((location, component)),
        _ => None,
    });
    let stored: std::collections::BTreeSet<(u32, u8)> = stored.collect();
    let varying =
        |(location, component)| Varying { location, component, interpolation: Interpolation::Smooth };
    stored.into_iter().map(varying).collect()
}

/// The programs that there are, with the baseline's short names.
fn programs(pipeline: &Pipeline) -> impl Iterator<Item = (ProgramKind, &'static str, &Program)> {
    let all = [
        (ProgramKind::Vertex, "VS", &pipeline.vertex),
        (ProgramKind::Coordinate, "CS", &pipeline.coordinate),
        (ProgramKind::Fragment, "FS", &pipeline.fragment),
    ];
    all.into_iter().filter(|(_, _, program)| !program.code.is_empty())
}

/// The checker's name of a program's stage.
pub fn stage_of(kind: ProgramKind) -> vc4::qpu::Stage {
    match kind {
        ProgramKind::Vertex => vc4::qpu::Stage::Vertex,
        ProgramKind::Coordinate => vc4::qpu::Stage::Coordinate,
        ProgramKind::Fragment => vc4::qpu::Stage::Fragment,
    }
}

fn assembly(pipeline: &Pipeline) -> String {
    let one = |(kind, _, program): (ProgramKind, _, &Program)| format!("# {kind}\n{}\n", listing(program));
    programs(pipeline).map(one).collect()
}

/// A row of the statistics.
struct Row {
    stage: &'static str,
    instructions: u32,
    uniforms: usize,
    threads: u8,
    max_temps: u32,
    /// Slots of one run: what the baseline calls cycles.
    slots: u32,
}

fn rows(pipeline: &Pipeline) -> Result<Vec<Row>, Error> {
    let row = |(kind, stage, program): (ProgramKind, &'static str, &Program)| {
        let decode =
            |&word| Inst::decode(word).map_err(|e| Error::Input(format!("{kind}: {word:#018x}: {e}")));
        let insts = program.code.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let cost = Cost::of(&insts);
        Ok(Row {
            stage,
            instructions: cost.instructions,
            uniforms: program.uniforms.len(),
            threads: if program.threaded { 2 } else { 1 },
            max_temps: temps::max_temps(stage_of(kind), &insts),
            slots: cost.slots(),
        })
    };
    programs(pipeline).map(row).collect()
}

fn table(name: &str, pipeline: &Pipeline) -> Result<String, Error> {
    // A name may hold anything; a tab or line end would break the table.
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let mut out = String::from("shader\tstage\tinst\tuniforms\tthreads\tmax_temps\test_cycles\n");
    for row in rows(pipeline)? {
        out.push_str(&format!(
            "{name}\t{}\t{}\t{}\t{}\t{}\t{}\n",
            row.stage, row.instructions, row.uniforms, row.threads, row.max_temps, row.slots
        ));
    }
    Ok(out)
}

fn summary(pipeline: &Pipeline) -> Result<String, Error> {
    let mut out = String::new();
    for row in rows(pipeline)? {
        out.push_str(&format!(
            "{}: {} instructions, {} uniforms, {}, at most {} registers in use, {} slots\n",
            row.stage,
            row.instructions,
            row.uniforms,
            if row.threads == 2 { "two threads" } else { "one thread" },
            row.max_temps,
            row.slots
        ));
    }
    Ok(out)
}

/// `cube` for `dir/cube.vert.spv`.
fn short_name(path: &std::path::Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".spv").unwrap_or(&name);
    name.strip_suffix(".vert")
        .or(name.strip_suffix(".frag"))
        .or(name.strip_suffix(".comp"))
        .unwrap_or(name)
        .to_owned()
}
