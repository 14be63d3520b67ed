//! Asking: an experiment runs on the device, and on a simulator of each hypothesis; the one whose words are the device's is
//! the answer.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use vc4::facts::{Facts, Row};
use vc4_kernel_abi::Gpu;
use vc4_kernel_abi::validate::Mode;
use vc4_sim::{Config, Engine, Simulator};

use super::experiments::{EXPERIMENTS, Experiment};
use crate::jobs::bench::{Bench, Failure};
use crate::jobs::job::Target;

/// Bus memory of a simulator that answers for a hypothesis.
const MEMORY: u32 = 96 << 20;

/// How a question was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The device does what this hypothesis says, and no other one says that. So many of the words that count are others with
    /// the hypothesis that comes nearest.
    Told { hypothesis: usize, telling: usize },
    /// These hypotheses say the same, and the device does it.
    Alike(Vec<usize>),
    /// No hypothesis says what the device does; this one comes nearest.
    Other { nearest: usize, differing: usize },
    /// The experiment did not end: why.
    Failed(String),
    /// The device did not come back from an experiment before.
    Skipped,
}

/// A question that was put.
#[derive(Clone, Debug)]
pub struct Asked {
    pub row: &'static Row,
    pub answer: Answer,
    /// The words that counted.
    pub words: Vec<u32>,
    pub took: Duration,
}

/// All that was asked.
#[derive(Clone, Debug)]
pub struct Report {
    pub asked: Vec<Asked>,
    /// What the device is like; what was not told is as assumed.
    pub facts: Facts,
}

impl Report {
    /// Whether everything has an answer.
    pub fn is_complete(&self) -> bool {
        self.asked.iter().all(|asked| matches!(asked.answer, Answer::Told { .. }))
    }
}

/// A simulator of such a machine.
pub fn simulator(facts: Facts) -> Simulator {
    Simulator::new(Config {
        memory_bytes: MEMORY,
        threads: NonZeroUsize::new(1),
        // What the kernel lets through decides, not whether it is wise.
        mode: Mode::Faithful,
        check_programs: false,
        engine: Engine::Interpreter,
        facts,
        ..Config::default()
    })
}

/// The experiments of these names, or all where there is none, each behind those that it needs.
pub fn wanted(names: &[&str]) -> Vec<&'static Experiment> {
    let is_wanted = |experiment: &Experiment| {
        let needs = |name: &str| {
            EXPERIMENTS.iter().any(|one| one.name == name && one.after.contains(&experiment.name))
        };
        names.is_empty() || names.iter().any(|name| *name == experiment.name || needs(name))
    };
    // Those that others need first.
    let (needed, others): (Vec<_>, Vec<_>) = EXPERIMENTS
        .iter()
        .filter(|experiment| is_wanted(experiment))
        .partition(|experiment| experiment.after.is_empty());
    needed.into_iter().chain(others).collect()
}

/// Puts questions to a device and tells `watch` of each before it is put.
pub fn ask(gpu: &dyn Gpu, experiments: &[&Experiment], watch: &mut dyn FnMut(&Experiment)) -> Report {
    let mut report = Report { asked: Vec::new(), facts: Facts::default() };
    let mut is_gone = false;
    for experiment in experiments {
        watch(experiment);
        let Some((at, row)) = Row::find(experiment.name) else { continue };
        let start = Instant::now();
        let (words, answer) = if is_gone {
            (Vec::new(), Answer::Skipped)
        } else {
            match (experiment.run)(&Bench::new(gpu)) {
                Ok(words) => {
                    let answer = answer(experiment, at, row, report.facts, &words);
                    (words, answer)
                }
                Err(failure) => {
                    is_gone = failure.is_hang() && works(gpu).is_err_and(|error| error.is_hang());
                    (Vec::new(), Answer::Failed(failure.to_string()))
                }
            }
        };
        if let Answer::Told { hypothesis, .. } = answer {
            report.facts = report.facts.with(at, hypothesis);
        }
        report.asked.push(Asked { row, answer, words, took: start.elapsed() });
    }
    report
}

/// Whether the smallest job still runs.
fn works(gpu: &dyn Gpu) -> Result<(), Failure> {
    let bench = Bench::new(gpu);
    let target = Target::new(&bench, vc4::image::Tiling::T, 64, 64)?;
    bench.run(&target.clear(0)).map(drop)
}

/// What the words of the device say, where the other rows are as `facts` say.
fn answer(experiment: &Experiment, at: usize, row: &Row, facts: Facts, words: &[u32]) -> Answer {
    let mut distances = Vec::new();
    for hypothesis in 0..row.hypotheses.len() {
        match (experiment.run)(&Bench::new(&simulator(facts.with(at, hypothesis)))) {
            Ok(expected) => distances.push(distance(&expected, words)),
            Err(failure) => return Answer::Failed(format!("the simulator of a hypothesis: {failure}")),
        }
    }
    let alike: Vec<usize> = (0..distances.len()).filter(|n| distances[*n] == 0).collect();
    let least =
        |of: &[usize]| of.iter().enumerate().min_by_key(|(_, d)| **d).map_or((0, 0), |(n, d)| (n, *d));
    match alike[..] {
        [hypothesis] => {
            let others: Vec<usize> = distances.iter().copied().filter(|distance| *distance > 0).collect();
            Answer::Told { hypothesis, telling: least(&others).1 }
        }
        [] => {
            let (nearest, differing) = least(&distances);
            Answer::Other { nearest, differing }
        }
        _ => Answer::Alike(alike),
    }
}

/// How many words differ.
fn distance(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count() + a.len().abs_diff(b.len())
}
