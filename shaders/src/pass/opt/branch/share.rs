//! How much of a branched shader an average draw runs.

use super::weight::weight;
use crate::ir::uniform::Uniform;
use crate::ir::{Node, Op, Region, Shader};

/// Part of a whole.
#[derive(Clone, Copy, Default)]
pub struct Share {
    run: u32,
    all: u32,
}

impl Share {
    /// Of a shader with branches. Of the arms of an if that a whole draw takes alike, either is taken in one draw of two; what
    /// elements decide is run, for their sake or for that of others.
    pub fn of(shader: &Shader) -> Share {
        let uniform = Uniform::of(shader);
        let mut share = Share::default();
        add(shader, &uniform, &shader.body, 0, &mut share);
        share
    }

    /// So much of a number.
    pub fn part_of(self, whole: usize) -> usize {
        if self.all == 0 {
            whole
        } else {
            (whole as u64 * u64::from(self.run) / u64::from(self.all)) as usize
        }
    }
}

/// Halvings after which an arm is hardly ever run. Weights are multiplied by as much, so that halves are whole.
const MAX_HALVINGS: u32 = 4;

/// Sums up a region that is run in one draw of 2^`halvings`.
fn add(shader: &Shader, uniform: &Uniform, region: &Region, halvings: u32, share: &mut Share) {
    for node in region {
        match node {
            &Node::Block(block) => {
                let insts = &shader.blocks[block].insts;
                let weight = insts.iter().map(|&inst| weight(shader, inst)).sum::<u32>() << MAX_HALVINGS;
                share.all = share.all.saturating_add(weight);
                share.run = share.run.saturating_add(weight >> halvings);
            }
            Node::If { cond, then, otherwise } => {
                let asked = match shader.op(*cond) {
                    Op::BAny => shader.args(*cond)[0],
                    _ => *cond,
                };
                let decided = u32::from(uniform.contains(asked));
                for arm in [then, otherwise] {
                    add(shader, uniform, arm, (halvings + decided).min(MAX_HALVINGS), share);
                }
            }
            Node::Loop(body) => add(shader, uniform, body, halvings, share),
            Node::Break | Node::Continue | Node::Return | Node::Discard => {}
        }
    }
}
