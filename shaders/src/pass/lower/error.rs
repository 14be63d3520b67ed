//! Why inputs, outputs or pipeline state cannot be lowered.

use vc4::state::raster::StateError;

use crate::diagnostic::ErrorKind;
use crate::ir::Stage;

/// Why what a shader shares with the pipeline around it cannot be lowered.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LowerError {
    /// Pipeline state without code.
    #[error("pipeline state: {0}")]
    State(#[from] StateError),
    /// The record holds eight arrays.
    #[error(
        "the vertex stage reads {count} attribute arrays, the hardware fetches {limit}; merge attributes or make some of them per-instance"
    )]
    TooManyAttributes {
        /// Arrays needed.
        count: usize,
        /// Arrays there are.
        limit: usize,
    },
    /// The attributes of a vertex do not fit its VPM rows.
    #[error("the vertex stage reads {rows} words of attributes per vertex, at most {limit} fit")]
    AttributeWords {
        /// Words needed.
        rows: u32,
        /// Words there are.
        limit: u32,
    },
    /// Too many varyings.
    #[error(
        "the fragment stage reads {count} varying components, the hardware interpolates {limit}; pack them or read fewer"
    )]
    TooManyVaryings {
        /// Components read.
        count: usize,
        /// Components there are.
        limit: usize,
    },
    /// Clip distances in front of a finished fragment program.
    #[error(
        "the vertex stage writes clip distances, by which a fragment program of assembly does not clip; write none"
    )]
    Distances,
    /// Control flow where outputs are stored.
    #[error("{stage:?} stage: {what}")]
    Structure {
        /// The stage.
        stage: Stage,
        /// What.
        what: &'static str,
    },
}

impl LowerError {
    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            LowerError::State(_) | LowerError::Distances => ErrorKind::Unsupported,
            LowerError::TooManyAttributes { .. }
            | LowerError::AttributeWords { .. }
            | LowerError::TooManyVaryings { .. } => ErrorKind::DoesNotFit,
            LowerError::Structure { .. } => ErrorKind::Bug,
        }
    }
}
