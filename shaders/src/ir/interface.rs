//! What a stage shares with what is around it: its kind, inputs and outputs.

/// Pipeline stage of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Vertex; lowered twice, for the vertex and the coordinate program.
    Vertex,
    /// Fragment.
    Fragment,
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
}

impl Interpolation {
    /// The same at the pixel's centre, which is where the hardware interpolates.
    pub const fn at_center(self) -> Interpolation {
        match self {
            Interpolation::Centroid => Interpolation::Smooth,
            Interpolation::NoPerspectiveCentroid => Interpolation::NoPerspective,
            other => other,
        }
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
    /// gl_FrontFacing (a `Bool`).
    FrontFacing,
    /// gl_PointCoord.xy by component.
    PointCoord(u8),
    /// gl_SampleMaskIn, bits 3:0.
    SampleMask,
    /// gl_HelperInvocation (a `Bool`).
    HelperInvocation,
}

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
