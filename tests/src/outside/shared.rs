//! The one door to inputs that live beside the repository (`../shared`). What a plain test run needs is
//! committed; only optional, larger suites come through here.

use std::path::PathBuf;

/// Path of `name` below the shared inputs.
///
/// # Panics
/// If the inputs are not there, saying what they are and how to do without them.
pub fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let path = root.join(name);
    assert!(
        path.exists(),
        "this suite reads {name} from the shared inputs that lie beside the repository ({}); \
         they are not here: leave the suite out, or place them there",
        root.display()
    );
    path
}

/// Whether the shared inputs lie beside the repository.
pub fn available() -> bool {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared").is_dir()
}
