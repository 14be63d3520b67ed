//! Submissions and waits (kernel-abi.md §4.1, §4.2, §5, §7).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use vc4_kernel_abi::uapi::{SubmitCl, WaitBo, WaitSeqno};
use vc4_kernel_abi::validate::Violation;
use vc4_kernel_abi::validate::frame::{Pointees, from_uapi};
use vc4_kernel_abi::{BoHandle, Seqno, SubmitFlags};

use super::wait::wait;
use crate::device::Watch;
use crate::drm::device::{Device, Hang, errno};
use crate::drm::fence::Fence;
use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::object::Object;
use crate::drm::process::{Process, read_bytes};
use crate::kernel::{Bo, Job};
use crate::lock::lock;
use crate::stats::Perfmon;

/// `timeout_ns` of a wait without end.
const FOREVER: u64 = u64::MAX;
/// Bytes that the kernel keeps per shader record while it validates (SUB-10).
const RECORD_STATE_SIZE: u32 = 8;

fn refused(violation: Violation) -> Errno {
    log::info!(target: "vc4::kernel", "{violation}");
    Errno::EINVAL
}

/// SUB-10, before anything of that size is copied.
fn check_sizes(arg: &SubmitCl) -> Answer {
    let total = arg.bin_cl_size.checked_next_multiple_of(16);
    let total =
        total.and_then(|total| total.checked_add(arg.shader_rec_size)?.checked_add(arg.uniforms_size));
    let records = arg.shader_rec_count;
    let fits = records < u32::MAX / RECORD_STATE_SIZE
        && total.is_some_and(|total| total.checked_add(records * RECORD_STATE_SIZE).is_some());
    if fits { Ok(()) } else { Err(Errno::EINVAL) }
}

/// Which of the listed BOs the rendering list stores to; what is absent is no index of any.
fn written(arg: &SubmitCl) -> [u32; 4] {
    [arg.color_write, arg.zs_write, arg.msaa_color_write, arg.msaa_zs_write].map(|surface| surface.hindex)
}

impl File {
    /// The objects of a submission with their memory: SUB-4 to SUB-7.
    #[expect(clippy::type_complexity, reason = "two parallel lists, used once")]
    fn job_objects(
        &self,
        arg: &SubmitCl,
        process: &dyn Process,
    ) -> Result<(Vec<BoHandle>, Vec<Arc<Object>>, Vec<Arc<Bo>>), Errno> {
        if arg.bo_handle_count == 0 {
            return Err(Errno::EINVAL);
        }
        let size = arg.bo_handle_count.checked_mul(4).ok_or(Errno::ENOMEM)?;
        let bytes = read_bytes(process, arg.bo_handles, size)?;
        let handles: Vec<BoHandle> = bytes
            .chunks_exact(4)
            .map(|word| BoHandle(u32::from_le_bytes(word.try_into().expect("chunks of four bytes"))))
            .collect();
        let objects: Option<Vec<_>> = handles.iter().map(|handle| self.object(handle.0)).collect();
        let objects = objects.ok_or(Errno::EINVAL)?;
        let (finished, strict) = (self.device.simulator.finished(), self.device.strict);
        let bos: Result<Vec<_>, _> = objects.iter().map(|object| object.for_job(&finished, strict)).collect();
        Ok((handles, objects, bos?))
    }

    /// SUB-10 and SUB-11: what the kernel copies of a binning job.
    fn lists(&self, arg: &SubmitCl, process: &dyn Process) -> Result<Pointees, Errno> {
        if arg.bin_cl_size == 0 {
            return Ok(Pointees::default());
        }
        check_sizes(arg)?;
        Ok(Pointees {
            bin_cl: read_bytes(process, arg.bin_cl, arg.bin_cl_size)?,
            shader_rec: read_bytes(process, arg.shader_rec, arg.shader_rec_size)?,
            uniforms: read_bytes(process, arg.uniforms, arg.uniforms_size)?,
            bos: Vec::new(),
        })
    }

