//! VkPhysicalDevice: what the device is and can do, truthfully.

use std::ffi::c_char;
use std::sync::{Arc, OnceLock};

use ash::vk;
use vc4::facts::OcclusionEvents;
use vc4_kernel_abi::Gpu;

use crate::foundation::bo::{self, SharedBos};
use crate::foundation::debug::{Debug, flags};
use crate::foundation::demands;
use crate::foundation::error::Error;
use crate::foundation::facts::facts;
use crate::foundation::handle::{HostAllocator, Object};
use crate::foundation::limits;
use crate::foundation::traffic::Traffic;
use crate::objects::display::Displays;
use crate::objects::memory_type::MemoryType;

/// Broadcom's PCI vendor number.
pub const VENDOR_ID: u32 = 0x14e4;

/// Memory that applications cannot have: the kernel's binner pool (kernel-abi.md §12), or as much for the
/// programs and buffers of the driver itself.
const RESERVED_BYTES: u64 = 16 << 20;

/// Heap size below which nothing useful runs; reported even when the reserve would eat it.
const SMALLEST_HEAP: u64 = 16 << 20;

/// Handle types of shared memory: file descriptors of BOs, which are dma-bufs. An opaque one may only come back to this
/// driver, which has no other.
pub const EXTERNAL_TYPES: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::from_raw(
    vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD.as_raw()
        | vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT.as_raw(),
);

/// A device that was found.
pub struct PhysicalDevice {
    gpu: Arc<dyn Gpu>,
    /// The version that the application gets: no newer than it asked for, or than the device claims.
    version: u32,
    allocator: HostAllocator,
    heap_size: u64,
    properties: vk::PhysicalDeviceProperties,
    shared_bos: Arc<SharedBos>,
    traffic: Arc<Traffic>,
    displays: OnceLock<Option<Displays>>,
}

impl Object for PhysicalDevice {
    type Handle = vk::PhysicalDevice;
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::INSTANCE;
}

