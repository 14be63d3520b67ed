//! The GPU behind a render node of the Linux vc4 driver.

use crate::cache;
use crate::card::Card;
use crate::dma_heap::DmaHeap;
use crate::gpu::{BoHandle, Gpu, GpuError, Ident, Mapping, Nodes, PerfmonId, Seqno, Submit};
use crate::ioctl::{self, Lists};
use crate::kernel_log::{KERNEL_LOG, KernelLog};
use crate::mapping::MappedMemory;
use crate::uapi::{DRIVER, MAX_PERF_COUNTERS, NODE_DIR, Param, SubmitCl};
use crate::validate::{Mode, ShaderInfo, check_submit_in, frame, shader};
use drm::Device as _;
use drm::control::{Device as _, syncobj};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// `timeout_ns` of a wait without end (kernel-abi.md §4.1).
const FOREVER: u64 = u64::MAX;
/// How long a fence may take behind the job's number. A job that hung while binning lets another one count in its place, and
/// is started again for ever.
const FENCE_PATIENCE_MS: u16 = 10_000;
/// Behind a job without a fence: how long the kernel may take from counting the job to reading its monitor, which is one
/// interrupt handler.
const COUNTERS_REST: Duration = Duration::from_millis(10);
/// BOs are made of pages.
const PAGE: u32 = 4096;
/// What the upstream device trees reserve for BOs, when the system does not tell (kernel-abi.md §12).
const DEFAULT_CMA: u64 = 64 << 20;

/// An open render node.
#[derive(Debug)]
pub struct DrmGpu {
    node: Node,
    path: PathBuf,
    ident: Ident,
    memory_size: u64,
    bos: Mutex<BTreeMap<BoHandle, Bo>>,
    /// Where each job puts its fence.
    fence: Option<syncobj::Handle>,
    /// Of each monitor, the fence of its last job.
    counted: Mutex<BTreeMap<PerfmonId, OwnedFd>>,
    /// Where the kernel tells of resets, if this user may read that.
    log: Option<KernelLog>,
    /// Where memory comes from that the CPU caches.
    heap: Option<DmaHeap>,
}

/// What is remembered of a BO.
#[derive(Debug)]
struct Bo {
    size: u32,
    memory: Option<MappedMemory>,
    shader: Option<Arc<ShaderInfo>>,
    /// The CPU caches its memory.
    is_cached: bool,
}

/// The major number of DRM nodes, and the first minor one of render nodes (drm.h).
const DRM_MAJOR: u32 = 226;
const FIRST_RENDER_MINOR: u32 = 128;

/// The device file.
#[derive(Debug)]
struct Node(File);

impl AsFd for Node {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
impl drm::Device for Node {}
impl drm::control::Device for Node {}

/// Whether a descriptor is of a node, any one, of a device with this driver.
pub fn is_vc4(fd: BorrowedFd<'_>) -> bool {
    let copy = fd.try_clone_to_owned().map(|copy| Node(File::from(copy)));
    copy.is_ok_and(|node| retry(|| node.get_driver()).is_ok_and(|driver| driver.name() == DRIVER))
}

impl DrmGpu {
    /// Opens the node at `path`, or the first one of the vc4 driver when there is no path.
    ///
    /// # Errors
    /// [`GpuError::NoDevice`], saying what was tried, what was wrong with it and what can be done.
    pub fn open(path: Option<&Path>) -> Result<DrmGpu, GpuError> {
        match path {
            Some(path) => Self::open_node(path).map_err(GpuError::NoDevice),
            None => Self::open_in(Path::new(NODE_DIR)).map_err(GpuError::NoDevice),
        }
    }

    fn open_in(dir: &Path) -> Result<DrmGpu, String> {
        let nodes = render_nodes(dir).map_err(|error| {
            format!(
                "{}: {error}; is a DRM driver loaded? On a Raspberry Pi 0 to 3 config.txt needs \
                 dtoverlay=vc4-kms-v3d",
                dir.display()
            )
        })?;
        let mut refusals = Vec::new();
        for node in &nodes {
            match Self::open_node(node) {
                Ok(gpu) => return Ok(gpu),
                Err(refusal) => refusals.push(refusal),
            }
        }
        if refusals.is_empty() {
            refusals.push(format!("{} has no render node", dir.display()));
        }
        Err(refusals.join("; "))
    }

