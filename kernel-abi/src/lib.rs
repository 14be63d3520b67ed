//! The Linux vc4 DRM interface as it is (manual: kernel-abi.md): the uAPI structs, every ioctl once,
//! the [`Gpu`] trait that silicon and simulator share, and the submission validator rule by rule.
//!
//! [`uapi`] has the kernel's structs, [`gpu`] what a device is asked and answers. [`validate`] judges submissions by both.
//! Beside it stand the devices that are no simulator: [`drm`] by [`ioctl`], [`noop`] and [`recorder`]. [`card`] is the display
//! of the first, [`dma_heap`] gives it memory that the CPU caches ([`cache`]), [`kernel_log`] tells it of resets. [`environment`] is read by all that run inside of other programs. [`choice`] is how
//! people name one. What compilers do badly on 32-bit ARM stands in `arm`.

#[cfg(target_arch = "arm")]
mod arm;
pub mod cache;
pub mod card;
pub mod choice;
pub mod dma_heap;
pub mod drm;
pub mod environment;
pub mod gpu;
pub mod ioctl;
pub mod kernel_log;
mod mapping;
pub mod noop;
pub mod perfmon;
pub mod recorder;
pub mod uapi;
pub mod validate;

pub use card::Card;
pub use choice::Choice;
pub use drm::{DrmGpu, is_vc4};
pub use gpu::{
    BoHandle, Gpu, GpuError, Ident, Mapping, Nodes, PerfmonId, Seqno, Submit, SubmitFlags, Surface,
};
pub use kernel_log::{KernelLog, RESET_MESSAGE, kernel_log_record};
pub use mapping::MappedMemory;
pub use noop::Noop;
pub use recorder::Recorder;
