//! Names of BOs in debug output (kernel-abi.md §4.9).

use nix::errno::Errno;
use vc4_kernel_abi::uapi::LabelBo;

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::Process;
use crate::lock::lock;

/// Bytes looked at together: never across a page end, behind which memory may not be readable.
const PAGE: u64 = 4096;

impl File {
    pub(super) fn label_bo(&self, arg: &mut LabelBo, process: &dyn Process) -> Answer {
        if arg.len == 0 {
            return Err(Errno::EINVAL);
        }
        let name = read_string(process, arg.name, u64::from(arg.len) + 1)?;
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        let text = String::from_utf8_lossy(&name).into_owned();
        log::debug!(target: "vc4::kernel", "BO {} at {:#x} is `{text}`", arg.handle, object.address());
        if let Some(bo) = &object.state().bo {
            *lock(&bo.label) = text;
        }
        Ok(())
    }
}

/// The string at `address` without its zero, which must be among the first `limit` bytes.
fn read_string(process: &dyn Process, address: u64, limit: u64) -> Result<Vec<u8>, Errno> {
    let mut text = Vec::new();
    while (text.len() as u64) < limit {
        let at = address.checked_add(text.len() as u64).ok_or(Errno::EFAULT)?;
        let mut bytes = vec![0; (PAGE - at % PAGE).min(limit - text.len() as u64) as usize];
        process.read(at, &mut bytes)?;
        if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
            text.extend_from_slice(&bytes[..end]);
            return Ok(text);
        }
        text.extend(bytes);
    }
    Err(Errno::EINVAL)
}
