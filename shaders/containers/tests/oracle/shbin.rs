//! What must hold for any bytes given to the SHBIN reader; the property tests and the fuzz target both call it.

use shader_containers::pica::{Inst, assemble};
use shader_containers::shbin::{self, Shbin};

/// Fails when reading panics, a model does not write back what it was read from, `check` and `read` disagree,
/// or a listing does not assemble into the words it lists.
pub fn shbin(bytes: &[u8]) {
    let findings = shbin::check(bytes);
    let refused = findings.iter().any(|finding| finding.is_error());
    assert_eq!(Shbin::read(bytes).is_err(), refused, "{findings:?}");
    let Ok(model) = Shbin::parse(bytes) else {
        return assert!(refused);
    };
    assert_eq!(model.write().as_deref(), Ok(bytes), "a model writes back what it was read from");
    relaid(&model);
    listing(&model);
}

/// Fails when the assembler panics, or a program it made does not print as a text that makes it again.
pub fn pica(bytes: &[u8]) {
    let Ok(program) = assemble(&String::from_utf8_lossy(bytes)) else {
        return;
    };
    let again = assemble(&program.to_string()).expect("a listing assembles");
    assert_eq!((again.code, again.descriptors), (program.code, program.descriptors));
}

/// Blocks given new places hold what they held.
fn relaid(model: &Shbin) {
    let mut moved = model.clone();
    moved.layout();
    let again = Shbin::parse(&moved.write().expect("blocks stand apart")).expect("a written file reads");
    assert_eq!(again, moved);
}

fn listing(model: &Shbin) {
    let program = model.program();
    // More does not assemble, and is refused by `check`.
    if program.code.len() > 4096 || program.descriptors.len() > 128 {
        return;
    }
    let text = program.to_string();
    let again = assemble(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(again.code, program.code, "{text}");
    assert_eq!(again.descriptors, program.descriptors, "{text}");
    for (&word, n) in program.code.iter().zip(0..) {
        let decoded = Inst::decode(word).map(Inst::encode);
        assert!(decoded.is_none_or(|encoded| encoded == word), "word {n}");
    }
}
