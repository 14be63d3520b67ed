//! The limits: one line each, with the reason (vulkan-on-vc4.md §5).
//!
//! Limits of features that are off are at the specification's minimum.

use ash::vk;
use vc4::facts::SamplePositions;
use vc4::hw::{TARGET_MAX_PX, VARYINGS};
use vc4::image::tiling::{MAX_EDGE, MAX_SURFACE};
use vc4::state::raster::{LINE_WIDTH_RANGE, POINT_SIZE_RANGE};
use vc4_shaders::binding::{MAX_BUFFER_BYTES, MAX_BUFFER_TEXELS, MAX_IMAGE_TEXELS};
use vc4_shaders::ir::MAX_DISTANCES;

use super::facts::facts;

/// Header version that the driver was written against; part of the reported API version.
pub const HEADER_VERSION: u32 = 281;
/// The version that instances claim, whatever an application asks for; devices may claim an older one ([`super::version`]).
pub const API_VERSION: u32 = vk::make_api_version(0, 1, 2, HEADER_VERSION);
/// The newest version of SPIR-V, as modules say it, that is known, whatever an application asks for.
pub const SPIRV_VERSION: u32 = 0x0001_0500;

/// Viewports that a pipeline may have: the least number of devices that offer several.
const MAX_VIEWPORTS: u32 = 16;
/// Largest edge of an image, and of framebuffers and viewports: what can be laid out. Beyond the chip's own limit of 2048
/// programs find texels by direct lookups, and targets are drawn in parts (T-BIG).
pub const MAX_IMAGE_PX: u32 = MAX_EDGE;
/// Largest edge of images whose rows the application or somebody else reads: of linear ones, and of swapchains'.
pub const MAX_ROW_PX: u32 = MAX_SURFACE;
/// Largest edge of a 3D image. Slices lie like layers and are drawn to one by one, so none is larger than a target; programs
/// find texels by direct lookups, for which a slice's number is as good as a row's.
pub const MAX_VOLUME_PX: u32 = TARGET_MAX_PX;
/// Bytes that the upper bound of an image's size must reach by the specification. A smaller heap is what images of
/// that size meet first, as memory that is not there.
pub const MIN_RESOURCE_BYTES: u64 = 1 << 31;
/// Layers of an image.
pub const MAX_LAYERS: u32 = 256;
// The compiler answers comparisons of sizes by its bounds.
const _: () = assert!(MAX_IMAGE_PX <= MAX_IMAGE_TEXELS && MAX_LAYERS <= MAX_IMAGE_TEXELS);
/// Alignment of a buffer in its memory: a utile, so that copies move whole cache lines.
pub const BUFFER_ALIGNMENT: u64 = 64;
/// Samplers: plain host memory.
pub const MAX_SAMPLERS: u32 = 1 << 16;
/// Bits behind the point of vertices on the screen: 12.4 (v3d.md §9.1).
pub const SUB_PIXEL_BITS: u32 = 4;
/// Sets that a pipeline layout may name.
pub const MAX_SETS: u32 = 8;
/// Bytes of push constants; any number of words fits the uniform stream.
pub const MAX_PUSH_BYTES: u32 = 256;
/// Descriptors of a pushed set, the minimum of VK_KHR_push_descriptor; such sets are like any other.
pub const MAX_PUSH_DESCRIPTORS: u32 = 32;
/// Descriptors of a set: any number is a host allocation.
pub const MAX_SET_DESCRIPTORS: u32 = 1 << 20;
/// Bytes that the largest allocation's size must reach by the specification; a smaller heap is what such allocations meet.
pub const MIN_ALLOCATION_BYTES: u64 = 1 << 30;
/// Workgroups of a dispatch along an axis, the minimum.
pub const MAX_WORKGROUPS: u32 = 65535;
/// Invocations of a workgroup along each axis: loops of the CPU, so what other devices have.
pub const MAX_WORKGROUP_SIZE: [u32; 3] = [1024, 1024, 64];
/// Invocations of a workgroup in all.
pub const MAX_WORKGROUP_INVOCATIONS: u32 = 1024;
/// Bytes that the invocations of a workgroup share.
pub const MAX_SHARED_BYTES: u32 = 32 << 10;
/// Invocations of a subgroup: the compiler's.
pub const SUBGROUP_SIZE: u32 = vc4_shaders::ir::SUBGROUP;
/// What may be added to a level of detail, the minimum.
pub const MAX_LOD_BIAS: f32 = 2.0;
/// Samples along the longer axis of a footprint, the minimum: a loop in fragment programs.
pub const MAX_ANISOTROPY: f32 = vc4_shaders::ir::MAX_TAPS as f32;
/// Vertex attributes of a pipeline, the minimum. The chip fetches eight arrays (v3d.md §6.1); pipelines that
/// need more are refused.
pub const MAX_ATTRIBUTES: u32 = 16;
/// Components between stages. The chip interpolates 32; where there are more the CPU shades the vertices, too, and fragment
/// programs fetch the rest (T-VARY). The minimum is 64; WebGPU wants 64 beside a position.
const MAX_STAGE_COMPONENTS: u32 = if cfg!(feature = "compute") { 128 } else { VARYINGS as u32 };

