//! Names the compiler: a hash over its sources, those of the encoder core and the versions of what they depend on.
//! A cache of compiled programs is good for exactly this compiler (`src/key.rs`).

use std::path::{Path, PathBuf};

/// FNV-1a with 128 bits: plain enough to stand here, and nobody attacks a build.
struct Fnv(u128);

impl Fnv {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    /// Takes bytes with their number, so that parts cannot run into each other.
    fn part(&mut self, bytes: &[u8]) {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(Fnv::PRIME);
        }
    }
}

/// The files below a path in order of their names; none if there is no such path.
fn files(path: &Path, found: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => {
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            paths.iter().for_each(|path| files(path, found));
        }
        Err(_) if path.is_file() => found.push(path.to_owned()),
        Err(_) => {}
    }
}

fn main() {
    let mut found = Vec::new();
    for path in ["src", "../src", "../Cargo.lock"] {
        if Path::new(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
        files(Path::new(path), &mut found);
    }
    let mut hash = Fnv(Fnv::START);
    hash.part(env!("CARGO_PKG_VERSION").as_bytes());
    for path in found {
        hash.part(path.to_string_lossy().as_bytes());
        hash.part(&std::fs::read(&path).unwrap_or_default());
    }
    println!("cargo::rustc-env=VC4_COMPILER={:032x}", hash.0);
}
