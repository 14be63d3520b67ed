//! Every call of the kernel's fails once, with each error that it can give: the program gets a result of Vulkan's, nothing is
//! lost, and the next device of the same process works. `FAULTS=all` tries every error at many more places.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use vc4_tests::driver;

/// What the driver calls on the render node, and threads that it starts.
const CALLS: [&str; 16] = [
    "open",
    "mmap",
    "version",
    "get_param",
    "create_bo",
    "create_shader_bo",
    "mmap_bo",
    "submit_cl",
    "wait_seqno",
    "gem_close",
    "perfmon_create",
    "perfmon_get_values",
    "perfmon_destroy",
    "syncobj_create",
    "syncobj_handle_to_fd",
    "thread",
];
/// What the kernel can answer.
const ERRNOS: [&str; 8] = ["ENOMEM", "EINVAL", "EINTR", "EAGAIN", "ENODEV", "EIO", "EBUSY", "ENOSPC"];
/// Longer than any run, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a run went.
struct Run {
    /// Whether the fault was met at all.
    hit: bool,
    /// What each time ended in: a digest or an error.
    ends: Vec<Result<String, String>>,
    descriptors: Vec<u32>,
    log: String,
}

/// Runs the program with a fault.
///
/// # Errors
/// How it died.
fn run(fault: &str) -> Result<Run, String> {
    let mut command = driver::command(env!("CARGO_BIN_EXE_faults"), &driver::ours());
    command.env("VC4VK_DEVICE", "drm").env("LD_PRELOAD", driver::drm_shim()).env("VC4SIM_FAULTS", fault);
    let (status, said, log) = watched(&mut command);
    if !status {
        return Err(format!("{fault}: it died or stands still\n{said}{log}"));
    }
    let of = |start: &str| -> Vec<String> {
        said.lines().filter_map(|line| line.strip_prefix(start)).map(str::to_owned).collect()
    };
    let ends = said.lines().filter_map(|line| match line.split_once('=')? {
        ("done", digest) => Some(Ok(digest.to_owned())),
        ("error", text) => Some(Err(text.to_owned())),
        _ => None,
    });
    let descriptors = of("descriptors=").iter().map(|count| count.parse().expect("a number")).collect();
    Ok(Run { hit: log.contains("as VC4SIM_FAULTS asks for"), ends: ends.collect(), descriptors, log })
}

/// Whether the program ended well in time, and what it said.
fn watched(command: &mut Command) -> (bool, String, String) {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let start = Instant::now();
    // It says less than a pipe holds.
    while child.try_wait().expect("a child").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("a child");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// What is wrong with a run.
fn wrong(run: &Run, digest: &str, fault: &str) -> Option<String> {
    if run.ends.len() != 3 {
        return Some("three devices".into());
    }
    if let Some(drawn) = run.ends.iter().flatten().find(|drawn| *drawn != digest) {
        return Some(format!("it draws something else without a word: {drawn}"));
    }
    let errors: Vec<&String> = run.ends.iter().filter_map(|end| end.as_ref().err()).collect();
    match errors.as_slice() {
        [] => {}
        [_, _, ..] => return Some(format!("the next device does not work: {errors:?}")),
        [error] if !error.contains("ERROR_") && !error.contains("no Vulkan device") => {
            return Some(format!("no result of Vulkan's: {error}"));
        }
        // What the queue needs later can only end the device.
        [error]
            if is_of_memory(fault)
                && !["OUT_OF", "ERROR_MEMORY_MAP_FAILED"].iter().any(|result| error.contains(result))
                && !run.log.contains("device lost: out of device memory") =>
        {
            return Some(format!("memory has run out, but it answers {error}"));
        }
        [_] if !run.log.lines().any(|line| line.starts_with("vc4::")) => {
            return Some("no line says why".into());
        }
        [_] => {}
    }
    if run.log.contains("panicked") {
        return Some("a panic".into());
    }
    // A device that was lost, or a BO that could not be closed, may be cleared away when the next device is made.
    let cleared = run.ends.last().is_some_and(Result::is_ok) && !fault.starts_with("gem_close");
    match run.descriptors.as_slice() {
        [first, next, last] if !cleared || last <= first.min(next) => None,
        counts => Some(format!("descriptors are open behind the devices: {counts:?}")),
    }
}

/// Whether memory runs out.
fn is_of_memory(fault: &str) -> bool {
    let call = fault.split(':').next().unwrap_or_default();
    fault.contains("ENOMEM") && ["create_bo", "create_shader_bo", "mmap"].contains(&call)
}

#[test]
fn the_kernel_can_answer_anything() {
    let all = std::env::var("FAULTS").is_ok_and(|value| value == "all");
    let whole = run("").expect("without faults it works");
    let digest = whole.ends[0].clone().expect("without faults it works");
    assert_eq!(wrong(&whole, &digest, ""), None, "{}", whole.log);
    let mut tasks: Vec<(usize, usize)> =
        (0..CALLS.len()).flat_map(|call| (0..ERRNOS.len()).map(move |errno| (call, errno))).collect();
    tasks.retain(|(call, errno)| all || (call + errno) % 2 == 0);
    let next = AtomicUsize::new(0);
    let (found, hits) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::<&str, u32>::new()));
    let work = || {
        while let Some(&(call, errno)) = tasks.get(next.fetch_add(1, Ordering::SeqCst)) {
            // Ordinary runs take each error at one place of few, the first or one further on.
            let mut number = if all { 1 } else { 1 + (call + errno) * 3 % 7 };
            loop {
                let fault = format!("{}:{}:{number}", CALLS[call], ERRNOS[errno]);
                let run = match run(&fault) {
                    Ok(run) => run,
                    Err(died) => {
                        found.lock().expect("no panic").push(died);
                        break;
                    }
                };
                if run.hit {
                    *hits.lock().expect("no panic").entry(CALLS[call]).or_default() += 1;
                    if let Some(what) = wrong(&run, &digest, &fault) {
                        found.lock().expect("no panic").push(format!("{fault}: {what}\n{}", run.log));
                    }
                } else if !all && number > 1 {
                    // It is not called so often.
                    number = 1;
                    continue;
                }
                if !all || !run.hit {
                    break;
                }
                number += 1 + number / 3;
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let (found, hits) = (found.into_inner().expect("no panic"), hits.into_inner().expect("no panic"));
    println!("faults given: {hits:?}");
    assert!(CALLS.iter().all(|call| hits.contains_key(call)), "calls that were never met: {hits:?}");
    assert!(found.is_empty(), "{} faults\n{}", found.len(), found.join("\n"));
}
