//! What a program of one feature is.

use crate::picture::{INSIDE_LIMIT, Picture};
use crate::vulkan::{Error, Lab};

/// A program.
#[derive(Clone, Copy)]
pub struct Case {
    /// Name on the command line and of the PNG.
    pub name: &'static str,
    /// Largest share of pixels that may differ by more than rounding.
    pub differing: f64,
    /// Largest difference away from edges.
    pub inside: u8,
    /// Draws and reads back.
    pub run: fn(&Lab<'_>) -> Result<Picture, Error>,
}

/// A case whose picture is the same on every driver but for rounding.
pub(super) const fn exact(name: &'static str, run: fn(&Lab<'_>) -> Result<Picture, Error>) -> Case {
    around(name, 0.0, run)
}

/// A case some of whose edges are the device's choice: the share of pixels that may differ.
pub(super) const fn around(
    name: &'static str,
    differing: f64,
    run: fn(&Lab<'_>) -> Result<Picture, Error>,
) -> Case {
    Case { name, differing, inside: INSIDE_LIMIT, run }
}

/// A case with lines, which are so narrow that all of their pixels are near their sides.
pub(super) const fn lined(
    name: &'static str,
    differing: f64,
    run: fn(&Lab<'_>) -> Result<Picture, Error>,
) -> Case {
    Case { name, differing, inside: u8::MAX, run }
}
