//! The device as the driver sees it. [`Gpu`] is what a vc4 render node offers, in safe terms;
//! `DrmGpu` does ioctls, the simulator runs the same calls, and the driver cannot tell them apart.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use crate::card::Card;
use crate::uapi::MAX_PERF_COUNTERS;

/// A GEM handle of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoHandle(pub u32);

/// Sequence number of a job; jobs finish in this order (kernel-abi.md §11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seqno(pub u64);

/// A performance monitor of one device: counters that sum over the jobs it is attached to (kernel-abi.md §4.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PerfmonId(pub u32);

/// The IDENT registers (kernel-abi.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// Technology version and "V3D".
    pub ident0: u32,
    /// Configuration: VPM size, slices, QPUs, revision.
    pub ident1: u32,
    /// TLB size and double buffering.
    pub ident2: u32,
}

impl Ident {
    /// What the reference configuration answers. UNVERIFIED: what do IDENT1 and IDENT2 of each Raspberry Pi read?
    /// IDENT0 is the value that the kernel demands (kernel-abi.md §1, §3).
    pub const REFERENCE: Ident = Ident { ident0: 0x0244_3356, ident1: 0xc110_2431, ident2: 0x121 };
}

/// What a device call can answer other than success.
#[derive(Debug, thiserror::Error)]
pub enum GpuError {
    /// No memory of the device is left (or none contiguous).
    #[error(
        "out of device memory ({0}): no contiguous memory is left. On a Raspberry Pi `dtoverlay=vc4-kms-v3d,cma-256` in \
         config.txt, or `cma=256M` on the kernel's command line, reserves more"
    )]
    OutOfMemory(&'static str),
    /// The device or node is not there, or is not a VC4.
    #[error("no usable VC4 device: {0}")]
    NoDevice(String),
    /// The submission breaks a rule; the text names rule, place and content.
    #[error("submission refused: {0}")]
    Refused(String),
    /// The job did not finish: the GPU hung.
    #[error("the GPU hung: {0}")]
    Hang(String),
    /// Any other answer of the operating system.
    #[error("{call} failed: {source}")]
    Os {
        /// The call that failed.
        call: &'static str,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

/// A BO's memory in this process. GPU and other threads may change it at any time, so it is never a
/// Rust slice: bytes are copied in and out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is an address range that stays mapped until its BO is closed; all access goes
// through raw copies that any thread may do.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Bytes of most rows of a utile (textures.md §4.1): what tiled copies move at a time.
const UTILE_ROW: usize = 16;

/// Major and minor numbers of the nodes that a device has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// The one with displays.
    pub primary: Option<(u32, u32)>,
    /// The one that renders.
    pub render: Option<(u32, u32)>,
}

impl Mapping {
    /// Wraps `len` bytes at `ptr`.
    ///
    /// # Safety
    /// The range must be readable and writable and stay mapped until the BO that it belongs to is
    /// closed, and nobody may use the mapping after that.
    pub unsafe fn new(ptr: NonNull<u8>, len: usize) -> Mapping {
        Mapping { ptr, len }
    }

    /// The first byte, for handing to applications (`vkMapMemory`).
    pub fn as_ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Size in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a mapping is never empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Copies `data` to byte `offset`.
    ///
    /// # Panics
    /// If the range leaves the mapping: callers check application input first.
    #[inline]
    pub fn write(&self, offset: usize, data: &[u8]) {
        self.check(offset, data.len());
        if let Ok(row) = <&[u8; UTILE_ROW]>::try_from(data) {
            // SAFETY: as below; the length is known, so this is a move or two instead of a call.
            unsafe {
                let to = self.ptr.as_ptr().add(offset).cast::<[u8; UTILE_ROW]>();
                to.write_unaligned(*row);
            }
            return;
        }
        // SAFETY: the range was checked and the mapping is live by the contract of `new`; the source
        // is ordinary memory of ours that cannot overlap a BO mapping seen only through raw pointers.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.ptr.as_ptr().add(offset), data.len()) }
    }

    /// Copies words from byte `offset` on into `words`; whether they are those of `before`, of which there are as many. What the
    /// CPU does not cache is read once, and a few words take no call.
    ///
    /// # Panics
    /// If the range leaves the mapping, or there are fewer of `before`.
    #[inline]
    pub fn read_words(&self, offset: usize, words: &mut [u32], before: &[u32]) -> bool {
        if cfg!(target_arch = "x86_64") {
            // Its C library does both in a few vectors.
            self.read(offset, bytemuck::cast_slice_mut(words));
            return *words == before[..words.len()];
        }
        self.read_fours(offset, words, before)
    }

    /// Whether the words from byte `offset` on are these: [`Mapping::read_words`] without a copy, for what costs nothing to read again.
    ///
    /// # Panics
    /// If the range leaves the mapping.
    #[inline]
    pub fn holds(&self, offset: usize, words: &[u32]) -> bool {
        /// What is compared: words where compilers make vectors of them, else the processor's own numbers.
        #[cfg(target_arch = "x86_64")]
        type Number = u32;
        #[cfg(not(target_arch = "x86_64"))]
        type Number = usize;
        /// Bytes that are compared in one go, and how many numbers they are.
        const BYTES: usize = 16;
        const FOUR: usize = BYTES / size_of::<u32>();
        const COUNT: usize = BYTES / size_of::<Number>();
        self.check(offset, size_of_val(words));
        let (mut new, mut old) = (self.ptr.as_ptr().wrapping_add(offset).cast::<u32>(), words.as_ptr());
        let (mut left, mut different) = (words.len(), [0; COUNT]);
        #[cfg(target_arch = "arm")]
        if left >= FOUR && new.is_aligned() {
            let fours = left / FOUR;
            // SAFETY: as below, and both are aligned.
            if !unsafe { crate::arm::fours_are_same(new, old, fours) } {
                return false;
            }
            (new, old) = (new.wrapping_add(FOUR * fours), old.wrapping_add(FOUR * fours));
            left -= FOUR * fours;
        }
        while left >= FOUR {
            let places = [new, old.cast_mut()].map(|place| place.cast::<[Number; COUNT]>());
            // SAFETY: so many words are left of either; the range was checked, the mapping is live by the contract of `new`.
            let [new_part, old_part] = places.map(|place| unsafe { place.read_unaligned() });
            for n in 0..COUNT {
                different[n] |= new_part[n] ^ old_part[n];
            }
            (new, old) = (new.wrapping_byte_add(BYTES), old.wrapping_byte_add(BYTES));
            left -= FOUR;
        }
        let mut rest = 0;
        while left > 0 {
            // SAFETY: as above.
            rest |= unsafe { new.read_unaligned() ^ *old };
            (new, old, left) = (new.wrapping_add(1), old.wrapping_add(1), left - 1);
        }
        rest == 0 && different.iter().all(|part| *part == 0)
    }

    /// [`Mapping::read_words`] in one pass, four words at a time: a loop over words counts more than it compares.
    #[inline]
    fn read_fours(&self, offset: usize, words: &mut [u32], before: &[u32]) -> bool {
        self.check(offset, size_of_val(words));
        let before = &before[..words.len()];
        let first = self.ptr.as_ptr().wrapping_add(offset).cast::<u32>();
        // Processors have moves of several words at once for words that are aligned, as they mostly are.
        match first.is_aligned() {
            // SAFETY: the range was checked, and the mapping is live by the contract of `new`; four words from a multiple of
            // four on are inside of it, and aligned.
            true => fused(
                words,
                before,
                |at| unsafe { first.add(at).cast::<[u32; 4]>().read() },
                |at| unsafe { first.add(at).read() },
            ),
            // SAFETY: as above, but for the alignment.
            false => fused(
                words,
                before,
                |at| unsafe { first.add(at).cast::<[u32; 4]>().read_unaligned() },
                |at| unsafe { first.add(at).read_unaligned() },
            ),
        }
    }

    /// Copies bytes from `offset` into `data`.
    ///
    /// # Panics
    /// If the range leaves the mapping.
    #[inline]
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        self.check(offset, data.len());
        if let Ok(row) = <&mut [u8; UTILE_ROW]>::try_from(&mut *data) {
            // SAFETY: as in `write`.
            unsafe { *row = self.ptr.as_ptr().add(offset).cast::<[u8; UTILE_ROW]>().read_unaligned() };
            return;
        }
        // SAFETY: as in `write`.
        unsafe { std::ptr::copy_nonoverlapping(self.ptr.as_ptr().add(offset), data.as_mut_ptr(), data.len()) }
    }

    /// The little-endian word at byte `offset`.
    ///
    /// # Panics
    /// If the word leaves the mapping.
    pub fn read_u32(&self, offset: usize) -> u32 {
        let mut word = [0; 4];
        self.read(offset, &mut word);
        u32::from_le_bytes(word)
    }

    /// Writes a little-endian word at byte `offset`.
    ///
    /// # Panics
    /// If the word leaves the mapping.
    pub fn write_u32(&self, offset: usize, word: u32) {
        self.write(offset, &word.to_le_bytes());
    }

    /// The word at byte `offset`, for atomic operations of several threads.
    ///
    /// # Panics
    /// If the word leaves the mapping, or is not aligned.
    pub fn atomic_u32(&self, offset: usize) -> &AtomicU32 {
        self.check(offset, 4);
        let word = self.ptr.as_ptr().wrapping_add(offset).cast::<u32>();
        assert!(word.is_aligned(), "an atomic word at byte {offset}");
        // SAFETY: the range was checked, the word is aligned and the mapping is live by the contract of `new`; all other
        // access to it goes through raw pointers.
        unsafe { AtomicU32::from_ptr(word) }
    }

    #[inline]
    fn check(&self, offset: usize, len: usize) {
        assert!(
            offset.checked_add(len).is_some_and(|end| end <= self.len),
            "{len} bytes at {offset} leave a mapping of {} bytes",
            self.len
        );
    }
}

