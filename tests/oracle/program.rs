//! What must hold for any program, as text or as words, that a stranger hands to the core. Fuzz targets and property
//! tests call these.

use vc4::qpu::{Cost, Inst, Stage, assemble, check_program, disassemble};

/// Programs longer than this only cost time.
const MAX_WORDS: usize = 256;

/// Any text assembles or is answered with places inside it; what assembles survives disassembly and judgement.
pub fn asm(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let program = match assemble(&text) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.diagnostics.is_empty());
            for diagnostic in &error.diagnostics {
                assert_eq!(text.get(diagnostic.span.clone()), Some(diagnostic.token.as_str()));
                assert!(diagnostic.line >= 1 && diagnostic.column >= 1);
            }
            return;
        }
    };
    assert_eq!(program.words.len(), program.spans.len());
    assert!(program.labels.iter().all(|label| label.instruction <= program.words.len()));
    assert!(program.uniforms.iter().all(|uniform| uniform.instruction < program.words.len()));
    round_trip(&program.words);
    if program.words.len() <= MAX_WORDS {
        judge(&program.words);
    }
}

/// Any words disassemble to text that assembles to them.
pub fn disasm(bytes: &[u8]) {
    let words: Vec<u64> =
        bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("8 bytes"))).collect();
    round_trip(&words);
    if words.len() <= MAX_WORDS {
        judge(&words);
    }
}

fn round_trip(words: &[u64]) {
    for &word in words {
        if let Ok(inst) = Inst::decode(word) {
            assert_eq!(inst.encode(), word);
        }
    }
    let listing = disassemble(words);
    let again = assemble(&listing).unwrap_or_else(|error| panic!("{listing}\n{error}"));
    assert_eq!(again.words, words, "{listing}");
    assert!(again.warnings.is_empty(), "{listing}");
}

/// The checker and the cost model answer for any instructions.
fn judge(words: &[u64]) {
    let insts: Vec<Inst> = words.iter().filter_map(|&word| Inst::decode(word).ok()).collect();
    for stage in [Stage::Vertex, Stage::Coordinate, Stage::Fragment] {
        for violation in check_program(stage, &insts) {
            assert!(violation.index <= insts.len());
        }
    }
    let cost = Cost::of(&insts);
    assert!(cost.instructions as usize <= insts.len() && cost.slots() >= cost.instructions);
}
