//! `VC4VK_PRESENT=auto|native|copy`: which way pictures go.

use std::sync::OnceLock;

use vc4_kernel_abi::environment;

/// The environment variable.
const VARIABLE: &str = "VC4VK_PRESENT";

/// Which way pictures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// As they are where the display takes them so, else by copies.
    Auto,
    /// As they are, or not at all.
    Native,
    /// By copies wherever these are possible.
    Copy,
}

impl Choice {
    fn parse(text: &str) -> Option<Choice> {
        match text {
            "" | "auto" => Some(Choice::Auto),
            "native" => Some(Choice::Native),
            "copy" => Some(Choice::Copy),
            _ => None,
        }
    }

    /// What the environment asks for.
    pub fn get() -> Choice {
        static CHOICE: OnceLock<Choice> = OnceLock::new();
        *CHOICE.get_or_init(|| {
            let text = environment::word(VARIABLE).unwrap_or_default();
            Choice::parse(&text).unwrap_or_else(|| {
                log::warn!(target: "vc4::wsi", "{VARIABLE}={text:?} is unknown; it can be auto, native or copy");
                Choice::Auto
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Choice;

    #[test]
    fn strangers_are_no_choice() {
        let all = ["", "auto", "native", "copy"].map(Choice::parse);
        assert_eq!(all.map(Option::unwrap), [Choice::Auto, Choice::Auto, Choice::Native, Choice::Copy]);
        assert_eq!(Choice::parse("fast"), None);
    }
}
