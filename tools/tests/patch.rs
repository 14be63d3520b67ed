//! `vc4 patch` as a shell sees it.

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn vc4(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_vc4"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("vc4 starts");
    // A command that does not read its input closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("vc4 ends")
}

fn ok(args: &[&str], input: &str) -> String {
    let output = vc4(args, input);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("text")
}

fn error(args: &[&str], input: &str) -> (Option<i32>, String) {
    let output = vc4(args, input);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

const FACTORS: [&str; 19] = [
    "zero",
    "one",
    "src-color",
    "one-minus-src-color",
    "dst-color",
    "one-minus-dst-color",
    "src-alpha",
    "one-minus-src-alpha",
    "dst-alpha",
    "one-minus-dst-alpha",
    "constant-color",
    "one-minus-constant-color",
    "constant-alpha",
    "one-minus-constant-alpha",
    "src-alpha-saturate",
    "src1-color",
    "one-minus-src1-color",
    "src1-alpha",
    "one-minus-src1-alpha",
];

const PROGRAM: &str = "
    .uniform push[0]
    sig_none ; r0 = or.always(a, a, uni) ; nop = nop() ;
    sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;
    sig_end ; nop = nop() ; nop = nop() ;
    sig_none ; nop = nop() ; nop = nop() ;
    sig_unlock_score ; nop = nop() ; nop = nop() ;";

/// The text assembles to the words, and both rule sets accept it.
fn is_a_program(args: &[&str], stage: &str, input: &str) {
    let text = ok(args, input);
    let hex = ok(&[args, &["--hex"]].concat(), input);
    assert_eq!(ok(&["asm", "--hex"], &text), hex, "{text}");
    assert_eq!(ok(&["check", "--stage", stage], &text), "", "{text}");
}

#[test]
fn blending() {
    for (n, src) in FACTORS.iter().enumerate() {
        let dst = FACTORS[(n * 7 + 3) % FACTORS.len()];
        is_a_program(&["patch", "blend", "--src", src, "--dst", dst], "fragment", "");
    }
    for op in ["add", "subtract", "reverse-subtract", "min", "max"] {
        is_a_program(&["patch", "blend", "--src", "one", "--dst", "one", "--op-alpha", op], "fragment", "");
    }
    for logic in ["clear", "xor", "or-inverted", "set"] {
        is_a_program(&["patch", "blend", "--logic-op", logic, "--write-mask", "rb"], "fragment", "");
    }
    for format in ["bgra8", "srgb", "565", "a2b10g10r10", "R16G16_SFLOAT", "r32-uint", "r8g8-snorm"] {
        is_a_program(&["patch", "blend", "--format", format], "fragment", "");
    }
}

#[test]
fn constants_have_values() {
    let args = ["patch", "blend", "--src", "constant-color", "--precise", "--constants", "0.5,0.25,1,0"];
    let text = ok(&args, "");
    assert!(text.contains(".uniform blend.r    # 0x3f000000"), "{text}");
    assert!(text.contains(".uniform blend.g    # 0x3e800000"), "{text}");
    assert!(text.contains("instructions") && text.contains("4 uniforms") && text.contains("cycles"));
    let json = ok(&[&args[..], &["--json"]].concat(), "");
    assert!(json.contains("{\"name\": \"blend.r\"") && json.contains("\"value\": 1056964608"), "{json}");
}

#[test]
fn other_state() {
    for stencil in ["off", "both", "faces", "full"] {
        is_a_program(&["patch", "depth-stencil", "--stencil", stencil], "fragment", "");
    }
    let full = ok(&["patch", "depth-stencil", "--stencil", "full"], "");
    assert_eq!(full.matches("tlb_stencil_setup").count(), 3);
    is_a_program(
        &["patch", "multisample", "--alpha-to-coverage", "--src", "src-alpha", "--dst", "one"],
        "fragment",
        "",
    );
    for stage in ["vertex", "coordinate"] {
        is_a_program(&["patch", "position", "--stage", stage, "--points"], stage, "");
    }
    let fetch =
        ok(&["patch", "vertex", "--format", "R8G8B8A8_UNORM", "--format", "VK_FORMAT_R16G16_SFLOAT"], "");
    assert!(fetch.contains("vr_setup = load32.always(0x00201a00)"), "{fetch}");
    assert!(fetch.contains(".8d(") && fetch.contains(".16b("), "{fetch}");
}

#[test]
fn programs_get_state() {
    let args = [
        "patch",
        "apply",
        "--stage",
        "fragment",
        "--src",
        "src-alpha",
        "--dst",
        "one-minus-src-alpha",
        "--depth",
    ];
    is_a_program(&args, "fragment", PROGRAM);
    let text = ok(&args, PROGRAM);
    assert!(
        text.contains(".uniform push[0]") && text.contains("# 0: own 0") && text.contains("tlb_z"),
        "{text}"
    );
    let plain = ok(&["patch", "apply", "--stage", "fragment", "--hex"], PROGRAM);
    let hex = ok(&["asm", "--hex"], PROGRAM);
    assert_eq!(ok(&["patch", "apply", "--stage", "fragment", "--hex", "--hex-input"], &hex), plain);
    let vertex = "
        sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop() ;
        sig_none ; vpm = or.always(a, a, vpm_read) ; nop = nop() ;
        sig_small_imm ; vpm = or.always(b, b, nop, 0) ; nop = nop() ;
        sig_small_imm ; vpm = or.always(b, b, nop, 0x3f800000) ; nop = nop() ;
        sig_end ; nop = nop() ; nop = nop() ;
        sig_none ; nop = nop() ; nop = nop() ;
        sig_none ; nop = nop() ; nop = nop() ;";
    for stage in ["vertex", "coordinate"] {
        is_a_program(
            &["patch", "apply", "--stage", stage, "--attribute", "R16G16B16A16_SNORM:2"],
            stage,
            vertex,
        );
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let twice = PROGRAM
        .replace("sig_end", "sig_none ; tlb_color_all = or.always(r0, r0) ; nop = nop() ;\n    sig_end");
    let (code, message) = error(&["patch", "apply", "--stage", "fragment"], &twice);
    assert_eq!(code, Some(1));
    assert!(
        message.contains("<stdin>:5:5: instruction 2") && message.contains("more than once"),
        "{message}"
    );
    let (code, message) = error(&["patch", "blend", "--src", "src-alhpa"], "");
    assert!(code == Some(2) && message.contains("src-alpha"), "{message}");
    let (code, message) = error(&["patch", "blend", "--format", "rgba9"], "");
    assert!(code == Some(2) && message.contains("a2b10g10r10"), "{message}");
    let (code, message) =
        error(&["patch", "blend", "--src", "one", "--dst", "one", "--format", "r32-uint"], "");
    assert!(code == Some(1) && message.contains("cannot be blended"), "{message}");
    let (code, _) = error(&["patch", "vertex", "--format", "R32_UNORM"], "");
    assert_eq!(code, Some(2));
}

#[test]
fn help_has_examples() {
    let help = ok(&["patch", "--help"], "");
    assert!(help.contains("Examples:") && help.contains("vc4 patch apply --stage fragment"), "{help}");
    assert!(ok(&["completions", "bash"], "").contains("one-minus-src-alpha"));
}
