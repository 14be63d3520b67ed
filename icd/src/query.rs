//! VkQueryPool. Results live on the host; there is no query on this device whose result is not known
//! when the queue thread passes it.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use crate::device::Device;
use crate::error::Error;
use crate::object::Object;
use crate::sync::Waker;

/// A pool of timestamps (of a queue family with no valid bits: any value is right) or occlusion results.
pub struct QueryPool {
    ty: vk::QueryType,
    results: Mutex<Vec<Option<u64>>>,
    waker: Arc<Waker>,
}

impl Object for QueryPool {
    type Handle = vk::QueryPool;
}

impl QueryPool {
    /// A pool of `count` queries.
    pub fn new(device: &Device, ty: vk::QueryType, count: u32) -> Result<QueryPool, Error> {
        match ty {
            vk::QueryType::TIMESTAMP => {}
            vk::QueryType::OCCLUSION => {
                return Err(Error::unsupported("an occlusion query pool", "draw without testing visibility"));
            }
            vk::QueryType::PIPELINE_STATISTICS => {
                return Err(Error::FeatureNotPresent("pipeline_statistics_query"));
            }
            _ => return Err(Error::InvalidUse(format!("query type {ty:?}"))),
        }
        let results = Mutex::new(vec![None; count as usize]);
        Ok(QueryPool { ty, results, waker: device.waker().clone() })
    }

    /// Its type.
    pub fn ty(&self) -> vk::QueryType {
        self.ty
    }

    fn results(&self) -> std::sync::MutexGuard<'_, Vec<Option<u64>>> {
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
