#![no_main]
//! Programs of the API on the driver itself, without a loader; `VC4VK_DEVICE=noop` draws nothing and is fast.

use std::ffi::c_char;

use ash::vk;
use vulkan_vc4 as _;

unsafe extern "system" {
    fn vk_icdGetInstanceProcAddr(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let first = ash::StaticFn { get_instance_proc_addr: vk_icdGetInstanceProcAddr };
    // SAFETY: the function is the linked driver's.
    vc4_tests::api::work::fuzz(unsafe { ash::Entry::from_static_fn(first) }, bytes);
});
