//! Counts of the corpus, so that a change shows in review. `UPDATE_GOLDEN=1` rewrites them where the shared corpus is.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use vc4_tests::corpus::{Baseline, Counts, Module, PROGRAMS};
use vc4_tests::shared;

/// What the file begins with.
const HEAD: &str = "# The shader corpus compiled for RGBA8 colour with depth test: our counts, then those of Mesa 22.3.6.\n\
    # slots: the cost model's estimate (vc4 cost) for either's words.\n\
    shader\tprogram\tinst\tuniforms\tslots\tthreads\tmesa_inst\tmesa_uniforms\tmesa_slots\tmesa_threads\n";

type Table = BTreeMap<(String, String), [Counts; 2]>;

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden/compile/counts.tsv")
}

fn read() -> Table {
    let text = std::fs::read_to_string(path()).expect("the counts are committed");
    let rows = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("shader\t"));
    rows.map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let counts = |at: usize| {
            let [instructions, uniforms, slots, threads] =
                [0, 1, 2, 3].map(|n| fields[at + n].parse().expect("a count"));
            Counts { instructions, uniforms, slots, threads }
        };
        ((fields[0].to_string(), fields[1].to_string()), [counts(2), counts(6)])
    })
    .collect()
}

fn write(table: &Table) {
    let mut text = HEAD.to_string();
    for ((name, program), counts) in table {
        write!(text, "{name}\t{program}").expect("writing to a string does not fail");
        for Counts { instructions, uniforms, slots, threads } in counts {
            write!(text, "\t{instructions}\t{uniforms}\t{slots}\t{threads}")
                .expect("writing to a string does not fail");
        }
        text.push('\n');
    }
    std::fs::write(path(), text).expect("the golden file can be written");
}

/// The counts of the committed part of the corpus are those of the table.
#[test]
fn counts() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("shaders/corpus");
    let table = read();
    let mut stale = Vec::new();
    let mut compared = 0;
    let names: std::collections::BTreeSet<&String> = table.keys().map(|(name, _)| name).collect();
    for name in names {
        let Ok(module) = Module::read(&directory, name) else { continue };
        let pipeline = module.compile().expect("committed shaders compile");
        for (program, counts) in PROGRAMS.iter().zip(Counts::of_pipeline(&pipeline)) {
            let [golden, _] = table[&(name.clone(), program.to_string())];
            compared += 1;
            if golden != counts {
                stale.push(format!("{name} {program}: {golden:?} -> {counts:?}"));
            }
        }
    }
    assert!(compared > 30, "the committed corpus has {compared} programs of the table");
    let advice = "if that is meant, run measure_corpus with UPDATE_GOLDEN=1";
    assert!(
        stale.is_empty() || std::env::var_os("UPDATE_GOLDEN").is_some(),
        "{advice}\n{}",
        stale.join("\n")
    );
}

/// What the table reaches against Mesa's compiler.
#[test]
fn ratios() {
    let table = read();
    let [ours, mesa] = table.values().fold([Counts::default(); 2], |[a, b], &[x, y]| [a.plus(x), b.plus(y)]);
    let ratio = |a: u32, b: u32| f64::from(a) / f64::from(b);
    let instructions = ratio(ours.instructions, mesa.instructions);
    let (uniforms, slots) = (ratio(ours.uniforms, mesa.uniforms), ratio(ours.slots, mesa.slots));
    println!("instructions {instructions:.3}, uniforms {uniforms:.3}, slots {slots:.3}");
    assert!(instructions <= 0.73, "{instructions:.3} of Mesa's instructions");
    assert!(uniforms <= 0.87, "{uniforms:.3} of Mesa's uniforms");
    assert!(slots <= 0.75, "{slots:.3} of Mesa's slots");
}

/// The whole table: `cargo test -p vc4-tests --test compiler -- --ignored measure_corpus`.
#[test]
#[ignore = "reads the shared corpus and needs glslangValidator"]
fn measure_corpus() {
    assert!(shared::available(), "the shader corpus lies beside the repository, in shared/shader-corpus");
    let baseline = Baseline::read();
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut table = Table::new();
    for name in baseline.names() {
        let module = Module::from_corpus(&directory, &name).unwrap_or_else(|error| panic!("{error}"));
        let pipeline = module.compile().unwrap_or_else(|error| panic!("{name}: {error}"));
        for (program, counts) in PROGRAMS.iter().zip(Counts::of_pipeline(&pipeline)) {
            let key = (name.clone(), program.to_string());
            let mesa = baseline.programs[&key];
            table.insert(key, [counts, mesa]);
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write(&table);
    }
    assert!(
        read() == table,
        "the counts differ from tests/golden/compile/counts.tsv; UPDATE_GOLDEN=1 rewrites it"
    );
}
