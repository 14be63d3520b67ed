//! What machine code and host share: the record that every call of a kernel gets.

use crate::dispatch::{RowTexel, Rows};

/// A buffer's range as machine code reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The first byte.
    pub address: *mut u8,
    /// How many there are.
    pub bytes: u64,
}

/// An image as machine code reads it: rows of words from the first on.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Texels {
    /// The first texel.
    pub address: *mut u8,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes from row to row.
    pub stride: u32,
    /// [`NONE`], [`WORD`] or [`BYTES`].
    pub kind: u32,
    /// The fourth component of a [`WORD`].
    pub one: u32,
}

impl Texels {
    /// An image as the host tells of it. Of one without texels machine code would read the first.
    pub fn of(rows: Option<Rows>) -> Texels {
        let Some(rows) = rows.filter(|rows| rows.width > 0 && rows.height > 0 && !rows.address.is_null())
        else {
            return Texels {
                address: std::ptr::null_mut(),
                width: 0,
                height: 0,
                stride: 0,
                kind: NONE,
                one: 0,
            };
        };
        let Rows { address, width, height, stride, texel } = rows;
        let (kind, one) = match texel {
            RowTexel::Word(one) => (WORD, one),
            RowTexel::Bytes => (BYTES, 0),
        };
        Texels { address, width, height, stride, kind, one }
    }
}

/// The host has to look at it.
pub const NONE: u32 = 0;
/// A texel is one component.
pub const WORD: u32 = 1;
/// A texel is four fractions of 255.
pub const BYTES: u32 = 2;

/// Tells whether to stop; called now and then by loops.
///
/// Most loops make no other call, and what a call may clobber has no good place in a register: where a convention keeps
/// vector registers, this call has it.
#[cfg(target_arch = "x86_64")]
pub type Tick = unsafe extern "win64" fn(*const ()) -> u32;
/// Tells whether to stop; called now and then by loops.
#[cfg(not(target_arch = "x86_64"))]
pub type Tick = unsafe extern "C" fn(*const ()) -> u32;

/// Runs image operation or rare operation `index` for the elements set in `active`: the host, the index, argument words by
/// element, `active`, result words by element.
pub type Perform = unsafe extern "C" fn(*const (), u32, *const [u32; 4], u32, *mut [u32; 4]);

/// A function of one argument, in place.
pub type Function = unsafe extern "C" fn(*mut [u32; 4]);

/// What a call of a kernel gets. Fixed while the call runs, except for what the pointers lead to.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    /// The ranges of [`crate::Kernel::buffers`].
    pub buffers: *const Bound,
    /// The images of [`crate::Kernel::images`], by operation.
    pub texels: *const Texels,
    /// Push constants, as many as the kernel reads.
    pub push: *const u32,
    /// Local IDs: four x, four y, four z of every batch.
    pub places: *const [u32; 12],
    /// The workgroup's shared memory.
    pub shared: *mut u8,
    /// The batch's own memory, by element.
    pub scratch: *mut u8,
    /// What the batch keeps while it waits at a barrier.
    pub frames: *mut u8,
    /// Zeros, for loads outside.
    pub zero: *const [u32; 4],
    /// Takes stores outside.
    pub sink: *mut [u32; 4],
    /// First argument of calls.
    pub host: *const (),
    /// See [`Tick`].
    pub tick: Tick,
    /// Image operations.
    pub image: Perform,
    /// Operations too rare for code of their own.
    pub rare: Perform,
    /// By [`crate::math::Call`].
    pub functions: *const Function,
    /// The workgroup's number.
    pub workgroup: [u32; 3],
    /// How many there are.
    pub count: [u32; 3],
}

/// A kernel's code: the context, then two words. Without barriers, the first batch to run and the one behind the last. With
/// barriers, the batch and where it goes on: 0 or what the call before returned. Returns 0 at the end, [`STOPPED`] or the
/// number of the barrier that the batch waits at.
pub type Entry = unsafe extern "C" fn(*const Context, u32, u32) -> u32;

/// The kernel was told to stop.
pub const STOPPED: u32 = u32::MAX;
