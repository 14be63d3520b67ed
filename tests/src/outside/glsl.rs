//! Debian's glslangValidator: GLSL goes in, SPIR-V comes out.

use std::path::Path;
use std::process::Command;

/// Compiles a source, whose extension is its stage, into `module`, of SPIR-V 1.0.
///
/// # Errors
/// What glslangValidator says, or that it is not there.
pub fn compile(source: &Path, module: &Path) -> Result<(), String> {
    compile_for("vulkan1.0", source, module)
}

/// As [`compile`], of the SPIR-V for an environment: `vulkan1.2` for SPIR-V 1.5.
///
/// # Errors
/// As for [`compile`].
pub fn compile_for(environment: &str, source: &Path, module: &Path) -> Result<(), String> {
    let mut command = Command::new("glslangValidator");
    // What a program of a suite preloads is not for this one.
    command.env_remove("LD_PRELOAD");
    command.args(["-V", "--target-env", environment, "-o"]).arg(module).arg(source);
    let output = command.output();
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
