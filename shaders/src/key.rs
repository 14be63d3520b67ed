//! What names a compilation: the compiler itself, and everything that decides the code of a pipeline.
//!
//! Keys are derived with [`Hash`], so that a new field of [`PipelineState`] is part of them without anybody's thought.
//! They need not agree between builds or machines: a cache belongs to one [`COMPILER`].

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use sha2::{Digest, Sha256};

use crate::spirv::StageSource;
use crate::state::{Conversions, PipelineState};

/// The compiler: a hash over its version, its sources and the versions of its dependencies (`build.rs`).
pub const COMPILER: u128 = match u128::from_str_radix(env!("VC4_COMPILER"), 16) {
    Ok(compiler) => compiler,
    Err(_) => panic!("VC4_COMPILER is not a hexadecimal number"),
};

/// SHA-256 over everything that decides the code of a pipeline.
pub type Key = [u8; 32];

/// What stands for a module's words in keys: computed once, however many pipelines use the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleKey([u8; 32]);

impl ModuleKey {
    /// Of a module.
    pub fn of(words: &[u32]) -> ModuleKey {
        let mut hasher = Sha(Sha256::new());
        words.hash(&mut hasher);
        ModuleKey(hasher.0.finalize().into())
    }
}

/// What a stage is made of, without the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StageKey<'a> {
    /// The module.
    pub module: ModuleKey,
    /// The entry point.
    pub entry: &'a str,
    /// Specialisation constants.
    pub specialization: &'a [(u32, u32)],
    /// What samplers make of images of several planes.
    pub conversions: &'a Conversions,
}

impl<'a> From<&StageSource<'a>> for StageKey<'a> {
    fn from(source: &StageSource<'a>) -> StageKey<'a> {
        let module = ModuleKey::of(source.words);
        static NONE: Conversions = BTreeMap::new();
        StageKey { module, entry: source.entry, specialization: source.specialization, conversions: &NONE }
    }
}

/// The key of a pipeline: its modules, entry points, specialisation and the state that becomes code.
pub fn pipeline(vertex: StageKey<'_>, fragment: Option<StageKey<'_>>, state: &PipelineState) -> Key {
    let mut hasher = Sha(Sha256::new());
    (vertex, fragment, state).hash(&mut hasher);
    hasher.0.finalize().into()
}

/// The key of a compute stage.
pub fn compute(stage: StageKey<'_>) -> Key {
    let mut hasher = Sha(Sha256::new());
    stage.hash(&mut hasher);
    hasher.0.finalize().into()
}

