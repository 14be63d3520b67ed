//! Jobs that are waited for, and what they did in detail.

use std::sync::{Arc, Mutex, PoisonError};

use vc4_kernel_abi::{GpuError, Seqno, Submit};

use super::order::Order;
use super::simulator::Simulator;
use crate::lock::lock;
use crate::profile::Profile;
use crate::stats::{PixelTrace, Stats};

/// How an observed job went.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Its number.
    pub seqno: Seqno,
    /// Why it hung, if it did.
    pub hang: Option<String>,
    /// What it did.
    pub profile: Profile,
}

impl Simulator {
    /// Submits a job, waits for its end and tells what it did. Slower than a job that nobody observes, with the
    /// same results.
    ///
    /// # Errors
    /// As [`vc4_kernel_abi::Gpu::submit`]; a hang is no error here.
    pub fn observe(&self, submit: &Submit) -> Result<Observed, GpuError> {
        self.observed(submit, Profile::default())
    }

    /// The same, and what happened to a pixel of the frame, instruction by instruction.
    ///
    /// # Errors
    /// As [`Simulator::observe`].
    pub fn observe_pixel(&self, submit: &Submit, pixel: (u32, u32)) -> Result<Observed, GpuError> {
        let pixel = Some(Box::new(PixelTrace::new(pixel)));
        self.observed(submit, Profile { pixel, ..Profile::default() })
    }

    fn observed(&self, submit: &Submit, profile: Profile) -> Result<Observed, GpuError> {
        let slot = Arc::new(Mutex::new(profile));
        let mut order = self.prepare(submit)?;
        order.profile = Some(slot.clone());
        order.counted = true;
        let (seqno, hang) = self.run_to_end(order)?;
        let profile = std::mem::take(&mut *lock(&slot));
        Ok(Observed { seqno, hang, profile })
    }

    /// Submits a job and waits for its end; the text tells why it hung.
    ///
    /// # Errors
    /// As [`vc4_kernel_abi::Gpu::submit`].
    pub fn complete(&self, submit: &Submit) -> Result<(Seqno, Option<String>), GpuError> {
        self.run_to_end(self.prepare(submit)?)
    }

    fn run_to_end(&self, order: Order) -> Result<(Seqno, Option<String>), GpuError> {
        let hang = Arc::new(Mutex::new(None));
        let told = hang.clone();
        let watch = move |result: Result<&Stats, &str>| {
            *told.lock().unwrap_or_else(PoisonError::into_inner) = result.err().map(str::to_owned);
        };
        let seqno = self.enqueue(order, Box::new(watch))?;
        self.wait_until(None, |finished| finished.has(seqno));
        let hang = hang.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok((seqno, hang))
    }
}
