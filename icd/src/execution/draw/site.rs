//! Where jobs are built: what belongs to the device, and who notes what they rest on.

use std::sync::Arc;

use super::iota::Iota;
use super::ledger::Ledger;
use super::shadows::Shadows;
use crate::execution::changes::Changes;
use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::objects::device::Device;

/// What building needs beside the segment.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Numbers that draws fetch as vertex indices.
    pub iota: &'a Iota,
    /// Where it is noted what jobs rest on.
    pub ledger: &'a Ledger,
    /// Indices that were looked at before.
    pub shadows: &'a Shadows,
    /// When memory was changed.
    pub changes: &'a Changes,
    /// A query counts what is drawn, also where that changes nothing.
    pub is_counted: bool,
}

impl<'a> Site<'a> {
    /// The device that draws.
    pub fn device(self) -> &'a Device {
        self.iota.device()
    }

    /// Memory that belongs to the jobs.
    pub fn create_bo(self, what: &'static str, bytes: u64) -> Result<Arc<Bo>, Error> {
        let bo = self.device().create_bo(what, bytes)?;
        self.ledger.owns(bo.size());
        Ok(bo)
    }
}
