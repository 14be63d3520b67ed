//! Functions of Cranelift's as machine code that can be called.
//!
//! What compute kernels (`vc4-shaders-cpu`) and the simulator's QPU programs (`vc4-sim`) share: the compiler's settings
//! and call, and pages that are never writable and executable at once. What the functions do is theirs.

mod compile;
mod native;

pub use compile::{Effort, Problem, compile, flags};
pub use native::{Code, isa};
