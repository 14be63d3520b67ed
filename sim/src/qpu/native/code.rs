//! A program that was compiled.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use vc4_jit::{Code, Effort, truncating};

use super::emit::{Emitted, emit};
use super::known::Floats;
use super::layout::Constant;
use super::part::has_pixel;
use super::work::{Entry, Exit, Work};
use crate::qpu::op::Op;

/// A program that was compiled.
#[derive(Debug)]
pub struct Native {
    functions: Vec<Code>,
    /// Traces at which functions are entered.
    entries: BTreeMap<usize, Entry>,
    pub work: Vec<Work>,
    pub exits: Vec<Exit>,
    /// Register slots that are read before they are written: they start from zero.
    pub cleared: Vec<u8>,
    pub constants: Vec<Constant>,
    /// Whether pixel coordinates are read.
    pub pixels: bool,
    /// How often the interpreter did a run of arithmetic again.
    pub repeated: AtomicU32,
}

impl Native {
    /// Compiles a program. `None` if it has to be interpreted, or there is no code for this host.
    pub fn new(ops: &[Op], address: u32, floats: Floats) -> Option<Native> {
        if cfg!(target_endian = "big") || !truncating::works() {
            return None;
        }
        let start = Instant::now();
        let isa = vc4_jit::isa(Effort::Quick).ok()?;
        let emitted = emit(ops, address, floats, isa.default_call_conv())?;
        let Emitted { functions, entries, work, exits, cleared, constants } = emitted;
        let functions = functions.into_iter().map(|function| Code::new(function, Effort::Quick));
        let functions = functions
            .collect::<Result<Vec<Code>, _>>()
            .inspect_err(|problem| log::debug!("a QPU program is interpreted: {problem}"))
            .ok()?;
        let constants = constants.into_iter().map(Constant).collect();
        log::debug!(
            "{} QPU instructions at {:#x} became {} bytes of machine code in {:?}",
            ops.len(),
            address,
            functions.iter().map(Code::len).sum::<usize>(),
            start.elapsed()
        );
        let pixels = ops.iter().any(has_pixel);
        Some(Native {
            functions,
            entries,
            work,
            exits,
            cleared,
            constants,
            pixels,
            repeated: AtomicU32::new(0),
        })
    }

    /// The first byte of the function that has the trace at an instruction, which other functions lead to, or where the program
    /// begins; and what its [`super::Context::entry`] is. It takes that context and returns the number of an exit.
    pub fn entry(&self, start: usize) -> (*const u8, u32) {
        let Entry { function, number } = self.entries[&start];
        (self.functions[function].entry(), number)
    }
}