impl PhysicalDevice {
    /// Describes `gpu`, which claims a version, to an application that wants one; `allocator` is the instance's.
    pub fn new(gpu: Arc<dyn Gpu>, claimed: u32, wanted: u32, allocator: HostAllocator) -> PhysicalDevice {
        let heap_size = gpu.memory_size().saturating_sub(RESERVED_BYTES).max(SMALLEST_HEAP);
        let properties = properties(&*gpu, claimed, heap_size);
        let traffic = Arc::default();
        let shared_bos = SharedBos::new(&gpu, &traffic);
        let version = wanted.min(claimed);
        let displays = OnceLock::new();
        PhysicalDevice { gpu, version, allocator, heap_size, properties, shared_bos, traffic, displays }
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<dyn Gpu> {
        &self.gpu
    }

    /// Whether the application gets a version: what that took over from extensions is there without them.
    pub fn is_of(&self, version: u32) -> bool {
        self.version >= version
    }

    /// The displays of the device, if its kernel driver has any. Their node is opened when somebody asks first.
    pub fn displays(&self) -> Option<&Displays> {
        let open = || {
            let displays = Displays::new(self.gpu.card()?, self.allocator);
            displays.inspect_err(|error| log::error!(target: "vc4::wsi", "no displays: {error}")).ok()
        };
        self.displays.get_or_init(open).as_ref()
    }

    /// What the CPU moves from and to BOs.
    pub fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// The BOs that others know.
    pub fn shared_bos(&self) -> &Arc<SharedBos> {
        &self.shared_bos
    }

    /// The allocator of devices that bring none: the instance's.
    pub fn allocator(&self) -> HostAllocator {
        self.allocator
    }

    /// Bytes of the only heap.
    pub fn heap_size(&self) -> u64 {
        self.heap_size
    }

    /// Bytes that this process uses of the heap, and how many it may expect to get in all.
    ///
    /// The heap's size is all contiguous memory, however much of it is free: the kernel lends it to movable pages, which it
    /// takes back when a BO needs them. So what is free now is no bound, and belongs here.
    pub fn usage_and_budget(&self) -> (u64, u64) {
        let used = bo::used();
        (used, used.saturating_add(self.gpu.memory_free()).min(self.heap_size))
    }

    /// vkGetPhysicalDeviceProperties.
    pub fn properties(&self) -> &vk::PhysicalDeviceProperties {
        &self.properties
    }

    /// vkGetPhysicalDeviceFeatures.
    pub fn features(&self) -> vk::PhysicalDeviceFeatures {
        offered_features()
    }

    /// What buffers can do with memory of a handle type; `None` if nothing.
    pub fn external_buffers(
        &self,
        ty: vk::ExternalMemoryHandleTypeFlags,
    ) -> Option<vk::ExternalMemoryProperties> {
        self.external(ty, EXTERNAL_TYPES)
    }

    /// As [`PhysicalDevice::external_buffers`], for images. How images of optimal tiling lie only this driver knows,
    /// which dma-bufs may leave.
    pub fn external_images(
        &self,
        ty: vk::ExternalMemoryHandleTypeFlags,
        tiling: vk::ImageTiling,
    ) -> Option<vk::ExternalMemoryProperties> {
        self.external(
            ty,
            match tiling {
                vk::ImageTiling::OPTIMAL => vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD,
                _ => EXTERNAL_TYPES,
            },
        )
    }

    fn external(
        &self,
        ty: vk::ExternalMemoryHandleTypeFlags,
        types: vk::ExternalMemoryHandleTypeFlags,
    ) -> Option<vk::ExternalMemoryProperties> {
        let features =
            vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE;
        let properties = vk::ExternalMemoryProperties {
            external_memory_features: features,
            export_from_imported_handle_types: types,
            compatible_handle_types: types,
        };
        Some(properties).filter(|_| types.contains(ty) && self.gpu.shares_bos())
    }

    /// Device and driver as those know them who share memory.
    pub fn uuids(&self) -> ([u8; vk::UUID_SIZE], [u8; vk::UUID_SIZE]) {
        let mut device = *b"VideoCoreIV sim.";
        if !self.gpu.is_simulated() {
            device[12..].copy_from_slice(&self.properties.device_id.to_le_bytes());
        }
        let mut driver = *b"vulkan-vc4 v....";
        driver[12..].copy_from_slice(&self.properties.driver_version.to_le_bytes());
        (device, driver)
    }

    /// The types of memory that there are.
    pub fn memory_types(&self) -> &'static [MemoryType] {
        MemoryType::of_device(self.gpu.has_cached_memory())
    }

    /// vkGetPhysicalDeviceMemoryProperties: one heap.
    pub fn memory(&self) -> vk::PhysicalDeviceMemoryProperties {
        let types = self.memory_types();
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: types.len() as u32,
            memory_heap_count: 1,
            ..Default::default()
        };
        for (out, ty) in memory.memory_types.iter_mut().zip(types) {
            *out = vk::MemoryType { property_flags: ty.flags(), heap_index: 0 };
        }
        memory.memory_heaps[0] =
            vk::MemoryHeap { size: self.heap_size, flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
        memory
    }
}

/// vkGetPhysicalDeviceQueueFamilyProperties. The kernel starts no compute programs and no program there can store
/// (vulkan-on-vc4.md §1), so the CPU computes where it can. Timestamps are the host's: the GPU has no clock.
pub fn queue_families() -> [vk::QueueFamilyProperties; 1] {
    let compute = match cpu_computes() {
        true => vk::QueueFlags::COMPUTE,
        false => vk::QueueFlags::empty(),
    };
    [vk::QueueFamilyProperties {
        queue_flags: vk::QueueFlags::GRAPHICS | vk::QueueFlags::TRANSFER | compute,
        queue_count: 1,
        timestamp_valid_bits: u64::BITS,
        min_image_transfer_granularity: vk::Extent3D { width: 1, height: 1, depth: 1 },
    }]
}

