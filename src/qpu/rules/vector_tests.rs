//! The programs of the kernel validator's vectors under the machine's rules. Both ask different questions: the kernel guards
//! memory, refuses what drivers do not need and counts writes of units that do nothing; it knows neither hazards nor the
//! tile buffer's protocol.

use super::*;
use crate::qpu::Inst;

/// What the machine's rules say about a fragment program, beside the tile that none of these programs touches.
const FINDINGS: &[(&str, &[&str])] = &[
    ("end with 1 delay slot in data (pad 0)", &["end-missing"]),
    ("no end", &["end-missing"]),
    ("misaligned", &["branch-target"]),
    // The kernel looks at the end of the buffer, not of the program.
    ("forward beyond end inside BO (quirk)", &["branch-target"]),
    ("forward beyond BO", &["branch-target"]),
    ("branch then end in delay slot", &["branch-target", "branch-slots"]),
    ("branch distance 3", &["branch-slots"]),
    ("thrsw distance 2", &["switch-slots", "last-switch-missing"]),
    ("coverage load", &["start-scoreboard", "scoreboard-release"]),
    ("alpha mask load", &["start-scoreboard", "scoreboard-release"]),
    // The parameters are written by units without operation, which the kernel counts as requests.
    ("1 uniform + T,S", &["tmu-load-request"]),
    ("R,T,B,S", &["tmu-load-request"]),
    ("two samples", &["tmu-load-request"]),
    ("direct then normal sample on same TMU", &["tmu-load-request"]),
    ("direct on TMU0 then normal on TMU1", &["tmu-load-request"]),
    ("normal then direct on same TMU", &["tmu-load-request"]),
    ("threaded reading ra20", &["threaded-registers"]),
    ("branch 2 after thrsw", &["switch-slots", "last-switch-missing"]),
    // The kernel does not ask which switch is the last.
    ("branch 3 after thrsw", &["last-switch-missing"]),
    ("color load + end", &["end-scoreboard", "start-scoreboard", "scoreboard-release"]),
    ("clamp in r0 lost 3 after thrsw", &["switch-accumulators", "tmu-results-left"]),
    ("clamp in r0 used 2 after thrsw", &["tmu-over-switch", "tmu-results-left"]),
    ("conditional MAX", &["tmu-results-left"]),
    ("MAX with immediate 1", &["tmu-results-left"]),
    ("clamped register overwritten", &["tmu-results-left"]),
    ("clamp crosses branch target", &["tmu-results-left"]),
    ("ADD to S with T pending reads a uniform", &["tmu-results-left"]),
];

/// Case and words of every row.
fn rows() -> Vec<(String, Vec<u64>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/kernel-shader-vectors.tsv");
    let text = std::fs::read_to_string(path).expect("the vectors stand beside the crate");
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let case = cells.next().expect("a case").to_string();
        let words = cells.next().expect("a program").split(' ');
        (case, words.map(|word| u64::from_str_radix(word, 16).expect("a word")).collect())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn the_kernels_programs_under_the_machines_rules() {
    let rows = rows();
    assert_eq!(rows.len(), 87);
    for (case, words) in &rows {
        let insts: Vec<Inst> =
            words.iter().map(|&word| Inst::decode(word).unwrap_or_else(|e| panic!("{case}: {e}"))).collect();
        let mut ids: Vec<_> = check_program(Stage::Fragment, &insts).iter().map(|v| v.rule.id).collect();
        ids.retain(|&id| id != "tile-untouched");
        ids.dedup();
        let expected = FINDINGS.iter().find(|row| row.0 == case).map_or(&[][..], |row| row.1);
        assert_eq!(ids, expected, "{case}");
    }
    for (case, _) in FINDINGS {
        assert!(rows.iter().any(|row| row.0 == *case), "no row {case}");
    }
}
