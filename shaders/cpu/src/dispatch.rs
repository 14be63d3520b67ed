//! What a kernel is run with.

use std::time::Instant;

use crate::batch::Words;

/// The bytes that a buffer descriptor binds.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first; a multiple of 4.
    pub address: *mut u8,
    /// How many; what is left of a word at the end counts as outside.
    pub bytes: u32,
}

impl Range {
    /// No bytes: reads yield 0, stores are lost.
    pub const EMPTY: Range = Range { address: std::ptr::null_mut(), bytes: 0 };
}

/// What a texel of [`Rows`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowTexel {
    /// One component; the second and third are 0, the fourth is this.
    Word(u32),
    /// Four fractions of 255, the first in the low byte.
    Bytes,
}

/// An image of 32-bit texels in rows from the first column on, which machine code reads and writes by itself.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The first texel; a multiple of 4.
    pub address: *mut u8,
    /// Texels of a row.
    pub width: u32,
    /// Rows; 1 of what has only columns.
    pub height: u32,
    /// Bytes from row to row. All rows together have less than 4 GiB.
    pub stride: u32,
    /// What a texel is.
    pub texel: RowTexel,
}

/// What image operations of a kernel act on.
pub trait Images: Sync {
    /// The image of operation `index` of [`crate::Kernel::images`], if it is one in rows. The kernel then reads and writes it
    /// without [`Images::access`] where it can. Asked for once per dispatch.
    fn rows(&self, _index: usize) -> Option<Rows> {
        None
    }

    /// Performs operation `index` of [`crate::Kernel::images`] for the elements whose bit in `active` is set. `arguments` are
    /// the operation's, `results` has its results and may be left as it is where an element is not active.
    fn access(&self, index: usize, arguments: &[Words], active: u8, results: &mut [Words]);
}

/// A dispatch.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    /// The first workgroup's number along each axis.
    pub base: [u32; 3],
    /// Workgroups along each axis.
    pub groups: [u32; 3],
    /// What kernels take for their number: more where others run elsewhere.
    pub count: [u32; 3],
    /// Push constants; words beyond read as 0.
    pub push: &'a [u32],
    /// What is bound to each of [`crate::Kernel::buffers`], in that order.
    pub buffers: &'a [Range],
    /// Images.
    pub images: &'a dyn Images,
    /// When to give up a kernel that does not end; never if `None`.
    pub deadline: Option<Instant>,
}

/// Why a dispatch did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// It ran into its deadline.
    #[error("a compute kernel did not end in time")]
    Deadline,
    /// A host thread or its memory could not be had.
    #[error("no host memory or thread for a dispatch: {0}")]
    Host(String),
}
