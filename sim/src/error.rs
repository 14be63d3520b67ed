//! Why a job stopped: what on the chip would hang, read garbage, or is not simulated.

use vc4::qpu::Stage;

use crate::memory::BusError;
use crate::qpu::Fault;
use crate::stats::Finding;

/// The list that was being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// Control list thread 0.
    Binning,
    /// Control list thread 1.
    Rendering,
}

/// A job could not be finished.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A packet that the machine, or this simulator, cannot execute.
    #[error("{thread:?} list, packet at {address:#010x}: {what}")]
    List {
        /// Which list.
        thread: Thread,
        /// Bus address of the packet.
        address: u32,
        /// What is wrong, and what to do instead.
        what: String,
    },
    /// A program faulted.
    #[error("{stage:?} shader at {address:#010x}: {fault}{report}")]
    Shader {
        /// Which stage.
        stage: Stage,
        /// Bus address of the program.
        address: u32,
        /// What it did.
        fault: Fault,
        /// The place in the listing and what the elements held, after a line break; may be empty.
        report: String,
    },
    /// The tile lists need more memory than the kernel has for them: the binner stalls until the hang check fires.
    #[error(
        "out of binner memory: all slots of the kernel's 16 MiB are taken (kernel-abi.md §11); split the job"
    )]
    BinnerMemory,
    /// A rule of the hardware was broken while findings are errors.
    #[error("{0}")]
    Finding(Box<Finding>),
    /// A block of the pipeline read or wrote outside of memory.
    #[error("{what}: {error}")]
    Bus {
        /// What was accessed.
        what: &'static str,
        /// Where.
        error: BusError,
    },
    /// The submission asks for something that is not simulated.
    #[error("not simulated: {0}")]
    Unsupported(String),
}

impl JobError {
    /// For `map_err` on memory accesses.
    pub(crate) fn bus(what: &'static str) -> impl Fn(BusError) -> JobError {
        move |error| JobError::Bus { what, error }
    }
}
