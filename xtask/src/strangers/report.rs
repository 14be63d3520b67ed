//! What the outcomes come to.

use std::collections::BTreeMap;

use super::record::{Compiled, Outcome, Program};
use super::sources::Modules;

/// Programs below this are short for other reasons than the compiler's.
const OUTLIER_FROM: u32 = 100;

/// Kinds of programs, in the order in which they are told of.
const KINDS: [(&str, &str); 4] =
    [("VS", "vertex"), ("CS", "coordinate"), ("FS", "fragment"), ("compute", "kernels as pictures")];

/// The whole account of one run.
pub fn print(modules: &Modules, all: &[Compiled], top: usize) {
    println!(
        "{} modules, {} entry points; {} files hold what others hold, {} are refused by their own compiler",
        modules.found.len(),
        all.len(),
        modules.alike,
        modules.unread.len()
    );
    sizes(all);
    refusals(all);
    let fault = |one: &&Compiled| one.is_fault();
    all.iter().filter(fault).for_each(|one| println!("FAULT {}: {}", one.name, words(&one.outcome)));
    outliers(all, top);
    slowest(all, top);
}

/// Instructions, uniforms and threads by kind of program.
fn sizes(all: &[Compiled]) {
    println!(
        "{:20} {:>8} {:>8} {:>8} {:>9} {:>9} {:>12}",
        "programs", "number", "median", "90 %", "largest", "uniforms", "two threads"
    );
    for (kind, title) in KINDS {
        let of_kind: Vec<&Program> = all
            .iter()
            .flat_map(Compiled::programs)
            .filter(|p| p.kind == kind && p.instructions > 0)
            .collect();
        let mut sizes: Vec<u32> = of_kind.iter().map(|program| program.instructions).collect();
        sizes.sort_unstable();
        let Some(&largest) = sizes.last() else { continue };
        let uniforms: u32 = of_kind.iter().map(|program| program.uniforms).sum();
        let threaded = of_kind.iter().filter(|program| program.threads == 2).count();
        println!(
            "{title:20} {:8} {:8} {:8} {largest:9} {:9.1} {:11} %",
            sizes.len(),
            median(&sizes),
            sizes[sizes.len() * 9 / 10],
            f64::from(uniforms) / sizes.len() as f64,
            100 * threaded / sizes.len()
        );
    }
}

/// The middle of sorted numbers, in halves.
fn median(sorted: &[u32]) -> String {
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    format!("{:.1}", f64::from(low + high) / 2.0)
}

/// Refusals by cause, the most frequent first.
fn refusals(all: &[Compiled]) {
    let mut causes: BTreeMap<String, Vec<&Compiled>> = BTreeMap::new();
    for one in all {
        if let Outcome::Refused(why) = &one.outcome {
            causes.entry(cause(why)).or_default().push(one);
        }
    }
    let total: usize = causes.values().map(Vec::len).sum();
    println!("refused: {total} of {} ({:.2} %)", all.len(), 100.0 * total as f64 / all.len().max(1) as f64);
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, ones)| std::cmp::Reverse(ones.len()));
    for (cause, ones) in causes {
        println!("  {:5}  {cause}", ones.len());
        println!("         such as {}", ones[0].name);
    }
}

/// The first line of an error without what differs from module to module: its file, numbers, names in quotes.
fn cause(why: &str) -> String {
    let line = why.lines().next().unwrap_or_default();
    let line = line.split_once(".spv: ").map_or(line, |(_, rest)| rest);
    let (mut text, mut number, mut quoted) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '`' | '"' => {
                quoted = !quoted;
                text.push_str(if quoted { "…" } else { "" });
            }
            _ if quoted => {}
            '0'..='9' => text.push_str(if number { "" } else { "N" }),
            c => text.push(c),
        }
        number = c.is_ascii_digit();
    }
    text
}

/// Programs that are long for their source.
fn outliers(all: &[Compiled], top: usize) {
    let mut long: Vec<(f64, &Compiled, &Program)> = all
        .iter()
        .flat_map(|one| one.programs().iter().map(move |program| (one, program)))
        .filter(|(one, program)| program.instructions >= OUTLIER_FROM && one.operations > 0)
        .map(|(one, program)| (f64::from(program.instructions) / f64::from(one.operations), one, program))
        .collect();
    long.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("instructions for each of SPIR-V's, of programs of {OUTLIER_FROM} or more");
    for (ratio, one, program) in long.into_iter().take(top) {
        println!(
            "  {ratio:6.2}  {:2} {:5} for {:5}  {}",
            program.kind, program.instructions, one.operations, one.name
        );
    }
}

