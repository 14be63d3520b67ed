//! Pipeline state in code: topology, targets, blending, depth and stencil, interpolation, attributes.

use std::collections::BTreeSet;

use vc4::state::blend::ColorOutput;
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
use vc4_shaders::compile::PipelineState;
use vc4_shaders::ir::interp;
use vc4_shaders::ir::{Builder, BuiltinInput, Interpolation, Op, Output, Shader, Stage};

use crate::case::*;
use crate::world::{self, Fragments, World};

#[test]
fn points() {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let size = input(b, 1, 0);
        b.store_output(Output::PointSize, size);
        b.store_output(Output::User { location: 0, component: 2 }, size);
    });
    let fragment = shader(Stage::Fragment, |b| {
        let x = b.op(Op::LoadBuiltin(BuiltinInput::PointCoord(0)), &[]);
        let y = b.op(Op::LoadBuiltin(BuiltinInput::PointCoord(1)), &[]);
        let (value, one) = (input(b, 0, 2), b.float(1.0));
        for (component, value) in (0..).zip([x, y, value, one]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let state = PipelineState { points: true, ..state() };
    let pipeline = Case { name: "points", vertex: &vertex, fragment: &fragment, state, exact: false }.run();
    assert!(pipeline.point_size);
    assert_eq!(pipeline.varyings, 1, "the implicit ones do not count");
}

/// Skies give their w as z: products are truncated, but their depth is 1, whatever w is.
#[test]
fn skies_lie_on_the_far_plane() {
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        let (w, two) = (input(b, 0, 3), b.float(2.0));
        let w = b.op(Op::FAdd, &[w, two]);
        b.store_output(Output::Position(2), w);
        b.store_output(Output::Position(3), w);
    });
    let pipeline = Case {
        name: "skies",
        vertex: &vertex,
        fragment: &shader(Stage::Fragment, |_| {}),
        state: state(),
        exact: false,
    }
    .compile();
    for seed in 0..8 {
        let world = World { seed, ..World::default() };
        let rows = world.run_vertex(&pipeline, false).expect("the program runs").rows;
        assert_eq!(rows[1], [1f32.to_bits(); LANES], "depth");
    }
}

#[test]
fn blue_first() {
    let vertex = shader(Stage::Vertex, position);
    let color = Some(ColorOutput::plain(vc4::image::format::Format::B8G8R8A8.info(), false));
    let (fragment, state) = (plain_fragment(), PipelineState { color, ..state() });
    Case { name: "blue first", vertex: &vertex, fragment: &fragment, state, exact: false }.run();
}

#[test]
fn blending() {
    use vc4::state::blend::{Blend, BlendEquation, BlendFactor, BlendOp};
    let over =
        BlendEquation { src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha, op: BlendOp::Add };
    let mut state = state();
    let color = state.color.as_mut().expect("the state has a colour target");
    color.blend = Some(Blend { color: over, alpha: over });
    color.write = [true, true, true, false];
    let (vertex, fragment) = (shader(Stage::Vertex, position), plain_fragment());
    let case = Case { name: "blending", vertex: &vertex, fragment: &fragment, state, exact: false };
    let pipeline = case.compile();
    assert!(pipeline.reads_color);
    check_kernel(case.name, &pipeline.fragment);
    let varyings = varyings(&linked(&vertex, &fragment), &case.state);
    for seed in 0..8 {
        let world = World { seed, ..World::default() };
        let mut environment = Fragments { world: world.clone(), flat: BTreeSet::new() };
        let outcome = interp::run(&fragment, &mut environment).expect("interpretable");
        let effects = world.run_fragment(&pipeline, &varyings).expect("the program runs");
        check_effects(case.name, &effects);
        let (_, color) = effects.color.expect("a colour is written");
        for (lane, color) in color.iter().enumerate() {
            let destination = world.destination(lane).to_le_bytes();
            let source = |n| outcome.floats(Output::User { location: 0, component: n })[lane].clamp(0.0, 1.0);
            let alpha = source(3);
            for n in 0..3u8 {
                let old = f32::from(destination[usize::from(n)]);
                let wanted = source(n) * alpha * 255.0 + old * (1.0 - alpha);
                let byte = f32::from(color.to_le_bytes()[usize::from(n)]);
                assert!((byte - wanted).abs() <= 1.5, "seed {seed}, element {lane}: {byte}, wanted {wanted}");
            }
            assert_eq!(color.to_le_bytes()[3], destination[3], "alpha is masked");
        }
    }
}

