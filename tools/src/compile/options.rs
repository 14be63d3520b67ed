//! What `vc4 compile` is asked for.

use std::path::PathBuf;
use vc4_shaders::ir::Stage;

use super::state;

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
pub enum Stats {
    /// Tab-separated, a header and a row per program
    Tsv,
}

/// A pipeline stage.
#[derive(clap::ValueEnum, Clone, Copy, Debug)]
pub enum StageName {
    Vertex,
    Fragment,
    Compute,
}

impl StageName {
    /// The compiler's name of it.
    pub fn stage(self) -> Stage {
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
    pub files: Vec<PathBuf>,
    /// Only this stage
    #[arg(long, value_enum)]
    pub stage: Option<StageName>,
    /// Name of the entry points; without, the first of each stage
    #[arg(long, value_name = "NAME")]
    pub entry: Option<String>,
    /// Pipeline state (see below)
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Name in the statistics; without, the first file's
    #[arg(long)]
    pub name: Option<String>,
    /// Statistics in this form
    #[arg(long, value_enum)]
    pub stats: Option<Stats>,
    /// Print the programs as assembly, with uniform meanings and slots
    #[arg(long)]
    pub asm: bool,
    /// Print the shader as it left this pass; `all` for every pass
    #[arg(long, value_name = "PASS")]
    pub ir: Option<String>,
    /// Write the programs to this file
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
