//! Who uses what.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::ir::{Inst, Shader, Value, for_each_condition};

/// The instructions that use each value; the ifs that do count as two instructions without a result.
pub struct Uses(SecondaryMap<Value, SmallVec<[Inst; 4]>>);

impl Uses {
    /// Of a shader whose instructions in program order are `insts`.
    pub fn of(shader: &Shader, insts: &[Inst]) -> Uses {
        let mut uses: SecondaryMap<Value, SmallVec<[Inst; 4]>> = SecondaryMap::new();
        for &inst in insts {
            shader.insts[inst].args.iter().for_each(|&arg| uses[arg].push(inst));
        }
        for_each_condition(&shader.body, &mut |condition| {
            let inst = shader.values[condition].inst;
            uses[condition].extend([inst, inst]);
        });
        Uses(uses)
    }

    /// Of a value; one that uses it twice is there twice.
    pub fn of_value(&self, value: Value) -> &[Inst] {
        &self.0[value]
    }

    /// Whether one instruction uses a value, once.
    pub fn is_single(&self, value: Value) -> bool {
        self.0[value].len() == 1
    }
}
