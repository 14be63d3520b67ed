//! Samples of images of several planes give what the specification's formulas say.

#[allow(dead_code, reason = "shared by several test programs")]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::{floats, user};
use vc4::state::ycbcr::{ChromaLocation, ColorModel, ColorRange, Conversion};
use vc4_shaders::binding::Texture;
use vc4_shaders::compile::{PipelineState, compile_rectangle};
use vc4_shaders::ir::interp::{Environment, SampleRequest, run};
use vc4_shaders::ir::verify::verify;
use vc4_shaders::ir::{Builder, ImageDim, Interpolation, Lod, Op, Sample, Shader, Stage, Value};
use vc4_shaders::pass;
use vc4_shaders::program::Descriptor;
use vc4_shaders::state::{ChromaPlanes, Conversions, TextureSwizzle, YcbcrKey};

/// Texels of luma.
const SIZE: [usize; 2] = [8, 6];

const fn descriptor(element: u32) -> Descriptor {
    Descriptor { set: 2, binding: 1, element }
}

/// A plane as the texture unit sees it: red and green of texels, filtered with edges clamped.
#[derive(Clone)]
struct Plane {
    size: [usize; 2],
    texels: Vec<[f32; 2]>,
}

impl Plane {
    fn new(size: [usize; 2], seed: usize) -> Plane {
        let number = |n: usize| ((n * 37 + seed * 11) % 251) as f32 / 255.0;
        let texels = (0..size[0] * size[1]).map(|n| [number(n), number(n + 97)]).collect();
        Plane { size, texels }
    }

    fn texel(&self, at: [i64; 2]) -> [f32; 2] {
        let [x, y] = [0, 1].map(|axis| at[axis].clamp(0, self.size[axis] as i64 - 1) as usize);
        self.texels[y * self.size[0] + x]
    }

    /// The linear filter at a place that counts texels.
    fn filtered(&self, place: [f64; 2]) -> [f64; 2] {
        let place = place.map(|c| c - 0.5);
        let (first, part) = (place.map(|c| c.floor() as i64), place.map(|c| c - c.floor()));
        let mut sum = [0.0; 2];
        for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let weight = |step: i64, part: f64| if step == 1 { part } else { 1.0 - part };
            let texel = self.texel([first[0] + x, first[1] + y]);
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += weight(x, part[0]) * weight(y, part[1]) * f64::from(component);
            }
        }
        sum
    }
}

/// Planes by element of the binding.
#[derive(Clone)]
struct World {
    planes: BTreeMap<u32, Plane>,
}

/// Where an element looks, in luma texels.
fn place(lane: usize) -> [f64; 2] {
    [lane as f64 * 0.55 - 0.3, (lane * 7 % 16) as f64 * 0.4 - 0.2]
}

impl Environment for World {
    fn input(&mut self, _location: u32, component: u8) -> [u32; 16] {
        let axis = usize::from(component);
        floats(|lane| (place(lane)[axis] / SIZE[axis] as f64) as f32)
    }

    fn sample(&mut self, request: &SampleRequest) -> [[u32; 16]; 4] {
        let plane = &self.planes[&request.sample.texture.image.element];
        let color = |lane: usize| {
            plane.filtered([0, 1].map(|axis| {
                f64::from(f32::from_bits(request.coordinates[axis][lane])) * plane.size[axis] as f64
            }))
        };
        [
            floats(|lane| color(lane)[0] as f32),
            floats(|lane| color(lane)[1] as f32),
            floats(|_| 0.0),
            floats(|_| 1.0),
        ]
    }

    fn machine(&mut self, op: Op, _arguments: &[[u32; 16]], _active: u16) -> Option<[u32; 16]> {
        match op {
            Op::ImageSize { image, axis, .. } => {
                Some([self.planes[&image.element].size[usize::from(axis)] as u32; 16])
            }
            _ => None,
        }
    }
}

/// A fragment stage that stores what it sees of a texture at a place.
fn looking(place: impl FnOnce(&mut Builder) -> [Value; 2]) -> Shader {
    let mut shader = Shader::new(Stage::Fragment);
    let entry = shader.entry().unwrap();
    let mut b = Builder::new(&mut shader, entry);
    let at = place(&mut b);
    let color = b.emit(Op::Sample(Sample::plain(descriptor(0), ImageDim::D2, Lod::Auto)), &at);
    for (component, value) in color.into_iter().enumerate() {
        b.store_output(user(0, component as u8), value);
    }
    shader
}

/// The place that a fragment stage is given.
fn input(b: &mut Builder) -> [Value; 2] {
    [0, 1].map(|component| {
        b.op(Op::LoadInput { location: 0, component, interpolation: Interpolation::Flat }, &[])
    })
}

