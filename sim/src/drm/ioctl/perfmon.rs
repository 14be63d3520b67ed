//! Performance monitors (kernel-abi.md §4.11–§4.15): they count what the simulator really did.

use std::sync::Arc;

use nix::errno::Errno;
use vc4_kernel_abi::uapi::{PerfmonCreate, PerfmonDestroy, PerfmonGetValues};

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::lock::lock;
use crate::stats::Perfmon;

impl File {
    /// SUB-8: the monitor of a job.
    pub(super) fn perfmon(&self, id: u32) -> Result<Option<Arc<Perfmon>>, Errno> {
        if id == 0 { Ok(None) } else { lock(&self.perfmons).get(id).map(Some).ok_or(Errno::ENOENT) }
    }

    pub(super) fn perfmon_create(&self, arg: &mut PerfmonCreate, _: &dyn Process) -> Answer {
        let events = arg.events.get(..arg.ncounters as usize).ok_or(Errno::EINVAL)?;
        let monitor = Perfmon::new(events).ok_or(Errno::EINVAL)?;
        arg.id = lock(&self.perfmons).insert(Arc::new(monitor))?;
        Ok(())
    }

    pub(super) fn perfmon_destroy(&self, arg: &mut PerfmonDestroy, _: &dyn Process) -> Answer {
        lock(&self.perfmons).remove(arg.id).map(drop).ok_or(Errno::EINVAL)
    }

    pub(super) fn perfmon_get_values(&self, arg: &mut PerfmonGetValues, process: &dyn Process) -> Answer {
        let monitor = lock(&self.perfmons).get(arg.id).ok_or(Errno::EINVAL)?;
        let values = monitor.values();
        let bytes: Vec<u8> =
            values[..monitor.events().len()].iter().flat_map(|count| count.to_le_bytes()).collect();
        process.write(arg.values, &bytes)
    }
}
