//! `VC4VK_DEBUG`: comma-separated words that print or change behaviour; `VC4VK_LOG`: what is logged.

use std::fmt;
use std::sync::OnceLock;

use vc4_kernel_abi::environment;

use super::messages::{self, Kind, Severity};

/// One word of `VC4VK_DEBUG`.
struct Word {
    name: &'static str,
    flag: Debug,
    help: &'static str,
}

bitflags::bitflags! {
    /// What `VC4VK_DEBUG` asks for.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Debug: u32 {
        /// Print QPU programs.
        const QPU = 1;
        /// Print the compiler's IR.
        const IR = 2;
        /// Print control lists.
        const CL = 4;
        /// Print uniform streams.
        const UNIFORMS = 8;
        /// Print segments.
        const SEGMENTS = 16;
        /// Print slow paths taken, and what the CPU moves in every frame.
        const PERF = 32;
        /// Wait after every submission.
        const SYNC = 64;
        /// Watch every program and submission for broken rules.
        const STRICT = 128;
        /// Print the table.
        const HELP = 256;
        /// A simulated device says that it is an integrated GPU.
        const GPU = 512;
        /// A simulated device interprets its programs.
        const INTERPRET = 1024;
        /// A simulated device compiles its programs at once and watches none.
        const COMPILE = 2048;
        /// Jobs are built anew at every submission.
        const REBUILD = 4096;
    }
}

const WORDS: [Word; 13] = [
    Word { name: "qpu", flag: Debug::QPU, help: "print the QPU code of every pipeline" },
    Word { name: "ir", flag: Debug::IR, help: "print the compiler's IR of every shader" },
    Word { name: "cl", flag: Debug::CL, help: "print the control lists of every submission" },
    Word { name: "uniforms", flag: Debug::UNIFORMS, help: "print the uniform streams of every draw" },
    Word { name: "segments", flag: Debug::SEGMENTS, help: "print the segments of every command buffer" },
    Word {
        name: "perf",
        flag: Debug::PERF,
        help: "say when something takes a slow path, and what the CPU reads and writes of BOs in every frame",
    },
    Word { name: "sync", flag: Debug::SYNC, help: "wait for the GPU after every submission" },
    Word { name: "strict", flag: Debug::STRICT, help: "watch every program and submission for broken rules" },
    Word {
        name: "gpu",
        flag: Debug::GPU,
        help: "call a simulated device an integrated GPU, for programs that leave out CPUs",
    },
    Word { name: "interpret", flag: Debug::INTERPRET, help: "let a simulated device interpret all programs" },
    Word {
        name: "compile",
        flag: Debug::COMPILE,
        help: "let a simulated device compile programs before they run, and watch none",
    },
    Word {
        name: "rebuild",
        flag: Debug::REBUILD,
        help: "build jobs anew for every submission of a command buffer, and keep none",
    },
    Word { name: "help", flag: Debug::HELP, help: "print this table" },
];

/// The table of words, as `help` prints it.
fn help() -> String {
    let rows = WORDS.iter().map(|word| format!("  {:<9} {}\n", word.name, word.help));
    format!("VC4VK_DEBUG words, separated by commas:\n{}", rows.collect::<String>())
}

/// The flags of `text` and the words that are none.
fn parse(text: &str) -> (Debug, Vec<&str>) {
    let mut flags = Debug::empty();
    let mut unknown = Vec::new();
    for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match WORDS.iter().find(|word| word.name == name) {
            Some(word) => flags |= word.flag,
            None => unknown.push(name),
        }
    }
    (flags, unknown)
}

/// What `VC4VK_DEBUG` asks for; read once per process.
pub fn flags() -> Debug {
    static FLAGS: OnceLock<Debug> = OnceLock::new();
    *FLAGS.get_or_init(|| {
        let text = environment::word("VC4VK_DEBUG").unwrap_or_default();
        let (flags, unknown) = parse(&text);
        for word in unknown {
            log::warn!(target: "vc4::debug", "VC4VK_DEBUG: unknown word {word:?}; `help` lists the known ones");
        }
        if flags.contains(Debug::HELP) {
            eprint!("{}", help());
        }
        flags
    })
}

/// Whether submissions are checked before they leave.
pub fn is_strict() -> bool {
    cfg!(debug_assertions) || flags().contains(Debug::STRICT)
}

/// Starts logging to stderr as `VC4VK_LOG` says (env_logger syntax, default `warn`). A logger that is
/// already there stays.
pub fn start_logging() {
    let mut builder = env_logger::Builder::new();
    builder.filter_level(log::LevelFilter::Warn);
    if let Some(filters) = environment::word("VC4VK_LOG") {
        builder.parse_filters(&filters);
    }
    builder.format(|out, record| {
        use std::io::Write;
        writeln!(out, "{}: {}: {}", record.target(), record.level().as_str().to_lowercase(), record.args())
    });
    messages::start(builder.build());
    flags();
}

/// Whether anybody wants to hear of slow ways.
#[inline]
pub fn tells_slow() -> bool {
    flags().contains(Debug::PERF) || messages::is_wanted(Severity::WARNING, Kind::PERFORMANCE)
}

/// Tells of a slow way that is taken, to whom [`tells_slow`] knows of.
#[cold]
pub fn slow(text: fmt::Arguments<'_>) {
    if flags().contains(Debug::PERF) {
        eprintln!("perf: {text}");
    }
    if messages::is_wanted(Severity::WARNING, Kind::PERFORMANCE) {
        messages::send(Severity::WARNING, Kind::PERFORMANCE, "vc4::perf", &text.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_flags_and_strangers_are_reported() {
        let (flags, unknown) = parse("qpu, cl,,fast");
        assert_eq!(flags, Debug::QPU | Debug::CL);
        assert_eq!(unknown, ["fast"]);
    }

    #[test]
    fn every_flag_has_one_row() {
        let all = WORDS.iter().fold(Debug::empty(), |all, word| all | word.flag);
        assert_eq!(all, Debug::all());
        assert_eq!(WORDS.len(), Debug::all().bits().count_ones() as usize);
        assert!(WORDS.iter().all(|word| help().contains(word.help)));
    }
}
