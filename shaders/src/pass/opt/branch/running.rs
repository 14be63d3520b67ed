//! What is known of loops: an iteration runs for some element.

use cranelift_entity::EntitySet;

use crate::ir::{Inst, Node, Op, Region, Shader, Value};

/// Words that are not zero in some element wherever they may be used: which elements run an iteration, as phis of loops that
/// are left when none does.
pub fn of(shader: &Shader) -> EntitySet<Value> {
    let mut running = EntitySet::new();
    collect(shader, &shader.body, &mut running);
    running
}

fn collect(shader: &Shader, region: &Region, running: &mut EntitySet<Value>) {
    for node in region {
        match node {
            Node::Loop(body) => {
                running.extend(carried(shader, body));
                collect(shader, body, running);
            }
            Node::If { then, otherwise, .. } => {
                collect(shader, then, running);
                collect(shader, otherwise, running);
            }
            _ => {}
        }
    }
}

/// The phis of a loop that are next what its end looks at, which leaves if all of it is zero.
fn carried<'a>(shader: &'a Shader, body: &'a Region) -> impl Iterator<Item = Value> + 'a {
    let next = match body[..] {
        [Node::Block(_), .., Node::If { cond, .. }, Node::Block(back)] => {
            left_when_zero(shader, cond).zip(Some(back))
        }
        _ => None,
    };
    let first = match body.first() {
        Some(&Node::Block(block)) => &shader.blocks[block].insts[..],
        _ => &[],
    };
    let is_next = move |inst: &Inst| {
        let data = &shader.insts[*inst];
        let mut ways = data.phi_blocks.iter().zip(&data.args);
        ways.any(|(&from, &value)| Some((value, from)) == next)
    };
    let phis = first.iter().copied().take_while(|&inst| shader.insts[inst].op.is(Op::Phi));
    phis.filter(is_next).map(|inst| shader.insts[inst].results[0])
}

/// The word of a condition that holds where it is zero.
fn left_when_zero(shader: &Shader, cond: Value) -> Option<Value> {
    match *shader.args(cond) {
        [word, zero] if shader.op(cond) == Op::IEq && shader.const_of(zero) == Some(0) => Some(word),
        _ => None,
    }
}
