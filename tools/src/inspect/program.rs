//! Compiled program files as tree, findings and JSON.

use crate::compile::{listing, stage_of};
use crate::json::Value;
use shader_containers::Finding;
use std::io::{self, Write};
use vc4::qpu::{Access, Declared, Inst, Violation, check_declared, uniform_reads};
use vc4_kernel_abi::validate::{Mode, Place as KernelPlace, shader};
use vc4_shaders::compile::ProgramKind;
use vc4_shaders::file::{self, Contents, FileError, Place};
use vc4_shaders::ir::computed;
use vc4_shaders::program::{AttributeArray, AttributeSource, Descriptor, Pipeline, Program, SampleBo};

/// Bytes of an instruction.
const INSTRUCTION: usize = 8;

/// Whether the bytes begin as a program file does.
pub fn is_program_file(bytes: &[u8]) -> bool {
    bytes.starts_with(&file::MAGIC)
}

/// Reads a file.
///
/// # Errors
/// P01 to P09; see [`file::Fault`].
pub fn parse(bytes: &[u8]) -> Result<Contents, Finding> {
    file::read_with_places(bytes).map_err(|error| finding(&error))
}

fn finding(error: &FileError) -> Finding {
    Finding::new(error.fault.code(), error.offset, error.fault.to_string())
}

/// All findings: what the reader refuses, behind a wrong digest too, and the rules that programs break.
pub fn check(bytes: &[u8]) -> Vec<Finding> {
    let contents = match file::read_with_places(bytes) {
        Ok(contents) => contents,
        Err(error) => {
            let behind = match error.fault {
                file::Fault::Digest => file::read(&file::sealed(bytes)).err(),
                _ => None,
            };
            return [Some(error), behind].iter().flatten().map(finding).collect();
        }
    };
    let mut out = Vec::new();
    for place in &contents.places {
        check_program(&contents.pipeline, place, &mut out);
    }
    out
}

fn check_program(pipeline: &Pipeline, place: &Place, out: &mut Vec<Finding>) {
    let program = program_of(pipeline, place.kind);
    let at = |instruction: usize| place.code + INSTRUCTION * instruction.min(program.code.len() - 1);
    let mut insts = Vec::with_capacity(program.code.len());
    for (number, &word) in program.code.iter().enumerate() {
        match Inst::decode(word) {
            Ok(inst) => insts.push(inst),
            Err(error) => return out.push(Finding::new("P10", at(number), format!("{word:#018x}: {error}"))),
        }
    }
    for violation in violations(pipeline, place.kind, &insts) {
        let message =
            format!("instruction {}: {} ({})", violation.index, violation.message, violation.rule.id);
        out.push(Finding::new("P11", at(violation.index), message));
    }
    let reads = uniform_reads(&insts).len();
    if reads != program.uniforms.len() {
        let have = program.uniforms.len();
        out.push(Finding::new("P12", place.head + 8, format!("{have} uniforms, the code takes {reads}")));
    }
    kernel(program, place, &at, out);
    if program.threaded != insts.iter().any(|inst| Access::of(inst).is_switch()) {
        let message = "the program and its thread flag disagree about thread switches";
        out.push(Finding::new("P14", place.head, message));
    }
}

/// The broken rules of the machine.
fn violations(pipeline: &Pipeline, kind: ProgramKind, insts: &[Inst]) -> Vec<Violation> {
    // In front of the varyings that the record counts stand two of points and one of lines; which topology it is only
    // the first of them shows.
    let implicit: &[u32] = match kind {
        ProgramKind::Fragment if pipeline.point_size => &[2],
        ProgramKind::Fragment => &[0, 1],
        ProgramKind::Vertex | ProgramKind::Coordinate => &[],
    };
    let declared = implicit.iter().map(|more| u8::try_from(pipeline.varyings.saturating_add(*more)).ok());
    let all = declared.map(|varyings| check_declared(stage_of(kind), insts, Declared { varyings }));
    all.min_by_key(Vec::len).unwrap_or_else(|| check_declared(stage_of(kind), insts, Declared::default()))
}

