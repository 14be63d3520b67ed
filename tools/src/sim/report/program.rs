//! Programs of a report: listing, estimate, and what their uniforms are.

use vc4::cl::words::{TextureExtra, TextureWords};
use vc4::qpu::cost::{Cost, LineCost, Wait};
use vc4::qpu::uniforms::{UniformSource, uniform_reads};
use vc4::qpu::{Inst, Stage, Waddr};
use vc4_sim::profile::DrawProgram;

use super::json::{Object, list, texts};
use super::places::Places;
use crate::output::json_string;

pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Coordinate => "coordinate",
        Stage::Vertex => "vertex",
        Stage::Fragment => "fragment",
    }
}

/// The program itself: equal code is equal text.
pub fn listing(program: &DrawProgram) -> String {
    let cost = Cost::of(&program.code);
    let lines = program.code.get(..cost.lines.len()).unwrap_or(&program.code);
    let waits = cost.lines.iter().map(|line| match line.reason {
        None => "",
        Some(Wait::Tmu) => "TMU",
        Some(Wait::Uniform) => "uniforms",
        Some(Wait::Vpm) => "VPM",
    });
    let shared = cost.shared.iter().filter(|unit| unit.accesses > 0).map(|unit| {
        Object::new().text("name", unit.name).raw("accesses", unit.accesses).raw("slots", unit.slots).end()
    });
    Object::new()
        .text("stage", stage_name(program.stage))
        .raw("code", texts(lines.iter().map(Inst::to_string)))
        .list("slots", cost.lines.iter().map(LineCost::slots))
        .raw("waits", texts(waits))
        .raw("nops", cost.nops)
        .raw("branches", cost.branches)
        .raw("threaded", cost.threaded)
        .raw("cycles", cost.cycles())
        .text("limit", cost.limit().map_or("issue", |unit| unit.name))
        .list("shared", shared)
        .end()
}

/// The uniform words with the instruction that takes each and what it means.
pub fn uniforms(program: &DrawProgram, places: &Places) -> String {
    let mut units = [Vec::new(), Vec::new()];
    let rows = uniform_reads(&program.code).into_iter().zip(&program.uniforms).map(|(read, &word)| {
        let text = match read.source {
            UniformSource::Read => plain(word, places),
            UniformSource::Tmu(waddr) => parameter(&mut units, waddr, word, places),
        };
        list([read.instruction.to_string(), word.to_string(), json_string(&text)])
    });
    list(rows)
}

/// What a word may be: a float, a small number, an address in a BO.
fn plain(word: u32, places: &Places) -> String {
    let float = f32::from_bits(word);
    let mut text = match float.abs() {
        _ if word == 0 => "0".into(),
        size if size.is_finite() && (1e-12..1e12).contains(&size) => format!("{float:?}"),
        _ => (word as i32).to_string(),
    };
    if let Some(place) = places.name(word) {
        text.push_str(&format!(", or {place}"));
    }
    text
}

/// The configuration words of a request come in the order of its parameters; the write of s sends it.
fn parameter(units: &mut [Vec<u32>; 2], waddr: Waddr, word: u32, places: &Places) -> String {
    let unit = usize::from(waddr.tmu().unwrap_or(0)) & 1;
    let words = &mut units[unit];
    words.push(word);
    let number = words.len() - 1;
    let mut fields = String::new();
    match words[..] {
        // Only both words together tell the type; the first is printed as if it were complete.
        [p0] => {
            if let Ok(texture) = TextureWords::from_bits(p0, 0) {
                texture.p0.put_fields(&mut fields);
            }
            fields = format!("{}{fields}", places.name(p0 & !0xfff).unwrap_or_default());
        }
        [p0, p1] => {
            if let Ok(texture) = TextureWords::from_bits(p0, p1) {
                texture.p1.put_fields(&mut fields);
                fields = format!("type {}{fields}", texture.ty.name());
            }
        }
        [.., extra] => {
            if let Ok(TextureExtra::Cube(cube)) = TextureExtra::from_bits(extra) {
                cube.put_fields(&mut fields);
            }
        }
        [] => {}
    }
    if matches!(waddr, Waddr::TMU0_S | Waddr::TMU1_S) {
        words.clear();
    }
    format!("TMU{unit} p{number}: {}", fields.trim())
}
