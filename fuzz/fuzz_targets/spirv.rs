#![no_main]

#[path = "../../shaders/tests/oracle/spirv.rs"]
mod oracle;

use vc4_shaders::ir::Stage;

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let words = words(bytes);
    for stage in [Stage::Vertex, Stage::Fragment] {
        if let Err(error) = oracle::compile(&words, stage) {
            assert!(!error.to_string().is_empty());
        }
    }
});

// Bytes at random rarely get behind the reader: three times out of four damage whole instructions instead.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 4 == 0 || size < 24 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut module = words(&data[..size]);
    oracle::mutate(&mut module, &mut oracle::Random(seed | 1));
    module.truncate(max_size / 4);
    for (bytes, word) in data.chunks_exact_mut(4).zip(&module) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    4 * module.len()
});
