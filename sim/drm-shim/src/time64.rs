//! A struct of machines with 32 bits whose times have 64.

/// What stat tells programs that are built with `_TIME_BITS=64`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StatTime64 {
    st_dev: u64,
    st_ino: u64,
    /// Kind and permissions.
    pub st_mode: libc::mode_t,
    /// Names.
    pub st_nlink: u32,
    st_uid: u32,
    st_gid: u32,
    /// Number of the device, if it is one.
    pub st_rdev: u64,
    /// Bytes.
    pub st_size: i64,
    /// Bytes that are read at once.
    pub st_blksize: i32,
    st_blocks: i64,
    times: [i64; 6],
}

const _: () = assert!(size_of::<StatTime64>() == 112);
