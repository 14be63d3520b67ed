//! BOs as the validator sees them.

use super::shader::ShaderInfo;

/// A BO of a submission, in the order of `Submit::bos`.
#[derive(Clone, Copy, Debug)]
pub struct BoInfo<'a> {
    /// Bus address.
    pub bus_address: u32,
    /// Bytes.
    pub size: u32,
    /// What its validation recorded, when it is a shader BO.
    pub shader: Option<&'a ShaderInfo>,
}
