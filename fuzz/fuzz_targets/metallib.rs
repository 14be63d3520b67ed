#![no_main]
#[path = "../../shaders/containers/tests/oracle/metallib.rs"]
mod oracle;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::metallib(&oracle::resized(bytes)));
