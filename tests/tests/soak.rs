//! The same thing again and again leaves nothing behind: memory, descriptors and threads stay what they were. `SOAK=long` does
//! it as often as a program that runs for hours.

use std::process::Command;

use vc4_tests::driver;

/// How much more memory the second half of a run may have at most than the first: 1 %, or what an allocator takes at a time.
const GROWTH_KIB: u64 = 1024;

/// Whether AddressSanitizer looks on, which keeps what was freed for a while.
fn keeps_freed_memory() -> bool {
    std::env::var_os("ASAN_OPTIONS").is_some()
}

fn is_long() -> bool {
    std::env::var("SOAK").is_ok_and(|value| value == "long")
}

/// Memory in KiB, descriptors, threads.
fn holdings(said: &str, name: &str) -> [u64; 3] {
    let text = said.lines().find_map(|line| line.strip_prefix(name)).expect("the program says so");
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().expect("a number")).collect();
    numbers.try_into().expect("three numbers")
}

fn soak(what: &str, device: &str, short: u64, long: u64, prepare: impl FnOnce(&mut Command)) {
    let count = if is_long() { long } else { short };
    let mut command = driver::command(env!("CARGO_BIN_EXE_soak"), &driver::ours());
    prepare(command.env("VC4VK_DEVICE", device).args([what, &count.to_string()]));
    let output = driver::run(&mut command, what);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (before, after) = (holdings(&said, "before="), holdings(&said, "after="));
    println!("{count} {what} on {device}: memory, descriptors and threads {before:?} to {after:?}");
    let most = before[0] + GROWTH_KIB.max(before[0] / 100);
    assert!(
        after[0] <= most || keeps_freed_memory(),
        "{what} on {device}: memory grew from {} to {} KiB",
        before[0],
        after[0]
    );
    assert_eq!(before[1..], after[1..], "{what} on {device}: descriptors and threads");
}

#[test]
fn frames() {
    soak("frames", "sim", 2_000, 200_000, |_| {});
    soak("frames", "noop", 20_000, 1_000_000, |_| {});
}

#[test]
fn pipelines() {
    soak("pipelines", "noop", 2_000, 100_000, |_| {});
}

#[test]
fn descriptor_sets() {
    soak("sets", "noop", 100_000, 1_000_000, |_| {});
}

#[test]
fn memory() {
    soak("memory", "sim", 10_000, 1_000_000, |_| {});
}

#[test]
fn swapchains() {
    soak("swapchains", "sim", 300, 20_000, |_| {});
}

#[test]
fn devices() {
    soak("devices", "sim", 2_000, 10_000, |_| {});
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
mod through_the_kernel {
    use vc4_sim::Config;
    use vc4_sim::drm::kms::Display;
    use vc4_sim::drm::serve::Server;

    use super::*;

    #[test]
    fn what_a_node_gives_comes_back() {
        for (what, short, long) in
            [("frames", 1_000, 100_000), ("memory", 2_000, 100_000), ("devices", 1_000, 5_000)]
        {
            soak(what, "drm", short, long, |command| {
                command.env("LD_PRELOAD", driver::drm_shim());
            });
        }
    }

    #[test]
    fn many_processes_share_a_device() {
        let path = std::env::temp_dir().join(format!("vc4-soak-{}", std::process::id()));
        let server = Server::new(&path, Config::default(), Display::new(None)).expect("the path is free");
        let host = server.host().clone();
        std::thread::spawn(move || server.run());
        let processes = if is_long() { 50 } else { 8 };
        let start = || {
            let mut command = driver::command(env!("CARGO_BIN_EXE_soak"), &driver::ours());
            command
                .env("VC4VK_DEVICE", "drm")
                .env("LD_PRELOAD", driver::drm_shim())
                .env("VC4SIM_SERVER", &path);
            command.args(["frames", "50"]).spawn().expect("the program starts")
        };
        for _ in 0..2 {
            let children: Vec<_> = (0..processes).map(|_| start()).collect();
            for mut child in children {
                assert!(child.wait().expect("a child").success(), "a process with a shared device");
            }
        }
        let begin = std::time::Instant::now();
        while host.descriptors_out() > 0 {
            assert!(begin.elapsed().as_secs() < 60, "{} descriptors are out", host.descriptors_out());
            host.reap();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let _ = std::fs::remove_file(&path);
    }
}
