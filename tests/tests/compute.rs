//! Compute kernels through the Vulkan loader on our driver, held against Mesa's lavapipe: buffers and images have to be the
//! same bytes, or floats near each other where arithmetic or filters may round. What no driver has to agree on - reads out
//! of bounds, descriptors that were never written - has expected bytes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use vc4_tests::vulkan::CACHED_MEMORY;
use vc4_tests::{compute, driver, scratch, validation};

fn directory(name: &str) -> PathBuf {
    scratch::empty(env!("CARGO_TARGET_TMPDIR"), name)
}

fn command(manifest: &Path, modules: &Path, out: &Path) -> std::process::Command {
    let mut command = driver::command(env!("CARGO_BIN_EXE_compute"), manifest);
    command.args([modules, out]);
    command
}

/// Compiles all kernels on two threads; what glslangValidator refuses.
fn compile(cases: &[compute::Case], modules: &Path) -> Vec<String> {
    let compile = |part: &[compute::Case]| -> Vec<String> {
        part.iter().filter_map(|case| case.compile(modules).err()).collect()
    };
    let (first, second) = cases.split_at(cases.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| compile(second));
        let mut failures = compile(first);
        failures.extend(other.join().expect("compiling does not panic"));
        failures
    })
}

/// Runs kernels on a driver, in which environment: where the results are, and what it said.
fn run(manifest: &Path, modules: &Path, name: &str, environment: &[(&str, &str)]) -> (PathBuf, String) {
    let out = directory(name);
    let mut command = command(manifest, modules, &out);
    command.envs(environment.iter().copied());
    let output = driver::run(&mut command, name);
    (out, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Lavapipe's subgroups are its vectors: here of 128 bits, whatever the host has.
const SUBGROUPS_OF_FOUR: [(&str, &str); 1] = [("LP_NATIVE_VECTOR_WIDTH", "128")];

#[test]
fn kernels_match_lavapipe() {
    let modules = directory("compute-spirv");
    let cases = compute::all();
    let failures = compile(&cases, &modules);
    let (ours, said) = run(&driver::ours(), &modules, "compute-vc4", &[]);
    let (reference, theirs_said) = run(&driver::lavapipe(), &modules, "compute-lavapipe", &SUBGROUPS_OF_FOUR);
    compare(&cases, &[&ours, &reference], failures, &format!("{said}\nlavapipe's run said:\n{theirs_said}"));
}

/// In memory that the CPU caches, between kernels of the CPU's and jobs.
#[test]
fn pictures_match_lavapipe_on_the_qpus() {
    let modules = directory("pictures-spirv");
    let all = compute::all();
    let failures = compile(&all, &modules);
    let environment = [("VC4VK_COMPUTE", "qpu"), ("VC4VK_DEBUG", "perf"), (CACHED_MEMORY, "1")];
    // Every kernel of the suite that happens to be one is drawn, too.
    let (ours, said) = run(&driver::ours(), &modules, "pictures-vc4", &environment);
    let (reference, _) = run(&driver::lavapipe(), &modules, "pictures-lavapipe", &SUBGROUPS_OF_FOUR);
    let drawn =
        said.lines().filter(|line| line.starts_with("perf: dispatch") && line.contains(" is drawn by "));
    let pictures = all.iter().filter(|case| case.name.starts_with(compute::PICTURE)).count();
    let drawn = drawn.count();
    compare(&all, &[&ours, &reference], failures, &said);
    assert!(drawn >= pictures, "{drawn} dispatches were drawn, there are {pictures} pictures:\n{said}");
}

/// Holds the results of our driver against those of another one.
fn compare(
    cases: &[compute::Case],
    [ours, reference]: &[&PathBuf; 2],
    mut failures: Vec<String>,
    said: &str,
) {
    for case in cases {
        let Ok(bytes) = std::fs::read(case.result(ours)) else {
            failures.push(format!("{}: not run by our driver", case.name));
            continue;
        };
        let expected = match &case.expected {
            Some(expected) => expected.clone(),
            None => match std::fs::read(case.result(reference)) {
                Ok(expected) => expected,
                Err(_) => {
                    failures.push(format!("{}: not run by lavapipe", case.name));
                    continue;
                }
            },
        };
        failures.extend(case.difference(&bytes, &expected).map(|why| format!("{}: {why}", case.name)));
    }
    for (name, _) in compute::SEQUENCES {
        let [ours, theirs] = [ours, reference].map(|directory| std::fs::read(directory.join(name)).ok());
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours == theirs => {}
            (ours, theirs) => {
                let (ours, theirs) = (ours.unwrap_or_default(), theirs.unwrap_or_default());
                let wrong = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
                let lengths = (ours.len(), theirs.len());
                failures.push(format!("{name}: {wrong} bytes of {lengths:?} differ"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "our driver said:\n{said}\n{} of {}:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

#[test]
fn kernels_are_clean_under_the_validation_layers() {
    let (modules, out) = (directory("compute-validated-spirv"), directory("compute-validated"));
    let cases = compute::all();
    assert_eq!(compile(&cases, &modules), Vec::<String>::new());
    let mut command = command(&driver::ours(), &modules, &out);
    // What breaks rules on purpose, and what is one of many of its kind, is left out.
    let names =
        ["places", "dynamic offsets", "indirect", "secondary", "push constants", "atomics", "storage rgba8"];
    validation::watch(command.args(names).args(compute::SEQUENCES.map(|(name, _)| name)), &out);
    validation::assert_silent(&driver::run(&mut command, "kernels under the validation layers"));
}

#[test]
fn a_kernel_without_an_end_loses_its_device_only() {
    let modules = directory("compute-endless");
    let start = Instant::now();
    let mut command = driver::command(env!("CARGO_BIN_EXE_compute"), &driver::ours());
    command.env("VC4VK_COMPUTE_SECONDS", "0.5").arg("--endless").arg(&modules);
    let output = driver::run(&mut command, "a kernel without an end");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("did not end in time").count(), 1, "{said}");
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// On what passes for a board, a kernel that is drawn to a format that it does not name, and reads one that is not the usual: the
/// CPU runs it until the programs are compiled, and the queue waits for neither.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn the_cpu_runs_pictures_until_their_programs_are_compiled() {
    let modules = directory("compute-repeated");
    let mut command = driver::command(env!("CARGO_BIN_EXE_compute"), &driver::ours());
    command
        .env("VC4VK_DEVICE", "drm")
        .env("LD_PRELOAD", driver::drm_shim())
        .env("VC4VK_DEBUG", "perf")
        .arg("--repeated")
        .arg(&modules)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take();
    let mut said: Vec<String> = Vec::new();
    let lines = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    for line in lines {
        let is_drawn = |line: &String| line.contains(" is drawn by ");
        let again =
            line.starts_with("perf: dispatch") && is_drawn(&line) && said.last().is_some_and(is_drawn);
        if !line.starts_with("perf:") || line.starts_with("perf: dispatch") {
            said.push(line);
        }
        // One that is drawn says nothing between; one that is never drawn ends, too.
        if again || said.len() > 5000 {
            drop(input.take());
        }
    }
    drop(input);
    let status = child.wait().expect("it ends");
    let said = said.join("\n");
    assert!(status.success(), "{said}");
    for why in ["what draws it is being compiled", "its programs are being compiled"] {
        assert!(said.contains(&format!("runs on the CPU: {why}")), "{said}");
    }
    assert!(said.ends_with(" jobs"), "{said}");
}
