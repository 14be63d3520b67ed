//! How people say which device is meant: `auto`, `drm`, `drm:PATH`, `sim` or `noop`.

use std::path::PathBuf;
use std::str::FromStr;

/// Which device is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The GPU if there is one.
    #[default]
    Auto,
    /// The GPU, at that node if named.
    Drm(Option<PathBuf>),
    /// The simulator.
    Sim,
    /// A device that drops its jobs, for measuring everything but the GPU.
    Noop,
}

/// The text names no device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not one of auto, drm, drm:PATH, sim, noop")]
pub struct NoChoice;

impl FromStr for Choice {
    type Err = NoChoice;

    fn from_str(text: &str) -> Result<Choice, NoChoice> {
        match text.split_once(':') {
            None if text.is_empty() || text == "auto" => Ok(Choice::Auto),
            None if text == "drm" => Ok(Choice::Drm(None)),
            None if text == "sim" => Ok(Choice::Sim),
            None if text == "noop" => Ok(Choice::Noop),
            Some(("drm", path)) if !path.is_empty() => Ok(Choice::Drm(Some(path.into()))),
            _ => Err(NoChoice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_five_forms() {
        assert_eq!("".parse(), Ok(Choice::Auto));
        assert_eq!("auto".parse(), Ok(Choice::Auto));
        assert_eq!("drm".parse(), Ok(Choice::Drm(None)));
        assert_eq!("drm:/dev/dri/renderD128".parse(), Ok(Choice::Drm(Some("/dev/dri/renderD128".into()))));
        assert_eq!("sim".parse(), Ok(Choice::Sim));
        assert_eq!("noop".parse(), Ok(Choice::Noop));
        assert_eq!("drm:".parse::<Choice>(), Err(NoChoice));
        assert_eq!("gpu".parse::<Choice>(), Err(NoChoice));
    }
}
