//! Faults on request. `VC4SIM_FAULTS=CALL:ERRNO:WHICH`, with commas between several: calls of this process that the kernel is to
//! answer with an error. CALL is an ioctl by the name of its struct's number (`submit_cl`, `gem_close`, `syncobj_create`), or
//! `mmap`, `open`, or `thread` for one that is to start; WHICH a number from 1 on, or `3-5`, or `3-` for all from there on.

use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use vc4_kernel_abi::environment;
use vc4_sim::drm::{Errno, call_number};

const VARIABLE: &str = "VC4SIM_FAULTS";

/// What the kernel can answer.
const ERRNOS: [Errno; 14] = [
    Errno::EACCES,
    Errno::EAGAIN,
    Errno::EBUSY,
    Errno::EFAULT,
    Errno::EINTR,
    Errno::EINVAL,
    Errno::EIO,
    Errno::EMFILE,
    Errno::ENODEV,
    Errno::ENOENT,
    Errno::ENOMEM,
    Errno::ENOSPC,
    Errno::EPERM,
    Errno::ETIME,
];

/// What a process asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// An ioctl of a node, by its number.
    Ioctl(u8),
    /// Mapping a node.
    Mmap,
    /// Opening one.
    Open,
    /// Starting a thread, of the program's.
    Thread,
}

#[derive(Debug)]
struct Fault {
    name: String,
    call: Call,
    errno: Errno,
    which: RangeInclusive<u64>,
    /// Calls of this kind so far.
    calls: AtomicU64,
}

impl Fault {
    /// `CALL:ERRNO:WHICH`.
    fn parse(text: &str) -> Option<Fault> {
        let mut parts = text.trim().split(':');
        let (name, errno, which) = (parts.next()?, parts.next()?, parts.next()?);
        let call = match name {
            "mmap" => Call::Mmap,
            "open" => Call::Open,
            "thread" => Call::Thread,
            name => Call::Ioctl(call_number(name)?),
        };
        let errno = ERRNOS.into_iter().find(|known| format!("{known:?}") == errno)?;
        let number = |text: &str| text.parse::<u64>().ok().filter(|&number| number > 0);
        let which = match which.split_once('-') {
            None => number(which)?..=number(which)?,
            Some((first, "")) => number(first)?..=u64::MAX,
            Some((first, last)) => number(first)?..=number(last)?,
        };
        parts.next().is_none().then(|| Fault {
            name: name.into(),
            call,
            errno,
            which,
            calls: AtomicU64::new(0),
        })
    }

    fn answer(&self) -> Option<Errno> {
        let number = self.calls.fetch_add(1, Relaxed) + 1;
        if !self.which.contains(&number) {
            return None;
        }
        eprintln!(
            "vc4 shim: {} number {number} fails with {:?}, as {VARIABLE} asks for",
            self.name, self.errno
        );
        Some(self.errno)
    }
}

/// The error that a call is to get, if it is one of those.
pub fn of(call: Call) -> Option<Errno> {
    static FAULTS: OnceLock<Vec<Fault>> = OnceLock::new();
    let faults = FAULTS.get_or_init(|| {
        let text = environment::word(VARIABLE).unwrap_or_default();
        let parts = text.split(',').filter(|part| !part.is_empty());
        parts
            .filter_map(|part| {
                let fault = Fault::parse(part);
                if fault.is_none() {
                    eprintln!("vc4 shim: {VARIABLE}: `{part}` is no fault: CALL:ERRNO:WHICH, as `submit_cl:ENOMEM:3`");
                }
                fault
            })
            .collect()
    });
    faults.iter().filter(|fault| fault.call == call).filter_map(Fault::answer).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_hit_the_calls_that_they_name() {
        let given = |text: &str| {
            let fault = Fault::parse(text).unwrap_or_else(|| panic!("{text}"));
            (1..=6).map(|_| u8::from(fault.answer().is_some())).collect::<Vec<_>>()
        };
        assert_eq!(given("submit_cl:ENOMEM:3"), [0, 0, 1, 0, 0, 0]);
        assert_eq!(given("mmap:EINVAL:2-4"), [0, 1, 1, 1, 0, 0]);
        assert_eq!(given("open:EMFILE:5-"), [0, 0, 0, 0, 1, 1]);
        assert_eq!(Fault::parse("create_bo:ENOMEM:1").map(|fault| fault.call), Some(Call::Ioctl(0x43)));
        assert_eq!(Fault::parse("gem_close:EINVAL:1").map(|fault| fault.call), Some(Call::Ioctl(0x09)));
    }

    #[test]
    fn what_is_no_fault_is_none() {
        for text in [
            "submit",
            "submit_cl:ENOMEM",
            "submit_cl:ENOMEM:0",
            "submit_cl:NOTHING:1",
            "a:ENOMEM:1",
            "mmap:EIO:1:2",
            "mmap:EIO:x",
        ] {
            assert!(Fault::parse(text).is_none(), "{text}");
        }
    }
}
