//! Known pictures: captures of the driver's tests and of Mesa's driver, which the simulator draws, and what the device makes of them.

use std::io::Read;
use std::time::Duration;

use bzip2::read::BzDecoder;
use vc4::facts::Facts;
use vc4_kernel_abi::GpuError;
use vc4_sim::capture::attachments::Attachment;
use vc4_sim::capture::read::Capture;
use vc4_sim::replay::{DeviceReplay, ReplayError};

use super::outcome::{Compared, Outcome};
use crate::differences::{Place, Suspects};
use crate::jobs::bench::{Bench, Failure, LIMIT};
use crate::jobs::picture::Picture;

/// A capture's name and its packed bytes.
type Known = (&'static str, &'static [u8]);

macro_rules! known {
    ($($name:literal,)*) => {
        &[$(($name, include_bytes!(concat!("../../../known/", $name, ".vc4cap.bz2")))),*]
    };
}

/// All of them; `tests/tests/known.rs` and `cargo xtask test --mesa` record them.
const KNOWN: &[Known] = known![
    "scenes/a2b10g10r10_blend",
    "scenes/bgra8_blend",
    "scenes/bgra8_srgb_blend",
    "scenes/clear",
    "scenes/corpus_blinn_phong",
    "scenes/corpus_checker_fragcoord",
    "scenes/corpus_front_facing",
    "scenes/corpus_gouraud",
    "scenes/corpus_vertex_color",
    "scenes/depth",
    "scenes/r16f_blend",
    "scenes/r5g6b5_add",
    "scenes/r8_blend",
    "scenes/rg16f_blend",
    "scenes/rg8_blend",
    "scenes/rgba8_srgb_blend",
    "scenes/texture_border",
    "scenes/texture_cube",
    "scenes/texture_r8",
    "scenes/texture_trilinear",
    "scenes/triangle",
    "drawing/clip-samples",
    "drawing/clip-triangles",
    "drawing/cull-lines",
    "drawing/cull-points",
    "drawing/cull-triangles",
    "drawing/draw-far-indices",
    "drawing/draw-indirect",
    "drawing/draw-restart",
    "drawing/input-color-depth",
    "drawing/input-first",
    "drawing/input-own-wide",
    "drawing/input-own",
    "drawing/input-partial-area",
    "drawing/input-samples",
    "drawing/input-stencil",
    "drawing/ms-alpha-to-coverage",
    "drawing/ms-blend",
    "drawing/ms-centroid",
    "drawing/ms-depth-stencil",
    "drawing/ms-edges",
    "drawing/ms-load-store",
    "drawing/ms-partial-area",
    "drawing/ms-resolve-image",
    "drawing/ms-sample-mask",
    "drawing/pass-depth-then-color",
    "drawing/polygon-bias",
    "drawing/polygon-lines-clipped",
    "drawing/polygon-lines-culled",
    "drawing/polygon-lines-plain",
    "drawing/polygon-lines",
    "drawing/polygon-points-culled",
    "drawing/polygon-points-index",
    "drawing/polygon-points",
    "drawing/query-occlusion",
    "drawing/query-timestamps",
    "drawing/query-without-attachments",
    "drawing/rendering-parts",
    "drawing/rendering-resolves",
    "drawing/rendering-views",
    "drawing/sample-interpolation-one",
    "drawing/sample-interpolation",
    "drawing/sample-number",
    "drawing/sample-shading",
    "drawing/stencil-two-sided",
    "drawing/switches-strides",
    "drawing/switches",
    "drawing/targets-load",
    "drawing/targets-locations",
    "drawing/targets-other-formats",
    "drawing/targets-resolve",
    "drawing/targets-three",
    "drawing/targets-wide",
    "drawing/varyings-centroid",
    "drawing/varyings-fetched",
    "drawing/varyings-points",
    "drawing/views-samples",
    "drawing/views",
    "mesa/attribute_formats",
    "mesa/blend_layers",
    "mesa/blend_separate",
    "mesa/clipping",
    "mesa/color_masks",
    "mesa/culling",
    "mesa/depth_functions",
    "mesa/indices_u16",
    "mesa/lines",
    "mesa/many_varyings",
    "mesa/multisample_edges",
    "mesa/perspective",
    "mesa/point_sprites",
    "mesa/points",
    "mesa/polygon_offset",
    "mesa/render_to_texture",
    "mesa/shader_loops",
    "mesa/stencil_operations",
    "mesa/target_565",
    "mesa/texture_cube_nearest",
    "mesa/texture_etc1",
    "mesa/texture_formats",
    "mesa/texture_mip_levels",
    "mesa/texture_npot",
    "mesa/torus",
    "mesa/triangles",
    "mesa/wide_lines",
];

