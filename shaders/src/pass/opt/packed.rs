//! A choice between parts of words becomes parts of a chosen word.
//!
//! `inside ? texelFetch(...) : vec4(0.0)` chooses four times, and keeps four registers for what the texture unit delivered in
//! one. Operands unpack bytes and halves for nothing (qpu.md §2.11), so the word is chosen and its parts are taken where they
//! are used. The same goes for what the arms of an if leave.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use vc4::qpu::Unpack;

use super::dce;
use crate::ir::{Block, Inst, Op, Shader, Type, Value};
use crate::pass::rewrite::prepend;

/// The arms of a select or a phi: the word whose part is chosen, or none for a constant.
type Arms = SmallVec<[Option<Value>; 2]>;

/// Runs the pass. Returns whether anything changed.
pub fn run(shader: &mut Shader) -> bool {
    let mut changed = false;
    for block in shader.blocks_in_order() {
        let mut groups: Vec<Group> = Vec::new();
        let mut known: FxHashMap<Key, usize> = FxHashMap::default();
        for &inst in &shader.blocks[block].insts {
            let Some(choice) = Choice::of(shader, inst) else { continue };
            let group = *known.entry(choice.key.clone()).or_insert_with(|| {
                let (key, words) = (choice.key.clone(), smallvec![0; choice.words.len()]);
                groups.push(Group { key, words, members: Vec::new() });
                groups.len() - 1
            });
            groups[group].add(inst, &choice);
        }
        groups.retain(|group| group.members.len() > 1);
        changed |= !groups.is_empty();
        for group in groups {
            group.choose(shader, block);
        }
    }
    // The parts that were chosen between.
    changed && dce::run(shader)
}

/// What choices must have in common to become one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    /// A select's condition.
    condition: Option<Value>,
    /// Where a phi's operands come from.
    from: SmallVec<[Block; 2]>,
    arms: Arms,
    /// Bits of a part.
    bits: u32,
}

/// A select or a phi of parts.
struct Choice {
    key: Key,
    part: Unpack,
    /// What constant arms are in a word; 0 for others.
    words: SmallVec<[u32; 2]>,
}

impl Choice {
    fn of(shader: &Shader, inst: Inst) -> Option<Choice> {
        let data = &shader.insts[inst];
        let (condition, arms) = match data.op {
            Op::Select => (Some(data.args[0]), &data.args[1..]),
            Op::Phi => (None, &data.args[..]),
            _ => return None,
        };
        let word = |&arm: &Value| match shader.op(arm) {
            Op::UnpackFloat(part) => Some((part, shader.args(arm)[0])),
            _ => None,
        };
        let (part, _) = arms.iter().find_map(word)?;
        let (shift, bits) = place(part)?;
        let mut key = Key { condition, from: data.phi_blocks.clone(), arms: Arms::new(), bits };
        let mut words = SmallVec::new();
        for arm in arms {
            let constant = match word(arm) {
                Some((other, word)) => {
                    key.arms.push((other == part).then_some(word));
                    (other == part).then_some(0)
                }
                None => {
                    key.arms.push(None);
                    shader.const_of(*arm).and_then(|value| packed(f32::from_bits(value), bits))
                }
            };
            words.push(constant? << shift);
        }
        Some(Choice { key, part, words })
    }
}

/// The lowest bit of a part, and how many it has; `None` for what is no part.
fn place(part: Unpack) -> Option<(u32, u32)> {
    Some(match part {
        Unpack::Byte0 => (0, 8),
        Unpack::Byte1 => (8, 8),
        Unpack::Byte2 => (16, 8),
        Unpack::Byte3 => (24, 8),
        Unpack::Half0 => (0, 16),
        Unpack::Half1 => (16, 16),
        _ => return None,
    })
}

/// What a part of so many bits must be to unpack to a number exactly.
fn packed(value: f32, bits: u32) -> Option<u32> {
    match (value.to_bits(), bits) {
        (0, _) => Some(0),
        (ONE, 8) => Some(0xff),
        (ONE, 16) => Some(0x3c00),
        _ => None,
    }
}

const ONE: u32 = 1f32.to_bits();

/// Choices between parts of the same words.
struct Group {
    key: Key,
    /// What the constant arms are as words.
    words: SmallVec<[u32; 2]>,
    members: Vec<(Inst, Unpack)>,
}

impl Group {
    fn add(&mut self, inst: Inst, choice: &Choice) {
        if self.members.iter().any(|&(_, part)| part == choice.part) {
            return;
        }
        self.words.iter_mut().zip(&choice.words).for_each(|(word, part)| *word |= part);
        self.members.push((inst, choice.part));
    }

