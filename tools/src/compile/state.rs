//! The pipeline state of a compilation, from a text file.

use super::module::Declared;
use crate::names::{self, FACTORS, LOGIC_OPS, OPS, STENCIL};
use std::collections::BTreeMap;
use vc4::state::blend::{Blend, BlendEquation, ColorOutput, LogicOp};
use vc4::state::depth_stencil::{DepthStencilPlan, StencilPlan};
use vc4::state::multisample::Multisample;
use vc4_shaders::compile::{
    DepthClamp, PipelineState, Precision, TextureClass, TextureDecode, TextureKey, TextureSwizzle,
    VertexAttribute,
};
use vc4_shaders::program::{Descriptor, Texture};

/// What a state file can say.
pub const HELP: &str = "\
The state file has one setting per line; # begins a comment. Without it:
  color r8g8b8a8_unorm        a Vulkan format, or none
  write rgba                  components that are written
  blend off                   or SRC DST OP for all components, or SRC DST OP SRC DST OP with alpha behind
                              (src-alpha one-minus-src-alpha add)
  logic off                   a logic operation: xor, and-reverse, ...
  samples 1                   or 4
  sample-mask off             the pipeline leaves samples out
  alpha-to-coverage off
  alpha-to-one off
  depth-test on
  depth-clamp off
  stencil off                 or both (one word), both-masks (two), faces (two), full (three)
  topology triangles          lines, wide_lines, points
  precision vulkan            gl: exp2, log2 and powers are the chip's estimates, as VC4VK_PRECISION=gl has it
  robust off                  on: places outside of buffers are allowed for, as with robustBufferAccess
  computed on                 off: no words that the CPU computes, which a module of assembly cannot name
and, as often as needed,
  attribute LOCATION FORMAT [instance]     without: floats, as many as the shader declares
  texture SET BINDING [ELEMENT] CLASS [SWIZZLE]
                              unorm8 (without), srgb8, depth24 or word32, and four letters of rgba01
  constant ID VALUE           a specialisation constant: a number, 0x..., a float with a point, true or false";

/// A state file's contents.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Format name of the colour attachment.
    color: Option<String>,
    write: [bool; 4],
    blend: Option<Blend>,
    logic: Option<LogicOp>,
    multisample: Multisample,
    depth_test: bool,
    depth_clamp: bool,
    stencil: StencilPlan,
    points: bool,
    lines: bool,
    wide_lines: bool,
    robust: bool,
    precision: Precision,
    attributes: BTreeMap<u32, VertexAttribute>,
    textures: BTreeMap<Texture, TextureKey>,
    /// Specialisation: constant id and bits.
    pub constants: Vec<(u32, u32)>,
    /// Words that the CPU computes.
    pub computes: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            color: Some("r8g8b8a8_unorm".into()),
            write: [true; 4],
            blend: None,
            logic: None,
            multisample: Multisample::default(),
            depth_test: true,
            depth_clamp: false,
            stencil: StencilPlan::Off,
            points: false,
            lines: false,
            wide_lines: false,
            robust: false,
            precision: Precision::Vulkan,
            attributes: BTreeMap::new(),
            textures: BTreeMap::new(),
            constants: Vec::new(),
            computes: true,
        }
    }
}

const PRECISIONS: &[(&str, Precision)] = &[("vulkan", Precision::Vulkan), ("gl", Precision::Gl)];

/// The value of this name.
fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Result<T, String> {
    let found = table.iter().find(|row| row.0 == name).map(|row| row.1);
    found.ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|row| row.0).collect();
        format!("`{name}` is none of: {}", names.join(", "))
    })
}

fn switch(word: &str) -> Result<bool, String> {
    match word {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("`{word}` is neither on nor off")),
    }
}

fn number(word: &str) -> Result<u32, String> {
    crate::stencil::word(word).map_err(|what| format!("`{word}`: {what}"))
}

fn constant(word: &str) -> Result<u32, String> {
    match word {
        "true" => Ok(1),
        "false" => Ok(0),
        _ if word.starts_with('-') && !word.contains('.') => {
            word.parse::<i32>().map(|value| value as u32).map_err(|_| format!("`{word}` is no 32-bit number"))
        }
        _ if word.contains('.') => {
            word.parse::<f32>().map(f32::to_bits).map_err(|_| format!("`{word}` is no float"))
        }
        _ => number(word),
    }
}

fn swizzle(word: &str) -> Result<[TextureSwizzle; 4], String> {
    let one = |c| match c {
        '0' => Some(TextureSwizzle::Zero),
        '1' => Some(TextureSwizzle::One),
        c => "rgba".find(c).map(|n| TextureSwizzle::Component(n as u8)),
    };
    let all: Option<Vec<TextureSwizzle>> = word.chars().map(one).collect();
    all.and_then(|all| all.try_into().ok()).ok_or_else(|| format!("`{word}` is not four letters of rgba01"))
}

