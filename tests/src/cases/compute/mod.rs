//! Compute kernels on whatever driver the loader finds: each case ends in bytes, which two drivers' runs can be compared
//! by.

mod arrays;
mod between;
mod buffers;
mod case;
mod images;
mod order;
mod pictures;
mod resource;
mod sampling;
mod subgroups;
mod text;

use std::path::Path;

pub use between::{endless, repeated};
pub use case::Case;
pub use pictures::PREFIX as PICTURE;
pub use resource::{Resource, Shape, texels};
pub use text::read;

use crate::vulkan::{Error, Harness};

/// A sequence of commands that ends in bytes.
pub type Sequence = fn(&Harness, &Path) -> Result<Vec<u8>, Error>;

/// Dispatches among other commands, by name.
pub const SEQUENCES: [(&str, Sequence); 4] = [
    ("passes", between::passes),
    ("pictures", between::pictures),
    ("samples", between::samples),
    ("cache", between::cached),
];

/// Every kernel.
pub fn all() -> Vec<Case> {
    let cases =
        [arrays::all(), buffers::all(), images::all(), order::all(), sampling::all(), pictures::all()];
    cases.into_iter().flatten().chain(subgroups::all()).collect()
}
