//! Selection: IR values become operations on virtual registers.
//!
//! The walk runs backwards, so a consumer sees its operands before they are emitted and can take a
//! single-use producer into itself: a coordinate computed straight into a TMU register, a product
//! packed on its way out, one arm of a select as a conditional write. Operations are collected in
//! reverse; each IR instruction contributes a short forward sequence.

mod conditions;
mod inputs;
mod live;
mod operation;
mod packs;
mod ports;
mod regions;
mod requests;
mod selector;

use vc4::qpu::{AddOp, RegFile, Waddr};

use super::error::BackendError;
use super::virt::{Dst, Operation, Src, Unit, VirtProgram, segments};
use crate::binding::UniformSlot;
use crate::ir::Shader;
use conditions::drop_repeated_flags;
use selector::Selector;

pub use inputs::Inputs;

/// Turns a lowered shader into operations. Its loops must have the form that [`crate::pass::lower::control`] gives
/// them; what ifs guard must be without effect where it is not wanted, because all elements run it if one does.
pub fn select(shader: &Shader, inputs: Inputs) -> Result<VirtProgram, BackendError> {
    let mut selector = Selector::new(shader);
    live::count_uses(&mut selector);
    live::find_kill(&mut selector)?;
    live::find_first_rows(&mut selector);
    regions::region(&mut selector, &shader.body)?;
    inputs::read_inputs(&mut selector, inputs)?;
    let mut program = selector.program;
    program.ops.reverse();
    reset_streams(&mut program);
    drop_repeated_flags(&mut program.ops);
    Ok(program)
}

/// A piece that takes words of the uniform stream behind a branch or where one goes starts by setting the stream's
/// position, which the kernel forgets there (qpu.md §5.3). The setting takes the stream's address from wherever the
/// stream stands, which is behind the words of some piece: every word there is an address, because pieces with words start
/// with one. So that one comes even behind the words of a loop, the piece that follows it always does.
fn reset_streams(program: &mut VirtProgram) {
    if !program.ops.iter().any(Operation::is_marker) {
        return;
    }
    let ops = std::mem::take(&mut program.ops);
    program.ops.reserve(ops.len());
    let takes_words: Vec<bool> =
        segments(&ops).into_iter().map(|piece| ops[piece].iter().any(|op| op.uniform().is_some())).collect();
    let mut pieces = takes_words.into_iter().skip(1);
    for op in ops {
        let takes_words = op.is_marker() && pieces.next().is_some_and(|takes_words| takes_words);
        let resets = takes_words || matches!(op.unit, Unit::LoopEnd(_));
        program.ops.push(op);
        if resets {
            let offset = program.reg();
            program.ops.push(Operation::new(Unit::StreamOffset, Dst::Reg(offset), &[]));
            let address = program.word(UniformSlot::StreamAddress);
            let operands = [Src::Reg(offset).into(), Src::Uniform(address).into()];
            let reset = Dst::Port(Waddr::UNIF_ADDR, Some(RegFile::A));
            let reset = Operation::new(Unit::Add(AddOp::Add), reset, &operands);
            program.ops.push(Operation { ordered: true, ..reset });
        }
    }
}
