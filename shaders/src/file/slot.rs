//! Uniform slots as words: kind, detail, and the words that the kind has.

use smallvec::{SmallVec, smallvec};
use vc4::state::StateUniform;

use crate::binding::{Descriptor, DrawWord, Lookup, Texture, TextureValue, UniformSlot};

/// A slot taken apart: kind (bits 7:0), detail (bits 15:8), words behind it.
pub struct Parts {
    pub kind: u8,
    pub detail: u8,
    pub words: SmallVec<[u32; 4]>,
}

/// The most words that stand behind a slot's head.
pub const MAX_WORDS: usize = 6;

/// Words behind the head of a slot of this kind; `None` if there is no such kind.
pub fn words_of(kind: u8) -> Option<usize> {
    Some(match kind {
        VERTEX_INDEX_BIAS | INSTANCE_INDEX | STREAM_ADDRESS | DRAW => 0,
        COMPUTED | CONST | STATE | PUSH | INSTANCE_ATTRIBUTE => 1,
        UBO | UBO_BASE | UBO_LIMIT => 4,
        BUFFER_ELEMENTS => 5,
        TEXTURE_P0 | TEXTURE_P1 | TEXTURE_P2 | TEXTURE => 6,
        _ => return None,
    })
}

const CONST: u8 = 0;
const STATE: u8 = 1;
const PUSH: u8 = 2;
const UBO: u8 = 3;
const UBO_BASE: u8 = 4;
const UBO_LIMIT: u8 = 5;
const TEXTURE_P0: u8 = 6;
const TEXTURE_P1: u8 = 7;
const TEXTURE_P2: u8 = 8;
const TEXTURE: u8 = 9;
const VERTEX_INDEX_BIAS: u8 = 10;
const INSTANCE_INDEX: u8 = 11;
const INSTANCE_ATTRIBUTE: u8 = 12;
const STREAM_ADDRESS: u8 = 13;
const BUFFER_ELEMENTS: u8 = 14;
const DRAW: u8 = 15;
const COMPUTED: u8 = 16;

/// Details of lookups.
const TEXELS: u8 = 1;
const EXPLICIT_LOD: u8 = 2;
/// Detail of everything with a texture: it has a sampler.
const SAMPLER: u8 = 0x80;

/// Takes a slot apart.
pub fn to_parts(slot: UniformSlot) -> Parts {
    let parts = |kind, detail, words| Parts { kind, detail, words };
    let of = |kind, detail, Descriptor { set, binding, element }: Descriptor| {
        parts(kind, detail, smallvec![set, binding, element])
    };
    match slot {
        UniformSlot::Const(word) => parts(CONST, 0, smallvec![word]),
        UniformSlot::State(state) => {
            let (detail, word) = state_parts(state);
            parts(STATE, detail, smallvec![word])
        }
        UniformSlot::Push(offset) => parts(PUSH, 0, smallvec![offset]),
        UniformSlot::Ubo { buffer, offset } => of_bytes(UBO, buffer, offset),
        UniformSlot::UboBase { buffer, offset } => of_bytes(UBO_BASE, buffer, offset),
        UniformSlot::UboLimit { buffer, last } => of_bytes(UBO_LIMIT, buffer, last),
        UniformSlot::TextureP0(lookup) => of_lookup(TEXTURE_P0, lookup, false),
        UniformSlot::TextureP1(lookup) => of_lookup(TEXTURE_P1, lookup, false),
        UniformSlot::TextureP2 { lookup, explicit_lod } => of_lookup(TEXTURE_P2, lookup, explicit_lod),
        UniformSlot::Texture { texture, value } => {
            let number = TextureValue::ALL.iter().position(|known| *known == value).unwrap_or(0);
            of_texture(TEXTURE, number as u8, texture)
        }
        UniformSlot::BufferElements { buffer, offset, stride } => {
            let mut parts = of(BUFFER_ELEMENTS, 0, buffer);
            parts.words.extend([offset, stride]);
            parts
        }
        UniformSlot::VertexIndexBias => parts(VERTEX_INDEX_BIAS, 0, smallvec![]),
        UniformSlot::InstanceIndex => parts(INSTANCE_INDEX, 0, smallvec![]),
        UniformSlot::Draw(word) => {
            let number = DrawWord::ALL.iter().position(|known| *known == word).unwrap_or(0);
            parts(DRAW, number as u8, smallvec![])
        }
        UniformSlot::Computed(step) => parts(COMPUTED, 0, smallvec![step]),
        UniformSlot::InstanceAttribute { location, word } => {
            parts(INSTANCE_ATTRIBUTE, word, smallvec![location])
        }
        UniformSlot::StreamAddress => parts(STREAM_ADDRESS, 0, smallvec![]),
    }
}

