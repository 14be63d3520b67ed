//! Violating and clean programs for every rule.

use super::*;
use crate::qpu::Inst;
use crate::qpu::asm::assemble;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Short spellings of the instructions that most programs need.
fn expand(line: &str) -> String {
    let sig = |name: &str| format!("sig_{name} ; nop = nop(r0, r0) ; nop = nop(r0, r0) ;");
    let rotate = |by| format!("sig_small_imm ; nop = nop(r0, r0, nop, {by}) ; r1 = v8min.always(r0, r0) ;");
    match line.trim() {
        "nop" => sig("none"),
        "end" => sig("end"),
        "wait" => sig("wait_score"),
        "unlock" => sig("unlock_score"),
        "switch" => sig("thread_switch"),
        "last" => sig("last_thread_switch"),
        "load0" => sig("load_tmu0"),
        "rot1" => rotate("rot1"),
        "rot_r5" => rotate("rot_r5"),
        "color" => expand("tlb_color_all = or.always(a, a, ra0)"),
        "z" => expand("tlb_z = or.always(b, b, nop, rb15)"),
        "s" => expand("tmu0_s = or.always(b, b, nop, rb1)"),
        "t" => expand("tmu0_t = or.always(b, b, nop, rb1)"),
        "vary" => expand("nop = nop(r0, r0, vary)"),
        "read" => expand("r0 = or.always(a, a, vpm_read)"),
        "vr2" => "sig_load_imm ; vr_setup = load32.always(0x201a00) ; nop = load32() ;".into(),
        full if full.contains(';') => full.into(),
        branch if branch.contains("branch") => format!("sig_branch ; {branch} ; nop = branch() ;"),
        add => format!("sig_none ; {add} ; nop = nop(r0, r0) ;"),
    }
}

