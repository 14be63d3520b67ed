//! Why state does not go into a program.

use crate::qpu::Stage;
use crate::qpu::isa::RegFile;
use crate::state::StateError;

/// What does not fit, at which instruction of the source, and what to do instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpliceError {
    /// The program is of another stage.
    #[error("this is a {have:?} program, not a {want:?} program")]
    Stage {
        /// Stage of the source.
        have: Stage,
        /// Stage that was asked for.
        want: Stage,
    },
    /// The words of the uniform stream do not match the program.
    #[error("the program takes {reads} uniform words, {given} are described")]
    UniformCount {
        /// Words that it takes.
        reads: usize,
        /// Words given.
        given: usize,
    },
    /// There is no code for this state.
    #[error("pipeline state: {0}")]
    State(#[from] StateError),
    /// The program cannot be patched as it is.
    #[error("instruction {instruction}: {what}; {instead}")]
    Program {
        /// The instruction.
        instruction: usize,
        /// What is wrong.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// Something is missing in the program as a whole.
    #[error("{what}; {instead}")]
    Whole {
        /// What is wrong.
        what: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// No register is free where a patch needs one.
    #[error(
        "instruction {instruction}: the {patch} patch finds no free register ({need}); in use there: {live}. \
         Free some, or put the program into raw mode"
    )]
    NoRegister {
        /// The instruction that the patch goes to.
        instruction: usize,
        /// The patch.
        patch: &'static str,
        /// Which register would do.
        need: &'static str,
        /// The registers in use.
        live: String,
    },
    /// The result breaks a rule, mostly because the program itself did.
    #[error("{}: {message} ({rule}, qpu.md {manual})", place(*instruction))]
    Rule {
        /// The instruction of the source; `None` inside of a patch.
        instruction: Option<usize>,
        /// Name of the rule.
        rule: &'static str,
        /// Where the manual has it.
        manual: &'static str,
        /// What the program does.
        message: String,
    },
}

fn place(instruction: Option<usize>) -> String {
    instruction.map_or("spliced code".into(), |n| format!("instruction {n}"))
}

/// `ra3` or `rb3`.
pub(super) fn register_name(file: RegFile, n: u8) -> String {
    match file {
        RegFile::A => format!("ra{n}"),
        RegFile::B => format!("rb{n}"),
    }
}
