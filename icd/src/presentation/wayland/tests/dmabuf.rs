//! Images as buffers: what the compositor offers, how it hears of them, and that nobody copies them.

use vc4_compositor::{FORMATS, Image, tell};
use vc4_kernel_abi::uapi::{MODIFIER_LINEAR, MODIFIER_T_TILED};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_buffer_params_v1::{
    self, ZwpLinuxBufferParamsV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_feedback_v1::ZwpLinuxDmabufFeedbackV1;
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_v1::{self, ZwpLinuxDmabufV1};

use super::super::super::{Acquired, Fit};
use super::*;
use crate::foundation::traffic::Cause;
use crate::testing::sharing_device;

/// How the compositor takes images.
#[derive(Default)]
pub(super) struct Dmabuf {
    /// Of the protocol; with 0 it is not offered.
    pub version: u32,
    modifiers: Vec<u64>,
    /// Refuses all that it is given.
    refuses: bool,
    feedback: Vec<ZwpLinuxDmabufFeedbackV1>,
}

impl Dmabuf {
    fn new(version: u32, modifiers: &[u64]) -> Dmabuf {
        Dmabuf { version, modifiers: modifiers.to_vec(), ..Dmabuf::default() }
    }

    fn formats(&self) -> impl Iterator<Item = (u32, u64)> {
        self.modifiers.iter().flat_map(|&modifier| FORMATS.map(|format| (format, modifier)))
    }

    fn tell(&self, feedback: &ZwpLinuxDmabufFeedbackV1) {
        tell(feedback, self.formats()).unwrap();
    }
}

/// What the compositor sees of an image.
pub(super) fn picture(image: &Image) -> Picture {
    let format = if image.has_alpha() { wl_shm::Format::Argb8888 } else { wl_shm::Format::Xrgb8888 };
    let (width, height, bytes) = (image.width, image.height, image.rows().unwrap());
    Picture { format, width, height, bytes, modifier: Some(image.modifier) }
}

/// Offers the protocol.
pub(super) fn offer(handle: &DisplayHandle, version: u32) {
    handle.create_global::<Compositor, ZwpLinuxDmabufV1, ()>(version, ());
}

impl GlobalDispatch<ZwpLinuxDmabufV1, ()> for Compositor {
    fn bind(
        compositor: &mut Self,
        _: &DisplayHandle,
        _: &Client,
        resource: New<ZwpLinuxDmabufV1>,
        _: &(),
        init: &mut DataInit<'_, Self>,
    ) {
        let dmabuf = init.init(resource, ());
        if dmabuf.version() < 4 {
            for (format, modifier) in compositor.seen.lock().unwrap().dmabuf.formats() {
                dmabuf.modifier(format, (modifier >> 32) as u32, modifier as u32);
            }
        }
    }
}

requests!(ZwpLinuxDmabufV1, (), |state, request, _data, init| {
    match request {
        zwp_linux_dmabuf_v1::Request::CreateParams { params_id } => {
            init.init(params_id, Mutex::new(None));
        }
        zwp_linux_dmabuf_v1::Request::GetSurfaceFeedback { id, .. } => {
            let feedback = init.init(id, ());
            let dmabuf = &mut state.seen.lock().unwrap().dmabuf;
            dmabuf.tell(&feedback);
            dmabuf.feedback.push(feedback);
        }
        _ => {}
    }
});

requests!(ZwpLinuxDmabufFeedbackV1, (), |_state, _request, _data, _init| {});
requests!(WlBuffer, Image, |_state, request, _data, _init| {
    assert!(matches!(request, wl_buffer::Request::Destroy));
});

type Params = Mutex<Option<Image>>;

impl Dispatch<ZwpLinuxBufferParamsV1, Params> for Compositor {
    fn request(
        compositor: &mut Self,
        client: &Client,
        params: &ZwpLinuxBufferParamsV1,
        request: zwp_linux_buffer_params_v1::Request,
        data: &Params,
        handle: &DisplayHandle,
        _: &mut DataInit<'_, Self>,
    ) {
        use zwp_linux_buffer_params_v1::Request;
        let mut data = data.lock().unwrap();
        match request {
            Request::Add { fd, plane_idx, offset, stride, modifier_hi, modifier_lo } => {
                assert_eq!(plane_idx, 0);
                let modifier = u64::from(modifier_hi) << 32 | u64::from(modifier_lo);
                let (memory, width, height, format) = (fd.into(), 0, 0, 0);
                *data = Some(Image { memory, offset, stride, width, height, format, modifier });
            }
            Request::Create { width, height, format, flags } => {
                assert_eq!(u32::from(flags), 0);
                let dmabuf = &compositor.seen.lock().unwrap().dmabuf;
                let image = Image { width, height, format, ..data.take().expect("a plane") };
                assert!(dmabuf.formats().any(|known| known == (format, image.modifier)), "not offered");
                if dmabuf.refuses {
                    return params.failed();
                }
                let buffer = client.create_resource::<WlBuffer, Image, Compositor>(handle, 1, image);
                params.created(&buffer.unwrap());
            }
            Request::Destroy => {}
            other => panic!("{other:?}"),
        }
    }
}

const OPAQUE: vk::CompositeAlphaFlagsKHR = vk::CompositeAlphaFlagsKHR::OPAQUE;
const BLENDED: vk::CompositeAlphaFlagsKHR = vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;

fn mailbox(width: u32, height: u32) -> vk::SwapchainCreateInfoKHR<'static> {
    vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::MAILBOX, ..info(width, height) }
}

