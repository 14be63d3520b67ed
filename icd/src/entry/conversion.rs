//! VK_KHR_sampler_ycbcr_conversion.

use ash::vk;

use super::guard::entry_points;
use super::read::{destroy, give};
use crate::execution::open_device::OpenDevice;
use crate::foundation::handle::get;
use crate::objects::conversion::SamplerConversion;

entry_points! {
    fn vkCreateSamplerYcbcrConversionKHR(
        device: vk::Device,
        info: *const vk::SamplerYcbcrConversionCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::SamplerYcbcrConversion,
    ) -> vk::Result {
        out.write(vk::SamplerYcbcrConversion::null());
        let conversion = SamplerConversion::new(&*info)?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, conversion)
    }

    fn vkDestroySamplerYcbcrConversionKHR(
        _device: vk::Device,
        conversion: vk::SamplerYcbcrConversion,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<SamplerConversion>(conversion, callbacks);
    }
}
