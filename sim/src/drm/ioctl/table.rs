//! From a request code to a handler (kernel-abi.md §2): the number alone decides, sizes may differ. Only structs of processes
//! with 32 bits are told by their size.

use bytemuck::from_bytes_mut;
use nix::errno::Errno;
use vc4_kernel_abi::ioctl::{DRM_COMMAND_BASE, DRM_IOCTL_TYPE, number};
use vc4_kernel_abi::uapi as vc4;

use super::request::Request;
use crate::drm::file::File;
use crate::drm::node::{Answer, Node};
use crate::drm::process::Process;
use crate::drm::uapi::*;

/// Bytes of the largest argument.
const MAX_SIZE: usize = size_of::<Stats>();

/// Who may make a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Files of both nodes.
    Everybody,
    /// Files of the primary node.
    Primary,
    /// The file of the primary node that may change the screen.
    Master,
    /// Files of the primary node, with CAP_SYS_ADMIN.
    Admin,
}

type Handler = fn(&File, &mut [u8], &dyn Process) -> Answer;

struct Entry {
    number: u8,
    name: &'static str,
    size: usize,
    access: Access,
    handler: Handler,
}

/// Declares a table: number, who may, argument, method of [`File`].
macro_rules! table {
    ($name:ident: $($number:expr, $access:ident, $ty:ty, $method:ident;)*) => {
        const $name: &[Entry] = &[$(Entry {
            number: $number,
            name: stringify!($method),
            size: size_of::<$ty>(),
            access: Access::$access,
            handler: |file, bytes, process| file.$method(from_bytes_mut::<$ty>(bytes), process),
        },)*];
        $(const _: () = assert!(size_of::<$ty>() <= MAX_SIZE && align_of::<$ty>() <= 8);)*
    };
}

const fn driver(number: u8) -> u8 {
    DRM_COMMAND_BASE + number
}

table! {
    // What holds pointers, sizes or times of the C library's.
    TABLE_32:
    0x00, Everybody, Version32, version_32;
    0x01, Primary, Unique32, get_unique_32;
    0x05, Primary, Client32, get_client_32;
    0x3a, Primary, WaitVblank32, wait_vblank_32;
}

