//! Which device to drive: `VC4VK_DEVICE=auto|drm[:PATH]|sim|noop`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use vc4_kernel_abi::environment;
use vc4_kernel_abi::{Choice, DrmGpu, Gpu, GpuError, Noop};

use crate::foundation::facts;

/// The device to drive, or `None` with the reason logged.
pub fn find() -> Option<Arc<dyn Gpu>> {
    let text = environment::word("VC4VK_DEVICE").unwrap_or_default();
    let choice = match text.parse::<Choice>() {
        Ok(choice) => choice,
        Err(error) => {
            log::error!(target: "vc4::probe", "VC4VK_DEVICE={text:?} is {error}; no device");
            return None;
        }
    };
    if let Err(what) = facts::check() {
        log::error!(target: "vc4::probe", "{what}; no device");
        return None;
    }
    let found = match &choice {
        Choice::Drm(path) => open_drm(path.as_deref()),
        Choice::Sim => open_simulator(),
        Choice::Noop => Ok(Arc::new(Noop::new()) as Arc<dyn Gpu>),
        Choice::Auto => match open_drm(None) {
            Err(GpuError::NoDevice(why)) if alone(environment::variable) => {
                log::info!(target: "vc4::probe", "{why}; using the simulator");
                open_simulator()
            }
            Err(GpuError::NoDevice(why)) => {
                log::info!(target: "vc4::probe", "{why}; no device (VC4VK_DEVICE=sim gives a simulated one)");
                return None;
            }
            opened => opened,
        },
    };
    match found {
        Ok(gpu) => {
            log::info!(target: "vc4::probe", "driving {}", gpu.description());
            Some(gpu)
        }
        Err(error) => {
            log::error!(target: "vc4::probe", "VC4VK_DEVICE={text}: {error}");
            None
        }
    }
}

/// What tells the loader which drivers to load.
const DRIVER_LISTS: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];

/// Whether somebody asked for this driver rather than for any: the loader was given a list of drivers. Once the driver is
/// installed on a machine without the GPU, a slow device in the list of every program would only be in the way.
fn alone(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    DRIVER_LISTS.iter().any(|name| variable(name).is_some_and(|list| !list.is_empty()))
}

fn open_drm(path: Option<&Path>) -> Result<Arc<dyn Gpu>, GpuError> {
    Ok(Arc::new(DrmGpu::open(path)?))
}

#[cfg(feature = "sim")]
fn open_simulator() -> Result<Arc<dyn Gpu>, GpuError> {
    use crate::foundation::debug::{self, Debug};
    let (words, mut config) = (debug::flags(), vc4_sim::Config::default());
    config.check_programs |= words.contains(Debug::STRICT);
    if words.contains(Debug::INTERPRET) {
        config.engine = vc4_sim::Engine::Interpreter;
    } else if words.contains(Debug::COMPILE) {
        config.engine = vc4_sim::Engine::Compiler;
        config.check_programs = false;
    }
    let config = config.with_facts_of_environment().map_err(GpuError::NoDevice)?;
    Ok(Arc::new(vc4_sim::Simulator::sharing(config)?))
}

#[cfg(not(feature = "sim"))]
fn open_simulator() -> Result<Arc<dyn Gpu>, GpuError> {
    Err(GpuError::NoDevice("this build has no simulator (cargo feature `sim`)".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_for_who_named_the_driver() {
        assert!(!alone(|_| None));
        assert!(!alone(|_| Some(OsString::new())));
        assert!(alone(|name| (name == "VK_ICD_FILENAMES").then(|| "vc4_icd.json".into())));
    }
}
