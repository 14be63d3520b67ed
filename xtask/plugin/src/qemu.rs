//! What the plugin uses of QEMU's interface, as its `qemu-plugin.h` has it: Debian has no package of that header.

use std::ffi::{c_int, c_uint, c_void};

/// The interface's version: QEMU 7.2, Debian 12's, has 1, and refuses newer ones.
#[unsafe(export_name = "qemu_plugin_version")]
pub static VERSION: c_int = 1;

/// Which plugin it is.
pub type Id = u64;

/// A translated block: instructions that run one after another.
#[repr(C)]
pub struct Block {
    _private: [u8; 0],
}

/// `QEMU_PLUGIN_CB_NO_REGS`: the function looks at no register of the program's.
pub const NO_REGISTERS: c_int = 0;

unsafe extern "C" {
    /// Has `translated` called for every new block.
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, translated: unsafe extern "C" fn(Id, *mut Block));
    /// Has `executed` called with `data` whenever the block begins.
    pub fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        executed: unsafe extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    /// The block's instructions.
    pub fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    /// Has `ended` called with `data` when the program ends.
    pub fn qemu_plugin_register_atexit_cb(
        id: Id,
        ended: unsafe extern "C" fn(Id, *mut c_void),
        data: *mut c_void,
    );
}
