//! Strangers at the socket of a device that is served: whatever they send, others draw on. `SERVE=long` lets more of them in.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

#[path = "../oracle/stranger.rs"]
mod stranger;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use vc4_sim::Config;
use vc4_sim::drm::host::Host;
use vc4_sim::drm::kms::Display;
use vc4_sim::drm::serve::Server;
use vc4_tests::driver;
use vc4_tests::random::Random;

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Descriptors that the server may have.
const DESCRIPTORS: u64 = 600;

static PANICS: AtomicU64 = AtomicU64::new(0);

/// Serves a device in this process; panics of its threads are counted.
fn serve(name: &str) -> (PathBuf, Arc<Host>) {
    let path = std::env::temp_dir().join(format!("vc4-serve-{name}-{}", std::process::id()));
    let config = Config { memory_bytes: 64 << 20, ..Config::default() };
    let server = Server::new(&path, config, Display::new(None)).expect("the path is free");
    let host = server.host().clone();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("vc4-serve") {
            PANICS.fetch_add(1, SeqCst);
        }
        hook(info);
    }));
    std::thread::spawn(move || server.run());
    (path, host)
}

/// Another program draws on the device.
fn draws(path: &Path) {
    let mut command: Command = driver::command(env!("CARGO_BIN_EXE_faults"), &driver::ours());
    command.arg("1").env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
    let output = driver::run(command.env("VC4SIM_SERVER", path), "another program");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.starts_with("done="), "{said}");
}

/// Waits until all descriptors are back.
fn comes_back(host: &Host) {
    let start = Instant::now();
    while host.descriptors_out() > 0 {
        assert!(start.elapsed() < PATIENCE, "{} descriptors are out", host.descriptors_out());
        host.reap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// One after the other: the second leaves this process no descriptors for a while.
#[test]
fn strangers_harm_nobody() {
    strangers_may_say_anything();
    strangers_may_take_everything();
}

fn strangers_may_say_anything() {
    let (path, host) = serve("anything");
    let long = std::env::var("SERVE").is_ok_and(|value| value == "long");
    let count: u64 = if long { 20_000 } else { 400 };
    let answers = [AtomicU64::new(0), AtomicU64::new(0)];
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (path, answers) = (&path, &answers);
            scope.spawn(move || {
                for number in 0..count / 4 {
                    let mut random = Random(thread * count + number);
                    let bytes: Vec<u8> = (0..3000).map(|_| random.word() as u8).collect();
                    for (sum, count) in answers.iter().zip(stranger::talk(path, &bytes)) {
                        sum.fetch_add(count as u64, SeqCst);
                    }
                }
            });
        }
        draws(&path);
    });
    draws(&path);
    comes_back(&host);
    let [all, well] = answers.map(AtomicU64::into_inner);
    println!("{count} connections, {all} messages answered, {well} of them well");
    assert!(all > 20 * count && well > 5 * count, "they do not get far");
    assert_eq!(PANICS.load(SeqCst), 0, "panics of the server's");
    let _ = std::fs::remove_file(&path);
}

/// Whoever takes all descriptors that the server can have gets no more, and leaves them to others at the end.
fn strangers_may_take_everything() {
    let (path, host) = serve("everything");
    let mode = std::fs::metadata(&path).expect("the socket").permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not connect: {mode:o}");
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, hard).expect("a lower limit");
    for _ in 0..2 {
        let taken = stranger::hoard(&path) as u64;
        assert!(taken > DESCRIPTORS / 4 && taken < DESCRIPTORS, "{taken} descriptors");
        draws(&path);
        comes_back(&host);
    }
    let _ = std::fs::remove_file(&path);
}
