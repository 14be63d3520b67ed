//! What kernels have to do, whatever runs them.

mod images;
mod limits;
mod operations;
mod programs;
mod support;
