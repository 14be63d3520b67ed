//! What a stage shares with what is around it: its kind, inputs and outputs.

use crate::binding::DrawWord;

/// Pipeline stage of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex; lowered twice, for the vertex and the coordinate program.
    Vertex,
    /// Fragment.
    Fragment,
    /// Compute: never a QPU program as it stands; the CPU runs it.
    Compute,
}

impl Stage {
    /// Its name in text.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
        }
    }
}

/// How a fragment input is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Perspective-correct.
    Smooth,
    /// Linear in screen space.
    NoPerspective,
    /// The provoking vertex's value.
    Flat,
    /// Perspective-correct, at a place of the pixel that the primitive covers.
    Centroid,
    /// Linear in screen space, at a place of the pixel that the primitive covers.
    NoPerspectiveCentroid,
    /// Perspective-correct, at the sample that is shaded.
    Sample,
    /// Linear in screen space, at the sample that is shaded.
    NoPerspectiveSample,
    /// Perspective-correct, at the pixel's centre whatever is shaded.
    Center,
    /// Linear in screen space, at the pixel's centre whatever is shaded.
    NoPerspectiveCenter,
}

impl Interpolation {
    /// The same at the pixel's centre, which is where the hardware interpolates.
    pub const fn at_center(self) -> Interpolation {
        match self {
            Interpolation::Centroid | Interpolation::Sample | Interpolation::Center => Interpolation::Smooth,
            Interpolation::NoPerspectiveCentroid
            | Interpolation::NoPerspectiveSample
            | Interpolation::NoPerspectiveCenter => Interpolation::NoPerspective,
            other => other,
        }
    }

    /// Whether it is at a place that the primitive covers.
    pub const fn is_centroid(self) -> bool {
        matches!(self, Interpolation::Centroid | Interpolation::NoPerspectiveCentroid)
    }

    /// Whether it asks for an invocation per sample.
    pub const fn is_per_sample(self) -> bool {
        matches!(self, Interpolation::Sample | Interpolation::NoPerspectiveSample)
    }

    /// Whether it follows the sample that is shaded.
    pub const fn is_at_sample(self) -> bool {
        !matches!(self, Interpolation::Flat | Interpolation::Center | Interpolation::NoPerspectiveCenter)
    }
}

/// Invocations of a subgroup: those of a compute shader's workgroup whose local indices follow each other, from a multiple
/// of their number on.
pub const SUBGROUP: u32 = 4;

/// Where an invocation of a compute shader stands, one component each. Its place among all is made of its workgroup's and its
/// own there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Invocation {
    /// gl_WorkGroupID.xyz by component, the dispatch's base included.
    WorkgroupId(u8),
    /// gl_NumWorkGroups.xyz by component.
    WorkgroupCount(u8),
    /// gl_LocalInvocationID.xyz by component.
    LocalId(u8),
    /// gl_LocalInvocationIndex.
    LocalIndex,
    /// gl_SubgroupInvocationID.
    SubgroupInvocation,
    /// gl_SubgroupID.
    SubgroupId,
}

impl Invocation {
    /// Whether the invocations of a subgroup share it.
    pub const fn is_shared(self) -> bool {
        matches!(self, Invocation::WorkgroupId(_) | Invocation::WorkgroupCount(_) | Invocation::SubgroupId)
    }
}

/// Built-in input of a stage, one component each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltinInput {
    /// gl_VertexIndex.
    VertexIndex,
    /// gl_InstanceIndex.
    InstanceIndex,
    /// gl_FragCoord.xyzw by component.
    FragCoord(u8),
    /// The pixel's column (0) or row (1) as an integer.
    Pixel(u8),
    /// gl_FrontFacing (a `Bool`).
    FrontFacing,
    /// gl_PointCoord.xy by component.
    PointCoord(u8),
    /// gl_SampleMaskIn, bits 3:0.
    SampleMask,
    /// Where a sample lies from the pixel's centre, along an axis: 0.0 with one sample per pixel, whatever its number.
    SampleOffset {
        /// Its number.
        sample: u8,
        /// 0 or 1.
        axis: u8,
    },
    /// gl_SampleID.
    SampleId,
    /// gl_SamplePosition.xy by component.
    SamplePosition(u8),
    /// gl_HelperInvocation (a `Bool`).
    HelperInvocation,
    /// What the draw says of itself.
    Draw(DrawWord),
    /// What a compute shader knows of its place.
    Invocation(Invocation),
}

/// Locations of gl_ClipDistance, four components in each of two, behind all that a stage may name.
pub const CLIP_DISTANCES: u32 = 32;
/// Those of gl_CullDistance.
pub const CULL_DISTANCES: u32 = 34;
/// Distances of either kind.
pub const MAX_DISTANCES: u32 = 8;

/// Output of a stage, one component each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Output {
    /// gl_Position by component.
    Position(u8),
    /// gl_PointSize.
    PointSize,
    /// A user output: vertex varying or fragment colour.
    User {
        /// Location.
        location: u32,
        /// Component 0–3.
        component: u8,
    },
    /// Second colour of location 0 (index 1), the second source of blending.
    SecondColor(u8),
    /// gl_FragDepth.
    FragDepth,
    /// gl_SampleMask, bits 3:0.
    SampleMask,
}
