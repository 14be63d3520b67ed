//! Uniform buffers and push constants: words at constant offsets come from the stream, the others by
//! direct lookups (T-UBO).

use crate::binding::UniformSlot;
use crate::ir::{Op, Shader};
use crate::pass::rewrite::{Action, rewrite};

/// Replaces buffer and push-constant loads.
pub fn run(shader: &mut Shader) {
    let Ok(()) = rewrite(shader, |b, data| {
        let value = match data.op {
            Op::LoadUbo { buffer, offset } => b.op(Op::Uniform(UniformSlot::Ubo { buffer, offset }), &[]),
            Op::LoadPush(offset) => b.op(Op::Uniform(UniformSlot::Push(offset)), &[]),
            Op::BufferElements { buffer, offset, stride } => {
                b.op(Op::Uniform(UniformSlot::BufferElements { buffer, offset, stride }), &[])
            }
            Op::LoadUboDynamic { buffer, offset, last } => {
                let at = b.op(Op::ClampDirect { buffer, last }, &data.args);
                b.op(Op::TmuDirect { buffer, offset }, &[at])
            }
            _ => return Ok::<_, std::convert::Infallible>(Action::Keep),
        };
        Ok(Action::with(value))
    });
}
