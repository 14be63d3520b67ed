//! `VC4VK_COMPUTE`, `VC4VK_TRANSFERS`: who does what both the CPU and the QPUs can do.

use std::sync::OnceLock;

use vc4_kernel_abi::environment;

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Whoever is estimated to be faster on a board; kernels beside a simulated GPU always the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The QPUs, whatever it costs.
    Qpu,
}

/// Who runs kernels that are pictures; read once per process.
#[cfg(feature = "compute")]
pub fn kernels() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    *ENGINE.get_or_init(|| read("VC4VK_COMPUTE"))
}

/// Who does transfers; read once per process.
pub fn transfers() -> Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    *ENGINE.get_or_init(|| read("VC4VK_TRANSFERS"))
}

fn read(variable: &str) -> Engine {
    let Some(text) = environment::word(variable) else { return Engine::Auto };
    parse(&text).unwrap_or_else(|| {
        log::warn!(target: "vc4::debug", "{variable}: {text:?} is none of auto, cpu and qpu; it is auto");
        Engine::Auto
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
