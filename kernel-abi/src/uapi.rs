//! The structs of the vc4 ioctls, as the kernel reads and writes them (kernel-abi.md §4, §5.1).
//! Sizes and offsets are asserted at compile time for every target this crate is built for.

use bytemuck::{Pod, Zeroable};
use std::mem::{offset_of, size_of};

/// Declares an ioctl struct together with its layout: total size, then the offset of every field.
macro_rules! layout {
    ($(#[$meta:meta])* $name:ident, $size:expr, {
        $($(#[$field_meta:meta])* $offset:literal $field:ident: $ty:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
        #[repr(C)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        const _: () = {
            assert!(size_of::<$name>() == $size);
            $(assert!(offset_of!($name, $field) == $offset);)*
        };
    };
}

/// Where the nodes are.
pub(crate) const NODE_DIR: &str = "/dev/dri";
/// Name of the kernel driver (kernel-abi.md §1).
pub(crate) const DRIVER: &str = "vc4";
/// `hindex` of a surface that is not there.
pub const NO_SURFACE: u32 = u32::MAX;
/// `flags` of a surface: the read is a full-resolution one.
pub const SURFACE_READ_IS_FULL_RES: u16 = 1;
/// Slots of binner memory, which all jobs of the device share (kernel-abi.md §11).
pub const BINNER_SLOTS: u32 = 32;
/// Bytes of a slot: what a job with a bin list holds until it is done, and what it grows by.
pub const BINNER_SLOT_BYTES: u32 = 512 << 10;
/// Counters that one performance monitor can hold.
pub const MAX_PERF_COUNTERS: usize = 16;
/// Modifier of linear buffers.
pub const MODIFIER_LINEAR: u64 = 0;
/// Modifier of T-tiled buffers.
pub const MODIFIER_T_TILED: u64 = 0x0700_0000_0000_0001;
/// DRM's modifier of buffers whose layout is not told but known to the kernel.
pub const MODIFIER_INVALID: u64 = 0x00ff_ffff_ffff_ffff;

layout! {
    /// A render surface of [`SubmitCl`].
    SubmitRclSurface, 12, {
        /// Index into the BO handles, or [`NO_SURFACE`].
        0 hindex: u32,
        /// Byte offset in the BO.
        4 offset: u32,
        /// Packet bits (kernel-abi.md §5.2).
        8 bits: u16,
        /// [`SURFACE_READ_IS_FULL_RES`].
        10 flags: u16,
    }
}

layout! {
    /// DRM_VC4_SUBMIT_CL.
    SubmitCl, 176, {
        /// Pointer to the binning list.
        0 bin_cl: u64,
        /// Pointer to the shader records.
        8 shader_rec: u64,
        /// Pointer to the uniforms.
        16 uniforms: u64,
        /// Pointer to the GEM handles, u32 each.
        24 bo_handles: u64,
        /// Bytes of the binning list; 0 for a job without binning.
        32 bin_cl_size: u32,
        /// Bytes of the shader records.
        36 shader_rec_size: u32,
        /// Number of shader records.
        40 shader_rec_count: u32,
        /// Bytes of the uniforms.
        44 uniforms_size: u32,
        /// Number of handles.
        48 bo_handle_count: u32,
        /// Width in pixels.
        52 width: u16,
        /// Height in pixels.
        54 height: u16,
        /// First tile column.
        56 min_x_tile: u8,
        /// First tile row.
        57 min_y_tile: u8,
        /// Last tile column.
        58 max_x_tile: u8,
        /// Last tile row.
        59 max_y_tile: u8,
        /// Colour loaded at tile start.
        60 color_read: SubmitRclSurface,
        /// Colour stored at tile end.
        72 color_write: SubmitRclSurface,
        /// Depth/stencil loaded at tile start.
        84 zs_read: SubmitRclSurface,
        /// Depth/stencil stored at tile end.
        96 zs_write: SubmitRclSurface,
        /// Raw multisample colour store.
        108 msaa_color_write: SubmitRclSurface,
        /// Raw multisample depth/stencil store.
        120 msaa_zs_write: SubmitRclSurface,
        /// Clear colour.
        132 clear_color: [u32; 2],
        /// Clear depth.
        140 clear_z: u32,
        /// Clear stencil.
        144 clear_s: u8,
        /// Unchecked.
        145 pad: [u8; 3],
        /// Flags, see [`crate::SubmitFlags`].
        148 flags: u32,
        /// Out: the job's sequence number.
        152 seqno: u64,
        /// Performance monitor, 0 for none.
        160 perfmonid: u32,
        /// Syncobj to wait for, 0 for none.
        164 in_sync: u32,
        /// Syncobj to signal, 0 for none.
        168 out_sync: u32,
        /// Must be zero.
        172 pad2: u32,
    }
}

layout! {
    /// DRM_VC4_WAIT_SEQNO.
    WaitSeqno, 16, {
        /// The job.
        0 seqno: u64,
        /// Relative time-out; all ones waits forever. The kernel writes back what remains after a signal.
        8 timeout_ns: u64,
    }
}

layout! {
    /// DRM_VC4_WAIT_BO.
    WaitBo, 16, {
        /// The BO.
        0 handle: u32,
        /// Must be zero.
        4 pad: u32,
        /// As in [`WaitSeqno`].
        8 timeout_ns: u64,
    }
}

layout! {
    /// DRM_VC4_CREATE_BO.
    CreateBo, 16, {
        /// Bytes, rounded up to pages by the kernel.
        0 size: u32,
        /// Unchecked.
        4 flags: u32,
        /// Out: the handle.
        8 handle: u32,
        /// Unchecked.
        12 pad: u32,
    }
}

layout! {
    /// DRM_VC4_MMAP_BO.
    MmapBo, 16, {
        /// The BO.
        0 handle: u32,
        /// Unchecked.
        4 flags: u32,
        /// Out: where to map the device file.
        8 offset: u64,
    }
}

layout! {
    /// DRM_VC4_CREATE_SHADER_BO.
    CreateShaderBo, 24, {
        /// Bytes of code, a multiple of 8.
        0 size: u32,
        /// Must be zero.
        4 flags: u32,
        /// Pointer to the code.
        8 data: u64,
        /// Out: the handle.
        16 handle: u32,
        /// Must be zero.
        20 pad: u32,
    }
}

layout! {
    /// Element of the array that [`GetHangState::bo`] points to.
    GetHangStateBo, 16, {
        /// Handle opened for the caller.
        0 handle: u32,
        /// Bus address.
        4 paddr: u32,
        /// Bytes.
        8 size: u32,
        /// Zero.
        12 pad: u32,
    }
}

layout! {
    /// DRM_VC4_GET_HANG_STATE; the registers stand in the manual's order.
    GetHangState, 160, {
        /// Pointer to [`GetHangStateBo`] elements.
        0 bo: u64,
        /// In: elements there is room for; out: elements there are.
        8 bo_count: u32,
        /// Address of the bin list.
        12 start_bin: u32,
        /// Address of the render list.
        16 start_render: u32,
        /// Current address of list 0.
        20 ct0ca: u32,
        /// End address of list 0.
        24 ct0ea: u32,
        /// Current address of list 1.
        28 ct1ca: u32,
        /// End address of list 1.
        32 ct1ea: u32,
        /// Control and status of list 0.
        36 ct0cs: u32,
        /// Control and status of list 1.
        40 ct1cs: u32,
        /// Return address of list 0.
        44 ct0ra0: u32,
        /// Return address of list 1.
        48 ct1ra0: u32,
        /// Binner: current address of its memory.
        52 bpca: u32,
        /// Binner: bytes left of its memory.
        56 bpcs: u32,
        /// Binner: overflow address.
        60 bpoa: u32,
        /// Binner: overflow size.
        64 bpos: u32,
        /// Base of the user VPM space.
        68 vpmbase: u32,
        /// Error state.
        72 dbge: u32,
        /// Pixel pipe: overrun.
        76 fdbgo: u32,
        /// Pixel pipe: busy.
        80 fdbgb: u32,
        /// Pixel pipe: ready.
        84 fdbgr: u32,
        /// Pixel pipe: stall.
        88 fdbgs: u32,
        /// Error status.
        92 errstat: u32,
        /// Reserved.
        96 pad: [u32; 16],
    }
}

layout! {
    /// DRM_VC4_GET_PARAM.
    GetParam, 16, {
        /// One of [`Param`]'s values.
        0 param: u32,
        /// Must be zero.
        4 pad: u32,
        /// Out: the value.
        8 value: u64,
    }
}

layout! {
    /// DRM_VC4_SET_TILING.
    SetTiling, 16, {
        /// The BO.
        0 handle: u32,
        /// Must be zero.
        4 flags: u32,
        /// [`MODIFIER_LINEAR`] or [`MODIFIER_T_TILED`].
        8 modifier: u64,
    }
}

layout! {
    /// DRM_VC4_GET_TILING.
    GetTiling, 16, {
        /// The BO.
        0 handle: u32,
        /// Must be zero.
        4 flags: u32,
        /// In: zero; out: the modifier.
        8 modifier: u64,
    }
}

layout! {
    /// DRM_VC4_LABEL_BO.
    LabelBo, 16, {
        /// The BO.
        0 handle: u32,
        /// Bytes of the name.
        4 len: u32,
        /// Pointer to the name.
        8 name: u64,
    }
}

layout! {
    /// DRM_VC4_GEM_MADVISE.
    GemMadvise, 16, {
        /// The BO.
        0 handle: u32,
        /// 0 will need, 1 do not need.
        4 madv: u32,
        /// Out: 0 when the contents are lost.
        8 retained: u32,
        /// Must be zero.
        12 pad: u32,
    }
}

layout! {
    /// DRM_VC4_PERFMON_CREATE.
    PerfmonCreate, 24, {
        /// Out: the monitor.
        0 id: u32,
        /// Number of events, 1 to 16.
        4 ncounters: u32,
        /// Events (kernel-abi.md §4.15).
        8 events: [u8; MAX_PERF_COUNTERS],
    }
}

layout! {
    /// DRM_VC4_PERFMON_DESTROY.
    PerfmonDestroy, 4, {
        /// The monitor.
        0 id: u32,
    }
}

// i386 aligns u64 to four bytes: the only struct whose layout differs there (kernel-abi.md §4).
#[cfg(not(target_arch = "x86"))]
layout! {
    /// DRM_VC4_PERFMON_GET_VALUES.
    PerfmonGetValues, 16, {
        /// The monitor.
        0 id: u32,
        /// The compiler's own padding in C.
        4 pad: u32,
        /// Pointer to one u64 per counter.
        8 values: u64,
    }
}

#[cfg(target_arch = "x86")]
layout! {
    /// DRM_VC4_PERFMON_GET_VALUES.
    PerfmonGetValues, 12, {
        /// The monitor.
        0 id: u32,
        /// Pointer to one u64 per counter.
        4 values: u64,
    }
}

/// What DRM_VC4_GET_PARAM can be asked (kernel-abi.md §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Param {
    /// Register IDENT0.
    Ident0 = 0,
    /// Register IDENT1.
    Ident1 = 1,
    /// Register IDENT2.
    Ident2 = 2,
    /// Shaders may branch.
    SupportsBranches = 3,
    /// ETC1 textures are accepted.
    SupportsEtc1 = 4,
    /// Threaded fragment shaders are accepted.
    SupportsThreadedFs = 5,
    /// The order flags of a submission are known.
    SupportsFixedRclOrder = 6,
    /// DRM_VC4_GEM_MADVISE is there.
    SupportsMadvise = 7,
    /// Performance monitors are there.
    SupportsPerfmon = 8,
}
