#![no_main]

#[allow(dead_code, reason = "the other target calls the other function")]
#[path = "../../shaders/containers/tests/oracle/shbin.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::pica(bytes));