#[test]
fn images_arrive_as_they_are() {
    let both = &[MODIFIER_LINEAR, MODIFIER_T_TILED][..];
    for (version, modifiers, layout) in [
        (3, both, MODIFIER_T_TILED),
        (4, both, MODIFIER_T_TILED),
        (3, &both[..1], MODIFIER_LINEAR),
        (4, &both[..1], MODIFIER_LINEAR),
        (4, &both[1..], MODIFIER_T_TILED),
    ] {
        let stage = Stage::with(Dmabuf::new(version, modifiers));
        let (device, surface) = (sharing_device(), stage.surface());
        let mut count = 0;
        for (composite_alpha, format) in
            [(OPAQUE, wl_shm::Format::Xrgb8888), (BLENDED, wl_shm::Format::Argb8888)]
        {
            for image_format in [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM] {
                let info = vk::SwapchainCreateInfoKHR { composite_alpha, image_format, ..mailbox(53, 31) };
                let swapchain = swapchain(&device, &surface, &info).unwrap();
                for number in 0..5 {
                    let index = acquire(&swapchain);
                    fill(&swapchain, index, |x, y| color(x + number, y));
                    present(&swapchain, index).unwrap();
                    count += 1;
                    let picture = stage.pictures(count).pop().unwrap();
                    assert_eq!((picture.format, picture.width, picture.height), (format, 53, 31));
                    assert_eq!(picture.modifier, Some(layout), "version {version}");
                    for (at, pixel) in picture.bytes.chunks_exact(4).enumerate() {
                        let mut wanted = color(at as u32 % 53 + number, at as u32 / 53);
                        if image_format == vk::Format::R8G8B8A8_UNORM {
                            wanted.swap(0, 2);
                        }
                        assert_eq!(pixel, wanted, "pixel {at}");
                    }
                }
                swapchain.close();
            }
        }
        assert_eq!(device.physical().traffic().total().of(Cause::Present).read, 0);
    }
}

/// What programs look up must lie as the texture unit wants it, which has no name for small images.
#[test]
fn layouts_that_nobody_knows_are_copied() {
    let stage = Stage::with(Dmabuf::new(4, &[MODIFIER_LINEAR, MODIFIER_T_TILED]));
    let (device, surface) = (sharing_device(), stage.surface());
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    for (width, modifier) in [(64, Some(MODIFIER_T_TILED)), (16, None)] {
        let info = vk::SwapchainCreateInfoKHR { image_usage: usage, ..mailbox(width, 64) };
        let swapchain = swapchain(&device, &surface, &info).unwrap();
        let index = acquire(&swapchain);
        fill(&swapchain, index, color);
        present(&swapchain, index).unwrap();
        let picture = stage.pictures(if width == 64 { 1 } else { 2 }).pop().unwrap();
        assert_eq!(picture.modifier, modifier);
        assert_eq!(&picture.bytes[..8], [color(0, 0), color(1, 0)].concat());
        swapchain.close();
    }
}

#[test]
fn refused_images_are_copied() {
    let stage = Stage::with(Dmabuf { refuses: true, ..Dmabuf::new(3, &[MODIFIER_LINEAR]) });
    let (device, surface) = (sharing_device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &mailbox(40, 20)).unwrap();
    let index = acquire(&swapchain);
    present(&swapchain, index).unwrap();
    assert_eq!(stage.pictures(1)[0].modifier, None);
}

