//! VK_KHR_external_fence, VK_KHR_external_semaphore and what they consist of.
//!
//! States that are shared are eventfds, which need nothing of the kernel's driver: an opaque descriptor is one. Where a
//! sync file is asked for, what it stands for is waited for, and the answer is one that is signalled: the kernel's, as many
//! programs take the -1 that would do for an error. Sync files of others are waited for like any other descriptor.

use std::ffi::c_int;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};

use ash::vk;

use super::guard::entry_points;
use super::read::extension;
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::get;
use crate::foundation::shared_flag::SharedFlag;
use crate::objects::semaphore::{Binary, Semaphore};
use crate::objects::sync::{self, Fence};

/// Stands for the descriptor of a sync file that is signalled.
const SIGNALLED: c_int = -1;

/// What a descriptor is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Opaque,
    SyncFile,
}

impl Type {
    /// Whether what is imported stands for the state only for a time, whatever the application says: a sync file stays
    /// signalled once it is.
    fn is_temporary(self) -> bool {
        self == Type::SyncFile
    }
}

/// The descriptor of a sync file that is signalled.
fn signalled(device: &OpenDevice) -> c_int {
    device.gpu().signalled_sync_file().map_or(SIGNALLED, IntoRawFd::into_raw_fd)
}

fn unknown(what: &str) -> Error {
    Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, format!("{what}: no such handle type"))
}

fn fence_type(ty: vk::ExternalFenceHandleTypeFlags) -> Result<Type, Error> {
    match ty {
        vk::ExternalFenceHandleTypeFlags::OPAQUE_FD => Ok(Type::Opaque),
        vk::ExternalFenceHandleTypeFlags::SYNC_FD => Ok(Type::SyncFile),
        _ => Err(unknown(&format!("a fence by {ty:?}"))),
    }
}

fn semaphore_type(ty: vk::ExternalSemaphoreHandleTypeFlags) -> Result<Type, Error> {
    match ty {
        vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD => Ok(Type::Opaque),
        vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD => Ok(Type::SyncFile),
        _ => Err(unknown(&format!("a semaphore by {ty:?}"))),
    }
}

/// Reads a descriptor of that type and gives it to `import`; only a success takes the descriptor over.
///
/// # Safety
/// The descriptor is the application's to give, or none.
unsafe fn read(ty: Type, fd: c_int) -> Result<SharedFlag, Error> {
    if ty == Type::SyncFile && fd == SIGNALLED {
        return SharedFlag::new(true);
    }
    // SAFETY: takes a number.
    if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
        let why = format!("the file descriptor {fd}");
        return Err(Error::Result(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE, why));
    }
    // SAFETY: the descriptor is open and handed over by the contract.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let flag = match ty {
        Type::Opaque => SharedFlag::import(fd),
        Type::SyncFile => SharedFlag::of_sync_file(fd),
    };
    flag.map_err(|(fd, error)| {
        let _ = fd.into_raw_fd();
        error
    })
}

/// Timelines cannot be shared: their numbers are this process' own.
fn binary(semaphore: &Semaphore) -> Result<&Binary, Error> {
    match semaphore {
        Semaphore::Binary(binary) => Ok(binary),
        Semaphore::Timeline(_) => Err(Error::InvalidUse("a descriptor of a timeline semaphore".into())),
    }
}

