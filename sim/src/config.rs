//! How a simulator is built.

use std::num::NonZeroUsize;

use vc4::facts::{Facts, Numbers};
use vc4_kernel_abi::environment;
use vc4_kernel_abi::validate::Mode;

use crate::stats::{Engine, INSTRUCTION_LIMIT};

/// What becomes of a job that hangs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hangs {
    /// It ends at once, and waits for it say why.
    #[default]
    Told,
    /// As Linux does (kernel-abi.md §11): after two looks at lists that stand still the GPU is reset, which the kernel's
    /// log says and nothing else. A job that was being rendered counts as done; one that was being binned runs again,
    /// behind all others.
    Reset,
}

/// How a simulator is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Bytes of bus memory; host memory is only used for pages that are touched. 16 MiB of it are the
    /// binner's.
    pub memory_bytes: u32,
    /// Threads that render tiles; `None` takes one per processor. Pictures do not depend on it.
    pub threads: Option<NonZeroUsize>,
    /// How closely the kernel's validator is followed.
    pub mode: Mode,
    /// Whether programs and lists are watched for broken rules of the hardware (qpu.md §5, v3d.md §12), each logged
    /// once.
    pub check_programs: bool,
    /// Whether such a finding ends the job as a hang does; only with `check_programs`.
    pub findings_are_errors: bool,
    /// What becomes of jobs that hang.
    pub hangs: Hangs,
    /// Whether every job counts caches and stalls, not only those with a performance monitor; costs time.
    pub count_caches: bool,
    /// How the machine behaves where no board has told.
    pub facts: Facts,
    /// How fast it is, as far as performance counters show it; times are those of the host.
    pub numbers: Numbers,
    /// How programs run.
    pub engine: Engine,
    /// Instructions after which a program instance counts as hung; a draw of more vertices does as well.
    pub instruction_limit: u64,
}

/// The variable that names a file of facts.
const FACTS: &str = "VC4SIM_FACTS";

impl Config {
    /// This machine with the facts and numbers of the file that `VC4SIM_FACTS` names, if it names one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn with_facts_of_environment(self) -> Result<Config, String> {
        let Some(path) = environment::variable(FACTS) else { return Ok(self) };
        let at = |what: &dyn std::fmt::Display| format!("{FACTS}={}: {what}", path.to_string_lossy());
        let text = std::fs::read_to_string(&path).map_err(|error| at(&error))?;
        let (facts, numbers) = vc4::facts::read_all(&text).map_err(|error| at(&error))?;
        Ok(Config { facts, numbers, ..self })
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            memory_bytes: if cfg!(target_pointer_width = "64") { 512 << 20 } else { 128 << 20 },
            threads: None,
            mode: Mode::Strict,
            check_programs: cfg!(debug_assertions),
            findings_are_errors: false,
            hangs: Hangs::default(),
            count_caches: false,
            facts: Facts::default(),
            numbers: Numbers::default(),
            engine: Engine::Best,
            instruction_limit: INSTRUCTION_LIMIT,
        }
    }
}
