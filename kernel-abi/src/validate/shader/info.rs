//! What validation records about a shader.

/// Parameters of one TMU request.
pub(super) const TMU_PARAMETERS: usize = 4;

/// A texture request of a shader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampleInfo {
    /// A direct memory lookup; then `p[0]` is the base address word and `p[1]` the clamp limit.
    pub direct: bool,
    /// Byte positions of the configuration words P0 to P3 in the uniforms.
    pub p: [Option<u32>; TMU_PARAMETERS],
}

/// What validation records about a shader (kernel-abi.md §6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShaderInfo {
    /// Bytes of uniforms that the program consumes.
    pub uniforms_size: u32,
    /// Bytes of its block in the uniforms of a submission: a BO index per sample, then the uniforms.
    pub source_size: u32,
    /// The texture requests in program order.
    pub samples: Vec<SampleInfo>,
    /// Word positions that receive the address of the program's uniforms.
    pub uniform_addr_slots: Vec<u32>,
    /// Whether the program switches threads.
    pub threaded: bool,
}
