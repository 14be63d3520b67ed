//! BOs: memory that a process and the GPU share.

use std::sync::{Mutex, OnceLock};

use vc4_kernel_abi::validate::{BoInfo, ShaderInfo};

use super::backing::BoFile;
use crate::memory::Allocation;

/// A BO: pages, and what validation recorded if it holds a shader.
pub struct Bo {
    /// The file that others share its pages by, once there is one; it goes before the pages do.
    pub file: OnceLock<BoFile>,
    /// Its pages.
    pub pages: Allocation,
    /// Validation results of a shader BO.
    pub shader: Option<ShaderInfo>,
    /// Its name in debug output, empty without one.
    pub label: Mutex<String>,
}

impl Bo {
    /// The file that others share its pages by.
    pub fn file(&self) -> Option<&BoFile> {
        self.file.get()
    }

    /// What the validator is told of it.
    pub(super) fn info(&self) -> BoInfo<'_> {
        BoInfo { bus_address: self.pages.address(), size: self.pages.bytes(), shader: self.shader.as_ref() }
    }
}
