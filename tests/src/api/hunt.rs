//! Processes that run programs, watched from outside; what fails is tried again by itself and made small.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::{driver, scratch, validation};

/// Longest that a process may be without news.
const SILENCE: Duration = Duration::from_secs(90);
/// Longest that a single program may take when it is tried again.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most tries to make a program small.
const TRIES: usize = 400;
/// Longest that a program is made small for.
const SHRINKING: Duration = Duration::from_secs(120);
/// Findings after which a hunt ends.
const MANY: usize = 12;
/// Findings of one kind after which the others are only counted.
const ENOUGH: usize = 3;

/// Which programs, on what.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// `api_fuzz`, as built.
    pub program: PathBuf,
    /// The driver's manifest.
    pub manifest: PathBuf,
    /// `sim`, `noop`.
    pub device: &'static str,
    /// Whether programs keep to the specification.
    pub valid: bool,
    /// Under the validation layer.
    pub layer: bool,
    /// Threads that run programs.
    pub threads: usize,
    /// Moves of a program.
    pub moves: usize,
    /// Without surfaces, as some drivers have none.
    pub offscreen: bool,
    /// Where processes write.
    pub directory: PathBuf,
}

/// What a process did.
#[derive(Debug, Default)]
struct Told {
    /// What went wrong, and the programs that did it.
    wrong: Vec<(u64, String)>,
    /// The last program that has begun.
    last: Option<u64>,
    programs: u64,
    calls: u64,
    /// Contents by program and object.
    results: BTreeMap<(u64, String), String>,
}

/// What a hunt found.
#[derive(Debug, Default)]
pub struct Bag {
    /// Programs that were run to their end.
    pub programs: u64,
    /// Calls, as processes counted them.
    pub calls: u64,
    /// A text for each finding.
    pub findings: Vec<String>,
}

impl Bag {
    /// Adds another one's.
    pub fn add(&mut self, other: Bag) {
        self.programs += other.programs;
        self.calls += other.calls;
        self.findings.extend(other.findings);
    }
}

impl Hunt {
    fn command(&self, first: u64, count: u64, more: &[String]) -> Command {
        let mut command = driver::command(&self.program, &self.manifest);
        command
            .env("VC4VK_DEVICE", self.device)
            .env("VC4VK_COMPUTE_SECONDS", "1")
            .arg(if self.valid { "valid" } else { "invalid" })
            .arg(format!("first={first}"))
            .arg(format!("count={count}"))
            .arg(format!("moves={}", self.moves))
            .arg(format!("threads={}", self.threads))
            .args(self.offscreen.then_some("offscreen"))
            .args(more);
        if self.layer {
            validation::watch(&mut command, &self.directory);
        }
        command
    }

    /// Runs programs in a process; what it told.
    fn run(&self, first: u64, count: u64, more: &[String], limit: Duration) -> Told {
        let file = |name: &str| self.directory.join(format!("{name}-{}", std::process::id()));
        let (out, err) = (file("out"), file("err"));
        let create = |path: &Path| File::create(path).expect("the directory is writable");
        let mut command = self.command(first, count, more);
        command.stdout(create(&out)).stderr(create(&err));
        let child = command.spawn().expect("api_fuzz starts");
        let ended = wait(child, &out, limit);
        let read =
            |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        let (out, err) = (read(&out), read(&err));
        self.judge(ended, &out, &err)
    }

    fn judge(&self, ended: Option<ExitStatus>, out: &str, err: &str) -> Told {
        let mut told = Told::default();
        for text in [err, out] {
            let mut current = None;
            for line in text.lines() {
                if let Some(seed) = line.strip_prefix("begin ") {
                    current = seed.parse().ok();
                    told.last = current.max(told.last);
                } else if let Some(rest) = line.strip_prefix("done: ") {
                    let mut numbers = rest.split(' ').filter_map(|word| word.parse::<u64>().ok());
                    told.programs = numbers.next().unwrap_or(0);
                    told.calls = numbers.next().unwrap_or(0);
                } else if let Some(rest) = line.strip_prefix("result ") {
                    if let Some((seed, rest)) = rest.split_once(' ') {
                        let mut words = rest.splitn(3, ' ');
                        let object = [words.next(), words.next()].map(Option::unwrap_or_default).join(" ");
                        let key = (seed.parse().unwrap_or(0), object);
                        told.results.insert(key, words.next().unwrap_or_default().to_owned());
                    }
                } else if let Some((seed, text)) = self.is_wrong(line) {
                    told.wrong.push((seed.or(current).unwrap_or(0), text));
                }
            }
        }
        let end = match ended {
            None => Some("it does not end".to_owned()),
            Some(status) => match status.signal() {
                Some(signal) => Some(format!("it ended by signal {signal}")),
                None if !status.success() => Some(format!("it ended with {status}: {}", last_lines(err))),
                None => None,
            },
        };
        // That it failed is said by its findings, too; that it was ended is a finding in any case.
        let failed = ended.is_some_and(|status| status.signal().is_none());
        if let Some(end) = end.filter(|_| !failed || told.wrong.is_empty()) {
            told.wrong.push((told.last.unwrap_or(0), end));
        }
        told
    }

