//! The record of a hang (kernel-abi.md §4.6, §11).

use bytemuck::bytes_of;
use nix::errno::Errno;
use vc4_kernel_abi::uapi::{GetHangState, GetHangStateBo};

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::kernel::ListRange;
use crate::lock::lock;

impl File {
    pub(super) fn get_hang_state(&self, arg: &mut GetHangState, process: &dyn Process) -> Answer {
        let mut kept = lock(&self.device.hang);
        let hang = kept.as_ref().ok_or(Errno::ENOENT)?;
        let count = hang.objects.len() as u32;
        if arg.bo_count < count {
            arg.bo_count = count;
            return Ok(());
        }
        let mut elements = Vec::new();
        for object in &hang.objects {
            let handle = self.hold(object.clone())?;
            let element = GetHangStateBo { handle, paddr: object.address(), size: object.size(), pad: 0 };
            elements.extend_from_slice(bytes_of(&element));
        }
        let end = |list: &ListRange| list.address.wrapping_add(list.length);
        *arg = GetHangState {
            bo: arg.bo,
            bo_count: count,
            start_bin: hang.bin.map_or(0, |list| list.address),
            start_render: hang.render.address,
            ct0ea: hang.bin.as_ref().map_or(0, end),
            ct1ea: end(&hang.render),
            ..GetHangState::default()
        };
        let result = process.write(arg.bo, &elements);
        *kept = None;
        result
    }
}
