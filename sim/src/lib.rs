//! A functional VideoCore IV: the 3D block and its kernel driver behind [`vc4_kernel_abi::Gpu`].
//!
//! The only inputs are BOs and submissions. A submission passes the kernel's validator ([`kernel`]),
//! becomes a bin list and a render list in bus memory ([`memory`]), and is executed from there:
//!
//! * [`cle`] walks both lists; [`state`] is what their packets leave behind;
//! * binning: [`ptb`] shades positions ([`vertex`], [`vpm`]), assembles ([`assembly`]), clips ([`clip`])
//!   and puts primitives into tile lists;
//! * rendering: [`pse`] sets primitives up, [`raster`] finds the covered quads, [`fragment`] shades them
//!   against the tile buffer ([`tlb`]), [`surface`] loads and stores tiles, and [`render`] runs all of
//!   that for many tiles at once.
//!
//! [`drm`] shows all of it as the kernel does: open files that take ioctls. [`capture`] records submissions and runs
//! them again, [`profile`] tells what a job did line by line and tile by tile.
//!
//! What is left besides the picture: [`counters`] as the hardware counts (with [`caches`] while somebody looks), and broken
//! rules of the hardware as [`stats::Finding`]s. [`tile_alloc`] runs out of memory when the binner would, and
//! [`early_z`] drops what nobody would see.
//!
//! The QPU interpreter runs programs against the [`qpu::Ports`] of the block that started them. What no
//! source tells about the machine is collected in [`unverified`].
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
pub mod memory;
pub mod profile;
pub mod qpu;
pub mod rendering;
pub mod replay;
pub mod stats;
pub mod tmu;
pub mod unverified;
pub mod vertex;

pub use config::Config;
pub use device::{Observed, Simulator, Totals};
pub use geometry::state;
pub use rendering::tlb;
pub use stats::counters;
pub use unverified::UNVERIFIED;
pub use vc4_kernel_abi::validate::Mode;
