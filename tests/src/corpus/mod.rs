//! The shader corpus that lies beside the repository: compiled, beside Mesa's figures, and as pictures. Imports
//! [`crate::outside`] and [`crate::scene`].

mod baseline;
mod module;
pub mod scenes;

pub use baseline::{Baseline, Counts, PROGRAMS};
pub use module::Module;