    /// The steps stand in the order of kernel-abi.md §7, so that the errno is the kernel's.
    pub(super) fn submit_cl(&self, arg: &mut SubmitCl, process: &dyn Process) -> Answer {
        if arg.flags & !SubmitFlags::all().bits() != 0 || arg.pad2 != 0 {
            return Err(Errno::EINVAL);
        }
        let (handles, objects, bos) = self.job_objects(arg, process)?;
        let perfmon = self.perfmon(arg.perfmonid)?;
        if arg.in_sync != 0 {
            // Jobs run in order, so every fence of this device has signalled when the job's turn comes.
            self.syncobj(arg.in_sync).ok_or(Errno::ENOENT)?.fence().ok_or(Errno::EINVAL)?;
        }
        let data = Pointees { bos: handles.clone(), ..self.lists(arg, process)? };
        let submit = from_uapi(arg, data).map_err(refused)?;
        let mut order = self.device.simulator.place(&submit, bos).map_err(|error| errno(&error))?;
        order.counted = perfmon.as_ref().is_some_and(|perfmon| perfmon.counts_caches());
        if let Some(recorded) = &mut order.submission {
            (recorded.in_sync, recorded.out_sync, recorded.perfmon) =
                (arg.in_sync, arg.out_sync, arg.perfmonid);
        }
        // SUB-6: a BO cannot be reserved twice.
        if handles.iter().collect::<BTreeSet<_>>().len() < handles.len() {
            return Err(Errno::EALREADY);
        }
        let out_sync = match arg.out_sync {
            0 => None,
            handle => Some(self.syncobj(handle).ok_or(Errno::EINVAL)?),
        };
        let watch = watch(&self.device, &order.job, objects.clone(), perfmon);
        let seqno = self.device.simulator.enqueue(order, watch).map_err(|error| errno(&error))?;
        let written = written(arg);
        for (index, object) in (0..).zip(&objects) {
            let mut state = object.state();
            state.last_job = state.last_job.max(seqno);
            // vc4_update_bo_seqnos: every listed BO is read, those of the stores are written.
            state.fences.add(Fence::Job(seqno), written.contains(&index));
        }
        if let Some(syncobj) = out_sync {
            self.device.set_fence(&syncobj, Some(Fence::Job(seqno)));
        }
        arg.seqno = seqno.0;
        Ok(())
    }

    pub(super) fn wait_seqno(&self, arg: &mut WaitSeqno, process: &dyn Process) -> Answer {
        self.wait(Seqno(arg.seqno), arg.timeout_ns, process)
    }

    pub(super) fn wait_bo(&self, arg: &mut WaitBo, process: &dyn Process) -> Answer {
        if arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let last_job = self.object(arg.handle).ok_or(Errno::EINVAL)?.state().last_job;
        self.wait(last_job, arg.timeout_ns, process)
    }

    /// A hang is no error: the kernel lets the job's waiters go, and counts jobs rather than looking which are done
    /// (kernel-abi.md §11).
    fn wait(&self, seqno: Seqno, timeout_ns: u64, process: &dyn Process) -> Answer {
        let timeout = (timeout_ns != FOREVER).then(|| Duration::from_nanos(timeout_ns));
        wait(&self.device, process, timeout, |finished| finished.count() >= seqno)
    }
}

/// Counts what the job did and keeps the first hang until somebody asks for it.
fn watch(device: &Device, job: &Job, objects: Vec<Arc<Object>>, perfmon: Option<Arc<Perfmon>>) -> Watch {
    let kept = device.hang.clone();
    let (bin, render) = (job.bin, job.render);
    Box::new(move |result| match (result, &perfmon) {
        (Ok(stats), Some(perfmon)) => perfmon.add(stats),
        (Ok(_), None) => {}
        (Err(_), _) => {
            lock(&kept).get_or_insert_with(|| Hang { objects: objects.clone(), bin, render });
        }
    })
}
