//! The probe on simulators that behave otherwise than assumed: it must name what each of them does.

use vc4::facts::{Facts, Number, Numbers, ROWS, Row};
use vc4_kernel_abi::{Gpu, Noop};
use vc4_sim::{Config, Simulator};

use super::ask::{Answer, Report, ask, wanted};
use super::experiments::{EXPERIMENTS, Experiment};
use super::numbers::{By, measure};
use crate::jobs::bench::Bench;
use crate::jobs::faulty::{Fault, Faulty};

fn simulator(facts: Facts) -> Simulator {
    Simulator::new(Config { memory_bytes: 96 << 20, facts, check_programs: false, ..Config::default() })
}

fn probe(gpu: &dyn Gpu, names: &[&str]) -> Report {
    ask(gpu, &wanted(names), &mut |_| ())
}

fn told(report: &Report, name: &str) -> Option<usize> {
    let asked = report.asked.iter().find(|asked| asked.row.name == name).expect("it was asked");
    match &asked.answer {
        Answer::Told { hypothesis, telling } => {
            assert!(*telling > 0, "{name}");
            Some(*hypothesis)
        }
        other => {
            eprintln!("{name}: {other:?}, words {:x?}", asked.words);
            None
        }
    }
}

/// The rows that the probe asks, by their number.
fn asked() -> impl Iterator<Item = (&'static Experiment, usize, &'static Row)> {
    EXPERIMENTS.iter().map(|experiment| {
        let (at, row) = Row::find(experiment.name).expect("a row");
        (experiment, at, row)
    })
}

#[test]
fn every_hypothesis_of_every_row_is_named() {
    let mut wrong = Vec::new();
    for (_, at, row) in asked() {
        for hypothesis in 0..row.hypotheses.len() {
            let report = probe(&simulator(Facts::default().with(at, hypothesis)), &[row.name]);
            if told(&report, row.name) != Some(hypothesis) {
                wrong.push(format!("{} = {}", row.name, row.hypotheses[hypothesis].name));
            }
        }
    }
    assert!(wrong.is_empty(), "not named: {wrong:#?}");
}

