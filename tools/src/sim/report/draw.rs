//! Draws of a report.

use vc4::cl::packets::{IndexedPrimitiveList, VertexArrayPrimitives};
use vc4::cl::records::ShaderRecord;
use vc4::cl::words::TextureWords;
use vc4::cl::{AnyPacket, Reader};
use vc4_sim::capture::attachments::Picture;
use vc4_sim::profile::{DrawInfo, Profile, Work};
use vc4_sim::state::State;

use super::json::{Object, list};
use super::places::Places;
use super::pools::{Pool, Pools};
use super::program::{listing, stage_name, uniforms};
use crate::output::json_string;
use crate::picture;

/// What a draw packet says.
struct Call {
    /// Byte in the list.
    offset: usize,
    mode: &'static str,
    count: u32,
    vertices: String,
}

/// The draw packets of a binning list, in order.
fn calls(list: &[u8]) -> Vec<Call> {
    let call = |item: vc4::cl::list::Item| match item.packet {
        AnyPacket::VertexArrayPrimitives(VertexArrayPrimitives { mode, count, first }) => Some(Call {
            offset: item.offset,
            mode: mode.name(),
            count,
            vertices: format!("from vertex {first}"),
        }),
        AnyPacket::IndexedPrimitiveList(IndexedPrimitiveList {
            mode, index_type, count, max_index, ..
        }) => {
            let vertices = format!("{} indices up to {max_index}", index_type.name());
            Some(Call { offset: item.offset, mode: mode.name(), count, vertices })
        }
        _ => None,
    };
    Reader::new(list).map_while(Result::ok).filter_map(call).collect()
}

/// Bytes of the binning list at which the draws stand.
pub fn offsets(profile: &Profile) -> Vec<usize> {
    profile.bin.iter().flat_map(|bin| calls(&bin.bytes)).map(|call| call.offset).collect()
}

/// All draws of a job.
pub fn draws(profile: &Profile, places: &Places, pictures: bool, pools: &mut Pools) -> String {
    let mut calls = profile.bin.iter().flat_map(|bin| calls(&bin.bytes));
    let mut out = Vec::new();
    for (number, info) in (0..).zip(&profile.draws) {
        let call = calls.next();
        let call = call.as_ref();
        let textures =
            if pictures { textures(profile, info, places, &mut pools.pictures) } else { "[]".into() };
        let programs = info.programs.iter().map(|program| {
            let place = (number, program.stage);
            let work = profile.counts.programs.get(&place).copied().unwrap_or_default();
            let lines = profile.counts.lines.get(&place).map(Vec::as_slice).unwrap_or_default();
            Object::new()
                .text("stage", stage_name(program.stage))
                .raw("program", pools.programs.number(listing(program)))
                .text("at", &places.show(program.address))
                .raw("work", work_list(&work))
                .raw("lines", counts(lines))
                .raw("uniforms", uniforms(program, places))
                .end()
        });
        let programs = list(programs);
        out.push(
            Object::new()
                .text("mode", call.map_or("", |call| call.mode))
                .raw("count", call.map_or(0, |call| call.count))
                .text("source", call.map_or("", |call| call.vertices.as_str()))
                .raw("vertices", info.vertices)
                .raw("primitives", info.primitives)
                .raw("state", state(&info.state))
                .raw("record", record(&info.record, places))
                .raw("attributes", attributes(&info.record, places))
                .raw("textures", textures)
                .raw("programs", programs)
                .end(),
        );
    }
    list(out)
}

/// What a draw's programs look up, each texture once: stage, BO, description, picture and its size.
fn textures(profile: &Profile, info: &DrawInfo, places: &Places, pictures: &mut Pool) -> String {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for program in &info.programs {
        for words in program.texture_requests() {
            let Some(texture) = profile.textures.get(&words).filter(|_| !seen.contains(&words)) else {
                continue;
            };
            seen.push(words);
            let Ok(config) = TextureWords::from_bits(words[0], words[1]) else { continue };
            let pixels = texture.pixels.iter().flat_map(|word| (word | 0xff00_0000).to_le_bytes()).collect();
            let (width, height) = texture.size();
            // Memory is the only place that the encoder writes to.
            let Ok(file) = picture::png(width, height, &Picture::Rgba(pixels)) else { continue };
            let (levels, ty) = (config.levels(), config.ty.name());
            let plural = if levels == 1 { "" } else { "s" };
            let note = format!("{} x {} {ty}, {levels} level{plural}", texture.width, texture.height);
            out.push(list([
                json_string(stage_name(program.stage)),
                json_string(&places.show(config.p0.base.get())),
                json_string(&note),
                width.to_string(),
                height.to_string(),
                pictures.number(json_string(&picture::data_uri(&file))).to_string(),
            ]));
        }
    }
    list(out)
}

