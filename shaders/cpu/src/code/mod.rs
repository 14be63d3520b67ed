//! Functions of Cranelift's as code that runs: of this machine, or of an interpreter that is the same everywhere.

mod native;
#[cfg(feature = "portable")]
mod portable;

use cranelift_codegen::Context as Compilation;
use cranelift_codegen::ir::Function;
use vc4_jit::{Problem, compile};

use crate::layout::Context;
use crate::machine::Machine;

/// See [`Engine::slowdown`].
#[cfg(feature = "portable")]
const INTERPRETED: f64 = 50.0;

/// What runs kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// This machine's own code.
    Native,
    /// Byte code of Cranelift's Pulley and its interpreter, for machines that Cranelift writes no code for.
    #[cfg(feature = "portable")]
    Portable,
}

impl Engine {
    /// All there are, the fastest first.
    pub const ALL: &[Engine] = &[
        Engine::Native,
        #[cfg(feature = "portable")]
        Engine::Portable,
    ];

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Native => "native",
            #[cfg(feature = "portable")]
            Engine::Portable => "portable",
        }
    }

    /// How many times as long as machine code it takes; measured on x86-64 (`cargo bench -p vc4-shaders-cpu`).
    pub const fn slowdown(self) -> f64 {
        match self {
            Engine::Native => 1.0,
            #[cfg(feature = "portable")]
            Engine::Portable => INTERPRETED,
        }
    }

    /// The fastest that works here.
    ///
    /// # Errors
    /// Why none does.
    pub fn best() -> Result<Engine, Problem> {
        let mut problems = Engine::ALL.iter().map(|engine| engine.machine().map(|_| *engine));
        let first = problems.next().unwrap_or_else(|| Err("no engine".into()));
        first.or_else(|problem| problems.find_map(Result::ok).ok_or(problem))
    }

    /// What the generation of code has to know.
    ///
    /// # Errors
    /// Why there is no code.
    pub fn machine(self) -> Result<Machine, Problem> {
        match self {
            Engine::Native => native::machine(),
            #[cfg(feature = "portable")]
            Engine::Portable => portable::machine(),
        }
    }
}

/// The code of one function.
#[derive(Debug)]
pub enum Code {
    /// For [`Engine::Native`].
    Native(native::Code),
    /// For [`Engine::Portable`].
    #[cfg(feature = "portable")]
    Portable(portable::Code),
}

impl Code {
    /// Compiles a function.
    ///
    /// # Errors
    /// What the compiler or the host's memory says.
    pub fn new(function: Function, engine: Engine) -> Result<Code, Problem> {
        match engine {
            Engine::Native => native::Code::new(function).map(Code::Native),
            #[cfg(feature = "portable")]
            Engine::Portable => portable::Code::new(function).map(Code::Portable),
        }
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        match self {
            Code::Native(code) => code.len(),
            #[cfg(feature = "portable")]
            Code::Portable(code) => code.len(),
        }
    }

    /// What one thread needs to run it.
    pub fn runner(&self) -> Runner<'_> {
        match self {
            Code::Native(code) => Runner::Native(code),
            #[cfg(feature = "portable")]
            Code::Portable(code) => Runner::Portable(Box::new(portable::Runner::new(code))),
        }
    }
}

/// A thread's way to call code.
pub enum Runner<'a> {
    /// See [`Code`].
    Native(&'a native::Code),
    /// See [`Code`].
    #[cfg(feature = "portable")]
    Portable(Box<portable::Runner<'a>>),
}

impl Runner<'_> {
    /// Calls the function as [`crate::layout::Entry`] says. `None` if the code broke off.
    ///
    /// # Safety
    /// The context and all that it leads to are what the function was compiled for.
    pub unsafe fn call(&mut self, context: *const Context, first: u32, second: u32) -> Option<u32> {
        match self {
            // SAFETY: the caller vouches for the context.
            Runner::Native(code) => Some(unsafe { (code.entry())(context, first, second) }),
            #[cfg(feature = "portable")]
            // SAFETY: the caller vouches for the context.
            Runner::Portable(runner) => unsafe { runner.call(context, first, second) },
        }
    }
}

/// The text of a function's code.
///
/// # Errors
/// What the compiler says.
pub fn listing(function: Function, engine: Engine) -> Result<String, Problem> {
    let isa = match engine {
        Engine::Native => native::isa()?,
        #[cfg(feature = "portable")]
        Engine::Portable => portable::isa(function.dfg.num_insts())?,
    };
    let mut compilation = Compilation::for_function(function);
    compilation.set_disasm(true);
    Ok(compile(&mut compilation, isa)?.vcode.clone().unwrap_or_default())
}
