//! Where in the source an instruction came from: a number per instruction, a table per shader.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// Number of a line in [`Shader::lines`](crate::ir::shader::Shader::lines), or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(u32);

impl LineId {
    /// No line.
    pub const NONE: LineId = LineId(0);

    /// The line that makes a table of `count` lines full.
    pub(crate) const fn from_number(count: usize) -> LineId {
        LineId(count as u32)
    }

    /// Index in the table.
    pub const fn number(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }
}

/// A place in a shader's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// Name of the file; empty if the module does not tell it.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1; 0 for the whole line.
    pub column: u32,
}

impl Display for SourceLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &*self.file {
            "" => write!(f, "line {}", self.line)?,
            file => write!(f, "{file}:{}", self.line)?,
        }
        if self.column == 0 { Ok(()) } else { write!(f, ":{}", self.column) }
    }
}
