//! Jobs that copy and clear samples leave what the CPU leaves, byte for byte.

use std::sync::Arc;

use ash::vk;

use super::queue::Queue;
use super::work::Work;
use crate::objects::device::Device;
use crate::objects::image::Image;
use crate::objects::memory::{DeviceMemory, Origin};
use crate::objects::memory_type::MemoryType;
use crate::pipeline::Rectangles;
use crate::segments::{CpuCommand, Segment};
use crate::testing::device_on;
use crate::transfers::clear::FillParts;
use crate::transfers::fill::ClearWords;
use crate::transfers::image::CopyImage;

/// An image of four samples, with something else in each of them.
fn sampled_image(
    device: &Arc<Device>,
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    seed: u32,
) -> Arc<Image> {
    let info = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_2D,
        format,
        extent: vk::Extent3D { width: 101, height: 90, depth: 1 },
        mip_levels: 1,
        array_layers: 2,
        samples: vk::SampleCountFlags::TYPE_4,
        usage,
        ..Default::default()
    };
    let image = Image::new(device, &info).unwrap();
    let size = image.requirements().size;
    image.bind(&DeviceMemory::new(device, size, MemoryType::Device, Origin::Alone).unwrap(), 0).unwrap();
    let memory = image.binding().unwrap().bo.map().unwrap();
    (0..size as u32 / 4).for_each(|n| memory.write_u32(4 * n as usize, (n ^ seed).wrapping_mul(0x9e37_79b1)));
    Arc::new(image)
}

fn bytes_of(image: &Image) -> Vec<u8> {
    let mut bytes = vec![0; image.size() as usize];
    image.binding().unwrap().bo.map().unwrap().read(0, &mut bytes);
    bytes
}

/// What is in an image of four samples when a command has run: on the queue, which draws it, and by the CPU.
fn by_both(
    format: vk::Format,
    usage: vk::ImageUsageFlags,
    command: impl Fn(&Arc<Device>, &Arc<Image>) -> Box<dyn CpuCommand>,
) {
    let simulator = vc4_sim::Simulator::sharing(vc4_sim::Config::default()).expect("there is memory");
    let device = device_on(Arc::new(simulator));
    let [drawn, run] = [(); 2].map(|()| sampled_image(&device, format, usage, 7));
    let before = bytes_of(&drawn);
    let mut rectangles = Rectangles::new(device.clone());
    let drawing = command(&device, &drawn).drawing(&mut rectangles).unwrap().expect("it is drawn");
    assert!(drawing.rest.is_none());
    let queue = Queue::new(device.clone());
    let segments = drawing.renders.into_iter().map(|render| Segment::Render(Arc::new(render))).collect();
    let (segments, waits, signals) = (vec![Arc::new(segments)], vec![], vec![]);
    queue.push(Work::Commands { waits, segments, signals, label: None }).unwrap();
    queue.wait_idle().unwrap();
    command(&device, &run).run(&device).unwrap();
    let (drawn, run) = (bytes_of(&drawn), bytes_of(&run));
    assert!(run != before);
    assert_eq!(drawn.iter().zip(&run).position(|(drawn, run)| drawn != run), None);
}

#[test]
fn samples_are_cleared_as_by_the_cpu() {
    let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
    for aspect_mask in [depth, stencil, depth | stencil] {
        by_both(vk::Format::D24_UNORM_S8_UINT, vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, |_, image| {
            let range = vk::ImageSubresourceRange {
                aspect_mask,
                level_count: 1,
                base_array_layer: 1,
                layer_count: 1,
                ..Default::default()
            };
            let value = ClearWords([0.3f32.to_bits(), 0x5a, 0, 0]);
            Box::new(FillParts::depth_stencil(image, value, &range))
        });
    }
}

/// Not of R5G6B5, whose words the CPU rounds to texels.
#[test]
fn samples_are_copied_as_by_the_cpu() {
    let color = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let depth = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    for (format, usage, aspect_mask) in [
        (vk::Format::R8G8B8A8_UNORM, color, vk::ImageAspectFlags::COLOR),
        (vk::Format::R16G16B16A16_SFLOAT, color, vk::ImageAspectFlags::COLOR),
        (vk::Format::D24_UNORM_S8_UINT, depth, vk::ImageAspectFlags::DEPTH),
        (vk::Format::D24_UNORM_S8_UINT, depth, vk::ImageAspectFlags::STENCIL),
    ] {
        by_both(format, usage, |device, image| {
            let from = sampled_image(device, format, usage, 99);
            let layers = vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() };
            let region = vk::ImageCopy {
                src_subresource: layers,
                src_offset: vk::Offset3D { x: 3, y: 11, z: 0 },
                dst_subresource: vk::ImageSubresourceLayers { base_array_layer: 1, ..layers },
                dst_offset: vk::Offset3D { x: 14, y: 5, z: 0 },
                extent: vk::Extent3D { width: 87, height: 77, depth: 1 },
            };
            Box::new(CopyImage::new(&from, image, &[region]).unwrap())
        });
    }
}
