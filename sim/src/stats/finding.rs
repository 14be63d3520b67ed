//! Broken rules of the hardware.

use std::fmt;

use vc4::qpu::rules::Rule;

/// A rule about programs or lists that the simulator watches while it runs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Short stable name.
    pub id: &'static str,
    /// Where the manual says so.
    pub manual: &'static str,
    /// The rule in one sentence.
    pub text: &'static str,
}

impl Note {
    /// A rule of the core crate's table.
    pub(crate) fn of(rule: &Rule) -> Note {
        Note { id: rule.id, manual: rule.manual, text: rule.text }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.text, self.id, self.manual)
    }
}

/// A broken rule of the hardware. The simulator went on with a meaning of its own; the chip has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Note,
    /// Bus address of the program, or 0 for what is not about a program.
    pub program: u32,
    /// The instruction that broke it, counted from the program's start.
    pub index: u32,
    /// The place in the listing and what the elements held, for people.
    pub report: String,
}

impl Finding {
    /// Whether both are about the same place.
    pub(super) fn same_place(&self, other: &Finding) -> bool {
        (self.rule.id, self.program, self.index) == (other.rule.id, other.program, other.index)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.program == 0 {
            write!(f, "{}", self.rule)?;
        } else {
            write!(f, "program at {:#010x}, instruction {}: {}", self.program, self.index, self.rule)?;
        }
        if self.report.is_empty() { Ok(()) } else { write!(f, "\n{}", self.report) }
    }
}
