//! Functions that kernels call for four elements.
//!
//! They compute in double precision and round once, so that results are the same on every machine.

use vc4_shaders::ir::Op;
use vc4_shaders::ir::eval::eval;

use crate::batch::Words;
use crate::layout::Function;

/// A function's number in [`FUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// 2^a.
    Exp2,
    /// log2(a).
    Log2,
    /// sin(a).
    Sin,
    /// cos(a).
    Cos,
    /// Floor, where the machine does not have it.
    Floor,
    /// Ceiling.
    Ceil,
    /// Truncation.
    Trunc,
    /// Nearest integer, ties to even.
    RoundEven,
}

impl Call {
    /// The function of an operation.
    pub const fn of(op: Op) -> Option<Call> {
        Some(match op {
            Op::FExp2 => Call::Exp2,
            Op::FLog2 => Call::Log2,
            Op::FSin => Call::Sin,
            Op::FCos => Call::Cos,
            Op::FFloor => Call::Floor,
            Op::FCeil => Call::Ceil,
            Op::FTrunc => Call::Trunc,
            Op::FRoundEven => Call::RoundEven,
            _ => return None,
        })
    }
}

/// By number.
pub static FUNCTIONS: [Function; 8] = [exp2, log2, sin, cos, floor, ceil, trunc, round_even];

macro_rules! functions {
    ($($name:ident $op:ident,)*) => {
        $(
            unsafe extern "C" fn $name(words: *mut Words) {
                // SAFETY: machine code passes four words on its stack.
                let words = unsafe { &mut *words };
                *words = words.map(|word| eval(Op::$op, &[word]).unwrap_or(0));
            }
        )*
    };
}

functions! {
    exp2 FExp2,
    log2 FLog2,
    sin FSin,
    cos FCos,
    floor FFloor,
    ceil FCeil,
    trunc FTrunc,
    round_even FRoundEven,
}
