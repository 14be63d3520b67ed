//! Which device to drive: `VC4VK_DEVICE=auto|drm[:PATH]|sim|noop`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use vc4_kernel_abi::{DrmGpu, Gpu, GpuError, Noop};

/// What `VC4VK_DEVICE` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    /// The GPU if there is one, else the simulator.
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
        Choice::Auto => open_drm(None).or_else(|error| {
            log::info!(target: "vc4::probe", "{error}; using the simulator");
            open_simulator()
        }),
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

fn open_drm(path: Option<&Path>) -> Result<Arc<dyn Gpu>, GpuError> {
    Ok(Arc::new(DrmGpu::open(path)?))
}

#[cfg(feature = "sim")]
fn open_simulator() -> Result<Arc<dyn Gpu>, GpuError> {
    let mut config = vc4_sim::Config::default();
    config.check_programs |=
        crate::foundation::debug::flags().contains(crate::foundation::debug::Debug::STRICT);
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
