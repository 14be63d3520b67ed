//! Words as sums of multiples of what tells invocations apart, and of words that the host knows when it dispatches.

use std::collections::BTreeMap;

use super::host::{HostSum, HostWord};
use crate::binding::Descriptor;
use crate::ir::{BuiltinInput, Invocation, Op, Shader, Value};

/// Values that are looked at for one sum: what is made of more is no place.
const STEPS: u32 = 64;

/// What a term is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Atom {
    /// 1.
    One,
    /// The workgroup's number along an axis.
    Group(u8),
    /// The invocation's number in its workgroup along an axis.
    Local(u8),
}

/// A sum, modulo 2^32: of each atom, times a word of the host's if there is one, so many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linear {
    terms: BTreeMap<(Atom, Option<HostWord>), u32>,
}

impl Linear {
    /// What a value is; `None` if it is nothing of the kind.
    pub fn of(shader: &Shader, value: Value) -> Option<Linear> {
        sum(shader, value, &mut { STEPS })
    }

    /// The number of an invocation among all along an axis.
    pub fn global(shader: &Shader, axis: u8) -> Linear {
        let mut global = Linear::default();
        global.add((Atom::Group(axis), None), shader.workgroup.size[usize::from(axis & 3).min(2)]);
        global.add_local(shader, axis, 1);
        global
    }

    fn one(atom: Atom, word: Option<HostWord>) -> Linear {
        Linear { terms: [((atom, word), 1)].into() }
    }

    /// An invocation's number in its workgroup, which is 0 where there is but one.
    fn add_local(&mut self, shader: &Shader, axis: u8, factor: u32) {
        if shader.workgroup.size[usize::from(axis & 3).min(2)] > 1 {
            self.add((Atom::Local(axis), None), factor);
        }
    }

    fn add(&mut self, term: (Atom, Option<HostWord>), factor: u32) {
        let factor = self.terms.get(&term).copied().unwrap_or(0).wrapping_add(factor);
        match factor {
            0 => self.terms.remove(&term),
            _ => self.terms.insert(term, factor),
        };
    }

    /// The sum with a multiple of another.
    pub fn plus(mut self, other: &Linear, factor: u32) -> Linear {
        other.terms.iter().for_each(|(&term, &own)| self.add(term, own.wrapping_mul(factor)));
        self
    }

    /// The sum of its terms with these atoms.
    fn part(&self, is_part: impl Fn(Atom) -> bool) -> Linear {
        let terms = self.terms.iter().filter(|((atom, _), _)| is_part(*atom));
        Linear { terms: terms.map(|(&term, &factor)| (term, factor)).collect() }
    }

    /// What is the same for all invocations, if nothing else is there.
    pub fn host(&self) -> Option<HostSum> {
        let mut host = HostSum::default();
        for (&(atom, word), &factor) in &self.terms {
            match (atom, word) {
                (Atom::One, None) => host.constant = factor,
                (Atom::One, Some(word)) => host.words.push((word, factor)),
                _ => return None,
            }
        }
        Some(host)
    }

    /// What is the same for all invocations, and the rest.
    pub fn split(&self) -> (HostSum, Linear) {
        let host = self.part(|atom| atom == Atom::One).host().unwrap_or_default();
        (host, self.part(|atom| atom != Atom::One))
    }

    /// What a number along an axis is multiplied by, if everything here is a multiple of it.
    pub fn over_global(&self, shader: &Shader, axis: u8) -> Option<HostSum> {
        let group = self.part(|atom| atom == Atom::Group(axis));
        let size = shader.workgroup.size[usize::from(axis & 3).min(2)];
        let mut by = HostSum::default();
        let mut whole = Linear::default();
        for (&(_, word), &factor) in &group.terms {
            let times = factor.checked_div(size).filter(|times| times.checked_mul(size) == Some(factor))?;
            match word {
                None => by.constant = times,
                Some(word) => by.words.push((word, times)),
            }
            whole.add((Atom::Group(axis), word), factor);
            if size > 1 {
                whole.add((Atom::Local(axis), word), times);
            }
        }
        (whole == *self && !whole.terms.is_empty()).then_some(by)
    }

