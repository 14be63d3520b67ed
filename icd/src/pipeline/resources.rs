//! Whether a pipeline's layout holds what a word of a uniform stream is taken from.

use ash::vk;
use vc4_shaders::program::{Descriptor, UniformSlot};

use super::info::GraphicsInfo;

/// What is missing for `slot`, if something is.
pub(super) fn check(info: &GraphicsInfo, slot: &UniformSlot) -> Result<(), String> {
    use vk::DescriptorType as Type;
    const BUFFERS: &[Type] = &[
        Type::UNIFORM_BUFFER,
        Type::UNIFORM_BUFFER_DYNAMIC,
        Type::STORAGE_BUFFER,
        Type::STORAGE_BUFFER_DYNAMIC,
    ];
    const IMAGES: &[Type] =
        &[Type::COMBINED_IMAGE_SAMPLER, Type::SAMPLED_IMAGE, Type::STORAGE_IMAGE, Type::INPUT_ATTACHMENT];
    const SAMPLERS: &[Type] = &[Type::COMBINED_IMAGE_SAMPLER, Type::SAMPLER];
    if let Some(texture) = slot.texture() {
        descriptor(info, texture.image, IMAGES)?;
        return texture.sampler.map_or(Ok(()), |sampler| descriptor(info, sampler, SAMPLERS));
    }
    match *slot {
        UniformSlot::Push(offset) if offset.checked_add(4).is_none_or(|end| end > info.layout.push_bytes) => {
            let bytes = info.layout.push_bytes;
            Err(format!("push constant byte {offset}, but the pipeline layout has {bytes} bytes"))
        }
        UniformSlot::Ubo { buffer, .. }
        | UniformSlot::UboBase { buffer, .. }
        | UniformSlot::UboLimit { buffer, .. } => descriptor(info, buffer, BUFFERS),
        UniformSlot::InstanceAttribute { location, .. } => instance_attribute(info, location),
        _ => Ok(()),
    }
}

fn descriptor(info: &GraphicsInfo, place: Descriptor, types: &[vk::DescriptorType]) -> Result<(), String> {
    let Descriptor { set, binding, element } = place;
    let found = info.layout.sets.get(set as usize).and_then(|set| set.binding(binding));
    let Some(found) = found else {
        return Err(format!("set {set}, binding {binding} is not in the pipeline layout"));
    };
    if !types.contains(&found.ty) {
        return Err(format!("set {set}, binding {binding} is a {:?}, not one of {types:?}", found.ty));
    }
    if element >= found.count {
        return Err(format!("set {set}, binding {binding} has {} elements, not {element}", found.count));
    }
    Ok(())
}

fn instance_attribute(info: &GraphicsInfo, location: u32) -> Result<(), String> {
    let attribute = info.vertex.attributes.iter().find(|attribute| attribute.location == location);
    let binding = attribute.and_then(|a| info.vertex.bindings.iter().find(|b| b.binding == a.binding));
    match binding {
        Some(binding) if binding.input_rate == vk::VertexInputRate::INSTANCE => Ok(()),
        _ => Err(format!("location {location} is no attribute that advances per instance")),
    }
}
