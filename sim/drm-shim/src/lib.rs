//! `libvc4_drm_shim.so`: with `LD_PRELOAD`, an unmodified process finds a VideoCore IV at `/dev/dri`, driven by the
//! simulator ([`vc4_sim::drm`]) inside of that process.
//!
//! From the top; each imports what follows:
//!
//! * [`hooks`] stand in front of the C library's functions; each asks whether the path or descriptor is ours and
//!   otherwise passes the call on.
//! * [`tree`] holds the paths that a device has: nodes, and what libdrm reads of sysfs; [`streams`] are open directories.
//! * [`state`] knows what our descriptors stand for and finds or makes the device. A descriptor of a node is one
//!   end of a socket pair and that of a dma-buf a memfd, objects of the real kernel's
//!   ([`vc4_sim::drm::host`]): dup, poll, fork, passing to other processes and closing work by themselves.
//! * [`registered`] are dma-bufs that epoll watches.
//! * [`heap`] gives contiguous memory that nodes import; [`faults`] are calls that are to fail.
//! * [`fork`] hands the device on to children.
//! * [`backend`] is where the device is: in this process, in the one that forked it ([`family`]), or in the server that
//!   `VC4SIM_SERVER` names ([`client`]); [`process`] is this process as its caller.
//! * [`descriptors`] keeps the library's own descriptors apart from the program's ([`fd`]). [`inside`] tells our own
//!   calls from the program's, and [`real`] has the C library's functions.
//!   Where machines have 32 bits, these come for more than one form of a struct (`time64`).
//!
//! Variables: `VC4SIM_SERVER=PATH` uses the device that `vc4 sim serve PATH` has, together with all other processes
//! that do; `VC4SIM_STRICT=1` refuses what the kernel only accepts by mistake, `VC4SIM_THREADS=n` limits the rendering
//! threads, `VC4SIM_MINOR=n` chooses the render node's number (128), `VC4SIM_SHOW_REAL=1` leaves the machine's own
//! nodes visible, `VC4SIM_LOG=filter` logs to stderr, `VC4SIM_DMESG_RESTRICT=1` keeps the kernel's log from the program,
//! `VC4SIM_FAULTS=CALL:ERRNO:WHICH` makes calls fail ([`faults`]). The display (of the device, so in the server's environment if
//! there is one): `VC4SIM_DISPLAY=WxH` is its preferred size (`none`: unplugged), `VC4SIM_SCANOUT=DIR` saves each frame as a PNG there,
//! `VC4SIM_WINDOW=x11` shows them in a window.
//!
//! Limits: without a server, a device ends with the process that has it, even if children of fork still use it, and a
//! program that is executed with an open node finds no device behind it. Programs that are linked statically or make
//! system calls themselves are not seen.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_pointer_width = "64", target_arch = "arm")))]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the tour is for readers of the sources: all else here is private"
)]
#![cfg_attr(test, allow(dead_code, reason = "unit tests export no hooks, which are the only users"))]

mod backend;
mod client;
mod descriptors;
mod family;
mod faults;
mod fd;
mod fork;
mod heap;
pub mod hooks;
mod inside;
mod process;
mod real;
mod registered;
mod state;
mod streams;
#[cfg(target_pointer_width = "32")]
mod time64;
mod tree;
