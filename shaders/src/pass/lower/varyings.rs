//! Bounds of what is interpolated: the vertex stage's, as long as a fragment lies within its triangle.

use std::collections::BTreeMap;

use vc4::state::vertex_fetch::Numeric;

use super::inputs::FragmentInterface;
use crate::ir::{Interpolation, Op, Shader};
use crate::pass::analysis::bounds::Ranges;
use crate::pass::analysis::outputs::stored_once;
use crate::pass::analysis::range::Range;
use crate::state::PipelineState;

/// Bounds of the hardware's varyings, by an optimised vertex stage. They leave out what interpolation rounds: good for errors, not
/// for leaving out what keeps a value in bounds.
pub fn bounds(vertex: &Shader, interface: &FragmentInterface, state: &PipelineState) -> Vec<Range> {
    // Beyond the ends of lines, and at centres of pixels of which only another sample is covered, numbers are extrapolated.
    if state.points || state.lines || state.multisample.four_samples {
        return Vec::new();
    }
    let attributes: BTreeMap<u32, Range> = state
        .attributes
        .iter()
        .filter_map(|attribute| Some((attribute.location, fraction(attribute.format.numeric)?)))
        .collect();
    let ranges = Ranges::of(vertex, &vertex.insts_in_order(), |op| match op {
        Op::LoadInput { location, .. } => attributes.get(&location).copied(),
        _ => None,
    });
    let stored = stored_once(vertex);
    let implicit = (0..interface.implicit).map(|_| Range::ALL);
    let own = interface.varyings.iter().map(|varying| match varying.interpolation {
        Interpolation::Smooth | Interpolation::Flat => stored
            .get(&(varying.location, varying.component))
            .map_or(Range::ALL, |&value| ranges.range(value)),
        // The machine interpolates a product with W.
        _ => Range::ALL,
    });
    implicit.chain(own).collect()
}

/// Bounds of an attribute that is a fraction; components that its format has not are 0 or 1.
fn fraction(numeric: Numeric) -> Option<Range> {
    match numeric {
        Numeric::Unorm => Some(Range::UNIT),
        Numeric::Snorm => Some(Range { low: -1.0, high: 1.0 }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use vc4::state::multisample::Multisample;
    use vc4::state::vertex_fetch::{Packing, VertexFormat};

    use super::*;
    use crate::ir::{Builder, Output, Stage};
    use crate::pass::lower::inputs::Varying;
    use crate::state::VertexAttribute;

    const POSITIVE: Range = Range { low: 0.0, high: f32::INFINITY };
    const SIGNED: Range = Range { low: -1.0, high: 1.0 };

    #[test]
    fn varyings_keep_to_what_vertices_have() {
        let smooth = Interpolation::Smooth;
        let mut vertex = Shader::new(Stage::Vertex);
        let block = vertex.entry().unwrap();
        let mut b = Builder::new(&mut vertex, block);
        let input = |b: &mut Builder, location| {
            b.op(Op::LoadInput { location, component: 0, interpolation: smooth }, &[])
        };
        let [float, unorm, snorm] = [0, 1, 2].map(|location| input(&mut b, location));
        let power = b.fexp2(float);
        let twice = b.fadd(unorm, snorm);
        for (component, value) in (0..).zip([float, unorm, snorm, power]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
        for value in [power, twice] {
            b.store_output(Output::User { location: 1, component: 0 }, value);
        }
        let attribute = |location, numeric| VertexAttribute {
            format: VertexFormat { packing: Packing::Bytes(4), numeric, swap_rb: false },
            ..VertexAttribute::floats(location, 4)
        };
        let state = PipelineState {
            attributes: vec![
                VertexAttribute::floats(0, 4),
                attribute(1, Numeric::Unorm),
                attribute(2, Numeric::Snorm),
            ],
            ..PipelineState::default()
        };
        let varying = |location, component, interpolation| Varying { location, component, interpolation };
        let interface = FragmentInterface {
            varyings: vec![
                varying(0, 0, smooth),
                varying(0, 1, smooth),
                varying(0, 2, Interpolation::Flat),
                varying(0, 3, smooth),
                varying(0, 3, Interpolation::NoPerspective),
                // Of two stores neither is known, nor what is not stored.
                varying(1, 0, smooth),
                varying(2, 0, smooth),
            ],
            implicit: 1,
            ..FragmentInterface::default()
        };
        let (all, unit) = (Range::ALL, Range::UNIT);
        assert_eq!(
            super::bounds(&vertex, &interface, &state),
            [all, all, unit, SIGNED, POSITIVE, all, all, all]
        );
        for outside in [
            PipelineState { points: true, ..state.clone() },
            PipelineState { lines: true, ..state.clone() },
            PipelineState {
                multisample: Multisample { four_samples: true, ..state.multisample },
                ..state.clone()
            },
        ] {
            assert_eq!(super::bounds(&vertex, &interface, &outside), []);
        }
    }
}
