//! Where the device is: in this process, in the one that forked it, or in the server that `VC4SIM_SERVER` names.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use vc4_sim::drm::host::Host;

use crate::client::Client;

/// Where the device is.
#[derive(Clone)]
pub enum Backend {
    /// In this process.
    Local(Arc<Host>),
    /// In another process.
    Remote(Arc<Client>),
}

/// Whoever takes an event from a node has looked at it before: one at a time, as under the kernel's `event_read_lock`.
pub static READING: Mutex<()> = Mutex::new(());

/// The one that was found or made.
pub static BACKEND: Mutex<Option<Backend>> = Mutex::new(None);
/// Whether a descriptor can be ours at all, so that processes without a device pay for nothing.
pub static ACTIVE: AtomicBool = AtomicBool::new(false);
