#![no_main]

#[path = "../../tests/oracle/recording.rs"]
mod recording;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    recording::recording(bytes);
});

// Sums of records that do not fit end the reading: three times out of four they are made good.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 4 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut state = seed;
    let number = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % limit
    };
    recording::damage(&mut data[..size], number);
    size
});
