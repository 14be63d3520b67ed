//! `VC4VK_COMPUTE_SECONDS`: how long a dispatch may run.

use std::sync::OnceLock;
use std::time::Duration;

use vc4_kernel_abi::environment;

/// What a dispatch may take unless the variable says something else.
const DEFAULT: Duration = Duration::from_secs(10);

/// How long a dispatch may run before the device counts as lost; `None` for ever. Read once per process.
pub fn compute() -> Option<Duration> {
    static MOST: OnceLock<Option<Duration>> = OnceLock::new();
    *MOST.get_or_init(|| {
        let Some(text) = environment::word("VC4VK_COMPUTE_SECONDS") else { return Some(DEFAULT) };
        parse(&text).unwrap_or_else(|| {
            log::warn!(
                target: "vc4::debug",
                "VC4VK_COMPUTE_SECONDS: {text:?} is no number of seconds; dispatches end after {} s",
                DEFAULT.as_secs()
            );
            Some(DEFAULT)
        })
    })
}

/// Seconds, of which 0 means any number; `None` if it is something else.
fn parse(text: &str) -> Option<Option<Duration>> {
    let seconds: f64 = text.trim().parse().ok()?;
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    Some(Some(duration).filter(|duration| !duration.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_may_have_fractions_and_nought_is_for_ever() {
        assert_eq!(parse("2.5"), Some(Some(Duration::from_millis(2500))));
        assert_eq!(parse(" 0 "), Some(None));
        assert!(["", "-1", "NaN", "ten", "inf"].iter().all(|text| parse(text).is_none()));
    }
}
