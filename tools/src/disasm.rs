//! `vc4 disasm`

use crate::input::{Form, Program};
use crate::output::{self, Error, Status};
use std::path::PathBuf;
use vc4::qpu::disassemble;

const EXAMPLES: &str = "\
Examples:
  vc4 disasm shader.bin
  vc4 asm shader.qpu | vc4 disasm --hex
  vc4 disasm shader.bin | vc4 asm --bin | cmp - shader.bin    the way back is exact";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Words; standard input without
    file: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let program = Program::read(options.file.as_deref(), options.form)?;
    output::write(options.output.as_deref(), disassemble(&program.words).as_bytes())?;
    Ok(Status::Success)
}