fn of_bytes(kind: u8, Descriptor { set, binding, element }: Descriptor, bytes: u32) -> Parts {
    Parts { kind, detail: 0, words: smallvec![set, binding, element, bytes] }
}

fn of_lookup(kind: u8, lookup: Lookup, explicit_lod: bool) -> Parts {
    let texels = if lookup.texels { TEXELS } else { 0 };
    of_texture(kind, texels | if explicit_lod { EXPLICIT_LOD } else { 0 }, lookup.texture)
}

fn of_texture(kind: u8, detail: u8, texture: Texture) -> Parts {
    let words = |Descriptor { set, binding, element }| [set, binding, element];
    let (flag, sampler) = texture.sampler.map_or((0, [0; 3]), |sampler| (SAMPLER, words(sampler)));
    Parts { kind, detail: detail | flag, words: words(texture.image).into_iter().chain(sampler).collect() }
}

/// The texture of six words; `None` if something stands where a sampler is not.
fn texture(detail: u8, words: &[u32]) -> Option<Texture> {
    let descriptor = |at: usize| {
        Some(Descriptor { set: *words.get(at)?, binding: *words.get(at + 1)?, element: *words.get(at + 2)? })
    };
    let sampler = descriptor(3)?;
    let alone = detail & SAMPLER == 0;
    if alone && words[3..] != [0; 3] {
        return None;
    }
    Some(Texture { image: descriptor(0)?, sampler: (!alone).then_some(sampler) })
}

/// The lookup, and whether its level is explicit.
fn lookup(detail: u8, words: &[u32]) -> Option<(Lookup, bool)> {
    if detail & !(SAMPLER | TEXELS | EXPLICIT_LOD) != 0 {
        return None;
    }
    let lookup = Lookup { texture: texture(detail, words)?, texels: detail & TEXELS != 0 };
    Some((lookup, detail & EXPLICIT_LOD != 0))
}

/// Puts a slot together. `None` if the kind has no such detail; the words are as many as [`words_of`] says.
pub fn from_parts(kind: u8, detail: u8, words: &[u32]) -> Option<UniformSlot> {
    let word = |n: usize| words.get(n).copied().unwrap_or(0);
    let descriptor = Descriptor { set: word(0), binding: word(1), element: word(2) };
    // Only these kinds have details.
    let plain =
        !matches!(kind, STATE | TEXTURE_P0 | TEXTURE_P1 | TEXTURE_P2 | TEXTURE | INSTANCE_ATTRIBUTE | DRAW);
    if plain && detail != 0 {
        return None;
    }
    Some(match kind {
        CONST => UniformSlot::Const(word(0)),
        STATE => UniformSlot::State(state(detail, word(0))?),
        PUSH => UniformSlot::Push(word(0)),
        UBO => UniformSlot::Ubo { buffer: descriptor, offset: word(3) },
        UBO_BASE => UniformSlot::UboBase { buffer: descriptor, offset: word(3) },
        UBO_LIMIT => UniformSlot::UboLimit { buffer: descriptor, last: word(3) },
        TEXTURE_P0 | TEXTURE_P1 | TEXTURE_P2 => match (kind, lookup(detail, words)?) {
            (TEXTURE_P0, (lookup, false)) => UniformSlot::TextureP0(lookup),
            (TEXTURE_P1, (lookup, false)) => UniformSlot::TextureP1(lookup),
            (TEXTURE_P2, (lookup, explicit_lod)) => UniformSlot::TextureP2 { lookup, explicit_lod },
            _ => return None,
        },
        TEXTURE => UniformSlot::Texture {
            texture: texture(detail, words)?,
            value: *TextureValue::ALL.get(usize::from(detail & !SAMPLER))?,
        },
        BUFFER_ELEMENTS => {
            UniformSlot::BufferElements { buffer: descriptor, offset: word(3), stride: word(4) }
        }
        VERTEX_INDEX_BIAS => UniformSlot::VertexIndexBias,
        INSTANCE_INDEX => UniformSlot::InstanceIndex,
        DRAW => UniformSlot::Draw(*DrawWord::ALL.get(usize::from(detail))?),
        INSTANCE_ATTRIBUTE => UniformSlot::InstanceAttribute { location: word(0), word: detail },
        STREAM_ADDRESS => UniformSlot::StreamAddress,
        COMPUTED => UniformSlot::Computed(word(0)),
        _ => return None,
    })
}