/// Stages that have subgroups, and what these can do.
pub fn subgroups() -> (vk::ShaderStageFlags, vk::SubgroupFeatureFlags) {
    use vk::SubgroupFeatureFlags as Operations;
    let operations = Operations::BASIC
        | Operations::VOTE
        | Operations::ARITHMETIC
        | Operations::BALLOT
        | Operations::SHUFFLE
        | Operations::SHUFFLE_RELATIVE
        | Operations::CLUSTERED
        | Operations::QUAD;
    match cpu_computes() {
        true => (vk::ShaderStageFlags::COMPUTE, operations),
        false => Default::default(),
    }
}

/// Whether the driver was built with a code generator, and that one knows this machine.
#[cfg(feature = "compute")]
fn cpu_computes() -> bool {
    vc4_shaders_cpu::Kernel::check_machine().is_ok()
}

/// Whether the driver was built with a code generator.
#[cfg(not(feature = "compute"))]
fn cpu_computes() -> bool {
    false
}

fn properties(gpu: &dyn Gpu, api_version: u32, heap_size: u64) -> vk::PhysicalDeviceProperties {
    let (name, device_type) = match gpu.is_simulated() {
        true if flags().contains(Debug::GPU) => {
            ("VideoCore IV (simulated)", vk::PhysicalDeviceType::INTEGRATED_GPU)
        }
        true => ("VideoCore IV (simulated)", vk::PhysicalDeviceType::CPU),
        false => ("VideoCore IV", vk::PhysicalDeviceType::INTEGRATED_GPU),
    };
    let mut limits = limits::limits(heap_size);
    demands::exaggerate(&mut limits);
    let mut properties = vk::PhysicalDeviceProperties {
        api_version,
        driver_version: driver_version(),
        vendor_id: VENDOR_ID,
        device_id: gpu.ident().map_or(0, |ident| ident.ident0),
        device_type,
        pipeline_cache_uuid: cache_uuid(),
        limits,
        // All false: no sparse resources without an MMU.
        sparse_properties: vk::PhysicalDeviceSparseProperties::default(),
        ..Default::default()
    };
    for (to, from) in properties.device_name.iter_mut().zip(name.bytes()) {
        *to = from as c_char;
    }
    properties
}

/// The crate's version as Vulkan packs versions.
fn driver_version() -> u32 {
    let part = |text: &str| text.parse().unwrap_or(0);
    vk::make_api_version(
        0,
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    )
}

/// Names the compiler: programs in a pipeline cache are good for no other one.
pub fn cache_uuid() -> [u8; vk::UUID_SIZE] {
    vc4_shaders::key::COMPILER.to_le_bytes()
}

/// The features that work. robustBufferAccess is the only mandatory one: the kernel's validator forces
/// a clamp on every direct lookup, uniform words are bounds-checked by the driver when it reads them.
fn offered_features() -> vk::PhysicalDeviceFeatures {
    vk::PhysicalDeviceFeatures {
        robust_buffer_access: vk::TRUE,
        // The CPU reads indices and indirect arguments when a segment runs.
        full_draw_index_uint32: vk::TRUE,
        multi_draw_indirect: vk::TRUE,
        draw_indirect_first_instance: vk::TRUE,
        // Draws are drawn once for each sample.
        sample_rate_shading: vk::TRUE,
        logic_op: vk::TRUE,
        dual_src_blend: vk::TRUE,
        alpha_to_one: vk::TRUE,
        independent_blend: vk::TRUE,
        // The CPU lists edges and corners.
        fill_mode_non_solid: vk::TRUE,
        depth_clamp: vk::TRUE,
        depth_bias_clamp: vk::TRUE,
        sampler_anisotropy: vk::TRUE,
        wide_lines: vk::TRUE,
        large_points: vk::TRUE,
        // Only geometry stages choose among viewports; without them everything goes through the first.
        multi_viewport: vk::TRUE,
        // A job for each number of samples.
        variable_multisample_rate: vk::TRUE,
        // Draws are drawn once for each pixel of quads and each sample, as far as monitors leave out what is masked away.
        occlusion_query_precise: (facts().occlusion_events == OcclusionEvents::LeftOut).into(),
        pipeline_statistics_query: vk::TRUE,
        // Monitors count whatever is submitted meanwhile.
        inherited_queries: vk::TRUE,
        image_cube_array: vk::TRUE,
        // By the fragment program, and by vertex programs that see whole primitives.
        shader_clip_distance: vk::TRUE,
        shader_cull_distance: vk::TRUE,
        shader_image_gather_extended: vk::TRUE,
        // Texels are packed and unpacked as the view says, whatever a shader names; only compute stages store.
        shader_storage_image_extended_formats: vk::TRUE,
        shader_storage_image_read_without_format: vk::TRUE,
        shader_storage_image_write_without_format: vk::TRUE,
        // Programs branch to the element, which need not be the same for all invocations.
        shader_uniform_buffer_array_dynamic_indexing: vk::TRUE,
        shader_sampled_image_array_dynamic_indexing: vk::TRUE,
        shader_storage_buffer_array_dynamic_indexing: vk::TRUE,
        shader_storage_image_array_dynamic_indexing: vk::TRUE,
        // Decoded when they are copied to images.
        texture_compression_etc2: vk::TRUE,
        ..Default::default()
    }
}

