//! Checks on the simulator, on a device that drops its jobs and on devices with faults.

use vc4_kernel_abi::{Gpu, Noop};
use vc4_sim::{Config, Simulator};

use super::outcome::Compared;
use super::{CHECKS, Checked, Ended, known, run};
use crate::jobs::bench::Bench;
use crate::jobs::faulty::{Fault, Faulty};

fn simulator() -> Simulator {
    Simulator::new(Config {
        memory_bytes: 96 << 20,
        check_programs: true,
        findings_are_errors: true,
        ..Config::default()
    })
}

fn check(gpu: &dyn Gpu) -> Vec<Checked> {
    run(gpu, &mut |_| ())
}

/// Why the check of that name failed.
fn why<'a>(checked: &'a [Checked], name: &str) -> &'a str {
    match &checked.iter().find(|checked| checked.name == name).expect("a check").ended {
        Ended::Failed { why, .. } => why,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn the_simulator_passes() {
    let checked = check(&simulator());
    assert_eq!(checked.len(), CHECKS.len());
    for checked in checked {
        assert!(matches!(checked.ended, Ended::Passed(_)), "{}: {:?}", checked.name, checked.ended);
    }
}

#[test]
fn dropped_jobs_are_noticed() {
    let checked = check(&Noop::new());
    let drawing =
        ["clears", "shapes", "arithmetic", "interpolation", "textures", "depth", "order", "many", "latency"];
    for name in drawing {
        let why = why(&checked, name);
        assert!(why.contains("pixels are wrong") && why.contains(": 00000000 instead of"), "{name}: {why}");
    }
    assert_eq!(why(&checked, "filling"), "a corner is 00000000 instead of ffffffff");
    let of_pictures = &checked.iter().find(|checked| checked.name == "pictures").expect("a check").ended;
    // Few leave nothing.
    assert!(
        matches!(of_pictures, Ended::Differs(outcome) if outcome.differing.len() > 70),
        "{of_pictures:?}"
    );
    let of_memory = &checked.iter().find(|checked| checked.name == "memory").expect("a check").ended;
    assert!(matches!(of_memory, Ended::Passed(_)), "{of_memory:?}");
}

const ENOTTY: i32 = 25;
const EACCES: i32 = 13;

#[test]
fn errors_of_the_kernel_are_told() {
    let checked = check(&Faulty::new(simulator(), Fault::NoBos(ENOTTY)));
    assert_eq!(
        why(&checked, "memory"),
        "DRM_IOCTL_VC4_CREATE_BO failed: Inappropriate ioctl for device (os error 25)"
    );
    let checked = check(&Faulty::new(simulator(), Fault::NoJobs(EACCES)));
    assert_eq!(why(&checked, "clears"), "DRM_IOCTL_VC4_SUBMIT_CL failed: Permission denied (os error 13)");
    assert!(
        why(&check(&Faulty::new(simulator(), Fault::OtherIdent)), "identity").contains("IDENT0 is 04443356")
    );
}

#[test]
fn caches_that_keep_or_lose_too_much_are_noticed() {
    let stale = check(&Faulty::new(simulator(), Fault::StaleCaches));
    assert!(why(&stale, "caches").ends_with("where a job left 01020304"), "{}", why(&stale, "caches"));
    let lossy = check(&Faulty::new(simulator(), Fault::LossyCaches));
    assert_eq!(why(&lossy, "caches"), "fefdfcfb that was not written back is 01020304");
}

#[test]
fn a_hang_is_named_and_survived() {
    let checked = check(&Faulty::new(simulator(), Fault::DrawsHang));
    assert_eq!(why(&checked, "shapes"), "a job did not end within 5 seconds: the GPU hangs");
    assert!(checked.iter().all(|checked| !matches!(checked.ended, Ended::Skipped)));
    assert!(checked.iter().any(|c| c.name == "allocation" && matches!(c.ended, Ended::Passed(_))));
}

#[test]
fn a_gpu_that_is_gone_is_left_alone() {
    let checked = check(&Faulty::new(simulator(), Fault::AllHangs));
    assert!(why(&checked, "clears").contains("hangs"));
    let after = checked.iter().skip_while(|checked| checked.name != "shapes");
    assert!(after.clone().count() > 5 && after.clone().all(|c| matches!(c.ended, Ended::Skipped)));
}

#[test]
fn one_wrong_bit_is_found() {
    let checked = check(&Faulty::new(simulator(), Fault::OneBit));
    let failed: Vec<&str> =
        checked.iter().filter(|c| !matches!(c.ended, Ended::Passed(_))).map(|c| c.name).collect();
    assert_eq!(failed, ["many"]);
    assert!(why(&checked, "many").starts_with("1 of 307200 pixels are wrong"));
    let ended = checked.into_iter().find(|c| c.name == "many").expect("a check").ended;
    let Ended::Failed { pictures: Some(pictures), .. } = ended else { panic!("{ended:?}") };
    let (seen, expected) = *pictures;
    assert_eq!(seen.words.iter().zip(&expected.words).filter(|(a, b)| a != b).count(), 1);
}

#[test]
fn a_known_picture_that_differs_names_the_assumption() {
    let facts = vc4::facts::read("resolve-rounding = \"down\"").expect("a fact");
    let gpu = Simulator::new(Config { memory_bytes: 96 << 20, facts, ..Config::default() });
    let outcome = known::pictures(&Bench::new(&gpu)).expect("they run");
    assert!(!outcome.differing.is_empty());
    for compared in &outcome.differing {
        assert!(
            compared.why.contains("it is so if resolve-rounding is \"down\""),
            "{}: {}",
            compared.name,
            compared.why
        );
        assert!(compared.why.contains(" tiles: ("), "{}: {}", compared.name, compared.why);
    }
    assert!(
        outcome.differing.iter().any(|compared| compared.why.ends_with("it is the tile's load or store"))
    );
}

/// Filters that weigh otherwise: the load of the lookup's result is the first instruction that leaves another word.
#[test]
fn a_known_picture_that_differs_names_the_instruction() {
    let facts = vc4::facts::read("weight-bits = \"5\"").expect("a fact");
    let gpu = Simulator::new(Config { memory_bytes: 96 << 20, facts, ..Config::default() });
    let outcome = known::pictures(&Bench::new(&gpu)).expect("they run");
    assert!(!outcome.differing.is_empty());
    for Compared { name, why, .. } in &outcome.differing {
        assert!(why.contains("it is so if weight-bits is \"5\"; instruction "), "{name}: {why}");
        assert!(why.contains(" `sig_load_tmu") && why.contains(" in r4, not "), "{name}: {why}");
    }
}

#[test]
fn a_known_picture_that_differs_is_no_failure() {
    let checked = check(&Faulty::new(simulator(), Fault::OneKnownBit));
    let mut others = checked.iter().filter(|checked| !matches!(checked.ended, Ended::Passed(_)));
    let Some(Ended::Differs(outcome)) = others.next().map(|checked| &checked.ended) else {
        panic!("{checked:?}")
    };
    assert!(others.next().is_none());
    assert_eq!(outcome.said, "1 of 105 known pictures are not the simulator's: scenes/clear");
    assert!(
        outcome.differing[0].why.starts_with("color: 1 of 10241 pixels are wrong"),
        "{}",
        outcome.differing[0].why
    );
    // Nobody draws there: the tile is cleared.
    let nobody = "; it rests on no assumption; no program of the simulator changes pixel (24, 14)";
    assert!(outcome.differing[0].why.ends_with(nobody), "{}", outcome.differing[0].why);
}
