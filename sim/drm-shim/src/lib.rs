//! `libvc4_drm_shim.so`: with `LD_PRELOAD`, an unmodified process finds a VideoCore IV at `/dev/dri`, driven by the
//! simulator ([`vc4_sim::drm`]) inside of that process.
//!
//! * [`hooks`] stand in front of the C library's functions; each asks whether the path or descriptor is ours and
//!   otherwise passes the call on ([`real`]).
//! * [`tree`] holds the paths that a device has: nodes, and what libdrm reads of sysfs.
//! * [`state`] knows our descriptors. Each is one end of a socket pair, an object of the kernel's, so that dup, poll,
//!   close-on-exec and inheritance work by themselves; what it stands for is found by its inode, and the other end
//!   tells when the last descriptor was closed.
//! * [`storage`] is bus memory in a memfd, which mappings of BOs map again.
//!
//! Variables: `VC4SIM_STRICT=1` refuses what the kernel only accepts by mistake, `VC4SIM_THREADS=n` limits the
//! rendering threads, `VC4SIM_MINOR=n` chooses the render node's number (128), `VC4SIM_LOG=filter` logs to stderr.
//!
//! Limits: there is no display behind the card node; a child of fork that does not exec can open a device of its own,
//! but the descriptors it inherited answer `ENODEV`; descriptors mean nothing to other processes. Programs that are
//! linked statically or make system calls themselves are not seen.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![cfg_attr(test, allow(dead_code, reason = "unit tests export no hooks, which are the only users"))]

pub mod hooks;
mod process;
mod real;
mod state;
mod storage;
mod tree;
