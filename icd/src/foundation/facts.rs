//! What the machine is like where no board has told: as is assumed, or as the file says that `VC4VK_FACTS` names.

use std::sync::OnceLock;

use vc4::facts::Facts;
use vc4::state::viewport::window_px;

const VARIABLE: &str = "VC4VK_FACTS";

static FACTS: OnceLock<Result<Facts, String>> = OnceLock::new();

/// The facts of this process.
///
/// # Errors
/// What is wrong with the file.
pub fn load() -> Result<&'static Facts, &'static str> {
    let facts = FACTS.get_or_init(|| {
        let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) else {
            return Ok(Facts::default());
        };
        let at = |what: &dyn std::fmt::Display| format!("{VARIABLE}={}: {what}", path.to_string_lossy());
        let text = std::fs::read_to_string(&path).map_err(|error| at(&error))?;
        vc4::facts::read(&text).map_err(|error| at(&error))
    });
    facts.as_ref().map_err(String::as_str)
}

/// The facts of this process. With a file that cannot be read there is no device that would ask.
pub fn facts() -> &'static Facts {
    static ASSUMED: OnceLock<Facts> = OnceLock::new();
    load().unwrap_or_else(|_| ASSUMED.get_or_init(Facts::default))
}

/// Edge of the largest area that is drawn at once; larger targets are drawn in parts.
pub fn target_px() -> u32 {
    window_px(facts().guard_band)
}
