//! Byte code of Pulley, Cranelift's portable instruction set, and its interpreter: where Cranelift writes no machine code, as
//! on 32-bit ARM.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Arc, OnceLock};

use cranelift_codegen::Context as Compilation;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExternalName, Function, types};
use cranelift_codegen::isa::{self, TargetIsa};
use cranelift_codegen::{FinalizedMachReloc, FinalizedRelocTarget};
use pulley_interpreter::interp::{DoneReason, RegType, Val, Vm};
use pulley_interpreter::{XReg, encode};
use vc4_jit::{Effort, Problem, compile, flags};
use vc4_shaders::ir::Atomic;

use crate::batch::Words;
use crate::layout::Context;
use crate::machine::Machine;
use crate::math::FUNCTIONS;
use crate::service::Service;

/// Bytes of stack: a kernel calls no kernel.
const STACK: usize = 1 << 17;

/// Byte code of one function.
#[derive(Debug)]
pub struct Code {
    bytes: Box<[u8]>,
}

/// Instructions of a function up to which it is simplified: an interpreter takes its time for each that is left. That of longer
/// ones would take registers in quadratic time, as for machine code.
const MOST_SIMPLIFIED: usize = 4096;

fn build_isa(effort: Effort) -> Result<Arc<dyn TargetIsa>, Problem> {
    let name = if cfg!(target_pointer_width = "64") { "pulley64" } else { "pulley32" };
    let builder = isa::lookup_by_name(name).map_err(|error| error.to_string())?;
    builder.finish(flags(effort)?).map_err(|error| error.to_string())
}

/// Pulley's back end, for a function of so many instructions.
///
/// # Errors
/// Why there is none.
pub fn isa(instructions: usize) -> Result<&'static dyn TargetIsa, Problem> {
    static ISAS: [OnceLock<Result<Arc<dyn TargetIsa>, Problem>>; 2] = [const { OnceLock::new() }; 2];
    let effort = if instructions > MOST_SIMPLIFIED { Effort::Quick } else { Effort::Thorough };
    let isa = ISAS[effort as usize].get_or_init(|| build_isa(effort));
    isa.as_ref().map(|isa| &**isa).map_err(Clone::clone)
}

/// What the generation of code has to know of Pulley.
///
/// # Errors
/// Why there is no code for it.
pub fn machine() -> Result<Machine, Problem> {
    let isa = isa(0)?;
    let address = if isa.pointer_bits() == 64 { types::I64 } else { types::I32 };
    Ok(Machine { convention: isa.default_call_conv(), address, rounds: true, interpreted: true })
}

impl Code {
    /// Compiles a function.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn new(function: Function) -> Result<Code, Problem> {
        let isa = isa(function.dfg.num_insts())?;
        let mut compilation = Compilation::for_function(function);
        compile(&mut compilation, isa)?;
        let names = compilation.func.params.user_named_funcs().clone();
        let compiled = compilation.compiled_code().ok_or("the compiler made nothing")?;
        let mut bytes = compiled.code_buffer().to_vec();
        for reloc in compiled.buffer.relocs() {
            let FinalizedMachReloc { offset, kind: Reloc::PulleyCallIndirectHost, target, .. } = reloc else {
                return Err("the code refers to what is outside".into());
            };
            let FinalizedRelocTarget::ExternalName(ExternalName::User(name)) = target else {
                return Err("the code calls what is outside".into());
            };
            let mut call = Vec::new();
            encode::call_indirect_host(&mut call, names[*name].index as u8);
            let at = *offset as usize;
            let place = bytes.get_mut(at..at + call.len()).ok_or("a call beyond the code")?;
            place.copy_from_slice(&call);
        }
        Ok(Code { bytes: bytes.into() })
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }
}

/// An interpreter with its stack.
pub struct Runner<'a> {
    code: &'a Code,
    vm: Vm,
}