/// Views of a multiview pass. Each is drawn apart, so every bit of a mask may be set.
pub const MAX_VIEWS: u32 = u32::BITS;

/// Samples that a pixel of a target may have (v3d.md §10.5).
pub const SAMPLE_COUNTS: vk::SampleCountFlags = vk::SampleCountFlags::from_raw(
    vk::SampleCountFlags::TYPE_1.as_raw() | vk::SampleCountFlags::TYPE_4.as_raw(),
);
/// Ways to resolve depth, and stencil: the CPU's, so all of them.
pub const RESOLVE_MODES: (vk::ResolveModeFlags, vk::ResolveModeFlags) = (
    vk::ResolveModeFlags::from_raw(STENCIL_MODES.as_raw() | vk::ResolveModeFlags::AVERAGE.as_raw()),
    STENCIL_MODES,
);
const STENCIL_MODES: vk::ResolveModeFlags = vk::ResolveModeFlags::from_raw(
    vk::ResolveModeFlags::SAMPLE_ZERO.as_raw()
        | vk::ResolveModeFlags::MIN.as_raw()
        | vk::ResolveModeFlags::MAX.as_raw(),
);
/// Colour attachments of a subpass. Each is drawn apart (T-MRT), so the number is as good as any; four is the minimum,
/// eight is what desktops have.
pub const MAX_COLORS: u32 = 8;
/// Step of point sizes and line widths: corners lie on sixteenths of a pixel to both sides.
const SIZE_STEP: f32 = 0.125;
const SINGLE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// The limits of a device with a heap of `heap_size` bytes.
pub fn limits(heap_size: u64) -> vk::PhysicalDeviceLimits {
    let mut limits = vk::PhysicalDeviceLimits::default();
    resources(&mut limits, heap_size);
    descriptors(&mut limits);
    stages(&mut limits);
    raster(&mut limits);
    limits
}

fn resources(limits: &mut vk::PhysicalDeviceLimits, heap_size: u64) {
    limits.max_image_dimension1_d = MAX_IMAGE_PX;
    limits.max_image_dimension2_d = MAX_IMAGE_PX;
    limits.max_image_dimension3_d = MAX_VOLUME_PX;
    limits.max_image_dimension_cube = MAX_IMAGE_PX;
    limits.max_image_array_layers = MAX_LAYERS;
    limits.max_texel_buffer_elements = MAX_BUFFER_TEXELS;
    limits.max_uniform_buffer_range = 1 << 16; // direct lookups reach any offset
    limits.max_storage_buffer_range = heap_size.min(MAX_BUFFER_BYTES.into()) as u32; // the same
    limits.max_push_constants_size = MAX_PUSH_BYTES;
    limits.max_memory_allocation_count = 1 << 16; // small ones share BOs, large ones end with the memory
    limits.max_sampler_allocation_count = MAX_SAMPLERS;
    limits.buffer_image_granularity = 1; // no MMU pages, no compression: any neighbours may share
    limits.sparse_address_space_size = 0; // no sparse resources
    limits.min_memory_map_alignment = 4096; // mappings start at pages
    limits.min_texel_buffer_offset_alignment = 16; // whole texels
    limits.min_uniform_buffer_offset_alignment = 16; // 4 would do; 16 keeps vec4s together
    limits.min_storage_buffer_offset_alignment = 16; // as for uniform buffers
    limits.optimal_buffer_copy_offset_alignment = 16;
    limits.optimal_buffer_copy_row_pitch_alignment = 16; // a utile's row
    limits.non_coherent_atom_size = 64; // a line of the CPU's caches
    limits.discrete_queue_priorities = 2; // one queue, no influence
    limits.timestamp_compute_and_graphics = vk::TRUE;
    limits.timestamp_period = 1.0; // nanoseconds of the host's clock
}

