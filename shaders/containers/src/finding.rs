//! What a reader or a check has to say about a file.

use std::fmt::{self, Display, Formatter};

/// Whether a finding makes a file unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file still loads.
    Warning,
    /// The file is refused.
    Error,
}

/// One thing that is wrong or odd in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable code: `M..`, `S..`, `T..` for errors of MBS, SHBIN and metallib, `W-...` for warnings.
    pub code: &'static str,
    /// Byte offset from the start of the file.
    pub offset: u64,
    /// What was expected and what was found, without the place.
    pub message: String,
}

impl Finding {
    /// A finding at byte `offset`.
    pub fn new(code: &'static str, offset: usize, message: impl Into<String>) -> Self {
        Finding { code, offset: offset as u64, message: message.into() }
    }

    /// Warnings are the codes that begin with `W-`.
    pub fn severity(&self) -> Severity {
        if self.code.starts_with("W-") { Severity::Warning } else { Severity::Error }
    }

    /// Whether a reader refuses the file for this.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// `0xOFFSET: CODE: message`, the form of `vc4 inspect --check` without the file's name.
impl Display for Finding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:x}: {}: {}", self.offset, self.code, self.message)
    }
}

impl std::error::Error for Finding {}
