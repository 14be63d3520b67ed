//! The structs of the core DRM ioctls (kernel-abi.md §13), with 64-bit pointers and sizes.

use bytemuck::{Pod, Zeroable};

/// Declares ioctl structs with their sizes.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident $size:literal { $($field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
            #[repr(C)]
            pub struct $name { $(pub $field: $ty,)* }
            const _: () = assert!(size_of::<$name>() == $size);
        )*
    };
}

structs! {
    /// VERSION: lengths in, lengths of the whole out; pointers to what is filled.
    Version 64 {
        major: i32, minor: i32, patch: i32, pad: u32,
        name_len: u64, name: u64, date_len: u64, date: u64, desc_len: u64, desc: u64,
    }
    /// GET_UNIQUE.
    Unique 16 { len: u64, unique: u64, }
    /// GET_MAGIC and AUTH_MAGIC.
    Auth 4 { magic: u32, }
    /// GET_CAP and SET_CLIENT_CAP.
    Cap 16 { capability: u64, value: u64, }
    /// GEM_CLOSE.
    GemClose 8 { handle: u32, pad: u32, }
    /// GEM_FLINK.
    GemFlink 8 { handle: u32, name: u32, }
    /// GEM_OPEN.
    GemOpen 16 { name: u32, handle: u32, size: u64, }
    /// PRIME_HANDLE_TO_FD and PRIME_FD_TO_HANDLE.
    PrimeHandle 12 { handle: u32, flags: u32, fd: i32, }
    /// MODE_CREATE_DUMB.
    CreateDumb 32 { height: u32, width: u32, bpp: u32, flags: u32, handle: u32, pitch: u32, size: u64, }
    /// MODE_MAP_DUMB.
    MapDumb 16 { handle: u32, pad: u32, offset: u64, }
    /// MODE_DESTROY_DUMB.
    DestroyDumb 4 { handle: u32, }
    /// SYNCOBJ_CREATE.
    SyncobjCreate 8 { handle: u32, flags: u32, }
    /// SYNCOBJ_DESTROY.
    SyncobjDestroy 8 { handle: u32, pad: u32, }
    /// SYNCOBJ_HANDLE_TO_FD and SYNCOBJ_FD_TO_HANDLE.
    SyncobjHandle 16 { handle: u32, flags: u32, fd: i32, pad: u32, }
    /// SYNCOBJ_WAIT.
    SyncobjWait 32 {
        handles: u64, timeout_ns: i64, count: u32, flags: u32, first_signalled: u32, pad: u32,
    }
    /// SYNCOBJ_RESET and SYNCOBJ_SIGNAL.
    SyncobjArray 16 { handles: u64, count: u32, pad: u32, }
    /// SYNC_IOC_MERGE.
    SyncMerge 48 { name: [u8; 32], fd2: i32, fence: i32, flags: u32, pad: u32, }
    /// SYNC_IOC_FILE_INFO.
    SyncFileInfo 56 {
        name: [u8; 32], status: i32, flags: u32, fence_count: u32, pad: u32, fences: u64,
    }
    /// An element of the array that SYNC_IOC_FILE_INFO fills.
    SyncFenceInfo 80 {
        object_name: [u8; 32], driver_name: [u8; 32], status: i32, flags: u32, timestamp_ns: u64,
    }
    /// DMA_BUF_IOCTL_SYNC.
    DmaBufSync 8 { flags: u64, }
    /// A call without an argument that is looked at.
    Nothing 0 {}
}
