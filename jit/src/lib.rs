//! Functions of Cranelift's as machine code that can be called.
//!
//! What compute kernels (`vc4-shaders-cpu`) and the simulator's QPU programs (`vc4-sim`) share: the compiler's settings
//! and call, pages that are never writable and executable at once, and float arithmetic that truncates. What the functions do is theirs.

mod compile;
mod native;
pub mod truncating;

pub use compile::{Effort, Problem, compile, flags};
pub use native::{Code, isa};
