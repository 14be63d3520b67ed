//! Checks on the simulator, on a device that drops its jobs and on devices with faults.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use vc4_kernel_abi::{BoHandle, Gpu, GpuError, Ident, Mapping, Noop, PerfmonId, Seqno, Submit};
use vc4_sim::{Config, Simulator};

use super::{CHECKS, Checked, Ended, run};

fn simulator() -> Simulator {
    Simulator::new(Config {
        memory_bytes: 96 << 20,
        check_programs: true,
        findings_are_errors: true,
        ..Config::default()
    })
}

fn check(gpu: &dyn Gpu) -> Vec<Checked> {
    run(gpu, &mut |_| ())
}

/// Why the check of that name failed.
fn why<'a>(checked: &'a [Checked], name: &str) -> &'a str {
    match &checked.iter().find(|checked| checked.name == name).expect("a check").ended {
        Ended::Failed { why, .. } => why,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn the_simulator_passes() {
    let checked = check(&simulator());
    assert_eq!(checked.len(), CHECKS.len());
    for checked in checked {
        assert!(matches!(checked.ended, Ended::Passed(_)), "{}: {:?}", checked.name, checked.ended);
    }
}

#[test]
fn dropped_jobs_are_noticed() {
    let checked = check(&Noop::new());
    let drawing =
        ["clears", "shapes", "arithmetic", "interpolation", "textures", "depth", "order", "many", "latency"];
    for name in drawing {
        let why = why(&checked, name);
        assert!(why.contains("pixels are wrong") && why.contains(": 00000000 instead of"), "{name}: {why}");
    }
    assert_eq!(why(&checked, "filling"), "a corner is 00000000 instead of ffffffff");
    let of_pictures = &checked.iter().find(|checked| checked.name == "pictures").expect("a check").ended;
    // Few leave nothing.
    assert!(
        matches!(of_pictures, Ended::Differs(outcome) if outcome.differing.len() > 70),
        "{of_pictures:?}"
    );
    let of_memory = &checked.iter().find(|checked| checked.name == "memory").expect("a check").ended;
    assert!(matches!(of_memory, Ended::Passed(_)), "{of_memory:?}");
}

/// What is wrong with a device.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// BOs cannot be made: the kernel's answer.
    NoBos(i32),
    /// Jobs are refused: the kernel's answer.
    NoJobs(i32),
    /// Jobs with programs do not end, others do.
    DrawsHang,
    /// Nothing ends any more.
    AllHangs,
    /// One bit of what is read from large BOs is wrong.
    OneBit,
    /// One bit of a known picture, which is 133 pixels wide, is wrong.
    OneKnownBit,
    /// The registers are another GPU's.
    OtherIdent,
}

struct Faulty {
    gpu: Simulator,
    fault: Fault,
    hangs: AtomicBool,
}

impl Faulty {
    fn new(fault: Fault) -> Faulty {
        Faulty { gpu: simulator(), fault, hangs: AtomicBool::new(false) }
    }
}

fn answer(call: &'static str, errno: i32) -> GpuError {
    GpuError::Os { call, source: io::Error::from_raw_os_error(errno) }
}

