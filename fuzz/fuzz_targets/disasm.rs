#![no_main]

#[allow(dead_code, reason = "the other targets call the other functions")]
#[path = "../../tests/oracle/program.rs"]
mod oracle;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracle::disasm(bytes));
