//! What the kernel does when a job hangs (kernel-abi.md §11), and the log in which it says so.

use std::time::Duration;

use vc4_kernel_abi::{RESET_MESSAGE, kernel_log_record};

/// From a list's standstill to the reset: the kernel looks every 100 ms, and the first look only notes where the lists are.
pub(super) const UNTIL_RESET: Duration = Duration::from_millis(200);

/// Takes a record of the kernel's log; whether anybody reads on.
pub(crate) type LogReader = Box<dyn Fn(&[u8]) -> bool + Send>;

/// The kernel's log.
#[derive(Default)]
pub(super) struct KernelLog {
    pub readers: Vec<LogReader>,
    records: u64,
}

impl KernelLog {
    /// Writes that the GPU is reset.
    pub fn write_reset(&mut self) {
        let record = kernel_log_record(self.records, RESET_MESSAGE);
        self.records += 1;
        self.readers.retain(|reader| reader(record.as_bytes()));
    }
}
