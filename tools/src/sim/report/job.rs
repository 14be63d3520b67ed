//! Submissions of a report.

use std::collections::BTreeMap;

use vc4::cl::dump::dump;
use vc4_kernel_abi::{Submit, Surface};
use vc4_sim::capture::attachments::Attachment;
use vc4_sim::capture::read::{Entry, Outcome};
use vc4_sim::profile::Profile;
use vc4_sim::replay::{Replay, Replayed};

use super::draw::{draws, offsets, work_list};
use super::json::{Object, list, texts};
use super::places::{Places, title};
use super::pools::Pools;
use crate::output::json_string;
use crate::picture;

/// A submission that ran again.
pub fn submission(
    number: usize,
    entry: &Entry,
    names: &BTreeMap<u32, String>,
    (replayed, replay): (&Replayed, &Replay),
    pictures: bool,
    pools: &mut Pools,
) -> String {
    let submit = &entry.submission.submit;
    let titles: Vec<String> = entry.bos.iter().map(|bo| title(names, bo.key)).collect();
    let empty = Profile::default();
    let profile = replayed.profile.as_ref().unwrap_or(&empty);
    let (status, note) = status(replayed);
    let places = Places::new(profile, titles.clone());
    let object = Object::new()
        .raw("n", number)
        .text("status", status)
        .text("note", note)
        .raw("differs", texts(replayed.differences(&entry.outcome)))
        .raw("size", list([submit.width, submit.height]))
        .raw("area", list(submit.tiles))
        .raw("ms", replayed.done.as_ref().map_or(0.0, |done| done.nanoseconds as f64 / 1e6))
        .raw("fields", fields(entry, &titles))
        .raw("bos", bos(entry, &titles))
        .raw("pictures", if pictures { stored(entry, &titles, replayed, replay, pools) } else { "[]".into() })
        .raw("tiles", list([profile.tiles.columns, profile.tiles.rows, profile.tiles.edge as usize]))
        .list("tilePrimitives", &profile.tile_primitives)
        .raw("tileWork", tile_work(profile))
        .raw("total", work_list(&profile.counts.total()))
        .raw("draws", draws(profile, &places, pictures, pools))
        .list("counters", profile.stats.counters.all())
        .raw("findings", texts(profile.stats.findings.iter().map(ToString::to_string)));
    lists(object, submit, profile, pools).end()
}

/// In a word, and why.
fn status(replayed: &Replayed) -> (&'static str, &str) {
    match (&replayed.done, &replayed.refused) {
        (Some(done), _) => match &done.hang {
            Some(why) => ("hung", why),
            None => ("done", ""),
        },
        (None, Some(why)) => ("refused", why),
        (None, None) => ("failed", ""),
    }
}

/// Both lists by their numbers, and the lines of the binning list at which draws stand.
fn lists(object: Object, submit: &Submit, profile: &Profile, pools: &mut Pools) -> Object {
    let mut number = |bytes: &[u8]| pools.lists.number(texts(dump(bytes).lines()));
    let (bin, lines) = match &profile.bin {
        // It never became a job: what the program wrote is all there is.
        None if !submit.bin_cl.is_empty() => (number(&submit.bin_cl) as i64, Vec::new()),
        None => (-1, Vec::new()),
        Some(bin) => {
            let packets = vc4::cl::Reader::new(&bin.bytes).map_while(Result::ok);
            let starts: Vec<usize> = packets.map(|item| item.offset).collect();
            let line = |offset: usize| starts.binary_search(&offset).ok();
            (number(&bin.bytes) as i64, offsets(profile).into_iter().filter_map(line).collect())
        }
    };
    let render = if profile.render.bytes.is_empty() { -1 } else { number(&profile.render.bytes) as i64 };
    object.raw("bin", bin).list("binDraws", lines).raw("render", render)
}

/// Tile, draw, then the work.
fn tile_work(profile: &Profile) -> String {
    list(profile.counts.tiles.iter().map(|((tile, draw), work)| {
        format!("[{tile},{draw},{}]", work_list(work).trim_start_matches('[').trim_end_matches(']'))
    }))
}

fn at(bo: &str, offset: u32) -> String {
    if offset == 0 { bo.into() } else { format!("{bo} + {offset:#x}") }
}