/// What an element sees by the specification: implicit reconstruction, range expansion, model.
fn specified(world: &World, key: &YcbcrKey, lane: usize) -> [f64; 4] {
    let place = place(lane);
    let chroma_place = [0, 1].map(|axis| match key.location[axis] {
        Some(ChromaLocation::CositedEven) => 0.5 * (place[axis] + 0.5),
        Some(ChromaLocation::Midpoint) => 0.5 * place[axis],
        None => place[axis],
    });
    let luma = world.planes[&0].filtered(place)[0];
    let [mut cb, mut cr] = match key.chroma {
        ChromaPlanes::Together(_) => world.planes[&1].filtered(chroma_place),
        ChromaPlanes::Apart { .. } => [1, 2].map(|plane| world.planes[&plane].filtered(chroma_place)[0]),
    };
    if key.swizzle[0] == TextureSwizzle::Component(2) {
        (cb, cr) = (cr, cb);
    }
    let y = (luma * 255.0 - 16.0) / 219.0;
    let [cb, cr] = [cb, cr].map(|c| (c * 255.0 - 128.0) / 224.0);
    [y + 1.402 * cr, y - (0.202_008 / 0.587) * cb - (0.419_198 / 0.587) * cr, y + 1.772 * cb, 1.0]
}

const IDENTITY: [TextureSwizzle; 4] = [
    TextureSwizzle::Component(0),
    TextureSwizzle::Component(1),
    TextureSwizzle::Component(2),
    TextureSwizzle::Component(3),
];

const BT601: Conversion = Conversion { model: ColorModel::Bt601, range: ColorRange::Narrow, bits: 8 };

#[test]
fn planes_are_looked_up_and_converted() {
    use ChromaLocation::{CositedEven, Midpoint};
    let [blue, red] = [1, 2].map(|plane| Texture::combined(descriptor(plane)));
    let exchanged = [IDENTITY[2], IDENTITY[1], IDENTITY[0], TextureSwizzle::One];
    for chroma in [ChromaPlanes::Together(blue), ChromaPlanes::Apart { blue, red }] {
        for location in [
            [Some(CositedEven), Some(CositedEven)],
            [Some(Midpoint), Some(CositedEven)],
            [Some(CositedEven), Some(Midpoint)],
            [Some(Midpoint), Some(Midpoint)],
            [Some(CositedEven), None],
            [None, None],
        ] {
            let small = [0, 1].map(|axis| if location[axis].is_some() { SIZE[axis] / 2 } else { SIZE[axis] });
            let sizes = [SIZE, small, small];
            let planes = (0..3).map(|n| (n, Plane::new(sizes[n as usize], n as usize))).collect();
            let mut world = World { planes };
            for swizzle in [IDENTITY, exchanged] {
                let key = YcbcrKey { chroma, location, swizzle, conversion: BT601 };
                let conversions = Conversions::from([(Texture::combined(descriptor(0)), key)]);
                let mut shader = looking(input);
                pass::lower_ycbcr(&mut shader, &conversions);
                assert_eq!(verify(&shader), Ok(()));
                let outcome = run(&shader, &mut world).unwrap();
                for lane in 0..16 {
                    let want = specified(&world, &key, lane);
                    for (component, want) in want.into_iter().enumerate() {
                        let have = f64::from(outcome.floats(user(0, component as u8))[lane]);
                        assert!(
                            (have - want).abs() < 1e-5,
                            "{key:?}, {lane}.{component}: {have}, not {want}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn other_textures_stay_as_they_are() {
    let before = looking(input);
    let mut after = before.clone();
    let chroma = ChromaPlanes::Together(Texture::combined(descriptor(1)));
    let key = YcbcrKey { chroma, location: [None; 2], swizzle: IDENTITY, conversion: BT601 };
    pass::lower_ycbcr(&mut after, &Conversions::from([(Texture::combined(descriptor(5)), key)]));
    assert_eq!(before.to_string(), after.to_string());
}

/// Planes are textures like others to all that comes behind: a draw makes keys of them.
#[test]
fn a_converted_sample_is_a_lookup_of_each_plane() {
    let [luma, blue, red] = [0, 1, 2].map(|plane| Texture::combined(descriptor(plane)));
    let location = [Some(ChromaLocation::CositedEven), Some(ChromaLocation::Midpoint)];
    for (chroma, textures) in [
        (ChromaPlanes::Together(blue), vec![luma, blue]),
        (ChromaPlanes::Apart { blue, red }, vec![luma, blue, red]),
    ] {
        let key = YcbcrKey { chroma, location, swizzle: IDENTITY, conversion: BT601 };
        let mut shader = looking(|b| [b.float(0.25), b.float(0.75)]);
        pass::lower_ycbcr(&mut shader, &Conversions::from([(luma, key)]));
        let color = vc4::image::format::Format::R8G8B8A8.info();
        let color = Some(vc4::state::blend::ColorOutput::plain(color, false));
        let state = PipelineState { color, ..PipelineState::default() };
        let pipeline = compile_rectangle(&shader, &state).unwrap();
        // Questions about the size have no sampler.
        for list in [pipeline.textures, pipeline.fragment.textures()] {
            let sampled: BTreeSet<Texture> =
                list.into_iter().filter(|texture| texture.sampler.is_some()).collect();
            assert_eq!(sampled.into_iter().collect::<Vec<_>>(), textures);
        }
    }
}
