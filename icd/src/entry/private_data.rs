//! VK_EXT_private_data: words that applications keep beside objects.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, give};
use crate::execution::open_device::OpenDevice;
use crate::foundation::handle::{get, get_private, set_private};
use crate::objects::private_slot::PrivateSlot;

entry_points! {
    fn vkCreatePrivateDataSlotEXT(
        device: vk::Device,
        _info: *const vk::PrivateDataSlotCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::PrivateDataSlot,
    ) -> vk::Result {
        give(get::<OpenDevice>(device).allocator(), callbacks, out, PrivateSlot::new())
    }

    fn vkDestroyPrivateDataSlotEXT(
        _device: vk::Device,
        slot: vk::PrivateDataSlot,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<PrivateSlot>(slot, callbacks);
    }

    fn vkSetPrivateDataEXT(
        _device: vk::Device,
        _ty: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        word: u64,
    ) -> vk::Result {
        set_private(object, get::<PrivateSlot>(slot).number(), word);
        Ok(())
    }

    fn vkGetPrivateDataEXT(
        _device: vk::Device,
        _ty: vk::ObjectType,
        object: u64,
        slot: vk::PrivateDataSlot,
        out: *mut u64,
    ) {
        out.write(get_private(object, get::<PrivateSlot>(slot).number()));
    }
}
