//! Functions as machine code in memory that can be executed, and never written at the same time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context as Compilation;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use memmap2::{Mmap, MmapMut};

use crate::generate::Machine;
use crate::layout::Entry;

/// Executable code of one function.
#[derive(Debug)]
pub struct Code {
    memory: Mmap,
    /// The code as text, if it was asked for.
    pub listing: Option<String>,
}

/// Why there is no code.
pub type Problem = String;

fn build_isa() -> Result<Arc<dyn TargetIsa>, Problem> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    // A call's stack is a few hundred bytes: no probes.
    let wanted = [("opt_level", "speed"), ("enable_verifier", verify), ("enable_probestack", "false")];
    for (name, value) in wanted {
        flags.set(name, value).map_err(|error| format!("setting {name}: {error}"))?;
    }
    let machine = cranelift_native::builder().map_err(|error| format!("this machine: {error}"))?;
    if machine.triple().pointer_width().map(|width| width.bits()) != Ok(64) {
        return Err("this machine: addresses of 64 bits are needed".into());
    }
    machine.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())
}

fn isa() -> Result<&'static Arc<dyn TargetIsa>, Problem> {
    static ISA: OnceLock<Result<Arc<dyn TargetIsa>, Problem>> = OnceLock::new();
    ISA.get_or_init(build_isa).as_ref().map_err(Clone::clone)
}

/// What the generation of code has to know of the host.
///
/// # Errors
/// Why there is no code for it.
pub fn machine() -> Result<Machine, Problem> {
    let isa = isa()?;
    let lacks =
        |name: &str| isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(false));
    Ok(Machine { convention: isa.default_call_conv(), rounds: !lacks("has_sse41") })
}

impl Code {
    /// Compiles a function and makes it executable.
    ///
    /// # Errors
    /// What the compiler or the host's memory says.
    pub fn new(function: Function, listing: bool) -> Result<Code, Problem> {
        let isa = isa()?;
        let mut compilation = Compilation::for_function(function);
        compilation.set_disasm(listing);
        // Back ends of machines that nobody tried yet panic at what they lack.
        let compile = AssertUnwindSafe(|| match compilation.compile(&**isa, &mut ControlPlane::default()) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{:?}", error.inner)),
        });
        catch_unwind(compile).map_err(|_| "the compiler failed")??;
        let compiled = compilation.compiled_code().ok_or("the compiler made nothing")?;
        if !compiled.buffer.relocs().is_empty() {
            return Err("the code refers to functions outside".into());
        }
        let bytes = compiled.code_buffer();
        let mut memory = MmapMut::map_anon(bytes.len().max(1)).map_err(|error| error.to_string())?;
        memory[..bytes.len()].copy_from_slice(bytes);
        let memory = memory.make_exec().map_err(|error| error.to_string())?;
        // SAFETY: the range is mapped.
        unsafe { wasmtime_jit_icache_coherence::clear_cache(memory.as_ptr().cast(), memory.len()) }
            .map_err(|error| error.to_string())?;
        wasmtime_jit_icache_coherence::pipeline_flush_mt().map_err(|error| error.to_string())?;
        Ok(Code { memory, listing: compiled.vcode.clone() })
    }

    /// The function. It may be called for as long as this is there.
    pub fn entry(&self) -> Entry {
        // SAFETY: the memory begins with a function of this type, compiled for this machine.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.memory.as_ptr()) }
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.memory.len()
    }
}
