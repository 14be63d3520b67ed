//! Compute modules that are broken: refused, or run within bounds.
#![cfg(target_pointer_width = "64")]

#[path = "oracle/kernel.rs"]
mod kernel;
#[path = "../../tests/oracle/spirv.rs"]
#[allow(dead_code, reason = "shared with the tests of the QPU's back end")]
mod spirv;

use kernel::{End, check};
use vc4_shaders::ir::Stage;
use vc4_shaders_cpu::Engine;

const FILES: [&str; 9] = [
    "arrays.comp",
    "arrays.comp.opt",
    "atomics.comp",
    "control.comp",
    "control.comp.opt",
    "images.comp",
    "matrix.comp",
    "scan.comp",
    "pack.comp",
];

fn words(file: &str) -> Vec<u32> {
    let path = format!("{}/../tests/spirv/{file}.spv", env!("CARGO_MANIFEST_DIR"));
    spirv::words(&std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

#[test]
fn mutated_modules_stay_within_their_buffers() {
    let mut random = spirv::Random(0x2545_f491);
    let (mut ran, mut stopped) = (0, 0);
    for round in 0..200 {
        for file in FILES {
            let mut words = words(file);
            spirv::mutate(&mut words, &mut random);
            let Ok(shader) = spirv::compile(&words, Stage::Compute) else { continue };
            // The other engine is slow.
            let engines = if round % 8 == 0 { Engine::ALL } else { &[Engine::Native] };
            for &engine in engines {
                match check(&shader, engine) {
                    End::Ran => ran += 1,
                    End::Stopped => stopped += 1,
                    End::Refused => {}
                }
            }
        }
    }
    assert!(ran > 100, "{ran} ran, {stopped} were stopped");
}
