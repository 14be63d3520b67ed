//! SHBIN as tree and JSON.

use crate::json::Value;
use shader_containers::shbin::*;
use std::io::{self, Write};

/// Prints the tree below the file's line.
pub fn text(shbin: &Shbin, out: &mut impl Write, code: bool) -> io::Result<()> {
    let (words, descriptors) = (shbin.dvlp.code.entries.len(), shbin.dvlp.descriptors.entries.len());
    writeln!(out, "  0x{:04x} DVLP {words} code words, {descriptors} operand descriptors", shbin.dvlp_at())?;
    for name in &shbin.dvlp.file_names.entries {
        writeln!(out, "    from {}", String::from_utf8_lossy(name))?;
    }
    for program in &shbin.programs {
        print_program(program, out)?;
    }
    if code {
        print_code(shbin, out)?;
    }
    Ok(())
}

fn print_program(program: &Dvle, out: &mut impl Write) -> io::Result<()> {
    let (stage, main, end) = (program.stage.name(), program.main, program.end);
    writeln!(
        out,
        "  0x{:04x} DVLE {stage} program, main {main} to {end}, version 0x{:x}",
        program.at, program.version
    )?;
    let masks = (program.inputs, program.output_mask, program.flags);
    writeln!(out, "    inputs 0x{:04x}, outputs 0x{:04x}, flags 0x{:02x}", masks.0, masks.1, masks.2)?;
    if program.stage == Stage::Geometry {
        let g = &program.geometry;
        let (mode, start) = (g.mode.name(), g.fixed_start);
        let (variable, fixed) = (g.variable_count, g.fixed_count);
        writeln!(out, "    {mode} primitives: {variable} full vertices, array of {fixed} at c{start}")?;
    }
    for uniform in &program.uniforms.entries {
        writeln!(out, "    {} {}", registers(uniform), name(program, uniform.name))?;
    }
    for output in &program.outputs.entries {
        writeln!(out, "    o{}.{} {}", output.register, mask(output.mask), output.kind.name())?;
    }
    for constant in &program.constants.entries {
        writeln!(out, "    {}{} = {}", constant.file(), constant.register, value_text(constant))?;
    }
    for label in &program.labels.entries {
        writeln!(out, "    label {} at {}", name(program, label.name), label.address)?;
    }
    Ok(())
}

/// The listing the assembler takes: descriptors, labels, text with address and word beside it.
fn print_code(shbin: &Shbin, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "  0x{:04x} code", shbin.word_at(0))?;
    shbin.program().to_string().lines().try_for_each(|line| writeln!(out, "    {line}"))
}

/// The text of each word: what is indented in the listing, without the comment.
fn instruction_texts(listing: &str) -> impl Iterator<Item = &str> {
    let lines = listing.lines().filter(|line| line.starts_with(' '));
    lines.map(|line| line.rsplit_once(';').map_or(line, |(text, _)| text).trim())
}

fn registers(uniform: &Uniform) -> String {
    let one = |register: u16| match RegisterFile::split(register) {
        Some((file, number)) => format!("{}{number}", file.letter()),
        None => format!("register 0x{register:x}"),
    };
    match uniform.first == uniform.last {
        true => one(uniform.first),
        false => format!("{}-{}", one(uniform.first), one(uniform.last)),
    }
}

fn name(program: &Dvle, offset: u32) -> String {
    program.name(offset).map_or_else(|| "?".into(), |name| String::from_utf8_lossy(name).into_owned())
}

fn mask(mask: u32) -> String {
    "xyzw".chars().enumerate().filter(|(bit, _)| mask >> bit & 1 != 0).map(|(_, c)| c).collect()
}

fn value_text(constant: &Constant) -> String {
    match (constant.value, constant.floats()) {
        (_, Some(floats)) => floats.map(|float| float.to_f32().to_string()).join(", "),
        (ConstantValue::Bool(value, _), _) => (value != 0).to_string(),
        (ConstantValue::Int(bytes, _), _) => bytes.map(|byte| byte.to_string()).join(", "),
        (other, _) => format!("{other:?}"),
    }
}

/// The `content` field of the JSON document.
pub fn json(shbin: &Shbin, code: bool) -> Value {
    let dvlp = &shbin.dvlp;
    let mut fields = vec![
        ("code_words", Value::from(dvlp.code.entries.len())),
        ("code_offset", shbin.word_at(0).into()),
        ("descriptors", dvlp.descriptors.entries.len().into()),
        ("file_names", dvlp.file_names.entries.iter().map(|name| Value::text(name)).collect()),
        ("programs", shbin.programs.iter().map(program_json).collect()),
    ];
    if code {
        let program = shbin.program();
        let listing = program.to_string();
        let lines = program.code.iter().zip(instruction_texts(&listing)).enumerate();
        let lines = lines.map(|(address, (&word, text))| {
            Value::object([
                ("address", Value::from(address)),
                ("offset", shbin.word_at(address).into()),
                ("word", word.into()),
                ("text", text.into()),
            ])
        });
        fields.push(("code", lines.collect()));
    }
    Value::object(fields)
}

fn program_json(program: &Dvle) -> Value {
    let geometry = &program.geometry;
    let geometry = Value::object([
        ("mode", Value::from(geometry.mode.name())),
        ("fixed_start", geometry.fixed_start.into()),
        ("fixed_count", geometry.fixed_count.into()),
        ("variable_count", geometry.variable_count.into()),
    ]);
    Value::object([
        ("stage", Value::from(program.stage.name())),
        ("offset", program.at.into()),
        ("version", program.version.into()),
        ("flags", program.flags.into()),
        ("main", program.main.into()),
        ("end", program.end.into()),
        ("inputs", program.inputs.into()),
        ("outputs", program.output_mask.into()),
        ("geometry", geometry),
        ("uniforms", program.uniforms.entries.iter().map(|uniform| uniform_json(program, uniform)).collect()),
        ("output_map", program.outputs.entries.iter().map(output_json).collect()),
        ("constants", program.constants.entries.iter().map(constant_json).collect()),
        ("labels", program.labels.entries.iter().map(|label| label_json(program, label)).collect()),
    ])
}

fn uniform_json(program: &Dvle, uniform: &Uniform) -> Value {
    Value::object([
        ("name", Value::from(name(program, uniform.name))),
        ("registers", registers(uniform).into()),
        ("first", uniform.first.into()),
        ("last", uniform.last.into()),
    ])
}

fn output_json(output: &Output) -> Value {
    Value::object([
        ("kind", Value::from(output.kind.name())),
        ("register", output.register.into()),
        ("mask", output.mask.into()),
    ])
}

fn constant_json(constant: &Constant) -> Value {
    let value = match (constant.value, constant.floats()) {
        (_, Some(floats)) => floats.into_iter().map(|float| float.to_f32()).collect(),
        (ConstantValue::Bool(value, _), _) => Value::from(value != 0),
        (ConstantValue::Int(bytes, _), _) => bytes.into_iter().collect(),
        _ => Value::Null,
    };
    Value::object([
        ("register", Value::from(format!("{}{}", constant.file(), constant.register))),
        ("kind", constant.kind().into()),
        ("value", value),
    ])
}

fn label_json(program: &Dvle, label: &LabelEntry) -> Value {
    Value::object([("name", Value::from(name(program, label.name))), ("address", label.address.into())])
}
