//! A struct of machines with 32 bits whose times have 64.

/// What stat tells programs that are built with `_TIME_BITS=64`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct StatTime64 {
    /// File system.
    pub st_dev: u64,
    /// File in it.
    pub st_ino: u64,
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

/// What ppoll and pselect are given by programs that are built with `_TIME_BITS=64`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TimespecTime64 {
    /// Seconds.
    pub tv_sec: i64,
    /// Nanoseconds.
    pub tv_nsec: libc::c_long,
    padding: libc::c_int,
}

impl TimespecTime64 {
    /// No time at all.
    pub const ZERO: TimespecTime64 = TimespecTime64 { tv_sec: 0, tv_nsec: 0, padding: 0 };
}

/// What select is given by such programs.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TimevalTime64 {
    /// Seconds.
    pub tv_sec: i64,
    /// Microseconds.
    pub tv_usec: i64,
}

const _: () = assert!(size_of::<TimespecTime64>() == 16 && size_of::<TimevalTime64>() == 16);
