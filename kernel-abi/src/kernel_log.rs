//! The kernel's log, which is where Linux says that it has reset the GPU (kernel-abi.md §11): jobs that hung count as done
//! afterwards, no call answers an error, and the record of the hang is for root.
//!
//! Any user may read the log unless `kernel.dmesg_restrict` is set, as it is in Debian's kernels. Whoever has it open waits
//! for nothing: looking costs one call that answers EAGAIN.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// The device of the log.
pub const KERNEL_LOG: &str = "/dev/kmsg";
/// What vc4 writes when it resets the GPU. UNVERIFIED: no board's log was seen yet.
pub const RESET_MESSAGE: &str = "[drm] Resetting GPU.";
/// Bytes of the longest record that a read gives.
const LONGEST_RECORD: usize = 8192;

/// A record as a read of [`KERNEL_LOG`] gives it: priority, number and microseconds since boot in front of the text.
pub fn kernel_log_record(number: u64, text: &str) -> String {
    let since_boot = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    let micros = since_boot.map_or(0, |time| Duration::from(time).as_micros());
    format!("6,{number},{micros},-;{text}\n")
}

/// The kernel's log from some moment on.
#[derive(Debug)]
pub struct KernelLog(Mutex<Reader>);

#[derive(Debug)]
struct Reader {
    file: File,
    resets: u64,
}

impl KernelLog {
    /// The log from now on.
    ///
    /// # Errors
    /// Those of opening it: EPERM where it is kept from users.
    pub fn open() -> std::io::Result<KernelLog> {
        KernelLog::open_at(Path::new(KERNEL_LOG))
    }

    fn open_at(path: &Path) -> std::io::Result<KernelLog> {
        let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        // What a simulator gives instead begins now, and cannot seek.
        let _ = file.seek(SeekFrom::End(0));
        Ok(KernelLog::of(file))
    }

    fn of(file: File) -> KernelLog {
        KernelLog(Mutex::new(Reader { file, resets: 0 }))
    }

    /// How many resets it has told of.
    pub fn resets(&self) -> u64 {
        let mut reader = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut record = [0; LONGEST_RECORD];
        loop {
            match reader.file.read(&mut record) {
                Ok(0) => return reader.resets,
                Ok(length) => {
                    let message = RESET_MESSAGE.as_bytes();
                    let tells = record[..length].windows(message.len()).any(|part| part == message);
                    reader.resets += u64::from(tells);
                }
                // EPIPE: records were overwritten before they were read; the next read goes on behind them.
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) => {}
                // EAGAIN: no more.
                Err(_) => return reader.resets,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsRawFd, OwnedFd};

    use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, send, socketpair};

    use super::*;

    fn pair() -> (KernelLog, OwnedFd) {
        let flags = SockFlag::SOCK_NONBLOCK;
        let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap();
        (KernelLog::of(ours.into()), theirs)
    }

    fn write(to: &OwnedFd, text: &str) {
        send(to.as_raw_fd(), kernel_log_record(7, text).as_bytes(), MsgFlags::empty()).unwrap();
    }

    #[test]
    fn resets_are_counted() {
        let (log, kernel) = pair();
        assert_eq!(log.resets(), 0);
        write(&kernel, "usb 1-1: new device");
        assert_eq!(log.resets(), 0);
        write(&kernel, RESET_MESSAGE);
        write(&kernel, "usb 1-1: gone");
        assert_eq!(log.resets(), 1);
        write(&kernel, RESET_MESSAGE);
        drop(kernel);
        assert_eq!((log.resets(), log.resets()), (2, 2));
    }

    #[test]
    fn a_record_is_the_kernels() {
        let record = kernel_log_record(12, "text");
        let fields: Vec<&str> = record.split([',', ';']).collect();
        assert_eq!((fields[0], fields[1], fields[3], fields[4]), ("6", "12", "-", "text\n"));
        assert!(fields[2].parse::<u64>().unwrap() > 0);
    }

    #[test]
    fn a_log_that_is_not_there_is_an_error() {
        assert!(KernelLog::open_at(Path::new("/nowhere/kmsg")).is_err());
    }
}
