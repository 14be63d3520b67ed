#![no_main]

#[path = "../../tests/oracle/stranger.rs"]
mod stranger;

use std::path::PathBuf;
use std::sync::LazyLock;

use vc4_sim::Config;
use vc4_sim::drm::kms::Display;
use vc4_sim::drm::serve::Server;

/// A device that is served. A panic of its threads ends the process, as libFuzzer has it.
static SERVED: LazyLock<PathBuf> = LazyLock::new(|| {
    let path = std::env::temp_dir().join(format!("vc4-fuzz-{}", std::process::id()));
    let config = Config { memory_bytes: 64 << 20, ..Config::default() };
    let server = Server::new(&path, config, Display::new(None)).expect("the path is free");
    std::thread::spawn(move || server.run());
    path
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    stranger::talk(&SERVED, bytes);
});
