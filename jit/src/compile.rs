//! The compiler's settings and call, the same for every machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable, Flags};
use cranelift_codegen::{CompiledCode, Context as Compilation};

/// Why there is no code.
pub type Problem = String;

/// What a function is worth to the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Instructions are chosen well, but the function is taken as it is.
    Quick,
    /// Expressions are simplified and shared as well.
    Thorough,
}

/// Settings.
///
/// # Errors
/// What the compiler does not know.
pub fn flags(effort: Effort) -> Result<Flags, Problem> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    // A call's stack is a few hundred bytes: no probes.
    let level = if effort == Effort::Quick { "none" } else { "speed" };
    let wanted = [("opt_level", level), ("enable_verifier", verify), ("enable_probestack", "false")];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| format!("setting {name}: {error}"))?;
    }
    Ok(Flags::new(flags))
}

/// Compiles a function.
///
/// # Errors
/// What the compiler says.
pub fn compile<'a>(
    compilation: &'a mut Compilation,
    isa: &dyn TargetIsa,
) -> Result<&'a CompiledCode, Problem> {
    // Back ends of machines that nobody tried yet panic at what they lack.
    let compile = AssertUnwindSafe(|| match compilation.compile(isa, &mut ControlPlane::default()) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{:?}", error.inner)),
    });
    catch_unwind(compile).map_err(|_| "the compiler failed")??;
    compilation.compiled_code().ok_or_else(|| "the compiler made nothing".into())
}