#[test]
fn depth_and_stencil() {
    let vertex = shader(Stage::Vertex, position);
    let fragment = shader(Stage::Fragment, |b| {
        let value = input(b, 0, 0);
        b.store_output(Output::FragDepth, value);
        b.store_output(Output::User { location: 0, component: 0 }, value);
    });
    let depth_stencil = DepthStencilPlan { write_z: true, stencil: StencilPlan::Full };
    let state = PipelineState { depth_stencil, color: None, ..state() };
    let case = Case { name: "depth", vertex: &vertex, fragment: &fragment, state, exact: false };
    let pipeline = case.compile();
    assert!(pipeline.writes_depth);
    check_kernel(case.name, &pipeline.fragment);
    let varyings = varyings(&linked(&vertex, &fragment), &case.state);
    let world = World::default();
    let mut environment = Fragments { world: world.clone(), flat: BTreeSet::new() };
    let expected = interp::run(&fragment, &mut environment).expect("interpretable").floats(Output::FragDepth);
    let effects = world.run_fragment(&pipeline, &varyings).expect("the program runs");
    check_effects(case.name, &effects);
    assert_eq!(effects.stencil.len(), 3);
    let (mask, z) = effects.z.expect("the depth is written");
    assert_eq!((mask, effects.color), (0xffff, None));
    for (lane, &z) in z.iter().enumerate() {
        let wanted = f64::from(expected[lane].clamp(0.0, 1.0)) * 16_777_215.0;
        assert!((f64::from(z) - wanted).abs() <= 2.0, "element {lane}: {z}, wanted {wanted}");
    }
}

