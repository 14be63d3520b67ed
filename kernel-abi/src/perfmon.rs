//! What the V3D's performance counters count, by the numbers that ioctls take (kernel-abi.md §4.15).

/// Events that exist.
pub const EVENTS: usize = 30;

/// What can be counted. The discriminant is the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Event {
    /// Primitives of tile lists that cover no sample of their tile.
    PrimitivesWithoutPixels,
    /// Primitives of tile lists that primitive setup passes to the rasteriser, once per tile.
    ValidPrimitives,
    /// Quads that the early depth test drops. Near and far clipping of quads takes packet 104, which the kernel rejects.
    ClippedQuads,
    /// Quads that the rasteriser passes to shading.
    ValidQuads,
    /// Quads of which every covered sample fails the stencil test.
    QuadsFailingStencil,
    /// Quads without a sample that passes the stencil and the depth test.
    QuadsFailingZAndStencil,
    /// Quads with a sample that passes both tests.
    QuadsPassingZAndStencil,
    /// Places of a batch that reach the tile buffer without a covered sample.
    QuadsZeroCoverage,
    /// Places of a batch that reach the tile buffer with a covered sample.
    QuadsNonZeroCoverage,
    /// Quads of which a sample's colour is written, once per batch.
    QuadsWrittenToColor,
    /// Primitives that touch no tile: outside of the clip planes, the clip window or the target.
    PrimitivesOutside,
    /// Primitives that a clip plane cuts.
    PrimitivesClipped,
    /// Primitives facing backwards.
    PrimitivesReversed,
    /// Clocks of all QPUs without a program.
    QpuIdle,
    /// Clocks of vertex and coordinate programs.
    QpuVertex,
    /// Clocks of fragment programs.
    QpuFragment,
    /// Clocks with an instruction.
    QpuInstructions,
    /// Clocks waiting for a TMU.
    QpuStalledTmu,
    /// Clocks waiting for the scoreboard.
    QpuStalledScoreboard,
    /// Clocks waiting for a varying.
    QpuStalledVarying,
    /// Instructions fetched; misses count as well (qpu.md §4.12).
    InstructionCacheHits,
    /// Lines of instructions that the cache did not hold.
    InstructionCacheMisses,
    /// Words of the uniform stream; misses count as well (qpu.md §4.12).
    UniformCacheHits,
    /// Lines of uniforms that the cache did not hold.
    UniformCacheMisses,
    /// Quads looked up in textures or memory.
    TextureQuads,
    /// Texture lines that the cache of the unit did not hold.
    TextureCacheMisses,
    /// Clocks in which the vertex DMA's writes wait for the VPM. The kernel forbids starting them.
    VdwStalled,
    /// Clocks in which the vertex cache waits for the VPM.
    VcdStalled,
    /// Lines of the other caches that the L2 cache held.
    L2Hits,
    /// Lines that the L2 cache did not hold.
    L2Misses,
}