/// Fills `words` by fours and the rest one by one; whether they are those of `before`, of which there are as many.
#[inline(always)]
fn fused(
    words: &mut [u32],
    before: &[u32],
    four: impl Fn(usize) -> [u32; 4],
    one: impl Fn(usize) -> u32,
) -> bool {
    let rest = words.len() / 4 * 4;
    let mut different = 0;
    for (number, (words, old)) in words.chunks_exact_mut(4).zip(before.chunks_exact(4)).enumerate() {
        let new = four(4 * number);
        words.copy_from_slice(&new);
        different |= (new[0] ^ old[0]) | (new[1] ^ old[1]) | (new[2] ^ old[2]) | (new[3] ^ old[3]);
    }
    for at in rest..words.len() {
        words[at] = one(at);
        different |= words[at] ^ before[at];
    }
    different == 0
}

/// A render surface of a submission (kernel-abi.md §5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Index into [`Submit::bos`].
    pub bo_index: u32,
    /// Byte offset in the BO.
    pub offset: u32,
    /// Packet bits (kernel-abi.md §5.2).
    pub bits: u16,
    /// Bit 0: the read is a full-resolution one.
    pub flags: u16,
}

bitflags::bitflags! {
    /// Flags of a submission (kernel-abi.md §5.1).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SubmitFlags: u32 {
        /// The clear values are valid.
        const USE_CLEAR_COLOR = 1;
        /// The two order bits below are meant.
        const FIXED_RCL_ORDER = 2;
        /// Tiles in increasing x.
        const RCL_ORDER_INCREASING_X = 4;
        /// Tiles in increasing y.
        const RCL_ORDER_INCREASING_Y = 8;
    }
}