/// Instances, instructions, cycles, lookups, quads, pixels.
pub fn work_list(work: &Work) -> String {
    list([work.instances, work.instructions, work.cycles, work.lookups, work.quads, work.pixels])
}

/// One number when all lines have it.
fn counts(lines: &[u64]) -> String {
    match lines {
        [first, rest @ ..] if rest.iter().all(|count| count == first) => first.to_string(),
        _ => list(lines),
    }
}

/// ` name=value name=value` as pairs.
fn pairs(fields: &str) -> impl Iterator<Item = (&str, &str)> {
    fields.split_whitespace().filter_map(|field| field.split_once('='))
}

fn packet(packet: AnyPacket) -> String {
    let (mut own, mut usual) = (String::new(), String::new());
    packet.put_fields(&mut own);
    if let Some(default) = AnyPacket::from_name(packet.name()) {
        default.put_fields(&mut usual);
    }
    let fields = pairs(&own).zip(pairs(&usual)).map(|((name, value), (_, default))| {
        list([json_string(name), json_string(value), u8::from(value != default).to_string()])
    });
    list([json_string(packet.name()), list(fields)])
}

fn state(state: &State) -> String {
    let window = state.clip_window.map(AnyPacket::from);
    let packets = [
        Some(state.config.into()),
        window,
        Some(state.viewport.into()),
        Some(state.clipper_xy.into()),
        Some(state.clipper_z.into()),
        Some(state.depth_offset.into()),
        Some(state.flat.into()),
        Some(state.point_size.into()),
        Some(state.line_width.into()),
    ];
    list(packets.into_iter().flatten().map(packet))
}

fn record(record: &ShaderRecord, places: &Places) -> String {
    let mut flags = String::new();
    record.flags.put_fields(&mut flags);
    let rows = pairs(&flags).map(|(name, value)| (name.to_owned(), value.to_owned()));
    let vertex = |name: &str, program: &vc4::cl::records::VertexProgram| {
        [
            (
                format!("{name} attributes"),
                format!("{:#04x}, {} bytes", program.attribute_select, program.attribute_bytes),
            ),
            (format!("{name} code"), places.show(program.code)),
        ]
    };
    let rows = rows
        .chain([
            ("varyings".into(), record.varyings.to_string()),
            ("fragment code".into(), places.show(record.fragment_code)),
            ("extended strides".into(), record.extended.to_string()),
        ])
        .chain(vertex("vertex", &record.vertex))
        .chain(vertex("coordinate", &record.coordinate));
    list(rows.map(|(name, value)| list([json_string(&name), json_string(&value)])))
}

fn attributes(record: &ShaderRecord, places: &Places) -> String {
    let loaded = |select: u8, n: usize, offset: u8| match select >> n & 1 {
        0 => "–".into(),
        _ => format!("byte {offset}"),
    };
    list(record.attributes.iter().enumerate().map(|(n, array)| {
        list([
            json_string(&places.show(array.address)),
            array.bytes.to_string(),
            array.stride.to_string(),
            json_string(&loaded(record.vertex.attribute_select, n, array.vertex_offset)),
            json_string(&loaded(record.coordinate.attribute_select, n, array.coordinate_offset)),
        ])
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_counts_are_one_number() {
        assert_eq!(counts(&[3, 3, 3]), "3");
        assert_eq!(counts(&[3, 2]), "[3,2]");
        assert_eq!(counts(&[]), "[]");
    }

    #[test]
    fn changed_fields_are_marked() {
        let window = vc4::cl::packets::ClipWindow { left: 3, ..Default::default() };
        let text = packet(window.into());
        assert!(text.starts_with(r#"["CLIP_WINDOW",[["left","3",1],["bottom","0",0]"#), "{text}");
    }
}