table! {
    TABLE:
    0x00, Everybody, Version, version;
    0x01, Primary, Unique, get_unique;
    0x02, Primary, Auth, get_magic;
    0x05, Primary, Client, get_client;
    0x06, Primary, Stats, get_stats;
    0x07, Master, SetVersion, set_version;
    0x09, Everybody, GemClose, gem_close;
    0x0a, Primary, GemFlink, gem_flink;
    0x0b, Primary, GemOpen, gem_open;
    0x0c, Everybody, Cap, get_cap;
    0x0d, Primary, Cap, set_client_cap;
    0x11, Master, Auth, auth_magic;
    0x1e, Primary, Nothing, set_master;
    0x1f, Primary, Nothing, drop_master;
    0x2d, Everybody, PrimeHandle, prime_handle_to_fd;
    0x2e, Everybody, PrimeHandle, prime_fd_to_handle;
    0x3a, Primary, WaitVblank, wait_vblank;
    0x3b, Primary, GetSequence, get_sequence;
    0x3c, Primary, QueueSequence, queue_sequence;
    driver(number::SUBMIT_CL), Everybody, vc4::SubmitCl, submit_cl;
    driver(number::WAIT_SEQNO), Everybody, vc4::WaitSeqno, wait_seqno;
    driver(number::WAIT_BO), Everybody, vc4::WaitBo, wait_bo;
    driver(number::CREATE_BO), Everybody, vc4::CreateBo, create_bo;
    driver(number::MMAP_BO), Everybody, vc4::MmapBo, mmap_bo;
    driver(number::CREATE_SHADER_BO), Everybody, vc4::CreateShaderBo, create_shader_bo;
    driver(number::GET_HANG_STATE), Admin, vc4::GetHangState, get_hang_state;
    driver(number::GET_PARAM), Everybody, vc4::GetParam, get_param;
    driver(number::SET_TILING), Everybody, vc4::SetTiling, set_tiling;
    driver(number::GET_TILING), Everybody, vc4::GetTiling, get_tiling;
    driver(number::LABEL_BO), Everybody, vc4::LabelBo, label_bo;
    driver(number::GEM_MADVISE), Everybody, vc4::GemMadvise, gem_madvise;
    driver(number::PERFMON_CREATE), Everybody, vc4::PerfmonCreate, perfmon_create;
    driver(number::PERFMON_DESTROY), Everybody, vc4::PerfmonDestroy, perfmon_destroy;
    driver(number::PERFMON_GET_VALUES), Everybody, vc4::PerfmonGetValues, perfmon_get_values;
    0xa0, Primary, CardRes, get_resources;
    0xa1, Primary, Crtc, get_crtc;
    0xa2, Master, Crtc, set_crtc;
    0xa3, Master, Cursor, set_cursor;
    0xa4, Primary, Gamma, get_gamma;
    0xa5, Master, Gamma, set_gamma;
    0xa6, Primary, GetEncoder, get_encoder;
    0xa7, Primary, GetConnector, get_connector;
    0xa8, Master, Nothing, nothing;
    0xa9, Master, Nothing, nothing;
    0xaa, Primary, GetProperty, get_property;
    0xab, Master, SetProperty, set_connector_property;
    0xac, Primary, GetBlob, get_blob;
    0xad, Primary, FbCmd, get_fb;
    0xae, Primary, FbCmd, add_fb;
    0xaf, Primary, Id, rm_fb;
    0xb0, Master, PageFlip, page_flip;
    0xb1, Master, FbDirty, dirty_fb;
    0xb2, Primary, CreateDumb, create_dumb;
    0xb3, Primary, MapDumb, map_dumb;
    0xb4, Primary, DestroyDumb, destroy_dumb;
    0xb5, Primary, PlaneRes, get_plane_resources;
    0xb6, Primary, GetPlane, get_plane;
    0xb7, Master, SetPlane, set_plane;
    0xb8, Primary, FbCmd2, add_fb2;
    0xb9, Primary, ObjGetProperties, get_obj_properties;
    0xba, Master, ObjSetProperty, set_obj_property;
    0xbb, Master, Cursor2, set_cursor2;
    0xbc, Master, Atomic, atomic;
    0xbd, Primary, CreateBlob, create_blob;
    0xbe, Primary, Id, destroy_blob;
    0xce, Primary, FbCmd2, get_fb2;
    0xbf, Everybody, SyncobjCreate, syncobj_create;
    0xc0, Everybody, SyncobjDestroy, syncobj_destroy;
    0xc1, Everybody, SyncobjHandle, syncobj_handle_to_fd;
    0xc2, Everybody, SyncobjHandle, syncobj_fd_to_handle;
    0xc3, Everybody, SyncobjWait, syncobj_wait;
    0xc4, Everybody, SyncobjArray, syncobj_reset;
    0xc5, Everybody, SyncobjArray, syncobj_signal;
}

/// The number of an ioctl by its name in small letters, without what all names begin with: `submit_cl`, `gem_close`.
pub fn call_number(name: &str) -> Option<u8> {
    TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.number)
}

/// Calls that the core knows and this device lacks: timeline syncobjs, then leases.
fn unsupported(number: u8) -> Option<Access> {
    match number {
        0xca..=0xcd => Some(Access::Everybody),
        0xc6..=0xc9 => Some(Access::Primary),
        _ => None,
    }
}

impl File {
    /// Answers an ioctl of this file.
    ///
    /// # Errors
    /// The kernel's errno.
    pub fn ioctl(&self, request: u32, arg: u64, process: &dyn Process) -> Answer {
        let request = Request(request);
        if request.kind() != DRM_IOCTL_TYPE {
            return Err(Errno::ENOTTY);
        }
        let numbered = |entry: &&Entry| entry.number == request.number();
        let short = TABLE_32.iter().filter(numbered).find(|entry| entry.size == request.size());
        let Some(entry) = short.or_else(|| TABLE.iter().find(numbered)) else {
            let access = unsupported(request.number()).ok_or(Errno::EINVAL)?;
            return self.permit(access, process).and(Err(Errno::EOPNOTSUPP));
        };
        self.permit(entry.access, process)?;
        // Words, so that every struct is aligned.
        request.with::<[u64; MAX_SIZE / 8]>(arg, process, |words| {
            (entry.handler)(self, &mut bytemuck::cast_slice_mut(words)[..entry.size], process)
        })
    }

    fn permit(&self, access: Access, process: &dyn Process) -> Answer {
        let may = match access {
            Access::Everybody => true,
            Access::Primary => self.node == Node::Primary,
            Access::Master => self.node == Node::Primary && self.is_master(),
            Access::Admin => self.node == Node::Primary && process.is_admin(),
        };
        if may { Ok(()) } else { Err(Errno::EACCES) }
    }
}
