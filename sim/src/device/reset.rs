//! What the kernel does when a job hangs (kernel-abi.md §11), and the log in which it says so.

use std::time::{Duration, Instant};

use vc4_kernel_abi::{RESET_MESSAGE, kernel_log_record};

use super::queue::Shared;

/// How often the kernel looks whether the lists have moved.
const HANG_CHECK: Duration = Duration::from_millis(100);
/// Looks at lists that stand still, the first of which only notes where.
const LOOKS: u32 = 2;

/// Takes a record of the kernel's log; whether anybody reads on.
pub(crate) type LogReader = Box<dyn Fn(&[u8]) -> bool + Send>;

/// The kernel's log.
#[derive(Default)]
pub(super) struct KernelLog {
    pub readers: Vec<LogReader>,
    records: u64,
}

impl KernelLog {
    fn write(&mut self, text: &str) {
        let record = kernel_log_record(self.records, text);
        self.records += 1;
        self.readers.retain(|reader| reader(record.as_bytes()));
    }
}

/// Waits until the kernel has seen that the lists stand still, and resets the GPU; `false` if the device goes meanwhile.
pub(super) fn after_looks(shared: &Shared) -> bool {
    let reset = Instant::now() + HANG_CHECK * LOOKS;
    let mut state = shared.state();
    while !state.stop {
        let left = reset.saturating_duration_since(Instant::now());
        if left.is_zero() {
            state.log.write(RESET_MESSAGE);
            return true;
        }
        let waited = shared.changed.wait_timeout(state, left);
        state = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
    }
    false
}
