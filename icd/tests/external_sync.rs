//! Fences and semaphores that devices share by file descriptor.

mod support;

use std::ffi::{CStr, c_int};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::vk;
use support::Vk;

const INVALID: vk::Result = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
const MISUSE: vk::Result = vk::Result::ERROR_VALIDATION_FAILED_EXT;
const EXTENSIONS: [&CStr; 5] = [
    c"VK_KHR_external_fence",
    c"VK_KHR_external_fence_fd",
    c"VK_KHR_external_semaphore",
    c"VK_KHR_external_semaphore_fd",
    c"VK_KHR_timeline_semaphore",
];
type FenceType = vk::ExternalFenceHandleTypeFlags;
type SemaphoreType = vk::ExternalSemaphoreHandleTypeFlags;

/// A device and what it does with descriptors.
struct Side {
    vk: Vk,
    fences: ash::khr::external_fence_fd::Device,
    semaphores: ash::khr::external_semaphore_fd::Device,
}

impl Side {
    fn new() -> Side {
        let vk = Vk::with(&EXTENSIONS);
        let fences = ash::khr::external_fence_fd::Device::new(&vk.instance, &vk.device);
        let semaphores = ash::khr::external_semaphore_fd::Device::new(&vk.instance, &vk.device);
        Side { vk, fences, semaphores }
    }

    fn fence(&self, types: FenceType) -> vk::Fence {
        let mut export = vk::ExportFenceCreateInfo::default().handle_types(types);
        let info = vk::FenceCreateInfo::default().push_next(&mut export);
        // SAFETY: valid usage.
        unsafe { self.vk.device.create_fence(&info, None) }.unwrap()
    }

    fn semaphore(&self, types: SemaphoreType) -> vk::Semaphore {
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(types);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut export);
        // SAFETY: valid usage.
        unsafe { self.vk.device.create_semaphore(&info, None) }.unwrap()
    }

    fn fence_fd(&self, fence: vk::Fence, ty: FenceType) -> Result<c_int, vk::Result> {
        let info = vk::FenceGetFdInfoKHR::default().fence(fence).handle_type(ty);
        // SAFETY: valid usage, or refused.
        unsafe { self.fences.get_fence_fd(&info) }
    }

    fn semaphore_fd(&self, semaphore: vk::Semaphore, ty: SemaphoreType) -> Result<c_int, vk::Result> {
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(ty);
        // SAFETY: valid usage, or refused.
        unsafe { self.semaphores.get_semaphore_fd(&info) }
    }

    fn import_fence(
        &self,
        fence: vk::Fence,
        fd: c_int,
        ty: FenceType,
        flags: vk::FenceImportFlags,
    ) -> Result<(), vk::Result> {
        let info = vk::ImportFenceFdInfoKHR::default().fence(fence).fd(fd).handle_type(ty).flags(flags);
        // SAFETY: valid usage, or refused.
        unsafe { self.fences.import_fence_fd(&info) }
    }

    fn import_semaphore(
        &self,
        semaphore: vk::Semaphore,
        fd: c_int,
        ty: SemaphoreType,
        flags: vk::SemaphoreImportFlags,
    ) -> Result<(), vk::Result> {
        let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(semaphore).fd(fd);
        // SAFETY: valid usage, or refused.
        unsafe { self.semaphores.import_semaphore_fd(&info.handle_type(ty).flags(flags)) }
    }

    /// An empty batch between semaphores.
    fn submit(&self, waits: &[vk::Semaphore], signals: &[vk::Semaphore], fence: vk::Fence) {
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let info = vk::SubmitInfo::default()
            .wait_semaphores(waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(signals);
        // SAFETY: valid usage.
        unsafe { self.vk.device.queue_submit(self.vk.queue, &[info], fence) }.unwrap();
    }

    fn wait(&self, fence: vk::Fence, timeout: u64) -> Result<(), vk::Result> {
        // SAFETY: valid usage.
        unsafe { self.vk.device.wait_for_fences(&[fence], true, timeout) }
    }
}

#[test]
fn a_semaphore_orders_the_queues_of_two_devices() {
    let (here, there) = (Side::new(), Side::new());
    let signal = here.semaphore(SemaphoreType::OPAQUE_FD);
    let wait = there.semaphore(SemaphoreType::empty());
    let fd = here.semaphore_fd(signal, SemaphoreType::OPAQUE_FD).unwrap();
    there.import_semaphore(wait, fd, SemaphoreType::OPAQUE_FD, Default::default()).unwrap();
    for _ in 0..3 {
        let done = there.fence(FenceType::empty());
        there.submit(&[wait], &[], done);
        assert_eq!(there.wait(done, 3_000_000), Err(vk::Result::TIMEOUT));
        here.submit(&[], &[signal], vk::Fence::null());
        there.wait(done, u64::MAX).unwrap();
    }
    // In its own queue it is a semaphore like any other.
    let done = here.fence(FenceType::empty());
    here.submit(&[], &[signal], vk::Fence::null());
    here.submit(&[signal], &[], done);
    here.wait(done, u64::MAX).unwrap();
}