/// How many differing pictures are named in a line.
const NAMED: usize = 4;

/// Runs all captures. Differences are no failure: silicon and simulator may differ where nobody knows better.
pub fn pictures(bench: &Bench<'_>) -> Result<Outcome, Failure> {
    let (mut differing, mut suspects) = (Vec::new(), Suspects::default());
    for known in KNOWN {
        differing.extend(one(bench, known, &mut suspects)?);
    }
    let said = match differing.len() {
        0 => format!("{} known pictures", KNOWN.len()),
        count => {
            let names: Vec<&str> =
                differing.iter().map(|compared: &Compared| compared.name).take(NAMED).collect();
            let more = if count > NAMED { ", …" } else { "" };
            format!(
                "{count} of {} known pictures are not the simulator's: {}{more}",
                KNOWN.len(),
                names.join(", ")
            )
        }
    };
    Ok(Outcome { differing, ..Outcome::said(said) })
}

fn capture((name, packed): &Known) -> Result<Capture, Failure> {
    let damaged = |error: &dyn std::fmt::Display| Failure::Wrong(format!("{name}: {error}"));
    let mut bytes = Vec::new();
    BzDecoder::new(*packed).read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
    Capture::read(&bytes[..]).map_err(|error| damaged(&error))
}

/// The first picture of a capture that is different, if one is.
fn one(bench: &Bench<'_>, known: &Known, suspects: &mut Suspects) -> Result<Option<Compared>, Failure> {
    let (name, capture) = (known.0, capture(known)?);
    let mut replay = DeviceReplay::new(&capture, bench.gpu);
    while let Some(step) = replay.step(LIMIT) {
        let number = replay.position() - 1;
        let entry = &capture.entries[number];
        let replayed = step.map_err(|error| match error {
            ReplayError::Device(error) => Failure::Call(error),
            other => Failure::Wrong(format!("{name}: {other}")),
        })?;
        if let Some(what) = replayed.done.as_ref().and_then(|done| done.hang.as_ref()) {
            return Err(Failure::Call(GpuError::Hang(format!("{name}: {what}"))));
        }
        if let Some(why) = replayed.refused {
            return Err(Failure::Wrong(format!("{name}: {why}")));
        }
        let took = Duration::from_nanos(replayed.done.as_ref().map_or(0, |done| done.nanoseconds));
        if replayed.differences(&entry.outcome).is_empty() {
            continue;
        }
        for attachment in Attachment::stored_by(&entry.submission.submit) {
            let Some(bo) = entry.bos.get(attachment.bo) else { continue };
            let picture = |words| Picture { width: attachment.width, height: attachment.height, words };
            let bytes = replay.contents(bo.key, attachment.offset, attachment.bytes()).unwrap_or_default();
            let seen = picture(attachment.words(&bytes));
            // What must be there is known by its hash; its pixels the simulator draws again.
            let place = Place { capture: &capture, number, bo: bo.key, attachment: &attachment };
            let drawn = place.words(Facts::default());
            let expected =
                picture(drawn.ok_or_else(|| Failure::Wrong(format!("{name}: it cannot be drawn")))?);
            if let Err(why) = seen.compare(&expected, 0) {
                let rests = suspects.of(&place, &expected, &seen);
                return Ok(Some(Compared {
                    name,
                    why: format!("{}: {why}{}{rests}", attachment.name, bench.suspicion(took)),
                    seen,
                    expected,
                }));
            }
        }
        // Words beside the picture: what a store does there is another question.
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed() {
        let mut files = Vec::new();
        for suite in ["scenes", "drawing", "mesa"] {
            let folder = format!("{}/known/{suite}", env!("CARGO_MANIFEST_DIR"));
            for entry in std::fs::read_dir(folder).expect("the folder") {
                let name = entry.expect("an entry").file_name().into_string().expect("a plain name");
                files.push(format!("{suite}/{}", name.trim_end_matches(".vc4cap.bz2")));
            }
        }
        let mut listed: Vec<String> = KNOWN.iter().map(|known| known.0.to_owned()).collect();
        files.sort();
        listed.sort();
        assert_eq!(files, listed);
    }
}
