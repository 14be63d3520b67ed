//! A functional VideoCore IV: the 3D block and its kernel driver behind [`vc4_kernel_abi::Gpu`].
//!
//! The only inputs are BOs and submissions. Its rooms, from the ground; each imports those above it in this list:
//!
//! * [`memory`] is the bus memory, [`lanes`] are sixteen elements side by side, `wide` compiles
//!   functions for processors with wide vectors; [`unverified`] collects what no source tells
//!   about the machine. [`stats`] is what a job yields besides its picture: counters as the hardware counts, and broken
//!   rules as [`stats::Finding`]s.
//! * [`tmu`] looks textures up. [`qpu`] interprets programs against the [`qpu::Ports`] of the block that started them.
//!   [`error`] says why a job stopped.
//! * [`geometry`] holds the state that packets leave behind, primitives and clipping; [`vertex`] shades through the VPM.
//! * [`binning`] walks a binning list and puts primitives into tile lists; [`rendering`] walks the render list, sets
//!   primitives up and shades their quads against the tile buffer ([`tlb`]), many tiles at once.
//! * [`kernel`] validates a submission and places its lists in bus memory; [`profile`] tells what a job did line by line
//!   and tile by tile, [`capture`] records submissions.
//! * [`device`] queues jobs and runs them on all of this; [`replay`] runs a capture again, and [`drm`] shows the device as
//!   the kernel does: open files that take ioctls.
#![deny(unsafe_code)]

pub mod binning;
pub mod capture;
mod cle;
mod config;
pub mod device;
pub mod drm;
pub mod error;
pub mod geometry;
pub mod kernel;
pub mod lanes;
mod lock;
pub mod memory;
pub mod price;
pub mod profile;
pub mod qpu;
pub mod rendering;
pub mod replay;
pub mod stats;
pub mod tmu;
pub mod unverified;
pub mod vertex;
mod wide;

pub use config::{Config, Hangs};
pub use device::{Observed, Simulator, Totals};
pub use geometry::state;
pub use rendering::tlb;
pub use stats::{Engine, counters};
pub use vc4_kernel_abi::validate::Mode;
