//! Machine code in memory that can be executed, and never written at the same time.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context as Compilation;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::TargetIsa;
use memmap2::{Mmap, MmapMut};

use crate::compile::{Effort, Problem, compile, flags};

/// Executable code of one function.
#[derive(Debug)]
pub struct Code {
    memory: Mmap,
}

fn build_isa(effort: Effort) -> Result<Arc<dyn TargetIsa>, Problem> {
    let machine = cranelift_native::builder().map_err(|error| format!("this machine: {error}"))?;
    if machine.triple().pointer_width().map(|width| width.bits()) != Ok(64) {
        return Err("this machine: addresses of 64 bits are needed".into());
    }
    machine.finish(flags(effort)?).map_err(|error| error.to_string())
}

/// This machine's back end.
///
/// # Errors
/// Why there is none.
pub fn isa(effort: Effort) -> Result<&'static dyn TargetIsa, Problem> {
    static ISAS: [OnceLock<Result<Arc<dyn TargetIsa>, Problem>>; 2] = [const { OnceLock::new() }; 2];
    let isa = ISAS[effort as usize].get_or_init(|| build_isa(effort));
    isa.as_ref().map(|isa| &**isa).map_err(Clone::clone)
}

impl Code {
    /// Compiles a function and makes it executable.
    ///
    /// # Errors
    /// What the compiler or the host's memory says.
    pub fn new(function: Function, effort: Effort) -> Result<Code, Problem> {
        let mut compilation = Compilation::for_function(function);
        let compiled = compile(&mut compilation, isa(effort)?)?;
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

    /// The function's first byte. It may be called, as what it was compiled to be, for as long as this is there.
    pub fn entry(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there is no code: never.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }
}
