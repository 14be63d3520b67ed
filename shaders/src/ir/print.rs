//! A shader as text.

use std::fmt::{self, Display, Formatter};

use super::entity::{Block, Inst};
use super::image::{Fetch, ImageFormat, Sample, Texel, TmuR};
use super::interface::Output;
use super::memory::Memory;
use super::op::Op;
use super::shader::{InstData, Node, Region, Shader};
use crate::binding::{Descriptor, Texture};

impl Display for Shader {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "shader {:?}", self.stage)?;
        write_region(f, self, &self.body, 0)
    }
}

fn indent(f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    write!(f, "{:1$}", "", depth * 2)
}

fn write_region(f: &mut Formatter<'_>, shader: &Shader, region: &Region, depth: usize) -> fmt::Result {
    for node in region {
        write_node(f, shader, node, depth)?;
    }
    Ok(())
}

fn write_node(f: &mut Formatter<'_>, shader: &Shader, node: &Node, depth: usize) -> fmt::Result {
    if let &Node::Block(block) = node {
        return write_block(f, shader, block, depth);
    }
    indent(f, depth)?;
    match node {
        Node::Block(_) => Ok(()),
        Node::If { cond, then, otherwise } => {
            writeln!(f, "if {cond} {{")?;
            write_region(f, shader, then, depth + 1)?;
            indent(f, depth)?;
            writeln!(f, "}} else {{")?;
            write_region(f, shader, otherwise, depth + 1)?;
            indent(f, depth)?;
            writeln!(f, "}}")
        }
        Node::Loop(body) => {
            writeln!(f, "loop {{")?;
            write_region(f, shader, body, depth + 1)?;
            indent(f, depth)?;
            writeln!(f, "}}")
        }
        Node::Break => writeln!(f, "break"),
        Node::Continue => writeln!(f, "continue"),
        Node::Return => writeln!(f, "return"),
        Node::Discard => writeln!(f, "discard"),
    }
}

fn write_block(f: &mut Formatter<'_>, shader: &Shader, block: Block, depth: usize) -> fmt::Result {
    indent(f, depth)?;
    writeln!(f, "{block}:")?;
    for &inst in &shader.blocks[block].insts {
        indent(f, depth + 1)?;
        match shader.source_of(inst) {
            Some(place) => writeln!(f, "{} ; {place}", shader.display(inst))?,
            None => writeln!(f, "{}", shader.display(inst))?,
        }
    }
    Ok(())
}

/// One instruction as text.
pub struct DisplayInst<'a>(&'a InstData);

impl Shader {
    /// An instruction as it stands in the text of a shader.
    pub fn display(&self, inst: Inst) -> DisplayInst<'_> {
        DisplayInst(&self.insts[inst])
    }
}

impl Display for DisplayInst<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let data = self.0;
        for (index, result) in data.results.iter().enumerate() {
            write!(f, "{}{result}", if index == 0 { "" } else { ", " })?;
        }
        if !data.results.is_empty() {
            write!(f, " = ")?;
        }
        write!(f, "{}", data.op)?;
        for (index, arg) in data.args.iter().enumerate() {
            write!(f, "{}{arg}", if index == 0 { " " } else { ", " })?;
            if let Some(block) = data.phi_blocks.get(index) {
                write!(f, " from {block}")?;
            }
        }
        if data.relaxed {
            write!(f, " ; relaxed")?;
        }
        if data.exact {
            write!(f, " ; exact")?;
        }
        Ok(())
    }
}

impl Display for Descriptor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "set {} binding {}", self.set, self.binding)?;
        if self.element == 0 { Ok(()) } else { write!(f, "[{}]", self.element) }
    }
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Output::Position(component) => write!(f, "position.{component}"),
            Output::PointSize => write!(f, "point_size"),
            Output::User { location, component } => write!(f, "{location}.{component}"),
            Output::SecondColor(component) => write!(f, "second_color.{component}"),
            Output::FragDepth => write!(f, "frag_depth"),
            Output::SampleMask => write!(f, "sample_mask"),
        }
    }
}

impl Display for Texture {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.sampler {
            Some(sampler) if sampler != self.image => write!(f, "({}, {sampler})", self.image),
            _ => write!(f, "({})", self.image),
        }
    }
}

impl Display for Sample {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Sample { texture, dim, lod, arrayed, offset, compare } = self;
        write!(f, "{texture} {dim:?}{} {lod:?}", mark(*arrayed, " array"))?;
        write!(f, "{}{}", mark(*offset, " offset"), mark(*compare, " compare"))
    }
}

