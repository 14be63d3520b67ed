//! Handles. A handle is the address of a block that begins with the loader's word and a kind tag and
//! holds an [`Arc`] of the object.
//!
//! The block comes from the application's allocation callbacks and lives exactly from create to
//! destroy. The object behind the `Arc` lives longer when something else still needs it: the API lets
//! layouts, modules and render passes die before their users, and recorded work that the queue thread
//! is executing keeps its buffers, so that no borrow in the driver depends on the application's care.
//!
//! Only this file converts between handles and objects.

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::{NonNull, addr_of, addr_of_mut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ash::vk::{self, Handle};

use crate::foundation::error::Error;

/// What the loader expects in the first word of a dispatchable object (ICD_LOADER_MAGIC); it puts its
/// dispatch table's address there.
const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// A type of API objects.
pub trait Object: Send + Sync + Sized + 'static {
    /// The handle that applications see. Its `TYPE` is the kind tag.
    type Handle: Handle + Copy;
    /// Life span that the allocation callbacks are told.
    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::OBJECT;
}

/// Where the host memory of API objects comes from: the application's callbacks or the process heap.
#[derive(Clone, Copy, Default)]
pub struct HostAllocator(Option<vk::AllocationCallbacks<'static>>);

// SAFETY: the callbacks are plain function pointers, and the specification (§ Host memory) makes the
// application responsible for whatever `pUserData` leads to.
unsafe impl Send for HostAllocator {}
// SAFETY: as above.
unsafe impl Sync for HostAllocator {}

impl HostAllocator {
    /// The allocator named by `callbacks`, or the process heap when null.
    ///
    /// # Safety
    /// `callbacks` is null or points to valid callbacks that stay valid for the objects made with them.
    pub unsafe fn new(callbacks: *const vk::AllocationCallbacks<'_>) -> HostAllocator {
        // SAFETY: valid or null by the contract; the lifetime only concerns ash's builder.
        HostAllocator(unsafe { callbacks.cast::<vk::AllocationCallbacks<'static>>().as_ref() }.copied())
    }

    /// This allocator, or `parent` when the application gave none.
    pub fn or(self, parent: HostAllocator) -> HostAllocator {
        if self.0.is_some() { self } else { parent }
    }

    fn allocate(&self, layout: Layout, scope: vk::SystemAllocationScope) -> Result<NonNull<u8>, Error> {
        let memory = match &self.0 {
            // SAFETY: size and alignment are those of a non-empty Rust type.
            None => unsafe { std::alloc::alloc(layout) },
            Some(vk::AllocationCallbacks { pfn_allocation: Some(allocation), p_user_data, .. }) => {
                // SAFETY: the callback is the application's and gets its own user data back.
                unsafe { allocation(*p_user_data, layout.size(), layout.align(), scope) }.cast()
            }
            Some(_) => std::ptr::null_mut(),
        };
        NonNull::new(memory).ok_or(Error::OutOfHostMemory)
    }

    /// # Safety
    /// `memory` came from `allocate` with this layout and an allocator compatible with this one.
    unsafe fn free(&self, memory: NonNull<u8>, layout: Layout) {
        match &self.0 {
            // SAFETY: by the contract.
            None => unsafe { std::alloc::dealloc(memory.as_ptr(), layout) },
            Some(callbacks) => {
                if let Some(free) = callbacks.pfn_free {
                    // SAFETY: by the contract.
                    unsafe { free(callbacks.p_user_data, memory.as_ptr().cast::<c_void>()) }
                }
            }
        }
    }
}

/// What a handle points to.
#[repr(C)]
struct Block<T> {
    /// The loader's, in dispatchable objects; never read here.
    loader: usize,
    kind: vk::ObjectType,
    allocator: HostAllocator,
    private: PrivateData,
    object: Arc<T>,
}

/// Words that applications keep beside an object, by number of the slot.
type PrivateData = OnceLock<Box<Mutex<Vec<(u64, u64)>>>>;

/// The words beside an object of any type; `None` for the null handle.
///
/// # Safety
/// `handle` came from [`create`], whatever the object's type, and was not taken yet, or is null; `'a` ends before it is.
unsafe fn private<'a>(handle: u64) -> Option<&'a PrivateData> {
    // What stands in front of the object does not depend on its type.
    let block = NonNull::new(handle as usize as *mut Block<()>)?.as_ptr();
    // SAFETY: by the contract; what has ended, as far as its memory still tells, has no words.
    unsafe {
        let ended = addr_of!((*block).kind).read() == vk::ObjectType::UNKNOWN;
        (!ended).then(|| &*addr_of!((*block).private))
    }
}

/// Keeps a word beside an object.
///
/// # Safety
/// `handle` came from [`create`], whatever the object's type, and was not taken yet, or is null.
pub unsafe fn set_private(handle: u64, slot: u64, word: u64) {
    // SAFETY: by the contract.
    let Some(words) = (unsafe { private(handle) }) else { return };
    let words = words.get_or_init(Box::default);
    let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
    match words.iter_mut().find(|(known, _)| *known == slot) {
        Some((_, old)) => *old = word,
        None => words.push((slot, word)),
    }
}

/// The word beside an object, 0 before there is one.
///
/// # Safety
/// `handle` came from [`create`], whatever the object's type, and was not taken yet, or is null.
pub unsafe fn get_private(handle: u64, slot: u64) -> u64 {
    // SAFETY: by the contract.
    let Some(words) = (unsafe { private(handle) }).and_then(OnceLock::get) else { return 0 };
    let words = words.lock().unwrap_or_else(PoisonError::into_inner);
    words.iter().find(|(known, _)| *known == slot).map_or(0, |(_, word)| *word)
}

fn block<T: Object>(handle: T::Handle) -> Option<NonNull<Block<T>>> {
    NonNull::new(handle.as_raw() as usize as *mut Block<T>)
}

/// Makes a handle for `object` in memory of `allocator`.
pub fn create<T: Object>(allocator: HostAllocator, object: Arc<T>) -> Result<T::Handle, Error> {
    let memory = allocator.allocate(Layout::new::<Block<T>>(), T::SCOPE)?.cast::<Block<T>>();
    let block =
        Block { loader: LOADER_MAGIC, kind: T::Handle::TYPE, allocator, private: PrivateData::new(), object };
    // SAFETY: the memory is fresh, large enough and aligned for a block.
    unsafe { memory.as_ptr().write(block) };
    Ok(T::Handle::from_raw(memory.as_ptr() as usize as u64))
}

/// What unwinds to the entry point's guard when a handle is null that must not be.
pub struct NullHandle(pub vk::ObjectType);

/// What unwinds to the entry point's guard when a handle leads to an object of another type, or to one that has ended, as far
/// as its memory still tells.
pub struct WrongHandle {
    /// The type that the command takes.
    pub wanted: vk::ObjectType,
    /// What stands there.
    pub found: vk::ObjectType,
}

/// Unwinds unless a block is of the type: applications that keep the rules never notice, others get an error instead of an
/// object that is none.
///
/// # Safety
/// `block` leads to readable memory.
unsafe fn check<T: Object>(block: *const Block<T>) {
    // SAFETY: by the contract. Any number is an object type of the wrapper's.
    let found = unsafe { addr_of!((*block).kind).read() };
    let wanted = T::Handle::TYPE;
    if found != wanted {
        std::panic::resume_unwind(Box::new(WrongHandle { wanted, found }));
    }
}

/// Borrows the object of a handle that must not be null.
///
/// # Safety
/// `handle` came from [`create`] for the same type and was not taken yet; `'a` ends before it is.
///
/// # Panics
/// Silently: on the null handle with a [`NullHandle`], on one of another type with a [`WrongHandle`].
pub unsafe fn get<'a, T: Object>(handle: T::Handle) -> &'a Arc<T> {
    // SAFETY: by the contract.
    unsafe { opt::<T>(handle) }
        .unwrap_or_else(|| std::panic::resume_unwind(Box::new(NullHandle(T::Handle::TYPE))))
}

/// Borrows the object of a handle, `None` for the null handle.
///
/// # Safety
/// As for [`get`], or `handle` is null.
pub unsafe fn opt<'a, T: Object>(handle: T::Handle) -> Option<&'a Arc<T>> {
    let block = block::<T>(handle)?.as_ptr();
    // SAFETY: the block is live by the contract. The loader's word is not covered by the reference.
    unsafe {
        check(block);
        Some(&*addr_of!((*block).object))
    }
}

/// Ends a handle and hands out its object; `None` for the null handle. The block goes back through
/// `allocator` when the application gave one at destruction, else to where it came from.
///
/// # Safety
/// As for [`opt`]; the handle is dead afterwards.
pub unsafe fn take<T: Object>(handle: T::Handle, allocator: HostAllocator) -> Option<Arc<T>> {
    let block = block::<T>(handle)?;
    // SAFETY: the block is live by the contract and nobody uses it after this.
    unsafe {
        let place = block.as_ptr();
        check(place);
        addr_of_mut!((*place).kind).write(vk::ObjectType::UNKNOWN);
        let from = addr_of!((*place).allocator).read();
        drop(addr_of!((*place).private).read());
        let object = addr_of!((*place).object).read();
        let to = if from.0.is_some() { allocator.or(from) } else { from };
        to.free(block.cast(), Layout::new::<Block<T>>());
        Some(object)
    }
}

/// A handle that the driver itself makes and ends (physical devices, queues).
pub struct OwnedHandle<T: Object>(T::Handle);

// SAFETY: a handle is an address; the object behind it is `Send` and `Sync`.
unsafe impl<T: Object> Send for OwnedHandle<T> {}
// SAFETY: as above.
unsafe impl<T: Object> Sync for OwnedHandle<T> {}

impl<T: Object> OwnedHandle<T> {
    /// Makes a handle for `object`.
    pub fn new(allocator: HostAllocator, object: Arc<T>) -> Result<OwnedHandle<T>, Error> {
        create(allocator, object).map(OwnedHandle)
    }

    /// The handle, to be lent to the application.
    pub fn handle(&self) -> T::Handle {
        self.0
    }

    /// The object.
    pub fn object(&self) -> &Arc<T> {
        // SAFETY: the handle lives as long as its owner.
        unsafe { get::<T>(self.0) }
    }
}

impl<T: Object> Drop for OwnedHandle<T> {
    fn drop(&mut self) {
        // SAFETY: made by `new`; the owner ends it once.
        unsafe { take::<T>(self.0, HostAllocator::default()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Thing(u32);
    impl Object for Thing {
        type Handle = vk::Event;
    }

    struct Dispatch;
    impl Object for Dispatch {
        type Handle = vk::Queue;
    }

    #[test]
    fn a_handle_leads_to_its_object_and_ends_once() {
        let handle = create(HostAllocator::default(), Arc::new(Thing(7))).unwrap();
        // SAFETY: the handle was just made and is taken last.
        unsafe {
            assert_eq!(get::<Thing>(handle).0, 7);
            let thing = take::<Thing>(handle, HostAllocator::default()).unwrap();
            assert_eq!(Arc::strong_count(&thing), 1);
            assert!(take::<Thing>(vk::Event::null(), HostAllocator::default()).is_none());
            assert!(opt::<Thing>(vk::Event::null()).is_none());
        }
    }

    #[test]
    fn a_handle_of_another_type_or_of_what_has_ended_is_told() {
        // Blocks stay where they are, so that what has ended can be looked at.
        let callbacks = vk::AllocationCallbacks {
            pfn_allocation: Some(allocate),
            pfn_free: Some(keep),
            ..Default::default()
        };
        // SAFETY: the callbacks outlive the objects of this test, whose memory is never given back.
        unsafe {
            let allocator = HostAllocator::new(&callbacks);
            let handle = create(allocator, Arc::new(Thing(7))).unwrap();
            let wrong = |run: &dyn Fn()| {
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
                let WrongHandle { wanted, found } = *caught.downcast().unwrap();
                (wanted, found)
            };
            let queue = vk::Queue::from_raw(handle.as_raw());
            assert_eq!(wrong(&|| _ = get::<Dispatch>(queue)), (vk::ObjectType::QUEUE, vk::ObjectType::EVENT));
            drop(take::<Thing>(handle, allocator));
            let ended = (vk::ObjectType::EVENT, vk::ObjectType::UNKNOWN);
            assert_eq!(wrong(&|| _ = get::<Thing>(handle)), ended);
            assert_eq!(wrong(&|| drop(take::<Thing>(handle, allocator))), ended);
            set_private(handle.as_raw(), 1, 2);
            assert_eq!(get_private(handle.as_raw(), 1), 0);
        }
    }

    unsafe extern "system" fn allocate(
        _: *mut c_void,
        size: usize,
        align: usize,
        _: vk::SystemAllocationScope,
    ) -> *mut c_void {
        // SAFETY: a plain allocation; alignments of Rust blocks are powers of two.
        unsafe { libc::aligned_alloc(align.max(16), size.next_multiple_of(align.max(16))) }
    }

    unsafe extern "system" fn keep(_: *mut c_void, _: *mut c_void) {}

    #[test]
    fn the_loader_finds_its_word_first() {
        let handle = create(HostAllocator::default(), Arc::new(Dispatch)).unwrap();
        // SAFETY: a dispatchable handle points to the loader's word.
        unsafe {
            assert_eq!(*(handle.as_raw() as usize as *const usize), LOADER_MAGIC);
            take::<Dispatch>(handle, HostAllocator::default());
        }
    }

    static LIVE: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "system" fn count_allocation(
        limit: *mut c_void,
        size: usize,
        align: usize,
        _: vk::SystemAllocationScope,
    ) -> *mut c_void {
        // SAFETY: the test passes a counter as user data.
        let limit = unsafe { &*limit.cast::<AtomicUsize>() };
        if limit.load(Ordering::Relaxed) == 0 {
            return std::ptr::null_mut();
        }
        LIVE.fetch_add(1, Ordering::Relaxed);
        // SAFETY: a plain allocation; alignments of Rust blocks are powers of two.
        unsafe { libc::aligned_alloc(align.max(16), size.next_multiple_of(align.max(16))) }
    }

    unsafe extern "system" fn count_free(_: *mut c_void, memory: *mut c_void) {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the memory came from `aligned_alloc`.
        unsafe { libc::free(memory) }
    }

    #[test]
    fn callbacks_serve_the_block_and_their_refusal_is_out_of_host_memory() {
        let allowed = AtomicUsize::new(1);
        let callbacks = vk::AllocationCallbacks {
            p_user_data: (&raw const allowed).cast_mut().cast(),
            pfn_allocation: Some(count_allocation),
            pfn_free: Some(count_free),
            ..Default::default()
        };
        // SAFETY: the callbacks outlive the objects of this test.
        let allocator = unsafe { HostAllocator::new(&callbacks) };
        let handle = create(allocator, Arc::new(Thing(1))).unwrap();
        assert_eq!(LIVE.load(Ordering::Relaxed), 1);
        // SAFETY: the handle is live.
        unsafe { take::<Thing>(handle, allocator) };
        assert_eq!(LIVE.load(Ordering::Relaxed), 0);
        allowed.store(0, Ordering::Relaxed);
        assert!(matches!(create(allocator, Arc::new(Thing(1))), Err(Error::OutOfHostMemory)));
    }
}
