//! Every vc4 ioctl once (kernel-abi.md §4). The functions are safe: pointers in the structs are
//! taken from slices here and nowhere else. An interrupted call is repeated (kernel-abi.md §2).

use crate::uapi::{
    CreateBo, CreateShaderBo, GemMadvise, GetHangState, GetHangStateBo, GetParam, GetTiling, LabelBo,
    MAX_PERF_COUNTERS, MmapBo, Param, PerfmonCreate, PerfmonDestroy, PerfmonGetValues, SetTiling, SubmitCl,
    WaitBo, WaitSeqno,
};
use nix::errno::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The type byte of all DRM ioctls.
pub const DRM_IOCTL_TYPE: u8 = b'd';
/// Number of the first driver ioctl.
pub const DRM_COMMAND_BASE: u8 = 0x40;

/// Declares the raw calls and the table of their request codes.
macro_rules! ioctls {
    ($($number:literal $name:ident $konst:ident $ty:ty,)*) => {
        mod raw {
            use super::*;
            $(nix::ioctl_readwrite!($name, DRM_IOCTL_TYPE, DRM_COMMAND_BASE + $number, $ty);)*
        }

        /// Numbers of the ioctls, to be added to [`DRM_COMMAND_BASE`].
        pub mod number {
            $(
                #[doc = concat!("DRM_VC4_", stringify!($konst), ".")]
                pub const $konst: u8 = $number;
            )*
        }

        /// Name, number and 32-bit request code of every vc4 ioctl on this target.
        pub const TABLE: &[(&str, u8, u32)] = &[
            $((
                stringify!($konst),
                $number,
                nix::request_code_readwrite!(DRM_IOCTL_TYPE, DRM_COMMAND_BASE + $number, size_of::<$ty>()) as u32,
            ),)*
        ];
    };
}

ioctls! {
    0 submit_cl SUBMIT_CL SubmitCl,
    1 wait_seqno WAIT_SEQNO WaitSeqno,
    2 wait_bo WAIT_BO WaitBo,
    3 create_bo CREATE_BO CreateBo,
    4 mmap_bo MMAP_BO MmapBo,
    5 create_shader_bo CREATE_SHADER_BO CreateShaderBo,
    6 get_hang_state GET_HANG_STATE GetHangState,
    7 get_param GET_PARAM GetParam,
    8 set_tiling SET_TILING SetTiling,
    9 get_tiling GET_TILING GetTiling,
    10 label_bo LABEL_BO LabelBo,
    11 gem_madvise GEM_MADVISE GemMadvise,
    12 perfmon_create PERFMON_CREATE PerfmonCreate,
    13 perfmon_destroy PERFMON_DESTROY PerfmonDestroy,
    14 perfmon_get_values PERFMON_GET_VALUES PerfmonGetValues,
}

/// A raw call of [`ioctls!`].
type Call<T> = unsafe fn(libc::c_int, *mut T) -> nix::Result<libc::c_int>;

/// Repeats an interrupted call; the kernel has then written back into `arg` what is left to wait.
fn retry<T>(call: Call<T>, fd: BorrowedFd<'_>, arg: &mut T) -> nix::Result<()> {
    loop {
        // SAFETY: `call` is one of `raw`, declared for exactly this struct, which lives during the call;
        // the pointers inside it were made by the functions below from borrowed slices.
        match unsafe { call(fd.as_raw_fd(), arg) } {
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            other => return other.map(drop),
        }
    }
}

/// The address of a slice as the structs carry it; an empty slice is a null pointer.
fn address<T>(data: &[T]) -> u64 {
    if data.is_empty() { 0 } else { data.as_ptr() as usize as u64 }
}

/// The length of a slice for the kernel's 32-bit fields.
fn length<T>(data: &[T]) -> nix::Result<u32> {
    u32::try_from(data.len()).map_err(|_| Errno::EINVAL)
}

/// What a submission points to.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// Binning list.
    pub bin_cl: &'a [u8],
    /// Shader records.
    pub shader_rec: &'a [u8],
    /// Uniforms.
    pub uniforms: &'a [u8],
    /// GEM handles.
    pub bo_handles: &'a [u32],
}