/// What the Linux kernel's validator says.
fn kernel(program: &Program, place: &Place, at: &impl Fn(usize) -> usize, out: &mut Vec<Finding>) {
    match shader::validate(&program.code, Mode::Faithful) {
        Ok(info) if info.samples.len() != program.samples.len() => {
            let (have, made) = (program.samples.len(), info.samples.len());
            out.push(Finding::new(
                "P13",
                place.head + 12,
                format!("{have} TMU requests, the code makes {made}"),
            ));
        }
        Ok(_) => {}
        Err(violation) => {
            let instruction = match violation.place {
                KernelPlace::Instruction(number) => number as usize,
                _ => 0,
            };
            let message = format!("the kernel refuses this: {} ({})", violation.what, violation.rule.id());
            out.push(Finding::new("P15", at(instruction), message));
        }
    }
}

fn program_of(pipeline: &Pipeline, kind: ProgramKind) -> &Program {
    match kind {
        ProgramKind::Vertex => &pipeline.vertex,
        ProgramKind::Coordinate => &pipeline.coordinate,
        ProgramKind::Fragment => &pipeline.fragment,
    }
}

/// The programs with the names of their stages.
pub fn programs(contents: &Contents) -> impl Iterator<Item = (&'static str, &Program)> {
    contents.places.iter().map(|place| (stage_name(place.kind), program_of(&contents.pipeline, place.kind)))
}

fn stage_name(kind: ProgramKind) -> &'static str {
    match kind {
        ProgramKind::Vertex => "vertex",
        ProgramKind::Coordinate => "coordinate",
        ProgramKind::Fragment => "fragment",
    }
}

/// Names of the interface's flags that are set.
fn flags(pipeline: &Pipeline) -> Vec<&'static str> {
    [
        (pipeline.point_size, "point size"),
        (pipeline.writes_depth, "computes depth"),
        (pipeline.discards, "discards"),
        (pipeline.reads_color, "reads the tile's colour"),
    ]
    .into_iter()
    .filter_map(|(set, name)| set.then_some(name))
    .collect()
}

/// Prints the tree below the file's line.
pub fn text(contents: &Contents, out: &mut impl Write, code: bool) -> io::Result<()> {
    let Contents { pipeline, places } = contents;
    let (vertex, coordinate) = (pipeline.vertex_attribute_bytes, pipeline.coordinate_attribute_bytes);
    let (varyings, flat) = (pipeline.varyings, pipeline.flat_varyings);
    writeln!(out, "  compiled programs, layout {}", file::VERSION)?;
    writeln!(
        out,
        "    {varyings} varyings, flat 0x{flat:x}; attribute bytes: vertex {vertex}, coordinate {coordinate}"
    )?;
    let flags = flags(pipeline);
    if !flags.is_empty() {
        writeln!(out, "    {}", flags.join(", "))?;
    }
    for (number, array) in pipeline.attributes.iter().enumerate() {
        writeln!(out, "    array {number}: {}", attribute_text(array))?;
    }
    for place in places {
        let program = program_of(pipeline, place.kind);
        let threads = if program.threaded { ", two threads" } else { "" };
        writeln!(
            out,
            "  0x{:04x} {} program: {} instructions, {} uniforms{threads}",
            place.head,
            stage_name(place.kind),
            program.code.len(),
            program.uniforms.len()
        )?;
        if code {
            listing(program).lines().try_for_each(|line| writeln!(out, "    {line}"))?;
        } else {
            for line in computed::lines(&program.computed) {
                writeln!(out, "    {line}")?;
            }
            for (number, (uniform, at)) in program.uniforms.iter().zip(&place.uniforms).enumerate() {
                writeln!(out, "    0x{at:04x} uniform {number}: {uniform}")?;
            }
        }
        for (number, sample) in program.samples.iter().enumerate() {
            writeln!(
                out,
                "    0x{:04x} TMU request {number}: {}",
                place.samples + 16 * number,
                sample_text(sample)
            )?;
        }
    }
    Ok(())
}

