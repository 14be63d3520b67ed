//! Programs of a compiler that boards have run for years: they must keep every rule, and survive text.

use vc4::qpu::{Cost, Inst, Stage, assemble, check_program, disassemble, rules};

/// Shader, stage and words of every program.
fn programs() -> Vec<(String, Stage, Vec<u64>)> {
    let path = vc4_tests::shared::path("shader-corpus/mesa-vc4-programs.tsv");
    let text = std::fs::read_to_string(path).expect("the corpus");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [shader, stage, words] = cells[..] else { panic!("three columns: {line}") };
        let stage = match stage {
            "VS" => Stage::Vertex,
            "CS" => Stage::Coordinate,
            "FS" => Stage::Fragment,
            other => panic!("no stage {other}"),
        };
        let words = words.split(' ').map(|word| u64::from_str_radix(word, 16).expect("a word")).collect();
        (shader.to_string(), stage, words)
    };
    text.lines().filter(|line| !line.starts_with('#')).skip(1).map(row).collect()
}

#[test]
fn programs_of_another_compiler_keep_the_rules_and_survive_text() {
    if !vc4_tests::shared::available() {
        return;
    }
    let programs = programs();
    assert_eq!(programs.len(), 144);
    let mut instructions = 0;
    for (shader, stage, words) in programs {
        let insts: Vec<Inst> = words
            .iter()
            .map(|&word| Inst::decode(word).unwrap_or_else(|e| panic!("{shader}: {e}")))
            .collect();
        let violations = check_program(stage, &insts);
        assert!(violations.is_empty(), "{shader} {stage:?}\n{}", rules::render(&insts, &violations));
        let again = assemble(&disassemble(&words)).unwrap_or_else(|e| panic!("{shader}: {e}"));
        assert_eq!(again.words, words, "{shader}");
        let cost = Cost::of(&insts);
        assert!(cost.cycles() >= 4 * cost.instructions, "{shader}");
        instructions += insts.len();
    }
    assert_eq!(instructions, 9575);
}
