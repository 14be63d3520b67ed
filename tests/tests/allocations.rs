//! Writing programs and control lists costs no allocation per instruction or packet.
//!
//! One test in a binary of its own: the counter is the process's allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use vc4::cl::packets::{ClipWindow, ConfigurationBits, PrimitiveMode, VertexArrayPrimitives};
use vc4::cl::{Binner, List};
use vc4::qpu::{Inst, assemble};

/// The system's allocator, counting the calls that get or move memory.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator with the same arguments; the counter has no influence on it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        // SAFETY: the caller's contract is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn calls(work: impl FnOnce()) -> usize {
    let before = CALLS.load(Relaxed);
    work();
    CALLS.load(Relaxed) - before
}

fn draws(list: &mut List<Binner>) {
    list.clear();
    for first in 0..10_000 {
        list.push(ClipWindow { left: 0, bottom: 0, width: 1920, height: 1080 })
            .push(ConfigurationBits { depth_write: true, ..Default::default() })
            .push(VertexArrayPrimitives { mode: PrimitiveMode::Triangles, count: 36, first });
    }
}

#[test]
fn writing_reuses_its_memory() {
    let mut list = List::<Binner>::new();
    // Growing doubles the list: a few dozen calls for 30 000 packets.
    assert!(calls(|| draws(&mut list)) < 40);
    assert_eq!(calls(|| draws(black_box(&mut list))), 0);

    let line = "sig_none ; r0 = fadd.always(a, b, ra1, rb2) ; r1 = fmul.always(r2, r3) ;\n";
    let text = |lines| line.repeat(lines);
    let assembling = |lines| {
        let text = text(lines);
        calls(|| drop(black_box(assemble(&text).expect("it assembles"))))
    };
    let (few, many) = (assembling(1000), assembling(16_000));
    assert!(many < few + 40, "{few} calls for 1000 instructions, {many} for 16000");

    let insts: Vec<Inst> = assemble(&text(1000))
        .expect("it assembles")
        .words
        .iter()
        .filter_map(|&word| Inst::decode(word).ok())
        .collect();
    let words = calls(|| {
        for inst in &insts {
            let word = black_box(inst.encode());
            black_box(Inst::decode(word)).expect("it was decoded before");
        }
    });
    assert_eq!(words, 0);
}
