//! Kernels that are pictures: where every invocation writes one texel of one image at its own place among all, or one word of
//! a buffer, and shares nothing with others, a compute shader is the fragment program of a rectangle.
//!
//! [`find`] proves it. From the bottom: `host`, words that the host knows when it dispatches; `target`, what is drawn to;
//! `linear`, places as sums of what tells invocations apart; `guard`, conditions that keep places inside; `fragment`, the
//! same shader as a fragment stage; `find`; beside it [`estimate`], what either form costs.

pub mod estimate;
mod find;
mod fragment;
mod guard;
mod host;
mod linear;
mod target;

pub use find::{NotAPicture, Picture, find};
pub use fragment::{GROUPS_AT, LAYER_AT, PARAMETERS_AT, PARAMETERS_END, ROW_AT, rectangle};
pub use guard::Limit;
pub use host::{HostSum, HostWord};
pub use target::{Order, Target};
