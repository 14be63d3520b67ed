//! Reading what applications pass by pointer.

use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

use ash::vk;

use crate::foundation::error::Error;
use crate::foundation::handle::{self, HostAllocator, Object};

/// `count` elements at `first`; none when there are none, wherever the pointer leads.
///
/// # Safety
/// `first` points to `count` valid elements that outlive `'a`, or `count` is 0.
pub(super) unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// `size` bytes at `first`; none when there are none, wherever the pointer leads.
///
/// # Safety
/// `first` points to `size` bytes that outlive `'a`, or `size` is 0.
pub(super) unsafe fn bytes<'a>(first: *const c_void, size: usize) -> &'a [u8] {
    if size == 0 || first.is_null() {
        return &[];
    }
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts(first.cast::<u8>(), size) }
}

/// The objects of `count` handles at `first`; null handles are left out.
///
/// # Safety
/// As for [`slice`], and every handle is null or live.
pub(super) unsafe fn objects<T: Object>(first: *const T::Handle, count: u32) -> Vec<Arc<T>> {
    // SAFETY: by the contract.
    unsafe { slice(first, count).iter().filter_map(|handle| handle::opt::<T>(*handle).cloned()).collect() }
}

/// A string of the application.
///
/// # Safety
/// `text` is null or points to a terminated string.
pub(super) unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by the contract.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The names of `count` strings at `first`.
///
/// # Safety
/// As for [`slice`] and [`text`].
pub(super) unsafe fn names<'a>(first: *const *const c_char, count: u32) -> impl Iterator<Item = &'a CStr> {
    // SAFETY: by the contract.
    unsafe { slice(first, count) }.iter().map(|name| unsafe { CStr::from_ptr(*name) })
}

/// Answers a two-call query: the count when `out` is null, else as many items as fit.
///
/// # Safety
/// `count` is valid; `out` is null or has room for `*count` items.
pub(super) unsafe fn enumerate<T: Copy>(count: *mut u32, out: *mut T, items: &[T]) -> vk::Result {
    // SAFETY: by the contract.
    unsafe {
        if out.is_null() {
            count.write(items.len() as u32);
            return vk::Result::SUCCESS;
        }
        let fit = items.len().min(count.read() as usize);
        std::ptr::copy_nonoverlapping(items.as_ptr(), out, fit);
        count.write(fit as u32);
        if fit < items.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

/// As [`enumerate`], for structures that the application has begun: `fill` writes an item into one.
///
/// # Safety
/// As for [`enumerate`]; the structures are initialised.
pub(super) unsafe fn enumerate_into<T, I>(
    count: *mut u32,
    out: *mut T,
    items: &[I],
    fill: impl Fn(&mut T, &I),
) -> vk::Result {
    // SAFETY: by the contract.
    unsafe {
        if out.is_null() {
            count.write(items.len() as u32);
            return vk::Result::SUCCESS;
        }
        let fit = items.len().min(count.read() as usize);
        for (index, item) in items.iter().take(fit).enumerate() {
            fill(&mut *out.add(index), item);
        }
        count.write(fit as u32);
        if fit < items.len() { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
    }
}

/// The structures of a `pNext` chain that the caller may read.
///
/// # Safety
/// `next` is null or a valid chain that outlives the iteration.
pub(super) unsafe fn chain(next: *const c_void) -> impl Iterator<Item = *const vk::BaseInStructure<'static>> {
    let mut next = next.cast::<vk::BaseInStructure<'static>>();
    std::iter::from_fn(move || {
        let this = (!next.is_null()).then_some(next)?;
        // SAFETY: by the contract every element begins with type and next pointer.
        next = unsafe { (*this).p_next };
        Some(this)
    })
}

/// The structure of type `T` in a chain.
///
/// # Safety
/// As for [`chain`]; the structure outlives `'a`.
pub(super) unsafe fn extension<'a, T: vk::TaggedStructure>(next: *const c_void) -> Option<&'a T> {
    // SAFETY: by the contract; the type says what the structure is.
    unsafe { chain(next).find(|link| (**link).s_type == T::STRUCTURE_TYPE).map(|link| &*link.cast::<T>()) }
}

/// As [`extension`], for chains that the driver writes to.
///
/// # Safety
/// As for [`extension`], and nobody else refers to the structure.
pub(super) unsafe fn answer<'a, T: vk::TaggedStructure>(next: *mut c_void) -> Option<&'a mut T> {
    // SAFETY: by the contract.
    unsafe {
        let found = chain(next).find(|link| (**link).s_type == T::STRUCTURE_TYPE);
        found.map(|link| &mut *link.cast_mut().cast::<T>())
    }
}

/// Makes the handle of a new object and hands it out.
///
/// # Safety
/// `callbacks` as for [`HostAllocator::new`]; `out` is valid.
pub(super) unsafe fn give<T: Object>(
    parent: HostAllocator,
    callbacks: *const vk::AllocationCallbacks<'_>,
    out: *mut T::Handle,
    object: T,
) -> Result<(), Error> {
    // SAFETY: by the contract.
    unsafe {
        let allocator = HostAllocator::new(callbacks).or(parent);
        out.write(handle::create(allocator, Arc::new(object))?);
    }
    Ok(())
}

/// Ends a handle, which may be null.
///
/// # Safety
/// `callbacks` as for [`HostAllocator::new`]; the handle as for [`handle::take`].
pub(super) unsafe fn destroy<T: Object>(handle: T::Handle, callbacks: *const vk::AllocationCallbacks<'_>) {
    // SAFETY: by the contract.
    drop(unsafe { handle::take::<T>(handle, HostAllocator::new(callbacks)) });
}
