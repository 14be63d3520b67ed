//! Names of what the programs of polygons ([`super::polygon`]) fetch and hand on beside what stages know: attributes of a
//! triangle's corners, and outputs that the whole triangle decides.

use crate::ir::{Builder, Interpolation, Op, Output, Value};
use crate::state::PipelineState;

/// Locations of what the vertex program hands on beside the stage's own outputs; no stage has as many.
const HIDDEN: u32 = 1 << 24;
/// Added to locations: their values at the provoking vertex.
const PROVOKING: u32 = HIDDEN;
/// What a vertex of a primitive that is not drawn has its bit 31 set in.
pub(super) const CULLED: Output = Output::User { location: 2 * HIDDEN, component: 0 };
/// Output of the fragment stage: what clip distances leave ([`super::distances`]).
pub const CLIPPED: Output = Output::User { location: 2 * HIDDEN + 3, component: 0 };
/// Not 0 for back faces.
pub(super) const BACK: u32 = 2 * HIDDEN + 1;
/// Added to depths.
pub(super) const BIAS: u32 = 2 * HIDDEN + 2;
/// Where the outputs of a primitive's first corner stand in memory ([`super::relay`]).
pub(super) const PLACE: u32 = 2 * HIDDEN + 4;
/// How near the first and the second corner are, by component: their shares in what is interpolated.
pub(super) const SHARES: u32 = 2 * HIDDEN + 5;
/// The vertex's own position, by component, whatever the clipper sees.
pub(super) const POSITION: u32 = 2 * HIDDEN + 6;

/// Bits of a location below the corner's number.
const LOCATION_BITS: u32 = 16;
const LOCATION_MASK: u32 = (1 << LOCATION_BITS) - 1;

/// The output that a varying has its values from.
pub(super) fn output(
    state: &PipelineState,
    location: u32,
    component: u8,
    interpolation: Interpolation,
) -> Output {
    match (state.polygon, interpolation) {
        (Some(_), Interpolation::Flat) if location < HIDDEN => {
            Output::User { location: location + PROVOKING, component }
        }
        _ if location == POSITION => Output::Position(component),
        _ => Output::User { location, component },
    }
}

/// What the vertex program says of the triangle.
pub(super) fn hidden(b: &mut Builder, location: u32) -> Value {
    b.op(Op::LoadInput { location, component: 0, interpolation: Interpolation::Flat }, &[])
}

/// Attribute locations of corners, which the stage knows nothing of.
pub(super) struct Corner;

impl Corner {
    /// In place of a location: the vertex index.
    pub(super) const INDEX: u32 = LOCATION_MASK;

    /// In place of a location: which corner the vertex is, and where its primitive's outputs stand.
    pub(super) const PLACE: u32 = LOCATION_MASK - 1;

    /// A location of a corner.
    pub(super) fn of(corner: u8, location: u32) -> u32 {
        (u32::from(corner) + 1) << LOCATION_BITS | location & LOCATION_MASK
    }

    /// What stands for the vertex index of a corner.
    pub(super) fn index_of(corner: u8) -> u32 {
        Corner::of(corner, Corner::INDEX)
    }

    /// Takes a location apart: the corner, if it is one's, and the location.
    pub(super) fn split(location: u32) -> (Option<u8>, u32) {
        let corner = (location >> LOCATION_BITS).checked_sub(1);
        (corner.map(|corner| corner as u8), location & LOCATION_MASK)
    }
}