#[test]
fn an_image_is_the_compositors_until_it_is_released() {
    let stage = Stage::with(Dmabuf::new(4, &[MODIFIER_T_TILED]));
    stage.seen().holds_buffers = true;
    let (device, surface) = (sharing_device(), stage.surface());
    let swapchain = swapchain(&device, &surface, &mailbox(40, 20)).unwrap();
    for index in [acquire(&swapchain), acquire(&swapchain)] {
        present(&swapchain, index).unwrap();
    }
    stage.pictures(2);
    assert_eq!(swapchain.acquire(50_000_000).unwrap(), Acquired::Timeout);
    let first = stage.seen().held.remove(0);
    first.release();
    assert_eq!(acquire(&swapchain), 0);
    assert_eq!(swapchain.acquire(50_000_000).unwrap(), Acquired::Timeout);
}

#[test]
fn better_layouts_make_a_swapchain_suboptimal() {
    let stage = Stage::with(Dmabuf::new(4, &[MODIFIER_LINEAR]));
    let (device, surface) = (sharing_device(), stage.surface());
    let old = swapchain(&device, &surface, &mailbox(40, 20)).unwrap();
    let show = |swapchain: &Arc<super::super::super::Swapchain>, index| {
        let (present, answer) = swapchain.present(index, Tags::default()).unwrap();
        present.hand_over(None);
        answer.unwrap()
    };
    let index = acquire(&old);
    assert_eq!(show(&old, index), Fit::Good);
    let again = |modifiers: &[u64]| {
        let mut seen = stage.seen();
        seen.dmabuf.modifiers = modifiers.to_vec();
        seen.dmabuf.feedback.iter().for_each(|feedback| seen.dmabuf.tell(feedback));
    };
    let next = || match old.acquire(1_000_000_000).unwrap() {
        Acquired::Image(index) => (index, false),
        Acquired::Suboptimal(index) => (index, true),
        other => panic!("{other:?}"),
    };
    // The same once more is no news.
    again(&[MODIFIER_LINEAR]);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(5));
        let (index, suboptimal) = next();
        assert!(!suboptimal);
        show(&old, index);
    }
    again(&[MODIFIER_LINEAR, MODIFIER_T_TILED]);
    let begin = Instant::now();
    loop {
        let (index, suboptimal) = next();
        let fit = show(&old, index);
        if suboptimal {
            assert_eq!(fit, Fit::Suboptimal);
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(10), "nobody heard of the better layout");
    }
    let allocator = crate::foundation::handle::HostAllocator::default();
    let new = super::super::super::Swapchain::new(&device, &surface, &mailbox(40, 20), Some(&old), allocator);
    let new = Arc::new(new.unwrap());
    let count = stage.seen().pictures.len();
    let index = acquire(&new);
    show(&new, index);
    let begin = Instant::now();
    while !stage.seen().pictures[count..].iter().any(|it| it.modifier == Some(MODIFIER_T_TILED)) {
        assert!(begin.elapsed() < Duration::from_secs(10), "no picture in tiles");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The presenter of one swapchain reads what the next one waits for.
#[test]
fn swapchains_are_made_while_others_present() {
    let stage = Stage::with(Dmabuf::new(4, &[MODIFIER_LINEAR]));
    let (device, surface) = (sharing_device(), stage.surface());
    let mut last = swapchain(&device, &surface, &mailbox(40, 20)).unwrap();
    for _ in 0..1500 {
        let index = acquire(&last);
        present(&last, index).unwrap();
        let allocator = crate::foundation::handle::HostAllocator::default();
        let (device, surface, info) = (&device, &surface, mailbox(40, 20));
        let next = super::super::super::Swapchain::new(device, surface, &info, Some(&last), allocator);
        last = Arc::new(next.unwrap());
    }
}

#[test]
fn a_compositor_that_dies_with_images_loses_the_surface() {
    let mut stage = Stage::with(Dmabuf::new(4, &[MODIFIER_T_TILED]));
    stage.seen().holds_frames = true;
    let (device, surface) = (sharing_device(), stage.surface());
    let info = vk::SwapchainCreateInfoKHR { present_mode: vk::PresentModeKHR::FIFO, ..info(40, 20) };
    let swapchain = swapchain(&device, &surface, &info).unwrap();
    let indices = [acquire(&swapchain), acquire(&swapchain)];
    indices.into_iter().for_each(|index| present(&swapchain, index).unwrap());
    stage.pictures(1);
    // One picture waits for its turn, and the application for an image.
    stage.end();
    let answer = (0..20).find_map(|_| match swapchain.acquire(500_000_000) {
        Ok(Acquired::Image(index)) => present(&swapchain, index).err(),
        Ok(_) => None,
        Err(error) => Some(error),
    });
    assert_eq!(answer.map(|error| error.result()), Some(vk::Result::ERROR_SURFACE_LOST_KHR));
    assert!(!device.is_lost());
    swapchain.close();
}
