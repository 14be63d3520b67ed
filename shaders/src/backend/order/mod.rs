//! The order of operations, before they have registers: latency is hidden as far as registers allow.

mod arrange;
pub mod threads;

pub use arrange::Orders;
