//! Packing of colours: bytes that are unpacked only to be packed again stay bytes, and clamps in front of a pack that
//! clamps go.

use vc4::qpu::Unpack;

use crate::ir::{Op, Shader, Value};
use crate::pass::rewrite::{Action, rewrite};

const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];

/// Simplifies the operands of byte packs.
pub fn run(shader: &mut Shader) {
    if !shader.insts_in_order().into_iter().any(|inst| shader.insts[inst].op.is(Op::PackUnorm8x4)) {
        return;
    }
    let Ok(()) = rewrite(shader, |b, data| {
        if !data.op.is(Op::PackUnorm8x4) {
            return Ok::<_, std::convert::Infallible>(Action::Keep);
        }
        let args: Vec<Value> = data.args.iter().map(|&arg| unclamped(b.shader, arg)).collect();
        if let Some(word) = whole_word(b.shader, &args) {
            return Ok(Action::with(word));
        }
        Ok(if args[..] == data.args[..] { Action::Keep } else { Action::with(b.op(Op::PackUnorm8x4, &args)) })
    });
}

/// The word of which the arguments are the bytes in order; v/255 packs to v again.
fn whole_word(shader: &Shader, args: &[Value]) -> Option<Value> {
    let word = *shader.args(args[0]).first()?;
    let in_place = |(&arg, byte): (&Value, Unpack)| {
        shader.op(arg) == Op::UnpackFloat(byte) && shader.args(arg)[0] == word
    };
    args.iter().zip(BYTES).all(in_place).then_some(word)
}

/// What a clamp to 0…1, or to wider bounds, was applied to: the pack clamps anyway (qpu.md §2.11).
fn unclamped(shader: &Shader, mut value: Value) -> Value {
    loop {
        let redundant = |bound: f32| match shader.op(value) {
            Op::FMax => bound <= 0.0,
            Op::FMin => bound >= 1.0,
            _ => false,
        };
        let args = shader.args(value);
        let inner = match args {
            &[a, b] => [(a, b), (b, a)]
                .into_iter()
                .find(|&(_, bound)| {
                    shader.const_of(bound).is_some_and(|word| redundant(f32::from_bits(word)))
                })
                .map(|(inner, _)| inner),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}
