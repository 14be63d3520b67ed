//! States that others may hold, too: a file descriptor that is readable once it is signalled.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::time::Duration;

use ash::vk;

use super::error::Error;
use super::threads::yield_now;

/// How the state changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An eventfd that counts signals; whoever has it gives and takes them.
    Event,
    /// Somebody else's sync file, which is signalled once and for ever.
    SyncFile,
}

/// A state behind a file descriptor.
#[derive(Debug)]
pub struct SharedFlag {
    file: File,
    kind: Kind,
}

impl AsFd for SharedFlag {
    /// What is readable while it is signalled.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn invalid(why: String) -> Error {
    Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why)
}

impl SharedFlag {
    /// A state of our own.
    pub fn new(set: bool) -> Result<SharedFlag, Error> {
        let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK | libc::EFD_SEMAPHORE;
        // SAFETY: takes numbers only.
        let fd = unsafe { libc::eventfd(u32::from(set), flags) };
        if fd < 0 {
            let error = std::io::Error::last_os_error();
            return Err(Error::Result(vk::Result::ERROR_TOO_MANY_OBJECTS, format!("eventfd: {error}")));
        }
        // SAFETY: the descriptor is new and nobody else's.
        let file = unsafe { File::from_raw_fd(fd) };
        Ok(SharedFlag { file, kind: Kind::Event })
    }

    /// One that [`SharedFlag::export`] gave away; else the descriptor comes back.
    pub fn import(fd: OwnedFd) -> Result<SharedFlag, (OwnedFd, Error)> {
        // What a descriptor is, only its name tells.
        let name = std::fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        match name {
            Ok(name) if name.as_os_str() == "anon_inode:[eventfd]" => {
                Ok(SharedFlag { file: File::from(fd), kind: Kind::Event })
            }
            name => {
                let why = format!("{name:?} is no state of a fence or semaphore");
                Err((fd, invalid(why)))
            }
        }
    }

    /// A sync file; else the descriptor comes back.
    pub fn of_sync_file(fd: OwnedFd) -> Result<SharedFlag, (OwnedFd, Error)> {
        let file = File::from(fd);
        let is_on_disk = match file.metadata().map(|metadata| metadata.file_type()) {
            Ok(ty) => ty.is_file() || ty.is_dir() || ty.is_block_device(),
            Err(_) => true,
        };
        match is_on_disk {
            true => Err((file.into(), invalid("the descriptor is no sync file".into()))),
            false => Ok(SharedFlag { file, kind: Kind::SyncFile }),
        }
    }

    /// A descriptor for others.
    pub fn export(&self) -> Result<OwnedFd, Error> {
        if self.kind == Kind::SyncFile {
            return Err(Error::InvalidUse("an opaque descriptor of a state that a sync file gave".into()));
        }
        let copy = self.file.try_clone().map_err(|error| {
            Error::Result(vk::Result::ERROR_TOO_MANY_OBJECTS, format!("a copy of a descriptor: {error}"))
        })?;
        Ok(copy.into())
    }

    /// Whether it is signalled.
    pub fn get(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Signals it.
    pub fn set(&self) {
        if self.kind == Kind::Event {
            // Fails where it is signalled 2⁶⁴ times already.
            let _ = (&self.file).write(&1u64.to_ne_bytes());
        }
    }

    /// Takes one signal; whether there was one.
    pub fn take(&self) -> bool {
        match self.kind {
            // Looks first: an eventfd that others made may block who reads it.
            Kind::Event => self.get() && matches!((&self.file).read(&mut [0; 8]), Ok(8)),
            Kind::SyncFile => self.get(),
        }
    }

    /// Takes all signals.
    pub fn clear(&self) {
        while self.kind == Kind::Event && self.take() {}
    }

    /// Waits until it is signalled; whether it was in time.
    pub fn wait(&self, most: Duration) -> bool {
        // Nobody else runs while this thread is in the kernel.
        if cfg!(feature = "model") {
            yield_now();
            return self.poll(Duration::ZERO);
        }
        self.poll(most)
    }

    fn poll(&self, most: Duration) -> bool {
        let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let most = libc::c_int::try_from(most.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: one structure, as the count says.
        let count = unsafe { libc::poll(&raw mut poll, 1, most) };
        count == 1 && poll.revents & libc::POLLIN != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_see_what_either_does() {
        let here = SharedFlag::new(false).unwrap();
        let there = SharedFlag::import(here.export().unwrap()).unwrap();
        assert!(!here.get() && !there.get() && !there.take());
        here.set();
        assert!(here.get() && there.get());
        assert!(there.take() && !here.take());
        there.set();
        there.set();
        // Each signal is one wait's.
        assert!(here.take() && here.take() && !here.take());
        there.set();
        here.clear();
        assert!(!there.get());
        assert!(SharedFlag::new(true).unwrap().take());
    }

    #[test]
    fn what_is_no_state_comes_back() {
        let file = || OwnedFd::from(File::open("/proc/self/exe").unwrap());
        let (_, error) = SharedFlag::import(file()).unwrap_err();
        assert_eq!(error.result(), vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        assert!(SharedFlag::of_sync_file(file()).is_err());
    }

    #[test]
    fn an_eventfd_that_blocks_holds_nobody_up() {
        // SAFETY: takes numbers; the descriptor is new and nobody else's.
        let fd = unsafe { OwnedFd::from_raw_fd(libc::eventfd(2, 0)) };
        let flag = SharedFlag::import(fd).unwrap();
        flag.clear();
        assert!(!flag.take());
    }

    #[test]
    fn a_sync_file_stays_signalled() {
        let (read, mut write) = std::io::pipe().unwrap();
        let flag = SharedFlag::of_sync_file(read.into()).unwrap();
        assert!(!flag.get());
        write.write_all(&[0]).unwrap();
        assert!(flag.take() && flag.take());
        flag.clear();
        assert!(flag.get() && flag.export().is_err());
    }
}
