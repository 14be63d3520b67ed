//! Which ways a symbolic execution takes at ifs.
//!
//! Whether a branch jumps is not known of a symbol, so an execution is told what to do; what it does makes flags known
//! for what follows: where all elements jumped over one arm of an if, they run the other.

use rustc_hash::FxHashMap;
use vc4::qpu::{BranchCond, Cond};

/// Ways through a program, and what they say of the flags that branches looked at.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// Whether the next branches jump, lowest bit first; used again and again.
    jumps: u64,
    count: u32,
    /// By flags and which of them, the condition that holds in all elements.
    known: FxHashMap<(u32, Flag), Cond>,
}

/// One of the three flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Flag {
    Zero,
    Negative,
    Carry,
}

fn flag(cond: Cond) -> Option<Flag> {
    match cond {
        Cond::Zs | Cond::Zc => Some(Flag::Zero),
        Cond::Ns | Cond::Nc => Some(Flag::Negative),
        Cond::Cs | Cond::Cc => Some(Flag::Carry),
        Cond::Never | Cond::Always => None,
    }
}

impl Ways {
    /// Ways that take every arm of ifs that do not nest, and some of those that do.
    pub fn all() -> impl Iterator<Item = Ways> {
        [0, !0, 0x5555_5555_5555_5555, 0x9c9c_9c9c_9c9c_9c9c]
            .into_iter()
            .map(|jumps| Ways { jumps, ..Ways::default() })
    }

    /// Whether a condition holds in all elements or in none, given flags by number.
    pub fn known(&self, flags: u32, cond: Cond) -> Option<bool> {
        self.known.get(&(flags, flag(cond)?)).map(|&holds| holds == cond)
    }

    /// Whether a branch that looks at these flags jumps.
    pub fn jumps(&mut self, flags: u32, branch: BranchCond) -> bool {
        if let Some(known) = branch.holds_in_all().and_then(|cond| self.known(flags, cond)) {
            return known;
        }
        let jumps = self.jumps >> (self.count % u64::BITS) & 1 != 0;
        self.count += 1;
        jumps
    }

    /// Notes what the jump of a branch says of the flags.
    pub fn jump(&mut self, flags: u32, branch: BranchCond) {
        if let Some(cond) = branch.holds_in_all() {
            self.known.extend(flag(cond).map(|flag| ((flags, flag), cond)));
        }
    }
}
