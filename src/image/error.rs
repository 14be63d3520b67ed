//! What cannot be laid out.

/// Why an image cannot be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// No utile holds such elements.
    #[error("elements of {0} bytes have no layout; 1, 2, 4 and 8 do, and in raster order 16")]
    Cpp(u32),
    /// An edge is zero or too long.
    #[error("{width} x {height} elements cannot be laid out; edges are 1 to 8192, and 4096 in tiles")]
    Size {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// More levels than the size has, or none.
    #[error("an image of {width} x {height} pixels has no {levels} levels")]
    Levels {
        /// Columns of level 0.
        width: u32,
        /// Rows of level 0.
        height: u32,
        /// Levels asked for.
        levels: u32,
    },
    /// More than a BO can have.
    #[error("an image of {0} bytes is larger than 4 GiB")]
    Bytes(u64),
    /// Neither one face nor six.
    #[error("an image has 1 or 6 faces, not {0}")]
    Faces(u32),
}
