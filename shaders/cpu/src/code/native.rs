//! Machine code in memory that can be executed, and never written at the same time.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context as Compilation;
use cranelift_codegen::ir::{Function, types};
use cranelift_codegen::isa::TargetIsa;
use memmap2::{Mmap, MmapMut};

use super::compile::{Problem, compile, flags};
use crate::layout::Entry;
use crate::machine::Machine;

/// Executable code of one function.
#[derive(Debug)]
pub struct Code {
    memory: Mmap,
}

fn build_isa() -> Result<Arc<dyn TargetIsa>, Problem> {
    let machine = cranelift_native::builder().map_err(|error| format!("this machine: {error}"))?;
    if machine.triple().pointer_width().map(|width| width.bits()) != Ok(64) {
        return Err("this machine: addresses of 64 bits are needed".into());
    }
    machine.finish(flags()?).map_err(|error| error.to_string())
}

/// This machine's back end.
///
/// # Errors
/// Why there is none.
pub fn isa() -> Result<&'static dyn TargetIsa, Problem> {
    static ISA: OnceLock<Result<Arc<dyn TargetIsa>, Problem>> = OnceLock::new();
    ISA.get_or_init(build_isa).as_ref().map(|isa| &**isa).map_err(Clone::clone)
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
    /// Compiles a function and makes it executable.
    ///
    /// # Errors
    /// What the compiler or the host's memory says.
    pub fn new(function: Function) -> Result<Code, Problem> {
        let mut compilation = Compilation::for_function(function);
        let compiled = compile(&mut compilation, isa()?)?;
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
        Ok(Code { memory })
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
