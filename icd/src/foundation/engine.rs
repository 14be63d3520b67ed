//! `VC4VK_COMPUTE`: who runs kernels that both the CPU and the QPUs can run.

use std::sync::OnceLock;

/// Who runs kernels that are pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// On a board whoever is estimated to be faster; beside a simulated GPU always the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The QPUs, whatever it costs.
    Qpu,
}

/// What the variable says; read once per process.
pub fn engine() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    *ENGINE.get_or_init(|| {
        let Ok(text) = std::env::var("VC4VK_COMPUTE") else { return Engine::Auto };
        parse(&text).unwrap_or_else(|| {
            log::warn!(target: "vc4::debug", "VC4VK_COMPUTE: {text:?} is none of auto, cpu and qpu; it is auto");
            Engine::Auto
        })
    })
}

fn parse(text: &str) -> Option<Engine> {
    Some(match text.trim() {
        "" | "auto" => Engine::Auto,
        "cpu" => Engine::Cpu,
        "qpu" => Engine::Qpu,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_words_are_known() {
        assert_eq!(["", "auto", " cpu", "qpu"].map(parse), {
            [Some(Engine::Auto), Some(Engine::Auto), Some(Engine::Cpu), Some(Engine::Qpu)]
        });
        assert_eq!(parse("gpu"), None);
    }
}
