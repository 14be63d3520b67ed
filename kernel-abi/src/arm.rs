//! What compilers do not make of Rust on 32-bit ARM.

use std::arch::asm;

/// Whether `fours` times four words are the same at `new` and `old`, up to the first four that are not: two loads of four words
/// and four comparisons. Compilers load and compare word by word, twice as many instructions.
///
/// # Safety
/// So many words, one or more times four, must be readable at both places, and aligned.
#[inline]
pub unsafe fn fours_are_same(new: *const u32, old: *const u32, fours: usize) -> bool {
    let mut left = fours;
    // SAFETY: reads what the caller says can be read, as long as there are fours left. The registers ascend, as the instruction
    // wants them, and are none of those that compilers keep for themselves (r6, r7, r11).
    unsafe {
        asm!(
            "2:",
            "ldmia {new}!, {{r0, r1, r2, r3}}",
            "ldmia {old}!, {{r4, r5, r8, r9}}",
            "cmp r0, r4",
            "ittt eq",
            "cmpeq r1, r5",
            "cmpeq r2, r8",
            "cmpeq r3, r9",
            "bne 3f",
            "subs {left}, {left}, #1",
            "bne 2b",
            "3:",
            new = inout(reg) new => _,
            old = inout(reg) old => _,
            left = inout(reg) left,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            options(nostack, readonly),
        );
    }
    left == 0
}
