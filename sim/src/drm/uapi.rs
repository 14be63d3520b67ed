//! The structs of the core DRM ioctls (kernel-abi.md §13), with 64-bit pointers and sizes; three of them are shorter where
//! processes have 32 bits.

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
    /// VERSION of a process with 32 bits.
    Version32 36 {
        major: i32, minor: i32, patch: i32, name_len: u32, name: u32, date_len: u32, date: u32, desc_len: u32,
        desc: u32,
    }
    /// GET_UNIQUE.
    Unique 16 { len: u64, unique: u64, }
    /// GET_UNIQUE of a process with 32 bits.
    Unique32 8 { len: u32, unique: u32, }
    /// GET_MAGIC and AUTH_MAGIC.
    Auth 4 { magic: u32, }
    /// GET_CLIENT: an index in, the rest out.
    Client 40 { index: i32, auth: i32, pid: u64, uid: u64, magic: u64, count: u64, }
    /// GET_CLIENT of a process with 32 bits.
    Client32 24 { index: i32, auth: i32, pid: u32, uid: u32, magic: u32, count: u32, }
    /// GET_STATS: how many, and a value and type of each.
    Stats 248 { count: u64, values: [[u64; 2]; 15], }
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
    /// DMA_BUF_IOCTL_EXPORT_SYNC_FILE and DMA_BUF_IOCTL_IMPORT_SYNC_FILE.
    DmaBufSyncFile 8 { flags: u32, fd: i32, }
    /// SET_VERSION: -1 for what does not matter.
    SetVersion 16 { di_major: i32, di_minor: i32, dd_major: i32, dd_minor: i32, }
    /// WAIT_VBLANK: type, sequence and a signal or user word in; sequence, seconds and microseconds out.
    WaitVblank 24 { kind: u32, sequence: u32, first: u64, second: u64, }
    /// WAIT_VBLANK of a process with 32 bits.
    WaitVblank32 16 { kind: u32, sequence: u32, first: u32, second: u32, }
    /// CRTC_GET_SEQUENCE.
    GetSequence 24 { crtc_id: u32, active: u32, sequence: u64, time_ns: i64, }
    /// CRTC_QUEUE_SEQUENCE.
    QueueSequence 24 { crtc_id: u32, flags: u32, sequence: u64, user_data: u64, }
    /// A display mode.
    ModeInfo 68 {
        clock: u32, hdisplay: u16, hsync_start: u16, hsync_end: u16, htotal: u16, hskew: u16, vdisplay: u16,
        vsync_start: u16, vsync_end: u16, vtotal: u16, vscan: u16, vrefresh: u32, flags: u32, kind: u32,
        name: [u8; 32],
    }
    /// MODE_GETRESOURCES.
    CardRes 64 {
        fbs: u64, crtcs: u64, connectors: u64, encoders: u64, count_fbs: u32, count_crtcs: u32,
        count_connectors: u32, count_encoders: u32, min_width: u32, max_width: u32, min_height: u32,
        max_height: u32,
    }
    /// MODE_GETCRTC and MODE_SETCRTC.
    Crtc 104 {
        connectors: u64, count_connectors: u32, crtc_id: u32, fb_id: u32, x: u32, y: u32, gamma_size: u32,
        mode_valid: u32, mode: ModeInfo,
    }
    /// MODE_SETPLANE.
    SetPlane 48 {
        plane_id: u32, crtc_id: u32, fb_id: u32, flags: u32, crtc_x: i32, crtc_y: i32, crtc_w: u32, crtc_h: u32,
        src_x: u32, src_y: u32, src_h: u32, src_w: u32,
    }
    /// MODE_GETPLANE.
    GetPlane 32 {
        plane_id: u32, crtc_id: u32, fb_id: u32, possible_crtcs: u32, gamma_size: u32, count_formats: u32,
        formats: u64,
    }
    /// MODE_GETPLANERESOURCES.
    PlaneRes 16 { planes: u64, count: u32, pad: u32, }
    /// MODE_GETENCODER.
    GetEncoder 20 { encoder_id: u32, kind: u32, crtc_id: u32, possible_crtcs: u32, possible_clones: u32, }
    /// MODE_GETCONNECTOR.
    GetConnector 80 {
        encoders: u64, modes: u64, props: u64, values: u64, count_modes: u32, count_props: u32,
        count_encoders: u32, encoder_id: u32, connector_id: u32, kind: u32, kind_id: u32, connection: u32,
        mm_width: u32, mm_height: u32, subpixel: u32, pad: u32,
    }
    /// MODE_GETPROPERTY.
    GetProperty 64 {
        values: u64, enums: u64, prop_id: u32, flags: u32, name: [u8; 32], count_values: u32, count_enums: u32,
    }
    /// An element of the array that MODE_GETPROPERTY fills.
    PropertyEnum 40 { value: u64, name: [u8; 32], }
    /// MODE_SETPROPERTY of a connector.
    SetProperty 16 { value: u64, prop_id: u32, connector_id: u32, }
    /// MODE_OBJ_GETPROPERTIES.
    ObjGetProperties 32 { props: u64, values: u64, count: u32, obj_id: u32, obj_type: u32, pad: u32, }
    /// MODE_OBJ_SETPROPERTY.
    ObjSetProperty 24 { value: u64, prop_id: u32, obj_id: u32, obj_type: u32, pad: u32, }
    /// MODE_GETPROPBLOB.
    GetBlob 16 { blob_id: u32, length: u32, data: u64, }
    /// MODE_CREATEPROPBLOB.
    CreateBlob 16 { data: u64, length: u32, blob_id: u32, }
    /// MODE_DESTROYPROPBLOB, MODE_RMFB.
    Id 4 { id: u32, }
    /// MODE_ADDFB and MODE_GETFB.
    FbCmd 28 { fb_id: u32, width: u32, height: u32, pitch: u32, bpp: u32, depth: u32, handle: u32, }
    /// MODE_ADDFB2 and MODE_GETFB2.
    FbCmd2 104 {
        fb_id: u32, width: u32, height: u32, format: u32, flags: u32, handles: [u32; 4], pitches: [u32; 4],
        offsets: [u32; 4], pad: u32, modifiers: [u64; 4],
    }
    /// MODE_DIRTYFB.
    FbDirty 24 { fb_id: u32, flags: u32, color: u32, count: u32, clips: u64, }
    /// MODE_CURSOR.
    Cursor 28 { flags: u32, crtc_id: u32, x: i32, y: i32, width: u32, height: u32, handle: u32, }
    /// MODE_CURSOR2.
    Cursor2 36 {
        flags: u32, crtc_id: u32, x: i32, y: i32, width: u32, height: u32, handle: u32, hot_x: i32, hot_y: i32,
    }
    /// MODE_GETGAMMA and MODE_SETGAMMA.
    Gamma 32 { crtc_id: u32, size: u32, red: u64, green: u64, blue: u64, }
    /// MODE_PAGE_FLIP.
    PageFlip 24 { crtc_id: u32, fb_id: u32, flags: u32, reserved: u32, user_data: u64, }
    /// MODE_ATOMIC.
    Atomic 56 {
        flags: u32, count: u32, objects: u64, prop_counts: u64, props: u64, values: u64, reserved: u64,
        user_data: u64,
    }
    /// What a file reads when a flip or vertical blank has happened.
    VblankEvent 32 {
        kind: u32, length: u32, user_data: u64, seconds: u32, microseconds: u32, sequence: u32, crtc_id: u32,
    }
    /// What a file reads when a sequence it asked for is reached.
    SequenceEvent 32 { kind: u32, length: u32, user_data: u64, time_ns: i64, sequence: u64, }
    /// A call without an argument that is looked at.
    Nothing 0 {}
}