impl Settings {
    /// Reads a state file.
    ///
    /// # Errors
    /// The line number and what is wrong there.
    pub fn parse(text: &str) -> Result<Settings, (usize, String)> {
        let mut settings = Settings::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some((key, values)) = words.split_first() {
                settings.set(key, values).map_err(|what| (number, what))?;
            }
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, values: &[&str]) -> Result<(), String> {
        match (key, values) {
            ("color", ["none"]) => self.color = None,
            ("color", [name]) => {
                names::target(name).map_err(|what| format!("`{name}`: {what}"))?;
                self.color = Some((*name).into());
            }
            ("write", [letters]) => {
                self.write = names::components(letters).map_err(|what| format!("`{letters}`: {what}"))?;
            }
            ("blend", ["off"]) => self.blend = None,
            ("blend", _) => self.blend = Some(blend(values)?),
            ("logic", ["off"]) => self.logic = None,
            ("logic", [name]) => self.logic = Some(named(LOGIC_OPS, name)?),
            ("samples", [count @ ("1" | "4")]) => self.multisample.four_samples = *count == "4",
            ("sample-mask", [word]) => self.multisample.sample_mask = switch(word)?,
            ("alpha-to-coverage", [word]) => self.multisample.alpha_to_coverage = switch(word)?,
            ("alpha-to-one", [word]) => self.multisample.alpha_to_one = switch(word)?,
            ("depth-test", [word]) => self.depth_test = switch(word)?,
            ("depth-clamp", [word]) => self.depth_clamp = switch(word)?,
            ("stencil", [name]) => self.stencil = named(STENCIL, name)?,
            ("topology", [name @ ("triangles" | "lines" | "wide_lines" | "points")]) => {
                (self.points, self.lines) = (*name == "points", name.ends_with("lines"));
                self.wide_lines = *name == "wide_lines";
            }
            ("precision", [name]) => self.precision = named(PRECISIONS, name)?,
            ("robust", [word]) => self.robust = switch(word)?,
            ("computed", [word]) => self.computes = switch(word)?,
            ("attribute", [location, format, rest @ ..]) => self.attribute(location, format, rest)?,
            ("texture", _) => self.texture(values)?,
            ("constant", [id, value]) => self.constants.push((number(id)?, constant(value)?)),
            _ => {
                return Err(format!(
                    "`{key} {}` is no setting; vc4 compile --help lists them",
                    values.join(" ")
                ));
            }
        }
        Ok(())
    }

    fn attribute(&mut self, location: &str, name: &str, rest: &[&str]) -> Result<(), String> {
        let format = names::vertex_format(name).map_err(|what| format!("`{name}`: {what}"))?;
        let per_instance = match rest {
            [] => false,
            ["instance"] => true,
            _ => {
                return Err(format!(
                    "`{}` after the format; only `instance` can stand there",
                    rest.join(" ")
                ));
            }
        };
        let location = number(location)?;
        self.attributes.insert(location, VertexAttribute { location, format, per_instance });
        Ok(())
    }

