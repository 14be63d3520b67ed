//! Host memory for API objects: counted, with walls on both sides, and kept for a while after it was given back, so that
//! what a stale handle leads to is told apart, and what is written there found.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// Bytes of each wall; the one in front holds the size.
const WALL: usize = 64;
const MORTAR: u8 = 0xa5;
/// Blocks that were given back and are kept.
const KEPT: usize = 4096;

/// The one allocation that fails, counted from 1; 0: none.
static REFUSED_ONE: AtomicU64 = AtomicU64::new(0);
/// Live blocks.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// Blocks whose walls were broken.
static BROKEN: AtomicU64 = AtomicU64::new(0);
/// Which allocations fail, and how many there were.
static REFUSED: AtomicU64 = AtomicU64::new(0);
static COUNT: AtomicU64 = AtomicU64::new(0);
static OLD: Mutex<VecDeque<usize>> = Mutex::new(VecDeque::new());

/// Lets every so many-th allocation fail; 0: none.
pub fn refuse(every: u64) {
    REFUSED.store(every, Relaxed);
}

/// Lets one allocation fail, the `number`-th from now on; 0: none.
pub fn refuse_one(number: u64) {
    COUNT.store(0, Relaxed);
    REFUSED_ONE.store(number, Relaxed);
}

/// Allocations since [`refuse_one`].
pub fn count() -> u64 {
    COUNT.load(Relaxed)
}

/// Blocks that nobody has given back.
pub fn live() -> i64 {
    LIVE.load(Relaxed)
}

/// How many blocks were found with broken walls.
pub fn broken() -> u64 {
    BROKEN.load(Relaxed)
}

/// The callbacks; stateless, so that they live as long as the process.
pub fn callbacks() -> vk::AllocationCallbacks<'static> {
    vk::AllocationCallbacks {
        pfn_allocation: Some(allocate),
        pfn_reallocation: Some(reallocate),
        pfn_free: Some(free),
        ..Default::default()
    }
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.checked_add(2 * WALL)?, WALL).ok()
}

unsafe extern "system" fn allocate(
    _: *mut c_void,
    size: usize,
    align: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    let (refused, one) = (REFUSED.load(Relaxed), REFUSED_ONE.load(Relaxed));
    let number = COUNT.fetch_add(1, Relaxed) + 1;
    if (refused > 0 && number % refused == 0) || number == one {
        return std::ptr::null_mut();
    }
    let Some(layout) = layout(size).filter(|_| align <= WALL) else {
        return std::ptr::null_mut();
    };
    // SAFETY: the layout is not empty; all that is written lies inside of it.
    unsafe {
        let block = alloc_zeroed(layout);
        if block.is_null() {
            return std::ptr::null_mut();
        }
        block.write_bytes(MORTAR, WALL);
        block.cast::<usize>().write(size);
        block.add(WALL + size).write_bytes(MORTAR, WALL);
        LIVE.fetch_add(1, Relaxed);
        block.add(WALL).cast()
    }
}

unsafe extern "system" fn reallocate(
    data: *mut c_void,
    old: *mut c_void,
    size: usize,
    align: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: by the contract of the callbacks `old` is null or came from `allocate` and is live.
    unsafe {
        if size == 0 {
            free(data, old);
            return std::ptr::null_mut();
        }
        let new = allocate(data, size, align, scope);
        if !old.is_null() && !new.is_null() {
            let before = old.cast::<u8>().sub(WALL).cast::<usize>().read();
            std::ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), before.min(size));
            free(data, old);
        }
        new
    }
}

unsafe extern "system" fn free(_: *mut c_void, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    LIVE.fetch_sub(1, Relaxed);
    // SAFETY: the block came from `allocate`; it stays allocated for the time being.
    let block = unsafe { memory.cast::<u8>().sub(WALL) };
    let mut old = OLD.lock().unwrap_or_else(PoisonError::into_inner);
    old.push_back(block as usize);
    if old.len() > KEPT {
        if let Some(block) = old.pop_front() {
            // SAFETY: the block came from `allocate`, and leaves the queue once.
            unsafe { release(block as *mut u8) };
        }
    }
}

/// Looks at a block's walls and ends it.
///
/// # Safety
/// The block came from `allocate`; nobody uses it afterwards.
unsafe fn release(block: *mut u8) {
    // SAFETY: by the contract; the wall in front holds the size as long as it stands.
    unsafe {
        let size = block.cast::<usize>().read();
        let front = std::slice::from_raw_parts(block.add(size_of::<usize>()), WALL - size_of::<usize>());
        if !front.iter().all(|byte| *byte == MORTAR) {
            BROKEN.fetch_add(1, Relaxed);
            // Where the size cannot be trusted the block is better left alone.
            return;
        }
        let back = std::slice::from_raw_parts(block.add(WALL + size), WALL);
        if !back.iter().all(|byte| *byte == MORTAR) {
            BROKEN.fetch_add(1, Relaxed);
        }
        if let Some(layout) = layout(size) {
            dealloc(block, layout);
        }
    }
}

/// Looks at what is kept, and ends it.
pub fn settle() {
    let mut old = OLD.lock().unwrap_or_else(PoisonError::into_inner);
    for block in old.drain(..) {
        // SAFETY: the block came from `allocate`, and leaves the queue once; no device is left that could use it.
        unsafe { release(block as *mut u8) };
    }
}
