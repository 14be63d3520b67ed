//! Debian's glslangValidator: GLSL goes in, SPIR-V comes out.

use std::path::Path;
use std::process::Command;

/// Compiles a source, whose extension is its stage, into `module`.
///
/// # Errors
/// What glslangValidator says, or that it is not there.
pub fn compile(source: &Path, module: &Path) -> Result<(), String> {
    let output = Command::new("glslangValidator").args(["-V", "-o"]).arg(module).arg(source).output();
    let output = output.map_err(|error| {
        format!("glslangValidator ({error}): install Debian's glslang-tools, or run `cargo xtask test`")
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(format!("glslangValidator: {}: {}", source.display(), String::from_utf8_lossy(&said)))
}

/// The words of a module.
///
/// # Errors
/// The file that cannot be read.
pub fn words(module: &Path) -> Result<Vec<u32>, String> {
    let bytes = std::fs::read(module).map_err(|error| format!("{}: {error}", module.display()))?;
    Ok(bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}
