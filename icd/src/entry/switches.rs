//! VK_EXT_extended_dynamic_state and its successor: state that makes pipelines of other kinds, by commands.

use ash::vk;

use super::guard::entry_points;
use super::read::slice;
use crate::foundation::error::Error;
use crate::foundation::handle::{get, opt};
use crate::objects::buffer::Buffer;
use crate::recording::command_buffer::CommandBuffer;

/// Commands that set a switch to a value.
macro_rules! switches {
    ($($name:ident $text:literal ($value:ident: $ty:ty) $field:ident = $made:expr;)*) => {
        entry_points! {
            $(fn $name(commands: vk::CommandBuffer, $value: $ty) {
                get::<CommandBuffer>(commands).switch($text, |switches| switches.$field = $made);
            })*
        }
    };
}

switches! {
    vkCmdSetCullModeEXT "vkCmdSetCullMode" (mode: vk::CullModeFlags) cull = mode;
    vkCmdSetFrontFaceEXT "vkCmdSetFrontFace" (face: vk::FrontFace) front_face = face;
    vkCmdSetPrimitiveTopologyEXT "vkCmdSetPrimitiveTopology" (topology: vk::PrimitiveTopology)
        topology = topology;
    vkCmdSetPrimitiveRestartEnableEXT "vkCmdSetPrimitiveRestartEnable" (enable: vk::Bool32)
        restart = enable != vk::FALSE;
    vkCmdSetRasterizerDiscardEnableEXT "vkCmdSetRasterizerDiscardEnable" (enable: vk::Bool32)
        discard = enable != vk::FALSE;
    vkCmdSetDepthBiasEnableEXT "vkCmdSetDepthBiasEnable" (enable: vk::Bool32)
        depth_bias = enable != vk::FALSE;
    vkCmdSetDepthTestEnableEXT "vkCmdSetDepthTestEnable" (enable: vk::Bool32)
        depth_test = enable != vk::FALSE;
    vkCmdSetDepthWriteEnableEXT "vkCmdSetDepthWriteEnable" (enable: vk::Bool32)
        depth_write = enable != vk::FALSE;
    vkCmdSetDepthCompareOpEXT "vkCmdSetDepthCompareOp" (op: vk::CompareOp) depth_compare = op;
    vkCmdSetStencilTestEnableEXT "vkCmdSetStencilTestEnable" (enable: vk::Bool32)
        stencil_test = enable != vk::FALSE;
}

entry_points! {
    fn vkCmdSetViewportWithCountEXT(
        commands: vk::CommandBuffer,
        count: u32,
        viewports: *const vk::Viewport,
    ) {
        get::<CommandBuffer>(commands).set_viewport(0, slice(viewports, count));
    }

    fn vkCmdSetScissorWithCountEXT(commands: vk::CommandBuffer, count: u32, scissors: *const vk::Rect2D) {
        get::<CommandBuffer>(commands).set_scissor(0, slice(scissors, count));
    }

    fn vkCmdSetDepthBoundsTestEnableEXT(commands: vk::CommandBuffer, enable: vk::Bool32) {
        if enable != vk::FALSE {
            let error = Error::FeatureNotPresent("depthBounds");
            get::<CommandBuffer>(commands).fail("vkCmdSetDepthBoundsTestEnable", error);
        }
    }

    fn vkCmdSetStencilOpEXT(
        commands: vk::CommandBuffer,
        faces: vk::StencilFaceFlags,
        fail_op: vk::StencilOp,
        pass_op: vk::StencilOp,
        depth_fail_op: vk::StencilOp,
        compare_op: vk::CompareOp,
    ) {
        get::<CommandBuffer>(commands).switch("vkCmdSetStencilOp", |switches| {
            let both = [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK];
            for (face, _) in switches.stencil.iter_mut().zip(both).filter(|(_, face)| faces.contains(*face)) {
                let operations = (fail_op, pass_op, depth_fail_op, compare_op);
                (face.fail_op, face.pass_op, face.depth_fail_op, face.compare_op) = operations;
            }
        });
    }

    fn vkCmdBindVertexBuffers2EXT(
        commands: vk::CommandBuffer,
        first: u32,
        count: u32,
        buffers: *const vk::Buffer,
        offsets: *const vk::DeviceSize,
        _sizes: *const vk::DeviceSize,
        strides: *const vk::DeviceSize,
    ) {
        let commands = get::<CommandBuffer>(commands);
        let bound = slice(buffers, count).iter().filter_map(|buffer| opt::<Buffer>(*buffer));
        commands.bind_vertex_buffers(first, bound.zip(slice(offsets, count).iter().copied()));
        let strides = slice(strides, count);
        if !strides.is_empty() {
            commands.switch("vkCmdBindVertexBuffers2", |switches| {
                let places = switches.strides.iter_mut().skip(first as usize);
                places.zip(strides).for_each(|(to, from)| *to = *from as u32);
            });
        }
    }

    fn vkCmdSetLogicOpEXT(commands: vk::CommandBuffer, _op: vk::LogicOp) {
        let error = Error::FeatureNotPresent("extended_dynamic_state2_logic_op");
        get::<CommandBuffer>(commands).fail("vkCmdSetLogicOp", error);
    }

    fn vkCmdSetPatchControlPointsEXT(commands: vk::CommandBuffer, _points: u32) {
        let error = Error::FeatureNotPresent("extended_dynamic_state2_patch_control_points");
        get::<CommandBuffer>(commands).fail("vkCmdSetPatchControlPoints", error);
    }
}