/// One job: DRM_VC4_SUBMIT_CL in safe terms (kernel-abi.md §5).
#[derive(Clone, Debug, Default)]
pub struct Submit {
    /// Binning list; empty for a draw-less job.
    pub bin_cl: Vec<u8>,
    /// Shader records, each preceded by its BO indices (kernel-abi.md §5.3).
    pub shader_rec: Vec<u8>,
    /// Number of records.
    pub shader_rec_count: u32,
    /// Uniform blocks: FS, VS, CS of each record, each preceded by its texture BO indices.
    pub uniforms: Vec<u8>,
    /// Every BO that the job uses, each once.
    pub bos: Vec<BoHandle>,
    /// Width of the render target in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
    /// First and last tile (inclusive): min x, min y, max x, max y.
    pub tiles: [u8; 4],
    /// Colour loaded at tile start.
    pub color_read: Option<Surface>,
    /// Colour stored at tile end.
    pub color_write: Option<Surface>,
    /// `bits` of an absent colour store: they still set the multisample mode (kernel-abi.md §5.2).
    pub color_write_bits_if_absent: u16,
    /// Depth/stencil loaded at tile start.
    pub zs_read: Option<Surface>,
    /// Depth/stencil stored at tile end.
    pub zs_write: Option<Surface>,
    /// Raw multisample colour store.
    pub msaa_color_write: Option<Surface>,
    /// Raw multisample depth/stencil store.
    pub msaa_zs_write: Option<Surface>,
    /// Clear colour, the RGBA8888 word twice.
    pub clear_color: [u32; 2],
    /// Clear depth, 24 bits.
    pub clear_z: u32,
    /// Clear stencil.
    pub clear_s: u8,
    /// Flags.
    pub flags: SubmitFlags,
    /// Monitor that counts what the job does. Jobs with different monitors do not overlap.
    pub perfmon: Option<PerfmonId>,
}

