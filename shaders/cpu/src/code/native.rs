//! Machine code.

use cranelift_codegen::ir::{Function, types};
use cranelift_codegen::isa::TargetIsa;
use vc4_jit::{Effort, Problem};

use crate::layout::Entry;
use crate::machine::Machine;

/// Executable code of one function.
#[derive(Debug)]
pub struct Code(vc4_jit::Code);

/// Shaders are simplified in the IR. What Cranelift would do beyond it lets values of straight code live so long that giving
/// registers takes quadratic time: seconds for some thousand instructions, whose code is no faster then.
const EFFORT: Effort = Effort::Quick;

/// This machine's back end.
///
/// # Errors
/// Why there is none.
pub fn isa() -> Result<&'static dyn TargetIsa, Problem> {
    vc4_jit::isa(EFFORT)
}

/// What the generation of code has to know of this machine.
///
/// # Errors
/// Why there is no code for it.
pub fn machine() -> Result<Machine, Problem> {
    let isa = isa()?;
    let lacks =
        |name: &str| isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(false));
    let (convention, rounds) = (isa.default_call_conv(), !lacks("has_sse41"));
    Ok(Machine { convention, address: types::I64, rounds, interpreted: false })
}

impl Code {
    /// Compiles a function.
    ///
    /// # Errors
    /// What the compiler or the host's memory says.
    pub fn new(function: Function) -> Result<Code, Problem> {
        vc4_jit::Code::new(function, EFFORT).map(Code)
    }

    /// The function. It may be called for as long as this is there.
    pub fn entry(&self) -> Entry {
        // SAFETY: the code begins with a function of this type, compiled for this machine.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.0.entry()) }
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
