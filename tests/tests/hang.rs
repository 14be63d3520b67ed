//! Programs that never end, on a kernel that passes jobs that hung off as done: the device is lost, and says so.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::process::Command;

use vc4_tests::driver;

/// What the program said: its answers, that of the device behind, and the driver's log.
fn hang(stage: &str, times: &str, configure: impl FnOnce(&mut Command)) -> (Vec<String>, String, String) {
    let mut command = driver::command(env!("CARGO_BIN_EXE_hang"), &driver::ours());
    configure(command.args([stage, times]));
    let output = driver::run(&mut command, stage);
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let with = |start| said.lines().filter_map(move |line: &str| line.strip_prefix(start)).map(str::to_owned);
    (with("answer: ").collect(), with("after: ").next().unwrap_or_default(), log.into_owned())
}

fn through_the_node(command: &mut Command) {
    command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim());
}

#[track_caller]
fn assert_lost(answer: &str, log: &str, words: &str) {
    assert!(answer.contains("ERROR_DEVICE_LOST"), "{answer}\n{log}");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("device lost")).collect();
    assert!(lines.first().is_some_and(|line| line.contains(words)), "a line that says {words:?}:\n{log}");
}

#[test]
fn the_simulator_inside_says_what_hung() {
    for (stage, words) in
        [("fragment", "Fragment shader"), ("vertex", "Vertex shader"), ("coordinate", "Coordinate")]
    {
        let (answers, after, log) = hang(stage, "1", |_| {});
        assert_lost(&answers[0], &log, words);
        assert_eq!(after, "success", "{stage}: the next device\n{log}");
    }
}

#[test]
fn the_log_of_the_kernel_tells_of_resets() {
    for stage in ["fragment", "vertex"] {
        let (answers, after, log) = hang(stage, "1", through_the_node);
        assert_lost(&answers[0], &log, "the kernel reset it");
        assert_eq!(after, "success", "{stage}: the next device\n{log}");
    }
}

#[test]
fn a_binning_job_that_is_started_again_for_ever_is_noticed() {
    let (answers, after, log) = hang("coordinate", "1", through_the_node);
    assert_lost(&answers[0], &log, "the kernel reset it");
    // The kernel goes on binning it between the next device's jobs, which no driver can tell from hangs of theirs.
    assert!(after.contains("ERROR_DEVICE_LOST"), "{after}\n{log}");
}

#[test]
fn without_the_log_counters_tell_of_the_second_hang() {
    let (answers, after, log) = hang("fragment", "3", |command| {
        through_the_node(command);
        command.env("VC4SIM_DMESG_RESTRICT", "1").env("VC4VK_LOG", "warn");
    });
    assert_eq!(answers[0], "success", "nobody can know yet\n{log}");
    assert!(log.contains("dmesg_restrict"), "a word about it:\n{log}");
    assert_lost(&answers[1], &log, "counters tell nothing");
    assert!(answers[2].contains("ERROR_DEVICE_LOST"), "{answers:?}");
    assert_eq!(after, "success");
}