/// What a vc4 render node offers.
///
/// All methods may be called from any thread. Handles belong to the device that made them; a handle
/// of another device or a closed one is answered with an error, never with undefined behaviour.
pub trait Gpu: Send + Sync {
    /// What this is, for people: e.g. `"VideoCore IV via /dev/dri/renderD128"` or `"simulated VideoCore IV"`.
    fn description(&self) -> String;

    /// Whether the machine is simulated.
    fn is_simulated(&self) -> bool;

    /// How long it has simulated jobs so far. Applications time out where the chip would take too long, not where a simulator
    /// does, so this time does not count for them.
    fn simulation_time(&self) -> Duration {
        Duration::ZERO
    }

    /// The IDENT registers.
    fn ident(&self) -> Result<Ident, GpuError>;

    /// Bytes of memory that BOs can come from.
    fn memory_size(&self) -> u64;

    /// Bytes of it that nobody uses now. Where nobody else takes any, all of it may be said to be free.
    fn memory_free(&self) -> u64 {
        self.memory_size()
    }

    /// A zeroed BO of at least `size` bytes (rounded up to 4096), `size` > 0.
    fn create_bo(&self, size: u32) -> Result<BoHandle, GpuError>;

    /// Whether there is memory that the CPU caches: what it reads there costs what it costs elsewhere.
    fn has_cached_memory(&self) -> bool {
        false
    }

    /// As [`Gpu::create_bo`], of memory that the CPU caches. What it writes to the mapping reaches others by
    /// [`Gpu::write_back`], what others write reaches it by [`Gpu::forget`]. Such a BO is not shared.
    fn create_cached_bo(&self, size: u32) -> Result<BoHandle, GpuError> {
        let _ = size;
        Err(GpuError::OutOfMemory("there is no memory that the CPU caches"))
    }

    /// Writes bytes of a BO's mapping back to memory that the CPU changed, if it caches them.
    ///
    /// # Panics
    /// If the range leaves the BO.
    fn write_back(&self, bo: BoHandle, bytes: Range<usize>) {
        let _ = (bo, bytes);
    }

    /// As [`Gpu::write_back`]; then the CPU reads what memory holds. What it writes meanwhile is not lost.
    ///
    /// # Panics
    /// If the range leaves the BO.
    fn forget(&self, bo: BoHandle, bytes: Range<usize>) {
        let _ = (bo, bytes);
    }

    /// A validated, immutable shader BO holding `code` at offset 0.
    fn create_shader_bo(&self, code: &[u64]) -> Result<BoHandle, GpuError>;

    /// Maps the whole BO; the mapping lives until `close_bo`. Mapping twice gives the same memory.
    fn map_bo(&self, bo: BoHandle) -> Result<Mapping, GpuError>;

