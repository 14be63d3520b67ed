//! Ends objects.

use ash::vk::{self, Handle};

use super::Runner;
use crate::api::slot::Id;
use crate::api::step::*;

// SAFETY (for every block): see the room's page.
impl Runner<'_> {
    pub(super) fn destroy(&mut self, id: Id) {
        let Some(object) = self.objects.get(&id).filter(|object| !object.common) else { return };
        let (raw, what, live) = (object.raw, object.what.clone(), object.live);
        if live || (!self.valid && may_end_twice(&what)) {
            self.end(raw, &what);
        }
        // What belonged to it has ended, too.
        for (other, object) in &mut self.objects {
            let child = match object.what {
                Create::Set { pool, .. } | Create::Commands { pool, .. } => pool == id,
                _ => false,
            };
            object.live &= !child && *other != id;
        }
        if self.valid {
            self.objects.retain(|_, object| object.live);
        }
    }

    /// Ends all objects that live, users before what they use.
    pub(super) fn destroy_all(&mut self) {
        // What is made of others is younger; memory is made after what lies in it, and ends last; so do surfaces.
        let last = |what: &Create| matches!(what, Create::Memory { .. } | Create::Surface {});
        let mut all: Vec<(Id, bool)> = self
            .objects
            .iter()
            .filter(|(_, one)| one.live && !one.common)
            .map(|(id, one)| (*id, last(&one.what)))
            .collect();
        all.sort_by_key(|(id, last)| (*last, std::cmp::Reverse(*id)));
        for (id, _) in all {
            if self.objects.get(&id).is_some_and(|object| object.live) {
                let pooled = match self.objects[&id].what {
                    // These end with their pools.
                    Create::Set { .. } | Create::Commands { .. } => true,
                    _ => false,
                };
                if !pooled {
                    self.destroy(id);
                }
            }
        }
    }

    fn end(&mut self, raw: u64, what: &Create) {
        let device = self.device();
        let own = Some(&self.callbacks);
        let more = &self.machine.more;
        // SAFETY: see above.
        unsafe {
            match what {
                Create::Memory { .. } => device.free_memory(Handle::from_raw(raw), own),
                Create::Buffer { .. } => device.destroy_buffer(Handle::from_raw(raw), own),
                Create::BufferView { .. } => device.destroy_buffer_view(Handle::from_raw(raw), own),
                Create::Image { .. } => device.destroy_image(Handle::from_raw(raw), own),
                Create::View { .. } => device.destroy_image_view(Handle::from_raw(raw), own),
                Create::Sampler { .. } => device.destroy_sampler(Handle::from_raw(raw), own),
                Create::SetLayout { .. } => device.destroy_descriptor_set_layout(Handle::from_raw(raw), own),
                Create::SetPool { .. } => device.destroy_descriptor_pool(Handle::from_raw(raw), own),
                Create::Set { pool, .. } => {
                    let freed = device.free_descriptor_sets(self.handle(*pool), &[Handle::from_raw(raw)]);
                    self.check("vkFreeDescriptorSets", freed);
                }
                Create::Template { .. } => {
                    device.destroy_descriptor_update_template(Handle::from_raw(raw), own)
                }
                Create::PipelineLayout { .. } => device.destroy_pipeline_layout(Handle::from_raw(raw), own),
                Create::Module { .. } => device.destroy_shader_module(Handle::from_raw(raw), own),
                Create::Cache { .. } => device.destroy_pipeline_cache(Handle::from_raw(raw), own),
                Create::Compute { .. } | Create::Graphics { .. } => {
                    device.destroy_pipeline(Handle::from_raw(raw), own);
                }
                Create::RenderPass { .. } => device.destroy_render_pass(Handle::from_raw(raw), own),
                Create::Framebuffer { .. } => device.destroy_framebuffer(Handle::from_raw(raw), own),
                Create::CommandPool { .. } => device.destroy_command_pool(Handle::from_raw(raw), own),
                Create::Commands { pool, .. } => {
                    // The loader does not look at these.
                    let pool: vk::CommandPool = self.handle(*pool);
                    device.free_command_buffers(pool, &[Handle::from_raw(raw)]);
                }
                Create::Fence { .. } => device.destroy_fence(Handle::from_raw(raw), own),
                Create::Semaphore { .. } => device.destroy_semaphore(Handle::from_raw(raw), own),
                Create::Event {} => device.destroy_event(Handle::from_raw(raw), own),
                Create::Queries { .. } => device.destroy_query_pool(Handle::from_raw(raw), own),
                Create::PrivateSlot {} => more.private.destroy_private_data_slot(Handle::from_raw(raw), own),
                Create::Surface {} => more.surface.destroy_surface(Handle::from_raw(raw), own),
                Create::Swapchain { .. } => more.swapchain.destroy_swapchain(Handle::from_raw(raw), own),
            }
        }
    }
}

/// Whether a second end is the driver's to refuse: surfaces are the loader's, and what comes from pools is known by them.
fn may_end_twice(what: &Create) -> bool {
    !matches!(what, Create::Surface {} | Create::Commands { .. })
}
