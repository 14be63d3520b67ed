//! Request codes (kernel-abi.md §2).

use bytemuck::{Pod, bytes_of_mut};

use crate::drm::node::Answer;
use crate::drm::process::Process;

/// A request code, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request(pub u32);

impl Request {
    pub fn number(self) -> u8 {
        self.0 as u8
    }

    pub fn kind(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// Bytes of the struct, as the caller knows it.
    pub fn size(self) -> usize {
        (self.0 >> 16) as usize & 0x3fff
    }

    /// Whether the caller hands bytes in.
    fn writes(self) -> bool {
        self.0 & 1 << 30 != 0
    }

    /// Whether the caller expects bytes back.
    fn reads(self) -> bool {
        self.0 & 1 << 31 != 0
    }

    /// Calls `handler` on the struct at `arg`: missing bytes are zero, surplus ones are left alone, and the struct
    /// goes back even when the call fails.
    pub fn with<T: Pod>(
        self,
        arg: u64,
        process: &dyn Process,
        handler: impl FnOnce(&mut T) -> Answer,
    ) -> Answer {
        let mut value = T::zeroed();
        let size = self.size().min(size_of::<T>());
        let bytes = &mut bytes_of_mut(&mut value)[..size];
        if self.writes() && size > 0 {
            process.read(arg, bytes)?;
        }
        let result = handler(&mut value);
        if self.reads() && size > 0 {
            process.write(arg, &bytes_of_mut(&mut value)[..size])?;
        }
        result
    }
}