/// Walks the features by name.
macro_rules! features {
    ($($field:ident)*) => {
        /// Name and value of every feature.
        fn feature_values(features: &vk::PhysicalDeviceFeatures) -> Vec<(&'static str, bool)> {
            vec![$((stringify!($field), features.$field != vk::FALSE)),*]
        }
    };
}

features! {
    robust_buffer_access full_draw_index_uint32 image_cube_array independent_blend geometry_shader
    tessellation_shader sample_rate_shading dual_src_blend logic_op multi_draw_indirect
    draw_indirect_first_instance depth_clamp depth_bias_clamp fill_mode_non_solid depth_bounds wide_lines
    large_points alpha_to_one multi_viewport sampler_anisotropy texture_compression_etc2
    texture_compression_astc_ldr texture_compression_bc occlusion_query_precise pipeline_statistics_query
    vertex_pipeline_stores_and_atomics fragment_stores_and_atomics
    shader_tessellation_and_geometry_point_size shader_image_gather_extended
    shader_storage_image_extended_formats shader_storage_image_multisample
    shader_storage_image_read_without_format shader_storage_image_write_without_format
    shader_uniform_buffer_array_dynamic_indexing shader_sampled_image_array_dynamic_indexing
    shader_storage_buffer_array_dynamic_indexing shader_storage_image_array_dynamic_indexing
    shader_clip_distance shader_cull_distance shader_float64 shader_int64 shader_int16
    shader_resource_residency shader_resource_min_lod sparse_binding sparse_residency_buffer
    sparse_residency_image2_d sparse_residency_image3_d sparse_residency2_samples
    sparse_residency4_samples sparse_residency8_samples sparse_residency16_samples
    sparse_residency_aliased variable_multisample_rate inherited_queries
}

/// Refuses features that are not offered, naming the first.
pub fn check_features(wanted: &vk::PhysicalDeviceFeatures) -> Result<(), Error> {
    let offered = feature_values(&offered_features());
    let missing =
        feature_values(wanted).into_iter().zip(offered).find(|((_, want), (_, have))| *want && !have);
    match missing {
        Some(((name, _), _)) => Err(Error::FeatureNotPresent(name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_name() {
        let bytes = std::mem::size_of::<vk::PhysicalDeviceFeatures>();
        assert_eq!(feature_values(&vk::PhysicalDeviceFeatures::default()).len(), bytes / 4);
    }

    #[test]
    fn a_feature_that_is_not_offered_is_named() {
        let wanted = vk::PhysicalDeviceFeatures { geometry_shader: vk::TRUE, ..Default::default() };
        assert!(matches!(check_features(&wanted), Err(Error::FeatureNotPresent("geometry_shader"))));
        let wanted = vk::PhysicalDeviceFeatures { robust_buffer_access: vk::TRUE, ..Default::default() };
        check_features(&wanted).unwrap();
    }
}
