//! Reading a SHBIN takes a small multiple of its size, whatever its counts and offsets claim.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use shader_containers::shbin;

/// Counts the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system allocator with the arguments it came with; `realloc` and
// `alloc_zeroed` are the provided ones, which call these two.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(in_use, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `System.alloc` with this layout, in `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes for the findings and the walk over the code, which do not grow with the file.
const FIXED: usize = 160 << 10;

/// Peak bytes that checking takes beyond those in use before.
fn peak(bytes: &[u8]) -> usize {
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    drop(shbin::check(bytes));
    PEAK.load(Relaxed) - before
}

fn word(bytes: &mut [u8], at: usize, value: usize) {
    bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
}

/// A file of `size` bytes with `programs` DVLEs every 0x40 bytes behind the DVLP header, each with all five tables
/// as large as `entries` says, on top of each other.
fn crowded(size: usize, programs: usize, step: usize, entries: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; size];
    bytes[..4].copy_from_slice(b"DVLB");
    word(&mut bytes, 4, programs);
    let dvlp = 8 + 4 * programs;
    bytes[dvlp..dvlp + 4].copy_from_slice(b"DVLP");
    for n in 0..programs {
        let at = dvlp + 0x1C + step * n;
        word(&mut bytes, 8 + 4 * n, at);
        bytes[at..at + 4].copy_from_slice(b"DVLE");
        for table in 0..5 {
            word(&mut bytes, at + 0x18 + 8 * table, 0);
            word(&mut bytes, at + 0x1C + 8 * table, entries);
        }
    }
    bytes
}

// One test: the counters are shared by the whole process.
#[test]
fn memory_stays_within_four_times_the_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/shbin");
    for entry in std::fs::read_dir(folder).expect("the samples are there") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "shbin") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a readable file");
        // Small files: the fixed share would hide everything, so it is not granted.
        assert!(peak(&bytes) <= 4 * bytes.len() + 1024, "{}: {}", path.display(), peak(&bytes));
        for length in 0..bytes.len() {
            assert!(peak(&bytes[..length]) <= 4 * length + 4096, "{} cut to {length}", path.display());
        }
        for bit in 0..8 * bytes.len() {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let peak = peak(&bytes);
            assert!(peak <= 4 * bytes.len() + 8192, "{} bit {bit}: {peak}", path.display());
        }
    }
    let size = 2 << 20;
    for (programs, step, entries) in [
        (1, 0x40, 100_000),
        (20_000, 0x40, 0),
        (500_000, 0, 0),
        (20_000, 0x40, 3),
        (30, 0x40, 20_000),
        (20_000, 0x40, 50_000),
    ] {
        let bytes = crowded(size, programs, step, entries);
        let peak = peak(&bytes);
        assert!(peak <= 4 * size + FIXED, "{programs} programs, {entries} entries: {peak} for {size}");
    }
}
