//! The numbers 0, 1, 2 … as a vertex buffer: fetched, they tell a vertex its index (T-VID).

use std::sync::{Arc, OnceLock};

use vc4::hw::MAX_VERTEX_INDEX;

use crate::foundation::bo::Bo;
use crate::foundation::error::Error;
use crate::foundation::traffic::Cause;
use crate::objects::device::Device;

/// Where zeros begin, behind the numbers: enough for any attribute.
pub(super) const ZEROS_AT: u32 = 4 * (MAX_VERTEX_INDEX + 1);
/// Most bytes of an attribute.
const ZEROS: usize = 256;

/// The buffer, made at first use.
pub struct Iota {
    device: Arc<Device>,
    bo: OnceLock<Arc<Bo>>,
}

impl Iota {
    /// Numbers in memory of `device`.
    pub fn new(device: Arc<Device>) -> Iota {
        Iota { device, bo: OnceLock::new() }
    }

    /// The device that draws.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// A BO of 32-bit numbers from 0 to the largest vertex index.
    pub fn bo(&self) -> Result<&Arc<Bo>, Error> {
        if let Some(bo) = self.bo.get() {
            return Ok(bo);
        }
        let mut numbers: Vec<u8> = (0..=MAX_VERTEX_INDEX).flat_map(u32::to_le_bytes).collect();
        numbers.resize(numbers.len() + ZEROS, 0);
        let bo = self.device.create_bo("vertex numbers", numbers.len() as u64)?;
        bo.access(Cause::Vertices)?.write(0, &numbers);
        Ok(self.bo.get_or_init(|| bo))
    }
}
