//! VK_KHR_descriptor_update_template and VK_KHR_push_descriptor.

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;

use super::descriptor::read_write;
use super::guard::entry_points;
use super::read::{destroy, give, slice};
use crate::execution::open_device::OpenDevice;
use crate::foundation::error::Error;
use crate::foundation::handle::{get, opt};
use crate::objects::descriptor::{Descriptor, DescriptorSet, SetLayout, UpdateTemplate};
use crate::pipeline::layout::PipelineLayout;
use crate::recording::command_buffer::CommandBuffer;

/// One write: binding, first element, values.
type Write = (u32, u32, Vec<Descriptor>);

/// The writes that a template makes of an application's data.
unsafe fn from_template(
    template: &UpdateTemplate,
    layout: &SetLayout,
    data: *const c_void,
) -> Result<Vec<Write>, Error> {
    let mut writes = Vec::new();
    for entry in &template.entries {
        for index in 0..entry.descriptor_count {
            // SAFETY: the data are as long as the template says, by valid usage.
            let place = unsafe { data.byte_add(entry.offset + index as usize * entry.stride) };
            let element = entry.dst_array_element.saturating_add(index);
            let write = vk::WriteDescriptorSet {
                dst_binding: entry.dst_binding,
                dst_array_element: element,
                descriptor_count: 1,
                descriptor_type: entry.descriptor_type,
                p_image_info: place.cast(),
                p_buffer_info: place.cast(),
                p_texel_buffer_view: place.cast(),
                ..Default::default()
            };
            // SAFETY: the array of the entry's type holds live handles, by valid usage.
            let values = unsafe { read_write(&write, layout.has_immutable(entry.dst_binding)) }?;
            writes.push((entry.dst_binding, element, values));
        }
    }
    Ok(writes)
}

/// The layout of a set number of a pipeline layout.
fn set_layout(layout: &PipelineLayout, set: u32) -> Result<&Arc<SetLayout>, Error> {
    let missing =
        || Error::InvalidUse(format!("set {set} of a pipeline layout of {} sets", layout.sets.len()));
    layout.sets.get(set as usize).ok_or_else(missing)
}

/// Pushes the descriptors that `writes` reads for a set's layout; a failure makes the recording fail.
fn push(
    command: &'static str,
    commands: &CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: &PipelineLayout,
    set: u32,
    writes: impl FnOnce(&SetLayout) -> Result<Vec<Write>, Error>,
) {
    let layout = set_layout(layout, set);
    match layout.and_then(|layout| writes(layout).map(|writes| (layout, writes))) {
        Ok((layout, writes)) => commands.push_descriptors(command, point, layout, set, writes),
        Err(error) => commands.fail(command, error),
    }
}

entry_points! {
    fn vkCreateDescriptorUpdateTemplateKHR(
        device: vk::Device,
        info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
        out: *mut vk::DescriptorUpdateTemplate,
    ) -> vk::Result {
        let info = &*info;
        let pushed = info.template_type == vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR;
        let template = UpdateTemplate {
            entries: slice(info.p_descriptor_update_entries, info.descriptor_update_entry_count).to_vec(),
            point: if pushed { info.pipeline_bind_point } else { vk::PipelineBindPoint::GRAPHICS },
        };
        give(get::<OpenDevice>(device).allocator(), callbacks, out, template)
    }

    fn vkDestroyDescriptorUpdateTemplateKHR(
        _device: vk::Device,
        template: vk::DescriptorUpdateTemplate,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        destroy::<UpdateTemplate>(template, callbacks);
    }

    fn vkUpdateDescriptorSetWithTemplateKHR(
        _device: vk::Device,
        set: vk::DescriptorSet,
        template: vk::DescriptorUpdateTemplate,
        data: *const c_void,
    ) {
        let set = get::<DescriptorSet>(set);
        let writes = from_template(get::<UpdateTemplate>(template), set.layout(), data);
        let written = writes.and_then(|writes| {
            writes.into_iter().try_for_each(|(binding, element, values)| set.write(binding, element, values))
        });
        if let Err(error) = written {
            error.report("vkUpdateDescriptorSetWithTemplateKHR");
        }
    }

    fn vkCmdPushDescriptorSetKHR(
        commands: vk::CommandBuffer,
        point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        set: u32,
        count: u32,
        writes: *const vk::WriteDescriptorSet<'_>,
    ) {
        let layout = get::<PipelineLayout>(layout);
        push("vkCmdPushDescriptorSetKHR", get::<CommandBuffer>(commands), point, layout, set, |layout| {
            let read = |write: &vk::WriteDescriptorSet<'_>| {
                let values = read_write(write, layout.has_immutable(write.dst_binding))?;
                Ok((write.dst_binding, write.dst_array_element, values))
            };
            slice(writes, count).iter().map(read).collect()
        });
    }

    fn vkCmdPushDescriptorSetWithTemplateKHR(
        commands: vk::CommandBuffer,
        template: vk::DescriptorUpdateTemplate,
        layout: vk::PipelineLayout,
        set: u32,
        data: *const c_void,
    ) {
        let (layout, template) = (get::<PipelineLayout>(layout), opt::<UpdateTemplate>(template));
        let Some(template) = template else { return };
        let (name, commands) = ("vkCmdPushDescriptorSetWithTemplateKHR", get::<CommandBuffer>(commands));
        push(name, commands, template.point, layout, set, |layout| from_template(template, layout, data));
    }
}
