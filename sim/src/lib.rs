//! A functional VideoCore IV: the 3D block and its kernel driver behind [`vc4_kernel_abi::Gpu`].
//!
//! The only inputs are BOs and submissions. A submission passes the kernel's validator, becomes a bin
//! list and a render list in bus memory, and is executed from there: [`memory`] is the bus, the QPU
//! interpreter runs programs against the [`qpu::Ports`] of the block that started them.
#![forbid(unsafe_code)]

pub mod memory;
pub mod qpu;
pub mod tmu;
