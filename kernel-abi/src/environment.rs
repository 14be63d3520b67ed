//! The environment of the process, for whatever runs inside of somebody else's program.

use std::ffi::OsString;

/// The value of a variable that is set and not empty. A program that runs with more rights than who started it (set-uid,
/// file capabilities) has none: its user could else have it write files.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty() && !is_secure())
}

/// As [`variable`], of those whose values are words.
pub fn word(name: &str) -> Option<String> {
    variable(name)?.into_string().ok()
}

/// Whether the kernel started the program with more rights than its user has.
fn is_secure() -> bool {
    // SAFETY: a plain call; it is 0 for what the kernel does not tell.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_read() {
        assert_eq!(variable("PATH"), std::env::var_os("PATH").filter(|path| !path.is_empty()));
        assert_eq!(word("PATH"), std::env::var("PATH").ok());
        assert_eq!(variable("VC4_NO_SUCH_VARIABLE"), None);
    }
}
