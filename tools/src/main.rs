//! The `vc4` command.
//!
//! One subcommand per file or folder; they do not know each other and import what stands below them: `names` and `stencil`
//! (words of the command line), `input` and `output` (files in, text out), `device` (the GPU that is meant), `jobs` (what it is given to do), `differences` (what it drew otherwise than the simulator), `json`, `picture` (PNG files), `diagnose`
//! (places in sources, drawn).

mod asm;
mod check;
mod cl;
mod compile;
mod completions;
mod cost;
mod device;
mod diagnose;
mod differences;
mod disasm;
mod doctor;
mod input;
mod inspect;
mod isa;
mod jobs;
mod json;
mod man;
mod names;
mod output;
mod patch;
mod picture;
mod probe;
mod sim;
mod stencil;
mod vpm;

use clap::{CommandFactory, Parser, Subcommand};
use output::{Error, Status};
use std::process::ExitCode;

/// Look into QPU code, control lists and shader containers.
///
/// Files are named or come from standard input; `-` is standard input. The exit code is 0 on success, 1 on findings or bad
/// input, 2 on wrong usage.
#[derive(Parser)]
#[command(name = "vc4", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Assemble a QPU program
    Asm(asm::Options),
    /// Print a QPU program as text that assembles to the same words
    Disasm(disasm::Options),
    /// Check a QPU program against the rules of the machine and of the Linux kernel
    Check(check::Options),
    /// Compile SPIR-V to QPU programs; print statistics, assembly or the shader between passes
    Compile(compile::Options),
    /// Estimate what QPU programs cost
    Cost(cost::Options),
    /// Print a control list with field names, or turn that text back into bytes
    Cl(cl::Options),
    /// Print the reference of the instruction set
    Isa(isa::Options),
    /// Print the stencil set-up words of a stencil state, or what such words mean
    Stencil(stencil::Options),
    /// Print VPM set-up words, or what such words mean
    Vpm(vpm::Options),
    /// Print the code of pipeline state, or splice it into a program
    Patch(patch::Options),
    /// Print, check or unpack shader files: MBS, SHBIN, metallib, SPIR-V and compiled programs
    Inspect(inspect::Args),
    /// Run, record and look into the simulated GPU
    Sim(sim::Options),
    /// Say what is wrong with the GPU of this machine, and what to do
    Doctor(doctor::Options),
    /// Ask the GPU of this machine what no board has confirmed
    Probe(probe::Options),
    /// Print a completion script for a shell
    Completions(completions::Options),
    /// Write the manual pages of this command and its subcommands
    #[command(hide = true)]
    Man(man::Options),
}

fn main() -> ExitCode {
    finish(match &Cli::parse().command {
        Command::Asm(options) => asm::run(options),
        Command::Disasm(options) => disasm::run(options),
        Command::Check(options) => check::run(options),
        Command::Compile(options) => compile::run(options),
        Command::Cost(options) => cost::run(options),
        Command::Cl(options) => cl::run(options),
        Command::Isa(options) => isa::run(options),
        Command::Stencil(options) => stencil::run(options),
        Command::Vpm(options) => vpm::run(options),
        Command::Patch(options) => patch::run(options),
        Command::Sim(options) => sim::run(options),
        Command::Doctor(options) => doctor::run(options),
        Command::Probe(options) => probe::run(options),
        Command::Completions(options) => completions::run(options, Cli::command()),
        Command::Man(options) => man::run(options, Cli::command()),
        Command::Inspect(args) => inspect::run(args),
    })
}

fn finish(result: Result<Status, Error>) -> ExitCode {
    match result {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::Findings) => ExitCode::FAILURE,
        Ok(Status::Exit(code)) => ExitCode::from(code),
        Err(error) => error.report(),
    }
}
