//! What must hold for any bytes given to the MBS reader; the tests and the fuzz target both call it.

use shader_containers::mbs::{self, Mbs};

/// Fails when reading panics, a model does not write back what it was read from, or `check` and `read` disagree.
pub fn mbs(bytes: &[u8]) {
    let findings = mbs::check(bytes);
    let refused = findings.iter().any(|finding| finding.is_error());
    assert_eq!(Mbs::read(bytes).is_err(), refused, "{findings:?}");
    if let Ok(model) = Mbs::parse(bytes) {
        assert!(model.write() == bytes, "a model writes back what it was read from");
    }
}