impl Display for Texel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Texel { image, dim, arrayed, multisampled, format } = self;
        write!(f, "({image}) {dim:?}{}{}", mark(*arrayed, " array"), mark(*multisampled, " samples"))?;
        match format {
            ImageFormat::Unknown => Ok(()),
            format => write!(f, " {format:?}"),
        }
    }
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Memory::Buffer(buffer) => write!(f, "({buffer})"),
            Memory::Shared => f.write_str("shared"),
            Memory::Scratch => f.write_str("scratch"),
        }
    }
}

fn mark(on: bool, text: &'static str) -> &'static str {
    if on { text } else { "" }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(word) => write_const(f, *word),
            Op::ConstBool(truth) => write!(f, "{truth}"),
            Op::LoadInput { location, component, interpolation } => {
                write!(f, "load_input {location}.{component} {interpolation:?}")
            }
            Op::LoadBuiltin(builtin) => write!(f, "load_builtin {builtin:?}"),
            Op::StoreOutput(output) => write!(f, "store_output {output}"),
            Op::LoadUbo { buffer, offset } => write!(f, "load_ubo ({buffer}) +{offset}"),
            Op::LoadUboDynamic { buffer, offset, last } => {
                write!(f, "load_ubo_dynamic ({buffer}) +{offset} ..{last}")
            }
            Op::LoadPush(offset) => write!(f, "load_push +{offset}"),
            Op::BufferElements { buffer, offset, stride } => {
                write!(f, "buffer_elements ({buffer}) +{offset} /{stride}")
            }
            Op::Sample(sample) => write!(f, "sample {sample}"),
            Op::Gather { sample, component } => write!(f, "gather {sample} .{component}"),
            Op::Fetch(Fetch { image, dim, arrayed, offset }) => {
                write!(f, "fetch ({image}) {dim:?}{}{}", mark(*arrayed, " array"), mark(*offset, " offset"))
            }
            Op::ImageSize { image, axis, .. } => write!(f, "image_size ({image}) {axis}"),
            Op::ImageLevels(image) => write!(f, "image_levels ({image})"),
            Op::ImageSamples(image) => write!(f, "image_samples ({image})"),
            Op::ImageLod(sample) => write!(f, "image_lod {sample}"),
            Op::Load { memory, offset } => write!(f, "load {memory} +{offset}"),
            Op::Store { memory, offset } => write!(f, "store {memory} +{offset}"),
            Op::Atomic { memory, offset, action } => write!(f, "atomic {action:?} {memory} +{offset}"),
            Op::ImageRead(texel) => write!(f, "image_read {texel}"),
            Op::ImageWrite(texel) => write!(f, "image_write {texel}"),
            Op::ImageAtomic(texel, action) => write!(f, "image_atomic {action:?} {texel}"),
            Op::Add(op) => write!(f, "add.{}", op.name()),
            Op::Mul(op) => write!(f, "mul.{}", op.name()),
            Op::UnpackInt(part) => write!(f, "unpack_int.{}", part.name()),
            Op::UnpackFloat(part) => write!(f, "unpack_float.{}", part.name()),
            Op::Uniform(slot) => write!(f, "uniform {slot:?}"),
            Op::ClampDirect { buffer, last } => write!(f, "clamp_direct ({buffer}) ..{last}"),
            Op::TmuDirect { buffer, offset } => write!(f, "tmu_direct ({buffer}) +{offset}"),
            Op::TmuSample { lookup, r, lod } => {
                write!(f, "tmu_sample {}{}", lookup.texture, mark(lookup.texels, " texels"))?;
                match r {
                    TmuR::None => write!(f, " {lod:?}"),
                    r => write!(f, " {r:?} {lod:?}"),
                }
            }
            other => write_snake(f, &format!("{other:?}")),
        }
    }
}

/// A word in hexadecimal, with the number it means as a float when that is a plain one.
fn write_const(f: &mut Formatter<'_>, word: u32) -> fmt::Result {
    let float = f32::from_bits(word);
    match word {
        0..=0xffff => write!(f, "const {word}"),
        _ if (1e-6..1e9).contains(&float.abs()) => write!(f, "const {word:#010x} ({float:?})"),
        _ => write!(f, "const {word:#010x}"),
    }
}

/// `FAdd` as `fadd`, `VpmWrite(3)` as `vpm_write(3)`: an underscore between a lower- and an upper-case letter.
fn write_snake(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let mut last_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && last_lower {
            write!(f, "_")?;
        }
        last_lower = c.is_ascii_lowercase();
        write!(f, "{}", c.to_ascii_lowercase())?;
    }
    Ok(())
}
