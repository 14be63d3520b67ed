//! metallib as tree and JSON.

use crate::json::{Value, hex};
use shader_containers::metallib::*;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// What the container version, platform and stamps say, in one line each.
fn header_lines(library: &Library<'_>) -> Vec<String> {
    let header = &library.header;
    let kind = header.library_type().map_or("unknown", |kind| kind.name());
    let stub = if header.is_stub() { ", stub" } else { "" };
    let container = format!("container {}.{}.{}", header.major(), header.minor, header.patch);
    let (major, minor, update) = header.os_version;
    let target = match header.platform() {
        Some(platform) => format!("{} {major}.{minor}.{update}", platform.name()),
        None if header.is_for_macos() => "macOS (version not recorded)".into(),
        None => "iOS, tvOS or a simulator of them (not recorded)".into(),
    };
    let mut lines = vec![format!("{kind} library{stub}, {container}, for {target}")];
    let versions: BTreeSet<_> = library.functions.iter().map(|function| function.version).collect();
    let list: Vec<_> = versions.iter().map(|version| version_text(*version)).collect();
    if versions.len() > 1 {
        lines.push(format!("functions of different versions: {}", list.join("; ")));
    } else {
        lines.extend(list);
    }
    if let Some(macos) = library.oldest_macos() {
        lines.push(format!("oldest macOS that understands every function: {macos}"));
    }
    lines
}

fn version_text(version: Version) -> String {
    let Version { air, language } = version;
    format!("AIR {}.{}, language {}.{}", air.0, air.1, language.0, language.1)
}

/// Prints the tree below the file's line.
pub fn text(library: &Library<'_>, out: &mut impl Write, code: bool) -> io::Result<()> {
    for line in header_lines(library) {
        writeln!(out, "  {line}")?;
    }
    for (name, section) in sections(library) {
        writeln!(out, "  0x{:06x} {name}, {} bytes", section.offset, section.size)?;
    }
    if let Some(uuid) = library.extension.and_then(|extension| extension.uuid()) {
        writeln!(out, "  UUID {}", uuid_text(uuid))?;
    }
    print_dynamic(library, out)?;
    writeln!(out, "  {} functions", library.functions.len())?;
    for function in &library.functions {
        print_function(library, function, out, code)?;
    }
    print_sources(library, out)
}

fn sections(library: &Library<'_>) -> Vec<(String, Section)> {
    let header = &library.header;
    let mut list = vec![
        ("function list".into(), header.functions),
        ("public metadata".into(), header.public),
        ("private metadata".into(), header.private),
        ("modules".into(), header.modules),
    ];
    let named = library.extension.iter().flat_map(|extension| extension.sections());
    list.extend(named.map(|place| (place.id.escape_ascii().to_string(), place.section)));
    list
}

/// In the usual printing order.
fn uuid_text(uuid: [u8; 16]) -> String {
    let text = hex(&uuid);
    [&text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..]].join("-")
}

fn print_dynamic(library: &Library<'_>, out: &mut impl Write) -> io::Result<()> {
    match library.dynamic_tags() {
        Ok(tags) => {
            for tag in tags {
                writeln!(out, "  HDYN {} {}", tag.name(), string(tag.content))?;
            }
        }
        Err(finding) => writeln!(out, "  HDYN unreadable at {finding}")?,
    }
    for id in [b"VLST", b"ILST"] {
        for name in library.list(id).iter().flatten().filter_map(|group| group.tag(*b"NAME")) {
            writeln!(out, "  {} {}", id.escape_ascii(), string(name.content))?;
        }
    }
    Ok(())
}

/// Text with its NUL taken off.
fn string(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned()
}

