//! One small program per feature of drawing, each with a picture as its result. The pictures of two drivers must
//! agree within the case's bound (`tests/drawing.rs`).

mod draws;
mod inputs;
mod multisample;
mod queries;
mod targets;

use crate::compare::Picture;
use crate::harness::Error;
use crate::lab::Lab;

/// A program.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name on the command line and of the PNG.
    pub name: &'static str,
    /// Largest share of pixels that may differ by more than rounding.
    pub differing: f64,
    /// Draws and reads back.
    pub run: fn(&Lab<'_>) -> Result<Picture, Error>,
}

/// A case whose picture is the same on every driver but for rounding.
const fn exact(name: &'static str, run: fn(&Lab<'_>) -> Result<Picture, Error>) -> Case {
    Case { name, differing: 0.0, run }
}

/// All programs.
pub fn all() -> Vec<Case> {
    let all = [&inputs::CASES[..], &multisample::CASES, &queries::CASES, &draws::CASES, &targets::CASES];
    all.into_iter().flatten().copied().collect()
}