/// Detail and word of a state uniform.
fn state_parts(state: StateUniform) -> (u8, u32) {
    match state {
        StateUniform::ViewportXScale => (0, 0),
        StateUniform::ViewportXBias => (1, 0),
        StateUniform::ViewportYScale => (2, 0),
        StateUniform::ViewportYBias => (3, 0),
        StateUniform::RasterScale => (4, 0),
        StateUniform::DepthScale => (5, 0),
        StateUniform::DepthBias => (6, 0),
        StateUniform::BlendConstant(component) => (7, component.into()),
        StateUniform::BlendConstantUnclamped(component) => (8, component.into()),
        StateUniform::BlendConstantBytes(components) => (9, u32::from_le_bytes(components)),
        StateUniform::StencilFront => (10, 0),
        StateUniform::StencilBack => (11, 0),
        StateUniform::StencilMasks => (12, 0),
        StateUniform::SampleMask => (13, 0),
        StateUniform::StencilBackMasks => (14, 0),
        StateUniform::ScreenXScale => (15, 0),
        StateUniform::ScreenYScale => (16, 0),
        StateUniform::BiasConstant => (17, 0),
        StateUniform::BiasSlope => (18, 0),
        StateUniform::BiasLow => (19, 0),
        StateUniform::BiasHigh => (20, 0),
        StateUniform::Corner(axis) => (21, axis.into()),
        StateUniform::QuadPixel => (22, 0),
    }
}

fn state(detail: u8, word: u32) -> Option<StateUniform> {
    let component = || u8::try_from(word).ok();
    Some(match (detail, word) {
        (0, 0) => StateUniform::ViewportXScale,
        (1, 0) => StateUniform::ViewportXBias,
        (2, 0) => StateUniform::ViewportYScale,
        (3, 0) => StateUniform::ViewportYBias,
        (4, 0) => StateUniform::RasterScale,
        (5, 0) => StateUniform::DepthScale,
        (6, 0) => StateUniform::DepthBias,
        (7, _) => StateUniform::BlendConstant(component()?),
        (8, _) => StateUniform::BlendConstantUnclamped(component()?),
        (9, _) => StateUniform::BlendConstantBytes(word.to_le_bytes()),
        (10, 0) => StateUniform::StencilFront,
        (11, 0) => StateUniform::StencilBack,
        (12, 0) => StateUniform::StencilMasks,
        (13, 0) => StateUniform::SampleMask,
        (14, 0) => StateUniform::StencilBackMasks,
        (15, 0) => StateUniform::ScreenXScale,
        (16, 0) => StateUniform::ScreenYScale,
        (17, 0) => StateUniform::BiasConstant,
        (18, 0) => StateUniform::BiasSlope,
        (19, 0) => StateUniform::BiasLow,
        (20, 0) => StateUniform::BiasHigh,
        (21, 0..=1) => StateUniform::Corner(component()?),
        (22, 0) => StateUniform::QuadPixel,
        _ => return None,
    })
}