fn print_function(
    library: &Library<'_>,
    function: &Function<'_>,
    out: &mut impl Write,
    code: bool,
) -> io::Result<()> {
    let kind = function_type_name(function.function_type).unwrap_or("unknown type");
    let place = match library.module(function) {
        Ok(module) => format!("module 0x{:06x}, {} bytes", module.at, module.bytes.len()),
        Err(finding) => format!("module unreadable at {finding}"),
    };
    writeln!(out, "    0x{:06x} {kind} {}: {place}", function.group.at(), function.name_text())?;
    if let Some((patch, points)) = function.patch() {
        writeln!(out, "      {patch} patch of {points} control points")?;
    }
    if let Some(layer) = function.layer_type() {
        writeln!(out, "      layer index {layer}")?;
    }
    for metadata in [library.public_metadata(function), library.private_metadata(function)] {
        match metadata {
            Ok(tags) => tags.iter().try_for_each(|tag| print_tag(tag, out))?,
            Err(finding) => writeln!(out, "      metadata unreadable at {finding}")?,
        }
    }
    if code {
        writeln!(out, "      SHA-256 {}", hex(function.hash))?;
        if let Ok(module) = library.module(function) {
            let kind = if module.is_bitcode() { "bitcode" } else { "no bitcode" };
            writeln!(out, "      {kind}, {} bytes in the wrapper", module.bitcode.len())?;
        }
    }
    Ok(())
}

fn type_text(code: u8) -> String {
    data_type_name(code).map_or_else(|| format!("type 0x{code:02x}"), Into::into)
}

fn print_tag(tag: &MetadataTag<'_>, out: &mut impl Write) -> io::Result<()> {
    match tag {
        MetadataTag::Constants(list) => list.iter().try_for_each(|c| {
            let unused = if c.active == 0 { ", unused" } else { "" };
            writeln!(out, "      constant {} {}: {}{unused}", c.index, type_text(c.data_type), string(c.name))
        }),
        MetadataTag::VertexAttributes(list) => list.iter().try_for_each(|a| {
            let unused = if a.is_active() { "" } else { ", unused" };
            writeln!(out, "      attribute {} {}: {}{unused}", a.index(), a.usage(), string(a.name))
        }),
        MetadataTag::VertexTypes(types) => {
            let types: Vec<_> = types.iter().map(|&code| type_text(code)).collect();
            writeln!(out, "      attribute types {}", types.join(", "))
        }
        MetadataTag::Return(code) => writeln!(out, "      returns {}", type_text(*code)),
        MetadataTag::Arguments(list) => list
            .iter()
            .try_for_each(|a| writeln!(out, "      argument {}: {}", type_text(a.data_type), string(a.name))),
        MetadataTag::Debug { line, path } => writeln!(out, "      from {}:{line}", string(path)),
        MetadataTag::Dependency(path) => writeln!(out, "      intermediate {}", string(path)),
        MetadataTag::Unknown(raw) => writeln!(out, "      {}, {} bytes", raw.name(), raw.content.len()),
    }
}

fn print_sources(library: &Library<'_>, out: &mut impl Write) -> io::Result<()> {
    let sources = match library.sources() {
        Ok(Some(sources)) => sources,
        Ok(None) => return Ok(()),
        Err(finding) => return writeln!(out, "  sources unreadable at {finding}"),
    };
    writeln!(out, "  sources, linked with `{}`", string(sources.link_options))?;
    if let Some(folder) = sources.working_directory {
        writeln!(out, "    working directory {}", string(folder))?;
    }
    for archive in &sources.archives {
        let (at, id, size) = (archive.data_at, string(archive.id), archive.data.len());
        writeln!(out, "    0x{at:06x} archive {id}, {size} bytes packed")?;
    }
    Ok(())
}

/// The `content` field of the JSON document.
pub fn json(library: &Library<'_>) -> Value {
    let header = &library.header;
    let (major, minor, update) = header.os_version;
    let sections = sections(library).into_iter().map(|(name, section)| {
        Value::object([
            ("name", Value::from(name)),
            ("offset", section.offset.into()),
            ("size", section.size.into()),
        ])
    });
    let dynamic = library.dynamic_tags().unwrap_or_default();
    let dynamic = dynamic.iter().map(|tag| {
        Value::object([("tag", Value::from(tag.name())), ("value", Value::from(string(tag.content)))])
    });
    let sources = library.sources().ok().flatten();
    Value::object([
        ("container", [header.major(), header.minor, header.patch].into_iter().collect()),
        ("type", header.library_type().map(|kind| kind.name()).into()),
        ("stub", header.is_stub().into()),
        ("platform", header.platform().map(|platform| platform.name()).into()),
        ("macos_bit", header.is_for_macos().into()),
        ("os", [major, minor.into(), update.into()].into_iter().collect()),
        ("oldest_macos", library.oldest_macos().into()),
        ("uuid", library.extension.and_then(|extension| extension.uuid()).map(uuid_text).into()),
        ("sections", sections.collect()),
        ("dynamic", dynamic.collect()),
        ("functions", library.functions.iter().map(|function| function_json(library, function)).collect()),
        ("sources", sources.map(|sources| sources_json(&sources)).into()),
    ])
}

