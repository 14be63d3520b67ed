#![no_main]

#[path = "../../shaders/cpu/tests/oracle/kernel.rs"]
mod kernel;
#[path = "../../shaders/tests/oracle/spirv.rs"]
#[allow(dead_code, reason = "shared with the target of the QPU's back end")]
mod oracle;

use vc4_shaders::ir::Stage;
use vc4_shaders_cpu::Engine;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match oracle::compile(&oracle::words(bytes), Stage::Compute) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(shader) => drop(kernel::check(&shader, Engine::Native)),
    }
});

// Bytes at random rarely get behind the reader: three times out of four damage whole instructions instead.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 4 == 0 || size < 24 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    oracle::damage(data, size, max_size, seed)
});