fn descriptors(limits: &mut vk::PhysicalDeviceLimits) {
    // Descriptors are words of the uniform stream: numbers are a matter of code size only.
    limits.max_bound_descriptor_sets = MAX_SETS;
    limits.max_per_stage_descriptor_samplers = 16;
    limits.max_per_stage_descriptor_uniform_buffers = 15;
    limits.max_per_stage_descriptor_storage_buffers = 8;
    limits.max_per_stage_descriptor_sampled_images = 16;
    limits.max_per_stage_descriptor_storage_images = 8; // read like textures
    limits.max_per_stage_descriptor_input_attachments = 4; // read like textures
    limits.max_per_stage_resources = 128;
    // Nothing bounds a whole layout. Programs divide these by the stages they know of, eight at most.
    const STAGES: u32 = 8;
    limits.max_descriptor_set_samplers = STAGES * limits.max_per_stage_descriptor_samplers;
    limits.max_descriptor_set_uniform_buffers = STAGES * limits.max_per_stage_descriptor_uniform_buffers;
    limits.max_descriptor_set_uniform_buffers_dynamic = 8;
    limits.max_descriptor_set_storage_buffers = STAGES * limits.max_per_stage_descriptor_storage_buffers;
    limits.max_descriptor_set_storage_buffers_dynamic = 4;
    limits.max_descriptor_set_sampled_images = STAGES * limits.max_per_stage_descriptor_sampled_images;
    limits.max_descriptor_set_storage_images = STAGES * limits.max_per_stage_descriptor_storage_images;
    limits.max_descriptor_set_input_attachments = STAGES * limits.max_per_stage_descriptor_input_attachments;
}

fn stages(limits: &mut vk::PhysicalDeviceLimits) {
    limits.max_vertex_input_attributes = MAX_ATTRIBUTES;
    limits.max_vertex_input_bindings = MAX_ATTRIBUTES;
    limits.max_vertex_input_attribute_offset = 2047;
    limits.max_vertex_input_binding_stride = 2048;
    limits.max_vertex_output_components = MAX_STAGE_COMPONENTS;
    limits.max_fragment_input_components = MAX_STAGE_COMPONENTS;
    limits.max_fragment_output_attachments = MAX_COLORS;
    limits.max_fragment_dual_src_attachments = 1; // the second colour stays in registers
    // Nothing but colours is written, yet what is read counts here, too.
    limits.max_fragment_combined_output_resources = MAX_COLORS
        + limits.max_per_stage_descriptor_storage_buffers
        + limits.max_per_stage_descriptor_storage_images;
    limits.max_compute_shared_memory_size = MAX_SHARED_BYTES; // host memory of a thread
    limits.max_compute_work_group_count = [MAX_WORKGROUPS; 3];
    limits.max_compute_work_group_invocations = MAX_WORKGROUP_INVOCATIONS;
    limits.max_compute_work_group_size = MAX_WORKGROUP_SIZE;
    // What programs filter themselves is divided more finely.
    limits.sub_texel_precision_bits = facts().weight_bits.count();
    limits.mipmap_precision_bits = 4;
    limits.max_draw_indexed_index_value = u32::MAX; // far vertices are gathered (T-IDX32)
    limits.max_draw_indirect_count = u32::MAX; // the CPU reads them one by one
    limits.max_sampler_lod_bias = MAX_LOD_BIAS;
    limits.max_sampler_anisotropy = MAX_ANISOTROPY;
    limits.min_texel_offset = -8;
    limits.max_texel_offset = 7;
    limits.min_texel_gather_offset = -8;
    limits.max_texel_gather_offset = 7;
    limits.min_interpolation_offset = -0.5;
    limits.max_interpolation_offset = 0.5 - 1.0 / 16.0; // one step of the bits below less than 0.5, the minimum
    limits.sub_pixel_interpolation_offset_bits = 4;
    limits.max_clip_distances = MAX_DISTANCES;
    limits.max_cull_distances = MAX_DISTANCES;
    limits.max_combined_clip_and_cull_distances = MAX_DISTANCES;
}

