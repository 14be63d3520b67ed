#![no_main]

#[path = "../../tests/oracle/submission/mod.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    oracle::submit(bytes);
});