impl<'a> Runner<'a> {
    /// Ready to call `code`.
    pub fn new(code: &'a Code) -> Runner<'a> {
        Runner { code, vm: Vm::with_stack(STACK) }
    }

    /// See [`super::Runner::call`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn call(&mut self, context: *const Context, first: u32, second: u32) -> Option<u32> {
        let args = [Val::from(context.cast_mut()), first.into(), second.into()];
        let mut place = NonNull::from(&self.code.bytes[..]).cast();
        // SAFETY: the code is a function with three arguments and one result, compiled for this interpreter.
        let link = unsafe { self.vm.call_start(&args) };
        loop {
            // SAFETY: the code's start, and then where it stopped.
            match unsafe { self.vm.call_run(place) } {
                DoneReason::ReturnToHost(()) => {
                    // SAFETY: the end of the call begun above.
                    let result = unsafe { self.vm.call_end(link, [RegType::XReg]) }.next();
                    return match result {
                        Some(Val::XReg(result)) => Some(result.get_u32()),
                        _ => None,
                    };
                }
                DoneReason::CallIndirectHost { id, resume } => {
                    // SAFETY: the code left a service's arguments.
                    unsafe { self.serve(&*context, Service::of(id)?) };
                    place = resume;
                }
                DoneReason::Trap { .. } => return None,
            }
        }
    }

    /// # Safety
    /// The registers have the service's arguments.
    unsafe fn serve(&mut self, context: &Context, service: Service) {
        let word = |register: XReg| self.vm.state()[register].get_u32();
        let host = self.vm.state()[XReg::x0].get_ptr::<()>().cast_const();
        let result = match service {
            // SAFETY: the host is the context's.
            Service::Tick => unsafe { (context.tick)(host) },
            Service::Image | Service::Rare => {
                let perform = if service == Service::Image { context.image } else { context.rare };
                let [arguments, results] =
                    [XReg::x2, XReg::x4].map(|at| self.vm.state()[at].get_ptr::<Words>());
                // SAFETY: the code leaves as many words as the operation has.
                unsafe { perform(host, word(XReg::x1), arguments, word(XReg::x3), results) };
                0
            }
            // SAFETY: the first argument is the address of four words.
            Service::Function(call) => unsafe {
                FUNCTIONS[call as usize](self.vm.state()[XReg::x0].get_ptr());
                0
            },
            Service::Atomic(action) => {
                // SAFETY: the first argument is the address of a word inside a buffer or of the one for what is outside.
                let memory = unsafe { AtomicU32::from_ptr(self.vm.state()[XReg::x0].get_ptr()) };
                atomic(memory, action, word(XReg::x1), word(XReg::x2))
            }
            Service::Fence => {
                fence(Ordering::SeqCst);
                0
            }
        };
        self.vm.state_mut()[XReg::x0].set_u32(result);
    }
}

fn atomic(memory: &AtomicU32, action: Atomic, a: u32, b: u32) -> u32 {
    const ORDER: Ordering = Ordering::SeqCst;
    let signed = |old: u32, least: bool| {
        let (old, a) = (old as i32, a as i32);
        Some(if least { old.min(a) } else { old.max(a) } as u32)
    };
    let either = |old: Result<u32, u32>| old.unwrap_or_else(|old| old);
    match action {
        Atomic::Add => memory.fetch_add(a, ORDER),
        Atomic::SMin => either(memory.fetch_update(ORDER, ORDER, |old| signed(old, true))),
        Atomic::SMax => either(memory.fetch_update(ORDER, ORDER, |old| signed(old, false))),
        Atomic::UMin => memory.fetch_min(a, ORDER),
        Atomic::UMax => memory.fetch_max(a, ORDER),
        Atomic::And => memory.fetch_and(a, ORDER),
        Atomic::Or => memory.fetch_or(a, ORDER),
        Atomic::Xor => memory.fetch_xor(a, ORDER),
        Atomic::Exchange => memory.swap(a, ORDER),
        Atomic::CompareExchange => either(memory.compare_exchange(b, a, ORDER, ORDER)),
    }
}