    fn texture(&mut self, values: &[&str]) -> Result<(), String> {
        let split = values.iter().position(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
        let (numbers, rest) = values.split_at(split.unwrap_or(values.len()));
        let numbers = numbers.iter().map(|word| number(word)).collect::<Result<Vec<_>, _>>()?;
        let (set, binding, element) = match numbers[..] {
            [set, binding] => (set, binding, 0),
            [set, binding, element] => (set, binding, element),
            _ => return Err("texture SET BINDING [ELEMENT] CLASS [SWIZZLE]".into()),
        };
        let classes = [
            ("unorm8", TextureClass::Unorm8),
            ("srgb8", TextureClass::Srgb8),
            ("depth24", TextureClass::Depth24),
            ("word32", TextureClass::Word32),
        ];
        let (class, swizzles) = match rest {
            [class] => (named(&classes, class)?, TextureDecode::default().swizzle),
            [class, letters] => (named(&classes, class)?, swizzle(letters)?),
            _ => return Err("texture SET BINDING [ELEMENT] CLASS [SWIZZLE]".into()),
        };
        let decode = TextureDecode { class, swizzle: swizzles };
        // As bound with a sampler and as fetched without one.
        let image = Descriptor { set, binding, element };
        self.textures.insert(Texture::combined(image), decode.into());
        self.textures.insert(Texture::alone(image), decode.into());
        Ok(())
    }

    /// The state for a vertex stage with these inputs.
    pub fn state(&self, inputs: &[Declared]) -> PipelineState {
        let read = inputs.iter().map(|input| VertexAttribute::floats(input.location, input.components));
        let attributes: BTreeMap<u32, VertexAttribute> = read
            .chain(self.attributes.values().copied())
            .map(|attribute| (attribute.location, attribute))
            .collect();
        PipelineState {
            attributes: attributes.into_values().collect(),
            points: self.points,
            lines: self.lines,
            wide_lines: self.wide_lines,
            robust: self.robust,
            precision: self.precision,
            color: self.color.as_ref().and_then(|name| self.output(name)),
            depth_stencil: DepthStencilPlan {
                write_z: self.depth_test || self.stencil != StencilPlan::Off,
                stencil: self.stencil,
            },
            depth_clamp: self.depth_clamp.then_some(DepthClamp { biased: false, to_viewport: true }),
            multisample: self.multisample,
            textures: self.textures.clone(),
            computes: self.computes,
            ..PipelineState::default()
        }
    }

    fn output(&self, name: &str) -> Option<ColorOutput> {
        let multisample = self.multisample.four_samples;
        let output = names::target(name).ok()?;
        Some(ColorOutput {
            write: self.write,
            blend: self.blend,
            logic_op: self.logic,
            multisample,
            ..output
        })
    }
}

fn blend(values: &[&str]) -> Result<Blend, String> {
    let equation = |values: &[&str]| match values {
        [src, dst, op] => {
            Ok(BlendEquation { src: named(FACTORS, src)?, dst: named(FACTORS, dst)?, op: named(OPS, op)? })
        }
        _ => Err(String::from("blend SRC DST OP [SRC DST OP], or off")),
    };
    let (color, alpha) = if values.len() == 6 { values.split_at(3) } else { (values, values) };
    Ok(Blend { color: equation(color)?, alpha: equation(alpha)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vc4::state::blend::{BlendFactor, BlendOp};
    use vc4::state::vertex_fetch::Packing;

    #[test]
    fn every_setting() {
        let text = "# all of them
            color b8g8r8a8_srgb
            write rb
            blend src-alpha one-minus-src-alpha add one zero reverse-subtract
            samples 4
            stencil faces
            depth-test off  # the stencil test writes depth all the same
            topology points
            robust on
            precision gl
            attribute 1 r8g8b8a8_unorm instance
            texture 0 2 srgb8 bgr1
            texture 1 0 3 word32
            constant 7 -1
            constant 8 1.5";
        let settings = Settings::parse(text).expect(text);
        let state = settings
            .state(&[Declared { location: 0, components: 3 }, Declared { location: 1, components: 4 }]);
        let formats: Vec<_> =
            state.attributes.iter().map(|a| (a.location, a.format.packing, a.per_instance)).collect();
        assert_eq!(formats, [(0, Packing::Words(3), false), (1, Packing::Bytes(4), true)]);
        let color = state.color.expect("a colour attachment");
        assert_eq!(color.write, [true, false, true, false]);
        let blend = color.blend.expect("blending");
        assert_eq!((blend.color.src, blend.alpha.op), (BlendFactor::SrcAlpha, BlendOp::ReverseSubtract));
        assert!(color.multisample && state.points && state.robust && state.depth_stencil.write_z);
        assert_eq!(state.precision, Precision::Gl);
        let image = Descriptor { set: 0, binding: 2, element: 0 };
        assert_eq!(state.textures[&Texture::combined(image)].decode.swizzle[3], TextureSwizzle::One);
        assert_eq!(settings.constants, [(7, u32::MAX), (8, 1.5f32.to_bits())]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line, message) in [
            ("\ncolour none", 2, "`colour none` is no setting"),
            ("write rgx", 1, "`rgx`: letters of rgba"),
            ("blend src-alpha zero plus", 1, "`plus` is none of: add, "),
            ("blend one", 1, "blend SRC DST OP"),
            ("color r64_unorm", 1, "`r64_unorm`: no colour target"),
            ("attribute x r32_sfloat", 1, "`x`: no 32-bit number"),
            ("attribute 0 r32_sfloat often", 1, "only `instance`"),
            ("texture 0 srgb8", 1, "texture SET BINDING"),
            ("texture 0 0 srgb8 rgb", 1, "not four letters"),
            ("samples 2", 1, "no setting"),
            ("constant 0 1.2.3", 1, "no float"),
        ] {
            let (number, what) = Settings::parse(text).expect_err(text);
            assert!(number == line && what.contains(message), "{text}: {number}: {what}");
        }
    }
}
