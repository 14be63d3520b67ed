//! `cargo xtask strangers`: what the compiler makes of shaders that nobody here wrote.
//!
//! `sources` finds the shaders of folders and makes SPIR-V of them, `measure` has the `vc4` command compile each entry
//! point in a process of its own, `record` keeps the outcomes as a table, `report` prints what they come to and what
//! changed since the last run. `beside` has Mesa's compiler make the same programs, `cost` counts
//! what both execute for that.

mod beside;
mod cost;
mod measure;
mod record;
mod report;
mod sources;

use std::path::PathBuf;

use measure::Compiler;

use crate::{Error, build, packages};

const NOTE: &str = "\
Shaders are known by their names: .spv; GLSL by .vert, .frag, .comp or .vert.glsl and so on; HLSL by .vert.hlsl and
so on, with the entry point `main`; WGSL by .wgsl. GLSL and HLSL want Debian's glslang-tools, WGSL wants naga
(cargo install naga-cli). Good folders are repositories of programs, and what crates, npm's and Python's packages ship.
";

#[derive(clap::Args)]
#[command(after_help = NOTE)]
pub struct Options {
    /// Folders with shaders, and single files.
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Compare with this table of an earlier run; without, with the last run of the same folders.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Write the table of outcomes to this file, too.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use this `vc4` command instead of building one.
    #[arg(long, value_name = "FILE")]
    tool: Option<PathBuf>,
    /// Compile for this pipeline state, as `vc4 compile --help` describes it.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Outliers, slow modules and changes that are listed.
    #[arg(long, default_value_t = 12)]
    top: usize,
    /// Compile with Debian's Mesa, too, and print what both make of each program.
    #[arg(long)]
    mesa: bool,
    /// With `--mesa`: count what both compilers execute on arm64 for programs of two stages.
    #[arg(long, requires = "mesa")]
    cost: bool,
    /// Processes at once; times are steadier with one.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    jobs: u8,
}

pub fn run(options: &Options, install: bool) -> Result<(), Error> {
    packages::require(&["glslang-tools"], install)?;
    let target = build::target_directory()?;
    let tool = match &options.tool {
        Some(tool) => tool.clone(),
        None => {
            build::cargo(&["build", "--release", "--package", "vc4-tools"])?;
            target.join("release/vc4")
        }
    };
    let compiler = Compiler { tool, state: options.state.clone() };
    let directory = target.join("strangers");
    std::fs::create_dir_all(&directory)?;
    let modules = sources::modules(&options.folders, &directory.join("spirv"))?;
    let programs = measure::all(&compiler, &modules.found, usize::from(options.jobs))?;
    let last = directory.join(format!("{}.tsv", name(&options.folders)));
    let before = match &options.against {
        Some(path) => Some(record::read(path)?),
        None if last.exists() => Some(record::read(&last)?),
        None => None,
    };
    report::print(&modules, &programs, options.top);
    if let Some(before) = &before {
        report::changes(before, &programs, options.top);
    }
    record::write(&last, &programs)?;
    if let Some(path) = &options.output {
        record::write(path, &programs)?;
    }
    if options.mesa {
        beside::run(&compiler, &modules.found, options.top, options.cost, install)?;
    }
    match programs.iter().filter(|program| program.is_fault()).count() {
        0 => Ok(()),
        faults => {
            Err(format!("{faults} entry points ended in no answer: panics, signals, or too long").into())
        }
    }
}

/// A file name that stands for these folders.
fn name(folders: &[PathBuf]) -> String {
    let whole = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let paths: Vec<String> = folders.iter().map(|folder| sources::plain(&whole(folder))).collect();
    paths.join("+")
}
