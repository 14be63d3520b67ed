//! Indices that the CPU has looked at, so that it need not read memory again that has not changed: on a board each look takes
//! as long as at the first time.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;

use super::index_range::IndexRange;
use crate::execution::changes::Changes;
use crate::objects::heap::Lease;
use crate::objects::memory::Binding;

/// Indices that are remembered of one range: more are mostly drawn with all of a scene, and scanned once for it.
const MOST_OF_RANGE: usize = 1 << 16;
/// And in all.
const MOST: usize = 1 << 18;

/// What was read of memory.
#[derive(Default)]
pub struct Shadows {
    ranges: RefCell<FxHashMap<IndexRange, Shadow>>,
}

struct Shadow {
    indices: Arc<[u32]>,
    /// The allocation, which may be gone, and another one in its place.
    lease: Weak<Lease>,
    /// [`Lease::host_version`].
    version: u64,
    /// When nothing had changed any more, by the time of [`Changes`].
    time: u64,
}

impl Shadows {
    /// The indices, if they are still those.
    pub(super) fn find(&self, range: &IndexRange, place: &Binding, changes: &Changes) -> Option<Arc<[u32]>> {
        let ranges = self.ranges.borrow();
        let shadow = ranges.get(range)?;
        let is_same = std::ptr::eq(shadow.lease.as_ptr(), Arc::as_ptr(place.lease()))
            && place.host_version() == Some(shadow.version)
            && !changes.since(&place.span(), shadow.time);
        is_same.then(|| shadow.indices.clone())
    }

    /// Whether it is worth keeping so many indices of this memory: nobody writes to it unseen, and to look at it is slow.
    pub(super) fn wants(&self, count: usize, place: &Binding) -> bool {
        count <= MOST_OF_RANGE && place.host_version().is_some() && !place.bo.is_cached()
    }

    /// Keeps indices that were read just now.
    pub(super) fn keep(&self, range: IndexRange, place: &Binding, indices: Vec<u32>, changes: &Changes) {
        let Some(version) = place.host_version() else { return };
        // What the pass itself changes is not there yet.
        let time = changes.now().saturating_sub(1);
        let mut ranges = self.ranges.borrow_mut();
        let all: usize = ranges.values().map(|shadow| shadow.indices.len()).sum();
        if all + indices.len() > MOST {
            ranges.clear();
        }
        let lease = Arc::downgrade(place.lease());
        ranges.insert(range, Shadow { indices: indices.into(), lease, version, time });
    }
}