#[test]
fn a_fence_is_seen_from_two_devices() {
    let (here, there) = (Side::new(), Side::new());
    let fence = here.fence(FenceType::OPAQUE_FD);
    let seen = there.fence(FenceType::empty());
    let fd = here.fence_fd(fence, FenceType::OPAQUE_FD).unwrap();
    there.import_fence(seen, fd, FenceType::OPAQUE_FD, Default::default()).unwrap();
    assert_eq!(there.wait(seen, 2_000_000), Err(vk::Result::TIMEOUT));
    here.submit(&[], &[], fence);
    there.wait(seen, u64::MAX).unwrap();
    // SAFETY: valid usage.
    unsafe {
        assert!(there.vk.device.get_fence_status(seen).unwrap());
        there.vk.device.reset_fences(&[seen]).unwrap();
        assert!(!here.vk.device.get_fence_status(fence).unwrap());
        // Any of several, one of them here alone.
        let own = there.fence(FenceType::empty());
        here.submit(&[], &[], fence);
        there.vk.device.wait_for_fences(&[own, seen], false, u64::MAX).unwrap();
    }
}

#[test]
fn a_sync_file_is_signalled_when_it_is_handed_out() {
    let side = Side::new();
    let (fence, semaphore) = (side.fence(FenceType::SYNC_FD), side.semaphore(SemaphoreType::SYNC_FD));
    side.submit(&[], &[semaphore], fence);
    let files = [
        side.fence_fd(fence, FenceType::SYNC_FD).unwrap(),
        side.semaphore_fd(semaphore, SemaphoreType::SYNC_FD).unwrap(),
    ];
    // Any number of waits find them so.
    let temporary = vk::SemaphoreImportFlags::TEMPORARY;
    for fd in files {
        // SAFETY: a descriptor that was handed to us.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        for _ in 0..2 {
            let done = side.fence(FenceType::empty());
            let copy = file.try_clone().unwrap().into_raw_fd();
            side.import_semaphore(semaphore, copy, SemaphoreType::SYNC_FD, temporary).unwrap();
            side.submit(&[semaphore], &[], done);
            side.wait(done, u64::MAX).unwrap();
        }
    }
    // Handing it out resets the fence.
    assert_eq!(side.wait(fence, 0), Err(vk::Result::TIMEOUT));
    let (fences, semaphores) = (vk::FenceImportFlags::TEMPORARY, vk::SemaphoreImportFlags::TEMPORARY);
    // Without the flag, which the specification wants, it is for a time all the same.
    for flags in [fences, vk::FenceImportFlags::empty()] {
        side.import_fence(fence, -1, FenceType::SYNC_FD, flags).unwrap();
        side.wait(fence, 0).unwrap();
        // SAFETY: valid usage.
        unsafe { side.vk.device.reset_fences(&[fence]) }.unwrap();
        assert_eq!(side.wait(fence, 0), Err(vk::Result::TIMEOUT));
    }
    side.import_semaphore(semaphore, -1, SemaphoreType::SYNC_FD, semaphores).unwrap();
    let done = side.fence(FenceType::empty());
    side.submit(&[semaphore], &[], done);
    side.wait(done, u64::MAX).unwrap();
}

#[test]
fn files_of_others_are_waited_for() {
    let side = Side::new();
    let (semaphore, done) = (side.semaphore(SemaphoreType::empty()), side.fence(FenceType::empty()));
    let (read, mut write) = std::io::pipe().unwrap();
    let flags = vk::SemaphoreImportFlags::TEMPORARY;
    let fd = OwnedFd::from(read).into_raw_fd();
    side.import_semaphore(semaphore, fd, SemaphoreType::SYNC_FD, flags).unwrap();
    side.submit(&[semaphore], &[], done);
    assert_eq!(side.wait(done, 2_000_000), Err(vk::Result::TIMEOUT));
    write.write_all(&[1]).unwrap();
    side.wait(done, u64::MAX).unwrap();
    // Behind the wait the semaphore is itself again.
    // SAFETY: valid usage.
    unsafe { side.vk.device.reset_fences(&[done]) }.unwrap();
    side.submit(&[], &[semaphore], vk::Fence::null());
    side.submit(&[semaphore], &[], done);
    side.wait(done, u64::MAX).unwrap();
}

