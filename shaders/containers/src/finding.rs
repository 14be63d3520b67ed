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

/// Where a part of a model stood in the file it was read from: a byte offset, 0 for a part built from nothing.
///
/// Not part of the value: any two places compare equal, and writing ignores them.
#[derive(Clone, Copy, Default)]
pub struct At(u32);

impl At {
    /// A place; offsets past 4 GiB, which none of the formats with this field can hold, become the last one.
    pub fn new(offset: usize) -> Self {
        At(u32::try_from(offset).unwrap_or(u32::MAX))
    }

    /// The byte offset from the start of the file.
    pub fn offset(self) -> usize {
        self.0 as usize
    }
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "@0x{:x}", self.0)
    }
}

/// A list of findings that cannot outgrow the file it is about.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    left_out: usize,
    has_error: bool,
}

impl Findings {
    /// A damaged file can have a finding every few bytes; nobody reads more than this.
    const MOST: usize = 500;

    pub(crate) fn add(&mut self, code: &'static str, offset: usize, message: impl Into<String>) {
        self.push(Finding::new(code, offset, message));
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        // Errors decide whether a file loads: the first one is kept however many warnings came before it.
        let first_error = finding.is_error() && !self.has_error;
        self.has_error |= finding.is_error();
        if self.list.len() < Self::MOST || first_error {
            self.list.push(finding);
        } else {
            self.left_out += 1;
        }
    }

    pub(crate) fn into_list(mut self) -> Vec<Finding> {
        if self.left_out > 0 {
            let message = format!("{} further findings left out", self.left_out);
            self.list.push(Finding::new("W-more", 0, message));
        }
        self.list
    }
}