/// DRM_VC4_SUBMIT_CL: pointers and sizes of `frame` are set from `lists`; answers the sequence number.
pub fn submit_cl(fd: BorrowedFd<'_>, frame: &SubmitCl, lists: Lists<'_>) -> nix::Result<u64> {
    let mut arg = SubmitCl {
        bin_cl: address(lists.bin_cl),
        shader_rec: address(lists.shader_rec),
        uniforms: address(lists.uniforms),
        bo_handles: address(lists.bo_handles),
        bin_cl_size: length(lists.bin_cl)?,
        shader_rec_size: length(lists.shader_rec)?,
        uniforms_size: length(lists.uniforms)?,
        bo_handle_count: length(lists.bo_handles)?,
        ..*frame
    };
    retry(raw::submit_cl, fd, &mut arg)?;
    Ok(arg.seqno)
}

/// DRM_VC4_WAIT_SEQNO; `ETIME` when the time is over.
pub fn wait_seqno(fd: BorrowedFd<'_>, seqno: u64, timeout_ns: u64) -> nix::Result<()> {
    retry(raw::wait_seqno, fd, &mut WaitSeqno { seqno, timeout_ns })
}

/// DRM_VC4_WAIT_BO; `ETIME` when the time is over.
pub fn wait_bo(fd: BorrowedFd<'_>, handle: u32, timeout_ns: u64) -> nix::Result<()> {
    retry(raw::wait_bo, fd, &mut WaitBo { handle, pad: 0, timeout_ns })
}

/// DRM_VC4_CREATE_BO: the handle of a zeroed BO.
pub fn create_bo(fd: BorrowedFd<'_>, size: u32) -> nix::Result<u32> {
    let mut arg = CreateBo { size, ..Default::default() };
    retry(raw::create_bo, fd, &mut arg)?;
    Ok(arg.handle)
}

/// DRM_VC4_MMAP_BO: the offset of the device file at which the BO can be mapped.
pub fn mmap_bo(fd: BorrowedFd<'_>, handle: u32) -> nix::Result<u64> {
    let mut arg = MmapBo { handle, ..Default::default() };
    retry(raw::mmap_bo, fd, &mut arg)?;
    Ok(arg.offset)
}

/// DRM_VC4_CREATE_SHADER_BO: the handle of a validated shader.
pub fn create_shader_bo(fd: BorrowedFd<'_>, code: &[u64]) -> nix::Result<u32> {
    let size = u32::try_from(size_of_val(code)).map_err(|_| Errno::EINVAL)?;
    let mut arg = CreateShaderBo { size, data: address(code), ..Default::default() };
    retry(raw::create_shader_bo, fd, &mut arg)?;
    Ok(arg.handle)
}

/// DRM_VC4_GET_HANG_STATE; the element count that the kernel knows stands in `bo_count`.
pub fn get_hang_state(fd: BorrowedFd<'_>, bos: &mut [GetHangStateBo]) -> nix::Result<GetHangState> {
    let mut arg =
        GetHangState { bo_count: length(bos)?, bo: bos.as_mut_ptr() as usize as u64, ..Default::default() };
    retry(raw::get_hang_state, fd, &mut arg)?;
    Ok(arg)
}

/// DRM_VC4_GET_PARAM.
pub fn get_param(fd: BorrowedFd<'_>, param: Param) -> nix::Result<u64> {
    let mut arg = GetParam { param: param as u32, ..Default::default() };
    retry(raw::get_param, fd, &mut arg)?;
    Ok(arg.value)
}

/// DRM_VC4_SET_TILING.
pub fn set_tiling(fd: BorrowedFd<'_>, handle: u32, modifier: u64) -> nix::Result<()> {
    retry(raw::set_tiling, fd, &mut SetTiling { handle, flags: 0, modifier })
}

/// DRM_VC4_GET_TILING: the modifier.
pub fn get_tiling(fd: BorrowedFd<'_>, handle: u32) -> nix::Result<u64> {
    let mut arg = GetTiling { handle, ..Default::default() };
    retry(raw::get_tiling, fd, &mut arg)?;
    Ok(arg.modifier)
}

