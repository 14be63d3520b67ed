//! `vc4 compile`

mod kernel;
mod listing;
mod module;
mod options;
mod passes;
mod report;
mod source;
mod state;
mod temps;

use crate::output::{self, Error, Status};
use module::Module;
use report::{assembly, summary, table};
use source::{Source, read, settings, short_name, source};
use vc4_shaders::compile::{CompileError, PipelineState, Varying, compile_shaders, compile_vertex};
use vc4_shaders::file;
use vc4_shaders::ir::{Interpolation, Op, Output, Shader, Stage};
use vc4_shaders::program::Pipeline;

pub use listing::listing;
pub use options::Options;
pub use report::stage_of;

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
