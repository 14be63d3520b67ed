//! The CPU's back end of the compiler: compute shaders in the IR of [`vc4_shaders::ir`] become machine code that runs a
//! workgroup in batches of [`WIDTH`] invocations.
//!
//! Linux starts no compute programs on this GPU and no program there can store to memory, so the CPU runs them. This crate
//! sees buffers and images as the API does: buffers as ranges of bytes whose bounds it checks, images through [`Images`].
//!
//! From the bottom: `batch`, `layout`, `machine` and `service` are what generated code and host agree on, `divergence` and `liveness` the
//! analyses, `generate` turns the IR into a function of Cranelift's, `code` that into machine code or, where there is none for
//! the host, into byte code (feature `portable`), `run` hands workgroups to threads, and `kernel` is the door.

mod batch;
mod code;
mod dispatch;
mod divergence;
mod generate;
mod kernel;
mod layout;
mod liveness;
mod machine;
mod math;
mod run;
mod service;

pub use batch::{WIDTH, Words};
pub use code::Engine;
pub use dispatch::{Dispatch, Halt, Images, Range, RowTexel, Rows};
pub use kernel::{CpuError, Kernel};