/// The fence that a creation asks for.
///
/// # Safety
/// The structure is valid.
pub(super) unsafe fn new_fence(device: &OpenDevice, info: &vk::FenceCreateInfo<'_>) -> Result<Fence, Error> {
    // SAFETY: by the contract.
    let export = unsafe { extension::<vk::ExportFenceCreateInfo<'_>>(info.p_next) };
    let types = export.map_or(vk::ExternalFenceHandleTypeFlags::empty(), |export| export.handle_types);
    let known = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD | vk::ExternalFenceHandleTypeFlags::SYNC_FD;
    match types {
        none if none.is_empty() => Ok(Fence::new(device, info.flags)),
        types if known.contains(types) => Fence::shared(device, info.flags),
        types => Err(unknown(&format!("a fence for {types:?}"))),
    }
}

/// The semaphore that a creation asks for.
///
/// # Safety
/// The structure is valid.
pub(super) unsafe fn new_semaphore(
    device: &OpenDevice,
    info: &vk::SemaphoreCreateInfo<'_>,
) -> Result<Semaphore, Error> {
    // SAFETY: by the contract.
    let (ty, export) = unsafe {
        let ty = extension::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
        (ty, extension::<vk::ExportSemaphoreCreateInfo<'_>>(info.p_next))
    };
    let types = export.map_or(vk::ExternalSemaphoreHandleTypeFlags::empty(), |export| export.handle_types);
    let known =
        vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD | vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
    let timeline = ty.filter(|ty| ty.semaphore_type == vk::SemaphoreType::TIMELINE);
    match (timeline, types) {
        (Some(timeline), types) if types.is_empty() => {
            Ok(Semaphore::timeline(device, timeline.initial_value))
        }
        (None, types) if types.is_empty() => Ok(Semaphore::binary(device)),
        (None, types) if known.contains(types) => Semaphore::shared(device),
        (_, types) => Err(unknown(&format!("a semaphore for {types:?}"))),
    }
}

entry_points! {
    fn vkGetPhysicalDeviceExternalFencePropertiesKHR(
        _device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceExternalFenceInfo<'_>,
        out: *mut vk::ExternalFenceProperties<'_>,
    ) {
        let both = vk::ExternalFenceHandleTypeFlags::OPAQUE_FD | vk::ExternalFenceHandleTypeFlags::SYNC_FD;
        let out = &mut *out;
        (out.export_from_imported_handle_types, out.compatible_handle_types) = Default::default();
        out.external_fence_features = Default::default();
        if let Ok(ty) = fence_type((*info).handle_type) {
            out.export_from_imported_handle_types = match ty {
                Type::Opaque => both,
                Type::SyncFile => vk::ExternalFenceHandleTypeFlags::SYNC_FD,
            };
            out.compatible_handle_types = both;
            out.external_fence_features =
                vk::ExternalFenceFeatureFlags::EXPORTABLE | vk::ExternalFenceFeatureFlags::IMPORTABLE;
        }
    }

    fn vkGetPhysicalDeviceExternalSemaphorePropertiesKHR(
        _device: vk::PhysicalDevice,
        info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
        out: *mut vk::ExternalSemaphoreProperties<'_>,
    ) {
        let both =
            vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD | vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
        let (info, out) = (&*info, &mut *out);
        (out.export_from_imported_handle_types, out.compatible_handle_types) = Default::default();
        out.external_semaphore_features = Default::default();
        let ty = extension::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next);
        let is_timeline = ty.is_some_and(|ty| ty.semaphore_type == vk::SemaphoreType::TIMELINE);
        if let (Ok(ty), false) = (semaphore_type(info.handle_type), is_timeline) {
            out.export_from_imported_handle_types = match ty {
                Type::Opaque => both,
                Type::SyncFile => vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD,
            };
            out.compatible_handle_types = both;
            out.external_semaphore_features =
                vk::ExternalSemaphoreFeatureFlags::EXPORTABLE | vk::ExternalSemaphoreFeatureFlags::IMPORTABLE;
        }
    }

    fn vkImportFenceFdKHR(_device: vk::Device, info: *const vk::ImportFenceFdInfoKHR<'_>) -> vk::Result {
        let (info, ty) = (&*info, fence_type((*info).handle_type)?);
        let temporary = ty.is_temporary() || info.flags.contains(vk::FenceImportFlags::TEMPORARY);
        get::<Fence>(info.fence).import(read(ty, info.fd)?, temporary);
        Ok(())
    }

    fn vkGetFenceFdKHR(
        device: vk::Device,
        info: *const vk::FenceGetFdInfoKHR<'_>,
        out: *mut c_int,
    ) -> vk::Result {
        let fence = get::<Fence>((*info).fence);
        out.write(match fence_type((*info).handle_type)? {
            Type::Opaque => fence.export()?.into_raw_fd(),
            Type::SyncFile if !fence.is_shared() => {
                let why = "a sync file of a fence that was not made to be exported";
                return Err(Error::InvalidUse(why.into()));
            }
            Type::SyncFile => {
                let fences = std::slice::from_ref(fence);
                let device = get::<OpenDevice>(device);
                sync::wait_for_fences(device, fences, true, u64::MAX).map(drop)?;
                fence.reset();
                signalled(device)
            }
        });
        Ok(())
    }

    fn vkImportSemaphoreFdKHR(
        _device: vk::Device,
        info: *const vk::ImportSemaphoreFdInfoKHR<'_>,
    ) -> vk::Result {
        let (info, ty) = (&*info, semaphore_type((*info).handle_type)?);
        let semaphore = binary(get::<Semaphore>(info.semaphore))?;
        let temporary = ty.is_temporary() || info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
        semaphore.import(read(ty, info.fd)?, temporary);
        Ok(())
    }

    fn vkGetSemaphoreFdKHR(
        device: vk::Device,
        info: *const vk::SemaphoreGetFdInfoKHR<'_>,
        out: *mut c_int,
    ) -> vk::Result {
        let semaphore = get::<Semaphore>((*info).semaphore);
        let binary = binary(semaphore)?;
        out.write(match semaphore_type((*info).handle_type)? {
            Type::Opaque => binary.export()?.into_raw_fd(),
            Type::SyncFile if !binary.is_shared() => {
                let why = "a sync file of a semaphore that was not made to be exported";
                return Err(Error::InvalidUse(why.into()));
            }
            Type::SyncFile => {
                let device = get::<OpenDevice>(device);
                semaphore.take(0).wait(device)?;
                signalled(device)
            }
        });
        Ok(())
    }
}
