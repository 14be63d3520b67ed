//! What is told of compiled programs.

use vc4::qpu::{Cost, Inst};
use vc4_shaders::compile::ProgramKind;
use vc4_shaders::program::{Pipeline, Program};

use super::listing::listing;
use super::temps;
use crate::output::Error;

/// The programs that there are, with the baseline's short names.
fn programs(pipeline: &Pipeline) -> impl Iterator<Item = (ProgramKind, &'static str, &Program)> {
    let all = [
        (ProgramKind::Vertex, "VS", &pipeline.vertex),
        (ProgramKind::Coordinate, "CS", &pipeline.coordinate),
        (ProgramKind::Fragment, "FS", &pipeline.fragment),
    ];
    all.into_iter().filter(|(_, _, program)| !program.code.is_empty())
}

/// The checker's name of a program's stage.
pub fn stage_of(kind: ProgramKind) -> vc4::qpu::Stage {
    match kind {
        ProgramKind::Vertex => vc4::qpu::Stage::Vertex,
        ProgramKind::Coordinate => vc4::qpu::Stage::Coordinate,
        ProgramKind::Fragment => vc4::qpu::Stage::Fragment,
    }
}

/// The programs as text.
pub fn assembly(pipeline: &Pipeline) -> String {
    let one = |(kind, _, program): (ProgramKind, _, &Program)| format!("# {kind}\n{}\n", listing(program));
    programs(pipeline).map(one).collect()
}

/// A row of the statistics.
struct Row {
    stage: &'static str,
    instructions: u32,
    uniforms: usize,
    threads: u8,
    max_temps: u32,
    /// Slots of one run: what the baseline calls cycles.
    slots: u32,
}

fn rows(pipeline: &Pipeline) -> Result<Vec<Row>, Error> {
    let row = |(kind, stage, program): (ProgramKind, &'static str, &Program)| {
        let decode =
            |&word| Inst::decode(word).map_err(|e| Error::Input(format!("{kind}: {word:#018x}: {e}")));
        let insts = program.code.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        let cost = Cost::of(&insts);
        Ok(Row {
            stage,
            instructions: cost.instructions,
            uniforms: program.uniforms.len(),
            threads: if program.threaded { 2 } else { 1 },
            max_temps: temps::max_temps(stage_of(kind), &insts),
            slots: cost.slots(),
        })
    };
    programs(pipeline).map(row).collect()
}

/// Their figures, tab-separated.
pub fn table(name: &str, pipeline: &Pipeline) -> Result<String, Error> {
    // A name may hold anything; a tab or line end would break the table.
    let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let mut out = String::from("shader\tstage\tinst\tuniforms\tthreads\tmax_temps\test_cycles\n");
    for row in rows(pipeline)? {
        out.push_str(&format!(
            "{name}\t{}\t{}\t{}\t{}\t{}\t{}\n",
            row.stage, row.instructions, row.uniforms, row.threads, row.max_temps, row.slots
        ));
    }
    Ok(out)
}

/// Their figures in words.
pub fn summary(pipeline: &Pipeline) -> Result<String, Error> {
    let mut out = String::new();
    for row in rows(pipeline)? {
        out.push_str(&format!(
            "{}: {} instructions, {} uniforms, {}, at most {} registers in use, {} slots\n",
            row.stage,
            row.instructions,
            row.uniforms,
            if row.threads == 2 { "two threads" } else { "one thread" },
            row.max_temps,
            row.slots
        ));
    }
    Ok(out)
}