/// DRM_VC4_LABEL_BO: names a BO in the kernel's debug output.
pub fn label_bo(fd: BorrowedFd<'_>, handle: u32, name: &str) -> nix::Result<()> {
    let mut arg = LabelBo { handle, len: length(name.as_bytes())?, name: address(name.as_bytes()) };
    retry(raw::label_bo, fd, &mut arg)
}

/// DRM_VC4_GEM_MADVISE: whether the contents are still there.
pub fn gem_madvise(fd: BorrowedFd<'_>, handle: u32, needed: bool) -> nix::Result<bool> {
    let mut arg = GemMadvise { handle, madv: u32::from(!needed), ..Default::default() };
    retry(raw::gem_madvise, fd, &mut arg)?;
    Ok(arg.retained != 0)
}

/// DRM_VC4_PERFMON_CREATE: a monitor of 1 to 16 events.
pub fn perfmon_create(fd: BorrowedFd<'_>, events: &[u8]) -> nix::Result<u32> {
    let mut arg = PerfmonCreate { ncounters: length(events)?, ..Default::default() };
    arg.events.get_mut(..events.len()).ok_or(Errno::EINVAL)?.copy_from_slice(events);
    retry(raw::perfmon_create, fd, &mut arg)?;
    Ok(arg.id)
}

/// DRM_VC4_PERFMON_DESTROY.
pub fn perfmon_destroy(fd: BorrowedFd<'_>, id: u32) -> nix::Result<()> {
    retry(raw::perfmon_destroy, fd, &mut PerfmonDestroy { id })
}

/// DRM_VC4_PERFMON_GET_VALUES: the counters, in the order of the monitor's events.
pub fn perfmon_get_values(fd: BorrowedFd<'_>, id: u32) -> nix::Result<[u64; MAX_PERF_COUNTERS]> {
    let mut values = [0; MAX_PERF_COUNTERS];
    let mut arg = PerfmonGetValues { id, values: values.as_mut_ptr() as usize as u64, ..Default::default() };
    retry(raw::perfmon_get_values, fd, &mut arg)?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    /// kernel-abi.md §4.
    #[cfg(not(target_arch = "x86"))]
    const MANUAL: [(&str, u32); 15] = [
        ("SUBMIT_CL", 0xC0B0_6440),
        ("WAIT_SEQNO", 0xC010_6441),
        ("WAIT_BO", 0xC010_6442),
        ("CREATE_BO", 0xC010_6443),
        ("MMAP_BO", 0xC010_6444),
        ("CREATE_SHADER_BO", 0xC018_6445),
        ("GET_HANG_STATE", 0xC0A0_6446),
        ("GET_PARAM", 0xC010_6447),
        ("SET_TILING", 0xC010_6448),
        ("GET_TILING", 0xC010_6449),
        ("LABEL_BO", 0xC010_644A),
        ("GEM_MADVISE", 0xC010_644B),
        ("PERFMON_CREATE", 0xC018_644C),
        ("PERFMON_DESTROY", 0xC004_644D),
        ("PERFMON_GET_VALUES", 0xC010_644E),
    ];

    #[cfg(not(target_arch = "x86"))]
    #[test]
    fn request_codes_are_the_manuals() {
        let ours: Vec<_> = TABLE.iter().map(|&(name, _, code)| (name, code)).collect();
        assert_eq!(ours, MANUAL);
    }

    #[test]
    fn a_file_that_is_no_device_says_so() {
        let file = std::fs::File::open("/dev/null").unwrap();
        // QEMU's user mode hands on the requests that it knows and answers the others itself.
        let emulated = std::env::var_os("VC4_QEMU_USER").is_some();
        let refused = if emulated { Errno::ENOSYS } else { Errno::ENOTTY };
        assert_eq!(get_param(file.as_fd(), Param::Ident0), Err(refused));
        assert_eq!(create_shader_bo(file.as_fd(), &[0]), Err(refused));
        assert_eq!(perfmon_create(file.as_fd(), &[0; 17]), Err(Errno::EINVAL));
    }
}
