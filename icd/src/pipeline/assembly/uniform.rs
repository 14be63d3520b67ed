//! What the words of a uniform stream can be: one table for the structure's numbers, the names in text and the
//! documentation.

use vc4::state::StateUniform;
use vc4_shaders::program::{Descriptor, Lookup, Texture, TextureValue, UniformSlot};

/// Which members of a description count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// `value`, called so in the documentation.
    Value(&'static str),
    /// `set`, `binding` and perhaps `element`.
    Descriptor,
    /// As `Descriptor`, with `value` between binding and element.
    DescriptorValue(&'static str),
    /// `value` and `element`.
    ValueElement(&'static str, &'static str),
}

/// A kind of word.
pub struct Source {
    /// VkAssemblyUniformSourceVC4.
    pub number: u32,
    /// Its name there, between `VK_ASSEMBLY_UNIFORM_` and `_VC4`.
    pub constant: &'static str,
    /// Name in text, in front of its indices.
    pub name: &'static str,
    /// Its indices.
    pub takes: Takes,
    /// What it is.
    pub text: &'static str,
    meaning: fn(&Description) -> Word,
}

/// VkAssemblyUniformVC4 without its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Descriptor set, binding number and element.
    pub descriptor: [u32; 3],
    /// The rest.
    pub value: u32,
}

impl Description {
    fn place(&self) -> Descriptor {
        let [set, binding, element] = self.descriptor;
        Descriptor { set, binding, element }
    }
}

/// A word of a uniform stream before a pipeline is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Known to draws.
    Slot(UniformSlot),
    /// The specialisation constant with this id.
    Specialization(u32),
}

fn slot(make: impl Fn(Descriptor) -> UniformSlot, description: &Description) -> Word {
    Word::Slot(make(description.place()))
}

fn lookup(make: impl Fn(Lookup) -> UniformSlot, description: &Description) -> Word {
    Word::Slot(make(Lookup::combined(description.place())))
}

fn size(axis: u8, description: &Description) -> Word {
    let texture = Texture::combined(description.place());
    Word::Slot(UniformSlot::Texture { texture, value: TextureValue::Size(axis) })
}

fn state(state: StateUniform) -> Word {
    Word::Slot(UniformSlot::State(state))
}

macro_rules! sources {
    ($($number:literal $constant:ident $name:literal $takes:expr, $text:literal => $meaning:expr;)*) => {
        /// Every kind of word, by number.
        pub static SOURCES: &[Source] = &[$(Source {
            number: $number,
            constant: stringify!($constant),
            name: $name,
            takes: $takes,
            text: $text,
            meaning: $meaning,
        }),*];
    };
}

use Takes::{Descriptor as Place, DescriptorValue, Nothing, Value, ValueElement};

