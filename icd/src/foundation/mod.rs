//! What all rooms speak of: errors and how they are reported, handles, BOs, formats, limits. Nothing here knows an
//! object of the API.

pub mod bo;
pub mod cache;
pub mod debug;
pub mod demands;
pub mod engine;
pub mod error;
pub mod extension;
pub mod facts;
pub mod format;
pub mod handle;
pub mod latch;
pub mod limits;
pub mod messages;
pub mod name;
pub mod recent;
pub mod shared_flag;
pub mod shelf;
pub mod terms;
pub mod threads;
#[cfg(feature = "compute")]
pub mod timeout;
pub mod traffic;
pub mod version;
pub mod waker;