    fn open_node(path: &Path) -> Result<DrmGpu, String> {
        let refusal = |what: String| format!("{}: {what}", path.display());
        let file = File::options().read(true).write(true).open(path).map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    " (add the user to the group that owns it, often `render`)"
                }
                _ => "",
            };
            refusal(format!("{error}{advice}"))
        })?;
        let node = Node(file);
        let driver =
            retry(|| node.get_driver()).map_err(|error| refusal(format!("no DRM device: {error}")))?;
        if driver.name() != DRIVER {
            let name = driver.name().to_string_lossy();
            return Err(refusal(format!(
                "driver `{name}`, wanted `{DRIVER}` (VideoCore IV, Raspberry Pi 0 to 3)"
            )));
        }
        let ident = ident(node.as_fd()).map_err(|error| {
            refusal(format!("the 3D block does not answer ({error}); is v3d enabled in the device tree?"))
        })?;
        // Kernels that have none are old: their jobs are waited for by number.
        let fence = retry(|| node.create_syncobj(false)).ok();
        let log = KernelLog::open()
            .inspect_err(|error| log::info!(target: "vc4::drm", "{KERNEL_LOG}: {error}; resets go unnoticed"))
            .ok();
        let heap = cache::IS_POSSIBLE.then(DmaHeap::open).flatten();
        let (path, bos) = (path.to_owned(), Mutex::default());
        let (memory_size, counted) = (cma_size(), Mutex::default());
        Ok(DrmGpu { node, path, ident, memory_size, bos, fence, counted, log, heap })
    }

    fn bos(&self) -> MutexGuard<'_, BTreeMap<BoHandle, Bo>> {
        self.bos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counted(&self) -> MutexGuard<'_, BTreeMap<PerfmonId, OwnedFd>> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, handle: u32, size: u32, shader: Option<ShaderInfo>) -> BoHandle {
        let handle = BoHandle(handle);
        // The kernel made the BO, so rounding its size up cannot overflow.
        let size = size.checked_next_multiple_of(PAGE).unwrap_or(size);
        self.bos().insert(handle, Bo { size, memory: None, shader: shader.map(Arc::new), is_cached: false });
        handle
    }

    /// The mapping of a BO whose memory the CPU caches.
    fn cached(&self, bo: BoHandle) -> Option<Mapping> {
        let bos = self.bos();
        let bo = bos.get(&bo).filter(|bo| bo.is_cached)?;
        bo.memory.as_ref().map(MappedMemory::mapping)
    }

    /// The kernel only says EINVAL: finds the rule.
    fn explain(&self, job: &Submit) -> String {
        let check = |mode| {
            check_submit_in(mode, job, |handle| {
                self.bos().get(&handle).map(|bo| (bo.size, bo.shader.clone()))
            })
        };
        match check(Mode::Faithful).and_then(|()| check(Mode::Strict)) {
            Err(violation) => violation.to_string(),
            Ok(()) => "the kernel names no reason, and every rule that the submission itself decides holds; \
                 its messages (dmesg with drm.debug=1) may tell more"
                .to_owned(),
        }
    }
}

/// Major and minor number of a device's node.
fn numbers(fd: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let node = File::from(fd.try_clone_to_owned().ok()?).metadata().ok()?.rdev();
    let (major, minor) = (nix::libc::major(node), nix::libc::minor(node));
    (major == DRM_MAJOR).then_some((major, minor))
}

/// The render nodes of a directory in the order of their numbers.
fn render_nodes(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut nodes: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(|name| name.strip_prefix("renderD")?.parse().ok()) {
            nodes.push((number, path));
        }
    }
    nodes.sort();
    Ok(nodes.into_iter().map(|(_, path)| path).collect())
}

fn ident(fd: BorrowedFd<'_>) -> nix::Result<Ident> {
    let register = |param| ioctl::get_param(fd, param).map(|value| value as u32);
    Ok(Ident {
        ident0: register(Param::Ident0)?,
        ident1: register(Param::Ident1)?,
        ident2: register(Param::Ident2)?,
    })
}