    /// Chooses between the words in front of the first choice, whose places parts take.
    fn choose(self, shader: &mut Shader, block: Block) {
        let Group { key, words, members } = self;
        let Some(&(first, _)) = members.first() else { return };
        let arms = key.arms.iter().zip(words);
        let arms: SmallVec<[Value; 4]> =
            arms.map(|(arm, word)| arm.unwrap_or_else(|| prepend(shader, |b| b.word(word)))).collect();
        let (op, args) = match key.condition {
            Some(condition) => (Op::Select, [condition].into_iter().chain(arms).collect()),
            None => (Op::Phi, arms),
        };
        let inst = shader.make_inst(op, args, &[Type::Word], false);
        shader.insts[inst].phi_blocks = key.from;
        let chosen = shader.insts[inst].results[0];
        for &(member, part) in &members {
            let data = &mut shader.insts[member];
            (data.op, data.args) = (Op::UnpackFloat(part), smallvec![chosen]);
            data.phi_blocks.clear();
        }
        let insts = &mut shader.blocks[block].insts;
        let at = insts.iter().position(|&other| other == first).expect("it is of this block");
        insts.insert(at, inst);
        if op == Op::Phi {
            // Phis come first.
            let (phis, rest): (Vec<Inst>, Vec<Inst>) =
                std::mem::take(insts).into_iter().partition(|&inst| shader.insts[inst].op.is(Op::Phi));
            shader.blocks[block].insts = phis.into_iter().chain(rest).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::verify::verify;
    use crate::ir::{Builder, Node, Stage};

    /// A shader that writes what `choose` makes of two words and a condition.
    fn shader(choose: impl FnOnce(&mut Builder, Value, [Value; 2]) -> Vec<Value>) -> Shader {
        let mut shader = Shader::new(Stage::Fragment);
        let block = shader.entry().expect("a new shader has a block");
        let mut b = Builder::new(&mut shader, block);
        let words = [0, 1].map(|n| b.emit(Op::Varying(n), &[])[0]);
        let condition = b.op(Op::SLt, &words);
        let chosen = choose(&mut b, condition, words);
        let sum = chosen.into_iter().reduce(|sum, value| b.op(Op::FAdd, &[sum, value]));
        b.emit(Op::TlbColorWrite, &[sum.expect("something is chosen")]);
        run(&mut shader);
        shader
    }

    fn count(shader: &Shader, is: impl Fn(Op) -> bool) -> usize {
        shader.insts_in_order().into_iter().filter(|&inst| is(shader.insts[inst].op)).count()
    }

    fn selects(shader: &Shader) -> usize {
        count(shader, |op| op == Op::Select)
    }

    const BYTES: [Unpack; 4] = [Unpack::Byte0, Unpack::Byte1, Unpack::Byte2, Unpack::Byte3];

    #[test]
    fn a_texel_is_chosen_once() {
        let shader = shader(|b, condition, [texel, _]| {
            let (zero, one) = (b.float(0.0), b.float(1.0));
            let parts = BYTES.map(|part| b.op(Op::UnpackFloat(part), &[texel]));
            let others = [zero, zero, zero, one];
            parts.into_iter().zip(others).map(|(part, other)| b.select(condition, part, other)).collect()
        });
        assert_eq!(selects(&shader), 1);
        assert_eq!(count(&shader, |op| matches!(op, Op::UnpackFloat(_))), 4);
        // The word that unpacks to 0, 0, 0, 1.
        assert_eq!(count(&shader, |op| op == Op::Const(0xff00_0000)), 1);
    }

    #[test]
    fn one_of_two_texels_is_chosen_once() {
        let shader = shader(|b, condition, words| {
            let chosen = BYTES.map(|part| {
                let parts = words.map(|word| b.op(Op::UnpackFloat(part), &[word]));
                b.select(condition, parts[1], parts[0])
            });
            chosen.to_vec()
        });
        assert_eq!((selects(&shader), count(&shader, |op| matches!(op, Op::UnpackFloat(_)))), (1, 4));
    }

    #[test]
    fn what_the_arms_of_an_if_leave_is_a_word() {
        let mut shader = Shader::new(Stage::Fragment);
        let entry = shader.entry().expect("a new shader has a block");
        let [then, otherwise, join] = [(); 3].map(|()| shader.blocks.push(Default::default()));
        let mut b = Builder::new(&mut shader, entry);
        let words = [0, 1].map(|n| b.emit(Op::Varying(n), &[])[0]);
        let cond = b.op(Op::SLt, &words);
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let mut b = Builder::new(&mut shader, then);
        let parts = BYTES.map(|part| b.op(Op::UnpackFloat(part), &[words[0]]));
        let mut b = Builder::new(&mut shader, join);
        let others = [zero, zero, zero, one];
        let phis: Vec<Value> = std::iter::zip(parts, others)
            .map(|(part, other)| b.phi(Type::Word, &[(then, part), (otherwise, other)]))
            .collect();
        let chosen = phis.into_iter().reduce(|sum, value| b.op(Op::FAdd, &[sum, value]));
        b.emit(Op::TlbColorWrite, &[chosen.expect("something is chosen")]);
        let [then, otherwise] = [then, otherwise].map(|block| vec![Node::Block(block)]);
        shader.body.extend([Node::If { cond, then, otherwise }, Node::Block(join)]);
        verify(&shader).expect("it was well made");

        assert!(run(&mut shader));
        verify(&shader).expect("it stays well made");
        let phis = shader.blocks[join].insts.iter().map(|&inst| &shader.insts[inst]);
        let phis: Vec<_> = phis.filter(|data| data.op == Op::Phi).collect();
        assert_eq!(phis.len(), 1);
        assert_eq!(phis[0].args[0], words[0], "the word that the arm looked at");
        assert_eq!(shader.const_of(phis[0].args[1]), Some(0xff00_0000), "what unpacks to 0, 0, 0, 1");
        assert_eq!(count(&shader, |op| matches!(op, Op::UnpackFloat(_))), 4);
    }

    #[test]
    fn other_choices_stay() {
        let shader = shader(|b, condition, [one, other]| {
            let half = b.float(0.5);
            let byte = |b: &mut Builder, n: usize, word| b.op(Op::UnpackFloat(BYTES[n]), &[word]);
            let (a, c) = (byte(b, 0, one), byte(b, 1, one));
            let (d, e) = (byte(b, 2, other), byte(b, 3, other));
            // No byte is 0.5; other parts; one choice alone.
            let zero = b.float(0.0);
            [(a, half), (c, half), (a, d), (c, e), (d, zero)]
                .map(|(yes, no)| b.select(condition, yes, no))
                .to_vec()
        });
        assert_eq!(selects(&shader), 5);
    }
}
