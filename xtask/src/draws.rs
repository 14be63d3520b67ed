//! `bench draws`: what a draw costs the host, in time and in instructions, and in those of other machines.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::counter::Counter;
use crate::{Error, build, cross};

/// Draws of a frame, or of the shorter of two whose difference is counted.
const DRAWS: u64 = 1000;
/// Frames of runs that differ in draws: all but the first find their tables grown.
const FRAMES: u64 = 5;
/// Frames of the shorter of two runs that differ in frames. Threads that wait for each other spin a while: that is to average out.
const MANY_FRAMES: u64 = 1000;
/// The bench's cases.
const CASES: &[&str] = &["push", "uniform", "indexed", "same"];
/// What the ratio to this machine's instructions is wished to be at most.
const WISHES: [(&str, f64); 2] = [("aarch64", 1.3), ("armv7", 1.6)];

/// Two kinds of run, by draws and frames; what the longer executes more is its additional draws'.
struct Pair {
    what: &'static str,
    cases: &'static [&'static str],
    runs: [(u64, u64); 2],
    /// The frame is recorded once.
    again: bool,
}

const PAIRS: [Pair; 4] = [
    Pair {
        what: "instructions per draw, both threads",
        cases: CASES,
        runs: [(DRAWS, FRAMES), (2 * DRAWS, FRAMES)],
        again: false,
    },
    Pair {
        what: "the same of 1000 draws that are submitted again",
        cases: CASES,
        runs: [(DRAWS, MANY_FRAMES), (DRAWS, 2 * MANY_FRAMES)],
        again: true,
    },
    Pair {
        what: "instructions per frame of one draw",
        cases: &["same"],
        runs: [(1, MANY_FRAMES), (1, 2 * MANY_FRAMES)],
        again: false,
    },
    Pair {
        what: "the same where it is submitted again",
        cases: &["same"],
        runs: [(1, MANY_FRAMES), (1, 2 * MANY_FRAMES)],
        again: true,
    },
];

/// The bench for one machine.
struct Bench {
    machine: &'static str,
    counter: Counter,
    program: PathBuf,
}

/// Prints time per draw, then instructions: this machine's, and those of `machines` with their ratio to this one's.
pub fn run(machines: &[String], install: bool) -> Result<(), Error> {
    let mut benches = vec![Bench::host(install)?];
    for name in machines {
        benches.push(Bench::emulated(name, install)?);
    }
    for pair in &PAIRS {
        println!("{}", pair.what);
        let heads: String = benches.iter().map(|bench| format!("{:>16}", bench.machine)).collect();
        println!("{:8}{heads}", "");
        for case in pair.cases {
            println!("  {case:8}{}", row(pair, case, &benches)?);
        }
    }
    for (machine, most) in WISHES.iter().filter(|wish| machines.iter().any(|name| name == wish.0)) {
        println!("wished for on {machine}: a ratio of {most} at most");
    }
    Ok(())
}

/// A case's count on each machine; behind all but the first the ratio to that.
fn row(pair: &Pair, case: &str, benches: &[Bench]) -> Result<String, Error> {
    let counts: Vec<f64> = benches.iter().map(|bench| bench.count(pair, case)).collect::<Result<_, _>>()?;
    let cells = counts.iter().enumerate().map(|(number, &count)| {
        let text = if count < 100.0 { format!("{count:.1}") } else { format!("{count:.0}") };
        match number {
            0 => format!("{text:>14}"),
            _ => format!("{text:>10} {:>5.2}", count / counts[0]),
        }
    });
    Ok(cells.collect())
}

impl Bench {
    /// Runs the bench, which prints times.
    fn host(install: bool) -> Result<Bench, Error> {
        let counter = Counter::host(install)?;
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let program = built(cargo.arg("bench").current_dir(build::workspace()))?;
        let status = Command::new(&program).status()?;
        if !status.success() {
            return Err(format!("the bench failed ({status})").into());
        }
        Ok(Bench { machine: std::env::consts::ARCH, counter, program })
    }

    fn emulated(name: &str, install: bool) -> Result<Bench, Error> {
        let target = cross::target(name)?;
        cross::require(target, install)?;
        let counter = Counter::emulated(target, &cross::libraries(target), install)?;
        let program = built(&mut cross::cargo(target, "bench")?)?;
        Ok(Bench { machine: target.name, counter, program })
    }

    /// Instructions per draw of the longer run beyond the shorter.
    fn count(&self, pair: &Pair, case: &str) -> Result<f64, Error> {
        let [short, long] = pair.runs.map(|(draws, frames)| {
            let (draws, frames) = (draws.to_string(), frames.to_string());
            let arguments = ["--case", case, "--draws", &draws, "--frames", &frames, "--again"];
            let arguments = &arguments[..arguments.len() - usize::from(!pair.again)];
            self.counter.count(Command::new(&self.program).args(arguments))
        });
        let [fewer, more] = pair.runs.map(|(draws, frames)| draws * frames);
        Ok((long? as f64 - short? as f64) / (more - fewer) as f64)
    }
}

/// Has `cargo bench` build the bench; where it lies.
fn built(cargo: &mut Command) -> Result<PathBuf, Error> {
    let output = cargo
        .args(["--package", "vc4-icd", "--bench", "draws"])
        .args(["--no-run", "--message-format=json-render-diagnostics"])
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let path = text.lines().find_map(|line| line.split(r#""executable":""#).nth(1)?.split('"').next());
    let path = path.filter(|_| output.status.success());
    Ok(path.ok_or_else(|| format!("building the bench failed ({})", output.status))?.into())
}