sources! {
    0 CONSTANT "const" Value("WORD"), "the word itself, decimal or 0x and hexadecimal"
        => |d| Word::Slot(UniformSlot::Const(d.value));
    1 SPECIALIZATION "spec" Value("ID"), "the specialization constant with this id"
        => |d| Word::Specialization(d.value);
    2 PUSH "push" Value("BYTE"), "the push constant word at a byte offset"
        => |d| Word::Slot(UniformSlot::Push(d.value));
    3 UBO "ubo" DescriptorValue("BYTE"), "the word at a byte offset of a uniform buffer, read when the draw runs"
        => |d| Word::Slot(UniformSlot::Ubo { buffer: d.place(), offset: d.value });
    4 UBO_BASE "ubo.base" Place, "address of a uniform buffer: last operand of a direct lookup's add"
        => |d| slot(|buffer| UniformSlot::UboBase { buffer, offset: 0 }, d);
    5 UBO_LIMIT "ubo.limit" Place, "largest byte offset of a direct lookup: operand of its min"
        => |d| slot(|buffer| UniformSlot::UboLimit { buffer, last: 0 }, d);
    6 TEXTURE_P0 "tex.p0" Place, "texture parameter 0 of a combined image sampler"
        => |d| lookup(UniformSlot::TextureP0, d);
    7 TEXTURE_P1 "tex.p1" Place, "texture parameter 1"
        => |d| lookup(UniformSlot::TextureP1, d);
    8 TEXTURE_P2 "tex.p2" Place, "texture parameter 2 (cube stride); register b is a bias of the level of detail"
        => |d| lookup(|lookup| UniformSlot::TextureP2 { lookup, explicit_lod: false }, d);
    9 TEXTURE_P2_LOD "tex.p2.lod" Place, "texture parameter 2; register b is the level of detail itself"
        => |d| lookup(|lookup| UniformSlot::TextureP2 { lookup, explicit_lod: true }, d);
    // Only child images put something here, which the driver does not make (qpu.md §4.5).
    10 TEXTURE_P3 "tex.p3" Place, "texture parameter 3, for lookups that write s, t, r and b"
        => |_| Word::Slot(UniformSlot::Const(0));
    11 TEXTURE_WIDTH "tex.width" Place, "width of the first level in texels, a float"
        => |d| size(0, d);
    12 TEXTURE_HEIGHT "tex.height" Place, "height of the first level in texels, a float"
        => |d| size(1, d);
    13 VIEWPORT_X_SCALE "viewport.x.scale" Nothing, "x of the raster = Xc · this + Wc · viewport.x.bias"
        => |_| state(StateUniform::ViewportXScale);
    14 VIEWPORT_X_BIAS "viewport.x.bias" Nothing, "see viewport.x.scale"
        => |_| state(StateUniform::ViewportXBias);
    15 VIEWPORT_Y_SCALE "viewport.y.scale" Nothing, "as for x"
        => |_| state(StateUniform::ViewportYScale);
    16 VIEWPORT_Y_BIAS "viewport.y.bias" Nothing, "as for x"
        => |_| state(StateUniform::ViewportYBias);
    17 RASTER_SCALE "raster.scale" Nothing, "Xs in sixteenths of a pixel = x of the raster / Wc · this; Ys alike"
        => |_| state(StateUniform::RasterScale);
    18 DEPTH_SCALE "depth.scale" Nothing, "Zs = Zc / Wc · this + depth.bias"
        => |_| state(StateUniform::DepthScale);
    19 DEPTH_BIAS "depth.bias" Nothing, "see depth.scale"
        => |_| state(StateUniform::DepthBias);
    20 BLEND_R "blend.r" Nothing, "red of the blend constants, a float from 0 to 1"
        => |_| state(StateUniform::BlendConstant(0));
    21 BLEND_G "blend.g" Nothing, "green of the blend constants"
        => |_| state(StateUniform::BlendConstant(1));
    22 BLEND_B "blend.b" Nothing, "blue of the blend constants"
        => |_| state(StateUniform::BlendConstant(2));
    23 BLEND_A "blend.a" Nothing, "alpha of the blend constants"
        => |_| state(StateUniform::BlendConstant(3));
    24 STENCIL_FRONT "stencil.front" Nothing, "stencil set-up word of front faces; 0 without a stencil test"
        => |_| state(StateUniform::StencilFront);
    25 STENCIL_BACK "stencil.back" Nothing, "stencil set-up word of back faces"
        => |_| state(StateUniform::StencilBack);
    26 STENCIL_MASKS "stencil.masks" Nothing, "stencil set-up word with both write masks; written last"
        => |_| state(StateUniform::StencilMasks);
    27 SAMPLE_MASK "sample.mask" Nothing, "the pipeline's sample mask, bits 3:0"
        => |_| state(StateUniform::SampleMask);
    28 VERTEX_BIAS "vertex.bias" Nothing, "plus the vertex index word: gl_VertexIndex"
        => |_| Word::Slot(UniformSlot::VertexIndexBias);
    29 INSTANCE_INDEX "instance.index" Nothing, "gl_InstanceIndex"
        => |_| Word::Slot(UniformSlot::InstanceIndex);
    30 INSTANCE_ATTRIBUTE "instance.attribute" ValueElement("LOCATION", "WORD"),
        "a word of an attribute that advances per instance"
        => |d| Word::Slot(UniformSlot::InstanceAttribute {
            location: d.value,
            word: u8::try_from(d.descriptor[2]).unwrap_or(u8::MAX),
        });
    31 STREAM "stream" Nothing, "the stream's own address, for a write to unif_addr"
        => |_| Word::Slot(UniformSlot::StreamAddress);
}

/// The word that a description of source `number` stands for.
///
/// # Errors
/// The number is unknown, or a member is out of range.
pub fn describe(number: u32, description: &Description) -> Result<Word, String> {
    let source = SOURCES.iter().find(|source| source.number == number);
    let unknown = || format!("uniform source {number} is unknown; the last one is {}", SOURCES.len() - 1);
    word(source.ok_or_else(unknown)?, description)
}

fn word(source: &Source, description: &Description) -> Result<Word, String> {
    let word = (source.meaning)(description);
    match word {
        Word::Slot(UniformSlot::Push(offset) | UniformSlot::Ubo { offset, .. }) if offset % 4 != 0 => {
            Err(format!("byte {offset} is not the start of a word"))
        }
        Word::Slot(UniformSlot::InstanceAttribute { word, .. }) if word > 3 => {
            Err(format!("an attribute has words 0 to 3, not {}", description.descriptor[2]))
        }
        word => Ok(word),
    }
}

/// The word that a name in text stands for.
///
/// # Errors
/// What is wrong with the name.
pub fn named(text: &str) -> Result<Word, String> {
    let (name, indices) = text.split_at(text.find('[').unwrap_or(text.len()));
    let source = SOURCES.iter().find(|source| source.name == name).ok_or_else(|| unknown(name))?;
    let indices = numbers(indices).map_err(|what| format!("{text}: {what}"))?;
    let shape = || Err(format!("{text} should be {}", form(source)));
    let description = match (source.takes, &indices[..]) {
        (Takes::Nothing, []) => Description::default(),
        (Takes::Value(_), &[value]) => Description { value, ..Description::default() },
        (Takes::Descriptor, &[set, binding]) => {
            Description { descriptor: [set, binding, 0], ..Description::default() }
        }
        (Takes::Descriptor, &[set, binding, element]) => {
            Description { descriptor: [set, binding, element], ..Description::default() }
        }
        (Takes::DescriptorValue(_), &[set, binding, value]) => {
            Description { descriptor: [set, binding, 0], value }
        }
        (Takes::DescriptorValue(_), &[set, binding, value, element]) => {
            Description { descriptor: [set, binding, element], value }
        }
        (Takes::ValueElement(..), &[value, element]) => Description { descriptor: [0, 0, element], value },
        _ => return shape(),
    };
    word(source, &description).map_err(|what| format!("{text}: {what}"))
}