    /// Closes the handle; running jobs keep the memory until they are done.
    fn close_bo(&self, bo: BoHandle);

    /// Whether BOs can be shared with other devices and processes.
    fn shares_bos(&self) -> bool;

    /// A dma-buf of a BO that is no shader (kernel-abi.md §13.4). Where memory becomes a file only now, nobody may
    /// write to it meanwhile.
    fn export_bo(&self, bo: BoHandle) -> Result<OwnedFd, GpuError>;

    /// Tells the kernel how pixels lie in a BO, for drivers that import it and are not told.
    fn set_tiling(&self, bo: BoHandle, modifier: u64) {
        let _ = (bo, modifier);
    }

    /// Gives a BO a name for debug output of the kernel, and for captures (kernel-abi.md §4.9).
    fn label_bo(&self, bo: BoHandle, name: &str) {
        let _ = (bo, name);
    }

    /// The BO of a dma-buf, and its size in bytes. A BO that this device knows comes under the handle that it has
    /// already, of which there is still but one to close: callers see to it that none is closed meanwhile.
    fn import_bo(&self, fd: BorrowedFd<'_>) -> Result<(BoHandle, u64), GpuError>;

    /// A sync file that is signalled: a descriptor that is readable for ever. `None` where the kernel makes none.
    fn signalled_sync_file(&self) -> Option<OwnedFd>;

    /// A sync file of the job that was submitted last. `None` where the kernel makes none, or nothing was submitted.
    fn last_job_fence(&self) -> Option<OwnedFd> {
        None
    }

    /// The primary node of the same device, where there is one with a display.
    fn card(&self) -> Option<Card> {
        None
    }

    /// The numbers of the device's nodes.
    fn nodes(&self) -> Nodes {
        Nodes::default()
    }

    /// Queues a job. Jobs run and finish in submission order.
    fn submit(&self, job: &Submit) -> Result<Seqno, GpuError>;

    /// A monitor of 1 to 16 events by their numbers (kernel-abi.md §4.15).
    fn create_perfmon(&self, events: &[u8]) -> Result<PerfmonId, GpuError>;

    /// The counts of a monitor's events over its jobs that are done, in the events' order, 0 behind them.
    fn perfmon_values(&self, perfmon: PerfmonId) -> Result<[u64; MAX_PERF_COUNTERS], GpuError>;

    /// Forgets a monitor.
    fn destroy_perfmon(&self, perfmon: PerfmonId);

    /// How many resets of the GPU this device has heard of; jobs that were under way may not have been drawn. `None`
    /// where nobody tells, though waits for jobs that hung succeed.
    fn resets(&self) -> Option<u64> {
        Some(0)
    }

    /// Waits until the job is done; `Ok(false)` when `timeout` passed first, `None` waits forever.
    fn wait_seqno(&self, seqno: Seqno, timeout: Option<Duration>) -> Result<bool, GpuError>;
}

#[cfg(test)]
mod tests {
    use crate::mapping::MappedMemory;

    #[test]
    fn words_are_read_and_compared_by_fours_wherever_they_lie() {
        let memory = MappedMemory::anonymous(4096).unwrap();
        let mapping = memory.mapping();
        let words: Vec<u32> = (1..20).map(|n| n * 0x0123_4567).collect();
        for offset in [0, 4, 6, 1025] {
            mapping.write(offset, bytemuck::cast_slice(&words));
            for count in 0..=words.len() {
                let mut before = words[..count].to_vec();
                let mut read = vec![0; count];
                assert!(mapping.read_fours(offset, &mut read, &before));
                assert_eq!(read, before);
                assert!(mapping.holds(offset, &before));
                for number in 0..count {
                    before[number] ^= 1 << number;
                    assert!(!mapping.read_fours(offset, &mut read, &before), "word {number} of {count}");
                    assert_eq!(read, words[..count]);
                    assert!(!mapping.holds(offset, &before), "word {number} of {count}");
                    before[number] = words[number];
                }
            }
        }
    }
}
