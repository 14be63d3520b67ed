//! VkQueryPool: results on the host. What a queue does to them happens on its retire thread, once all work before it
//! is complete.
//!
//! Occlusion queries attach a performance monitor to the jobs between their begin and their end (T-OCC).

use std::sync::{Arc, LazyLock, PoisonError};
use std::time::Instant;

use ash::vk;
use vc4_kernel_abi::PerfmonId;
use vc4_kernel_abi::perfmon::Event;
use vc4_kernel_abi::uapi::MAX_PERF_COUNTERS;

use crate::foundation::error::Error;
use crate::foundation::handle::Object;
use crate::foundation::threads::{AtomicUsize, Mutex, MutexGuard, Ordering};
use crate::foundation::waker::Waker;
use crate::objects::device::Device;

/// Most queries of a pool: the specification names no limit, and more are a mistake.
const MAX_QUERIES: u32 = 1 << 20;

/// Events whose counts tell whether samples passed (kernel-abi.md §4.15): quads that pass the depth and stencil
/// tests, where programs start them, and quads whose colour is written, where they do not. Failed tests, discards and
/// masks keep colour from being written.
///
/// UNVERIFIED: do both events leave out quads whose samples are all discarded or masked away?
pub const OCCLUSION_EVENTS: [u8; 2] =
    [Event::QuadsPassingZAndStencil as u8, Event::QuadsWrittenToColor as u8];

/// The result of an occlusion query whose monitor counted so much: no precise number of samples, but 0 only if none
/// passed.
pub fn occlusion_result(counts: [u64; MAX_PERF_COUNTERS]) -> u64 {
    counts[0].max(counts[1])
}

/// Nanoseconds of a clock that never goes backwards: the GPU has none of its own (T-TIME).
pub fn timestamp() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

/// A pool of timestamps or occlusion results.
pub struct QueryPool {
    ty: vk::QueryType,
    results: Mutex<Vec<Option<u64>>>,
    /// Changes that the retire thread has yet to make.
    pending: AtomicUsize,
    waker: Arc<Waker>,
}

/// A command of a query pool in its place among segments.
#[derive(Clone)]
pub enum QueryCommand {
    /// vkCmdResetQueryPool: first query and count.
    Reset(Arc<QueryPool>, u32, u32),
    /// vkCmdWriteTimestamp.
    Timestamp(Arc<QueryPool>, u32),
    /// vkCmdBeginQuery of an occlusion query.
    Begin,
    /// vkCmdEndQuery of the one that began last.
    End(Arc<QueryPool>, u32),
}

/// What becomes of queries when all work before is complete.
pub enum QueryChange {
    /// They have no results any more.
    Reset(u32, u32),
    /// It gets the time.
    Timestamp(u32),
    /// It gets what a monitor has counted; `None` if nothing was drawn.
    Occlusion(u32, Option<PerfmonId>),
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

impl QueryPool {
    /// A pool of `count` queries.
    pub fn new(device: &Device, ty: vk::QueryType, count: u32) -> Result<QueryPool, Error> {
        match ty {
            vk::QueryType::TIMESTAMP | vk::QueryType::OCCLUSION => {}
            vk::QueryType::PIPELINE_STATISTICS => {
                return Err(Error::FeatureNotPresent("pipeline_statistics_query"));
            }
            _ => return Err(Error::InvalidUse(format!("query type {ty:?}"))),
        }
        if count > MAX_QUERIES {
            log::error!(target: "vc4::api", "vkCreateQueryPool: {count} queries; a pool has {MAX_QUERIES} at most");
            return Err(Error::OutOfHostMemory);
        }
        let results = Mutex::new(vec![None; count as usize]);
        Ok(QueryPool { ty, results, pending: AtomicUsize::new(0), waker: device.waker().clone() })
    }

    /// Announces a change: whoever copies results waits for it.
    pub fn expect_change(&self) {
        self.pending.fetch_add(1, Ordering::SeqCst);
    }

    /// Makes a change that was announced.
    pub fn change(&self, device: &Device, change: &QueryChange) -> Result<(), Error> {
        match *change {
            QueryChange::Reset(first, count) => self.reset(first, count),
            QueryChange::Timestamp(query) => self.set(query, timestamp()),
            QueryChange::Occlusion(query, None) => self.set(query, 0),
            QueryChange::Occlusion(query, Some(perfmon)) => {
                self.set(query, occlusion_result(device.gpu().perfmon_values(perfmon)?));
                device.gpu().destroy_perfmon(perfmon);
            }
        }
        self.pending.fetch_sub(1, Ordering::SeqCst);
        self.waker.ring();
        Ok(())
    }

    /// Waits until all changes are made that the queue has come to.
    pub fn settle(&self, device: &Device) -> Result<(), Error> {
        let settled = || self.pending.load(Ordering::SeqCst) == 0;
        self.waker.wait_until(None, || settled() || device.is_lost());
        device.check()
    }

    /// Its type.
    pub fn ty(&self) -> vk::QueryType {
        self.ty
    }

    fn results(&self) -> MutexGuard<'_, Vec<Option<u64>>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes queries unavailable.
    pub fn reset(&self, first: u32, count: u32) {
        let mut results = self.results();
        results.iter_mut().skip(first as usize).take(count as usize).for_each(|result| *result = None);
    }