/// Bytes of contiguous memory that BOs come from.
fn cma_size() -> u64 {
    meminfo("CmaTotal:").filter(|bytes| *bytes > 0).unwrap_or(DEFAULT_CMA)
}

/// A row of what the kernel says of the machine's memory, in bytes.
fn meminfo(row: &str) -> Option<u64> {
    row_of(&std::fs::read_to_string("/proc/meminfo").ok()?, row)
}

fn row_of(meminfo: &str, row: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(row))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Repeats an interrupted call, as libdrm does (kernel-abi.md §2).
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            other => return other,
        }
    }
}

/// The error of a call whose EINVAL has no special meaning.
fn os_error(call: &'static str, errno: Errno) -> GpuError {
    match errno {
        Errno::ENOMEM => GpuError::OutOfMemory(call),
        Errno::ENODEV => GpuError::NoDevice(format!("{call}: the 3D block is gone")),
        errno => GpuError::Os { call, source: errno.into() },
    }
}

impl Gpu for DrmGpu {
    fn description(&self) -> String {
        format!("VideoCore IV via {}", self.path.display())
    }

    fn is_simulated(&self) -> bool {
        false
    }

    fn ident(&self) -> Result<Ident, GpuError> {
        Ok(self.ident)
    }

    fn memory_size(&self) -> u64 {
        self.memory_size
    }

