#![no_main]
#[path = "../../shaders/containers/tests/oracle/mbs.rs"]
mod oracle;
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::mbs(bytes));
