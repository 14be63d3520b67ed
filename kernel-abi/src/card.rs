//! The primary node, which has the display (kernel-abi.md §13.5): mode setting by the `drm` crate's calls.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use drm::control::atomic::AtomicModeReq;
use drm::control::{AtomicCommitFlags, Device as _};
use drm::{ClientCapability, Device as _};
use nix::errno::Errno;

use crate::uapi::{DRIVER, NODE_DIR};

/// An open primary node.
#[derive(Debug)]
pub struct Card {
    file: File,
    path: PathBuf,
}

impl AsFd for Card {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
impl drm::Device for Card {}
impl drm::control::Device for Card {}

impl Card {
    /// The first primary node of the vc4 driver that has connectors; `None` without one.
    ///
    /// Whoever opens a node without a master becomes its master: see [`Card::resign`].
    pub fn find() -> Option<Card> {
        Card::find_in(Path::new(NODE_DIR))
    }

    fn find_in(dir: &Path) -> Option<Card> {
        let names = std::fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
        let is_card = |path: &PathBuf| {
            let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix("card"));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let mut nodes: Vec<PathBuf> = names.filter(is_card).collect();
        nodes.sort();
        nodes.into_iter().find_map(|node| {
            let opened = Card::open(&node);
            opened.inspect_err(|error| log::info!(target: "vc4::drm", "{}: {error}", node.display())).ok()?
        })
    }

    /// A node, if it is one with a display of this driver.
    fn open(path: &Path) -> io::Result<Option<Card>> {
        let file = File::options().read(true).write(true).open(path)?;
        Card::of_file(file, path.to_owned())
    }

    /// A copy of somebody's descriptor of such a node, if it is one.
    ///
    /// # Errors
    /// The system's answer, where it is no DRM device or has no atomic mode setting.
    pub fn share(fd: BorrowedFd<'_>) -> io::Result<Option<Card>> {
        Card::of_file(
            File::from(fd.try_clone_to_owned()?),
            PathBuf::from("a descriptor of the application's"),
        )
    }

    fn of_file(file: File, path: PathBuf) -> io::Result<Option<Card>> {
        let card = Card { file, path };
        if card.get_driver()?.name() != DRIVER {
            return Ok(None);
        }
        card.set_client_capability(ClientCapability::UniversalPlanes, true)?;
        card.set_client_capability(ClientCapability::Atomic, true)?;
        Ok(Some(card)
            .filter(|card| card.resource_handles().is_ok_and(|resources| !resources.connectors().is_empty())))
    }

    /// Opens the same node once more.
    ///
    /// # Errors
    /// The system's answer.
    pub fn reopen(&self) -> io::Result<Card> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        Card::open(&self.path)?.ok_or_else(gone)
    }

    /// Lets others become master, if this file is.
    pub fn resign(&self) {
        // Who is no master has nothing to give.
        let _ = self.release_master_lock();
    }

    /// Whether this file may change what the screens show.
    pub fn is_master(&self) -> bool {
        // Who is not is told so before anything is looked at.
        let answer = self.atomic_commit(AtomicCommitFlags::TEST_ONLY, AtomicModeReq::new());
        answer.err().and_then(|error| error.raw_os_error()) != Some(Errno::EACCES as i32)
    }

    /// The node's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
