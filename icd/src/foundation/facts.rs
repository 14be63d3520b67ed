//! What the machine is like where no board has told: as is assumed, or as the file says that `VC4VK_FACTS` names.

use std::sync::OnceLock;

use vc4::facts::{Facts, Numbers};
use vc4::state::viewport::window_px;
use vc4_kernel_abi::environment;

const VARIABLE: &str = "VC4VK_FACTS";

static FILE: OnceLock<Result<(Facts, Numbers), String>> = OnceLock::new();

fn file() -> &'static Result<(Facts, Numbers), String> {
    FILE.get_or_init(|| {
        let Some(path) = environment::variable(VARIABLE) else {
            return Ok(<(Facts, Numbers)>::default());
        };
        let at = |what: &dyn std::fmt::Display| format!("{VARIABLE}={}: {what}", path.to_string_lossy());
        let text = std::fs::read_to_string(&path).map_err(|error| at(&error))?;
        vc4::facts::read_all(&text).map_err(|error| at(&error))
    })
}

/// Whether the file can be read, if one is named.
///
/// # Errors
/// What is wrong with it.
pub fn check() -> Result<(), &'static str> {
    file().as_ref().map(drop).map_err(String::as_str)
}

fn machine() -> &'static (Facts, Numbers) {
    static ASSUMED: OnceLock<(Facts, Numbers)> = OnceLock::new();
    file().as_ref().unwrap_or_else(|_| ASSUMED.get_or_init(Default::default))
}

/// The facts of this process. With a file that cannot be read there is no device that would ask.
pub fn facts() -> &'static Facts {
    &machine().0
}

/// What the file says of how fast the machine is.
pub fn numbers() -> &'static Numbers {
    &machine().1
}

/// Edge of the largest area that is drawn at once; larger targets are drawn in parts.
pub fn target_px() -> u32 {
    window_px(facts().guard_band)
}
