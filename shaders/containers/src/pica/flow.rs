//! Which words of a program can run, and which registers they touch.

use super::{Field, Inst, Op};

/// What can run from an entry point.
///
/// Every branch counts as taken and as not taken, and the two ends of an if, a call or a loop as reached; so a
/// word that can run is always found, and one that cannot may be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Whether an `end` can be reached.
    pub end: bool,
    /// Inputs read, bit n = v`n`.
    pub inputs: u16,
    /// Outputs written, bit n = o`n`.
    pub outputs: u16,
}

impl Reach {
    /// Follows `code` from the word `entry`. Words beyond the code are not followed.
    pub fn from(code: &[u32], entry: u32) -> Reach {
        let mut reach = Reach::default();
        let mut seen = vec![false; code.len()];
        let mut open = vec![entry as usize];
        while let Some(at) = open.pop() {
            let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) else {
                continue;
            };
            *seen = true;
            let Some(inst) = Inst::decode(code[at]) else {
                open.push(at + 1);
                continue;
            };
            reach.note(inst);
            if inst.op() == Op::End {
                continue;
            }
            open.push(at + 1);
            if let Some(target) = inst.get(Field::Target) {
                // The target of a loop is the last word of its body, which falls through to the word behind.
                open.push(target as usize);
            }
            if matches!(inst.op(), Op::Ifu | Op::Ifc) {
                open.extend(inst.target_end().map(|end| end as usize));
            }
        }
        reach
    }

    fn note(&mut self, inst: Inst) {
        self.end |= inst.op() == Op::End;
        if let Some(output @ 0..16) = inst.get(Field::Dst) {
            self.outputs |= 1 << output;
        }
        self.inputs |= inputs(inst);
    }
}

/// Input registers an instruction reads, bit n = v`n`.
pub fn inputs(inst: Inst) -> u16 {
    inst.op()
        .row()
        .sources()
        .filter_map(|field| inst.get(field))
        .filter(|&register| register < 16)
        .fold(0, |mask, register| mask | 1 << register)
}
