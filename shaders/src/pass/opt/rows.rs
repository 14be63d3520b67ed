//! Which row of a shaded vertex is written first.
//!
//! Rows are written one at a time and counted by the hardware, so that what is ready waits for the row in front of it: with
//! the header first, varyings that only pass through wait for the division by w. A write set-up may begin with any row
//! (qpu.md §4.9): programs write from some row to the last one, and then the rows in front of it, where that ends sooner.

use cranelift_entity::SecondaryMap;
use vc4::qpu::rules;

use crate::ir::{Inst, Op, Shader, Value};

/// Rows that writing may begin with: the header, what follows its place on the screen, the varyings behind the header.
const STARTS: [usize; 3] = [0, 1, 3];
/// Slots from the address of a lookup to its word, at best (qpu.md §7).
const LOOKUP: u32 = 9;

/// Runs the pass, the last one that may change what the rows are made of. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let Some(&block) = shader.blocks_in_order().last() else { return false };
    // Where blocks in front of the last one write rows as well, the order stays.
    let is_write = |inst: &Inst| matches!(shader.insts[*inst].op, Op::VpmWrite(_));
    let writes: Vec<Inst> = shader.insts_in_order().into_iter().filter(is_write).collect();
    if !writes.iter().all(|inst| shader.blocks[block].insts.contains(inst)) {
        return false;
    }
    let start = best_start(shader, &writes);
    if start == 0 {
        return false;
    }
    let insts = &mut shader.blocks[block].insts;
    insts.retain(|inst| !writes.contains(inst));
    insts.extend(writes[start..].iter().chain(&writes[..start]));
    true
}

/// Which of the rows of `writes` is best written first.
fn best_start(shader: &Shader, writes: &[Inst]) -> usize {
    let ready = Readiness::of(shader);
    let rows: Vec<u32> = writes.iter().map(|&inst| ready.of_value(shader.insts[inst].args[0])).collect();
    let price = |&start: &usize| {
        let order = rows[start..].iter().chain(&rows[..start]);
        let last = order.fold(0, |slot, &ready| (slot + 1).max(ready));
        // Every access takes the VPM's port for a slot: reads and their set-up, writes and theirs.
        let accesses = ready.reads + rows.len() as u32 + if start == 0 { 2 } else { 3 };
        (accesses.max(last + u32::from(start > 0)), start)
    };
    STARTS.into_iter().filter(|&start| start < rows.len()).min_by_key(price).unwrap_or(0)
}

/// Slots from a program's start to its values if nothing else were computed.
struct Readiness {
    slots: SecondaryMap<Value, u32>,
    /// Vectors that are read.
    reads: u32,
}

impl Readiness {
    fn of(shader: &Shader) -> Readiness {
        let mut ready = Readiness { slots: SecondaryMap::new(), reads: 0 };
        for inst in shader.insts_in_order() {
            let data = &shader.insts[inst];
            let args = data.args.iter().map(|&arg| ready.of_value(arg)).max().unwrap_or(0);
            let slots = match data.op {
                op if op.is_leaf() => 0,
                Op::VpmRead(row) => {
                    ready.reads += 1;
                    row + 1
                }
                Op::SfuRecip | Op::SfuRsqrt | Op::SfuExp2 | Op::SfuLog2 => args + rules::SFU_R4.distance,
                Op::TmuSample { .. } | Op::TmuDirect { .. } => args + LOOKUP,
                // Two operations, of which the second waits for what the first one packs.
                Op::PackHalves => args + 2,
                _ => args + 1,
            };
            for &result in &data.results {
                ready.slots[result] = slots;
            }
        }
        ready
    }

    fn of_value(&self, value: Value) -> u32 {
        self.slots[value]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Builder, Stage};

    /// Rows that take so many operations each.
    fn shader(rows: &[usize]) -> Shader {
        let mut shader = Shader::new(Stage::Vertex);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let input = b.emit(Op::VpmRead(0), &[])[0];
        let mut chain = |length: usize| (0..length).fold(input, |sum, _| b.op(Op::FAdd, &[sum, input]));
        let rows: Vec<Value> = rows.iter().map(|&length| chain(length)).collect();
        for (row, value) in rows.into_iter().enumerate() {
            b.emit(Op::VpmWrite(row as u32), &[value]);
        }
        shader
    }

    fn order(mut shader: Shader) -> Vec<u32> {
        run(&mut shader);
        let row = |inst: Inst| match shader.insts[inst].op {
            Op::VpmWrite(row) => Some(row),
            _ => None,
        };
        shader.insts_in_order().into_iter().filter_map(row).collect()
    }

    #[test]
    fn what_is_ready_first_is_written_first() {
        assert_eq!(order(shader(&[30, 29, 27, 1, 1, 1, 1])), [3, 4, 5, 6, 0, 1, 2]);
    }

    #[test]
    fn without_varyings_the_place_on_the_screen_comes_last() {
        assert_eq!(order(shader(&[30, 2, 2])), [1, 2, 0]);
    }

    #[test]
    fn what_takes_longest_is_written_last() {
        assert_eq!(order(shader(&[10, 9, 7, 40, 40])), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_set_up_more_must_pay() {
        assert_eq!(order(shader(&[1, 1, 1, 1, 1])), [0, 1, 2, 3, 4]);
    }
}