    fn memory_free(&self) -> u64 {
        meminfo("CmaFree:").unwrap_or(self.memory_size).min(self.memory_size)
    }

    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        let handle = ioctl::create_bo(self.node.as_fd(), size)
            .map_err(|errno| os_error("DRM_IOCTL_VC4_CREATE_BO", errno))?;
        Ok(self.keep(handle, size, None))
    }

    fn has_cached_memory(&self) -> bool {
        self.heap.is_some()
    }

    fn create_cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        const CALL: &str = "DMA_HEAP_IOCTL_ALLOC";
        let heap = self.heap.as_ref().ok_or(GpuError::OutOfMemory(CALL))?;
        let size = size.checked_next_multiple_of(PAGE).ok_or(GpuError::OutOfMemory(CALL))?;
        let buffer = heap.allocate(size).map_err(|errno| os_error(CALL, errno))?;
        let memory = MappedMemory::of_device(buffer.as_fd(), 0, size as usize);
        let memory = memory.map_err(|errno| os_error("mmap", errno))?;
        let (handle, _) = self.import_bo(buffer.as_fd())?;
        // The mapping and the handle keep the memory.
        if let Some(bo) = self.bos().get_mut(&handle) {
            (bo.memory, bo.is_cached) = (Some(memory), true);
        }
        Ok(handle)
    }

    fn write_back(&self, bo: BoHandle, bytes: Range<usize>) {
        if let Some(mapping) = self.cached(bo) {
            cache::write_back(mapping, bytes);
        }
    }

    fn forget(&self, bo: BoHandle, bytes: Range<usize>) {
        if let Some(mapping) = self.cached(bo) {
            cache::forget(mapping, bytes);
        }
    }

    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError> {
        const CALL: &str = "DRM_IOCTL_VC4_CREATE_SHADER_BO";
        // The kernel keeps what it records to itself; `explain` needs it.
        let ours = shader::validate(code, Mode::Faithful);
        let handle =
            ioctl::create_shader_bo(self.node.as_fd(), code).map_err(|errno| match (errno, &ours) {
                (Errno::EINVAL, Err(violation)) => GpuError::Refused(violation.to_string()),
                _ => os_error(CALL, errno),
            })?;
        if let Err(violation) = &ours {
            log::warn!(target: "vc4::drm", "the kernel accepted a shader that should break {violation}");
        }
        // A shader that was accepted is no longer than 32 bits.
        Ok(self.keep(handle, size_of_val(code) as u32, Some(ours.unwrap_or_default())))
    }

    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError> {
        let mut bos = self.bos();
        let entry = bos.get_mut(&bo).ok_or_else(|| os_error("map_bo", Errno::EINVAL))?;
        if let Some(memory) = &entry.memory {
            return Ok(memory.mapping());
        }
        let offset = ioctl::mmap_bo(self.node.as_fd(), bo.0)
            .map_err(|errno| os_error("DRM_IOCTL_VC4_MMAP_BO", errno))?;
        let memory = MappedMemory::of_device(self.node.as_fd(), offset, entry.size as usize)
            .map_err(|errno| os_error("mmap", errno))?;
        Ok(entry.memory.insert(memory).mapping())
    }

    fn close_bo(&self, bo: BoHandle) {
        // Forgotten before the kernel can give the number to another BO.
        if self.bos().remove(&bo).is_none() {
            log::warn!(target: "vc4::drm", "close of unknown BO handle {}", bo.0);
            return;
        }
        let closed = drm::control::from_u32(bo.0).map(|handle| retry(|| self.node.close_buffer(handle)));
        if let Some(Err(error)) = closed {
            log::error!(target: "vc4::drm", "DRM_IOCTL_GEM_CLOSE of handle {}: {error}", bo.0);
        }
    }

    fn shares_bos(&self) -> bool {
        true
    }

    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError> {
        const CALL: &str = "DRM_IOCTL_PRIME_HANDLE_TO_FD";
        let handle = drm::control::from_u32(bo.0).ok_or_else(|| os_error(CALL, Errno::ENOENT))?;
        let flags = (libc::O_CLOEXEC | libc::O_RDWR) as u32;
        let fd = retry(|| self.node.buffer_to_prime_fd(handle, flags));
        fd.map_err(|source| GpuError::Os { call: CALL, source })
    }

    fn set_tiling(&self, bo: BoHandle, modifier: u64) {
        if let Err(error) = ioctl::set_tiling(self.node.as_fd(), bo.0, modifier) {
            // Kernels before 4.16 do not have it; nobody asks them either.
            log::info!(target: "vc4::drm", "DRM_IOCTL_VC4_SET_TILING of handle {}: {error}", bo.0);
        }
    }

    fn label_bo(&self, bo: BoHandle, name: &str) {
        // The kernel takes a terminated string.
        let name = name.replace('\0', " ") + "\0";
        if let Err(error) = ioctl::label_bo(self.node.as_fd(), bo.0, &name) {
            // Kernels before 4.16 do not have it.
            log::info!(target: "vc4::drm", "DRM_IOCTL_VC4_LABEL_BO of handle {}: {error}", bo.0);
        }
    }

    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError> {
        const CALL: &str = "DRM_IOCTL_PRIME_FD_TO_HANDLE";
        // A dma-buf tells its size by its end.
        let end = fd.try_clone_to_owned().and_then(|copy| File::from(copy).seek(io::SeekFrom::End(0)));
        let end = end.map_err(|source| GpuError::Os { call: "lseek", source })?;
        let size = u32::try_from(end).ok().filter(|&size| size > 0 && size % PAGE == 0);
        let size = size.ok_or_else(|| os_error(CALL, Errno::EINVAL))?;
        let handle = retry(|| self.node.prime_fd_to_buffer(fd));
        let handle = BoHandle(u32::from(handle.map_err(|source| GpuError::Os { call: CALL, source })?));
        self.bos().entry(handle).or_insert(Bo { size, memory: None, shader: None, is_cached: false });
        Ok((handle, size.into()))
    }

    fn signalled_sync_file(&self) -> Option<OwnedFd> {
        let syncobj = retry(|| self.node.create_syncobj(true)).ok()?;
        let file = retry(|| self.node.syncobj_to_fd(syncobj, true));
        if let Err(error) = retry(|| self.node.destroy_syncobj(syncobj)) {
            log::warn!(target: "vc4::drm", "DRM_IOCTL_SYNCOBJ_DESTROY: {error}");
        }
        file.ok()
    }

    fn last_job_fence(&self) -> Option<OwnedFd> {
        // Without a job it has no fence.
        let fence = self.fence?;
        retry(|| self.node.syncobj_to_fd(fence, true)).ok()
    }

    fn card(&self) -> Option<Card> {
        Card::find()
    }

    fn nodes(&self) -> Nodes {
        // The node that was opened may be either.
        let own = numbers(self.node.as_fd());
        let is_render = own.is_some_and(|(_, minor)| minor >= FIRST_RENDER_MINOR);
        let card = self.card().and_then(|card| numbers(card.as_fd()));
        Nodes { primary: card.or(own.filter(|_| !is_render)), render: own.filter(|_| is_render) }
    }

    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError> {
        let handles: Vec<u32> = job.bos.iter().map(|bo| bo.0).collect();
        let lists = Lists {
            bin_cl: &job.bin_cl,
            shader_rec: &job.shader_rec,
            uniforms: &job.uniforms,
            bo_handles: &handles,
        };
        let out_sync = self.fence.map_or(0, u32::from);
        let frame = SubmitCl { out_sync, ..frame::to_uapi(job) };
        match ioctl::submit_cl(self.node.as_fd(), &frame, lists) {
            Ok(seqno) => {
                if let Some((perfmon, fence)) = job.perfmon.zip(self.last_job_fence()) {
                    self.counted().insert(perfmon, fence);
                }
                Ok(Seqno(seqno))
            }
            // EALREADY: a BO is listed twice (SUB-6).
            Err(Errno::EINVAL | Errno::EALREADY) => Err(GpuError::Refused(self.explain(job))),
            Err(errno) => Err(os_error("DRM_IOCTL_VC4_SUBMIT_CL", errno)),
        }
    }

    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError> {
        ioctl::perfmon_create(self.node.as_fd(), events)
            .map(PerfmonId)
            .map_err(|errno| os_error("DRM_IOCTL_VC4_PERFMON_CREATE", errno))
    }

    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError> {
        // A job is counted among the finished ones before its monitor is read; its fence signals behind that
        // (kernel-abi.md §11).
        let fence = self.counted().remove(&perfmon);
        match fence {
            Some(fence) => {
                let mut set = [PollFd::new(fence.as_fd(), PollFlags::POLLIN)];
                let mut polled = Err(Errno::EINTR);
                while polled == Err(Errno::EINTR) {
                    polled = poll(&mut set, FENCE_PATIENCE_MS);
                }
                if polled == Ok(0) {
                    return Err(GpuError::Hang("a job that counts as done does not signal its fence".into()));
                }
            }
            None => std::thread::sleep(COUNTERS_REST),
        }
        ioctl::perfmon_get_values(self.node.as_fd(), perfmon.0)
            .map_err(|errno| os_error("DRM_IOCTL_VC4_PERFMON_GET_VALUES", errno))
    }

    fn destroy_perfmon(&self, perfmon: PerfmonId) {
        self.counted().remove(&perfmon);
        if let Err(error) = ioctl::perfmon_destroy(self.node.as_fd(), perfmon.0) {
            log::warn!(target: "vc4::drm", "DRM_IOCTL_VC4_PERFMON_DESTROY of {}: {error}", perfmon.0);
        }
    }

    fn resets(&self) -> Option<u64> {
        self.log.as_ref().map(KernelLog::resets)
    }

    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError> {
        let timeout_ns = match timeout {
            Some(timeout) => u64::try_from(timeout.as_nanos()).unwrap_or(FOREVER).min(FOREVER - 1),
            None => FOREVER,
        };
        match ioctl::wait_seqno(self.node.as_fd(), seqno.0, timeout_ns) {
            Ok(()) => Ok(true),
            Err(Errno::ETIME) => Ok(false),
            Err(errno) => Err(os_error("DRM_IOCTL_VC4_WAIT_SEQNO", errno)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(result: Result<DrmGpu, GpuError>) -> String {
        match result {
            Err(GpuError::NoDevice(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_node_says_so() {
        let text = refusal(DrmGpu::open(Some(Path::new("/nowhere/renderD128"))));
        assert!(text.contains("/nowhere/renderD128") && text.contains("No such file"), "{text}");
    }

    #[test]
    fn a_file_that_is_no_device_says_so() {
        let text = refusal(DrmGpu::open(Some(Path::new("/dev/null"))));
        assert!(text.contains("/dev/null: no DRM device"), "{text}");
    }

    #[test]
    fn a_missing_directory_says_what_to_do() {
        let text = DrmGpu::open_in(Path::new("/nowhere")).unwrap_err();
        assert!(text.contains("/nowhere") && text.contains("vc4-kms-v3d"), "{text}");
    }

    #[test]
    fn every_node_that_was_tried_is_named() {
        let dir = std::env::temp_dir().join(format!("vc4-kernel-abi-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        assert!(DrmGpu::open_in(&dir).unwrap_err().contains("no render node"));
        for name in ["renderD129", "renderD1280", "renderD128", "card0", "renderDx"] {
            std::fs::write(dir.join(name), b"").unwrap();
        }
        let text = DrmGpu::open_in(&dir).unwrap_err();
        let nodes = render_nodes(&dir).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        let names: Vec<_> = nodes.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["renderD128", "renderD129", "renderD1280"]);
        assert_eq!(text.matches("no DRM device").count(), 3, "{text}");
    }

    #[test]
    fn without_a_path_the_answer_is_a_device_or_an_explanation() {
        match DrmGpu::open(None) {
            Ok(gpu) => assert_eq!(gpu.ident().unwrap().ident0 & 0xff_ffff, 0x44_3356),
            Err(GpuError::NoDevice(text)) => assert!(text.contains(NODE_DIR), "{text}"),
            Err(other) => panic!("{other}"),
        }
    }

    /// A device file that answers ENOTTY to everything.
    fn deaf() -> DrmGpu {
        DrmGpu {
            node: Node(File::open("/dev/null").unwrap()),
            path: "/dev/null".into(),
            ident: Ident::REFERENCE,
            memory_size: 0,
            bos: Mutex::default(),
            fence: None,
            counted: Mutex::default(),
            log: None,
            heap: None,
        }
    }

    #[test]
    fn errors_name_the_call() {
        let gpu = deaf();
        let text = gpu.create_bo(4096).unwrap_err().to_string();
        assert!(text.contains("VC4_CREATE_BO"), "{text}");
        assert!(gpu.create_shader_bo(&[0]).unwrap_err().to_string().contains("VC4_CREATE_SHADER_BO"));
        assert!(gpu.submit(&Submit::default()).unwrap_err().to_string().contains("VC4_SUBMIT_CL"));
        assert!(gpu.wait_seqno(Seqno(1), None).unwrap_err().to_string().contains("VC4_WAIT_SEQNO"));
        assert!(gpu.create_perfmon(&[6]).unwrap_err().to_string().contains("PERFMON_CREATE"));
        assert!(gpu.perfmon_values(PerfmonId(1)).is_err());
        gpu.destroy_perfmon(PerfmonId(1));
        assert!(gpu.map_bo(BoHandle(1)).is_err());
        gpu.close_bo(BoHandle(1));
        assert!(matches!(os_error("x", Errno::ENOMEM), GpuError::OutOfMemory("x")));
        assert!(matches!(os_error("x", Errno::ENODEV), GpuError::NoDevice(_)));
    }

    #[test]
    fn a_refusal_is_explained() {
        let gpu = deaf();
        let target = gpu.keep(5, 100, None);
        assert_eq!(gpu.bos()[&target].size, 4096);
        let surface = |bits| crate::Surface { bo_index: 0, offset: 0, bits, flags: 0 };
        let job = |bits| Submit {
            bos: vec![target],
            width: 32,
            height: 32,
            color_write: Some(surface(bits)),
            ..Default::default()
        };
        assert!(gpu.explain(&job(0xc4)).contains("RCL-5"));
        assert!(gpu.explain(&job(4)).contains("no reason"));
        assert!(gpu.explain(&Submit { bos: vec![BoHandle(6)], ..job(4) }).contains("SUB-6"));
    }

    #[test]
    fn cma_of_a_pi() {
        let meminfo = "MemTotal: 1 kB\nCmaTotal:         262144 kB\nCmaFree: 3 kB\n";
        assert_eq!(row_of(meminfo, "CmaTotal:"), Some(256 << 20));
        assert_eq!(row_of(meminfo, "CmaFree:"), Some(3 << 10));
        assert_eq!(row_of("CmaTotal: many kB\n", "CmaTotal:"), None);
        assert_eq!(row_of("MemTotal: 1 kB\n", "CmaTotal:"), None);
    }
}
