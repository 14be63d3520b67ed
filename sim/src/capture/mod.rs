//! Captures: every submission of a process in one file, with what its BOs held when the job began and what the
//! job left in those that it wrote.
//!
//! A simulator with a recorder ([`crate::Simulator::record`], or the environment variable [`VARIABLE`]) writes one;
//! [`read::Capture`] is the file in memory and [`crate::replay::Replay`] runs it again without the program.
//! `format.rs` has the format of the file.
//!
//! Below the device: a recorder is told of jobs, whoever runs them.

pub mod attachments;
mod codec;
mod format;
pub mod pages;
pub mod read;
mod submission;
#[cfg(test)]
mod tests;
mod write;

pub use format::{MAGIC, VARIABLE, VERSION};
pub use submission::{BoUse, Submission, Update};
pub use write::Recorder;
