//! Descriptor set layouts, pools and sets.

use ash::vk;

use super::guard::entry_points;
use super::read::{answer, destroy, give, objects, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::extension::Extension;
use crate::foundation::handle::{self, HostAllocator, get, opt};
use crate::foundation::limits::MAX_SET_DESCRIPTORS;
use crate::objects::buffer::{Buffer, BufferView};
use crate::objects::descriptor::{Binding, Descriptor, DescriptorPool, DescriptorSet, SetLayout};
use crate::objects::image_view::ImageView;
use crate::objects::sampler::Sampler;

unsafe fn read_binding(info: &vk::DescriptorSetLayoutBinding<'_>) -> Binding {
    let sampled = matches!(
        info.descriptor_type,
        vk::DescriptorType::SAMPLER | vk::DescriptorType::COMBINED_IMAGE_SAMPLER
    );
    // For other types the pointer is ignored and may be anything.
    let count = if sampled { info.descriptor_count } else { 0 };
    // SAFETY: the caller passes a valid structure with live handles.
    let immutable = unsafe { objects(info.p_immutable_samplers, count) };
    Binding::new(info.binding, info.descriptor_type, info.descriptor_count, info.stage_flags, immutable)
}

unsafe fn read_image(info: &vk::DescriptorImageInfo, view: bool, sampler: bool) -> Descriptor {
    // SAFETY: the caller passes handles that are null or live where the type reads them; where the slot
    // has an immutable sampler, the sampler's handle may be anything, which is why it is read last and
    // only for types with one.
    unsafe {
        Descriptor::Image {
            view: if view { opt::<ImageView>(info.image_view).cloned() } else { None },
            sampler: if sampler { opt::<Sampler>(info.sampler).cloned() } else { None },
        }
    }
}

unsafe fn read_buffer(info: &vk::DescriptorBufferInfo) -> Descriptor {
    // SAFETY: the caller passes a handle that is null or live.
    match unsafe { opt::<Buffer>(info.buffer) } {
        None => Descriptor::Empty,
        Some(buffer) => Descriptor::Buffer {
            buffer: buffer.clone(),
            offset: info.offset,
            range: buffer.clamp(info.offset, info.range),
        },
    }
}

/// The descriptors of a write. `immutable` says that the sampler handles must not be looked at.
pub(super) unsafe fn read_write(
    write: &vk::WriteDescriptorSet<'_>,
    immutable: bool,
) -> Result<Vec<Descriptor>, Error> {
    use vk::DescriptorType as Type;
    let count = write.descriptor_count;
    // SAFETY: the caller passes a valid structure with live handles in the array of its type.
    unsafe {
        let images = |view: bool, sampler: bool| {
            let infos = slice(write.p_image_info, count).iter();
            infos.map(|info| read_image(info, view, sampler && !immutable)).collect()
        };
        Ok(match write.descriptor_type {
            Type::SAMPLER if immutable => vec![Descriptor::Empty; count as usize],
            Type::SAMPLER => {
                let infos = slice(write.p_image_info, count).iter();
                infos.map(|info| Descriptor::Sampler(get::<Sampler>(info.sampler).clone())).collect()
            }
            Type::COMBINED_IMAGE_SAMPLER => images(true, true),
            Type::SAMPLED_IMAGE | Type::STORAGE_IMAGE | Type::INPUT_ATTACHMENT => images(true, false),
            Type::UNIFORM_BUFFER
            | Type::STORAGE_BUFFER
            | Type::UNIFORM_BUFFER_DYNAMIC
            | Type::STORAGE_BUFFER_DYNAMIC => {
                slice(write.p_buffer_info, count).iter().map(|info| read_buffer(info)).collect()
            }
            Type::UNIFORM_TEXEL_BUFFER | Type::STORAGE_TEXEL_BUFFER => {
                let views = objects::<BufferView>(write.p_texel_buffer_view, count).into_iter();
                views.map(Descriptor::Texels).collect()
            }
            other => return Err(Error::InvalidUse(format!("descriptor type {other:?}"))),
        })
    }
}

unsafe fn apply_write(write: &vk::WriteDescriptorSet<'_>) -> Result<(), Error> {
    // SAFETY: the caller passes a valid structure with live handles.
    unsafe {
        let set = get::<DescriptorSet>(write.dst_set);
        let values = read_write(write, set.layout().has_immutable(write.dst_binding))?;
        set.write(write.dst_binding, write.dst_array_element, values)
    }
}

unsafe fn apply_copy(copy: &vk::CopyDescriptorSet<'_>) -> Result<(), Error> {
    // SAFETY: the caller passes live handles.
    let (from, to) = unsafe { (get::<DescriptorSet>(copy.src_set), get::<DescriptorSet>(copy.dst_set)) };
    let values = from.read(copy.src_binding, copy.src_array_element, copy.descriptor_count)?;
    to.write(copy.dst_binding, copy.dst_array_element, values)
}

/// Allocates all sets or none.
unsafe fn allocate(
    pool: &DescriptorPool,
    layouts: &[vk::DescriptorSetLayout],
) -> Result<Vec<vk::DescriptorSet>, Error> {
    let mut made = Vec::with_capacity(layouts.len());
    for layout in layouts {
        // SAFETY: the caller passes live handles.
        let layout = unsafe { get::<SetLayout>(*layout) };
        match pool.allocate(layout, |set| handle::create(pool.allocator, set)) {
            Ok(handle) => made.push(handle),
            Err(error) => {
                // SAFETY: the sets were just made and nobody knows them yet.
                unsafe { free(pool, &made) };
                return Err(error);
            }
        }
    }
    Ok(made)
}

unsafe fn free(pool: &DescriptorPool, sets: &[vk::DescriptorSet]) {
    for handle in sets {
        // SAFETY: what the pool knows is live.
        let layout = || unsafe { get::<DescriptorSet>(*handle) }.layout().clone();
        if pool.forget(*handle, layout) {
            // SAFETY: as above, and the pool does not know it any more.
            drop(unsafe { handle::take::<DescriptorSet>(*handle, HostAllocator::default()) });
        }
    }
}

unsafe fn end_sets(pool: &DescriptorPool) {
    for handle in pool.reset() {
        // SAFETY: the pool's sets are live until here.
        drop(unsafe { handle::take::<DescriptorSet>(handle, HostAllocator::default()) });
    }
}

entry_points! {
    fn vkCreateDescriptorSetLayout(
        device: vk::Device,
        info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DescriptorSetLayout,
    ) -> vk::Result {
        let bindings = slice((*info).p_bindings, (*info).binding_count);
        let layout = SetLayout::checked(bindings.iter().map(|binding| read_binding(binding)).collect())?;
        give(get::<OpenDevice>(device).allocator(), callbacks, out, layout)
    }

    fn vkGetDescriptorSetLayoutSupportKHR(
        _device: vk::Device,
        info: *const vk::DescriptorSetLayoutCreateInfo<'_>,
        out: *mut vk::DescriptorSetLayoutSupport<'_>,
    ) {
        let bindings = slice((*info).p_bindings, (*info).binding_count).iter();
        let descriptors: u64 = bindings.map(|binding| u64::from(binding.descriptor_count)).sum();
        (*out).supported = vk::Bool32::from(descriptors <= u64::from(MAX_SET_DESCRIPTORS));
        type Variable<'a> = vk::DescriptorSetVariableDescriptorCountLayoutSupport<'a>;
        if let Some(variable) = answer::<Variable<'_>>((*out).p_next) {
            // No binding's number of descriptors is left open.
            variable.max_variable_descriptor_count = 0;
        }
    }

    fn vkDestroyDescriptorSetLayout(
        _device: vk::Device,
        layout: vk::DescriptorSetLayout,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<SetLayout>(layout, callbacks);
    }

    fn vkCreateDescriptorPool(
        device: vk::Device,
        info: *const vk::DescriptorPoolCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DescriptorPool,
    ) -> vk::Result {
        let info = &*info;
        let free_sets = info.flags.contains(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET);
        let sizes = slice(info.p_pool_sizes, info.pool_size_count);
        let device = get::<OpenDevice>(device);
        let allocator = HostAllocator::new(callbacks).or(device.allocator());
        let pool = DescriptorPool::new(info.max_sets, sizes, free_sets, allocator);
        give(device.allocator(), callbacks, out, pool)
    }

    fn vkDestroyDescriptorPool(
        _device: vk::Device,
        pool: vk::DescriptorPool,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        if let Some(pool) = handle::take::<DescriptorPool>(pool, HostAllocator::new(callbacks)) {
            end_sets(&pool);
        }
    }

    fn vkResetDescriptorPool(
        _device: vk::Device,
        pool: vk::DescriptorPool,
        _flags: vk::DescriptorPoolResetFlags,
    ) -> vk::Result {
        end_sets(get::<DescriptorPool>(pool));
        Ok(())
    }

    fn vkAllocateDescriptorSets(
        device: vk::Device,
        info: *const vk::DescriptorSetAllocateInfo<'_>,
        out: *mut vk::DescriptorSet,
    ) -> vk::Result {
        let info = &*info;
        let layouts = slice(info.p_set_layouts, info.descriptor_set_count);
        // On failure every element is the null handle.
        (0..layouts.len()).for_each(|index| out.add(index).write(vk::DescriptorSet::null()));
        let device = get::<OpenDevice>(device);
        let sets = allocate(get::<DescriptorPool>(info.descriptor_pool), layouts);
        let sets = sets.map_err(|error| match error {
            Error::OutOfPoolMemory(why) if device.has(Extension::Maintenance1) || device.is_of(vk::API_VERSION_1_1) => {
                Error::Result(vk::Result::ERROR_OUT_OF_POOL_MEMORY, why.into())
            }
            error => error,
        })?;
        std::ptr::copy_nonoverlapping(sets.as_ptr(), out, sets.len());
        Ok(())
    }

    fn vkFreeDescriptorSets(
        _device: vk::Device,
        pool: vk::DescriptorPool,
        count: u32,
        sets: *const vk::DescriptorSet,
    ) -> vk::Result {
        free(get::<DescriptorPool>(pool), slice(sets, count));
        Ok(())
    }

    fn vkUpdateDescriptorSets(
        _device: vk::Device,
        write_count: u32,
        writes: *const vk::WriteDescriptorSet<'_>,
        copy_count: u32,
        copies: *const vk::CopyDescriptorSet<'_>,
    ) {
        let writes = slice(writes, write_count).iter().map(|write| apply_write(write));
        let copies = slice(copies, copy_count).iter().map(|copy| apply_copy(copy));
        for error in writes.chain(copies).filter_map(Result::err) {
            error.report("vkUpdateDescriptorSets");
        }
    }
}