    /// What a line of the process says of a fault.
    fn is_wrong(&self, line: &str) -> Option<(Option<u64>, String)> {
        if let Some(rest) = line.strip_prefix("finding ") {
            let (seed, text) = rest.split_once(": ")?;
            return Some((seed.parse().ok(), text.to_owned()));
        }
        let panics = line.contains("panicked at") || line.contains("driver bug");
        let refuses = line.starts_with("vc4::") && (line.contains(": error: ") || line.contains(": warn: "));
        let complains = line.contains("Validation Error") || line.contains("Validation Warning");
        (panics || self.valid && (refuses || complains)).then(|| (None, line.to_owned()))
    }

    /// Runs `count` programs from a seed on, or for a time.
    pub fn go(&self, first: u64, count: u64, time: Duration) -> Bag {
        let (mut bag, mut next, start) = (Bag::default(), first, Instant::now());
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        while next < first + count && start.elapsed() < time && bag.findings.len() < MANY {
            let left = time.saturating_sub(start.elapsed()).as_secs().max(1);
            let told = self.run(next, first + count - next, &[format!("seconds={left}")], SILENCE);
            let reached = told.last.unwrap_or(next);
            bag.programs += if told.programs > 0 { told.programs } else { reached - next };
            bag.calls += told.calls;
            for (seed, text) in told.wrong {
                let seen = kinds.entry(kind(&text)).or_default();
                *seen += 1;
                if *seen <= ENOUGH {
                    bag.findings.push(self.report(seed, &text));
                    println!("{}", bag.findings.last().map_or("", String::as_str));
                }
            }
            next = reached + 1;
        }
        for (kind, seen) in kinds.iter().filter(|(_, seen)| **seen > ENOUGH) {
            println!("{seen} times in all: {kind}");
        }
        bag
    }

    /// Runs programs to their end, past those that end the process; what each found.
    fn collect(&self, first: u64, count: u64) -> (Told, Vec<(u64, String)>) {
        let (mut all, mut wrong, mut next) = (Told::default(), Vec::new(), first);
        while next < first + count {
            let told = self.run(next, first + count - next, &["results".to_owned()], SILENCE);
            all.results.extend(told.results);
            all.programs += told.programs;
            all.calls += told.calls;
            let reached = told.last.unwrap_or(next);
            next = reached.max(next) + 1;
            for (seed, text) in told.wrong {
                all.results.retain(|(of, _), _| *of != seed);
                wrong.push((seed, text));
            }
        }
        (all, wrong)
    }

    /// Runs the same programs on two drivers, or in two ways, whose results must be the same. What the other one cannot do is
    /// its own matter.
    pub fn compare(&self, other: &Hunt, first: u64, count: u64) -> Bag {
        let (ours, wrong) = self.collect(first, count);
        let (theirs, _) = other.collect(first, count);
        let mut bag = Bag { programs: ours.programs, calls: ours.calls, ..Bag::default() };
        for (seed, text) in wrong.iter().take(ENOUGH) {
            bag.findings.push(self.report(*seed, text));
        }
        let differ: BTreeSet<u64> = ours
            .results
            .iter()
            .filter(|(key, text)| theirs.results.get(*key).is_some_and(|their| their != *text))
            .map(|((seed, _), _)| *seed)
            .collect();
        for seed in differ.into_iter().take(ENOUGH) {
            let differs = |keep: &[usize]| {
                let more = [keep_argument(keep), "results".to_owned()];
                let (ours, theirs) =
                    (self.run(seed, 1, &more, PATIENCE), other.run(seed, 1, &more, PATIENCE));
                ours.results
                    .iter()
                    .any(|(key, text)| theirs.results.get(key).is_some_and(|their| their != text))
            };
            let steps = super::work::steps(seed, self.valid, self.moves, !self.offscreen, None);
            let kept = shrink(steps.len(), differs);
            let more = [keep_argument(&kept), "results".to_owned()];
            let (ours, theirs) = (self.run(seed, 1, &more, PATIENCE), other.run(seed, 1, &more, PATIENCE));
            let mut text = self.program_text(seed, &kept, "contents differ");
            for (key, value) in &ours.results {
                let their = theirs.results.get(key).map_or("nothing", String::as_str);
                if their != value {
                    let _ = writeln!(text, "  {}: {value} is {their} there", key.1);
                }
            }
            println!("{text}");
            bag.findings.push(text);
        }
        bag
    }