fn program(text: &str) -> Vec<Inst> {
    let text: String = text.lines().flat_map(|l| l.split(" / ")).map(|l| expand(l) + "\n").collect();
    let assembled = assemble(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    assembled.instructions().expect("instructions")
}

/// How a row's text becomes a program.
#[derive(Clone, Copy)]
enum Frame {
    /// A whole fragment program.
    Raw,
    /// Between two fillers and a colour write with its ending.
    Fragment,
    /// As `Fragment`, with two declared varyings.
    TwoVaryings,
    /// Before the ending of a vertex program.
    Vertex,
}
use Frame::{Fragment, Raw, TwoVaryings, Vertex};

fn framed(frame: Frame, body: &str) -> (Stage, Vec<Inst>) {
    match frame {
        Raw => (Stage::Fragment, program(body)),
        Fragment | TwoVaryings => {
            (Stage::Fragment, program(&format!("nop / nop / {body} / color / end / nop / unlock")))
        }
        Vertex => (Stage::Vertex, program(&format!("{body} / end / nop / nop"))),
    }
}

/// Rule, frame, violating program, clean program.
const ROWS: &[(&str, Frame, &str, &str)] = &[
    ("end-missing", Raw, "nop / nop / color / unlock", "nop / nop / color / end / nop / unlock"),
    ("end-missing", Raw, "nop / nop / color / end / unlock", "nop / nop / color / end / nop / unlock"),
    (
        "end-streams",
        Raw,
        "nop / nop / color / sig_end ; nop = nop(r0, r0, uni) ; nop = nop(r0, r0) ; / nop / unlock",
        "nop / nop / color / sig_end ; nop = nop(r0, r0, ra1) ; nop = nop(r0, r0) ; / nop / unlock",
    ),
    (
        "end-streams",
        Raw,
        "nop / nop / color / end / r5 = or.always(a, a, vary) / unlock",
        "nop / nop / color / end / r5 = or.always(a, a, elem) / unlock",
    ),
    (
        "end-file-write",
        Raw,
        "nop / nop / color / sig_end ; rx1 = or.always(r0, r0) ; nop = nop(r0, r0) ; / nop / unlock",
        "nop / nop / color / sig_end ; r1 = or.always(r0, r0) ; nop = nop(r0, r0) ; / nop / unlock",
    ),
    (
        "end-register-14",
        Raw,
        "nop / nop / color / end / r0 = or.always(a, a, ra14) / unlock",
        "nop / nop / color / end / r0 = or.always(a, a, ra13) / unlock",
    ),
    ("end-z-write", Raw, "nop / nop / z / end / nop / unlock", "nop / nop / z / color / end / nop / unlock"),
    ("end-z-write", Raw, "nop / nop / nop / end / nop / z", "nop / nop / z / nop / end / nop / unlock"),
    (
        "end-scoreboard",
        Raw,
        "nop / nop / sig_end ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ; / nop / unlock",
        "nop / nop / wait / sig_end ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ; / nop / unlock",
    ),
    ("tmu-results-left", Fragment, "s", "s / load0"),
    ("tmu-request-open", Fragment, "t", "t / s / load0"),
    ("vpm-vectors", Vertex, "vr2 / read", "vr2 / read / read"),
    ("vpm-vectors", Vertex, "vr2 / read / vr2 / read / read", "vr2 / read / read / vr2 / read / read"),
    ("vpm-setup", Vertex, "read", "vr2 / read / read"),
    ("varyings-left", TwoVaryings, "vary", "vary / vary"),
    (
        "varyings-left",
        TwoVaryings,
        "vary / nop = branch.rel(8, any_zs) / nop / nop / nop / vary / nop",
        "vary / nop = branch.rel(8, any_zs) / nop / nop / nop / nop / vary",
    ),
    ("varyings-declared", TwoVaryings, "vary / vary / vary", "nop = nop(r0, r0, vary, vary) / vary"),
    (
        "varyings-declared",
        TwoVaryings,
        "vary / vary / nop = branch.rel(-40, any_zs) / nop / nop / nop",
        "vary / vary / nop = branch.rel(-32, any_zs) / nop / nop / nop",
    ),
    (
        "start-scoreboard",
        Raw,
        "nop / color / nop / end / nop / unlock",
        "nop / nop / color / end / nop / unlock",
    ),
    (
        "noswap-distance",
        Fragment,
        "tmu_noswap = or.always(r0, r0) / nop / s / load0",
        "tmu_noswap = or.always(r0, r0) / nop / nop / s / load0",
    ),
    (
        "file-latency",
        Fragment,
        "rx1 = or.always(r0, r0) / r1 = or.always(a, a, ra1)",
        "rx1 = or.always(r0, r0) / r1 = or.always(a, a, ra2) / r1 = or.always(a, a, ra1)",
    ),
    (
        "file-latency",
        Fragment,
        "rx1.16a = or.zs.ws(r0, r0) / r1 = or.always(b, b, nop, rb1)",
        "rx1.16a = or.zs.ws(r0, r0) / r1 = or.always(a, a, ra1)",
    ),
    (
        // Over the edge of a taken branch: the third delay slot writes what the target reads.
        "file-latency",
        Fragment,
        "nop = branch.rel(8, always, ra0) / nop / nop / rx1 = or.always(r0, r0) / nop / r1 = or.always(a, a, ra1)",
        "nop = branch.rel(0, always, ra0) / nop / nop / rx1 = or.always(r0, r0) / nop / r1 = or.always(a, a, ra1)",
    ),
    (
        "sfu-r4",
        Fragment,
        "sfu_recip = or.always(r0, r0) / nop / r1 = or.always(r4, r4)",
        "sfu_recip = or.always(r0, r0) / nop / nop / r1 = or.always(r4, r4)",
    ),
    (
        "sfu-r4",
        Fragment,
        "s / sfu_recip = or.always(r0, r0) / load0",
        "s / sfu_recip = or.always(r0, r0) / nop / nop / load0",
    ),
    (
        "uniform-address",
        Fragment,
        "uniforms_addr = or.always(r0, r0) / nop / r1 = or.always(a, a, uni)",
        "uniforms_addr = or.always(r0, r0) / nop / nop / r1 = or.always(a, a, uni)",
    ),
    (
        "uniform-address",
        Fragment,
        "t / uniforms_addr = or.always(r0, r0) / nop / s / load0",
        "uniforms_addr = or.always(r0, r0) / nop / s / load0",
    ),
    ("rotate-operand", Fragment, "r0 = or.always(r1, r1) / rot1", "r0 = or.always(r1, r1) / nop / rot1"),
    ("rotate-r5", Fragment, "r5 = or.always(r1, r1) / rot_r5", "r5 = or.always(r1, r1) / rot1"),
    ("rotate-r5", Fragment, "nop = nop(r0, r0, vary) / rot_r5", "nop = nop(r0, r0, vary) / nop / rot_r5"),
    (
        "z-then-flags",
        Fragment,
        "z / nop / r0 = or.always(a, a, ms_flags)",
        "z / nop / nop / r0 = or.always(a, a, ms_flags)",
    ),
    (
        "branch-slots",
        Fragment,
        "nop = branch.rel(0, always) / nop / nop / nop = branch.rel(0, always) / nop / nop / nop",
        "nop = branch.rel(0, always) / nop / nop / nop / nop = branch.rel(0, always) / nop / nop / nop",
    ),
    (
        "branch-slots",
        Fragment,
        "nop = branch.rel(0, always) / nop / last / nop / nop",
        "nop = branch.rel(0, always) / nop / nop / nop / last / nop / nop",
    ),
    (
        "branch-target",
        Fragment,
        "nop = branch.rel(4, always) / nop / nop / nop / nop",
        "nop = branch.rel(8, always) / nop / nop / nop / nop",
    ),
    (
        "branch-target",
        Fragment,
        "nop = branch.rel(1024, any_zs) / nop / nop / nop",
        "nop = branch.rel(-32, any_zs) / nop / nop / nop",
    ),
    (
        "branch-flags",
        Fragment,
        "nop = branch.rel(0, always, ra7) / nop / nop / nop",
        "nop = branch.rel(0, always, ra6) / nop / nop / nop",
    ),
    ("switch-slots", Fragment, "switch / last / nop / nop", "switch / nop / nop / last / nop / nop"),
    (
        "switch-accumulators",
        Fragment,
        "r0 = or.always(a, a, ra1) / last / nop / nop / r1 = or.always(r0, r0)",
        "last / nop / r1 = or.always(r0, r0) / r0 = or.always(a, a, ra1) / r1 = or.always(r0, r0)",
    ),
    (
        "switch-accumulators",
        Fragment,
        "nop = sub.sf.always(r0, r1) / last / nop / nop / r1 = or.zs(a, a, ra1)",
        "last / nop / nop / nop = sub.sf.always(a, a, ra1) / r1 = or.zs(a, a, ra1)",
    ),
    (
        "one-peripheral",
        Fragment,
        "sig_none ; sfu_recip = or.always(r0, r0) ; tmu0_s = v8min.always(r0, r0) ; / nop / nop / load0",
        "sig_none ; sfu_recip = or.always(r0, r0) ; r1 = v8min.always(r0, r0) ; / s / nop / load0",
    ),
    (
        "one-peripheral",
        Fragment,
        "sig_color_load ; tlb_color_all = or.always(r0, r0) ; nop = nop(r0, r0) ;",
        "sig_color_load ; tlb_color_ms = or.always(r0, r0) ; nop = nop(r0, r0) ;",
    ),
    (
        "one-peripheral",
        Fragment,
        "sig_color_load ; tlb_z = or.always(r0, r0) ; nop = nop(r0, r0) ;",
        "sig_color_load ; tlb_stencil_setup = or.always(r0, r0) ; nop = nop(r0, r0) ;",
    ),
    (
        "one-vpm-access",
        Vertex,
        "sig_none ; vpm = or.always(r0, r0) ; vw_setup = v8min.always(r0, r0) ;",
        "vr2 / read / sig_none ; vpm = or.always(a, a, vpm_read) ; r0 = v8min.always(r0, r0) ;",
    ),
    (
        "one-uniform",
        Fragment,
        "t / tmu0_s = or.always(a, a, uni) / load0",
        "tmu0_s = add.always(r0, a, uni) / load0",
    ),
    (
        "same-destination",
        Fragment,
        "sig_none ; r0 = or.always(r1, r1) ; r0 = v8min.always(r1, r1) ;",
        "sig_none ; rx1 = or.always(r1, r1) ; rx1 = v8min.always(r1, r1) ;",
    ),
    ("conditional-peripheral", Vertex, "vpm = or.zs(r0, r0)", "vpm = or.always(r0, r0)"),
    (
        "conditional-peripheral",
        Fragment,
        "tlb_stencil_setup = or.zc(r0, r0)",
        "tlb_z = or.zc(b, b, nop, rb15)",
    ),
    ("partial-peripheral", Vertex, "vpm.8a = or.always(r0, r0)", "vpm.8888 = or.always(r0, r0)"),
    (
        "mul-pack",
        Fragment,
        "sig_none ; nop = nop.pm(r0, r0) ; r1.16a = v8min.always(r0, r0) ;",
        "sig_none ; nop = nop.pm(r0, r0) ; r1.8a = v8min.always(r0, r0) ;",
    ),
    ("flags-source", Fragment, "nop = sub.sf(r0, r1)", "nop = sub.sf.always(r0, r1)"),
    (
        "semaphore-destination",
        Fragment,
        "sig_load_imm ; sfu_recip = sem_inc.always(1) ; nop = sem_inc() ;",
        "sig_load_imm ; r1 = sem_inc.always(1) ; nop = sem_inc() ;",
    ),
    ("stage-units", Fragment, "vpm = or.always(r0, r0)", "r1 = or.always(r0, r0)"),
    ("stage-units", Vertex, "nop / nop / color", "nop / nop / vpm = or.always(a, a, ra0)"),
    ("stage-units", Vertex, "r0 = or.always(a, a, vary)", "r0 = or.always(a, a, uni)"),
    ("stage-units", Vertex, "last / nop / nop", "nop / nop / nop"),
    (
        "threaded-registers",
        Fragment,
        "last / nop / nop / r1 = or.always(a, a, ra16)",
        "last / nop / nop / r1 = or.always(a, a, ra15)",
    ),
    (
        "switch-after-last",
        Fragment,
        "last / nop / nop / switch / nop / nop",
        "switch / nop / nop / last / nop / nop",
    ),
    ("last-switch-missing", Fragment, "switch / nop / nop", "switch / nop / nop / last / nop / nop"),
    ("tile-before-last-switch", Fragment, "color / last / nop / nop", "last / nop / nop / color"),
    ("tile-before-last-switch", Fragment, "last / nop / color", "last / nop / nop / color"),
    ("switch-scoreboard", Fragment, "wait / last / nop / nop", "last / nop / nop / wait"),
    ("tmu-load-request", Fragment, "load0", "s / load0"),
    ("tmu-load-switch", Fragment, "last / nop / nop / s / load0", "last / nop / s / load0"),
    (
        "tmu-over-switch",
        Fragment,
        "s / switch / nop / nop / last / nop / nop / load0",
        "s / switch / nop / nop / last / load0 / nop",
    ),
    (
        "tmu-queue",
        Fragment,
        "s / s / s / s / s / load0 / load0 / load0 / load0 / load0",
        "s / s / s / s / load0 / s / load0 / load0 / load0 / load0",
    ),
    (
        "tmu-queue",
        Fragment,
        "t / s / t / s / t / s / last / nop / nop / load0 / load0 / load0",
        "t / s / t / s / last / nop / nop / load0 / load0",
    ),
    (
        "scoreboard-release",
        Raw,
        "nop / nop / color / end / nop / nop",
        "nop / nop / color / end / nop / unlock",
    ),
    ("tile-untouched", Raw, "nop / nop / nop / end / nop / unlock", "nop / nop / wait / end / nop / unlock"),
    ("tile-after-release", Fragment, "color / unlock", "color / nop"),
    ("z-before-color", Fragment, "color / z / nop", "z / color / nop"),
];

fn broken(frame: Frame, body: &str) -> Vec<&'static str> {
    let (stage, insts) = framed(frame, body);
    let declared = Declared { varyings: matches!(frame, TwoVaryings).then_some(2) };
    let mut ids: Vec<_> = check_declared(stage, &insts, declared).iter().map(|v| v.rule.id).collect();
    ids.dedup();
    ids
}

