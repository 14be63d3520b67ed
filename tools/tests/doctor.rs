//! `vc4 doctor` as a shell sees it.

use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vc4"));
    command.arg("doctor").args(arguments).env_remove("VC4VK_DEVICE");
    command
}

fn doctor(arguments: &[&str]) -> Output {
    command(arguments).output().expect("vc4 starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

/// The last line.
fn verdict(output: &Output) -> String {
    let text = stdout(output);
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("Verdict: ").unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn the_simulated_gpu_works() {
    let output = doctor(&["--device", "sim"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(verdict(&output).starts_with("the simulated GPU works: "), "{}", stdout(&output));
}

#[test]
fn without_a_gpu_there_is_a_code_of_its_own() {
    let output = doctor(&["--device", "drm:/dev/null"]);
    assert_eq!(output.status.code(), Some(3), "{}", stdout(&output));
    assert!(verdict(&output).starts_with("no usable GPU."), "{}", stdout(&output));
}

/// The preload library gives every process a node of the kernel's driver.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn a_render_node_is_found_and_works() {
    let library = std::path::Path::new(env!("CARGO_BIN_EXE_vc4")).with_file_name("libvc4_drm_shim.so");
    assert!(library.exists(), "{} is not built: run `cargo build -p vc4-drm-shim`", library.display());
    let mut command = command(&[]);
    let output = command.env("LD_PRELOAD", library).output().expect("vc4 starts");
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    assert!(stdout(&output).contains("VideoCore IV via /dev/dri/renderD128"), "{}", stdout(&output));
    assert!(verdict(&output).starts_with("the GPU works: "), "{}", stdout(&output));
}

#[test]
fn nobody_reads_to_the_end() {
    let mut child = command(&["--device", "sim"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("vc4 starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("vc4 ends");
    assert_eq!((output.status.code(), output.stderr), (Some(141), Vec::new()));
}

#[test]
fn failed_checks_fail() {
    let output = doctor(&["--device", "noop"]);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(verdict(&output).contains("checks failed (clears"), "{}", stdout(&output));
}

#[test]
fn wrong_usage_is_told() {
    let output = doctor(&["--device", "gpu"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("not one of auto, drm, drm:PATH, sim"), "{text}");
}

/// The part of a JSON document behind a name.
fn member<'a>(json: &'a str, name: &str) -> &'a str {
    let key = format!("\"{name}\":");
    &json[json.find(&key).unwrap_or_else(|| panic!("{name}: {json}")) + key.len()..]
}

#[test]
fn the_document_and_the_page_say_the_same() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor.html");
    std::fs::write(&path, "x".repeat(1 << 20)).expect("a file that is there already");
    let output = doctor(&["--device", "sim", "--json", "--report", path.to_str().expect("a plain name")]);
    assert_eq!(output.status.code(), Some(0));
    let document = stdout(&output);
    assert!(member(&document, "verdict").starts_with("\"works\""), "{document}");
    assert!(member(&document, "ident0").starts_with("\"02443356\""), "{document}");
    assert_eq!(document.matches("\"result\":\"passed\"").count(), document.matches("\"proves\":").count());
    let page = std::fs::read_to_string(&path).expect("the page");
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    let data =
        page.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).expect("data").0;
    assert_eq!(
        data.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&"),
        document.trim_end()
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told_at_once() {
    let output = doctor(&["--device", "sim", "--report", "no/such/directory/x.html"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("no/such/directory/x.html"), "{text}");
    // A disk that is full shows late.
    let output = doctor(&["--device", "sim", "--report", "/dev/full"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(verdict(&output).contains("works"), "{}", stdout(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/full"));
}

/// A machine with another answer; who asks for no page does not wait for it.
#[test]
fn reports_hold_the_answers() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (facts, page) = (directory.join("doctor.toml"), directory.join("answers.html"));
    std::fs::write(&facts, "provoking-vertex = \"first\"\n").expect("a file");
    let report = ["--device", "sim", "--report", page.to_str().expect("a plain name")];
    let output = command(&report).env("VC4SIM_FACTS", &facts).output().expect("vc4 starts");
    assert!(stdout(&output).contains("questions answered, 1 otherwise than assumed"), "{}", stdout(&output));
    let page = std::fs::read_to_string(&page).expect("the page");
    assert!(page.contains("<td class=\"differs\">first<br>assumed: last<td>"), "{page}");
    assert!(page.contains("\\nprovoking-vertex = \\\"first\\\"\\n"), "the facts are not in the document");
    assert!(stdout(&doctor(&["--device", "sim", "--json"])).contains("\"answers\":null"));
}