#[test]
fn experiments_depend_on_the_rows_that_they_name_alone() {
    let mut wrong = Vec::new();
    let run = |experiment: &Experiment, facts| {
        (experiment.run)(&Bench::new(&simulator(facts))).map_err(|failure| failure.to_string())
    };
    for (experiment, at, _) in asked() {
        let usual = run(experiment, Facts::default());
        for (other, row) in ROWS.iter().enumerate().filter(|(other, _)| *other != at) {
            for hypothesis in 1..row.hypotheses.len() {
                let words = run(experiment, Facts::default().with(other, hypothesis));
                if words != usual && !experiment.after.contains(&row.name) {
                    wrong.push(format!("{} on {}", experiment.name, row.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "depend unsaid: {wrong:#?}");
}

/// A number from 0 to `limit`, by splitmix64.
fn random(state: &mut u64, limit: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) % limit.max(1) as u64) as usize
}

fn combinations(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut state = seed;
        let mut facts = Facts::default();
        for (at, row) in ROWS.iter().enumerate() {
            facts = facts.with(at, random(&mut state, row.hypotheses.len()));
        }
        let report = probe(&simulator(facts), &[]);
        for (_, at, row) in asked() {
            assert_eq!(told(&report, row.name), facts.get(at), "seed {seed}: {}", row.name);
        }
        assert!(report.is_complete());
    }
}

#[test]
fn random_machines_are_found_out() {
    combinations(0..3);
}

/// Some minutes.
#[test]
#[ignore = "200 machines"]
fn many_random_machines_are_found_out() {
    combinations(3..203);
}

#[test]
fn a_device_that_drops_its_jobs_gives_no_answers() {
    let report = probe(&Noop::new(), &[]);
    for asked in &report.asked {
        let Answer::Failed(why) = &asked.answer else { panic!("{}: {:?}", asked.row.name, asked.answer) };
        assert!(why.contains("stored nothing"), "{}: {why}", asked.row.name);
    }
    assert_eq!(report.facts, Facts::default());
}

#[test]
fn experiments_that_hang_are_named_and_the_others_run() {
    let gpu = Faulty::new(simulator(Facts::default()), Fault::DrawsHang);
    let report = probe(&gpu, &["provoking-vertex", "store-extent"]);
    let answers: Vec<_> = report.asked.iter().map(|asked| &asked.answer).collect();
    let [Answer::Failed(why), Answer::Told { hypothesis: 0, .. }] = answers[..] else {
        panic!("{answers:?}")
    };
    assert!(why.contains("did not end within 5 seconds"), "{why}");
    let report = probe(
        &Faulty::new(simulator(Facts::default()), Fault::AllHangs),
        &["provoking-vertex", "store-extent"],
    );
    assert_eq!(report.asked[1].answer, Answer::Skipped);
}

#[test]
fn refused_jobs_are_named() {
    const EACCES: i32 = 13;
    let report =
        probe(&Faulty::new(simulator(Facts::default()), Fault::NoJobs(EACCES)), &["provoking-vertex"]);
    let Answer::Failed(why) = &report.asked[0].answer else { panic!("{:?}", report.asked[0].answer) };
    assert!(why.contains("DRM_IOCTL_VC4_SUBMIT_CL"), "{why}");
}

#[test]
fn what_a_question_needs_is_asked_first() {
    let names: Vec<_> = wanted(&["clipped-grid"]).iter().map(|experiment| experiment.name).collect();
    assert_eq!(names, ["shared-edges", "clipped-grid"]);
    assert_eq!(wanted(&[]).len(), EXPERIMENTS.len());
}

/// Asserts that what counters tell of a simulator of these numbers is what it was told.
fn counters_tell(numbers: Numbers) {
    let told = Config { memory_bytes: 96 << 20, numbers, check_programs: false, ..Config::default() };
    let report = measure(&Simulator::new(told), Facts::default(), &mut |_| ());
    let mut counted = 0;
    for measured in report.measured.iter().filter(|measured| measured.by == By::Counters) {
        let (expected, row) = (numbers.get(measured.number), measured.number.row());
        let value = measured.value.clone().unwrap_or_else(|why| panic!("{}: {why}", row.name));
        // What is whole is told wholly; of latencies, the first lookups of each tile take longer.
        let tolerance = if matches!(row.unit, "B" | "lines") { 0.0 } else { 0.05 * expected };
        assert!((value - expected).abs() <= tolerance, "{}: {value}, is {expected}", row.name);
        counted += 1;
    }
    assert_eq!(counted, 14);
}

#[test]
fn counters_tell_the_numbers_of_the_machine_that_is_assumed() {
    counters_tell(Numbers::default());
}

#[test]
fn counters_tell_the_numbers_of_other_machines() {
    let other = |numbers: &[(Number, f64)]| {
        counters_tell(
            numbers.iter().fold(Numbers::default(), |all, (number, value)| all.with(*number, *value)),
        );
    };
    other(&[
        (Number::TmuHit, 14.0),
        (Number::TmuL2, 26.0),
        (Number::TmuMemory, 55.0),
        (Number::Varyings, 1.0),
        (Number::Sfu, 2.0),
        (Number::Vpm, 4.0),
        (Number::UniformRefill, 17.0),
        (Number::TileAccess, 2.0),
        (Number::Quad, 3.0),
        (Number::UniformCache, 2048.0),
        (Number::TextureCache, 8192.0),
        (Number::TextureWays, 4.0),
        (Number::L2Cache, 131_072.0),
        (Number::L2Ways, 8.0),
    ]);
    other(&[
        (Number::TextureCache, 2048.0),
        (Number::TextureWays, 2.0),
        (Number::L2Cache, 65_536.0),
        (Number::L2Ways, 2.0),
        (Number::UniformCache, 8192.0),
        (Number::TmuMemory, 90.0),
        (Number::UniformRefill, 5.0),
        (Number::TileAccess, 0.5),
    ]);
}

#[test]
fn the_clock_tells_numbers_and_the_tables_are_the_simulator_s() {
    let report = measure(&simulator(Facts::default()), Facts::default(), &mut |_| ());
    let numbers = report.numbers();
    for number in [Number::Submit, Number::Job, Number::Interrupt, Number::BoRead, Number::BoWrite] {
        assert!(numbers.measured(number).is_some(), "{number:?}");
    }
    for number in [Number::DarkTileStore, Number::DarkTileLoad, Number::DarkBoRead] {
        let dark = report.measured.iter().find(|measured| measured.number == number).expect("a number");
        assert_eq!(dark.value.clone(), Err("the display is not there: the GPU is simulated".to_owned()));
    }
    let counted = report.counted.expect("counters");
    assert!(counted.iter().all(|one| one.device == one.simulator), "{counted:?}");
    assert!(counted.iter().filter(|one| one.device > 0).count() > 5, "{counted:?}");
    let functions = report.functions.expect("functions");
    assert!(functions.iter().all(|one| one.differing == 0 && one.asked >= 32_768), "{functions:?}");
    assert_eq!(functions.len(), 4);
}

#[test]
fn numbers_of_jobs_that_are_not_done_are_absent() {
    let dropped = measure(&Noop::new(), Facts::default(), &mut |_| ()).numbers();
    for number in Number::ALL {
        let copies = matches!(number, Number::BoRead | Number::BoWrite);
        assert_eq!(dropped.measured(*number).is_some(), copies, "{number:?}");
    }
    let gpu = Faulty::new(simulator(Facts::default()), Fault::AllHangs);
    let hanging = measure(&gpu, Facts::default(), &mut |_| ());
    assert_eq!(hanging.numbers(), Numbers::default());
    let last = hanging.measured.last().expect("a number").value.clone();
    assert!(last.clone().is_err_and(|why| why.starts_with("not measured: ")), "{last:?}");
}
