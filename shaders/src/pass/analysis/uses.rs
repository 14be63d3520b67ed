//! Who uses what.

use cranelift_entity::EntityRef;
use cranelift_entity::packed_option::ReservedValue;

use crate::ir::{Inst, Shader, Value, for_each_condition};

/// The instructions that use each value; the ifs that do count as two instructions without a result.
pub struct Uses {
    /// Where each value's list ends; it begins where the one before ends.
    ends: Vec<u32>,
    /// The lists, one behind the other.
    insts: Vec<Inst>,
}

impl Uses {
    /// Of a shader whose instructions in program order are `insts`.
    pub fn of(shader: &Shader, insts: &[Inst]) -> Uses {
        let mut counts = vec![0u32; shader.values.len()];
        for_each_use(shader, insts, |value, _| counts[value.index()] += 1);
        // Each end is where the list begins, until its uses are in it.
        let mut sum = 0;
        let start = |count: &u32| {
            sum += count;
            sum - count
        };
        let mut ends: Vec<u32> = counts.iter().map(start).collect();
        let mut list = vec![Inst::reserved_value(); sum as usize];
        for_each_use(shader, insts, |value, inst| {
            let end = &mut ends[value.index()];
            list[*end as usize] = inst;
            *end += 1;
        });
        Uses { ends, insts: list }
    }

    /// Of a value; one that uses it twice is there twice.
    pub fn of_value(&self, value: Value) -> &[Inst] {
        let index = value.index();
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.insts[start as usize..self.ends[index] as usize]
    }

    /// Whether one instruction uses a value, once.
    pub fn is_single(&self, value: Value) -> bool {
        self.of_value(value).len() == 1
    }
}

fn for_each_use(shader: &Shader, insts: &[Inst], mut f: impl FnMut(Value, Inst)) {
    for &inst in insts {
        shader.insts[inst].args.iter().for_each(|&arg| f(arg, inst));
    }
    for_each_condition(&shader.body, &mut |condition| {
        let inst = shader.values[condition].inst;
        [inst, inst].into_iter().for_each(|inst| f(condition, inst));
    });
}
