//! A compiled compute shader.

use vc4_shaders::binding::Descriptor;
use vc4_shaders::ir::{Op, Shader, Stage, Workgroup};

use crate::dispatch::{Dispatch, Halt};

/// Why a shader does not become a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// It is of another stage.
    #[error("a {} stage is no compute kernel", .0.name())]
    Stage(Stage),
    /// An operation that only other stages have, or that lowering for the QPU made.
    #[error("no CPU code for {op}")]
    Operation {
        /// The instruction.
        op: String,
    },
}

/// A compiled compute shader.
#[derive(Debug)]
pub struct Kernel {
    workgroup: Workgroup,
    buffers: Vec<Descriptor>,
    images: Vec<Op>,
}

impl Kernel {
    /// Compiles an optimised compute stage.
    ///
    /// # Errors
    /// What of it has no code.
    pub fn compile(shader: &Shader) -> Result<Kernel, CpuError> {
        if shader.stage != Stage::Compute {
            return Err(CpuError::Stage(shader.stage));
        }
        Err(CpuError::Operation { op: "anything".into() })
    }

    /// Its workgroup.
    pub fn workgroup(&self) -> &Workgroup {
        &self.workgroup
    }

    /// The buffers it names, uniform and storage, each once.
    pub fn buffers(&self) -> &[Descriptor] {
        &self.buffers
    }

    /// Its image operations, in the order of the numbers that [`crate::Images::access`] gets.
    pub fn images(&self) -> &[Op] {
        &self.images
    }

    /// Runs all workgroups of a dispatch, on several threads, and returns when all have ended.
    ///
    /// # Errors
    /// Why not all of them ran.
    ///
    /// # Safety
    /// Every range of `dispatch.buffers` is readable and, where the kernel stores to it, writable memory for as long as
    /// this runs. Other threads may access it at the same time only as Vulkan's memory model lets them.
    pub unsafe fn run(&self, _dispatch: &Dispatch<'_>) -> Result<(), Halt> {
        Ok(())
    }
}
