//! Commands that programs of one feature repeat, and the queries around them.

use ash::vk;

use super::error::{Error, Named};
use super::lab::{Lab, Object};

// SAFETY (for every block of this file): handles come from this device and live until the lab is dropped, when the
// queue is idle; create infos point to locals that outlive the call; one thread uses the lab.
impl Lab<'_> {
    /// A pool of queries.
    pub fn queries(&self, ty: vk::QueryType, count: u32) -> Result<vk::QueryPool, Error> {
        let create = vk::QueryPoolCreateInfo::default().query_type(ty).query_count(count);
        // SAFETY: see above.
        let pool = unsafe { self.device.create_query_pool(&create, None).named("vkCreateQueryPool")? };
        self.keep(Object::QueryPool(pool));
        Ok(pool)
    }

    /// A pool of queries of statistics.
    pub fn statistics(
        &self,
        flags: vk::QueryPipelineStatisticFlags,
        count: u32,
    ) -> Result<vk::QueryPool, Error> {
        let create = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::PIPELINE_STATISTICS);
        let create = create.query_count(count).pipeline_statistics(flags);
        // SAFETY: see above.
        let pool = unsafe { self.device.create_query_pool(&create, None).named("vkCreateQueryPool")? };
        self.keep(Object::QueryPool(pool));
        Ok(pool)
    }

    /// Draws all of a vertex buffer.
    pub fn draw(
        &self,
        commands: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        vertices: vk::Buffer,
        count: u32,
    ) {
        // SAFETY: see above.
        unsafe {
            self.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            self.device.cmd_bind_vertex_buffers(commands, 0, &[vertices], &[0]);
            self.device.cmd_draw(commands, count, 1, 0, 0);
        }
    }

    /// A barrier between everything before and after.
    pub fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
        let none = vk::DependencyFlags::empty();
        // SAFETY: see above.
        unsafe { self.device.cmd_pipeline_barrier(commands, all, all, none, &barrier, &[], &[]) }
    }

    /// The barrier of a subpass between drawing and reading what it drew.
    pub fn read_own(&self, commands: vk::CommandBuffer) {
        let (from, to) =
            (vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT, vk::PipelineStageFlags::FRAGMENT_SHADER);
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::COLOR_ATTACHMENT_WRITE)
            .dst_access_mask(vk::AccessFlags::INPUT_ATTACHMENT_READ)];
        let region = vk::DependencyFlags::BY_REGION;
        // SAFETY: see above.
        unsafe { self.device.cmd_pipeline_barrier(commands, from, to, region, &barrier, &[], &[]) }
    }
}
