//! `vc4 compile`

mod kernel;
mod listing;
mod module;
mod options;
mod passes;
mod source;
mod state;
mod temps;

use crate::output::{self, Error, Status};
use module::Module;
use source::{Source, read, settings, short_name, source};
use vc4::qpu::{Cost, Inst};
use vc4_shaders::compile::{
    CompileError, PipelineState, ProgramKind, Varying, compile_shaders, compile_vertex,
};
use vc4_shaders::file;
use vc4_shaders::ir::{Interpolation, Op, Output, Shader, Stage};
use vc4_shaders::program::{Pipeline, Program};

pub use listing::listing;
pub use options::Options;

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
