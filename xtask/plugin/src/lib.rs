//! A plugin of QEMU's that counts the instructions of a program, on all its threads: `qemu-aarch64 -plugin FILE PROGRAM`.
//! When the program ends it prints a line to standard error: `instructions`, and how many.
//!
//! Counted is block by block, as QEMU translates: a block that a signal leaves early counts whole.

mod qemu;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use qemu::{Block, Id};

/// What was executed so far. QEMU's own addition would be cheaper, but loses what threads add at the same time.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// QEMU's entry point; success is zero.
///
/// # Safety
/// QEMU calls it once, before the program begins, with a number that it gave this plugin.
#[unsafe(export_name = "qemu_plugin_install")]
pub unsafe extern "C" fn install(id: Id, _: *const c_void, _: c_int, _: *const *const c_char) -> c_int {
    // SAFETY: the number is QEMU's; both functions stay as long as the library, which is never unloaded.
    unsafe {
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu::qemu_plugin_register_atexit_cb(id, ended, null_mut());
    }
    0
}

/// Has a new block add its length whenever it runs.
unsafe extern "C" fn translated(_: Id, block: *mut Block) {
    // SAFETY: the block is QEMU's and lives during this call; `executed` reads no registers and follows no pointer.
    unsafe {
        let length = qemu::qemu_plugin_tb_n_insns(block);
        let length = std::ptr::without_provenance_mut(length);
        qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, executed, qemu::NO_REGISTERS, length);
    }
}

/// A block of `length` instructions, which is no pointer, begins.
unsafe extern "C" fn executed(_: c_uint, length: *mut c_void) {
    COUNT.fetch_add(length.addr() as u64, Ordering::Relaxed);
}

unsafe extern "C" fn ended(_: Id, _: *mut c_void) {
    eprintln!("instructions {}", COUNT.load(Ordering::Relaxed));
}