fn slowest(all: &[Compiled], top: usize) {
    let mut slow: Vec<&Compiled> = all.iter().collect();
    slow.sort_by_key(|one| std::cmp::Reverse(one.milliseconds));
    println!("longest compilations, the process's start in them");
    for one in slow.into_iter().take(top) {
        println!("  {:6} ms  {}  {}", one.milliseconds, one.name, words(&one.outcome));
    }
}

/// An outcome in one short line.
fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Compiled(programs) => {
            let one = |program: &Program| format!("{} {}", program.kind, program.instructions);
            programs.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Outcome::Refused(why) => format!("refused: {}", cause(why)),
        Outcome::Fault(what) => what.clone(),
    }
}

/// What is different from an earlier run, over the entry points that both have.
pub fn changes(before: &BTreeMap<String, Compiled>, all: &[Compiled], top: usize) {
    let both: Vec<(&Compiled, &Compiled)> =
        all.iter().filter_map(|now| before.get(&now.name).map(|old| (old, now))).collect();
    println!("against the earlier run: {} entry points are in both", both.len());
    let compiled = |one: &Compiled| matches!(one.outcome, Outcome::Compiled(_));
    let turned = |title: &str, was: bool| {
        for (old, now) in both.iter().filter(|(old, now)| compiled(old) == was && compiled(now) != was) {
            println!("  {title} {}: {}, before {}", now.name, words(&now.outcome), words(&old.outcome));
        }
    };
    turned("compiled now", false);
    turned("REFUSED NOW", true);
    let mut moved = Vec::new();
    for (kind, title) in KINDS {
        let size = |one: &Compiled| one.programs().iter().find(|p| p.kind == kind).cloned();
        let pairs: Vec<_> = both
            .iter()
            .filter_map(|(old, now)| Some((size(old)?, size(now)?, &now.name)))
            .filter(|(old, now, _)| old.instructions > 0 && now.instructions > 0)
            .collect();
        if pairs.is_empty() {
            continue;
        }
        let sum = |of: &dyn Fn(&(Program, Program, &String)) -> u32| {
            pairs.iter().map(|p| u64::from(of(p))).sum::<u64>()
        };
        let (old, now) = (sum(&|p| p.0.instructions), sum(&|p| p.1.instructions));
        let (old_words, now_words) = (sum(&|p| p.0.uniforms), sum(&|p| p.1.uniforms));
        let threads = |which: &dyn Fn(&(Program, Program, &String)) -> u32| {
            pairs.iter().filter(|p| which(p) == 2).count()
        };
        println!(
            "  {title:20} instructions {old} to {now} ({:.4}), uniforms {old_words} to {now_words} ({:.4}), with two threads {} to {}",
            now as f64 / old as f64,
            now_words as f64 / old_words.max(1) as f64,
            threads(&|p| p.0.threads),
            threads(&|p| p.1.threads)
        );
        moved.extend(pairs.iter().map(|(old, now, name)| {
            (
                i64::from(now.instructions) - i64::from(old.instructions),
                old.clone(),
                now.clone(),
                name.to_string(),
            )
        }));
    }
    moved.retain(|(by, ..)| *by != 0);
    moved.sort_by_key(|(by, ..)| *by);
    let row = |(by, old, now, name): &(i64, Program, Program, String)| {
        println!("  {by:+6}  {:2} {:5} to {:5}  {name}", now.kind, old.instructions, now.instructions);
    };
    let (shorter, longer) = moved.split_at(moved.partition_point(|(by, ..)| *by < 0));
    println!("  shorter: {}", shorter.len());
    shorter.iter().take(top).for_each(row);
    println!("  longer: {}", longer.len());
    longer.iter().rev().take(top).for_each(row);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_hold_nothing_of_the_module() {
        let why = "dir/x.frag.spv: fragment program: 57 values are alive in line 12 of `main`\n  --> x";
        assert_eq!(cause(why), "fragment program: N values are alive in line N of …");
    }

    #[test]
    fn medians_are_the_middle() {
        assert_eq!(median(&[1, 2, 9]), "2.0");
        assert_eq!(median(&[1, 2, 3, 9]), "2.5");
    }
}
