//! Compute stages: what the CPU runs, and the QPUs where the kernel is a picture.

use vc4_shaders::compile::{compile_picture, compute_stage};
use vc4_shaders::ir::{Shader, Stage};
use vc4_shaders::picture;
use vc4_shaders::picture::estimate::Estimate;
use vc4_shaders::program::Pipeline;
use vc4_shaders::spirv::StageSource;
use vc4_shaders::state::Conversions;
use vc4_shaders_cpu::Kernel;

use super::module::Module;
use super::options::{Options, StageName};
use super::source::{Source, read, short_name, source};
use super::state::Settings;
use super::{passes, report};
use crate::output::{self, Error, Status};

/// Whether the modules are to be taken for a compute stage: it was asked for, or there is no other.
pub fn is_meant(options: &Options, modules: &[Module]) -> bool {
    let mut stages = modules.iter().flat_map(Module::entry_points).map(|(stage, _)| stage).peekable();
    match options.stage {
        Some(stage) => matches!(stage, StageName::Compute),
        None => stages.peek().is_some() && stages.all(|stage| stage == Stage::Compute),
    }
}

/// Compiles the compute stage and prints what was asked for.
pub fn run(options: &Options, modules: &[Module], settings: &Settings) -> Result<Status, Error> {
    if options.output.is_some() {
        return Err(Error::Input(
            "kernels are machine code of this computer and have no file; leave --output out".into(),
        ));
    }
    let Some(source) = source(options, modules, Stage::Compute)? else {
        return Err(Error::Input("there is no compute stage".into()));
    };
    let mut out = String::new();
    // The compiler's own error has no source lines; this one does.
    read(&source, Stage::Compute, settings, &mut out)?;
    let compiled = compile(&source, settings, options.asm);
    match &options.ir {
        Some(pass) if pass == "translate" => {}
        Some(pass) => out = passes::collected(pass, |stage| stage == "Compute").map_err(Error::Input)?,
        None => out.clear(),
    }
    if compiled.is_err() {
        output::print(&out)?;
    }
    let (shader, kernel) = compiled?;
    let drawn = drawn(&shader, settings);
    if options.asm {
        out.push_str(kernel.listing().unwrap_or_default());
        if let Ok((pipeline, _)) = &drawn {
            out.push_str(&report::assembly(pipeline));
        }
    }
    let name = options.name.clone().unwrap_or_else(|| short_name(&options.files[0]));
    if options.stats.is_some() {
        out.push_str(&table(&name, &kernel, drawn.as_ref().ok()));
    } else if !options.asm && options.ir.is_none() {
        out.push_str(&summary(&kernel));
        match &drawn {
            Ok((pipeline, estimate)) => {
                out.push_str(&report::summary(pipeline)?);
                out.push_str(&format!(
                    "picture: an invocation is estimated to take all QPUs {:.2} ns, a core {:.2} ns\n",
                    estimate.qpu * 1e9,
                    estimate.cpu * 1e9
                ));
            }
            Err(why) => out.push_str(&format!("no picture: {why}\n")),
        }
    }
    output::print(&out)?;
    Ok(Status::Success)
}

/// The rectangle that the kernel is as a picture, its fragment program only, and what it costs; why it is none.
fn drawn(shader: &Shader, settings: &Settings) -> Result<(Pipeline, Estimate), String> {
    let picture = picture::find(shader).map_err(|why| why.to_string())?;
    let pipeline = compile_picture(&picture, &settings.state(&[])).map_err(|error| error.to_string())?;
    let estimate = Estimate::new(shader, &pipeline.fragment, &vc4::facts::Numbers::default());
    Ok((Pipeline { fragment: pipeline.fragment, ..Pipeline::default() }, estimate))
}

fn compile(source: &Source<'_>, settings: &Settings, listed: bool) -> Result<(Shader, Kernel), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Input(format!("{}: {error}", source.module.name));
    let words = &source.module.words;
    let from = StageSource { words, entry: &source.entry, specialization: &settings.constants };
    let shader = compute_stage(&from, &Conversions::new()).map_err(|error| failed(&error))?;
    let kernel = if listed { Kernel::compile_listed(&shader) } else { Kernel::compile(&shader) };
    Ok((shader, kernel.map_err(|error| failed(&error))?))
}

fn table(name: &str, kernel: &Kernel, drawn: Option<&(Pipeline, Estimate)>) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let group = kernel.workgroup();
    let [x, y, z] = group.size;
    format!(
        "shader\tstage\tx\ty\tz\tshared_bytes\tscratch_bytes\tbuffers\timages\tcode_bytes\tqpu_inst\n\
         {name}\tcompute\t{x}\t{y}\t{z}\t{}\t{}\t{}\t{}\t{}\t{}\n",
        group.shared_bytes,
        group.scratch_bytes,
        kernel.buffers().len(),
        kernel.images().len(),
        kernel.code_bytes(),
        drawn.map_or(0, |(pipeline, _)| pipeline.fragment.code.len())
    )
}

fn summary(kernel: &Kernel) -> String {
    let group = kernel.workgroup();
    let [x, y, z] = group.size;
    format!(
        "compute: {x} x {y} x {z} invocations, {} bytes shared, {} bytes each, {} buffers, {} image operations, \
         {} bytes of machine code\n",
        group.shared_bytes,
        group.scratch_bytes,
        kernel.buffers().len(),
        kernel.images().len(),
        kernel.code_bytes()
    )
}
