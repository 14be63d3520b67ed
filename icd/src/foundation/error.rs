//! Everything that can go wrong, and the one place where it becomes a `VkResult`.

use ash::vk;
use vc4_kernel_abi::GpuError;

/// A failure, with its evidence.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The allocation callbacks or the heap refused.
    #[error("out of host memory")]
    OutOfHostMemory,
    /// An allocation that cannot be met.
    #[error(
        "out of device memory: {what} needs {bytes} bytes, the device has {available} (on a Raspberry Pi that is what `cma=` \
         reserves, see config.txt)"
    )]
    OutOfDeviceMemory {
        /// What was to be allocated.
        what: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that the device offers in all.
        available: u64,
    },
    /// A descriptor pool has no room left.
    #[error("the descriptor pool has no room: {0}")]
    OutOfPoolMemory(&'static str),
    /// The device answered with an error.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A compute kernel that did not run to its end.
    #[error("{0}")]
    Dispatch(String),
    /// An earlier error ended this device.
    #[error("the device was lost earlier")]
    DeviceLost,
    /// No device can be used.
    #[error("{0}")]
    NoDevice(String),
    /// A range outside its memory, or memory that is not mapped.
    #[error("memory cannot be mapped: {0}")]
    MemoryMap(String),
    /// An extension that is not offered.
    #[error("extension {0} is not offered; enumerate extensions before enabling them")]
    ExtensionNotPresent(String),
    /// Layers belong to the loader, the driver has none.
    #[error("layer {0} is not part of this driver; layers are the loader's")]
    LayerNotPresent(String),
    /// A feature that is not offered.
    #[error("feature {0} is not offered; see vkGetPhysicalDeviceFeatures")]
    FeatureNotPresent(&'static str),
    /// A combination of format, type, tiling, usage and flags that is not offered.
    #[error("{0}")]
    FormatNotSupported(String),
    /// Others have laid an image out as the machine cannot read it.
    #[error("a plane's layout does not fit: {0}")]
    PlaneLayout(String),
    /// Something legal that this driver cannot do yet.
    #[error("{what} is not supported by this driver yet; {instead}")]
    Unsupported {
        /// The thing asked for.
        what: String,
        /// What an application can do instead.
        instead: &'static str,
    },
    /// A program that cannot be compiled.
    #[error("invalid or unsupported shader: {0}")]
    Shader(String),
    /// A program that is fine but larger than the machine.
    #[error("shader too large for the hardware: {0}")]
    ShaderDoesNotFit(String),
    /// Broken rules of the application that the driver happens to see.
    #[error("invalid use: {0}")]
    InvalidUse(String),
    /// A bug of the driver, caught at the edge.
    #[error("driver bug (panic): {0}")]
    Panic(String),
    /// A command buffer whose recording failed; the command said why.
    #[error("the recording failed at {0}")]
    Recording(&'static str, vk::Result),
    /// More objects than the limit.
    #[error("more than {what} = {limit} objects")]
    TooManyObjects {
        /// The limit's name.
        what: &'static str,
        /// Its value.
        limit: u32,
    },
    /// A result that is no failure of the driver (surface states of the window system).
    #[error("{0:?}: {1}")]
    Result(vk::Result, String),
}

impl Error {
    /// An [`Error::Unsupported`].
    pub fn unsupported(what: impl Into<String>, instead: &'static str) -> Error {
        Error::Unsupported { what: what.into(), instead }
    }

    /// Something would have to be compiled where that is not allowed.
    pub fn compile_required() -> Error {
        Error::Result(
            vk::Result::PIPELINE_COMPILE_REQUIRED,
            "no cache has the programs of the pipeline".into(),
        )
    }

    /// What the application sees.
    pub fn result(&self) -> vk::Result {
        match self {
            Error::OutOfHostMemory => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            // ERROR_OUT_OF_POOL_MEMORY came with VK_KHR_maintenance1; a 1.0 device has this one.
            Error::OutOfDeviceMemory { .. } | Error::OutOfPoolMemory(_) => {
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
            }
            Error::Gpu(gpu) => gpu_result(gpu),
            Error::DeviceLost | Error::Dispatch(_) => vk::Result::ERROR_DEVICE_LOST,
            Error::NoDevice(_) => vk::Result::ERROR_INITIALIZATION_FAILED,
            Error::MemoryMap(_) => vk::Result::ERROR_MEMORY_MAP_FAILED,
            Error::ExtensionNotPresent(_) => vk::Result::ERROR_EXTENSION_NOT_PRESENT,
            Error::LayerNotPresent(_) => vk::Result::ERROR_LAYER_NOT_PRESENT,
            Error::FeatureNotPresent(_) | Error::Unsupported { .. } => vk::Result::ERROR_FEATURE_NOT_PRESENT,
            Error::FormatNotSupported(_) => vk::Result::ERROR_FORMAT_NOT_SUPPORTED,
            Error::PlaneLayout(_) => vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT,
            Error::Shader(_) | Error::ShaderDoesNotFit(_) => vk::Result::ERROR_INVALID_SHADER_NV,
            Error::InvalidUse(_) => vk::Result::ERROR_VALIDATION_FAILED_EXT,
            Error::Panic(_) => vk::Result::ERROR_UNKNOWN,
            Error::TooManyObjects { .. } => vk::Result::ERROR_TOO_MANY_OBJECTS,
            Error::Recording(_, result) | Error::Result(result, _) => *result,
        }
    }

    /// Whether only the command that met it is affected: the queue leaves that out and goes on. Everything else says
    /// that the device or the driver is not as it should be.
    pub fn spares_device(&self) -> bool {
        match self {
            Error::MemoryMap(_)
            | Error::FeatureNotPresent(_)
            | Error::FormatNotSupported(_)
            | Error::PlaneLayout(_)
            | Error::Unsupported { .. }
            | Error::Shader(_)
            | Error::ShaderDoesNotFit(_)
            | Error::InvalidUse(_) => true,
            Error::OutOfHostMemory
            | Error::OutOfDeviceMemory { .. }
            | Error::OutOfPoolMemory(_)
            | Error::Gpu(_)
            | Error::DeviceLost
            | Error::Dispatch(_)
            | Error::NoDevice(_)
            | Error::ExtensionNotPresent(_)
            | Error::LayerNotPresent(_)
            | Error::Panic(_)
            | Error::Recording(..)
            | Error::TooManyObjects { .. }
            | Error::Result(..) => false,
        }
    }

    /// Reports the failure of a command to the log, once.
    pub fn report(&self, command: &str) {
        log::log!(target: "vc4::api", self.level(), "{command}: {self}");
    }

    /// How loudly: answers to questions are no news.
    fn level(&self) -> log::Level {
        match self {
            // What the application cannot help: somebody has to know why there is no picture.
            Error::Result(
                vk::Result::ERROR_NATIVE_WINDOW_IN_USE_KHR | vk::Result::ERROR_INITIALIZATION_FAILED,
                _,
            ) => log::Level::Warn,
            Error::FormatNotSupported(_) | Error::Recording(..) | Error::Result(..) => log::Level::Debug,
            _ => log::Level::Error,
        }
    }
}

fn gpu_result(error: &GpuError) -> vk::Result {
    match error {
        GpuError::OutOfMemory(_) => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
        GpuError::NoDevice(_) => vk::Result::ERROR_INITIALIZATION_FAILED,
        GpuError::Refused(_) | GpuError::Hang(_) | GpuError::Os { .. } => vk::Result::ERROR_DEVICE_LOST,
    }
}
