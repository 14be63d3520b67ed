//! Metamorphic fuzzing of the compiler: random programs with exact meaning ([`ast`]) run on the simulated QPU as they are,
//! after spirv-opt and after changes that keep their meaning, and as compute shaders on the CPU's engines, and must show what
//! an interpreter of the language, which knows no compiler, says; as pictures ([`picture`]) they go through the driver to the QPUs, as do kernels of floats that are not exact
//! ([`inexact`]). The IR interpreter runs the front end's output, too; every
//! program passes the kernel's validator (strict) and the machine's rules.
//!
//! `METAMORPHIC=N` runs N programs, `METAMORPHIC_SEED=S` starts at seed S; `cargo xtask test --metamorphic N --seed S` does
//! both. A failure is made small and printed.

mod ast;
mod check;
mod eval;
mod front;
mod generate;
mod inexact;
mod kernel;
mod ops;
mod outcome;
mod picture;
mod print;

mod reduce;
mod report;
mod transform;
mod value;
mod variant;
mod world;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use ast::Program;
use check::check_variant;
use outcome::Outcome;
use variant::variants;
use vc4_tests::random::{self, Random};

/// Programs of a plain test run.
const PROGRAMS: usize = 150;
/// Seeds of programs that were compiled wrongly once, whose meaning every run checks in all forms.
const FAILED_ONCE: [u64; 5] = [2_000_309, 2_000_537, 2_002_968, 2_003_329, 2_004_204];

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn programs_mean_the_same_in_every_form() {
    let count = setting("METAMORPHIC").map_or(PROGRAMS, |n| n as usize);
    let first = setting("METAMORPHIC_SEED").unwrap_or(1);
    let (next, checked, refused) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let n = next.fetch_add(1, Relaxed);
            if n >= count + FAILED_ONCE.len() || failures.lock().expect("no panic").len() >= 5 {
                break;
            }
            let again = n.checked_sub(count).map(|n| FAILED_ONCE[n]);
            let seed = again.unwrap_or(first + n as u64);
            let program = generate::program(&mut Random(seed));
            assert!(program.is_exact(), "seed {seed} makes floats that are not exact");
            for variant in variants(seed, again.is_some() || setting("METAMORPHIC").is_some()) {
                match check_variant(&program, variant, seed) {
                    Outcome::Agrees => drop(checked.fetch_add(1, Relaxed)),
                    Outcome::Refused => drop(refused.fetch_add(1, Relaxed)),
                    Outcome::Wrong(error) => {
                        let report = report::report(seed, variant, &program, &error);
                        failures.lock().expect("no panic").push(report);
                        break;
                    }
                }
            }
            if n % 100 == 99 {
                println!("{} programs", n + 1);
            }
        }
        front::clean();
    };
    // Most of the time goes to processes, so that more threads than cores are well used.
    let threads = 4 * std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (checked, refused) = (checked.into_inner(), refused.into_inner());
    println!(
        "seeds {first} to {}: {checked} programs agree, {refused} fit no registers",
        first + count as u64 - 1
    );
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(
        checked > 20 * refused,
        "too many programs are refused to prove anything: {refused} of {checked}"
    );
}

#[test]
fn programs_are_exact_and_worth_running() {
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 1..2000 {
        let mut program = generate::program(&mut Random(seed));
        assert!(program.is_exact(), "seed {seed}");
        program.expressions(&mut |expr| {
            if let ast::Expr::Op(row, ..) = expr {
                kinds.insert(*row);
            }
            false
        });
    }
    assert_eq!(kinds.len(), ops::ROWS.len(), "every operation occurs");
}

/// The reducer finds the one statement that matters.
#[test]
fn reducing_keeps_what_fails() {
    let is_there = |program: &Program| {
        let mut found = false;
        program.clone().expressions(&mut |expr| {
            found |= matches!(expr, ast::Expr::Op(row, ..) if ops::ROWS[*row].text.starts_with("bitCount"));
            found
        });
        found
    };
    let seed = (1..).find(|&seed| is_there(&generate::program(&mut Random(seed)))).expect("seeds do not end");
    let program = generate::program(&mut Random(seed));
    let small = reduce::reduce(&program, &mut |candidate| is_there(candidate));
    assert!(is_there(&small));
    let lines = |program: &Program| print::sources(program).concat().lines().count();
    assert!(lines(&small) < lines(&program));
    assert!(small.body.len() <= 1, "{}", print::sources(&small).concat());
}