    /// Sets a result.
    pub fn set(&self, query: u32, value: u64) {
        if let Some(result) = self.results().get_mut(query as usize) {
            *result = Some(value);
        }
        self.waker.ring();
    }

    /// Whether `count` queries from `first` on exist.
    pub fn has(&self, first: u32, count: u32) -> bool {
        let len = self.results().len() as u64;
        u64::from(first) + u64::from(count) <= len
    }

    /// vkGetQueryPoolResults into `out`, `stride` bytes per query; NOT_READY if one is missing.
    pub fn read(
        &self,
        device: &Device,
        (first, count): (u32, u32),
        out: &mut [u8],
        stride: usize,
        flags: vk::QueryResultFlags,
    ) -> Result<vk::Result, Error> {
        let range = first as usize..first as usize + count as usize;
        if !self.has(first, count) {
            return Err(Error::InvalidUse(format!(
                "queries {range:?} of a pool of {}",
                self.results().len()
            )));
        }
        if flags.contains(vk::QueryResultFlags::WAIT) {
            let ready = || self.results()[range.clone()].iter().all(Option::is_some);
            self.waker.wait_until(None, || ready() || device.is_lost());
            device.check()?;
        }
        let results = self.results();
        let mut result = vk::Result::SUCCESS;
        for (index, value) in results[range].iter().enumerate() {
            if value.is_none() && !flags.contains(vk::QueryResultFlags::PARTIAL) {
                result = vk::Result::NOT_READY;
            }
            put(out, index * stride, *value, flags);
        }
        Ok(result)
    }
}

/// Writes one query's value and availability as `flags` say; what does not fit `out` is dropped.
pub fn put(out: &mut [u8], at: usize, value: Option<u64>, flags: vk::QueryResultFlags) {
    let wide = flags.contains(vk::QueryResultFlags::TYPE_64);
    let size = if wide { 8 } else { 4 };
    let mut word = |slot: usize, word: u64| {
        let at = at + slot * size;
        if let Some(place) = out.get_mut(at..at + size) {
            place.copy_from_slice(&word.to_le_bytes()[..size]);
        }
    };
    if let Some(value) = value {
        word(0, value);
    } else if flags.contains(vk::QueryResultFlags::PARTIAL) {
        word(0, 0);
    }
    if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
        word(1, u64::from(value.is_some()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    #[test]
    fn changes_are_made_in_order() {
        let device = device();
        let pool = QueryPool::new(&device, vk::QueryType::OCCLUSION, 2).unwrap();
        let perfmon = device.gpu().create_perfmon(&OCCLUSION_EVENTS).unwrap();
        let changes = [
            QueryChange::Reset(0, 2),
            QueryChange::Timestamp(0),
            QueryChange::Occlusion(0, None),
            QueryChange::Occlusion(1, Some(perfmon)),
        ];
        changes.iter().for_each(|_| pool.expect_change());
        changes.iter().for_each(|change| pool.change(&device, change).unwrap());
        pool.settle(&device).unwrap();
        let mut out = [0xff; 8];
        let flags = vk::QueryResultFlags::empty();
        assert_eq!(pool.read(&device, (0, 2), &mut out, 4, flags).unwrap(), vk::Result::SUCCESS);
        assert_eq!(out, [0; 8]);
        assert!(device.gpu().perfmon_values(perfmon).is_err());
    }

    #[test]
    fn a_pool_that_no_host_has_memory_for_is_refused() {
        let pool = |count| QueryPool::new(&crate::testing::device(), vk::QueryType::OCCLUSION, count);
        assert!(matches!(pool(u32::MAX), Err(Error::OutOfHostMemory)));
        assert!(pool(1000).is_ok());
    }

    #[test]
    fn the_larger_count_is_the_result() {
        let mut counts = [0; MAX_PERF_COUNTERS];
        assert_eq!(occlusion_result(counts), 0);
        counts[1] = 3;
        assert_eq!(occlusion_result(counts), 3);
        counts[0] = 7;
        assert_eq!(occlusion_result(counts), 7);
    }

    #[test]
    fn results_are_written_as_the_flags_say() {
        let device = device();
        let pool = QueryPool::new(&device, vk::QueryType::TIMESTAMP, 2).unwrap();
        pool.set(1, 0x1_0000_0007);
        let mut out = [0xff; 16];
        let read = |out: &mut [u8], flags| pool.read(&device, (0, 2), out, 8, flags).unwrap();
        let flags = vk::QueryResultFlags::WITH_AVAILABILITY;
        assert_eq!(read(&mut out, flags), vk::Result::NOT_READY);
        assert_eq!(out, [255, 255, 255, 255, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0]);
        pool.set(0, 5);
        assert_eq!(read(&mut out, vk::QueryResultFlags::TYPE_64), vk::Result::SUCCESS);
        assert_eq!(out[8..], [7, 0, 0, 0, 1, 0, 0, 0]);
        pool.reset(0, 1);
        assert_eq!(read(&mut out, vk::QueryResultFlags::empty()), vk::Result::NOT_READY);
        assert!(pool.read(&device, (1, 2), &mut out, 8, flags).is_err());
    }
}
