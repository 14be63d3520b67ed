//! VkSwapchainKHR: images that take turns between the application and the display.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use vc4_kernel_abi::Seqno;

use super::pool::Pool;
use super::presenter::{Conversion, Frame, Presenter};
use super::surface::{self, Surface};
use crate::foundation::error::Error;
use crate::foundation::handle::{HostAllocator, Object, OwnedHandle};
use crate::foundation::waker::deadline;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::memory::Binding;

/// Answers of [`Swapchain::acquire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The image with that index; nothing reads it any more.
    Image(u32),
    /// None is free, and waiting was not asked for.
    NotReady,
    /// None became free in time.
    Timeout,
}

/// A swapchain.
pub struct Swapchain {
    pool: Arc<Pool>,
    /// Gone once closed: they may be in memory that the application lends no longer.
    handles: Mutex<Vec<OwnedHandle<Image>>>,
    /// `None` once closed.
    presenter: Mutex<Option<Presenter>>,
}

impl Object for Swapchain {
    type Handle = vk::SwapchainKHR;
}

impl Swapchain {
    /// A swapchain on `surface`. `old` is retired, whether this succeeds or not.
    pub fn new(
        device: &Arc<Device>,
        surface: &Surface,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        old: Option<&Swapchain>,
        allocator: HostAllocator,
    ) -> Result<Swapchain, Error> {
        if let Some(old) = old {
            old.pool.retire();
        }
        let exchange = check(surface, info)?;
        let count = info.min_image_count.max(surface::MIN_IMAGES);
        let images = (0..count).map(|_| image(device, info)).collect::<Result<Vec<_>, _>>()?;
        let handles = images.iter().map(|image| OwnedHandle::new(allocator, image.clone()));
        let handles = handles.collect::<Result<Vec<_>, _>>()?;
        let (canvas, wanted) = surface.canvas(info)?;
        let fits = wanted == info.image_extent;
        let pool = Arc::new(Pool::new(device.clone(), info.image_extent, images, fits));
        surface.occupy(&pool)?;
        let opaque = info.composite_alpha == vk::CompositeAlphaFlagsKHR::OPAQUE;
        let conversion = Conversion { exchange, opaque };
        let presenter = Presenter::start(pool.clone(), canvas, info.present_mode, conversion)?;
        Ok(Swapchain { pool, handles: Mutex::new(handles), presenter: Mutex::new(Some(presenter)) })
    }

    /// vkGetSwapchainImagesKHR. The handles live until the swapchain is closed.
    pub fn images(&self) -> Vec<vk::Image> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).iter().map(OwnedHandle::handle).collect()
    }

    /// The memory of an image, for another of that many bytes.
    pub fn memory(&self, index: u32, bytes: u64) -> Result<Binding, Error> {
        let image = self.pool.image(index)?;
        match image.requirements().size == bytes {
            true => image.binding().cloned(),
            false => {
                Err(Error::InvalidUse(format!("an image of {bytes} bytes in a swapchain image's memory")))
            }
        }
    }

    /// vkAcquireNextImageKHR: waits up to `timeout` nanoseconds for a free image.
    pub fn acquire(&self, timeout: u64) -> Result<Acquired, Error> {
        let device = self.pool.device();
        let mut answer = Ok(Acquired::Timeout);
        let done = device.waker().wait_until(deadline(timeout), || match self.pool.try_acquire() {
            Ok(None) => false,
            Ok(Some(index)) => {
                answer = Ok(Acquired::Image(index));
                true
            }
            Err(error) => {
                answer = Err(error);
                true
            }
        });
        match done {
            false if timeout == 0 => Ok(Acquired::NotReady),
            _ => answer,
        }
    }

    /// Takes an acquired image back for showing it. The second answer is what the application hears; the
    /// picture travels on in any case, so that its semaphores are waited for and its image comes back.
    pub fn present(self: &Arc<Swapchain>, index: u32) -> Result<(Present, Result<(), Error>), Error> {
        let taken = self.pool.take_back(index)?;
        Ok((Present { swapchain: self.clone(), index }, taken))
    }

    /// Ends presentation: pictures that the queue handed over are shown, later ones are not, and the
    /// window's connection is not used after this.
    pub fn close(&self) {
        self.pool.retire();
        let presenter = self.presenter.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(presenter) = presenter {
            presenter.finish();
        }
        self.handles.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        self.close();
    }
}

/// Refuses what the surface does not offer; else whether red and blue are exchanged.
fn check(surface: &Surface, info: &vk::SwapchainCreateInfoKHR<'_>) -> Result<bool, Error> {
    let offered = [
        ("flags", info.flags.is_empty()),
        ("minImageCount", info.min_image_count <= surface::MAX_IMAGES),
        ("imageColorSpace", info.image_color_space == vk::ColorSpaceKHR::SRGB_NONLINEAR),
        ("imageArrayLayers", info.image_array_layers == 1),
        ("imageUsage", surface::USAGE.contains(info.image_usage)),
        ("preTransform", info.pre_transform == vk::SurfaceTransformFlagsKHR::IDENTITY),
        ("compositeAlpha", surface.alpha().contains(info.composite_alpha)),
        ("presentMode", surface.present_modes().contains(&info.present_mode)),
    ];
    let exchange = surface::exchanges(info.image_format);
    let missing = offered.iter().find(|(_, fits)| !fits).map(|(name, _)| *name);
    match (missing, exchange) {
        (None, Some(exchange)) => Ok(exchange),
        (name, _) => {
            let name = name.unwrap_or("imageFormat");
            Err(Error::InvalidUse(format!(
                "a swapchain with a value of {name} that its surface does not offer"
            )))
        }
    }
}

fn image(device: &Device, info: &vk::SwapchainCreateInfoKHR<'_>) -> Result<Arc<Image>, Error> {
    let vk::Extent2D { width, height } = info.image_extent;
    let image = Image::presentable(
        device,
        &vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_2D,
            format: info.image_format,
            extent: vk::Extent3D { width, height, depth: 1 },
            mip_levels: 1,
            array_layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            tiling: vk::ImageTiling::OPTIMAL,
            usage: info.image_usage,
            ..Default::default()
        },
    )?;
    let bo = device.create_bo("a swapchain image", image.requirements().size)?;
    image.bind_to(Binding::whole(bo))?;
    Ok(Arc::new(image))
}

/// A picture on its way through the queue.
#[must_use = "the image comes back only when the present is handed over"]
pub struct Present {
    swapchain: Arc<Swapchain>,
    index: u32,
}

impl Present {
    /// To be called on the queue's thread, in queue order, when the semaphores of the present were
    /// waited for. `rendered` is the last job submitted to the device before; `None` if the device has
    /// finished it already. Does not block.
    pub fn hand_over(self, rendered: Option<Seqno>) {
        let presenter = self.swapchain.presenter.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(presenter) = presenter.as_ref() {
            presenter.push(Frame { index: self.index, rendered });
        }
    }
}
