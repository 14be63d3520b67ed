//! The shader between passes, as the compiler logs it.

use log::{Level, LevelFilter, Log, Metadata, Record};
use std::sync::Mutex;

/// Log target of the compiler's shaders; each record is `STAGE after PASS:` and the shader.
const TARGET: &str = "vc4::ir";

static RECORDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collector;

impl Log for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET && metadata.level() == Level::Trace
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            if let Ok(mut records) = RECORDS.lock() {
                records.push(record.args().to_string());
            }
        }
    }

    fn flush(&self) {}
}

/// Begins to collect.
pub fn collect() {
    // Nothing else in this program logs, so that the place is free.
    if log::set_logger(&Collector).is_ok() {
        log::set_max_level(LevelFilter::Trace);
    }
}

/// What was collected of a pass over stages that are `wanted`, in the order in which it ran; every pass for `all`.
///
/// # Errors
/// No such pass ran: the message names those that did.
pub fn collected(pass: &str, wanted: impl Fn(&str) -> bool) -> Result<String, String> {
    let mut records = RECORDS.lock().map(|records| records.clone()).unwrap_or_default();
    records.retain(|record| record.split(' ').next().is_some_and(&wanted));
    let chosen: Vec<&str> = records
        .iter()
        .filter(|record| pass == "all" || pass_of(record) == Some(pass))
        .map(String::as_str)
        .collect();
    if !chosen.is_empty() {
        return Ok(chosen.join("\n"));
    }
    let mut names: Vec<&str> = records.iter().filter_map(|record| pass_of(record)).collect();
    names.sort_unstable();
    names.dedup();
    Err(format!("no pass {pass} ran; there were: all, {}", names.join(", ")))
}

fn pass_of(record: &str) -> Option<&str> {
    record.lines().next()?.split_once(" after ")?.1.strip_suffix(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_pass() {
        assert_eq!(pass_of("Vertex after opt_dce:\nshader Vertex\n"), Some("opt_dce"));
        assert_eq!(pass_of("shader Vertex\n"), None);
    }
}
