#![no_main]

#[path = "../../tests/oracle/list.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::cl(bytes));
