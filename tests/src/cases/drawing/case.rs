//! What a program of one feature is.

use crate::picture::Picture;
use crate::vulkan::{Error, Lab};

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
pub(super) const fn exact(name: &'static str, run: fn(&Lab<'_>) -> Result<Picture, Error>) -> Case {
    Case { name, differing: 0.0, run }
}