fn attribute_text(array: &AttributeArray) -> String {
    let source = match array.source {
        AttributeSource::Location(location) => format!("location {location}"),
        AttributeSource::VertexIndex => "vertex index".into(),
        AttributeSource::Place => "place of its primitive's outputs in memory".into(),
        AttributeSource::Corner { corner, location } => format!("location {location} of corner {corner}"),
        AttributeSource::CornerIndex(corner) => format!("vertex index of corner {corner}"),
        AttributeSource::Dummy => "nothing".into(),
    };
    let place = |stage: &str, offset: Option<u8>| match offset {
        Some(offset) => format!(", {stage} at {offset}"),
        None => String::new(),
    };
    let (vertex, coordinate) =
        (place("vertex", array.vertex_offset), place("coordinate", array.coordinate_offset));
    let joined = if array.joined { ", joined to the one before" } else { "" };
    format!("{source}, {} bytes{vertex}{coordinate}{joined}", array.bytes)
}

fn sample_parts(sample: &SampleBo) -> (&'static str, Descriptor) {
    match *sample {
        SampleBo::Texture(image) => ("sampled image", image),
        SampleBo::Ubo(buffer) => ("uniform buffer", buffer),
    }
}

fn sample_text(sample: &SampleBo) -> String {
    let (kind, descriptor) = sample_parts(sample);
    format!("{kind}, {descriptor}")
}

/// The `content` field of the JSON document.
pub fn json(contents: &Contents, code: bool) -> Value {
    let Contents { pipeline, places } = contents;
    let attribute = |array: &AttributeArray| {
        let (source, location) = match array.source {
            AttributeSource::Location(location) => ("location", Some(location)),
            AttributeSource::VertexIndex => ("vertex index", None),
            AttributeSource::Place => ("place of outputs", None),
            AttributeSource::Corner { location, .. } => ("location of a corner", Some(location)),
            AttributeSource::CornerIndex(_) => ("vertex index of a corner", None),
            AttributeSource::Dummy => ("nothing", None),
        };
        Value::object([
            ("source", Value::from(source)),
            ("location", location.into()),
            ("bytes", array.bytes.into()),
            ("joined", array.joined.into()),
            ("vertex_offset", array.vertex_offset.into()),
            ("coordinate_offset", array.coordinate_offset.into()),
        ])
    };
    Value::object([
        ("version", Value::from(file::VERSION)),
        ("varyings", pipeline.varyings.into()),
        ("flat_varyings", pipeline.flat_varyings.into()),
        ("vertex_attribute_bytes", pipeline.vertex_attribute_bytes.into()),
        ("coordinate_attribute_bytes", pipeline.coordinate_attribute_bytes.into()),
        ("point_size", pipeline.point_size.into()),
        ("writes_depth", pipeline.writes_depth.into()),
        ("discards", pipeline.discards.into()),
        ("reads_color", pipeline.reads_color.into()),
        ("attributes", pipeline.attributes.iter().map(attribute).collect()),
        ("programs", places.iter().map(|place| program_json(pipeline, place, code)).collect()),
    ])
}

fn program_json(pipeline: &Pipeline, place: &Place, code: bool) -> Value {
    let program = program_of(pipeline, place.kind);
    let uniforms = program.uniforms.iter().zip(&place.uniforms).map(|(uniform, &at)| {
        Value::object([("offset", Value::from(at)), ("name", uniform.to_string().into())])
    });
    let samples = program.samples.iter().map(|sample| {
        let (kind, Descriptor { set, binding, element }) = sample_parts(sample);
        Value::object([
            ("kind", Value::from(kind)),
            ("set", set.into()),
            ("binding", binding.into()),
            ("element", element.into()),
        ])
    });
    let mut fields = vec![
        ("stage", Value::from(stage_name(place.kind))),
        ("offset", place.head.into()),
        ("code_offset", place.code.into()),
        ("instructions", program.code.len().into()),
        ("threaded", program.threaded.into()),
        ("uniforms", uniforms.collect()),
        ("computed", computed::lines(&program.computed).map(Value::from).collect()),
        ("tmu_requests", samples.collect()),
    ];
    if code {
        let lines = program.code.iter().map(|&word| {
            let text = Inst::decode(word).map_or_else(|error| format!("# {error}"), |inst| inst.to_string());
            Value::object([("word", Value::from(format!("{word:#018x}"))), ("text", text.into())])
        });
        fields.push(("code", lines.collect()));
    }
    Value::object(fields)
}