/// SHA-256 as what [`Hash`] writes to.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = self.0.clone().finalize().into();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::{Descriptor, Texture};
    use crate::state::{
        ChromaPlanes, DepthClamp, Polygon, Precision, TextureAccess, TextureDecode, TextureFilter,
        TextureKey, TextureSwizzle, VertexAttribute, YcbcrKey,
    };
    use vc4::cl::packets::CompareFunc;
    use vc4::cl::words::Wrap;
    use vc4::facts::{Facts, NearPlane};
    use vc4::state::blend::ColorOutput;
    use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
    use vc4::state::texture::MipMode;
    use vc4::state::vertex_fetch::{Numeric, Packing, VertexFormat};
    use vc4::state::ycbcr::{ColorModel, ColorRange, Conversion};

    const CLAMP: DepthClamp = DepthClamp { biased: false, to_viewport: true };
    const POLYGON: Polygon = Polygon {
        cull_front: false,
        cull_back: false,
        front_face: vc4::state::FrontFace::Clockwise,
        slope_bias: false,
    };

    fn source<'a>(words: &'a [u32], entry: &'a str, specialization: &'a [(u32, u32)]) -> StageSource<'a> {
        StageSource { words, entry, specialization }
    }

    /// States that differ in one field of one texture's key, or in the texture.
    fn textured() -> impl Iterator<Item = PipelineState> {
        let program = |change: fn(&mut [bool; 3], &mut MipMode)| {
            let (mut linear, mut mip) = ([false; 3], MipMode::None);
            change(&mut linear, &mut mip);
            let [mag_linear, min_linear, unnormalized] = linear;
            TextureFilter::Program { mag_linear, min_linear, mip, unnormalized }
        };
        let direct = |bytes, wrap| TextureAccess::Direct { bytes, wrap };
        let repeat = [Wrap::Repeat; 3];
        let folded = |axis| TextureAccess::Folded { axis, wrap: repeat };
        let decode = |swizzle| TextureDecode { swizzle, ..TextureDecode::default() };
        let red = [TextureSwizzle::Component(0); 4];
        let plain = TextureKey::default();
        let keys = [
            plain,
            TextureKey { decode: decode(red), ..plain },
            TextureKey { decode: decode([TextureSwizzle::Zero; 4]), ..plain },
            TextureKey { decode: decode([TextureSwizzle::One; 4]), ..plain },
            TextureKey { access: direct(1, repeat), ..plain },
            TextureKey { access: direct(2, repeat), ..plain },
            TextureKey { access: direct(1, [Wrap::Clamp; 3]), ..plain },
            TextureKey { access: direct(1, [Wrap::Repeat, Wrap::Repeat, Wrap::Clamp]), ..plain },
            TextureKey { access: folded(0), ..plain },
            TextureKey { access: folded(1), ..plain },
            TextureKey { filter: TextureFilter::Level, ..plain },
            TextureKey { filter: program(|_, _| ()), ..plain },
            TextureKey { filter: program(|linear, _| linear[0] = true), ..plain },
            TextureKey { filter: program(|linear, _| linear[1] = true), ..plain },
            TextureKey { filter: program(|linear, _| linear[2] = true), ..plain },
            TextureKey { filter: program(|_, mip| *mip = MipMode::Linear), ..plain },
            TextureKey { compare: Some(CompareFunc::Less), ..plain },
            TextureKey { compare: Some(CompareFunc::Always), ..plain },
            TextureKey { border: true, ..plain },
            TextureKey { planes: 2, ..plain },
            TextureKey { panels: true, ..plain },
            TextureKey { mirror_once: [true, false, false], ..plain },
            TextureKey { mirror_once: [false, true, false], ..plain },
            TextureKey { mirror_once: [false, false, true], ..plain },
            TextureKey { seams: true, ..plain },
            TextureKey { anisotropic: true, ..plain },
        ];
        let image = |binding| Descriptor { set: 0, binding, element: 0 };
        let of =
            |texture, key| PipelineState { textures: [(texture, key)].into(), ..PipelineState::default() };
        let others =
            [Texture::alone(image(0)), Texture::combined(image(1))].map(|texture| of(texture, plain));
        keys.into_iter().map(move |key| of(Texture::combined(image(0)), key)).chain(others)
    }

    #[test]
    fn everything_that_decides_code_is_part_of_the_key() {
        let plain = PipelineState::default();
        let (words, other) = ([1, 2, 3], [1, 2, 4]);
        let main = source(&words, "main", &[]);
        let attribute = |bytes| VertexAttribute {
            location: 0,
            format: VertexFormat { packing: Packing::Bytes(bytes), numeric: Numeric::Unorm, swap_rb: false },
            per_instance: false,
        };
        let colors = |n: usize| Some(ColorOutput::plain(&vc4::image::format::FORMATS[n], false));
        let states = [
            PipelineState { attributes: vec![attribute(4)], ..plain.clone() },
            PipelineState { attributes: vec![attribute(3)], ..plain.clone() },
            PipelineState { attributes: vec![attribute(4), attribute(4)], ..plain.clone() },
            PipelineState { points: true, ..plain.clone() },
            PipelineState { lines: true, ..plain.clone() },
            PipelineState { wide_lines: true, ..plain.clone() },
            PipelineState { polygon: Some(POLYGON), ..plain.clone() },
            PipelineState { polygon: Some(Polygon { cull_back: true, ..POLYGON }), ..plain.clone() },
            PipelineState { moves_depth: true, ..plain.clone() },
            PipelineState { robust: true, ..plain.clone() },
            PipelineState { precision: Precision::Gl, ..plain.clone() },
            PipelineState { depth_clamp: Some(CLAMP), ..plain.clone() },
            PipelineState { depth_clamp: Some(DepthClamp { to_viewport: false, ..CLAMP }), ..plain.clone() },
            PipelineState { depth_clamp: Some(DepthClamp { biased: true, ..CLAMP }), ..plain.clone() },
            PipelineState {
                machine: Facts { near_plane: NearPlane::Zero, ..Facts::default() },
                ..plain.clone()
            },
            PipelineState { sample: Some(0), ..plain.clone() },
            PipelineState { sample: Some(1), ..plain.clone() },
            PipelineState { counted: true, ..plain.clone() },
            PipelineState { color: colors(0), ..plain.clone() },
            PipelineState { color: colors(1), ..plain.clone() },
            PipelineState { color: colors(1), color_location: 1, ..plain.clone() },
            PipelineState {
                depth_stencil: DepthStencilPlan { write_z: true, stencil: StencilPlan::Off },
                ..plain.clone()
            },
        ];
        let states = states.into_iter().chain(textured());
        let key = |vertex: &StageSource<'_>, fragment: Option<&StageSource<'_>>, state: &PipelineState| {
            pipeline(vertex.into(), fragment.map(StageKey::from), state)
        };
        let mut keys: Vec<Key> = states.map(|state| key(&main, Some(&main), &state)).collect();
        for changed in [
            source(&other, "main", &[]),
            source(&words[..2], "main", &[]),
            source(&words, "mainx", &[]),
            source(&words, "main", &[(0, 1)]),
            source(&words, "main", &[(1, 0)]),
            source(&words, "main", &[(0, 1), (1, 0)]),
        ] {
            keys.push(key(&changed, Some(&main), &plain));
            keys.push(key(&main, Some(&changed), &plain));
        }
        let conversion = |blue, model| {
            let [luma, blue] =
                [0, blue].map(|element| Texture::combined(Descriptor { set: 0, binding: 0, element }));
            let conversion = Conversion { model, range: ColorRange::Full, bits: 8 };
            let swizzle = [TextureSwizzle::One; 4];
            let chroma = ChromaPlanes::Together(blue);
            Conversions::from([(luma, YcbcrKey { chroma, location: [None; 2], swizzle, conversion })])
        };
        let (bt601, bt709) = (ColorModel::Bt601, ColorModel::Bt709);
        for conversions in [conversion(1, bt601), conversion(2, bt601), conversion(1, bt709)] {
            let converted = StageKey { conversions: &conversions, ..StageKey::from(&main) };
            keys.push(pipeline(converted, Some(StageKey::from(&main)), &plain));
        }
        keys.push(key(&main, Some(&main), &plain));
        keys.push(key(&main, None, &plain));
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
        assert_eq!(key(&main, None, &plain), key(&main.clone(), None, &plain.clone()));
    }
}
