//! What the compiler makes of the corpus, beside what Mesa's compiler made of it: counts, the cost model's slots and
//! times. `cargo xtask bench compiler` prints it, the compiler suite holds the counts.

use std::collections::BTreeMap;

use vc4::qpu::{Cost, Inst};
use vc4_shaders::program::Pipeline;

use crate::outside::shared;

/// The programs of a pipeline as the baseline names them.
pub const PROGRAMS: [&str; 3] = ["VS", "CS", "FS"];

/// What a program costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions.
    pub instructions: u32,
    /// Words of the uniform stream.
    pub uniforms: u32,
    /// Slots that the cost model estimates (qpu.md §7).
    pub slots: u32,
    /// Threads, 1 or 2.
    pub threads: u32,
}

impl Counts {
    /// Of code, whoever compiled it.
    pub fn of(code: &[u64], uniforms: u32) -> Counts {
        let insts: Vec<Inst> = code.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
        let cost = Cost::of(&insts);
        let threads = if cost.threaded { 2 } else { 1 };
        Counts { instructions: code.len() as u32, uniforms, slots: cost.slots(), threads }
    }

    /// Of a pipeline's programs, in the order of [`PROGRAMS`].
    pub fn of_pipeline(pipeline: &Pipeline) -> [Counts; 3] {
        [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment]
            .map(|program| Counts::of(&program.code, program.uniforms.len() as u32))
    }

    /// These and others.
    pub fn plus(self, other: Counts) -> Counts {
        Counts {
            instructions: self.instructions + other.instructions,
            uniforms: self.uniforms + other.uniforms,
            slots: self.slots + other.slots,
            threads: self.threads + other.threads,
        }
    }
}

/// What Mesa's compiler made of the corpus.
pub struct Baseline {
    /// Lines that say how and where it was measured.
    pub origin: Vec<String>,
    /// By shader and program. Slots are the cost model's for Mesa's words, not Mesa's own estimate.
    pub programs: BTreeMap<(String, String), Counts>,
    /// Microseconds that a shader took to link and to draw first, by name.
    pub compile_us: BTreeMap<String, f64>,
}

impl Baseline {
    /// Reads it from the shared inputs.
    ///
    /// # Panics
    /// If they are not there or not as their README says.
    pub fn read() -> Baseline {
        let corpus = shared::path("shader-corpus");
        let text = |file: &str| {
            std::fs::read_to_string(corpus.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
        };
        let rows = |text: &str| -> Vec<Vec<String>> {
            let rows = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("shader\t"));
            rows.map(|line| line.split('\t').map(str::to_string).collect()).collect()
        };
        let (table, words) = (text("mesa-vc4-baseline.tsv"), text("mesa-vc4-programs.tsv"));
        let origin = table.lines().filter(|line| line.starts_with('#')).map(str::to_string).collect();
        let code: BTreeMap<(String, String), Vec<u64>> = rows(&words)
            .into_iter()
            .map(|row| {
                let words = row[2].split_whitespace();
                let words = words.map(|word| u64::from_str_radix(word, 16).expect("hexadecimal words"));
                ((row[0].clone(), row[1].clone()), words.collect())
            })
            .collect();
        let (mut programs, mut compile_us) = (BTreeMap::new(), BTreeMap::new());
        for row in rows(&table) {
            let key = (row[0].clone(), row[1].clone());
            let number = |column: usize| -> u32 { row[column].parse().expect("a count") };
            let counts = Counts::of(&code[&key], number(3));
            programs.insert(key, Counts { instructions: number(2), threads: number(4), ..counts });
            if let Some(time) = row.last().and_then(|time| time.parse().ok()) {
                compile_us.insert(row[0].clone(), time);
            }
        }
        Baseline { origin, programs, compile_us }
    }

    /// The shaders.
    pub fn names(&self) -> Vec<String> {
        self.compile_us.keys().cloned().collect()
    }
}