#[test]
fn what_cannot_be_shared_is_refused_and_its_descriptor_stays_the_application_s() {
    let side = Side::new();
    let (fence, semaphore) = (side.fence(FenceType::empty()), side.semaphore(SemaphoreType::empty()));
    assert_eq!(side.fence_fd(fence, FenceType::OPAQUE_FD), Err(MISUSE));
    assert_eq!(side.fence_fd(fence, FenceType::SYNC_FD), Err(MISUSE));
    assert_eq!(side.semaphore_fd(semaphore, SemaphoreType::OPAQUE_FD), Err(MISUSE));
    assert_eq!(side.semaphore_fd(semaphore, SemaphoreType::SYNC_FD), Err(MISUSE));
    assert_eq!(side.fence_fd(fence, FenceType::OPAQUE_WIN32), Err(INVALID));
    let none = vk::FenceImportFlags::empty();
    let temporary = vk::SemaphoreImportFlags::TEMPORARY;
    for fd in [-1, -7, c_int::MAX] {
        assert_eq!(side.import_fence(fence, fd, FenceType::OPAQUE_FD, none), Err(INVALID), "{fd}");
    }
    let file = OwnedFd::from(std::fs::File::open("/proc/self/exe").unwrap());
    let fd = file.as_raw_fd();
    assert_eq!(side.import_fence(fence, fd, FenceType::OPAQUE_FD, none), Err(INVALID));
    assert_eq!(side.import_semaphore(semaphore, fd, SemaphoreType::SYNC_FD, temporary), Err(INVALID));
    assert_eq!(side.import_semaphore(semaphore, fd, SemaphoreType::empty(), temporary), Err(INVALID));
    // SAFETY: a number.
    assert!(unsafe { libc_is_open(fd) });

    let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SemaphoreType::OPAQUE_FD);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty).push_next(&mut export);
    // SAFETY: refused.
    assert_eq!(unsafe { side.vk.device.create_semaphore(&info, None) }, Err(INVALID));
    let mut export = vk::ExportFenceCreateInfo::default().handle_types(FenceType::OPAQUE_WIN32);
    let info = vk::FenceCreateInfo::default().push_next(&mut export);
    // SAFETY: refused.
    assert_eq!(unsafe { side.vk.device.create_fence(&info, None) }, Err(INVALID));
}

/// Whether a descriptor is open.
///
/// # Safety
/// Borrows it for a moment.
unsafe fn libc_is_open(fd: c_int) -> bool {
    // SAFETY: by the contract; the descriptor is not closed.
    let file = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
    file.metadata().is_ok()
}

#[test]
fn what_can_be_shared_is_told() {
    let functions = ash::StaticFn { get_instance_proc_addr: vulkan_vc4::entry::vk_icdGetInstanceProcAddr };
    let _simulated = Vk::new();
    let names = [
        ash::khr::external_fence_capabilities::NAME.as_ptr(),
        ash::khr::external_semaphore_capabilities::NAME.as_ptr(),
        ash::khr::device_group_creation::NAME.as_ptr(),
    ];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    // SAFETY: valid usage but for the group of a device that is not there.
    unsafe {
        let entry = ash::Entry::from_static_fn(functions);
        let instance = entry.create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let fences = ash::khr::external_fence_capabilities::Instance::new(&entry, &instance);
        let semaphores = ash::khr::external_semaphore_capabilities::Instance::new(&entry, &instance);
        let fence = |ty| {
            let mut out = vk::ExternalFenceProperties::default();
            let info = vk::PhysicalDeviceExternalFenceInfo::default().handle_type(ty);
            (fences.fp().get_physical_device_external_fence_properties_khr)(physical, &info, &mut out);
            (out.external_fence_features.as_raw(), out.export_from_imported_handle_types)
        };
        assert_eq!(fence(FenceType::OPAQUE_FD), (3, FenceType::OPAQUE_FD | FenceType::SYNC_FD));
        assert_eq!(fence(FenceType::SYNC_FD), (3, FenceType::SYNC_FD));
        assert_eq!(fence(FenceType::OPAQUE_WIN32), (0, FenceType::empty()));
        let semaphore = |ty, semaphore_type| {
            let mut out = vk::ExternalSemaphoreProperties::default();
            let mut chained = vk::SemaphoreTypeCreateInfo::default().semaphore_type(semaphore_type);
            let info = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(ty);
            let info = info.push_next(&mut chained);
            (semaphores.fp().get_physical_device_external_semaphore_properties_khr)(
                physical, &info, &mut out,
            );
            out.external_semaphore_features.as_raw()
        };
        assert_eq!(semaphore(SemaphoreType::SYNC_FD, vk::SemaphoreType::BINARY), 3);
        assert_eq!(semaphore(SemaphoreType::OPAQUE_FD, vk::SemaphoreType::TIMELINE), 0);

        let groups = ash::khr::device_group_creation::Instance::new(&entry, &instance);
        assert_eq!(groups.enumerate_physical_device_groups_len().unwrap(), 1);
        let mut group = [vk::PhysicalDeviceGroupProperties::default()];
        groups.enumerate_physical_device_groups(&mut group).unwrap();
        assert_eq!((group[0].physical_device_count, group[0].physical_devices[0]), (1, physical));
        let create = |devices: &[vk::PhysicalDevice]| {
            let mut group = vk::DeviceGroupDeviceCreateInfo::default().physical_devices(devices);
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut group);
            instance.create_device(physical, &info, None).map(|device| device.destroy_device(None))
        };
        assert_eq!(create(&[physical]), Ok(()));
        assert_eq!(create(&[physical, physical]), Err(MISUSE));
        instance.destroy_instance(None);
    }
}
