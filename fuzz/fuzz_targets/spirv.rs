#![no_main]

#[path = "../../shaders/tests/oracle/spirv.rs"]
mod oracle;

use vc4_shaders::ir::Stage;

/// What the compiler accepts the kernel accepts.
fn check(pipeline: &vc4_shaders::program::Pipeline) {
    for program in [&pipeline.vertex, &pipeline.coordinate, &pipeline.fragment] {
        if !program.code.is_empty() {
            vc4_kernel_abi::validate::shader::validate(&program.code, vc4_kernel_abi::validate::Mode::Strict)
                .unwrap_or_else(|violation| panic!("the kernel refuses the program: {violation:?}"));
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let words = oracle::words(bytes);
    for stage in [Stage::Vertex, Stage::Fragment, Stage::Compute] {
        // The generator's word is nobody's: it chooses the state.
        let state = words.get(2).copied().unwrap_or(0);
        match oracle::compile(&words, stage) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(shader) => match oracle::finish(shader, state) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(pipeline) => check(&pipeline),
            },
        }
    }
});

// Bytes at random rarely get behind the reader: three times out of four damage whole instructions instead.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 4 == 0 || size < 24 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    oracle::damage(data, size, max_size, seed)
});
