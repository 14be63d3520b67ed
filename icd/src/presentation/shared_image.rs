//! An image of a swapchain as others see it: a dma-buf, and how pixels lie in it.

use std::os::fd::{AsRawFd, OwnedFd};

use ash::vk;
use drm::buffer::DrmFourcc;
use vc4::image::Tiling;
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};

use crate::foundation::error::Error;
use crate::objects::device::Device;
use crate::objects::image::Image;

/// The file system that dma-bufs are files of (linux/magic.h).
const DMA_BUF_MAGIC: u32 = u32::from_be_bytes(*b"DMAB");

/// An image that others can show.
#[derive(Debug)]
pub(super) struct SharedImage {
    /// Its BO.
    pub fd: OwnedFd,
    /// Where in the BO it begins.
    pub offset: u32,
    /// Bytes of a row; of tiled images, of a row of pixels with the padding of whole tiles.
    pub stride: u32,
    /// How pixels lie in it.
    pub modifier: u64,
    /// Size in pixels.
    pub extent: vk::Extent2D,
    /// What its pixels are.
    pub format: DrmFourcc,
}

/// The modifier of an image; `None` for layouts that have no name outside of the driver.
pub(super) fn modifier_of(image: &Image) -> Option<u64> {
    match image.layout().level(0, 0)?.tiling {
        Tiling::Raster => Some(MODIFIER_LINEAR),
        Tiling::T => Some(MODIFIER_T_TILED),
        Tiling::Lt => None,
    }
}

impl SharedImage {
    /// A swapchain's image, whose pixels are of `format` for others.
    pub fn new(device: &Device, image: &Image, format: DrmFourcc) -> Result<SharedImage, Error> {
        let unnamed = || Error::unsupported("sharing an image of this layout", "let pictures be copied");
        let modifier = modifier_of(image).ok_or_else(unnamed)?;
        let (binding, level) = (image.binding()?, image.level(0, 0)?);
        let fd = device.physical().shared_bos().export(&binding.bo)?;
        device.gpu().set_tiling(binding.bo.handle(), modifier);
        let vk::Extent3D { width, height, .. } = image.extent();
        let extent = vk::Extent2D { width, height };
        Ok(SharedImage { fd, offset: level.offset, stride: level.stride, modifier, extent, format })
    }

    /// Whether it is a dma-buf, whose readers the kernel has wait for the jobs that write to it. What simulators share is plain
    /// memory.
    pub fn is_waited_for(&self) -> bool {
        // SAFETY: plain data, which the call fills.
        let mut about: libc::statfs = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the structure is ours.
        let asked = unsafe { libc::fstatfs(self.fd.as_raw_fd(), &raw mut about) };
        asked == 0 && about.f_type as u32 == DMA_BUF_MAGIC
    }

    /// How pixels lie, for people.
    pub fn layout(&self) -> &'static str {
        if self.modifier == MODIFIER_LINEAR { "rows" } else { "tiles" }
    }
}
