//! The device as the kernel shows it to a process: open files that take ioctls, by number and bytes, with the
//! kernel's results and errno (kernel-abi.md §2–§5, §13). What a process is (memory, descriptors) stays behind
//! [`Process`], so that the caller may be this process or another one.
//!
//! From the ground: the kernel's structs (`uapi.rs`), [`Fence`]s, [`Object`]s, the virtual display ([`kms`]), the
//! [`Device`] that has all of them, open [`File`]s, and the handlers of their calls (`ioctl`). Above, [`host`] gives
//! out descriptors, [`wire`] and [`serve`] let other processes in.

mod device;
mod fence;
mod file;
mod handles;
pub mod host;
mod ioctl;
pub mod kms;
mod node;
mod object;
mod process;
#[cfg(feature = "screen")]
pub mod screen;
pub mod serve;
mod sync_file;
mod time;
mod uapi;
pub mod wire;

pub use crate::kernel::backing;
pub use device::Device;
pub use fence::{Fence, Syncobj};
pub use file::File;
pub use ioctl::call_number;
pub use nix::errno::Errno;
pub use node::{Answer, DRM_MAJOR, Node, OF_COMPATIBLE, OF_FULLNAME};
pub use object::{DmaBuf, Object, Window};
pub use process::{Exported, Opener, Process};
pub use sync_file::SyncFile;
pub use time::monotonic_ns;
