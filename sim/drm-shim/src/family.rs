//! A way for children of fork to the device of the process that forked them: the parent serves it as
//! `vc4 sim serve` does, at a name and with a secret that only they know.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use nix::sys::socket::UnixAddr;
use vc4_sim::drm::backing::Descriptors;
use vc4_sim::drm::host::Host;
use vc4_sim::drm::monotonic_ns;
use vc4_sim::drm::serve::Listener;
use vc4_sim::drm::wire::Secret;

use crate::descriptors::Keeper;
use crate::inside::{Inside, lock};

/// Where children find the device.
#[derive(Clone)]
pub struct Door {
    address: UnixAddr,
    /// Lets a child in that runs as another user by now: what it inherited stays open, whoever it is.
    secret: Option<Secret>,
    listener: Arc<Listener>,
    /// The process whose door it is.
    process: u32,
}

impl Door {
    /// Its name.
    pub fn address(&self) -> UnixAddr {
        self.address
    }

    /// What its visitors know.
    pub fn secret(&self) -> Secret {
        self.secret.unwrap_or_default()
    }
}

/// The door of this process, and whether somebody stands behind it.
static DOOR: Mutex<Option<(Door, bool)>> = Mutex::new(None);

/// A secret that nobody guesses.
fn random() -> Option<Secret> {
    let mut secret = Secret::default();
    // SAFETY: room for so many bytes.
    let length = unsafe { libc::getrandom(secret.as_mut_ptr().cast(), size_of::<Secret>(), 0) };
    (length == size_of::<Secret>() as isize).then_some(secret)
}

/// The door to `host`, if anything was opened there that a child can inherit.
pub fn door(host: &Arc<Host>) -> Option<Door> {
    let mut place = lock(&DOOR);
    let process = std::process::id();
    if let Some((door, _)) = place.as_ref().filter(|(door, _)| door.process == process) {
        return Some(door.clone());
    }
    if host.descriptors_out() == 0 {
        return None;
    }
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("vc4-sim-{process}-{}-{:x}", COUNT.fetch_add(1, Relaxed), monotonic_ns());
    let address = UnixAddr::new_abstract(name.as_bytes()).ok()?;
    let secret = random();
    let keeper: Arc<dyn Descriptors> = Arc::new(Keeper);
    let listener = match Listener::new(&address, &keeper, Inside::stay) {
        Ok(listener) => Arc::new(match secret {
            Some(secret) => listener.with_secret(secret),
            None => listener,
        }),
        Err(errno) => {
            log::warn!(target: "vc4::shim", "a child of fork will not share the device: {errno}");
            return None;
        }
    };
    let door = Door { address, secret, listener, process };
    // A parent's, found here by its child, leads nowhere that this process could clean up.
    std::mem::forget(place.replace((door.clone(), false)));
    Some(door)
}

/// Lets those in who come to the door.
pub fn serve(door: Door, host: Arc<Host>) {
    let mut place = lock(&DOOR);
    let Some((_, served)) = place.as_mut().filter(|(known, served)| known.process == door.process && !served)
    else {
        return;
    };
    let spawned = std::thread::Builder::new().name("vc4-family".into()).spawn(move || {
        let errno = door.listener.serve(&host);
        log::warn!(target: "vc4::shim", "children of fork lose the device: {errno}");
    });
    *served = spawned.is_ok();
}