#[test]
fn interpolation_modes() {
    let read = |b: &mut Builder, location, component, interpolation| {
        b.op(Op::LoadInput { location, component, interpolation }, &[])
    };
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        for location in 0..3 {
            let value = input(b, 1, location as u8);
            b.store_output(Output::User { location, component: 0 }, value);
        }
    });
    let fragment = shader(Stage::Fragment, |b| {
        let smooth = read(b, 0, 0, Interpolation::Smooth);
        let flat = read(b, 1, 0, Interpolation::Flat);
        let linear = read(b, 2, 0, Interpolation::NoPerspective);
        let bits = b.word(0x3f00_0000);
        // The bits of a flat integer survive: a denormal would not.
        let shift = b.word(24);
        let small = b.op(Op::Shr, &[flat, shift]);
        let again = b.op(Op::Shl, &[small, shift]);
        let kept = b.op(Op::Or, &[again, bits]);
        for (component, value) in (0..).zip([smooth, flat, linear, kept]) {
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let case =
        Case { name: "interpolation", vertex: &vertex, fragment: &fragment, state: state(), exact: false };
    let pipeline = case.compile();
    assert_eq!(pipeline.flat_varyings.count_ones(), 1);
    for seed in 0..4 {
        case.check_fragment(&pipeline, &World { seed, ..World::default() });
    }
    // The vertex program multiplies the linear one by Wc.
    let world = World::default();
    let rows = world.run_vertex(&pipeline, false).expect("the program runs").rows;
    let outcome = interp::run(&vertex, &mut world.clone()).expect("interpretable");
    let index = varyings(&linked(&vertex, &fragment), &case.state)
        .iter()
        .position(|v| v.interpolation == Interpolation::NoPerspective)
        .expect("the shader reads it");
    let (value, w) =
        (outcome.floats(Output::User { location: 2, component: 0 }), outcome.floats(Output::Position(3)));
    for lane in 0..LANES {
        let product = (value[lane] * w[lane]).to_bits();
        assert_close("linear varying", rows[3 + index][lane], product, VERTEX_TOLERANCE);
    }
}

#[test]
fn attribute_formats_and_rates() {
    let mut state = state();
    let bytes = VertexFormat { packing: Packing::Bytes(4), numeric: Numeric::Unorm, swap_rb: true };
    state.attributes[1].format = bytes;
    state.attributes[2].per_instance = true;
    let vertex = shader(Stage::Vertex, |b| {
        position(b);
        for component in 0..4 {
            let value = input(b, 1, component);
            b.store_output(Output::User { location: 0, component }, value);
            let value = input(b, 2, component);
            b.store_output(Output::User { location: 1, component }, value);
        }
        let instance = b.op(Op::LoadBuiltin(BuiltinInput::InstanceIndex), &[]);
        b.store_output(Output::User { location: 2, component: 0 }, instance);
    });
    let fragment = shader(Stage::Fragment, |b| {
        for component in 0..4 {
            let (x, y) = (input(b, 0, component), input(b, 1, component));
            let instance = input(b, 2, 0);
            let sum = b.op(Op::FAdd, &[x, y]);
            let sum = b.op(Op::FAdd, &[sum, instance]);
            b.store_output(Output::User { location: 0, component }, sum);
        }
    });
    let case = Case { name: "attributes", vertex: &vertex, fragment: &fragment, state, exact: false };
    let pipeline = case.compile();
    assert_eq!(pipeline.attributes.iter().map(|array| array.bytes).collect::<Vec<_>>(), [16, 4]);
    let world = World::default();
    let effects = world.run_vertex(&pipeline, false).expect("the program runs");
    check_effects(case.name, &effects);
    for (row, varying) in effects.rows[3..].iter().zip(varyings(&linked(&vertex, &fragment), &case.state)) {
        for (lane, &found) in row.iter().enumerate() {
            let component = varying.component;
            let wanted = match varying.location {
                0 => {
                    let mut bytes = world.attribute(1, 0, lane).to_le_bytes();
                    bytes.swap(0, 2);
                    (f32::from(bytes[usize::from(component)]) / 255.0).to_bits()
                }
                1 => world.attribute(2, component.into(), 0),
                _ => world::INSTANCE,
            };
            assert_close("attribute", found, wanted, VERTEX_TOLERANCE);
        }
    }
}

/// Position from locations 0 and `spread`; the sum of the first components of all of `count` attributes.
fn many_attributes(count: u32, spread: u32) -> Shader {
    shader(Stage::Vertex, |b| {
        for component in 0..4 {
            let (x, y) = (input(b, 0, component), input(b, spread, component));
            let sum = b.op(Op::FAdd, &[x, y]);
            b.store_output(Output::Position(component), sum);
        }
        let index = b.op(Op::LoadBuiltin(BuiltinInput::VertexIndex), &[]);
        b.store_output(Output::User { location: 0, component: 0 }, index);
        for component in 0..3 {
            let mut sum = input(b, 0, component);
            for location in 1..count {
                let next = input(b, location, component);
                sum = b.op(Op::FAdd, &[sum, next]);
            }
            b.store_output(Output::User { location: 0, component: component + 1 }, sum);
        }
    })
}

#[test]
fn more_attributes_than_arrays() {
    let fragment = shader(Stage::Fragment, |b| {
        for component in 0..4 {
            let value = input(b, 0, component);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    for (count, spread) in [(7, 3), (8, 7), (9, 8), (12, 1), (15, 14)] {
        let vertex = many_attributes(count, spread);
        let case = Case {
            name: "many attributes",
            vertex: &vertex,
            fragment: &fragment,
            state: state(),
            exact: false,
        };
        let pipeline = case.compile();
        let arrays: Vec<_> = pipeline.attributes.chunk_by(|_, next| next.joined).collect();
        assert_eq!(arrays.len(), (count as usize + 1).min(8));
        for array in arrays.iter().filter(|array| array.len() > 1) {
            let bytes = array.iter().map(|part| part.bytes.next_multiple_of(4)).sum::<u32>();
            assert!(bytes <= 60, "{count}: {array:?}");
            for part in *array {
                assert_eq!(part.vertex_offset.is_some(), array[0].vertex_offset.is_some());
                assert_eq!(part.coordinate_offset.is_some(), array[0].coordinate_offset.is_some());
            }
        }
        case.check_vertex(&pipeline, &World { seed: count, ..World::default() });
    }
}

#[test]
fn everything_is_discarded() {
    let fragment = shader(Stage::Fragment, |b| {
        let value = input(b, 0, 0);
        b.store_output(Output::User { location: 0, component: 0 }, value);
        let always = b.truth(true);
        b.discard_if(always);
    });
    let vertex = shader(Stage::Vertex, position);
    Case { name: "discard", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}

#[test]
fn coverage_is_an_input() {
    let fragment = shader(Stage::Fragment, |b| {
        let mask = b.op(Op::LoadBuiltin(BuiltinInput::SampleMask), &[]);
        let helper = b.op(Op::LoadBuiltin(BuiltinInput::HelperInvocation), &[]);
        let (mask, zero) = (b.stof(mask), b.float(0.0));
        let seen = b.select(helper, zero, mask);
        for component in 0..4 {
            let value = input(b, 0, component);
            let value = b.fmul(seen, value);
            b.store_output(Output::User { location: 0, component }, value);
        }
    });
    let vertex = shader(Stage::Vertex, position);
    Case { name: "coverage", vertex: &vertex, fragment: &fragment, state: state(), exact: false }.run();
}
