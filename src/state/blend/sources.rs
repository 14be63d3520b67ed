//! The colours of a program, as blending takes them.

use crate::state::emitter::Emitter;
use crate::state::target::{Encoding, encode};

/// The program's colours, and what was computed of them for an earlier sample.
pub(super) struct Sources<V> {
    /// First and second colour; the second is the first where nothing reads it.
    pub raw: [[V; 4]; 2],
    clamped: [[Option<V>; 4]; 2],
    /// The packed word of the first colour.
    packed: Option<V>,
}

impl<V: Copy> Sources<V> {
    pub fn new(src: [V; 4], src1: Option<[V; 4]>) -> Self {
        Sources { raw: [src, src1.unwrap_or(src)], clamped: [[None; 4]; 2], packed: None }
    }

    /// A component within the bounds of the target's operands.
    pub fn operand<E: Emitter<Value = V>>(
        &mut self,
        e: &mut E,
        encoding: &Encoding,
        source: usize,
        component: usize,
    ) -> V {
        let raw = self.raw[source][component];
        *self.clamped[source][component].get_or_insert_with(|| clamped(e, encoding, raw))
    }

    /// The word of the first colour alone.
    pub fn word<E: Emitter<Value = V>>(&mut self, e: &mut E, encoding: &Encoding) -> V {
        let src = self.raw[0];
        *self.packed.get_or_insert_with(|| encode(e, encoding, src))
    }
}

/// Operands of blending are clamped on fixed-point targets; results are by packing.
pub(super) fn clamped<E: Emitter>(e: &mut E, encoding: &Encoding, value: E::Value) -> E::Value {
    let Some([low, high]) = encoding.bounds() else { return value };
    let (low, high) = (e.float(low), e.float(high));
    let value = e.fmax(value, low);
    e.fmin(value, high)
}