#[test]
fn every_rule_finds_its_violation_and_spares_clean_programs() {
    for &(id, frame, bad, good) in ROWS {
        assert!(broken(frame, bad).contains(&id), "{id} misses `{bad}`: {:?}", broken(frame, bad));
        assert_eq!(broken(frame, good), [""; 0], "{id}: `{good}`");
    }
    for rule in RULES {
        assert!(ROWS.iter().any(|row| row.0 == rule.id), "no program for {}", rule.id);
    }
}

#[test]
fn most_violations_break_one_rule_only() {
    let single = ROWS.iter().filter(|row| broken(row.1, row.2).len() == 1).count();
    assert!(single * 10 >= ROWS.len() * 8, "{single} of {}", ROWS.len());
}

#[test]
fn rule_ids_are_unique() {
    let ids: BTreeSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
}

#[test]
fn paths_are_told_apart() {
    // The branch jumps over the load on one path.
    let body = "s / nop = branch.rel(8, any_zs) / nop / nop / nop / load0 / nop";
    assert_eq!(broken(Fragment, body), ["tmu-results-left"]);
    // A loop that switches threads each time round and ends with the last switch.
    let body =
        "s / switch / nop / nop / load0 / nop = branch.rel(-72, any_zs) / nop / nop / nop / last / nop / nop";
    assert_eq!(broken(Fragment, body), ["switch-accumulators"]);
}

