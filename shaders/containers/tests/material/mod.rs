//! The sample files: good ones, damaged ones with the finding each must give, and endless further damage.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};

/// One file of a format's sample folder.
pub struct Sample {
    pub name: String,
    pub bytes: Vec<u8>,
}

fn folder(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(format)
}

/// The bytes of one sample, by its path below the format's folder.
pub fn sample(format: &str, name: &str) -> Vec<u8> {
    let path = folder(format).join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The good samples of a format, by name.
pub fn samples(format: &str) -> Vec<Sample> {
    let mut names: Vec<String> = std::fs::read_dir(folder(format))
        .expect("sample folder")
        .map(|entry| entry.expect("folder entry").file_name().into_string().expect("name"))
        .filter(|name| name.ends_with(&format!(".{format}")))
        .collect();
    names.sort();
    assert!(names.len() > 5, "samples of {format} are missing");
    names.into_iter().map(|name| Sample { bytes: sample(format, &name), name }).collect()
}

/// The damaged samples of a format with the code each must give.
pub fn damaged(format: &str) -> Vec<(Sample, String)> {
    let table = String::from_utf8(sample(format, "bad/EXPECT.tsv")).expect("text");
    let rows = table.lines().skip(1).filter(|line| !line.is_empty()).map(|line| {
        let mut fields = line.split('\t');
        let (name, code) = (fields.next().expect("file"), fields.next().expect("code"));
        let bytes = sample(format, &format!("bad/{name}"));
        (Sample { name: name.into(), bytes }, code.to_string())
    });
    rows.collect()
}

/// A small generator with a sequence of its own, so that failures repeat on every machine and version.
pub struct Dice(pub u64);

impl Dice {
    /// A number below `limit` (xorshift64*).
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }
}

/// Calls `each` with every truncation of `bytes`.
pub fn truncations(bytes: &[u8], mut each: impl FnMut(&[u8])) {
    (0..bytes.len()).for_each(|length| each(&bytes[..length]));
}

/// Calls `each` with `rounds` copies of `bytes` in which one to four bits, or a whole word, are changed.
pub fn bit_flips(bytes: &[u8], rounds: usize, seed: u64, mut each: impl FnMut(&[u8])) {
    let mut dice = Dice(seed);
    let mut copy = bytes.to_vec();
    for _ in 0..rounds {
        if dice.below(4) == 0 && bytes.len() >= 4 {
            let at = dice.below(bytes.len() - 3);
            let value = [0, 1, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x0001_0000][dice.below(5)];
            copy[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
        }
        for _ in 0..=dice.below(4) {
            copy[dice.below(bytes.len())] ^= 1 << dice.below(8);
        }
        each(&copy);
        copy.copy_from_slice(bytes);
    }
}
