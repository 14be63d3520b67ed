//! No file makes a reader reserve more than a small multiple of its size.
//!
//! One test in a binary of its own: the counter is the process's allocator.

mod material;

use material::{bit_flips, samples};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, counting what is reserved now and what was at most.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the same arguments; the counters have no influence on it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(now, Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn most_during(work: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    work();
    MOST.load(Relaxed) - before
}

fn parse(bytes: &[u8]) {
    match shader_containers::Format::detect(bytes) {
        Some(shader_containers::Format::Mbs) => drop(shader_containers::mbs::Mbs::parse(bytes)),
        Some(shader_containers::Format::Shbin) => drop(shader_containers::shbin::Shbin::parse(bytes)),
        Some(shader_containers::Format::Metallib) => drop(shader_containers::metallib::Library::parse(bytes)),
        None => {}
    }
}

/// Files in which the smallest thing a format has stands as often as it can: many empty chunks, tags, entries.
fn dense() -> Vec<Vec<u8>> {
    let chunk = |id: &[u8], payload: &[u8]| [id, &(payload.len() as u32).to_le_bytes(), payload].concat();
    let empty = chunk(b"XXXX", &[]).repeat(100_000);
    let symbol = chunk(b"VVAR", &[&chunk(b"STRI", b"a\0\0\0")[..], &[0; 20]].concat()).repeat(30_000);
    let table = chunk(b"SVAR", &[&[0; 4][..], &symbol].concat());
    let program = |chunks: &[u8]| chunk(b"MBS1", &chunk(b"CFRA", &[&[7, 0, 0, 0][..], chunks].concat()));
    vec![chunk(b"MBS1", &empty), program(&empty), program(&table)]
}

#[test]
fn memory_stays_within_a_small_multiple_of_the_file() {
    // Small files pay for the fixed parts: messages, the first growth of a list.
    const FIXED: usize = 16 << 10;
    let mut files: Vec<Vec<u8>> = dense();
    for format in ["mbs", "shbin", "metallib"] {
        files.extend(samples(format).into_iter().map(|sample| sample.bytes));
    }
    for (seed, bytes) in files.iter().enumerate() {
        let most = most_during(|| parse(bytes));
        assert!(most <= 4 * bytes.len() + FIXED, "file {seed}: {most} bytes for {}", bytes.len());
        let rounds = if bytes.len() > 100_000 { 3 } else { 300 };
        bit_flips(bytes, rounds, seed as u64 + 7, |damaged| {
            let most = most_during(|| parse(damaged));
            assert!(most <= 4 * bytes.len() + FIXED, "file {seed}: {most} bytes for {}", bytes.len());
        });
    }
}