fn function_json(library: &Library<'_>, function: &Function<'_>) -> Value {
    let Version { air, language } = function.version;
    let module = library.module(function).ok().map(|module| {
        Value::object([
            ("offset", Value::from(module.at)),
            ("size", module.bytes.len().into()),
            ("bitcode_size", module.bitcode.len().into()),
        ])
    });
    let tags = |tags: Vec<MetadataTag<'_>>| tags.iter().map(tag_json).collect::<Value>();
    let patch = function.patch().map(|(kind, points)| {
        Value::object([("kind", Value::from(kind)), ("control_points", points.into())])
    });
    Value::object([
        ("name", Value::from(function.name_text())),
        ("offset", function.group.at().into()),
        ("type", function_type_name(function.function_type).into()),
        ("type_code", function.function_type.into()),
        ("air", [air.0, air.1].into_iter().collect()),
        ("language", [language.0, language.1].into_iter().collect()),
        ("module", module.into()),
        ("sha256", Value::hex(function.hash)),
        ("public", library.public_metadata(function).ok().map(tags).into()),
        ("private", library.private_metadata(function).ok().map(tags).into()),
        ("source", function.source.into()),
        ("reflection", function.reflection.into()),
        ("layer", function.layer_type().into()),
        ("patch", patch.into()),
    ])
}

fn tag_json(tag: &MetadataTag<'_>) -> Value {
    let id = Value::from(tag.id().escape_ascii().to_string());
    let (name, value) = match tag {
        MetadataTag::Constants(list) => {
            let items = list.iter().map(|c| {
                Value::object([
                    ("name", Value::text(c.name)),
                    ("type", type_text(c.data_type).into()),
                    ("index", c.index.into()),
                    ("active", (c.active != 0).into()),
                ])
            });
            ("constants", items.collect())
        }
        MetadataTag::VertexAttributes(list) => {
            let items = list.iter().map(|a| {
                Value::object([
                    ("name", Value::text(a.name)),
                    ("index", a.index().into()),
                    ("use", a.usage().into()),
                    ("active", a.is_active().into()),
                ])
            });
            ("attributes", items.collect())
        }
        MetadataTag::VertexTypes(types) => ("types", types.iter().map(|&code| type_text(code)).collect()),
        MetadataTag::Return(code) => ("type", type_text(*code).into()),
        MetadataTag::Arguments(list) => {
            let items = list.iter().map(|a| {
                Value::object([
                    ("name", Value::text(a.name)),
                    ("type", type_text(a.data_type).into()),
                    ("extra", Value::hex(a.extra)),
                ])
            });
            ("arguments", items.collect())
        }
        MetadataTag::Debug { line, path } => {
            ("debug", Value::object([("line", Value::from(*line)), ("path", Value::text(path))]))
        }
        MetadataTag::Dependency(path) => ("path", Value::text(path)),
        MetadataTag::Unknown(raw) => ("bytes", Value::hex(raw.content)),
    };
    Value::object([("tag", id), (name, value)])
}

fn sources_json(sources: &Sources<'_>) -> Value {
    let archives = sources.archives.iter().map(|archive| {
        Value::object([
            ("id", Value::text(archive.id)),
            ("offset", archive.data_at.into()),
            ("section_offset", archive.offset.into()),
            ("packed_size", archive.data.len().into()),
        ])
    });
    Value::object([
        ("link_options", Value::text(sources.link_options)),
        ("working_directory", sources.working_directory.map(Value::text).into()),
        ("archives", archives.collect()),
    ])
}
