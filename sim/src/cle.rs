//! Control lists: the bytes of a list in bus memory, packet by packet (v3d.md §2, §4, §5). What the packets do is
//! [`crate::binning`]'s and [`crate::rendering`]'s business.

use vc4::cl::AnyPacket;
use vc4::cl::packets::Lists;

use crate::error::{JobError, Thread};
use crate::memory::Memory;

/// A list in bus memory, read packet by packet.
pub(crate) struct Walk {
    thread: Thread,
    start: u32,
    bytes: Vec<u8>,
    at: usize,
    /// Address of the packet that was read last.
    address: u32,
}

impl Walk {
    /// The list of `length` bytes at `start`.
    pub fn new(memory: &Memory, thread: Thread, start: u32, length: u32) -> Result<Walk, JobError> {
        let mut bytes = vec![0; length as usize];
        memory.read_bytes(start, &mut bytes).map_err(JobError::bus("control list"))?;
        Ok(Walk { thread, start, bytes, at: 0, address: start })
    }

    /// The next packet; `None` at the end.
    pub fn next(&mut self) -> Option<Result<AnyPacket, JobError>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        self.address = self.start.wrapping_add(self.at as u32);
        Some(match AnyPacket::read(rest) {
            Ok(packet) if packet.lists() == self.foreign() || packet.lists() == Lists::Neither => {
                Err(self.error(format!("{} does not belong into this list", packet.name())))
            }
            Ok(packet) => {
                self.at += packet.size();
                Ok(packet)
            }
            Err(error) => Err(self.error(error)),
        })
    }

    /// Whether no packet is left.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn foreign(&self) -> Lists {
        match self.thread {
            Thread::Binning => Lists::Renderer,
            Thread::Rendering => Lists::Binner,
        }
    }

    /// What is wrong with the packet that was read last.
    pub fn error(&self, what: impl ToString) -> JobError {
        JobError::List { thread: self.thread, address: self.address, what: what.to_string() }
    }
}