impl Gpu for Faulty {
    fn description(&self) -> String {
        "a GPU with a fault".into()
    }
    fn is_simulated(&self) -> bool {
        false
    }
    fn ident(&self) -> Result<Ident, GpuError> {
        match self.fault {
            Fault::OtherIdent => Ok(Ident { ident0: 0x0444_3356, ..Ident::REFERENCE }),
            _ => self.gpu.ident(),
        }
    }
    fn memory_size(&self) -> u64 {
        self.gpu.memory_size()
    }
    fn memory_free(&self) -> u64 {
        self.gpu.memory_free()
    }
    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        match self.fault {
            Fault::NoBos(errno) => Err(answer("DRM_IOCTL_VC4_CREATE_BO", errno)),
            _ => self.gpu.create_bo(size),
        }
    }
    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        self.gpu.create_shader_bo(code)
    }
    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        self.gpu.map_bo(bo)
    }
    fn close_bo(&self, bo: BoHandle) {
        self.gpu.close_bo(bo);
    }
    fn shares_bos(&self) -> bool {
        false
    }
    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        self.gpu.export_bo(bo)
    }
    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        self.gpu.import_bo(fd)
    }
    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        None
    }
    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        if let Fault::NoJobs(errno) = self.fault {
            return Err(answer("DRM_IOCTL_VC4_SUBMIT_CL", errno));
        }
        self.hangs.store(!job.bin_cl.is_empty() || self.fault == Fault::AllHangs, Ordering::Relaxed);
        let seqno = self.gpu.submit(job)?;
        let is_wrong = match self.fault {
            Fault::OneBit => job.width == 640,
            Fault::OneKnownBit => job.width == 133,
            _ => false,
        };
        if let Some(surface) = job.color_write.filter(|_| is_wrong) {
            self.gpu.wait_seqno(seqno, None)?;
            let map = self.gpu.map_bo(job.bos[surface.bo_index as usize])?;
            let at = surface.offset as usize + 4000;
            map.write_u32(at, map.read_u32(at) ^ 1 << 9);
        }
        Ok(seqno)
    }
    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        self.gpu.create_perfmon(events)
    }
    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; 16], GpuError> {
        self.gpu.perfmon_values(perfmon)
    }
    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.gpu.destroy_perfmon(perfmon);
    }
    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        assert!(timeout.is_some(), "a check waits without a limit");
        let hangs = matches!(self.fault, Fault::DrawsHang | Fault::AllHangs);
        if hangs && self.hangs.load(Ordering::Relaxed) {
            Ok(false)
        } else {
            self.gpu.wait_seqno(seqno, timeout)
        }
    }
}

const ENOTTY: i32 = 25;
const EACCES: i32 = 13;

#[test]
fn errors_of_the_kernel_are_told() {
    let checked = check(&Faulty::new(Fault::NoBos(ENOTTY)));
    assert_eq!(
        why(&checked, "memory"),
        "DRM_IOCTL_VC4_CREATE_BO failed: Inappropriate ioctl for device (os error 25)"
    );
    let checked = check(&Faulty::new(Fault::NoJobs(EACCES)));
    assert_eq!(why(&checked, "clears"), "DRM_IOCTL_VC4_SUBMIT_CL failed: Permission denied (os error 13)");
    assert!(why(&check(&Faulty::new(Fault::OtherIdent)), "identity").contains("IDENT0 is 04443356"));
}

#[test]
fn a_hang_is_named_and_survived() {
    let checked = check(&Faulty::new(Fault::DrawsHang));
    assert_eq!(why(&checked, "shapes"), "a job did not end within 5 seconds: the GPU hangs");
    assert!(checked.iter().all(|checked| !matches!(checked.ended, Ended::Skipped)));
    assert!(checked.iter().any(|c| c.name == "allocation" && matches!(c.ended, Ended::Passed(_))));
}

#[test]
fn a_gpu_that_is_gone_is_left_alone() {
    let checked = check(&Faulty::new(Fault::AllHangs));
    assert!(why(&checked, "clears").contains("hangs"));
    let after = checked.iter().skip_while(|checked| checked.name != "shapes");
    assert!(after.clone().count() > 5 && after.clone().all(|c| matches!(c.ended, Ended::Skipped)));
}

#[test]
fn one_wrong_bit_is_found() {
    let checked = check(&Faulty::new(Fault::OneBit));
    let failed: Vec<&str> =
        checked.iter().filter(|c| !matches!(c.ended, Ended::Passed(_))).map(|c| c.name).collect();
    assert_eq!(failed, ["many"]);
    assert!(why(&checked, "many").starts_with("1 of 307200 pixels are wrong"));
    let ended = checked.into_iter().find(|c| c.name == "many").expect("a check").ended;
    let Ended::Failed { pictures: Some(pictures), .. } = ended else { panic!("{ended:?}") };
    let (seen, expected) = *pictures;
    assert_eq!(seen.words.iter().zip(&expected.words).filter(|(a, b)| a != b).count(), 1);
}

#[test]
fn a_known_picture_that_differs_is_no_failure() {
    let checked = check(&Faulty::new(Fault::OneKnownBit));
    let mut others = checked.iter().filter(|checked| !matches!(checked.ended, Ended::Passed(_)));
    let Some(Ended::Differs(outcome)) = others.next().map(|checked| &checked.ended) else {
        panic!("{checked:?}")
    };
    assert!(others.next().is_none());
    assert_eq!(outcome.said, "1 of 78 known pictures are not the simulator's: scenes/clear");
    assert!(
        outcome.differing[0].why.starts_with("color: 1 of 10241 pixels are wrong"),
        "{}",
        outcome.differing[0].why
    );
}
