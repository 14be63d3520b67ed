//! Which device to drive: `VC4VK_DEVICE=auto|drm[:PATH]|sim|noop`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vc4_kernel_abi::{DrmGpu, Gpu, GpuError, Noop};

/// What `VC4VK_DEVICE` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The GPU if there is one, else the simulator where [`alone`].
    Auto,
    /// The GPU, at that node if named.
    Drm(Option<PathBuf>),
    /// The simulator.
    Sim,
    /// A device that drops its jobs, for measuring everything but the GPU.
    Noop,
}

fn parse(text: &str) -> Option<Choice> {
    match text.split_once(':') {
        None if text.is_empty() || text == "auto" => Some(Choice::Auto),
        None if text == "drm" => Some(Choice::Drm(None)),
        None if text == "sim" => Some(Choice::Sim),
        None if text == "noop" => Some(Choice::Noop),
        Some(("drm", path)) if !path.is_empty() => Some(Choice::Drm(Some(path.into()))),
        _ => None,
    }
}

/// The device to drive, or `None` with the reason logged.
pub fn find() -> Option<Arc<dyn Gpu>> {
    let text = std::env::var("VC4VK_DEVICE").unwrap_or_default();
    let Some(choice) = parse(&text) else {
        log::error!(target: "vc4::probe", "VC4VK_DEVICE={text:?} is not one of auto, drm, drm:PATH, sim, noop; no device");
        return None;
    };
    let found = match &choice {
        Choice::Drm(path) => open_drm(path.as_deref()),
        Choice::Sim => open_simulator(),
        Choice::Noop => Ok(Arc::new(Noop::new()) as Arc<dyn Gpu>),
        Choice::Auto => match open_drm(None) {
            Err(GpuError::NoDevice(why)) if alone(|name| std::env::var_os(name)) => {
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

    #[test]
    fn the_variable_has_five_forms() {
        assert_eq!(parse(""), Some(Choice::Auto));
        assert_eq!(parse("auto"), Some(Choice::Auto));
        assert_eq!(parse("drm"), Some(Choice::Drm(None)));
        assert_eq!(parse("drm:/dev/dri/renderD128"), Some(Choice::Drm(Some("/dev/dri/renderD128".into()))));
        assert_eq!(parse("sim"), Some(Choice::Sim));
        assert_eq!(parse("noop"), Some(Choice::Noop));
        assert_eq!(parse("drm:"), None);
        assert_eq!(parse("gpu"), None);
    }
}
