//! VkSwapchainKHR: images that take turns between the application and the display.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use vc4_kernel_abi::Seqno;

use super::backend::{Backend, Native};
use super::copying::Conversion;
use super::pool::{Fit, Pool};
use super::presenter::Presenter;
use super::shared_image::{SharedImage, modifier_of};
use super::surface::{self, Surface, SurfaceFormat};
use super::timing::Tags;
use crate::foundation::debug::{Debug, flags};
use crate::foundation::error::Error;
use crate::foundation::handle::{HostAllocator, Object, OwnedHandle};
use crate::foundation::threads::Mutex;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::memory::Binding;

/// Answers of [`Swapchain::acquire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquired {
    /// The image with that index; nothing reads it any more.
    Image(u32),
    /// As above; a new swapchain would be less work to show.
    Suboptimal(u32),
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
        let format = check(surface, info)?;
        let native = surface.native(device, info, format)?;
        let stage = match native.map(|native| Stage::native(device, info, format, native)) {
            Some(Ok(stage)) => stage,
            Some(Err(error)) if !surface.copies() => return Err(error),
            None if !surface.copies() => {
                let what = "showing images as they are on this surface";
                return Err(Error::unsupported(what, "unset VC4VK_PRESENT"));
            }
            refused => {
                if let Some(Err(error)) = refused {
                    log::info!(target: "vc4::wsi", "pictures are copied: {error}");
                }
                Stage::host(device, surface, info)?
            }
        };
        let Stage { images, backend, wanted } = stage;
        if flags().contains(Debug::PERF) {
            let vk::Extent2D { width, height } = info.image_extent;
            eprintln!("perf: swapchain of {width} x {height} pixels: {}", backend.path());
        }
        let handles = images.iter().map(|image| OwnedHandle::new(allocator, image.clone()));
        let handles = handles.collect::<Result<Vec<_>, _>>()?;
        let fits = wanted == info.image_extent;
        let pool = Arc::new(Pool::new(device.clone(), info.image_extent, images, fits));
        surface.occupy(&pool)?;
        let opaque = info.composite_alpha == vk::CompositeAlphaFlagsKHR::OPAQUE;
        let conversion = Conversion { exchange: format.exchange.unwrap_or(false), opaque };
        let presenter = Presenter::start(pool.clone(), backend, info.present_mode, conversion)?;
        Ok(Swapchain { pool, handles: Mutex::new(handles), presenter: Mutex::new(Some(presenter)) })
    }

    /// Whether the images lie in tiles where drawing alone would leave them in rows.
    pub fn is_tiled(&self) -> bool {
        self.pool.image(0).is_ok_and(|image| !image.layout().shape.raster)
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
        let done = device.waker().wait(&device.patience(timeout), || match self.pool.try_acquire() {
            Ok(None) => false,
            Ok(Some((index, fit))) => {
                answer = Ok(match fit {
                    Fit::Good => Acquired::Image(index),
                    Fit::Suboptimal => Acquired::Suboptimal(index),
                });
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
    pub fn present(
        self: &Arc<Swapchain>,
        index: u32,
        tags: Tags,
    ) -> Result<(Present, Result<Fit, Error>), Error> {
        let (number, taken) = self.pool.take_back(index)?;
        Ok((Present { swapchain: self.clone(), number, index, tags }, taken))
    }

    /// Waits until a present was handled, where its window may not be touched after vkQueuePresentKHR; a little longer than
    /// pictures wait for their turn, at most.
    fn wait_until_handled(&self, number: u64) {
        let presenter = self.presenter.lock().unwrap_or_else(PoisonError::into_inner);
        let tied = presenter.as_ref().is_some_and(Presenter::is_tied);
        drop(presenter);
        if tied {
            let deadline = Instant::now() + LONGEST_PRESENT;
            self.pool.device().waker().wait_until(Some(deadline), || self.pool.is_handled(number));
        }
    }

    /// vkWaitForPresentKHR: waits up to `timeout` nanoseconds until a picture with this number, or a later one, was shown;
    /// whether it was.
    pub fn wait_for_present(&self, id: u64, timeout: u64) -> Result<bool, Error> {
        let mut answer = Ok(false);
        let device = self.pool.device();
        device.waker().wait(&device.patience(timeout), || {
            answer = self.pool.is_shown(id);
            !matches!(answer, Ok(false))
        });
        answer
    }

    /// vkGetRefreshCycleDurationGOOGLE: nanoseconds; an error if the surface is lost.
    pub fn refresh(&self) -> Result<u64, Error> {
        self.pool.check()?;
        Ok(self.pool.refresh())
    }

    /// How many pictures there are whose times [`Swapchain::take_times`] tells; an error if the surface is lost.
    pub fn times(&self) -> Result<usize, Error> {
        self.pool.check()?;
        Ok(self.pool.times())
    }

    /// vkGetPastPresentationTimingGOOGLE: the times of at most so many pictures, which are told once, and whether there are more.
    pub fn take_times(&self, limit: usize) -> Result<(Vec<vk::PastPresentationTimingGOOGLE>, bool), Error> {
        self.pool.check()?;
        Ok(self.pool.take_times(limit))
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

/// The images of a swapchain and what shows them.
struct Stage {
    images: Vec<Arc<Image>>,
    backend: Box<dyn Backend>,
    /// The size that pictures should have.
    wanted: vk::Extent2D,
}

impl Stage {
    /// Images that are shown as they are: in tiles, which are less work to draw and to look up than rows, if somebody knows
    /// these.
    fn native(
        device: &Device,
        info: &vk::SwapchainCreateInfoKHR<'_>,
        format: &SurfaceFormat,
        native: Box<dyn Native>,
    ) -> Result<Stage, Error> {
        let mut chosen =
            Err(Error::unsupported("an image that its display knows the layout of", "use other sizes"));
        for tiled in [true, false] {
            let image = planned(device, info, tiled)?;
            if modifier_of(&image).is_some_and(|modifier| native.modifiers().contains(&modifier)) {
                chosen = Ok(tiled);
                break;
            }
        }
        let images = images(device, info, chosen?)?;
        let wanted = native.extent().unwrap_or(info.image_extent);
        let blended = info.composite_alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
        let format = if blended { format.blended } else { format.opaque };
        let shared = images.iter().map(|image| SharedImage::new(device, image, format));
        let backend = native.take(&shared.collect::<Result<Vec<_>, _>>()?)?;
        Ok(Stage { images, backend, wanted })
    }

    /// Images that are copied.
    fn host(
        device: &Device,
        surface: &Surface,
        info: &vk::SwapchainCreateInfoKHR<'_>,
    ) -> Result<Stage, Error> {
        let images = images(device, info, false)?;
        let (backend, wanted) = surface.host(info)?;
        Ok(Stage { images, backend, wanted })
    }
}

/// Refuses what the surface does not offer; else what its pixels are.
fn check(surface: &Surface, info: &vk::SwapchainCreateInfoKHR<'_>) -> Result<&'static SurfaceFormat, Error> {
    let offered = [
        // Views of other formats need nothing of an image.
        ("flags", vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT.contains(info.flags)),
        ("minImageCount", info.min_image_count <= surface::MAX_IMAGES),
        ("imageColorSpace", surface.color_spaces().contains(&info.image_color_space)),
        ("imageArrayLayers", info.image_array_layers == 1),
        ("imageUsage", surface::USAGE.contains(info.image_usage)),
        ("preTransform", info.pre_transform == vk::SurfaceTransformFlagsKHR::IDENTITY),
        ("compositeAlpha", surface.alpha().contains(info.composite_alpha)),
        ("presentMode", surface.present_modes().contains(&info.present_mode)),
    ];
    let missing = offered.iter().find(|(_, fits)| !fits).map(|(name, _)| *name);
    match (missing, surface.format(info.image_format)) {
        (None, Some(format)) => Ok(format),
        (name, _) => {
            let name = name.unwrap_or("imageFormat");
            Err(Error::InvalidUse(format!(
                "a swapchain with a value of {name} that its surface does not offer"
            )))
        }
    }
}

/// An image of a swapchain, without memory.
fn planned(device: &Device, info: &vk::SwapchainCreateInfoKHR<'_>, tiled: bool) -> Result<Image, Error> {
    let vk::Extent2D { width, height } = info.image_extent;
    Image::presentable(
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
            flags: match info.flags.contains(vk::SwapchainCreateFlagsKHR::MUTABLE_FORMAT) {
                true => vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE,
                false => vk::ImageCreateFlags::empty(),
            },
            ..Default::default()
        },
        tiled,
    )
}

fn images(
    device: &Device,
    info: &vk::SwapchainCreateInfoKHR<'_>,
    tiled: bool,
) -> Result<Vec<Arc<Image>>, Error> {
    let image = |_| {
        let image = planned(device, info, tiled)?;
        let bo = device.create_bo("a swapchain image", image.requirements().size)?;
        image.bind_to(Binding::whole(bo))?;
        Ok(Arc::new(image))
    };
    (0..info.min_image_count.max(surface::MIN_IMAGES)).map(image).collect()
}

/// How long vkQueuePresentKHR waits for what must happen meanwhile.
const LONGEST_PRESENT: Duration = Duration::from_secs(2);

/// What is to be waited for before vkQueuePresentKHR is over.
#[must_use]
pub struct Handling {
    swapchain: Arc<Swapchain>,
    number: u64,
}

impl Handling {
    /// Waits for it.
    pub fn wait(self) {
        self.swapchain.wait_until_handled(self.number);
    }
}

/// A picture on its way through the queue.
#[must_use = "the image comes back only when the present is handed over"]
pub struct Present {
    swapchain: Arc<Swapchain>,
    number: u64,
    index: u32,
    tags: Tags,
}

impl Present {
    /// What vkQueuePresentKHR has to wait for after it has queued this.
    pub fn handling(&self) -> Handling {
        Handling { swapchain: self.swapchain.clone(), number: self.number }
    }

    /// To be called on the queue's thread, in queue order, when the semaphores of the present were
    /// waited for. `rendered` is the last job submitted to the device before; `None` if the device has
    /// finished it already. Does not block.
    pub fn hand_over(self, rendered: Option<Seqno>) {
        let presenter = self.swapchain.presenter.lock().unwrap_or_else(PoisonError::into_inner);
        match presenter.as_ref() {
            Some(presenter) => {
                let gpu = self.swapchain.pool.device().gpu();
                presenter.push(self.index, rendered, self.tags, &**gpu);
            }
            None => self.swapchain.pool.has_handled(),
        }
    }
}
