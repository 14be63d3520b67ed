//! Why a job stopped: what on the chip would hang, read garbage, or is not simulated.

use crate::memory::BusError;
use crate::qpu::Fault;

/// The list that was being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// Control list thread 0.
    Binning,
    /// Control list thread 1.
    Rendering,
}

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Positions for the binner.
    Coordinate,
    /// Positions and varyings for the renderer.
    Vertex,
    /// Pixels.
    Fragment,
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
    #[error("{stage:?} shader at {address:#010x}: {fault}")]
    Shader {
        /// Which stage.
        stage: Stage,
        /// Bus address of the program.
        address: u32,
        /// What it did.
        fault: Fault,
    },
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
