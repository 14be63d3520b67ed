//! Memory that devices share by file descriptor: what one writes the others see, and each lives as long as it wants.

mod support;

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::vk;
use support::Vk;

const OPAQUE: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
const SIZE: u64 = 8192;

fn sharing() -> Vk {
    Vk::with(&[
        c"VK_KHR_external_memory",
        c"VK_KHR_external_memory_fd",
        c"VK_EXT_external_memory_dma_buf",
        c"VK_KHR_get_memory_requirements2",
        c"VK_KHR_dedicated_allocation",
    ])
}

fn exportable(vk: &Vk, ty: vk::ExternalMemoryHandleTypeFlags) -> vk::DeviceMemory {
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(ty);
    let info = vk::MemoryAllocateInfo::default().allocation_size(SIZE).push_next(&mut export);
    // SAFETY: valid usage.
    unsafe { vk.device.allocate_memory(&info, None) }.unwrap()
}

fn export(
    vk: &Vk,
    memory: vk::DeviceMemory,
    ty: vk::ExternalMemoryHandleTypeFlags,
) -> Result<OwnedFd, vk::Result> {
    let functions = ash::khr::external_memory_fd::Device::new(&vk.instance, &vk.device);
    let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(ty);
    // SAFETY: valid usage, or refused; the descriptor is new and ours.
    unsafe { functions.get_memory_fd(&info).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// Imports what `fd` leads to; a success takes the descriptor over.
fn import(
    vk: &Vk,
    fd: OwnedFd,
    ty: vk::ExternalMemoryHandleTypeFlags,
    size: u64,
) -> Result<vk::DeviceMemory, (OwnedFd, vk::Result)> {
    let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(ty).fd(fd.as_raw_fd());
    let info = vk::MemoryAllocateInfo::default().allocation_size(size).push_next(&mut import);
    // SAFETY: valid usage, or refused.
    match unsafe { vk.device.allocate_memory(&info, None) } {
        Ok(memory) => {
            let _ = fd.into_raw_fd();
            Ok(memory)
        }
        Err(error) => Err((fd, error)),
    }
}

fn map(vk: &Vk, memory: vk::DeviceMemory) -> *mut u32 {
    // SAFETY: valid usage.
    unsafe { vk.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()) }.unwrap().cast()
}

/// Lets the queue fill the memory with a word.
fn fill(vk: &Vk, memory: vk::DeviceMemory, word: u32) {
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(OPAQUE | DMA_BUF);
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(SIZE).usage(usage).push_next(&mut external);
    // SAFETY: valid usage.
    unsafe {
        let buffer = vk.device.create_buffer(&info, None).unwrap();
        vk.device.bind_buffer_memory(buffer, memory, 0).unwrap();
        vk.run(|device, commands| device.cmd_fill_buffer(commands, buffer, 0, SIZE, word));
        vk.device.destroy_buffer(buffer, None);
    }
}

#[test]
fn what_one_device_writes_the_others_see() {
    let (a, b) = (sharing(), sharing());
    for ty in [OPAQUE, DMA_BUF] {
        let memory = exportable(&a, ty);
        let words = map(&a, memory);
        // SAFETY: the memory is mapped.
        unsafe { words.write(41) };
        let same = import(&a, export(&a, memory, ty).unwrap(), ty, SIZE).unwrap();
        let other = import(&b, export(&a, memory, ty).unwrap(), ty, SIZE).unwrap();
        let [same_words, other_words] = [map(&a, same), map(&b, other)];
        // SAFETY: all are mapped, and queues are idle between the calls.
        unsafe {
            assert_eq!((same_words.read(), other_words.read()), (41, 41));
            fill(&b, other, 42);
            assert_eq!((words.read(), words.add(2047).read(), same_words.read()), (42, 42, 42));
            fill(&a, same, 43);
            assert_eq!((words.read(), other_words.add(2047).read()), (43, 43));
            // An import passes on, and outlives what it came from.
            let third = import(&b, export(&b, other, ty).unwrap(), ty, SIZE).unwrap();
            a.device.free_memory(memory, None);
            fill(&a, same, 44);
            a.device.free_memory(same, None);
            b.device.free_memory(other, None);
            let third_words = map(&b, third);
            assert_eq!(third_words.read(), 44);
            fill(&b, third, 45);
            assert_eq!(third_words.add(2047).read(), 45);
            b.device.free_memory(third, None);
        }
    }
}

#[test]
fn handles_come_and_go_in_any_order() {
    let vk = sharing();
    let mut live = Vec::new();
    let first = exportable(&vk, DMA_BUF);
    // SAFETY: the memory is mapped.
    unsafe { map(&vk, first).write(7) };
    live.push(first);
    for round in 0..64usize {
        let from = live[round * 7 % live.len()];
        let fd = export(&vk, from, DMA_BUF).unwrap();
        live.push(import(&vk, fd, DMA_BUF, SIZE).unwrap());
        if round % 3 != 0 {
            let memory = live.swap_remove(round * 5 % live.len());
            // SAFETY: nobody uses it.
            unsafe { vk.device.free_memory(memory, None) };
        }
        let last = *live.last().unwrap();
        // SAFETY: mapped while it is read.
        unsafe {
            vk.device.unmap_memory(last);
            assert_eq!(map(&vk, last).read(), 7);
            vk.device.unmap_memory(last);
        }
    }
}

#[test]
fn a_failed_import_leaves_the_descriptor_alone() {
    let vk = sharing();
    let null = || OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    let wrong = Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
    let result = |result: Result<vk::DeviceMemory, (OwnedFd, vk::Result)>| {
        // That the descriptor is still ours to close is checked by closing it.
        result.map(|_| ()).map_err(|(fd, error)| {
            std::fs::File::from(fd).metadata().expect("still open");
            error
        })
    };
    assert_eq!(result(import(&vk, null(), DMA_BUF, SIZE)), wrong);
    assert_eq!(result(import(&vk, null(), OPAQUE, SIZE)), wrong);
    assert_eq!(result(import(&vk, null(), vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32, SIZE)), wrong);
    let fd = export(&vk, exportable(&vk, OPAQUE), OPAQUE).unwrap();
    assert_eq!(result(import(&vk, fd, OPAQUE, 2 * SIZE)), wrong);
    let functions = ash::khr::external_memory_fd::Device::new(&vk.instance, &vk.device);
    let ask = |fd: i32| {
        let mut properties = vk::MemoryFdPropertiesKHR::default();
        // SAFETY: valid usage, or refused.
        unsafe { functions.get_memory_fd_properties(DMA_BUF, fd, &mut properties) }
            .map(|()| properties.memory_type_bits)
    };
    let fd = export(&vk, exportable(&vk, DMA_BUF), DMA_BUF).unwrap();
    assert_eq!(ask(fd.as_raw_fd()), Ok(0b1000));
    assert_eq!(ask(null().as_raw_fd()), Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
    assert_eq!(ask(-1), Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE));
}

#[test]
fn memory_that_may_share_a_bo_is_not_exported() {
    let vk = sharing();
    let info = vk::MemoryAllocateInfo::default().allocation_size(SIZE);
    // SAFETY: valid usage but for the export.
    let memory = unsafe { vk.device.allocate_memory(&info, None) }.unwrap();
    assert!(export(&vk, memory, OPAQUE).is_err());
}

#[test]
fn capabilities_say_what_works() {
    let vk = Vk::new();
    let entry = ash::StaticFn { get_instance_proc_addr: vulkan_vc4::entry::vk_icdGetInstanceProcAddr };
    let names =
        [c"VK_KHR_external_memory_capabilities".as_ptr(), c"VK_KHR_get_physical_device_properties2".as_ptr()];
    // SAFETY: valid usage.
    unsafe {
        let entry = ash::Entry::from_static_fn(entry);
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
        let instance = entry.create_instance(&info, None).unwrap();
        let physical = instance.enumerate_physical_devices().unwrap()[0];
        let capabilities = ash::khr::external_memory_capabilities::Instance::new(&entry, &instance);
        let properties2 = ash::khr::get_physical_device_properties2::Instance::new(&entry, &instance);
        let both = vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        for (ty, features) in [
            (OPAQUE, both),
            (DMA_BUF, both),
            (vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32, vk::ExternalMemoryFeatureFlags::empty()),
        ] {
            let usage = vk::BufferUsageFlags::VERTEX_BUFFER;
            let info = vk::PhysicalDeviceExternalBufferInfo::default().handle_type(ty).usage(usage);
            let mut answer = vk::ExternalBufferProperties::default();
            (capabilities.fp().get_physical_device_external_buffer_properties_khr)(
                physical,
                &info,
                &mut answer,
            );
            assert_eq!(answer.external_memory_properties.external_memory_features, features, "{ty:?}");
            assert!(answer.external_memory_properties.compatible_handle_types.contains(ty));
        }
        let image = |ty, tiling| {
            let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(ty);
            let info = vk::PhysicalDeviceImageFormatInfo2::default()
                .format(vk::Format::R8G8B8A8_UNORM)
                .ty(vk::ImageType::TYPE_2D)
                .tiling(tiling)
                .usage(vk::ImageUsageFlags::TRANSFER_SRC)
                .push_next(&mut external);
            let mut answer = vk::ExternalImageFormatProperties::default();
            let mut out = vk::ImageFormatProperties2::default().push_next(&mut answer);
            properties2
                .get_physical_device_image_format_properties2(physical, &info, &mut out)
                .map(|()| answer.external_memory_properties.external_memory_features)
        };
        assert_eq!(image(OPAQUE, vk::ImageTiling::OPTIMAL), Ok(both));
        assert_eq!(image(DMA_BUF, vk::ImageTiling::LINEAR), Ok(both));
        // Who gets a dma-buf cannot know how such an image lies.
        assert_eq!(image(DMA_BUF, vk::ImageTiling::OPTIMAL), Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
        let mut id = vk::PhysicalDeviceIDProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
        properties2.get_physical_device_properties2(physical, &mut properties);
        assert_ne!((id.device_uuid, id.driver_uuid), Default::default());
        assert_eq!(id.device_luid_valid, vk::FALSE);
        instance.destroy_instance(None);
    }
    drop(vk);
}
