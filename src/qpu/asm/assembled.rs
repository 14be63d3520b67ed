//! What assembling gives.

use crate::qpu::inst::{DecodeError, Inst};
use crate::qpu::uniforms::UniformSource;
use std::fmt;
use std::ops::Range;

/// An error or warning and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong and what to write instead.
    pub message: String,
    /// The bytes of the text it is about.
    pub span: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The text at the place.
    pub token: String,
    /// What was probably meant in its place.
    pub suggestion: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if !self.token.is_empty() {
            write!(f, " (at `{}`)", self.token)?;
        }
        match &self.suggestion {
            Some(suggestion) => write!(f, "; did you mean `{suggestion}`?"),
            None => Ok(()),
        }
    }
}

/// Text that does not assemble: every instruction with an error has one entry, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// At least one.
    pub diagnostics: Vec<Diagnostic>,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AsmError {}

/// A name for an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The name.
    pub name: String,
    /// Number of the instruction that follows it; the program's length if none does.
    pub instruction: usize,
    /// The bytes of the text that define it.
    pub span: Range<usize>,
}

/// A named word of the uniform stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// The name, as `name`, `name.part` or `name[3]`.
    pub name: String,
    /// The bytes of the text that name it.
    pub span: Range<usize>,
    /// The instruction that takes the word.
    pub instruction: usize,
    /// What takes it.
    pub source: UniformSource,
}

/// An assembled program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The program.
    pub words: Vec<u64>,
    /// For each word the bytes of the text that it comes from.
    pub spans: Vec<Range<usize>>,
    /// The labels in program order.
    pub labels: Vec<Label>,
    /// The words of the uniform stream in order, if the text names them: then all of them.
    pub uniforms: Vec<Uniform>,
    /// Oddities that were accepted.
    pub warnings: Vec<Diagnostic>,
}

impl Assembled {
    /// The words as instructions; fails on `.word` data that is none, with the number of the word.
    pub fn instructions(&self) -> Result<Vec<Inst>, (usize, DecodeError)> {
        self.words.iter().enumerate().map(|(i, &word)| Inst::decode(word).map_err(|e| (i, e))).collect()
    }
}