fn surface(titles: &[String], surface: Option<Surface>) -> String {
    let Some(Surface { bo_index, offset, bits, flags }) = surface else { return "none".into() };
    let bo = titles.get(bo_index as usize).map_or("no BO", String::as_str);
    format!("{}, bits {bits:#06x}, flags {flags}", at(bo, offset))
}

/// The submission's own fields.
fn fields(entry: &Entry, titles: &[String]) -> String {
    let Submit {
        bin_cl,
        shader_rec,
        shader_rec_count,
        uniforms,
        width,
        height,
        tiles,
        clear_color,
        clear_z,
        clear_s,
        flags,
        ..
    } = &entry.submission.submit;
    let submit = &entry.submission.submit;
    let [x0, y0, x1, y1] = tiles;
    let mut rows = vec![
        ("width x height", format!("{width} x {height}")),
        ("tiles", format!("{x0},{y0} to {x1},{y1}")),
        ("bin_cl", format!("{} bytes", bin_cl.len())),
        ("shader_rec", format!("{} bytes, {shader_rec_count} records", shader_rec.len())),
        ("uniforms", format!("{} bytes", uniforms.len())),
    ];
    for (name, value) in [
        ("color_read", submit.color_read),
        ("color_write", submit.color_write),
        ("zs_read", submit.zs_read),
        ("zs_write", submit.zs_write),
        ("msaa_color_write", submit.msaa_color_write),
        ("msaa_zs_write", submit.msaa_zs_write),
    ] {
        rows.push((name, surface(titles, value)));
    }
    let names: Vec<&str> = flags.iter_names().map(|(name, _)| name).collect();
    rows.push(("clear_color", format!("{:#010x} {:#010x}", clear_color[0], clear_color[1])));
    rows.push(("clear_z", format!("{clear_z:#08x}")));
    rows.push(("clear_s", format!("{clear_s:#04x}")));
    rows.push(("flags", format!("{:#x} {}", flags.bits(), names.join(" "))));
    let handles = &entry.submission;
    rows.push(("in_sync, out_sync", format!("{}, {}", handles.in_sync, handles.out_sync)));
    rows.push(("perfmonid", handles.perfmon.to_string()));
    if let Outcome::Done(done) = &entry.outcome {
        rows.push(("recorded", format!("seqno {}, {:.2} ms", done.seqno, done.nanoseconds as f64 / 1e6)));
    }
    list(rows.iter().map(|(name, value)| list([json_string(name), json_string(value)])))
}

/// Title, handle, bytes, kind, and what the submission stores there.
fn bos(entry: &Entry, titles: &[String]) -> String {
    let written = entry.submission.written();
    let handles = &entry.submission.submit.bos;
    list(entry.bos.iter().zip(handles).enumerate().map(|(place, (bo, handle))| {
        let kind = if bo.shader { "shader" } else { "data" };
        let changed: usize =
            entry.updates.iter().filter(|update| update.key == bo.key).map(|update| update.pages.len()).sum();
        let stored = u8::from(written.contains(&place)).to_string();
        list([
            json_string(&titles[place]),
            handle.0.to_string(),
            bo.bytes.to_string(),
            json_string(kind),
            changed.to_string(),
            stored,
        ])
    }))
}

/// Name, layout, width, height, picture of what the job stored.
fn stored(
    entry: &Entry,
    titles: &[String],
    replayed: &Replayed,
    replay: &Replay,
    pools: &mut Pools,
) -> String {
    if replayed.done.is_none() {
        return "[]".into();
    }
    let mut out = Vec::new();
    for attachment in Attachment::stored_by(&entry.submission.submit) {
        let Some(bo) = entry.bos.get(attachment.bo) else { continue };
        let Some(bytes) = replay.contents(bo.key, attachment.offset, attachment.bytes()) else { continue };
        for (name, pixels) in attachment.pictures(&bytes) {
            // Memory is the only place that the encoder writes to.
            let Ok(file) = picture::png(attachment.width, attachment.height, &pixels) else { continue };
            let number = pools.pictures.number(json_string(&picture::data_uri(&file)));
            let place = at(&titles[attachment.bo], attachment.offset);
            let note = format!("{place}, {}", attachment.layout());
            out.push(list([
                json_string(&name),
                json_string(&note),
                attachment.width.to_string(),
                attachment.height.to_string(),
                number.to_string(),
            ]));
        }
    }
    list(out)
}
