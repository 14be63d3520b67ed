//! What a compilation tells besides its result: what can be done about an error, and where logs go.

/// Log target of what ends in front of the passes and behind them; `pass` logs those.
pub(crate) const LOG_TARGET: &str = "vc4::compile";

/// What can be done about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The modules break a rule: nothing can run them.
    Invalid,
    /// They want something that this compiler lacks.
    Unsupported,
    /// They are fine and understood, but larger than the machine: something without its limits could run them.
    DoesNotFit,
    /// A bug of this compiler.
    Bug,
}
