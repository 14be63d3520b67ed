//! What can be wrong with a module, with the place.

use crate::diagnostic::ErrorKind;
use crate::ir::{SourceLine, Stage};

/// Why a module did not become a shader.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpirvError {
    /// The words do not begin with the SPIR-V magic number in either byte order.
    #[error("not a SPIR-V module: the first word is {found:#010x} instead of 0x07230203")]
    Magic {
        /// The first word; 0 for an empty module.
        found: u32,
    },
    /// Instructions do not fill the module exactly.
    #[error("word {word}: an instruction of {length} words does not fit a module of {total} words")]
    Tiling {
        /// Where the instruction begins.
        word: usize,
        /// Its word count.
        length: usize,
        /// Words of the module.
        total: usize,
    },
    /// An instruction's operands do not follow the grammar.
    #[error("word {word}: cannot decode the instruction: {reason}")]
    Decode {
        /// Where the instruction begins.
        word: usize,
        /// The parser's reason.
        reason: String,
    },
    /// The module wants something that this compiler lacks.
    #[error("word {word}: {what} is not supported; supported: {supported}")]
    Unsupported {
        /// Where the instruction begins.
        word: usize,
        /// What was asked for.
        what: String,
        /// What could be used instead.
        supported: &'static str,
    },
    /// The module breaks a rule of SPIR-V.
    #[error("word {word}: {instruction}: {reason}")]
    Invalid {
        /// Where the instruction begins.
        word: usize,
        /// Its name.
        instruction: String,
        /// The broken rule.
        reason: String,
    },
    /// No entry point has the name and stage.
    #[error("no {stage:?} entry point \"{name}\"; the module has: {available}")]
    EntryPoint {
        /// The wanted name.
        name: String,
        /// The wanted stage.
        stage: Stage,
        /// Name and execution model of every entry point.
        available: String,
    },
    /// Some part of the module is larger than this compiler takes.
    #[error("word {word}: {what} exceeds the limit of {limit}")]
    TooLarge {
        /// Where the instruction begins.
        word: usize,
        /// What is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// An error whose place in the source is known.
    #[error("{place}: {error}")]
    At {
        /// The place.
        place: SourceLine,
        /// What is wrong there.
        error: Box<SpirvError>,
    },
}

impl SpirvError {
    /// Word offset of the instruction that it is about.
    pub fn word(&self) -> Option<usize> {
        match self {
            SpirvError::Tiling { word, .. }
            | SpirvError::Decode { word, .. }
            | SpirvError::Unsupported { word, .. }
            | SpirvError::Invalid { word, .. }
            | SpirvError::TooLarge { word, .. } => Some(*word),
            SpirvError::Magic { .. } | SpirvError::EntryPoint { .. } => None,
            SpirvError::At { error, .. } => error.word(),
        }
    }

    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self.cause() {
            SpirvError::Unsupported { .. } => ErrorKind::Unsupported,
            SpirvError::TooLarge { .. } => ErrorKind::DoesNotFit,
            _ => ErrorKind::Invalid,
        }
    }

    /// The error with its place in the source, if that is known.
    pub fn at(self, place: Option<SourceLine>) -> SpirvError {
        match place {
            Some(place) => SpirvError::At { place, error: Box::new(self) },
            None => self,
        }
    }

    /// The error without its place in the source.
    pub fn cause(&self) -> &SpirvError {
        match self {
            SpirvError::At { error, .. } => error.cause(),
            error => error,
        }
    }
}

/// Result of reading and translating.
pub type Result<T> = std::result::Result<T, SpirvError>;
