//! Requests without an answer.

use crate::memory::BusError;

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmuFault {
    /// Texels or a direct lookup outside of memory.
    Bus(BusError),
    /// The request uses what the unit or the simulator does not have.
    Unsupported(String),
}

impl From<BusError> for TmuFault {
    fn from(error: BusError) -> TmuFault {
        TmuFault::Bus(error)
    }
}
