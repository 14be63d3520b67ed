//! What the machine cannot do.

/// State that the machine has no way to express.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    /// The depth offset has no clamp (v3d.md §9.7).
    #[error("a depth bias clamp of {0} cannot be applied; the machine has none, use 0")]
    DepthBiasClamp(f32),
    /// Second colour source without a second output of the program.
    #[error("blending uses a second source colour, but the fragment program has only one output")]
    SecondSource,
    /// The target's format has no colour in the tile buffer.
    #[error("{0} is no colour target")]
    NoColorTarget(&'static str),
    /// Blending on a target whose numbers do not blend.
    #[error("integers and 32-bit floats cannot be blended; turn blending off for this target")]
    NoBlending,
    /// The destination of every sample takes part, but samples cannot be written one by one.
    #[error("blending or masking on a multisampled target needs an emitter that writes single samples")]
    Samples,
    /// Attribute words that a vertex format needs are missing.
    #[error("a vertex format of {need} words was given {have}")]
    AttributeWords {
        /// Words of the format.
        need: usize,
        /// Words given.
        have: usize,
    },
}