    /// The finding by itself, made small.
    fn report(&self, seed: u64, text: &str) -> String {
        let (wanted, start) = (kind(text), Instant::now());
        let alone = Hunt { threads: 1, ..self.clone() };
        let fails = |keep: &[usize]| {
            if start.elapsed() > SHRINKING {
                return false;
            }
            let told = alone.run(seed, 1, &[keep_argument(keep)], PATIENCE);
            told.wrong.iter().any(|(_, text)| kind(text) == wanted)
        };
        let steps = super::work::steps(seed, self.valid, self.moves, !self.offscreen, None);
        let all: Vec<usize> = (0..steps.len()).collect();
        if !fails(&all) {
            return format!(
                "seed {seed} ({self:?}): {text}\n  not again by itself: it takes the programs before it"
            );
        }
        let kept = shrink(steps.len(), fails);
        self.program_text(seed, &kept, text)
    }

    fn program_text(&self, seed: u64, kept: &[usize], text: &str) -> String {
        let keep = kept.iter().copied().collect();
        let small = super::work::steps(seed, self.valid, self.moves, !self.offscreen, Some(&keep));
        let grade = if self.valid { "valid" } else { "invalid" };
        let mut report = format!("seed {seed} on {}, {grade}: {text}\n", self.device);
        let list: Vec<String> = kept.iter().map(usize::to_string).collect();
        let surfaces = if self.offscreen { " offscreen" } else { "" };
        let _ = writeln!(
            report,
            "  api_fuzz {grade} first={seed} moves={}{surfaces} keep={}",
            self.moves,
            list.join(",")
        );
        for step in small {
            let _ = writeln!(report, "  {step:?}");
        }
        report
    }
}

fn keep_argument(keep: &[usize]) -> String {
    let numbers: Vec<String> = keep.iter().map(usize::to_string).collect();
    format!("keep={}", numbers.join(","))
}

/// A finding without its numbers and handles, so that two of the same cause are alike.
fn kind(text: &str) -> String {
    let mut kind = String::new();
    for (n, part) in text.split("0x").enumerate() {
        let rest = if n == 0 { part } else { part.trim_start_matches(|one: char| one.is_ascii_hexdigit()) };
        kind.extend(rest.chars().filter(|one| !one.is_ascii_digit()));
    }
    kind.chars().take(200).collect()
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().rev().take(3).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// Waits for a process that tells something now and then; `None` if it does not.
fn wait(mut child: Child, out: &Path, silence: Duration) -> Option<ExitStatus> {
    let (mut size, mut since) = (0, Instant::now());
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return Some(status);
        }
        let now = std::fs::metadata(out).map_or(0, |file| file.len());
        if now != size {
            (size, since) = (now, Instant::now());
        }
        if since.elapsed() > silence {
            // It may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// The fewest of `count` steps that still fail, as far as some tries tell.
pub fn shrink(count: usize, mut fails: impl FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..count).collect();
    let (mut chunk, mut tries) = (count.div_ceil(2).max(1), 0);
    loop {
        let mut smaller = false;
        // From the end, as what comes late is needed by less.
        let mut end = kept.len();
        while end > 0 && tries < TRIES {
            let start = end.saturating_sub(chunk);
            let candidate: Vec<usize> = [&kept[..start], &kept[end..]].concat();
            tries += 1;
            if !candidate.is_empty() && fails(&candidate) {
                kept = candidate;
                smaller = true;
            }
            end = start;
        }
        if tries >= TRIES || (chunk == 1 && !smaller) {
            return kept;
        }
        chunk = (chunk / 2).max(1);
    }
}

/// A directory for the files of hunts.
pub fn directory(root: &str, name: &str) -> PathBuf {
    scratch::directory(root, name)
}

#[cfg(test)]
mod tests {
    use super::{kind, shrink};

    #[test]
    fn two_of_a_kind_differ_in_numbers_only() {
        assert_eq!(kind("set 0x3f[] at 12"), kind("set 0xab01[] at 7"));
        assert_ne!(kind("set 0x3f[] at 12"), kind("pool 0x3f[] at 12"));
    }

    #[test]
    fn shrinking_keeps_what_matters() {
        let small = shrink(200, |kept| [17, 18, 150].iter().all(|step| kept.contains(step)));
        assert_eq!(small, [17, 18, 150]);
        assert_eq!(shrink(3, |_| true).len(), 1);
    }
}
