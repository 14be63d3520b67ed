//! BOs: making, mapping, naming, tiling, purging (kernel-abi.md §4.3–§4.10, §12).

use std::sync::Arc;

use nix::errno::Errno;
use vc4_kernel_abi::uapi::{
    CreateBo, CreateShaderBo, GemMadvise, GetTiling, MODIFIER_LINEAR, MODIFIER_T_TILED, MmapBo, SetTiling,
};

use crate::drm::file::File;
use crate::drm::node::Answer;
use crate::drm::process::{Process, read_bytes};
use crate::drm::uapi::{GemClose, GemFlink, GemOpen};
use crate::lock::lock;

/// `madv` values of GEM_MADVISE.
const WILL_NEED: u32 = 0;
const DO_NOT_NEED: u32 = 1;

impl File {
    pub(super) fn create_bo(&self, arg: &mut CreateBo, _: &dyn Process) -> Answer {
        arg.handle = lock(&self.bos).insert(self.device.make(|| self.device.simulator.new_bo(arg.size))?)?;
        Ok(())
    }

    pub(super) fn create_shader_bo(&self, arg: &mut CreateShaderBo, process: &dyn Process) -> Answer {
        if arg.size == 0 || arg.size % 8 != 0 || arg.flags != 0 || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        // The kernel would find the memory first; bytes that are not there need none.
        let bytes = read_bytes(process, arg.data, arg.size)?;
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().expect("chunks of eight bytes")))
            .collect();
        let object = self.device.make(|| self.device.simulator.new_shader_bo(&words))?;
        arg.handle = lock(&self.bos).insert(object)?;
        Ok(())
    }

    pub(super) fn mmap_bo(&self, arg: &mut MmapBo, _: &dyn Process) -> Answer {
        arg.offset = self.object(arg.handle).ok_or(Errno::EINVAL)?.mmap_offset();
        Ok(())
    }

    pub(super) fn gem_close(&self, arg: &mut GemClose, _: &dyn Process) -> Answer {
        let closed = lock(&self.bos).remove(arg.handle);
        closed.map(drop).ok_or(Errno::EINVAL)
    }

    pub(super) fn gem_flink(&self, arg: &mut GemFlink, _: &dyn Process) -> Answer {
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        let mut names = lock(&self.device.names);
        let mut state = object.state();
        if state.name == 0 {
            names.retain(|_, object| object.strong_count() > 0);
            state.name = names.last_key_value().map_or(1, |(last, _)| last + 1);
            names.insert(state.name, Arc::downgrade(&object));
        }
        arg.name = state.name;
        Ok(())
    }

    pub(super) fn gem_open(&self, arg: &mut GemOpen, _: &dyn Process) -> Answer {
        let named = lock(&self.device.names).get(&arg.name).and_then(|object| object.upgrade());
        let object = named.ok_or(Errno::ENOENT)?;
        arg.size = object.size().into();
        arg.handle = lock(&self.bos).insert(object)?;
        Ok(())
    }

    pub(super) fn set_tiling(&self, arg: &mut SetTiling, _: &dyn Process) -> Answer {
        if arg.flags != 0 || ![MODIFIER_LINEAR, MODIFIER_T_TILED].contains(&arg.modifier) {
            return Err(Errno::EINVAL);
        }
        self.object(arg.handle).ok_or(Errno::ENOENT)?.state().modifier = arg.modifier;
        Ok(())
    }

    pub(super) fn get_tiling(&self, arg: &mut GetTiling, _: &dyn Process) -> Answer {
        if arg.flags != 0 || arg.modifier != 0 {
            return Err(Errno::EINVAL);
        }
        arg.modifier = self.object(arg.handle).ok_or(Errno::ENOENT)?.state().modifier;
        Ok(())
    }

    pub(super) fn gem_madvise(&self, arg: &mut GemMadvise, _: &dyn Process) -> Answer {
        if ![WILL_NEED, DO_NOT_NEED].contains(&arg.madv) || arg.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let object = self.object(arg.handle).ok_or(Errno::ENOENT)?;
        let mut state = object.state();
        if state.imported {
            return Err(Errno::EINVAL);
        }
        arg.retained = state.bo.is_some().into();
        if state.bo.is_some() {
            state.needed = arg.madv == WILL_NEED;
        }
        Ok(())
    }
}