    /// The parts that are multiples of the numbers along single axes: one for each.
    pub fn by_axis(&self) -> [Linear; 3] {
        [0, 1, 2].map(|axis| self.part(|atom| atom == Atom::Group(axis) || atom == Atom::Local(axis)))
    }

    /// The product with a sum of which one is the same for all invocations.
    fn times(&self, other: &Linear) -> Option<Linear> {
        let (factors, rest) = match (self.host(), other.host()) {
            (Some(host), _) => (host, other),
            (None, Some(host)) => (host, self),
            (None, None) => return None,
        };
        let mut product = Linear::default().plus(rest, factors.constant);
        for (word, factor) in factors.words {
            for (&(atom, own), &times) in &rest.terms {
                // Products of two words are not kept.
                if own.is_some() {
                    return None;
                }
                product.add((atom, Some(word)), times.wrapping_mul(factor));
            }
        }
        Some(product)
    }
}

fn sum(shader: &Shader, value: Value, steps: &mut u32) -> Option<Linear> {
    *steps = steps.checked_sub(1)?;
    let args = shader.args(value);
    let mut both = || Some((sum(shader, *args.first()?, steps)?, sum(shader, *args.get(1)?, steps)?));
    match shader.op(value) {
        Op::Const(word) => Some(Linear::default().plus(&Linear::one(Atom::One, None), word)),
        Op::IAdd => both().map(|(a, b)| a.plus(&b, 1)),
        Op::ISub => both().map(|(a, b)| a.plus(&b, u32::MAX)),
        Op::IMul => both().and_then(|(a, b)| a.times(&b)),
        Op::Shl => {
            let by = shader.const_of(*args.get(1)?)?;
            sum(shader, *args.first()?, steps).map(|a| Linear::default().plus(&a, 1 << (by & 31)))
        }
        Op::LoadBuiltin(BuiltinInput::Invocation(what)) => invocation(shader, what),
        op => host_word(shader, op, args).map(|word| Linear::one(Atom::One, Some(word))),
    }
}

fn invocation(shader: &Shader, what: Invocation) -> Option<Linear> {
    let mut linear = Linear::default();
    match what {
        Invocation::WorkgroupId(axis) => linear.add((Atom::Group(axis), None), 1),
        Invocation::LocalId(axis) => linear.add_local(shader, axis, 1),
        Invocation::LocalIndex => {
            let [x, y, _] = shader.workgroup.size;
            linear.add_local(shader, 0, 1);
            linear.add_local(shader, 1, x);
            linear.add_local(shader, 2, x.wrapping_mul(y));
        }
        Invocation::WorkgroupCount(axis) => {
            return Some(Linear::one(Atom::One, Some(HostWord::Groups(axis))));
        }
        Invocation::SubgroupInvocation | Invocation::SubgroupId => return None,
    }
    Some(linear)
}

/// The host's word that an operation gives.
fn host_word(shader: &Shader, op: Op, args: &[Value]) -> Option<HostWord> {
    let first_level = |image: Descriptor, axis: u8, halves: bool| {
        let level = args.first().and_then(|level| shader.const_of(*level));
        (!halves || level == Some(0)).then_some(HostWord::Extent { image, axis })
    };
    match op {
        Op::LoadPush(offset) => Some(HostWord::Push(offset)),
        Op::LoadUbo { buffer, offset } => Some(HostWord::Ubo { buffer, offset }),
        Op::ImageSize { image, axis, halves } => first_level(image, axis, halves),
        Op::BufferElements { buffer, offset, stride } => Some(HostWord::Elements { buffer, offset, stride }),
        _ => None,
    }
}
