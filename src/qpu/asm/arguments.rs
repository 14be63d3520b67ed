//! Arguments of an operation, still text.

use super::error::{Error, Result};
use super::lexer::Span;

/// Arguments of a half: two operands and two sources.
pub const MAX_ARGS: usize = 4;

/// One argument: a name or number, sign included.
#[derive(Clone, Copy)]
pub struct Arg<'a> {
    /// The text.
    pub text: &'a str,
    /// Its place.
    pub span: Span,
}

/// The arguments of a half.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    args: [Arg<'a>; MAX_ARGS],
    count: usize,
}

impl<'a> Args<'a> {
    /// None yet.
    pub fn new() -> Args<'a> {
        Args { args: [Arg { text: "", span: Span { start: 0, end: 0 } }; MAX_ARGS], count: 0 }
    }

    /// Adds one.
    ///
    /// # Errors
    /// When there are four already.
    pub fn push(&mut self, arg: Arg<'a>) -> Result<()> {
        let Some(slot) = self.args.get_mut(self.count) else {
            return Err(Error::new(arg.span, "no half has more than four arguments"));
        };
        *slot = arg;
        self.count += 1;
        Ok(())
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Arg<'a>] {
        &self.args[..self.count]
    }

    /// The argument at `at`.
    pub fn get(&self, at: usize) -> Option<&Arg<'a>> {
        self.as_slice().get(at)
    }
}