fn raster(limits: &mut vk::PhysicalDeviceLimits) {
    limits.sub_pixel_precision_bits = SUB_PIXEL_BITS;
    limits.max_viewports = MAX_VIEWPORTS;
    limits.max_viewport_dimensions = [MAX_IMAGE_PX; 2];
    // Folded into uniforms (T-VIEWPORT); twice the edge to both sides is the minimum.
    limits.viewport_bounds_range = [-2.0 * MAX_IMAGE_PX as f32, 2.0 * MAX_IMAGE_PX as f32 - 1.0];
    limits.viewport_sub_pixel_bits = 0;
    limits.max_framebuffer_width = MAX_IMAGE_PX;
    limits.max_framebuffer_height = MAX_IMAGE_PX;
    limits.max_framebuffer_layers = MAX_LAYERS;
    limits.framebuffer_color_sample_counts = SAMPLE_COUNTS;
    limits.framebuffer_depth_sample_counts = SAMPLE_COUNTS;
    limits.framebuffer_stencil_sample_counts = SAMPLE_COUNTS;
    limits.framebuffer_no_attachments_sample_counts = SAMPLE_COUNTS;
    limits.sampled_image_color_sample_counts = SAMPLE_COUNTS;
    limits.sampled_image_integer_sample_counts = SAMPLE_COUNTS;
    limits.sampled_image_depth_sample_counts = SAMPLE_COUNTS;
    limits.sampled_image_stencil_sample_counts = SAMPLE_COUNTS;
    limits.storage_image_sample_counts = SINGLE; // shaderStorageImageMultisample is off
    limits.max_sample_mask_words = 1;
    limits.max_color_attachments = MAX_COLORS;
    limits.point_size_range = POINT_SIZE_RANGE;
    limits.line_width_range = LINE_WIDTH_RANGE;
    limits.point_size_granularity = SIZE_STEP;
    limits.line_width_granularity = SIZE_STEP;
    limits.strict_lines = vk::FALSE;
    limits.standard_sample_locations =
        vk::Bool32::from(facts().sample_positions == SamplePositions::Mirrored);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's table of required limits, with those of features that are on. The smallest heap that Raspberry Pi
    /// OS sets up is meant to serve, too.
    #[test]
    fn nothing_is_below_the_specification_s_minimum() {
        let limits = limits(256 << 20);
        macro_rules! hold {
            ($is:tt $($field:ident $minimum:expr),* $(,)?) => {
                $(assert!(limits.$field $is $minimum, "{}: {:?}", stringify!($field), limits.$field);)*
            };
        }
        hold! { >=
            max_image_dimension1_d 4096, max_image_dimension2_d 4096, max_image_dimension3_d 256,
            max_image_dimension_cube 4096, max_image_array_layers 256, max_texel_buffer_elements 65536,
            max_uniform_buffer_range 16384, max_storage_buffer_range 1 << 27, max_push_constants_size 128,
            max_memory_allocation_count 4096, max_sampler_allocation_count 4000, max_bound_descriptor_sets 4,
            max_per_stage_descriptor_samplers 16, max_per_stage_descriptor_uniform_buffers 12,
            max_per_stage_descriptor_storage_buffers 4, max_per_stage_descriptor_sampled_images 16,
            max_per_stage_descriptor_storage_images 4, max_per_stage_descriptor_input_attachments 4,
            max_per_stage_resources 128, max_descriptor_set_samplers 96, max_descriptor_set_uniform_buffers 72,
            max_descriptor_set_uniform_buffers_dynamic 8, max_descriptor_set_storage_buffers 24,
            max_descriptor_set_storage_buffers_dynamic 4, max_descriptor_set_sampled_images 96,
            max_descriptor_set_storage_images 24, max_descriptor_set_input_attachments 4,
            max_vertex_input_attributes 16, max_vertex_input_bindings 16, max_vertex_input_attribute_offset 2047,
            max_vertex_input_binding_stride 2048, max_fragment_output_attachments 4,
            max_fragment_dual_src_attachments 1, max_fragment_combined_output_resources 4,
            max_compute_shared_memory_size 16384, max_compute_work_group_count [65535; 3],
            max_compute_work_group_invocations 128, sub_pixel_precision_bits 4, sub_texel_precision_bits 4,
            mipmap_precision_bits 4, max_draw_indexed_index_value u32::MAX, max_draw_indirect_count 65535,
            max_sampler_lod_bias 2.0, max_sampler_anisotropy 1.0, max_viewports 16, min_memory_map_alignment 64,
            max_texel_offset 7, max_texel_gather_offset 7, max_interpolation_offset 0.5 - 1.0 / 16.0,
            sub_pixel_interpolation_offset_bits 4, max_framebuffer_width 4096, max_framebuffer_height 4096,
            max_framebuffer_layers 256, max_color_attachments 4, max_sample_mask_words 1, max_clip_distances 8,
            max_cull_distances 8, max_combined_clip_and_cull_distances 8, discrete_queue_priorities 2,
        }
        hold! { <=
            buffer_image_granularity 131_072, min_texel_buffer_offset_alignment 256,
            min_uniform_buffer_offset_alignment 256, min_storage_buffer_offset_alignment 256, min_texel_offset -8,
            min_texel_gather_offset -8, min_interpolation_offset -0.5, point_size_granularity 1.0,
            line_width_granularity 1.0, non_coherent_atom_size 256,
        }
        #[cfg(feature = "compute")]
        hold! { >= max_vertex_output_components 64, max_fragment_input_components 64 }
        // What WebGPU asks for; a position is taken off first.
        #[cfg(feature = "compute")]
        hold! { >= max_vertex_output_components 4 + 64, max_fragment_input_components 4 + 64 }
        let least = [128, 128, 64];
        assert!(limits.max_compute_work_group_size.iter().zip(least).all(|(have, least)| *have >= least));
        assert!(limits.max_viewport_dimensions.iter().all(|edge| *edge >= 4096));
        let [low, high] = limits.viewport_bounds_range;
        assert!(low <= -2.0 * MAX_IMAGE_PX as f32 && high >= 2.0 * MAX_IMAGE_PX as f32 - 1.0);
        let [low, high] = limits.point_size_range;
        assert!(low <= 1.0 && high >= 64.0 - limits.point_size_granularity);
        let [low, high] = limits.line_width_range;
        assert!(low <= 1.0 && high >= 8.0 - limits.line_width_granularity);
        for counts in [
            limits.framebuffer_color_sample_counts,
            limits.framebuffer_depth_sample_counts,
            limits.framebuffer_stencil_sample_counts,
            limits.framebuffer_no_attachments_sample_counts,
            limits.sampled_image_color_sample_counts,
            limits.sampled_image_depth_sample_counts,
            limits.sampled_image_stencil_sample_counts,
        ] {
            assert!(counts.contains(SAMPLE_COUNTS));
        }
        assert!(limits.sampled_image_integer_sample_counts.contains(SINGLE));
        assert!(limits.storage_image_sample_counts.contains(SINGLE));
    }
}
