//! What is said of a program that fails: the smallest one that fails alike.

use std::path::PathBuf;

use crate::ast::{Program, Stage};
use crate::check::check_variant;
use crate::outcome::Outcome;
use crate::random::Random;
use crate::variant::{Variant, passes};
use crate::{print, reduce, transform};

pub fn report(seed: u64, variant: Variant, program: &Program, error: &str) -> String {
    // Whatever fails on the way to the smallest program counts, or reducing would end early.
    let kind = |error: &str| error.split([':', ',']).next().unwrap_or_default().to_string();
    let wanted = kind(error);
    let mut fails = |candidate: &Program| matches!(check_variant(candidate, variant, seed), Outcome::Wrong(said) if kind(&said) == wanted);
    let small = reduce::reduce(program, &mut fails);
    let shown = match variant {
        Variant::Changed(transform) => transform::apply(&small, transform, &mut Random(seed ^ 0x7a4f)),
        _ => small.clone(),
    };
    let now = match check_variant(&small, variant, seed) {
        Outcome::Wrong(now) => now,
        _ => "does not fail any more".to_string(),
    };
    let [vertex, fragment] = print::sources(&shown);
    let mut sources = vec![("vert", vertex), ("frag", fragment)];
    let own = match variant {
        Variant::Kernel(_) => {
            sources.push(("comp", print::kernel(&shown)));
            2
        }
        _ => usize::from(small.stage == Stage::Fragment),
    };
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("metamorphic_{seed}");
    for (stage, source) in &sources {
        // The report holds the source as well.
        let _ = std::fs::write(directory.join(format!("{name}.{stage}")), source);
    }
    let source = &sources[own].1;
    let how = match variant {
        Variant::Passes(number) => format!(" {}", passes(number).join(" ")),
        _ => String::new(),
    };
    format!(
        "seed {seed}, {variant:?}{how}: {error}\nmade small ({name} in {}): {now}\n{source}",
        directory.display()
    )
}