fn unknown(name: &str) -> String {
    let close = SOURCES.iter().find(|source| {
        source.name.eq_ignore_ascii_case(name) || source.name.rsplit('.').next() == Some(name)
    });
    match close {
        Some(source) => format!("no uniform is called {name}; did you mean {}?", form(source)),
        None => format!("no uniform is called {name}; ASSEMBLY.md lists the names"),
    }
}

/// The numbers in `[1][0x2]…`.
fn numbers(mut text: &str) -> Result<Vec<u32>, String> {
    let mut out = Vec::new();
    while !text.is_empty() {
        let inner = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (digits, rest) = inner.ok_or("an index stands between [ and ]")?;
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        out.push(number.map_err(|_| format!("{digits} is no number of 32 bits"))?);
        text = rest;
    }
    Ok(out)
}

/// How a source is written in text.
pub fn form(source: &Source) -> String {
    let name = source.name;
    match source.takes {
        Takes::Nothing => name.to_owned(),
        Takes::Value(value) => format!("{name}[{value}]"),
        Takes::Descriptor => format!("{name}[SET][BINDING]"),
        Takes::DescriptorValue(value) => format!("{name}[SET][BINDING][{value}]"),
        Takes::ValueElement(value, element) => format!("{name}[{value}][{element}]"),
    }
}

/// The table as Markdown.
pub fn table() -> String {
    let row = |source: &Source| format!("| `{}` | `{}` | {} |\n", form(source), source.constant, source.text);
    let rows: String = SOURCES.iter().map(row).collect();
    format!("| name in text | `VK_ASSEMBLY_UNIFORM_…_VC4` | word |\n| --- | --- | --- |\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: Descriptor = Descriptor { set: 1, binding: 2, element: 0 };

    #[test]
    fn names_are_read() {
        let slot = |name| match named(name) {
            Ok(Word::Slot(slot)) => slot,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(slot("const[0x3f800000]"), UniformSlot::Const(0x3f80_0000));
        assert_eq!(slot("push[12]"), UniformSlot::Push(12));
        assert_eq!(slot("ubo[1][2][64]"), UniformSlot::Ubo { buffer: D, offset: 64 });
        let third = Descriptor { element: 3, ..D };
        assert_eq!(slot("ubo[1][2][64][3]"), UniformSlot::Ubo { buffer: third, offset: 64 });
        assert_eq!(slot("tex.p0[1][2]"), UniformSlot::TextureP0(Lookup::combined(D)));
        assert_eq!(slot("tex.p0[1][2][3]"), UniformSlot::TextureP0(Lookup::combined(third)));
        assert_eq!(
            slot("tex.p2.lod[1][2]"),
            UniformSlot::TextureP2 { lookup: Lookup::combined(D), explicit_lod: true }
        );
        assert_eq!(slot("instance.attribute[5][3]"), UniformSlot::InstanceAttribute { location: 5, word: 3 });
        assert_eq!(slot("blend.a"), UniformSlot::State(StateUniform::BlendConstant(3)));
        assert_eq!(named("spec[7]"), Ok(Word::Specialization(7)));
    }

    #[test]
    fn wrong_names_say_what_is_right() {
        let message = |name| named(name).unwrap_err();
        assert!(message("push").contains("push[BYTE]"));
        assert!(message("push[2]").contains("start of a word"));
        assert!(message("push[1][2]").contains("push[BYTE]"));
        assert!(message("push[-1]").contains("-1 is no number"));
        assert!(message("const[0x100000000]").contains("32 bits"));
        assert!(message("p0[0][0]").contains("tex.p0[SET][BINDING]"));
        assert!(message("instance.attribute[0][4]").contains("words 0 to 3"));
        assert!(message("camera").contains("ASSEMBLY.md"));
        assert!(message("ubo[0][0").contains("between [ and ]"));
    }

    #[test]
    fn numbers_are_positions_and_mean_the_same_as_names() {
        for (position, source) in (0..).zip(SOURCES) {
            assert_eq!(source.number, position);
            let text = form(source).replace("SET", "1").replace("BINDING", "2");
            let text = ["WORD", "ID", "BYTE", "LOCATION"].iter().fold(text, |t, l| t.replace(l, "0"));
            let descriptor = if source.name == "instance.attribute" { [0; 3] } else { [1, 2, 0] };
            let description = Description { descriptor, value: 0 };
            assert_eq!(named(&text), describe(position, &description), "{text}");
        }
        assert!(describe(SOURCES.len() as u32, &Description::default()).is_err());
    }
}
