//! A process that draws is forked, interrupted, killed, and finds no memory for a while: others go on, nothing is drawn
//! wrong, and nothing stays behind.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use vc4_sim::Config;
use vc4_sim::drm::kms::Display;
use vc4_sim::drm::serve::Server;
use vc4_tests::driver;

/// Longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program on the preloaded node.
fn program(path: &str) -> Command {
    let mut command = driver::command(path, &driver::ours());
    command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
    command
}

fn process(what: &str) -> Command {
    let mut command = program(env!("CARGO_BIN_EXE_process"));
    command.arg(what);
    command
}

/// What a program says of a name.
fn said(output: &[u8], name: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(output);
    text.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
}

/// What is drawn when nothing happens.
fn digest() -> String {
    let output = driver::run(program(env!("CARGO_BIN_EXE_faults")).arg("1"), "undisturbed");
    said(&output.stdout, "done=").pop().expect("a digest")
}

#[test]
fn a_process_may_fork() {
    let digest = digest();
    let output = driver::run(&mut process("fork"), "fork");
    assert_eq!(said(&output.stdout, "parent="), [&*digest; 3]);
    assert_eq!(said(&output.stdout, "child="), [&*digest]);
}

#[test]
fn signals_interrupt_nothing() {
    let digest = digest();
    let output = driver::run(&mut process("signals"), "signals");
    assert_eq!(said(&output.stdout, "digest="), [&*digest; 3]);
    let count: u64 = said(&output.stdout, "signals=")[0].parse().expect("a number");
    assert!(count > 50, "{count} signals");
}

#[test]
fn threads_share_a_device() {
    let output = driver::run(&mut process("threads"), "threads");
    let digests = said(&output.stdout, "digest=");
    assert_eq!(digests.len(), 48);
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn a_process_may_be_killed_while_it_draws() {
    let digest = digest();
    let path = std::env::temp_dir().join(format!("vc4-process-{}", std::process::id()));
    let server = Server::new(&path, Config::default(), Display::new(None)).expect("the path is free");
    let host = server.host().clone();
    std::thread::spawn(move || server.run());
    for _ in 0..3 {
        let mut command = process("wait");
        let mut child =
            command.env("VC4SIM_SERVER", &path).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        let output = child.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("its output");
        assert_eq!(line, "submitted\n");
        child.kill().expect("it runs");
        child.wait().expect("it ran");
    }
    let others = driver::run(
        program(env!("CARGO_BIN_EXE_faults")).arg("1").env("VC4SIM_SERVER", &path),
        "another process",
    );
    assert_eq!(said(&others.stdout, "done="), [&*digest]);
    let start = Instant::now();
    while host.descriptors_out() > 0 {
        assert!(start.elapsed() < PATIENCE, "{} descriptors are out", host.descriptors_out());
        host.reap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = std::fs::remove_file(&path);
}

#[test]
fn host_memory_may_be_refused_anywhere() {
    let mut command = process("memory");
    // Mesa's layer does not survive this.
    command.env("VC4VK_DEVICE", "noop").env_remove("LD_PRELOAD").env("NODEVICE_SELECT", "1");
    let output = driver::run(&mut command, "memory");
    let refused: u64 = said(&output.stdout, "refused=")[0].parse().expect("a number");
    // The driver's own: instance, physical device, device, queue, ten objects, three command buffers, three sets.
    assert!(refused > 20, "{refused} allocations");
}

/// Contiguous memory runs out somewhere, and comes back after some more attempts.
#[test]
fn memory_may_be_short_for_a_while() {
    let digest = digest();
    // From the first BO on, in a frame, in a copy.
    for first in [1, 4, 11, 22, 37] {
        let mut command = program(env!("CARGO_BIN_EXE_faults"));
        command.arg("6").env("VC4SIM_FAULTS", format!("create_bo:ENOMEM:{first}-{}", first + 3));
        let output = driver::run(&mut command, "short of memory");
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let (done, errors) = (said(&output.stdout, "done="), said(&output.stdout, "error="));
        assert!(!errors.is_empty(), "from BO {first} on: nothing failed");
        assert!(
            done.len() >= 2 && done.iter().all(|done| *done == digest),
            "from BO {first} on: {done:?}\n{log}"
        );
        let says = |error: &String| error.contains("OUT_OF_DEVICE_MEMORY") || error.contains("DEVICE_LOST");
        assert!(errors.iter().all(says), "from BO {first} on: {errors:?}\n{log}");
        assert!(log.contains("out of device memory") && !log.contains("panicked"), "{log}");
        let counts = said(&output.stdout, "descriptors=");
        assert_eq!(counts[4], counts[5], "from BO {first} on: {counts:?}");
    }
}
