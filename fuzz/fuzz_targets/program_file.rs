#![no_main]

#[path = "../../shaders/tests/oracle/file.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::check(bytes));
