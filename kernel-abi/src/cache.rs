//! Maintenance of the CPU's caches by address, for mappings that it caches while the GPU reads and writes the memory behind
//! them.
//!
//! The kernel's way, `DMA_BUF_IOCTL_SYNC`, knows whole buffers only and forgets what the CPU wrote and did not write back yet:
//! another thread's bytes of the same buffer would be lost. AArch64 lets programs write back and forget lines in one step;
//! 32-bit ARM does not, so there is no such memory there.

use std::ops::Range;

use crate::gpu::Mapping;

/// Whether this machine's programs can do it, or need not.
pub const IS_POSSIBLE: bool = cfg!(any(target_arch = "aarch64", target_arch = "x86_64"));

/// Writes bytes back that the CPU has changed.
///
/// # Panics
/// If the range leaves the mapping.
pub fn write_back(mapping: Mapping, bytes: Range<usize>) {
    maintain(mapping, bytes, false);
}

/// Writes bytes back that the CPU has changed, and forgets them all.
///
/// # Panics
/// If the range leaves the mapping.
pub fn forget(mapping: Mapping, bytes: Range<usize>) {
    maintain(mapping, bytes, true);
}

/// UNVERIFIED: do caches that a program maintains by address agree with jobs about buffers of the CMA heap, and is nothing lost
/// that another core wrote meanwhile?
#[cfg(target_arch = "aarch64")]
fn maintain(mapping: Mapping, bytes: Range<usize>, forgets: bool) {
    use std::arch::asm;

    assert!(bytes.start <= bytes.end && bytes.end <= mapping.len(), "{bytes:?} leave a mapping");
    let cache_type: usize;
    // SAFETY: reads a register that programs may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) cache_type, options(nomem, nostack, preserves_flags)) };
    // Bits 19:16: log2 of the words of the shortest line.
    let line = 4usize << (cache_type >> 16 & 0xf);
    let start = mapping.as_ptr() as usize;
    // SAFETY: orders what was read and written before.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) };
    for address in ((start + bytes.start) & !(line - 1)..start + bytes.end).step_by(line) {
        // SAFETY: the lines hold bytes of the mapping, which is mapped in whole pages; neither changes what they hold.
        unsafe {
            match forgets {
                true => asm!("dc civac, {}", in(reg) address, options(nostack, preserves_flags)),
                false => asm!("dc cvac, {}", in(reg) address, options(nostack, preserves_flags)),
            }
        }
    }
    // SAFETY: waits for the above.
    unsafe { asm!("dsb sy", options(nostack, preserves_flags)) };
}

/// Other machines have no such GPU; beside a simulated one nothing is to be done.
#[cfg(not(target_arch = "aarch64"))]
fn maintain(mapping: Mapping, bytes: Range<usize>, _forgets: bool) {
    assert!(bytes.start <= bytes.end && bytes.end <= mapping.len(), "{bytes:?} leave a mapping");
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::MappedMemory;

    #[test]
    fn what_is_maintained_stays_as_it_is() {
        let memory = MappedMemory::anonymous(8192).unwrap();
        let mapping = memory.mapping();
        let content: Vec<u8> = (0..8192u32).map(|at| ((at * 7) >> 3) as u8).collect();
        mapping.write(0, &content);
        for bytes in [0..0, 0..1, 63..65, 4000..8192, 8192..8192, 0..8192] {
            write_back(mapping, bytes.clone());
            forget(mapping, bytes);
        }
        let mut seen = vec![0; 8192];
        mapping.read(0, &mut seen);
        assert!(seen == content);
    }

    #[test]
    #[should_panic(expected = "leave a mapping")]
    fn ranges_end_with_the_mapping() {
        let memory = MappedMemory::anonymous(4096).unwrap();
        forget(memory.mapping(), 4000..4097);
    }
}