#[test]
fn findings_are_shown_in_the_listing() {
    let (stage, insts) = framed(Fragment, "rx1 = or.always(r0, r0) / r1 = or.always(a, a, ra1)");
    let violations = check_program(stage, &insts);
    let text = render(&insts, &violations);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].starts_with("*    2: sig_none ; rx1 ="), "{text}");
    assert!(lines[3].starts_with(">    3: sig_none ; r1 ="), "{text}");
    assert_eq!(lines[4].trim(), "^ file-latency: directly after instruction 2, at least 2 needed");
    let sentence = "a file register is not read in the instruction after its write (qpu.md §5.1 9)";
    assert_eq!(lines[5].trim(), sentence);
    assert!(render(&[], &check_program(Stage::Vertex, &[])).starts_with("> end:"));
}

#[test]
fn distances_are_those_of_the_latency_table() {
    let distance = |first: &str, second: &str| {
        let (a, b) = (program(first), program(second));
        min_distance(&a[0], &b[0])
    };
    let read = |mux: &str, raddr: &str| format!("r1 = or.always({mux}, {mux}{raddr})");
    // qpu.md §5.2, in its order.
    assert_eq!(distance("r0 = or.always(a, a, ra1)", &read("r0", "")), 1);
    assert_eq!(distance("r0 = or.always(a, a, ra1)", "rot1"), 2);
    assert_eq!(distance("r5 = or.always(a, a, ra1)", &read("r5", "")), 1);
    assert_eq!(distance("nop = nop(r0, r0, vary)", &read("r5", "")), 1);
    assert_eq!(distance("r5 = or.always(a, a, ra1)", "rot_r5"), 2);
    assert_eq!(distance("rx1 = or.always(r2, r2)", &read("a", ", ra1")), 2);
    assert_eq!(distance("nop = sub.sf.always(r0, r2)", "r1 = or.zs(r3, r3)"), 1);
    assert_eq!(distance("nop = sub.sf.always(r0, r2)", "nop = branch.rel(0, any_zs)"), 1);
    assert_eq!(distance("sfu_exp = or.always(r0, r0)", &read("r4", "")), 3);
    assert_eq!(distance("load0", &read("r4", "")), 1);
    assert_eq!(distance("s", "load0"), 1);
    assert_eq!(distance("uniforms_addr = or.always(r0, r0)", &read("a", ", uni")), 3);
    assert_eq!(distance("tmu_noswap = or.always(r0, r0)", "t"), 3);
    assert_eq!(distance("vr2", "read"), 1);
    assert_eq!(distance("z", "color"), 1);
    assert_eq!(distance("z", &read("a", ", ms_flags")), 3);
    assert_eq!(distance("ms_flags = or.always(r0, r0)", "z"), 1);
    assert_eq!(distance("tlb_stencil_setup = or.always(r0, r0)", "z"), 1);
    assert_eq!(distance("rx31 = or.always(r0, r0)", "nop = branch.reg(0, always, ra31)"), 2);
    // Independent, or only overwriting what was read.
    assert_eq!(distance("r0 = or.always(r2, r2)", "r1 = or.always(r3, r3)"), 0);
    assert_eq!(distance("r0 = or.always(r1, r1)", "r1 = or.always(r3, r3)"), 0);
    assert_eq!(distance("rx1 = or.always(r2, r2)", &read("b", ", nop, rb1")), 0);
}

proptest! {
    #[test]
    fn any_program_is_answered(words in proptest::collection::vec(any::<u64>(), 0..40)) {
        let insts: Vec<Inst> = words.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
        for stage in [Stage::Fragment, Stage::Vertex, Stage::Coordinate] {
            let violations = check_program(stage, &insts);
            prop_assert!(violations.iter().all(|v| v.index <= insts.len()));
            prop_assert!(render(&insts, &violations).lines().count() >= insts.len());
        }
    }
}
