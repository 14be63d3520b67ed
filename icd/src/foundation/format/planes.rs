//! Formats of several planes ("Formats" in the Vulkan specification, "Compatible formats of planes of multi-planar formats").

use ash::vk;

/// A plane of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// What its texels are.
    pub format: vk::Format,
    /// Along which axes it has half the image's texels.
    pub halved: [bool; 2],
}

impl Plane {
    /// Texels of a plane of an image.
    pub fn extent(&self, image: vk::Extent3D) -> vk::Extent3D {
        let part = |texels: u32, halved: bool| if halved { texels.div_ceil(2) } else { texels };
        let [halved_x, halved_y] = self.halved;
        vk::Extent3D { width: part(image.width, halved_x), height: part(image.height, halved_y), ..image }
    }
}

const fn plane(format: vk::Format, halved: [bool; 2]) -> Plane {
    Plane { format, halved }
}

/// Y' in the component that becomes green.
const LUMA: Plane = plane(vk::Format::R8_UNORM, [false; 2]);

/// CB or CR, or both, with half the texels along axes.
const fn chroma(components: usize, halved: [bool; 2]) -> Plane {
    let format = if components == 1 { vk::Format::R8_UNORM } else { vk::Format::R8G8_UNORM };
    plane(format, halved)
}

/// Formats with their planes: luma, and chroma in one plane (CB, CR) or two.
pub const PLANAR: [(vk::Format, &[Plane]); 5] = {
    const BOTH: [bool; 2] = [true; 2];
    const ACROSS: [bool; 2] = [true, false];
    const NONE: [bool; 2] = [false; 2];
    [
        (vk::Format::G8_B8_R8_3PLANE_420_UNORM, &[LUMA, chroma(1, BOTH), chroma(1, BOTH)]),
        (vk::Format::G8_B8R8_2PLANE_420_UNORM, &[LUMA, chroma(2, BOTH)]),
        (vk::Format::G8_B8_R8_3PLANE_422_UNORM, &[LUMA, chroma(1, ACROSS), chroma(1, ACROSS)]),
        (vk::Format::G8_B8R8_2PLANE_422_UNORM, &[LUMA, chroma(2, ACROSS)]),
        (vk::Format::G8_B8_R8_3PLANE_444_UNORM, &[LUMA, chroma(1, NONE), chroma(1, NONE)]),
    ]
};

/// The planes' aspects, by number, and those of planes in memory, which are the same ones here.
const ASPECTS: [[vk::ImageAspectFlags; 2]; 3] = [
    [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::MEMORY_PLANE_0_EXT],
    [vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::MEMORY_PLANE_1_EXT],
    [vk::ImageAspectFlags::PLANE_2, vk::ImageAspectFlags::MEMORY_PLANE_2_EXT],
];

/// The number of the plane that an aspect is; `None` for other aspects.
pub fn plane_of(aspect: vk::ImageAspectFlags) -> Option<usize> {
    ASPECTS.iter().position(|plane| plane.contains(&aspect))
}
