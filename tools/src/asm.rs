//! `vc4 asm`

use crate::output::{self, Error, Status, json_list, json_string};
use crate::{diagnose, input};
use std::path::PathBuf;
use vc4::qpu::{Assembled, UniformSource, assemble};

const EXAMPLES: &str = "\
Examples:
  vc4 asm shader.qpu                    hexadecimal words on standard output
  vc4 asm shader.qpu --bin -o out.bin   8 bytes per instruction, lowest first
  vc4 asm shader.qpu --json             words, labels and uniforms
  echo 'sig_none ; nop = nop() ; nop = nop() ;' | vc4 asm";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Options {
    /// Program text; standard input without
    file: Option<PathBuf>,
    /// One word per line, 0x and 16 digits (the default)
    #[arg(long, conflicts_with_all = ["bin", "json"])]
    hex: bool,
    /// Bytes as the machine reads them
    #[arg(long, conflicts_with = "json")]
    bin: bool,
    /// Words, labels and named uniforms as JSON
    #[arg(long)]
    json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(options: &Options) -> Result<Status, Error> {
    let input = input::read(options.file.as_deref())?;
    let name = input.name;
    let text = String::from_utf8(input.bytes).map_err(|e| {
        Error::Input(format!("{name}: byte {} is no UTF-8 text", e.utf8_error().valid_up_to()))
    })?;
    let program = match assemble(&text) {
        Ok(program) => program,
        Err(error) => {
            diagnose::errors(&name, &text, &error.diagnostics);
            return Ok(Status::Findings);
        }
    };
    diagnose::warnings(&name, &text, &program.warnings);
    let bytes = if options.bin {
        program.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    } else if options.json {
        json(&program).into_bytes()
    } else {
        program.words.iter().map(|word| format!("{word:#018x}\n")).collect::<String>().into_bytes()
    };
    output::write(options.output.as_deref(), &bytes)?;
    Ok(Status::Success)
}

fn json(program: &Assembled) -> String {
    let words = json_list(program.words.iter().map(|word| json_string(&format!("{word:#018x}"))));
    let labels = json_list(program.labels.iter().map(|label| {
        format!("{{\"name\": {}, \"instruction\": {}}}", json_string(&label.name), label.instruction)
    }));
    let uniforms = json_list(program.uniforms.iter().map(|uniform| {
        let source = match uniform.source {
            UniformSource::Read => "read",
            UniformSource::Tmu(_) => "tmu",
        };
        format!(
            "{{\"name\": {}, \"instruction\": {}, \"source\": \"{source}\"}}",
            json_string(&uniform.name),
            uniform.instruction
        )
    }));
    format!("{{\"words\": {words},\n \"labels\": {labels},\n \"uniforms\": {uniforms}}}\n")
}
